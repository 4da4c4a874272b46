"""`sqlassay score`: the numbers of a run again, from what was recorded."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from sqlassay.cli import options


def score(
    run: options.RunArgument = "latest",
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Execute the SQL of both sides again, and mark the run so.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Compare by the rules of this file instead of those of the run."),
    ] = None,
    runs: options.RunsFolder = None,
    output: options.Outputs = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Score a run again from its recorded turns and results, without agent or database."""
    from sqlassay import api
    from sqlassay.cli.outputs import check_suffixes
    from sqlassay.cli.progress import progress
    from sqlassay.cli.run import exit_code, finish
    from sqlassay.cli.runs import runs_folder
    from sqlassay.running.configure import load
    from sqlassay.running.fixtures import snapshots_copied
    from sqlassay.running.rescore import rescore

    paths = check_suffixes(output)
    opened = api.open_run(run, runs=runs_folder(runs))
    settings = None if config is None and not rerun else load(config)
    with ExitStack() as stack:
        ready = stack.enter_context(snapshots_copied(settings)) if rerun and settings is not None else None
        hear = stack.enter_context(progress(quiet=quiet or json))
        result = rescore(
            opened.path,
            settings=None if config is None or settings is None else settings.score,
            rerun=ready,
            on_event=hear,
        )
    again = api.Run(opened.folder, result)
    again.write_summary()
    finish(again, outputs=paths, json=json)
    raise typer.Exit(exit_code(again))
