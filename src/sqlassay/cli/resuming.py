"""How does a person go on with a run that was stopped? The command that does it, as it would be typed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlassay.errors import ExitCode

if TYPE_CHECKING:
    import typer

_NOT_AGAIN = ("resume", "run_id", "quiet", "json", "help")


def command(context: typer.Context, run_id: str) -> str:
    """The command line of `context` once more, going on with `run_id`; passwords in it are hidden."""
    from sqlassay.cli.console import program
    from sqlassay.databases.addresses import redact

    words = [f"{program()} run"]
    for parameter in context.command.params:
        name = parameter.name or ""
        value = context.params.get(name)
        if name in _NOT_AGAIN or value in (None, False, [], ()) or str(value) == str(parameter.default):
            continue
        flag = max(parameter.opts, key=len)
        each = value if isinstance(value, (list, tuple)) else [value]
        words.extend(flag if one is True else f"{flag} {shlex.quote(redact(str(one)))}" for one in each)
    return " ".join([*words, "--resume", "--run-id", shlex.quote(run_id)])


def say(context: typer.Context, path: Path) -> int:
    """Tell on stderr how to go on with the run in `path`, or what is there already; the exit code of an interrupt."""
    from sqlassay.archive.run_folder import RunFolder
    from sqlassay.records.run import RunState

    said = "interrupted before the first question; nothing is kept"
    if (path / "manifest.json").is_file():
        complete = RunFolder(path).manifest.state is RunState.COMPLETE
        said = "interrupted; every question was answered and scored, for the report: "
        said += f"sqlassay score {shlex.quote(str(path))}"
        if not complete:
            said = f"interrupted; go on with: {command(context, path.name)}"
    print(said, file=sys.stderr)
    return int(ExitCode.INTERRUPTED)
