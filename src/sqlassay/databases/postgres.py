"""PostgreSQL: one repeatable-read read-only transaction, undone to its savepoint after each statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sqlassay.databases.addresses import redact, server_address, without_secret
from sqlassay.databases.base import Capabilities
from sqlassay.databases.lexer import refusal, statement_count, tokens, unsendable
from sqlassay.databases.postgres_errors import error_kind
from sqlassay.databases.postgres_guard import forbidden, too_large
from sqlassay.databases.postgres_schema import fingerprint_of, read_schema, right_warnings, stamp_of
from sqlassay.databases.postgres_stream import answer_to
from sqlassay.databases.postgres_values import Catalogue, register_loaders
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
_SNAPSHOT = "SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_snapshot()::text END"
"""Who sees the same transactions sees the same catalogues: where nobody wrote, a look at this is enough.

A standby's snapshot does not list the transactions that are under way.
"""
_CONNECT_TIMEOUT_S = 10
_CANCEL_AFTER_S = 0.05
"""The server's own time-out comes first; the client's cancel is for a statement that got around it."""
_SPILL = "4GB"
_UNDO = "ROLLBACK TO SAVEPOINT sqlassay"


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
        self._snapshot: str | None = None
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
            self._beginning = self._begin_texts()
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"database {self.name!r}: {self.url} cannot be reached: {self._clean(error)}",
                hint="is the server running, and do host, port, user, password and database name hold?",
            ) from None
        register_loaders(self._connection)

    def _begin_texts(self) -> tuple[str, ...]:
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
            return (_BEGIN,)
        self._connection.execute(f"SET temp_file_limit = '{_SPILL}'")
        return (_BEGIN, f"SET LOCAL ROLE {_READER}") if has_reader and not row_security else (_BEGIN,)

    def _clean(self, error: Exception) -> str:
        return without_secret(str(error).strip(), self._secret)

    def schema(self) -> Schema:
        """Tables and views; read again only when something was made, altered or dropped."""
        snapshot = self._ask(_SNAPSHOT)[0][0]
        if self._schema is not None and snapshot is not None and snapshot == self._snapshot:
            return self._schema
        stamp = stamp_of(self._ask)
        if self._schema is None or stamp != self._stamp:
            self._schema, self._stamp = read_schema(self._ask), stamp
            self._catalogue = Catalogue(self._connection)
        self._snapshot = snapshot
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
        session = PostgresSession(self._connection, self._catalogue, beginning=self._beginning, clean=self._clean)
        try:
            yield session
        finally:
            with suppress(psycopg.Error):
                session.end()

    def close(self) -> None:
        self._connection.close()


class PostgresSession:
    """One repeatable-read transaction, begun with its first statement; each is undone before the next."""

    def __init__(
        self,
        connection: Any,
        catalogue: Catalogue,
        *,
        beginning: Sequence[str],
        clean: Callable[[Exception], str],
    ) -> None:
        self._connection = connection
        self._catalogue = catalogue
        self._beginning = beginning
        self._clean = clean
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
            before = self._before(limits)
            with deadline(limits.timeout_s + _CANCEL_AFTER_S, self._connection.cancel_safe) as alarm:
                answer = answer_to(self._connection, before, sql, limits)
            duration = time.perf_counter() - started
            if answer.truncated:
                self._simple(_UNDO)
            columns = self._catalogue.columns(answer.described)
            rows = self._catalogue.finished(answer.described, answer.rows)
        except (psycopg.Error, MemoryError, UnicodeError, ValueError, OverflowError) as error:
            return self._failed(error, alarm, limits, started)
        return Rows(
            relation=Relation(columns=columns, rows=rows, truncated=answer.truncated),
            duration_s=duration,
            account=_account(columns),
        )

    def stamp(self) -> str | None:
        return None

    def account(self, sql: str) -> Account | None:
        """Where each output column comes from, asked of the planner without running anything."""
        import psycopg

        found = list(tokens(sql, "postgres"))
        if not found or any(check(found) is not None for check in (refusal, forbidden, too_large)):
            return None
        try:
            for text in self._before(Limits()):
                self._simple(text)
            return _account(self._catalogue.columns(self._described(sql)))
        except (psycopg.Error, UnicodeError, ValueError):
            return None

    def end(self) -> None:
        """Give the snapshot back."""
        if self._timeout_ms is not None:
            self._simple("ROLLBACK")

    def _before(self, limits: Limits) -> tuple[str, ...]:
        """What undoes the statement before and everything it set, and limits the next one's time on the server."""
        milliseconds = max(1, int(limits.timeout_s * 1000))
        first, same = self._timeout_ms is None, milliseconds == self._timeout_ms
        self._timeout_ms = milliseconds
        limit = (f"SET LOCAL statement_timeout = {milliseconds}", "SAVEPOINT sqlassay")
        if first:
            return (*self._beginning, *limit)
        return (_UNDO,) if same else (_UNDO, "RELEASE SAVEPOINT sqlassay", *limit)

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
        if isinstance(error, psycopg.errors.QueryCanceled):
            if (alarm is not None and alarm.rang) or duration >= limits.timeout_s:
                return TimedOut(limit_s=limits.timeout_s)
            return SqlError(kind=ErrorKind.CONNECTION, message=self._clean(error), duration_s=duration)
        kind = ErrorKind.CONNECTION if self._connection.closed else error_kind(error)
        return SqlError(kind=kind, message=self._clean(error), duration_s=duration)


def _account(columns: Sequence[Column]) -> Account:
    return Account(origins=tuple(column.origin for column in columns), source="postgresql row description")
