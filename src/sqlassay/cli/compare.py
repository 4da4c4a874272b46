"""`sqlassay compare`: two runs, paired by case."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError


def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="The earlier run.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The later run.")],
    runs: options.RunsFolder = None,
    config: options.BesideConfig = None,
    output: options.Outputs = None,
    failures: options.Failures = None,
    json: options.Json = False,
) -> None:
    """Compare two runs: fixed, broken and flipped cases by name, metrics with paired intervals."""
    import json as jsonlib

    from sqlassay import api
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.cli.outputs import write_failures, write_text
    from sqlassay.cli.runs import runs_folder
    from sqlassay.records.run import TrialKey
    from sqlassay.report.comparison import render_html, render_markdown, render_text
    from sqlassay.summary.compare import compare as paired

    for path in output or ():
        if path.suffix not in (".json", ".md", ".html"):
            raise UsageError(f"-o {path}: a comparison is written as .json, .md or .html")
    folder = runs_folder(runs, config)
    old, new = api.open_run(before, runs=folder), api.open_run(after, runs=folder)
    change = paired(old.summary, new.summary)
    for path in output or ():
        match path.suffix:
            case ".json":
                write_text(path, jsonlib.dumps(change.to_dict(), indent=2, ensure_ascii=False) + "\n")
            case ".md":
                write_text(path, render_markdown(change))
            case _:
                write_text(path, render_html(change, old.report, new.report))
    if failures is not None:
        broken = {flip.case_id for flip in change.broken}
        write_failures(new, failures, only=frozenset(TrialKey(case_id=case_id) for case_id in broken))
    if json:
        print_json(change.to_dict())
    else:
        render_text(change, stdout())
