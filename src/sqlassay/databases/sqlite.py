"""SQLite: a file opened read-only, guarded by an authorizer, stopped by a progress handler."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from sqlassay.databases.addresses import file_path, redact
from sqlassay.databases.base import Capabilities
from sqlassay.databases.digests import file_digest, file_identity, fingerprinted
from sqlassay.databases.lexer import refusal, statement_count, tokens, unsendable, words
from sqlassay.databases.sizes import ByteCount, Weight
from sqlassay.databases.sqlite_account import Events, Relations, account_of, relations_of
from sqlassay.databases.sqlite_errors import error_kind
from sqlassay.databases.sqlite_schema import read_schema
from sqlassay.databases.sqlite_text import bytes_of_text, restored
from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Column, Relation, Row, Schema
from sqlassay.records.settings import Limits

CAPABILITIES = Capabilities(
    dialect="sqlite", snapshot=True, engine_timeout=True, read_only=True, accounts=True, origins=True
)

_OPENINGS = count()
_STEPS = 4000
"""Virtual-machine steps between two looks at the clock: well under a millisecond."""
_FIRST_CHUNK, _CHUNK = 64, 1024
_LONGEST_VALUE = 32 * 1024 * 1024
"""One opcode cannot be interrupted; this bounds what one can build."""
_WIDE_ROW = 16 * 1024
_BUSY_S = 5.0
_ENGINE_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 10_000_000,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_DENIED_FUNCTIONS = words(
    "load_extension readfile writefile edit fsdir lsmode fts3_tokenizer sqlite_log zipfile sqlar_compress "
    "sqlite_dbpage shell_add_schema shell_escape_crnl sha3_query eval define undefine carray_bind"
)
_DENIED_TABLES = frozenset({"sqlite_dbpage", "sqlite_dbdata", "sqlite_dbptr", "sqlite_memstat", "fsdir", "zipfile"})
_DESCRIBING_PRAGMAS = words(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list function_list "
    "collation_list module_list pragma_list compile_options"
)
_INSIDE_VIRTUAL_TABLES = frozenset({"data_version"})


def open_database(url: str, *, name: str) -> SqliteDatabase:
    """Open the file read-only.

    Raises:
        DatabaseUnavailable: missing, in memory, unreadable, or not a SQLite file.
    """
    return SqliteDatabase(file_path(url, name=name), url=url, name=name)


class SqliteDatabase:
    """One SQLite file and one connection to it."""

    capabilities = CAPABILITIES

    def __init__(self, path: Path, *, url: str, name: str) -> None:
        self.name = name
        self.url = redact(url)
        self._path = path.absolute()
        self._guard = _Guard()
        self._closed = False
        self._open()

    def _open(self) -> None:
        self._identity = file_identity(self._path, name=self.name)
        self._connection = _connect(self._path, name=self.name)
        self._opening = next(_OPENINGS)
        self._connection.authorizer = self._guard.authorize
        self._connection.set_progress_handler(self._guard.is_late, _STEPS)
        self._schema: Schema | None = None
        self._schema_version: int | None = None

    def _reopen_if_replaced(self) -> None:
        """SQLite goes on reading a file that was removed, and pages it holds of one that was written over."""
        if file_identity(self._path, name=self.name) != self._identity:
            self._connection.close()
            self._open()

    def schema(self) -> Schema:
        """Tables and views of the main database; read again only when SQLite's schema counter moved."""
        self._reopen_if_replaced()
        return self._schema_now()

    def _schema_now(self) -> Schema:
        version = self._ask("PRAGMA schema_version")[0][0]
        if self._schema is None or version != self._schema_version:
            self._schema = fingerprinted(read_schema(self._ask))
            self._schema_version = version
            self._relations = relations_of(self._schema)
        return self._schema

    def _known(self) -> Relations:
        self._schema_now()
        return self._relations

    def fingerprint(self) -> str:
        return file_digest(self._path)

    def _stamp(self) -> str:
        return f"{self._path}|{self._opening}|{self._ask('PRAGMA data_version')[0][0]}"

    def warnings(self) -> tuple[str, ...]:
        return ()

    @contextmanager
    def session(self) -> Iterator[SqliteSession]:
        self._reopen_if_replaced()
        self._ask("BEGIN")
        try:
            yield SqliteSession(self._connection, self._guard, self._known, self._stamp)
        finally:
            if self._connection.in_transaction:
                self._ask("ROLLBACK")

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connection.authorizer = None
            self._connection.close()

    def _ask(self, sql: str) -> list[Row]:
        """Run one of our own statements, outside the guard."""
        self._guard.lifted = True
        try:
            rows: list[Row] = self._connection.execute(sql).fetchall()
        except apsw.Error as error:
            raise DatabaseUnavailable(f"database {self.name!r}: {self._path}: {error}") from error
        finally:
            self._guard.lifted = False
        return rows


