"""What do model judges say of the final texts? Asked last, when every verdict is on disk, and recorded.

No opinion changes a verdict, pass or cause (specification section 5.7). Opinions are kept with both sides of a trial,
so that scoring again needs no model; a trial that has opinions is not judged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlassay.archive.results import Kept, with_opinions
from sqlassay.archive.run_folder import RunFolder, RunWriter, reopen
from sqlassay.judges.base import Judge, Material, material_of
from sqlassay.records.execution import Rows
from sqlassay.records.run import TrialKey
from sqlassay.running.events import Event
from sqlassay.running.loops import on_a_loop
from sqlassay.running.rescore import rescore
from sqlassay.running.run import RunResult


def judge(
    path: Path | str, judging: Judge, *, jobs: int = 4, on_event: Callable[[Event], None] | None = None
) -> RunResult:
    """Ask the judge about every final text of a run that has no opinions yet, and read the scores with them.

    At most `jobs` questions are in flight. A judge that fails is an opinion with an error, never a failed run.

    Raises:
        ArchiveError: no run there, or it cannot be written.
    """
    with reopen(path) as writer:
        folder = RunFolder(writer.path)
        on_a_loop(lambda: _ask_all(writer, folder, judging, jobs))
    return rescore(path, on_event=on_event)


async def _ask_all(writer: RunWriter, folder: RunFolder, judging: Judge, jobs: int) -> None:
    lines = folder.side_lines()
    left = _materials(folder)

    async def ask() -> None:
        for key, material in left:
            opinions = await judging.opinions(material)
            await asyncio.wrap_future(writer.add_sides(Kept(line=with_opinions(lines[key], opinions), blobs=())))

    try:
        await asyncio.gather(*(ask() for _ in range(max(1, jobs))))
    finally:
        await judging.close()


def _materials(folder: RunFolder) -> Iterator[tuple[TrialKey, Material]]:
    cases = {case.id: case for case in folder.cases()}
    look_up = folder.sides_by_key()
    for turn in folder.turns():
        key = TrialKey(case_id=turn.case_id, phrasing=turn.phrasing, repeat=turn.repeat)
        sides = look_up(key)
        case = cases.get(turn.case_id)
        if case is None or sides is None or sides.opinions:
            continue
        execution = sides.candidate.execution
        material = material_of(case, turn, result=execution.relation if isinstance(execution, Rows) else None)
        if material is not None:
            yield key, material
