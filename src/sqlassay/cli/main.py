"""Where the command line starts, and the one place where its errors become a message and an exit code."""

from __future__ import annotations

import os
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
        sys.stdout.flush()
    except SqlassayError as error:
        _complain(error.message, hint=error.hint)
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return int(ExitCode.INTERRUPTED)
    except typer.TyperException as error:
        if not error.format_message():
            return int(ExitCode.USAGE)
        _complain(error.format_message().replace("Value error, ", ""))
        context = getattr(error, "ctx", None)
        if context is not None:
            print(f"       try: {context.command_path} --help", file=sys.stderr)
        return int(ExitCode.USAGE)
    except BrokenPipeError:
        return _unread()
    except SystemExit as ended:
        # Typer ends with 1 where nobody reads any more, which would say that a gate has failed.
        if ended.code != 1:
            raise
        return _unread()
    return outcome if isinstance(outcome, int) else int(ExitCode.OK)


def _crashed(error: Exception) -> int:
    traceback.print_exception(error)
    _complain("this is a fault of sqlassay itself, not of your cases or your agent", hint="please report it")
    return int(ExitCode.INCOMPLETE)


def _unread() -> int:
    """Whoever read the output has gone: what was not said is lost, and Python must not try again on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return int(ExitCode.INCOMPLETE)


def _complain(message: str, *, hint: str | None = None) -> None:
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"       {hint}", file=sys.stderr)
