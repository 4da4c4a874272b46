"""Which exceptions there are, what each exit code means, and whom a failure is attributed to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeVar

T = TypeVar("T")


class ExitCode(IntEnum):
    """Process exit codes (specification section 9)."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    GOLD_BROKEN = 4
    NO_CASES = 5
    INTERRUPTED = 130


class Culprit(StrEnum):
    """Whose fault a failure is; only the agent's faults count against the agent."""

    AGENT = "agent"
    DATABASE = "database"
    DATASET = "dataset"
    METRIC = "metric"
    USER = "user"
    US = "us"


class SqlassayError(Exception):
    """Base of every error that sqlassay raises on purpose.

    Attributes:
        exit_code: what the command line exits with.
        culprit: whom the failure is attributed to.
        hint: what the reader can do about it; printed under the message.
    """

    exit_code: ExitCode = ExitCode.USAGE
    culprit: Culprit = Culprit.US

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def message(self) -> str:
        return str(self.args[0])


class UsageError(SqlassayError):
    """The command, flag or argument is wrong."""

    culprit = Culprit.USER


class ConfigError(SqlassayError):
    """The configuration file or a value in it is wrong."""

    culprit = Culprit.USER


class DatasetError(SqlassayError):
    """A case file is wrong; the message names file, line, case id and field.

    >>> print(DatasetError("unknown field 'qestion'", file="cases.yaml", line=3, case_id="a1", field="qestion"))
    cases.yaml:3: case 'a1': unknown field 'qestion'
    """

    culprit = Culprit.DATASET

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        case_id: str | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        place = "" if file is None else file if line is None else f"{file}:{line}"
        parts = [part for part in (place, "" if case_id is None else f"case {case_id!r}", message) if part]
        super().__init__(": ".join(parts), hint=hint)
        self.file, self.line, self.case_id, self.field = file, line, case_id, field


class NoCasesError(SqlassayError):
    """The selection left no case to run."""

    exit_code = ExitCode.NO_CASES
    culprit = Culprit.USER


class RecordError(SqlassayError):
    """A stored record (turn, score, manifest) cannot be read."""

    culprit = Culprit.US


class ArchiveError(SqlassayError):
    """A run folder cannot be written or read (missing, locked by another process, disk full)."""

    culprit = Culprit.USER


class DiskRefused(ArchiveError):
    """The disk took no more of a run that was going on: what is left is incomplete, what was finished is kept."""

    exit_code = ExitCode.INCOMPLETE


class DatabaseUnavailable(SqlassayError):
    """A database cannot be opened or reached. Never the agent's fault."""

    exit_code = ExitCode.INCOMPLETE
    culprit = Culprit.DATABASE


class MissingExtra(ConfigError):
    """An optional dependency is needed and not installed.

    >>> print(MissingExtra("duckdb", needs="duckdb").hint)
    pip install 'sqlassay[duckdb]'
    """

    def __init__(self, what: str, *, needs: str) -> None:
        super().__init__(f"{what} needs the optional dependency {needs!r}", hint=f"pip install 'sqlassay[{needs}]'")


class AgentFailure(SqlassayError):
    """The agent itself failed: it crashed, timed out or said so. Counts against the agent."""

    exit_code = ExitCode.INCOMPLETE
    culprit = Culprit.AGENT

    def __init__(self, message: str, *, kind: str = "agent_crash", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class AgentUnreachable(SqlassayError):
    """The agent could not be reached after retries. The harness's fault: the case stays unscored."""

    exit_code = ExitCode.INCOMPLETE
    culprit = Culprit.US


class ExtractionError(SqlassayError):
    """An adapter could not read what the agent returned. The harness's fault."""

    exit_code = ExitCode.INCOMPLETE
    culprit = Culprit.US


class AdapterBroken(SqlassayError):
    """`doctor` found that the adapter no longer recognises the agent."""

    exit_code = ExitCode.GOLD_BROKEN
    culprit = Culprit.US


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failure turned into data: whose it is, its type and its message (no traceback, no secrets)."""

    culprit: Culprit
    type: str
    message: str


def capture(action: Callable[[], T], *, culprit: Culprit) -> T | Fault:
    """Run `action` and turn anything it raises into a `Fault`; this is the one broad boundary.

    A `SqlassayError` keeps its own attribution, everything else is put on `culprit`.
    KeyboardInterrupt and SystemExit pass through.

    >>> capture(lambda: 1 // 0, culprit=Culprit.AGENT)
    Fault(culprit=<Culprit.AGENT: 'agent'>, type='ZeroDivisionError', message='integer division or modulo by zero')
    """
    try:
        return action()
    except SqlassayError as error:
        return Fault(culprit=error.culprit, type=type(error).__name__, message=error.message)
    except Exception as error:  # noqa: BLE001 - the one boundary that attributes failures
        return Fault(culprit=culprit, type=type(error).__name__, message=str(error))


def guard(action: Callable[[], T], *, crashed: Callable[[Exception], T]) -> T:
    """Run `action`; what it raises and nobody expected goes to `crashed`, which may still look at its trace.

    For the outermost edge only, where an exception would otherwise end the process with a code that means something.

    >>> guard(lambda: 1 // 0, crashed=lambda error: -1)
    -1
    """
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - the outer edge of the same boundary
        return crashed(error)
