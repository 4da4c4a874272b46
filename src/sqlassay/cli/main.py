"""Where the command line starts, and the one place where its errors become a message and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import typer

from sqlassay.errors import ExitCode, SqlassayError, guard


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with the codes of specification section 9.

    A fault of ours is shown with its trace and exits 3: Python's own 1 would say that a gate has failed.
    """
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(guard(lambda: run_command(given), crashed=_crashed))


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing but KeyboardInterrupt is turned into 130."""
    from sqlassay.cli.app import app

    command = typer.main.get_command(app)
    try:
        outcome = command.main(args=list(arguments), prog_name="sqlassay", standalone_mode=False)
    except SqlassayError as error:
        _complain(error.message, hint=error.hint)
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return int(ExitCode.INTERRUPTED)
    except typer.TyperException as error:
        if not error.format_message():
            return int(ExitCode.USAGE)
        _complain(error.format_message())
        context = getattr(error, "ctx", None)
        if context is not None:
            print(f"       try: {context.command_path} --help", file=sys.stderr)
        return int(ExitCode.USAGE)
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitCode.OK)
    return outcome if isinstance(outcome, int) else int(ExitCode.OK)


def _crashed(error: Exception) -> int:
    traceback.print_exception(error)
    _complain("this is a fault of sqlassay itself, not of your cases or your agent", hint="please report it")
    return int(ExitCode.INCOMPLETE)


def _complain(message: str, *, hint: str | None = None) -> None:
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"       {hint}", file=sys.stderr)
