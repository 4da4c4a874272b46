"""`sqlassay show`: one case of a run, from the question to the differing cells."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError

if TYPE_CHECKING:
    from sqlassay.records.run import TrialKey


def show(
    run: options.RunArgument,
    case: Annotated[str, typer.Argument(metavar="CASE", help="The case's id.")],
    phrasing: Annotated[int, typer.Option("--phrasing", min=0, help="0 is the question itself.")] = 0,
    repeat: Annotated[int, typer.Option("--repeat", min=0, help="0 is the first time it was asked.")] = 0,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Most rows shown a side.")] = 20,
    runs: options.RunsFolder = None,
    config: options.BesideConfig = None,
    json: options.Json = False,
) -> None:
    """Show a case: question, verdict, both queries, both tables side by side, the agent's trail."""
    from sqlassay import api
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.cli.runs import runs_folder
    from sqlassay.records.run import TrialKey
    from sqlassay.report.case import render

    opened = api.open_run(run, runs=runs_folder(runs, config))
    key = TrialKey(case_id=case, phrasing=phrasing, repeat=repeat)
    detail = opened.report.detail(key, rows=rows)
    if detail is None:
        raise _unknown(key, opened.path.name, [row.key for row in opened.report.cases])
    if json:
        score = next(s for s in opened.scores if (s.case_id, s.phrasing, s.repeat) == (case, phrasing, repeat))
        turns = (t for t in opened.turns if (t.case_id, t.phrasing, t.repeat) == (case, phrasing, repeat))
        turn = next(turns, None)
        print_json({"score": score.to_dict(), "turn": None if turn is None else turn.to_dict()})
        return
    render(detail, stdout())


def _unknown(key: TrialKey, run: str, scored: list[TrialKey]) -> UsageError:
    """A case without a score line, or one that was not asked in this wording or this often."""
    from sqlassay.report.numbers import plural

    ids = sorted({other.case_id for other in scored})
    if key.case_id in ids:
        asked = [f"--phrasing {k.phrasing} --repeat {k.repeat}" for k in scored if k.case_id == key.case_id]
        wanted = f"phrasing {key.phrasing}, repeat {key.repeat}"
        return UsageError(f"run {run} has no score of case {key.case_id!r} at {wanted}", hint=f"there is {asked[0]}")
    near = get_close_matches(key.case_id, ids, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"{plural(len(ids), 'case')} of this run have scores"
    return UsageError(f"run {run} has no score of a case {key.case_id!r}", hint=hint)
