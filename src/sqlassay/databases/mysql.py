"""MySQL and MariaDB: one consistent read-only snapshot, rows unbuffered, stopped by KILL QUERY."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from sqlassay.databases.addresses import Address, redact, server_address, without_secret
from sqlassay.databases.base import Capabilities
from sqlassay.databases.lexer import (
    READS,
    Family,
    Token,
    names,
    only_statement,
    refusal,
    statement_count,
    tokens,
    unsendable,
    verb,
)
from sqlassay.databases.mysql_errors import error_kind, is_interruption
from sqlassay.databases.mysql_guard import forbidden, variables
from sqlassay.databases.mysql_schema import fingerprint_of, read_schema, right_warnings, stamp_of
from sqlassay.databases.mysql_values import column_of, converters, weight_of
from sqlassay.databases.sizes import ByteCount
from sqlassay.databases.watchdog import Alarm, deadline
from sqlassay.errors import DatabaseUnavailable, MissingExtra
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Column, Relation, Row, Schema
from sqlassay.records.settings import Limits

CAPABILITIES = Capabilities(
    dialect="mysql", snapshot=True, engine_timeout=True, read_only=True, accounts=False, origins=True
)
"""The snapshot holds for InnoDB tables; `warnings` names the others."""

_CHUNK = 1024
_FIRST_CHUNK = 64
_CONNECT_TIMEOUT_S = 10
_KILL_AFTER_S = 0.02
_SNAPSHOT = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
_OPTIONAL_SETTINGS = (
    "SET SESSION max_recursive_iterations = 4294967295",
    "SET SESSION cte_max_recursion_depth = 4294967295",
    "SET SESSION tmp_disk_table_size = 4294967296",
    "SET SESSION max_allowed_packet = DEFAULT",
)
"""The first two let the time-out end a runaway recursion: MariaDB otherwise stops it silently at a thousand rows."""


def open_database(url: str, *, name: str) -> MysqlDatabase:
    """Connect to the server.

    Raises:
        MissingExtra: PyMySQL is not installed.
        DatabaseUnavailable: the server cannot be reached or refuses the user; no password is shown.
    """
    try:
        import pymysql
    except ImportError:
        raise MissingExtra("MySQL", needs="mysql") from None
    assert pymysql is not None
    return MysqlDatabase(url, name=name)


class MysqlDatabase:
    """One MySQL or MariaDB database and one connection to it (and a second one for a moment, to stop a statement)."""

    capabilities = CAPABILITIES

    def __init__(self, url: str, *, name: str) -> None:
        self.name = name
        self.url = redact(url)
        self._address = server_address(url, name=name)
        self._schema: Schema | None = None
        self._stamp = ""
        self._connect()

    def _connect(self) -> None:
        import pymysql

        try:
            self._connection = _connection(self._address)
            self._ask_at_once("SET SESSION time_zone = '+00:00'")
            for setting in _OPTIONAL_SETTINGS:
                with suppress(pymysql.Error):
                    self._ask_at_once(setting)
            version, mode = self._ask_at_once("SELECT VERSION(), @@SESSION.sql_mode")[0]
            isolation = self._ask_at_once(
                "SHOW VARIABLES WHERE variable_name IN ('tx_isolation', 'transaction_isolation')"
            )
        except (pymysql.Error, OSError) as error:
            raise DatabaseUnavailable(
                f"database {self.name!r}: {self.url} cannot be reached: {self._clean(error)}",
                hint="is the server running, and do host, port, user, password and database name hold?",
            ) from None
        self._isolation = f"{max(name for name, _ in isolation)} = 'REPEATABLE-READ'"
        self._is_mariadb = "mariadb" in version.lower()
        unusual = {"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES"} & set(mode.split(","))
        self._families: tuple[Family, ...] = ("mysql_ansi", "mysql") if unusual else ("mysql",)

    def _clean(self, error: Exception) -> str:
        text = str(error.args[1]) if len(error.args) > 1 else str(error)
        return without_secret(text, self._address.password)

    def schema(self) -> Schema:
        """Tables and views of the database in the URL; read again only when one was made, altered or dropped."""
        stamp = stamp_of(self._ask)
        if self._schema is None or stamp != self._stamp:
            self._schema, self._stamp = read_schema(self._ask), stamp
        return self._schema

    def fingerprint(self) -> str:
        return fingerprint_of(self._ask, self.schema())

    def warnings(self) -> tuple[str, ...]:
        return right_warnings(self._ask)

    def _ask_at_once(self, sql: str) -> list[Row]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _ask(self, sql: str) -> list[Row]:
        import pymysql

        try:
            self._reconnect_if_lost()
            return self._ask_at_once(sql)
        except pymysql.Error as error:
            raise DatabaseUnavailable(f"database {self.name!r}: {self.url}: {self._clean(error)}") from None

    def _reconnect_if_lost(self) -> None:
        if not self._connection.open:
            self._connect()

    def _kill(self) -> None:
        """Stop what the connection is running, from another one."""
        with suppress(OSError), _connection(self._address) as other, other.cursor() as cursor:
            cursor.execute(f"KILL QUERY {self._connection.thread_id()}")

    @contextmanager
    def session(self) -> Iterator[MysqlSession]:
        import pymysql

        self._reconnect_if_lost()
        session = MysqlSession(
            self._connection,
            self._schema or self.schema(),
            kill=self._kill,
            clean=self._clean,
            families=self._families,
            isolation=self._isolation,
            mariadb=self._is_mariadb,
        )
        try:
            yield session
        finally:
            with suppress(pymysql.Error, OSError):
                session.end()

    def close(self) -> None:
        if self._connection.open:
            self._connection.close()


def _connection(address: Address) -> Any:
    import pymysql

    options: dict[str, Any] = {}
    if "ssl_ca" in address.options:
        options["ssl_ca"] = address.options["ssl_ca"]
    return pymysql.connect(
        host=address.host or "localhost",
        port=address.port or 3306,
        user=address.user,
        password=address.password or "",
        database=address.database,
        unix_socket=address.options.get("unix_socket"),
        charset="utf8mb4",
        conv=converters(),
        autocommit=True,
        local_infile=False,
        connect_timeout=int(address.options.get("connect_timeout", _CONNECT_TIMEOUT_S)),
        **options,
    )


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))


class MysqlSession:
    """One read-only transaction with a consistent snapshot, begun with its first statement."""

    def __init__(
        self,
        connection: Any,
        schema: Schema,
        *,
        kill: Callable[[], None],
        clean: Callable[[Exception], str],
        families: Sequence[Family],
        isolation: str,
        mariadb: bool,
    ) -> None:
        self._connection = connection
        self._views = frozenset(table.name.lower() for table in schema.tables if table.is_view)
        self._tables = frozenset(table.name.lower() for table in schema.tables if not table.is_view)
        self._kill = kill
        self._clean = clean
        self._families = families
        self._isolation = isolation
        self._mariadb = mariadb
        self._timeout_s: float | None = None
        self._variables: tuple[str, ...] = ()

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        import pymysql

        started = time.perf_counter()
        found = list(tokens(sql, self._families[0]))
        if statement_count(found) == 0:
            return NotRun()
        if (why := unsendable(sql)) is not None:
            return SqlError(kind=ErrorKind.SYNTAX, message=why)
        if (why := self._refusal(sql, found)) is not None:
            return SqlError(kind=ErrorKind.FORBIDDEN, message=why)
        if verb(found) not in READS:
            return SqlError(kind=ErrorKind.SYNTAX, message=f"{verb(found) or sql[:20]!r} begins no statement")
        alarm: Alarm | None = None
        try:
            self._forget_variables()
            self._variables = variables(found)
            self._begin(limits.timeout_s)
            began = time.perf_counter()
            with deadline(limits.timeout_s + _KILL_AFTER_S, self._kill) as alarm:
                columns, rows, truncated = self._fetched(only_statement(sql, found), found, limits)
        except (pymysql.Error, OSError, MemoryError, UnicodeError, ValueError, IndexError) as error:
            duration = time.perf_counter() - started
            if is_interruption(error) and ((alarm is not None and alarm.rang) or duration >= limits.timeout_s):
                return TimedOut(limit_s=limits.timeout_s)
            return SqlError(kind=error_kind(error), message=self._clean(error), duration_s=duration)
        duration = time.perf_counter() - began
        if not truncated and (alarm.rang or duration >= limits.timeout_s):
            return TimedOut(limit_s=limits.timeout_s)
        return Rows(
            relation=Relation(columns=columns, rows=rows, truncated=truncated),
            duration_s=duration,
            account=Account(origins=tuple(column.origin for column in columns), source="mysql row description"),
        )

    def stamp(self) -> str | None:
        return None

    def account(self, sql: str) -> Account | None:  # noqa: ARG002 - the protocol's signature
        """None: the server describes columns only of what it runs."""
        return None

    def _refusal(self, sql: str, first: Sequence[Token]) -> str | None:
        """Why the text may not run, by any way in which the server's mode may read its quotes."""
        for family in self._families:
            found = first if family == self._families[0] else list(tokens(sql, family))
            if (why := refusal(found) or forbidden(found)) is not None:
                return why
        return None

    def _begin(self, seconds: float) -> None:
        """Take the snapshot if there is none yet; set the server's own time limit if it is another one."""
        if seconds == self._timeout_s:
            return
        limit = (
            f"max_statement_time = {seconds:.6f}" if self._mariadb else f"max_execution_time = {_milliseconds(seconds)}"
        )
        with self._connection.cursor() as cursor:
            if self._timeout_s is None:
                cursor.execute(f"SET SESSION {self._isolation}, {limit}")
                cursor.execute(_SNAPSHOT)
            else:
                cursor.execute(f"SET SESSION {limit}")
        self._timeout_s = seconds

    def _forget_variables(self) -> None:
        """User variables outlive a statement: what one has set, the next one must not see."""
        if not self._variables:
            return
        with self._connection.cursor() as cursor:
            cursor.execute("SET " + ", ".join(f"@{name} = NULL" for name in self._variables))
        self._variables = ()

    def end(self) -> None:
        """Give the snapshot back, and leave nothing to the next session."""
        if self._timeout_s is not None:
            self._connection.rollback()
            self._forget_variables()

    def _fetched(self, sql: str, found: Sequence[Token], limits: Limits) -> tuple[tuple[Column, ...], list[Row], bool]:
        from pymysql.cursors import SSCursor

        cursor: Any = SSCursor(self._connection)
        rows: list[Row] = []
        try:
            cursor.execute(sql)
            if cursor.description is None:
                return (), [], False
            tables = self._tables_without_views(found)
            columns = tuple(column_of(field, tables) for field in cursor._result.fields)
            count = ByteCount([weight_of(column) for column in columns])
            stream = cursor.fetchall_unbuffered()
            wanted = _FIRST_CHUNK
            while chunk := list(islice(stream, wanted)):
                count.add(chunk)
                rows += chunk
                if len(rows) > limits.max_rows or count.total > limits.max_bytes:
                    del rows[limits.max_rows :]
                    self._drop_rest(cursor)
                    return columns, rows, True
                wanted = _CHUNK
            return columns, rows, False
        finally:
            cursor.close()

    def _tables_without_views(self, found: Sequence[Token]) -> frozenset[str]:
        if self._views and not self._views.isdisjoint(names(found)):
            return frozenset()
        return self._tables

    def _drop_rest(self, cursor: Any) -> None:
        import pymysql

        self._kill()
        with suppress(pymysql.Error):
            for _ in cursor.fetchall_unbuffered():
                pass