class SqliteSession:
    """One deferred read transaction; the first read takes the snapshot."""

    def __init__(
        self, connection: apsw.Connection, guard: _Guard, relations: Callable[[], Relations], stamp: Callable[[], str]
    ) -> None:
        self._connection = connection
        self._guard = guard
        self._look_up = relations
        self._stamp = stamp
        self._relations: Relations | None = None

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        started = time.perf_counter()
        if not _is_plain(sql):
            found = list(tokens(sql, "sqlite"))
            if statement_count(found) == 0:
                return NotRun()
            if (why := refusal(found)) is not None:
                return SqlError(kind=ErrorKind.FORBIDDEN, message=why)
        if (why := unsendable(sql)) is not None:
            return SqlError(kind=ErrorKind.SYNTAX, message=why)
        statement = _Statement(self._connection, self._guard)
        apsw.hard_heap_limit(limits.memory_bytes)
        self._connection.set_busy_timeout(int(1000 * min(_BUSY_S, limits.timeout_s)))
        self._guard.deadline = started + limits.timeout_s
        try:
            rows, truncated = statement.fetch(sql, limits)
        except UnicodeDecodeError:
            try:
                again = _Statement(self._connection, self._guard)
                rows, truncated = again.fetch(
                    bytes_of_text(sql, list(tokens(sql, "sqlite")), width=len(statement.description)), limits
                )
                rows = restored(rows)
            except (apsw.Error, MemoryError, ValueError) as error:
                return self._failed(error, statement, limits, started)
        except (apsw.Error, MemoryError, UnicodeEncodeError, ValueError) as error:
            return self._failed(error, statement, limits, started)
        finally:
            self._guard.deadline = None
        duration = time.perf_counter() - started
        account = account_of(statement.events, self._known(), sql, statement.description)
        origins = account.origins or (None,) * len(statement.description)
        columns = tuple(
            _column(described[0], described[1], origin)
            for described, origin in zip(statement.description, origins, strict=True)
        )
        relation = Relation(columns=columns, rows=rows, truncated=truncated)
        return Rows(relation=relation, duration_s=duration, account=account)

    def stamp(self) -> str:
        """SQLite counts the commits that others made since this connection was opened."""
        return self._stamp()

    def account(self, sql: str) -> Account | None:
        found = list(tokens(sql, "sqlite"))
        if not found or refusal(found) is not None:
            return None
        statement = _Statement(self._connection, self._guard, run=False)
        try:
            statement.fetch(sql, Limits())
        except apsw.ExecTraceAbort:
            return account_of(statement.events, self._known(), sql, statement.description)
        except (apsw.Error, MemoryError, ValueError):
            return None
        return None

    def _known(self) -> Relations:
        """The schema's names, looked up once: within one snapshot they do not change."""
        if self._relations is None:
            self._relations = self._look_up()
        return self._relations

    def _failed(self, error: Exception, statement: _Statement, limits: Limits, started: float) -> Execution:
        duration = time.perf_counter() - started
        match error:
            case apsw.InterruptError() if self._guard.expired:
                return TimedOut(limit_s=limits.timeout_s)
            case apsw.ExecTraceAbort():
                return SqlError(kind=ErrorKind.FORBIDDEN, message=statement.refused, duration_s=duration)
            case _:
                message = self._guard.refused if isinstance(error, apsw.AuthError) else str(error)
                return SqlError(kind=error_kind(error), message=message or str(error), duration_s=duration)


@lru_cache(maxsize=4096)
def _column(name: str, declared: str | None, origin: str | None) -> Column:
    return Column(name=name, declared=declared, origin=origin)


_SELECT = re.compile(r"\s*select\b", re.IGNORECASE)


def _is_plain(sql: str) -> bool:
    """Whether it is plain to see that the text is one SELECT: then no token needs to be looked at."""
    return _SELECT.match(sql) is not None and ";" not in sql.rstrip("; \t\r\n")


