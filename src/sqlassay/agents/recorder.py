"""Which statements did the user's agent really send to its database, whoever wrote them?

Wrap the engine or connection once (`record(engine)`); every statement sent while a turn is being recorded is noted
with its outcome. In a `python` agent the turn is recorded by itself; an agent behind HTTP uses `recording()` and
returns `rec.queries()` under `queries`.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlassay.agents.candidate import choose_candidate
from sqlassay.agents.statements import role_of
from sqlassay.records.case import Status
from sqlassay.records.plain import to_plain
from sqlassay.records.turn import CandidateSource, Query, Seen, StatusSource, Turn

_ROWS_KEPT = 50
_MESSAGE_KEPT = 2_000


class _Fetched:
    """The rows of one statement that the agent fetched."""

    def __init__(self) -> None:
        self.count, self.complete = 0, False
        self.kept: list[Any] = []

    def onto(self, query: Query) -> Query:
        whole = self.complete and self.count == len(self.kept)
        seen = Seen(content=to_plain(self.kept), truncated=False if whole else None)
        return replace(query, row_count=self.count, seen=seen)


class Recording:
    """The statements of one turn, in the order in which they were sent. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queries: list[Query] = []
        self._fetched: dict[int, _Fetched] = {}
        self.unattributed = 0
        """Statements sent meanwhile by code that had lost the turn's context."""

    def sent(self, sql: str) -> int:
        """Note that `sql` is being sent; the number returned names it in `ended` and `fetched`."""
        with self._lock:
            self._queries.append(Query(sql=sql, role=role_of(sql), executed=True))
            return len(self._queries) - 1

    def ended(self, number: int, *, error: str | None = None, duration_s: float | None = None) -> None:
        """Note how the statement ended."""
        with self._lock:
            self._queries[number] = replace(
                self._queries[number],
                succeeded=error is None,
                error=None if error is None else error[:_MESSAGE_KEPT],
                duration_s=duration_s,
            )

    def fetched(self, number: int, rows: Sequence[Any], *, complete: bool) -> None:
        """Note rows that the agent fetched; the first 50 are kept as seen. `complete`: there are no more."""
        with self._lock:
            fetched = self._fetched.setdefault(number, _Fetched())
            fetched.count += len(rows)
            fetched.complete = fetched.complete or complete
            if len(fetched.kept) < _ROWS_KEPT:
                fetched.kept += [_row(row) for row in rows[: _ROWS_KEPT - len(fetched.kept)]]

    def statements(self) -> tuple[Query, ...]:
        """What was recorded so far."""
        with self._lock:
            return tuple(
                query if number not in self._fetched else self._fetched[number].onto(query)
                for number, query in enumerate(self._queries)
            )

    def queries(self) -> list[dict[str, Any]]:
        """The same as plain data: what an agent in another process returns under `queries`."""
        return [to_plain(query) for query in self.statements()]


_current: contextvars.ContextVar[Recording | None] = contextvars.ContextVar("sqlassay_recording", default=None)
_active: list[Recording] = []
_active_lock = threading.Lock()


@contextmanager
def recording() -> Iterator[Recording]:
    """Record the statements that are sent inside this block, in this task or thread and what it starts.

    >>> import sqlite3
    >>> connection = record(sqlite3.connect(":memory:"))
    >>> with recording() as rec:
    ...     rows = connection.execute("SELECT 1 AS one").fetchall()
    >>> rec.statements()[0].sql, rec.statements()[0].succeeded, rec.statements()[0].row_count
    ('SELECT 1 AS one', True, 1)
    >>> connection.close()
    """
    mine = Recording()
    token = _current.set(mine)
    with _active_lock:
        _active.append(mine)
    try:
        yield mine
    finally:
        _current.reset(token)
        with _active_lock:
            _active.remove(mine)


def current() -> Recording | None:
    """The recording that a statement sent now belongs to.

    Code that lost the context (a thread pool of the agent's own) belongs to the only turn being recorded; when there
    are several, to none, and each of them counts it as unattributed.
    """
    found = _current.get()
    if found is not None:
        return found
    with _active_lock:
        if len(_active) == 1:
            return _active[0]
        for other in _active:
            other.unattributed += 1
    return None


