"""DuckDB: a file opened read-only and locked down, stopped by interrupt, fetched as Arrow."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlassay.databases.addresses import file_path, redact
from sqlassay.databases.base import Capabilities
from sqlassay.databases.digests import file_digest, file_identity, fingerprinted
from sqlassay.databases.duckdb_errors import error_kind
from sqlassay.databases.duckdb_schema import read_schema
from sqlassay.databases.duckdb_values import Layout, layout_of
from sqlassay.databases.lexer import Token, calls, names, refusal, statement_count, tokens, unsendable, verb, words
from sqlassay.databases.sizes import ByteCount
from sqlassay.databases.watchdog import Alarm, deadline
from sqlassay.errors import DatabaseUnavailable, MissingExtra
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Relation, Row, Schema
from sqlassay.records.settings import Limits

CAPABILITIES = Capabilities(
    dialect="duckdb", snapshot=True, engine_timeout=True, read_only=True, accounts=True, origins=False
)
"""A file opened read-only locks writers of other processes out: nothing can change while it is open."""

_SETTINGS = {
    "enable_external_access": "false",
    "lock_configuration": "true",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "temp_directory": "",
    "threads": "1",
}
"""One thread: sums of floats do not depend on the schedule, and workers are processes."""
_OPTIONAL = frozenset({"allow_persistent_secrets", "allow_community_extensions", "python_enable_replacements"})

_DENIED_CALLS = words(
    "query query_table json_execute_serialized_sql json_serialize_plan checkpoint force_checkpoint copy_database "
    "duckdb_secrets which_secret duckdb_logs duckdb_log_contexts write_log enable_logging disable_logging "
    "truncate_duckdb_logs set_log getenv getvariable add_parquet_key glob sniff_csv parquet_scan parquet_metadata "
    "parquet_schema parquet_file_metadata parquet_kv_metadata parquet_bloom_probe arrow_scan arrow_scan_dumb "
    "pandas_scan python_map_function seq_scan iceberg_scan iceberg_metadata iceberg_snapshots delta_scan sqlite_scan "
    "sqlite_attach sqlite_query postgres_scan postgres_scan_pushdown postgres_query postgres_attach postgres_execute "
    "mysql_scan mysql_query mysql_execute st_read st_read_meta st_drivers http_get http_post http_put open_prompt "
    "shellfs pragma_database_list duckdb_databases duckdb_settings duckdb_temporary_files nextval currval "
    "enable_profiling disable_profiling load_aws_credentials from_substrait get_substrait shell"
)
_DENIED_VIEWS = words("duckdb_databases duckdb_logs duckdb_log_contexts duckdb_secrets duckdb_settings pg_settings")
_NAME_PART = re.compile(r'"(?:[^"]|"")*"|[^".\s]+')
_QUALIFIED = re.compile(rf"(?:{_NAME_PART.pattern})(?:\.(?:{_NAME_PART.pattern}))*")
_READERS = ("read_", "scan_", "load_")
_ARROW_ROWS = 5000
"""Results up to this height become plain rows."""
_FIRST_BATCH = 2048


def open_database(url: str, *, name: str) -> DuckdbDatabase:
    """Open the file read-only, with external access off and the configuration locked.

    Raises:
        MissingExtra: duckdb or pyarrow is not installed.
        DatabaseUnavailable: missing, in memory, held by a writer, or not a DuckDB file.
    """
    try:
        import duckdb
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("DuckDB", needs="duckdb") from None
    assert pa is not None
    assert duckdb is not None
    return DuckdbDatabase(file_path(url, name=name), url=url, name=name)


def _opened(path: Path, *, name: str) -> Any:
    import duckdb

    try:
        return _configured(duckdb, path)
    except duckdb.Error as error:
        raise DatabaseUnavailable(
            f"database {name!r}: {str(path)!r} cannot be opened as DuckDB: {_first_line(error)}",
            hint="another process (or this one) may have the file open for writing; close it there",
        ) from None


def _configured(duckdb: Any, path: Path) -> Any:
    settings = dict(_SETTINGS, memory_limit=f"{Limits().memory_bytes // 2**20}MiB")
    try:
        return duckdb.connect(str(path), read_only=True, config=settings)
    except duckdb.Error as error:
        if "recognized" not in str(error) and "unrecognized" not in str(error).lower():
            raise
        return duckdb.connect(
            str(path), read_only=True, config={key: value for key, value in settings.items() if key not in _OPTIONAL}
        )


class DuckdbDatabase:
    """One DuckDB file and one connection to it."""

    capabilities = CAPABILITIES

    def __init__(self, path: Path, *, url: str, name: str) -> None:
        self.name = name
        self.url = redact(url)
        self._path = path.absolute()
        self._open()

    def _open(self) -> None:
        self._identity = file_identity(self._path, name=self.name)
        self._connection = _opened(self._path, name=self.name)
        self._stamp = f"{self._path}|{file_digest(self._path)}"
        self._schema: Schema | None = None

    def _reopen_if_replaced(self) -> None:
        """The file that is open cannot change, but another one may have been put in its place."""
        if file_identity(self._path, name=self.name) != self._identity:
            self._connection.close()
            self._open()

    def schema(self) -> Schema:
        """Tables and views; read once, since the file cannot change while it is open."""
        self._reopen_if_replaced()
        return self._schema_now()

    def _schema_now(self) -> Schema:
        if self._schema is None:
            self._schema = fingerprinted(read_schema(lambda sql: self._connection.execute(sql).fetchall()))
        return self._schema

    def fingerprint(self) -> str:
        return file_digest(self._path)

    def warnings(self) -> tuple[str, ...]:
        return ()

    @contextmanager
    def session(self) -> Iterator[DuckdbSession]:
        self._reopen_if_replaced()
        yield DuckdbSession(self._connection, self._schema_now, self._stamp)

    def close(self) -> None:
        self._connection.close()


class DuckdbSession:
    """Statements on a file that nobody can write to."""

    def __init__(self, connection: Any, schema: Callable[[], Schema], stamp: str) -> None:
        self._connection = connection
        self._schema = schema
        self._stamp = stamp

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        import duckdb

        started = time.perf_counter()
        found = list(tokens(sql, "duckdb"))
        if statement_count(found) == 0:
            return NotRun()
        if (why := unsendable(sql)) is not None:
            return SqlError(kind=ErrorKind.SYNTAX, message=why)
        if (why := self._refusal(sql, found)) is not None:
            return SqlError(kind=ErrorKind.FORBIDDEN, message=why)
        alarm: Alarm | None = None
        try:
            with deadline(limits.timeout_s, self._connection.interrupt) as alarm:
                relation = self._fetched(sql, limits)
            duration = time.perf_counter() - started
        except (duckdb.Error, MemoryError, UnicodeError, ValueError, RuntimeError, ArithmeticError) as error:
            if alarm is not None and alarm.rang:
                return TimedOut(limit_s=limits.timeout_s)
            return SqlError(kind=error_kind(error), message=_message(error), duration_s=time.perf_counter() - started)
        return Rows(relation=relation, duration_s=duration, account=self._account(sql, found))

    def stamp(self) -> str:
        return self._stamp

    def account(self, sql: str) -> Account | None:
        found = list(tokens(sql, "duckdb"))
        return None if not found or self._refusal(sql, found) is not None else self._account(sql, found)

    def _refusal(self, sql: str, found: Sequence[Token]) -> str | None:
        """Why the text may not run: the engine says what each statement is, the lexer which functions it calls."""
        import duckdb

        if (why := refusal(found)) is not None:
            return why
        for called in calls(found):
            if called in _DENIED_CALLS or called.startswith(_READERS):
                return f"function {called} is not allowed"
        if denied := _DENIED_VIEWS.intersection(names(found)):
            return f"{min(denied)} is not allowed"
        try:
            statements = self._connection.extract_statements(sql)
        except (duckdb.Error, UnicodeError, ValueError):
            return None
        if len(statements) > 1:
            return "more than one statement"
        kinds = [str(statement.type).rpartition(".")[2] for statement in statements]
        pivots = kinds == ["MULTI"] and verb(found) in ("pivot", "unpivot", "from", "with", "select")
        if kinds and kinds != ["SELECT"] and not pivots:
            return f"{kinds[0]} is not a read"
        return None

    def _fetched(self, sql: str, limits: Limits) -> Relation:
        import duckdb
        import pyarrow as pa

        result = self._connection.sql(sql)
        if result is None:
            return Relation(columns=())
        layout = layout_of(result.columns, result.types)
        if layout.projection is not None:
            result = result.project(layout.projection)
        reader = result.to_arrow_reader(_FIRST_BATCH)
        batches: list[Any] = []
        height = size = 0
        truncated = False
        try:
            for batch in reader:
                batches.append(batch)
                height += batch.num_rows
                size += batch.nbytes
                if height > limits.max_rows or size > limits.max_bytes:
                    truncated = True
                    break
        except (pa.ArrowException, OSError) as error:
            raise duckdb.Error(str(error)) from None
        finally:
            reader.close()
        table = pa.Table.from_batches(batches, schema=reader.schema).slice(0, limits.max_rows)
        return _relation(table, layout, truncated, limits)

    def _account(self, sql: str, found: Sequence[Token]) -> Account | None:
        import duckdb

        try:
            read = self._connection.get_table_names(sql, qualified=True)
        except (duckdb.Error, RuntimeError, UnicodeError, ValueError):
            return None
        schema = self._schema()
        base = tuple(sorted({_local(name) for name in read}))
        views = {table.name.lower() for table in schema.tables if table.is_view}
        said = {token.text.lower() for token in found if token.kind in ("word", "name")}
        return Account(
            tables=None if any(view.rpartition(".")[2] in said for view in views) else base,
            base_tables=base,
            source="duckdb get_table_names",
        )


def _relation(table: Any, layout: Layout, truncated: bool, limits: Limits) -> Relation:
    if table.num_rows > _ARROW_ROWS and (plain := layout.as_arrow(table)) is not None:
        return Relation(columns=layout.columns, arrow=plain, truncated=truncated)
    rows: list[Row] = layout.rows(table)
    if not truncated and table.num_rows * 8 < limits.max_bytes < table.nbytes * 4:
        count = ByteCount()
        count.add(rows)
        truncated = count.total > limits.max_bytes
    return Relation(columns=layout.columns, rows=rows, truncated=truncated)


def _local(name: str) -> str:
    """`main.t` as `t`, `memory.main.t AS x TABLESAMPLE System(5 PERCENT)` as `t`, in lower case."""
    found = _QUALIFIED.match(name)
    written = name if found is None else found[0]
    parts = [part.strip('"').replace('""', '"').lower() for part in _NAME_PART.findall(written)]
    return ".".join(part for part in parts[-2:] if part != "main") or parts[-1]


def _message(error: Exception) -> str:
    return str(error).strip() or type(error).__name__


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
