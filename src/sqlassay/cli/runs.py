"""Where the runs are that a command means."""

from __future__ import annotations

import os
from pathlib import Path

from sqlassay.errors import UsageError


def named(folder: Path) -> str:
    """How a command names this run from here: its id where that is enough, else its folder."""
    from sqlassay.cli.console import nearest

    return folder.name if folder.parent.resolve() == runs_folder(None).resolve() else nearest(folder.resolve())


def show_command(folder: Path) -> str:
    """The command that shows a case of this run, but for the case's id."""
    from sqlassay.cli.console import program

    return f"{program()} show {named(folder)}"


def runs_folder(given: Path | None, config: Path | None = None) -> Path:
    """The folder given; else what the file given says; else `SQLASSAY_RUNS`; else what `sqlassay.yaml` here says.

    Raises:
        UsageError: the file given does not exist.
    """
    if given is not None:
        return given
    if config is not None and not config.is_file():
        raise UsageError(f"{config}: no such file")
    if config is None and (named := os.environ.get("SQLASSAY_RUNS")):
        return Path(named)
    file = config or Path(os.environ.get("SQLASSAY_CONFIG", "sqlassay.yaml"))
    if not file.is_file():
        return Path("runs")
    import yaml

    try:
        settings = yaml.safe_load(file.read_bytes())
    except yaml.YAMLError:
        settings = None
    named = settings.get("runs") if isinstance(settings, dict) else None
    return file.parent / (named if isinstance(named, str) else "runs")
