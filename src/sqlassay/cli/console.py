"""Printing to stdout: rich for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def stdout() -> Console:
    """A console on stdout: as wide as the terminal, 120 columns elsewhere, colours only at a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    return Console(width=width, highlight=False, emoji=False, markup=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout, in ASCII, so that every terminal and pipe takes it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