class _Guard:
    """What a statement may do, what it was seen to read, and when it must stop."""

    __slots__ = ("deadline", "events", "expired", "lifted", "refused", "running")

    def __init__(self) -> None:
        self.lifted = False
        self.running = False
        self.events: Events = []
        self.refused = ""
        self.deadline: float | None = None
        self.expired = False

    def prepare(self) -> Events:
        self.running = self.expired = False
        self.refused = ""
        self.events = []
        return self.events

    def is_late(self) -> bool:
        if self.deadline is None or time.perf_counter() < self.deadline:
            return False
        self.expired = True
        return True

    def authorize(
        self, operation: int, first: str | None, second: str | None, _database: str | None, inside: str | None
    ) -> int:
        """SQLite asks for every action while it compiles; `inside` is the view or common table expression."""
        if self.lifted or operation in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE):
            return apsw.SQLITE_OK
        if operation == apsw.SQLITE_READ:
            if (first or "").lower() not in _DENIED_TABLES:
                if not self.running:
                    self.events.append((first or "", second or "", inside))
                return apsw.SQLITE_OK
            self.refused = f"table {first} is not allowed"
        elif operation == apsw.SQLITE_FUNCTION:
            if (second or "").lower() not in _DENIED_FUNCTIONS:
                return apsw.SQLITE_OK
            self.refused = f"function {second} is not allowed"
        elif operation == apsw.SQLITE_PRAGMA:
            if self.running and (first or "").lower() in _DESCRIBING_PRAGMAS | _INSIDE_VIRTUAL_TABLES:
                return apsw.SQLITE_OK
            self.refused = f"PRAGMA {first} is not allowed"
        else:
            self.refused = f"{_OPERATIONS.get(operation, operation)} is not a read"
        return apsw.SQLITE_DENY


_OPERATIONS = {
    code: name.removeprefix("SQLITE_").replace("_", " ").lower()
    for name, code in apsw.mapping_authorizer_function.items()
    if isinstance(name, str)
}


class _Statement:
    """One text on its way through SQLite: seen once it is compiled, before its first step."""

    __slots__ = ("_connection", "_guard", "_run", "_seen", "description", "events", "refused")

    def __init__(self, connection: apsw.Connection, guard: _Guard, *, run: bool = True) -> None:
        self._connection = connection
        self._guard = guard
        self._run = run
        self._seen = False
        self.description: tuple[tuple[Any, ...], ...] = ()
        self.events: Events = []
        self.refused = ""

    def fetch(self, sql: str, limits: Limits) -> tuple[list[Row], bool]:
        """All rows within the limits, and whether there would have been more."""
        cursor = self._connection.cursor()
        cursor.exec_trace = self._compiled
        self.events = self._guard.prepare()
        rows: list[Row] = []
        try:
            cursor.execute(sql, can_cache=False)
            count = ByteCount([Weight.SCALAR] * len(self.description))
            size = _FIRST_CHUNK
            while chunk := list(islice(cursor, min(size, limits.max_rows + 1 - len(rows)))):
                count.add(chunk)
                rows += chunk
                if len(rows) > limits.max_rows:
                    del rows[limits.max_rows :]
                    return rows, True
                if count.total > limits.max_bytes:
                    return rows, True
                size = _CHUNK if count.total < len(rows) * _WIDE_ROW else _FIRST_CHUNK
            return rows, False
        finally:
            cursor.close(True)
            self._guard.running = False

    def _compiled(self, cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        """Called before a statement runs; False stops it."""
        if self._seen:
            self.refused = "more than one statement" if statement_count(list(tokens(sql, "sqlite"))) else ""
            return not self.refused
        if cursor.is_explain or not cursor.is_readonly:
            self.refused = "not a read"
        self._seen = True
        self.description = cursor.description_full
        self._guard.running = True
        return self._run and not self.refused


def _connect(path: Path, *, name: str) -> apsw.Connection:
    """Open with `mode=ro`; a write-ahead-log database in a folder that cannot be written is opened as immutable."""
    uri = f"file:{quote(str(path))}?mode=ro"
    try:
        return _opened(uri)
    except apsw.NotADBError:
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} is not a SQLite database") from None
    except apsw.BusyError:
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} is locked by a writer") from None
    except apsw.Error as error:
        log = path.with_name(path.name + "-wal")
        if isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError)) and not (log.exists() and log.stat().st_size):
            return _opened(f"{uri}&immutable=1")
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} cannot be opened ({error})") from None


def _opened(uri: str) -> apsw.Connection:
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(int(1000 * _BUSY_S))
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.execute("PRAGMA temp_store = memory")
        virtual = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
        ).fetchall()
        for (table,) in virtual:
            _connect_virtual_table(connection, str(table))
        for limit, value in _ENGINE_LIMITS.items():
            connection.limit(limit, value)
    except apsw.Error:
        connection.close()
        raise
    return connection


def _connect_virtual_table(connection: apsw.Connection, table: str) -> None:
    """Some modules compile write statements when they connect: let them, before the authorizer is set."""
    quoted = table.replace('"', '""')
    with suppress(apsw.Error):
        connection.execute(f'SELECT 1 FROM "{quoted}" LIMIT 0').fetchall()
