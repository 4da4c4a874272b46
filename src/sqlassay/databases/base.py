"""What every engine offers: a schema, a fingerprint, and one read snapshot in which both sides run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sqlassay.records.execution import Account, Execution
from sqlassay.records.relation import Schema
from sqlassay.records.settings import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an engine can do, declared in the engine's own file and printed in the report where it cannot.

    `dialect` is sqlglot's name. `accounts`: can say which tables and columns a statement reads.
    `origins`: can say which base column an output column is.
    """

    dialect: str
    snapshot: bool
    engine_timeout: bool
    read_only: bool
    accounts: bool
    origins: bool


class Session(Protocol):
    """One read snapshot: everything executed in it sees the same data."""

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        """Run exactly `sql`, one allowed read statement, once; never raises for what the statement does.

        The safety rule (`sqlassay.sql.safety.inspect`) has been applied by the caller; the engine's own guards
        hold all the same. A lost connection is `SqlError(kind=CONNECTION)`.
        """
        ...

    def account(self, sql: str) -> Account | None:
        """The engine's own account of what `sql` reads, without running it; None where it has none."""
        ...

    def stamp(self) -> str | None:
        """A text that is another one when the data that this session sees is; None where nothing cheap tells.

        Results are kept in memory under it. Unlike a fingerprint, it says nothing to another process.
        """
        ...


class Database(Protocol):
    """One configured database. Not thread-safe; workers open their own."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str:
        """With any password replaced by `***`."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def schema(self) -> Schema: ...

    def fingerprint(self) -> str:
        """A digest that changes when schema or data change, as far as the engine can tell cheaply."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """What a careful person should know: a user with more rights than SELECT, no snapshot, and the remedy."""
        ...

    def session(self) -> AbstractContextManager[Session]: ...

    def close(self) -> None: ...
