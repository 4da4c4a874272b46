"""PostgreSQL: one repeatable-read read-only transaction, a savepoint per statement, rows streamed in chunks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from sqlassay.databases.addresses import redact, server_address, without_secret
from sqlassay.databases.base import Capabilities
from sqlassay.databases.lexer import refusal, statement_count, tokens, unsendable
from sqlassay.databases.postgres_errors import error_kind
from sqlassay.databases.postgres_guard import forbidden, too_large
from sqlassay.databases.postgres_schema import fingerprint_of, read_schema, right_warnings, stamp_of
from sqlassay.databases.postgres_values import Catalogue, register_loaders
from sqlassay.databases.sizes import ByteCount
from sqlassay.databases.watchdog import Alarm, deadline
from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Column, Relation, Row, Schema
from sqlassay.records.settings import Limits

CAPABILITIES = Capabilities(
    dialect="postgres", snapshot=True, engine_timeout=True, read_only=True, accounts=False, origins=True
)

_SETTINGS = (
    "SET TIME ZONE 'UTC'; SET intervalstyle = 'postgres'; SET datestyle = 'ISO, YMD'; SET bytea_output = 'hex'; "
    "SET extra_float_digits = 1; SET client_encoding = 'UTF8'; SET default_transaction_read_only = on; "
    "SET idle_in_transaction_session_timeout = 0; SET synchronize_seqscans = off"
)
"""The last makes a scan start at the first row, whoever else scans: what LIMIT without ORDER BY returns repeats."""
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_READER = "pg_read_all_data"
_FIRST_CHUNK, _CHUNK = 64, 1024
_CONNECT_TIMEOUT_S = 10
_CANCEL_AFTER_S = 0.05
"""The server's own time-out comes first; the client's cancel is for a statement that got around it."""
_SPILL = "4GB"


def open_database(url: str, *, name: str) -> PostgresDatabase:
    """Connect to the server.

    Raises:
        DatabaseUnavailable: the server cannot be reached or refuses the user; no password is shown.
    """
    return PostgresDatabase(url, name=name)


class PostgresDatabase:
    """One PostgreSQL database and one connection to it."""

    capabilities = CAPABILITIES

    def __init__(self, url: str, *, name: str) -> None:
        self.name = name
        self.url = redact(url)
        self._secret = server_address(url, name=name).password
        self._conninfo = "postgresql://" + url.partition("://")[2]
        self._schema: Schema | None = None
        self._stamp = ""
        self._connect()

    def _connect(self) -> None:
        import psycopg

        try:
            conninfo = psycopg.conninfo.conninfo_to_dict(self._conninfo)
            conninfo.setdefault("connect_timeout", _CONNECT_TIMEOUT_S)
            conninfo["application_name"] = "sqlassay"
            self._connection = psycopg.connect(
                psycopg.conninfo.make_conninfo("", **conninfo), autocommit=True, prepare_threshold=None
            )
            self._connection.pgconn.exec_(_SETTINGS.encode())
            self._catalogue = Catalogue(self._connection)
            self._prologue = self._begin_text()
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"database {self.name!r}: {self.url} cannot be reached: {self._clean(error)}",
                hint="is the server running, and do host, port, user, password and database name hold?",
            ) from None
        register_loaders(self._connection)

    def _begin_text(self) -> str:
        """Start of a session; a superuser steps down to a role that can read everything and nothing else.

        Not where row-level security is in use, which a superuser passes and that role does not.
        """
        row = self._connection.execute(
            "SELECT current_setting('is_superuser') = 'on', EXISTS (SELECT FROM pg_roles WHERE rolname = %s), "
            "EXISTS (SELECT FROM pg_class WHERE relrowsecurity)",
            (_READER,),
        ).fetchone()
        assert row is not None
        superuser, has_reader, row_security = row
        if not superuser:
            return _BEGIN
        self._connection.execute(f"SET temp_file_limit = '{_SPILL}'")
        return f"{_BEGIN}; SET LOCAL ROLE {_READER}" if has_reader and not row_security else _BEGIN

    def _clean(self, error: Exception) -> str:
        return without_secret(str(error).strip(), self._secret)

    def schema(self) -> Schema:
        """Tables and views; read again only when something was made, altered or dropped."""
        stamp = stamp_of(self._ask)
        if self._schema is None or stamp != self._stamp:
            self._schema, self._stamp = read_schema(self._ask), stamp
            self._catalogue = Catalogue(self._connection)
        return self._schema

    def fingerprint(self) -> str:
        return fingerprint_of(self._ask, self.schema())

    def warnings(self) -> tuple[str, ...]:
        return right_warnings(self._ask)

    def _ask(self, sql: str) -> list[Row]:
        import psycopg

        try:
            self._reconnect_if_lost()
            return self._connection.execute(sql.encode()).fetchall()
        except psycopg.Error as error:
            raise DatabaseUnavailable(f"database {self.name!r}: {self.url}: {self._clean(error)}") from None

    def _reconnect_if_lost(self) -> None:
        if self._connection.closed:
            self._connect()

    @contextmanager
    def session(self) -> Iterator[PostgresSession]:
        import psycopg

        self._reconnect_if_lost()
        try:
            self._connection.pgconn.exec_(self._prologue.encode())
            yield PostgresSession(self._connection, self._catalogue, clean=self._clean)
        finally:
            with suppress(psycopg.Error):
                self._connection.pgconn.exec_(b"ROLLBACK")

    def close(self) -> None:
        self._connection.close()


class PostgresSession:
    """One repeatable-read transaction; a statement that fails is undone to its savepoint."""

    def __init__(self, connection: Any, catalogue: Catalogue, *, clean: Callable[[Exception], str]) -> None:
        self._connection = connection
        self._catalogue = catalogue
        self._clean = clean
        self._used = False
        self._timeout_ms: int | None = None

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        import psycopg

        started = time.perf_counter()
        found = list(tokens(sql, "postgres"))
        if statement_count(found) == 0:
            return NotRun()
        if (why := unsendable(sql)) is not None:
            return SqlError(kind=ErrorKind.SYNTAX, message=why)
        if (why := refusal(found) or forbidden(found)) is not None:
            return SqlError(kind=ErrorKind.FORBIDDEN, message=why)
        if (why := too_large(found)) is not None:
            return SqlError(kind=ErrorKind.TOO_LARGE, message=why)
        alarm: Alarm | None = None
        try:
            self._prepare(limits)
            cursor = self._connection.cursor()
            with deadline(limits.timeout_s + _CANCEL_AFTER_S, self._connection.cancel_safe) as alarm:
                rows, truncated = _streamed(cursor, sql, limits)
            duration = time.perf_counter() - started
            if truncated:
                self._undo()
            described = cursor.pgresult if rows else self._described(sql)
            columns = self._catalogue.columns(described)
            rows = self._catalogue.finished(described, rows)
        except (psycopg.Error, MemoryError, UnicodeError, ValueError, OverflowError) as error:
            return self._failed(error, alarm, limits, started)
        return Rows(
            relation=Relation(columns=columns, rows=rows, truncated=truncated),
            duration_s=duration,
            account=_account(columns),
        )

    def account(self, sql: str) -> Account | None:
        """Where each output column comes from, asked of the planner without running anything."""
        import psycopg

        found = list(tokens(sql, "postgres"))
        if not found or any(check(found) is not None for check in (refusal, forbidden, too_large)):
            return None
        try:
            self._prepare(Limits())
            account = _account(self._catalogue.columns(self._described(sql)))
        except (psycopg.Error, UnicodeError, ValueError):
            self._undo()
            return None
        return account

    def _prepare(self, limits: Limits) -> None:
        """Undo whatever the statement before left, and set the server's own time limit for the next one."""
        milliseconds = max(1, int(limits.timeout_s * 1000))
        if self._used or milliseconds != self._timeout_ms:
            back = "ROLLBACK TO SAVEPOINT sqlassay; " if self._used else "SAVEPOINT sqlassay; "
            self._simple(f"{back}SET LOCAL statement_timeout = {milliseconds}")
        self._used, self._timeout_ms = True, milliseconds

    def _undo(self) -> None:
        import psycopg

        with suppress(psycopg.Error):
            self._simple("ROLLBACK TO SAVEPOINT sqlassay")

    def _simple(self, sql: str) -> None:
        import psycopg
        from psycopg.pq import ExecStatus

        result = self._connection.pgconn.exec_(sql.encode())
        if result.status == ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result)

    def _described(self, sql: str) -> Any:
        import psycopg
        from psycopg.pq import ExecStatus

        connection = self._connection.pgconn
        prepared = connection.prepare(b"", sql.encode())
        if prepared.status == ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(prepared)
        return connection.describe_prepared(b"")

    def _failed(self, error: Exception, alarm: Alarm | None, limits: Limits, started: float) -> Execution:
        import psycopg

        duration = time.perf_counter() - started
        self._undo()
        if isinstance(error, psycopg.errors.QueryCanceled):
            if (alarm is not None and alarm.rang) or duration >= limits.timeout_s:
                return TimedOut(limit_s=limits.timeout_s)
            return SqlError(kind=ErrorKind.CONNECTION, message=self._clean(error), duration_s=duration)
        kind = ErrorKind.CONNECTION if self._connection.closed else error_kind(error)
        return SqlError(kind=kind, message=self._clean(error), duration_s=duration)


def _streamed(cursor: Any, sql: str, limits: Limits) -> tuple[list[Row], bool]:
    """Rows within the limits, and whether there would have been more; what is left over is cancelled."""
    import psycopg

    rows: list[Row] = []
    size = _CHUNK if psycopg.capabilities.has_stream_chunked() else 1
    stream = cursor.stream(sql.encode(), size=min(size, max(1, limits.max_rows + 1)))
    truncated = False
    wanted = _FIRST_CHUNK
    try:
        count = ByteCount()
        while chunk := list(islice(stream, wanted)):
            count.add(chunk)
            rows += chunk
            if len(rows) > limits.max_rows or count.total > limits.max_bytes:
                del rows[limits.max_rows :]
                truncated = True
                break
            wanted = _CHUNK
    finally:
        stream.close()
    return rows, truncated


def _account(columns: Sequence[Column]) -> Account:
    return Account(origins=tuple(column.origin for column in columns), source="postgresql row description")
