"""`sqlassay show`: one case of a run, from the question to the differing cells."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError


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
        ids = sorted({row.key.case_id for row in opened.report.cases})
        near = get_close_matches(case, ids, n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near and case not in ids else f"{len(ids)} cases have scores"
        raise UsageError(f"run {opened.path.name} has no scores of {key}", hint=hint)
    if json:
        score = next(s for s in opened.scores if (s.case_id, s.phrasing, s.repeat) == (case, phrasing, repeat))
        turns = (t for t in opened.turns if (t.case_id, t.phrasing, t.repeat) == (case, phrasing, repeat))
        turn = next(turns, None)
        print_json({"score": score.to_dict(), "turn": None if turn is None else turn.to_dict()})
        return
    render(detail, stdout())
