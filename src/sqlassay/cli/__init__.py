"""The command line: one file per command, one place that catches errors."""

from sqlassay.cli.main import main

__all__ = ["main"]
