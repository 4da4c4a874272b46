"""What came of running one statement: one class per outcome, the same for gold and candidate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlassay.records.relation import Relation


class ErrorKind(StrEnum):
    """Why a statement failed; `CONNECTION` is the harness's fault."""

    SYNTAX = "syntax"
    UNKNOWN_TABLE = "unknown_table"
    UNKNOWN_COLUMN = "unknown_column"
    AMBIGUOUS_COLUMN = "ambiguous_column"
    TYPE = "type"
    FUNCTION = "function"
    GROUPING = "grouping"
    ARITY = "arity"
    RUNTIME = "runtime"
    FORBIDDEN = "forbidden"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    CONNECTION = "connection"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The engine's own account of what a statement reads; None where it cannot say.

    Names are folded by dialect, a default-schema prefix is dropped, lists are sorted and unique;
    `origins` has one entry per output column (`table.column` or None).
    """

    tables: tuple[str, ...] | None = None
    """Relations as the statement names them (a view is itself)."""
    base_tables: tuple[str, ...] | None = None
    """Base tables with views expanded."""
    columns_read: tuple[str, ...] | None = None
    origins: tuple[str | None, ...] | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The statement ran; `relation.truncated` says whether a limit of ours cut it."""

    relation: Relation
    duration_s: float = 0.0
    account: Account | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlError:
    """The engine, or the safety rule before it (`forbidden`), refused the statement."""

    kind: ErrorKind
    message: str
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """The statement was stopped in the engine, or its worker was killed, after `limit_s` seconds."""

    limit_s: float
    killed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """There was nothing to run (`no_sql`), or the harness did not run it (why, in words)."""

    reason: str = "no_sql"


Execution = Rows | SqlError | TimedOut | NotRun


def error_of(execution: Execution) -> tuple[ErrorKind, str] | None:
    """The error kind and message of a failed execution, None when it ran or there was nothing to run.

    >>> error_of(TimedOut(limit_s=2.0))
    (<ErrorKind.TIMEOUT: 'timeout'>, 'stopped after 2 s')
    """
    match execution:
        case SqlError(kind=kind, message=message):
            return kind, message
        case TimedOut(limit_s=limit):
            return ErrorKind.TIMEOUT, f"stopped after {limit:g} s"
        case _:
            return None
