"""Printing to stdout: rich for people, JSON for programs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def stdout() -> Console:
    """A console on stdout: as wide as the terminal, 120 columns elsewhere, colours only at a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    return Console(width=width, highlight=False, emoji=False, markup=False)


def program() -> str:
    """How this installation is called from here, for commands that a reader pastes: its name where the PATH has it."""
    beside = Path(sys.executable).with_name("sqlassay")
    found = shutil.which("sqlassay")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "sqlassay"
    return nearest(beside) if beside.is_file() else f"{quote(sys.executable)} -m sqlassay"


def nearest(path: Path) -> str:
    """A path as a shell takes it, relative where it lies under the current folder."""
    here = Path.cwd()
    return quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def print_json(value: Any) -> None:
    """One JSON document on stdout, in ASCII, so that every terminal and pipe takes it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