def record(connection: Any) -> Any:
    """Record what goes through an engine or connection; returns what the agent should use instead of it.

    A SQLAlchemy engine (sync or async) comes back itself, with listeners; a DB-API connection comes back wrapped, and
    behaves as before. Wrapping twice records once.
    """
    if isinstance(connection, RecordedConnection):
        return connection
    engine = getattr(connection, "sync_engine", connection)
    if hasattr(engine, "dialect") and hasattr(engine, "connect"):
        from sqlassay.agents.recorder_sqlalchemy import listen

        listen(engine)
        return connection
    if not hasattr(connection, "cursor") and not hasattr(connection, "execute"):
        raise TypeError(f"cannot record {type(connection).__qualname__}: neither an engine nor a DB-API connection")
    return RecordedConnection(connection)


class RecordedConnection:
    """A DB-API connection that notes what is sent through it; everything else is the connection's own."""

    def __init__(self, connection: Any) -> None:
        object.__setattr__(self, "_wrapped", connection)

    def cursor(self, *args: Any, **keywords: Any) -> Any:
        """A cursor that notes what is sent through it."""
        return RecordedCursor(self._wrapped.cursor(*args, **keywords))

    def execute(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """The shortcut that sqlite3, psycopg and DuckDB have."""
        return _noted(self._wrapped.execute, sql, args, keywords, owner=self._wrapped)

    def executemany(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """As `execute`."""
        return _noted(self._wrapped.executemany, sql, args, keywords, owner=self._wrapped)

    def executescript(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """Noted as one statement, as it was sent."""
        return _noted(self._wrapped.executescript, sql, args, keywords, owner=self._wrapped)

    def sql(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """DuckDB's relational shortcut."""
        return _noted(self._wrapped.sql, sql, args, keywords, owner=self._wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._wrapped, name, value)

    def __enter__(self) -> Any:
        entered = self._wrapped.__enter__()
        return self if entered is self._wrapped else entered

    def __exit__(self, *details: Any) -> Any:
        return self._wrapped.__exit__(*details)


class RecordedCursor:
    """A DB-API cursor that notes statements, their outcome and the rows fetched."""

    def __init__(self, cursor: Any, *, number: int | None = None, into: Recording | None = None) -> None:
        object.__setattr__(self, "_wrapped", cursor)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_into", into)

    def execute(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """As the cursor's own, and noted."""
        return self._run(self._wrapped.execute, sql, args, keywords)

    def executemany(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """As the cursor's own, and noted once."""
        return self._run(self._wrapped.executemany, sql, args, keywords)

    def executescript(self, sql: Any, *args: Any, **keywords: Any) -> Any:
        """As the cursor's own, and noted once."""
        return self._run(self._wrapped.executescript, sql, args, keywords)

    def fetchone(self) -> Any:
        """As the cursor's own; the row is noted."""
        row = self._wrapped.fetchone()
        self._note([] if row is None else [row], complete=row is None)
        return row

    def fetchmany(self, *args: Any, **keywords: Any) -> Any:
        """As the cursor's own; the rows are noted."""
        rows = self._wrapped.fetchmany(*args, **keywords)
        self._note(rows, complete=not rows)
        return rows

    def fetchall(self) -> Any:
        """As the cursor's own; the rows are noted."""
        rows = self._wrapped.fetchall()
        self._note(rows, complete=True)
        return rows

    def __iter__(self) -> Iterator[Any]:
        for row in self._wrapped:
            self._note([row], complete=False)
            yield row
        self._note([], complete=True)

    def __next__(self) -> Any:
        row = next(self._wrapped)
        self._note([row], complete=False)
        return row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._wrapped, name, value)

    def __enter__(self) -> Any:
        entered = self._wrapped.__enter__()
        return self if entered is self._wrapped else entered

    def __exit__(self, *details: Any) -> Any:
        return self._wrapped.__exit__(*details)

    def _run(self, send: Any, sql: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        into = current()
        object.__setattr__(self, "_into", into)
        object.__setattr__(self, "_number", None if into is None else into.sent(_text(sql)))
        result = _timed(send, sql, args, keywords, into=into, number=self._number)
        return self if result is self._wrapped else result

    def _note(self, rows: Sequence[Any], *, complete: bool) -> None:
        if self._into is not None and self._number is not None:
            self._into.fetched(self._number, rows, complete=complete)


def _noted(send: Any, sql: Any, args: tuple[Any, ...], keywords: Mapping[str, Any], *, owner: Any) -> Any:
    into = current()
    number = None if into is None else into.sent(_text(sql))
    result = _timed(send, sql, args, keywords, into=into, number=number)
    if result is None or not hasattr(result, "fetchall"):
        return result
    return RecordedCursor(result if result is not owner else owner, number=number, into=into)


def _timed(
    send: Any,
    sql: Any,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    *,
    into: Recording | None,
    number: int | None,
) -> Any:
    started, failed = time.perf_counter(), True
    try:
        result = send(sql, *args, **keywords)
        failed = False
    finally:
        if into is not None and number is not None:
            error = sys.exc_info()[1] if failed else None
            into.ended(
                number,
                error=None if error is None else f"{type(error).__name__}: {error}",
                duration_s=time.perf_counter() - started,
            )
    return result


def merge(turn: Turn, recorded: Sequence[Query], *, unattributed: int = 0) -> Turn:
    """The turn with the statements that were really sent; what the adapter knew of them is kept.

    A recorded statement takes tool, call id and the like from the adapter's statement of the same text, or of the
    text that it begins with (a tool added to it: then that is `sql_written`). The adapter's other statements stay
    where nothing says that they were sent.
    """
    gaps = turn.gaps
    if unattributed:
        gaps = (*gaps, f"{unattributed} recorded statements could not be told to belong to one turn")
    if not recorded:
        return replace(turn, gaps=gaps)
    matches = _matches(recorded, turn.queries)
    merged: list[Query] = []
    emitted = 0
    for position, known in enumerate(turn.queries):
        at = matches.get(position)
        if at is None:
            merged.append(known)
            continue
        merged += recorded[emitted:at]
        merged.append(_joined(recorded[at], known))
        emitted = max(emitted, at + 1)
    merged += recorded[emitted:]
    if any(known.executed is True and position not in matches for position, known in enumerate(turn.queries)):
        gaps = (*gaps, "the adapter saw executed statements that did not go through the recorded connection")
    candidate, source = turn.candidate_sql, turn.candidate_source
    if source is CandidateSource.LINKED:
        candidate = next((q.sql for q in reversed(merged) if candidate in (q.sql, q.sql_written)), None)
    if candidate is None or source not in (CandidateSource.DECLARED, CandidateSource.LINKED):
        candidate, source = None, CandidateSource.NONE
    merged_turn = choose_candidate(
        replace(
            turn,
            queries=tuple(merged),
            statements_complete=not unattributed,
            candidate_sql=candidate,
            candidate_source=source,
            gaps=gaps,
        )
    )
    if merged_turn.status is None:
        merged_turn = replace(merged_turn, status=Status.SUCCESS, status_source=StatusSource.INFERRED)
    return merged_turn


def _matches(recorded: Sequence[Query], known: Sequence[Query]) -> dict[int, int]:
    """Position in `known` to position in `recorded`, in order on both sides: equal texts, else a text that was added
    to. A statement that was only looked at was not sent."""
    found: dict[int, int] = {}
    sent = [_flat(query.sql) for query in recorded]
    after = 0
    for position, query in enumerate(known):
        if query.executed is False:
            continue
        texts = {_flat(query.sql), _flat(query.sql_written or query.sql)}
        begun = _flat(query.sql) + " "
        at = next(
            (i for i in range(after, len(sent)) if sent[i] in texts or (len(begun) > 7 and sent[i].startswith(begun))),
            None,
        )
        if at is not None:
            found[position], after = at, at + 1
    return found


def _joined(query: Query, known: Query) -> Query:
    written = known.sql_written
    if written is None and _flat(known.sql) != _flat(query.sql):
        written = known.sql
    return replace(
        query,
        sql_written=written,
        role=known.role,
        tool=known.tool,
        call_id=known.call_id,
        path=known.path,
        seen=known.seen if known.seen is not None else query.seen,
        row_count=query.row_count if query.row_count is not None else known.row_count,
    )


def _flat(sql: str) -> str:
    return " ".join(sql.split()).rstrip("; ")


def _text(sql: Any) -> str:
    if isinstance(sql, (bytes, bytearray)):
        return bytes(sql).decode("utf-8", "replace")
    return sql if isinstance(sql, str) else str(sql)


def _row(row: Any) -> Any:
    try:
        return list(row)
    except TypeError:
        return row
