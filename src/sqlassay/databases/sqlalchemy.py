"""Any other database that SQLAlchemy reaches, through one file that says what it cannot do.

There is no snapshot, no time-out in the engine, and no account of what is read: the capabilities say so, and the
report prints it. What may run is decided before by the safety rule and here by the lexer; a user with SELECT only is
what protects the data, and `warnings` says that too.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

from sqlassay.databases.addresses import redact, server_address, without_secret
from sqlassay.databases.base import Capabilities
from sqlassay.databases.digests import fingerprinted
from sqlassay.databases.lexer import only_statement, refusal, statement_count, tokens, unsendable
from sqlassay.databases.sizes import ByteCount
from sqlassay.databases.view_text import select_of
from sqlassay.errors import ConfigError, DatabaseUnavailable, MissingExtra
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Column, ForeignKey, Kind, Relation, Row, Schema, TableSchema
from sqlassay.records.settings import Limits

_DIALECTS = {
    "mssql": "tsql",
    "oracle": "oracle",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "databricks": "databricks",
    "trino": "trino",
    "clickhouse": "clickhouse",
    "clickhousedb": "clickhouse",
    "redshift": "redshift",
    "cockroachdb": "postgres",
    "postgresql": "postgres",
    "sqlite": "sqlite",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
    "hive": "hive",
    "athena": "athena",
    "awsathena": "athena",
    "teradatasql": "teradata",
}
_CHUNK = 1024
_WORDS: tuple[tuple[tuple[str, ...], ErrorKind], ...] = (
    (("permission", "not authorized", "read-only", "read only", "denied", "readonly"), ErrorKind.FORBIDDEN),
    (("timeout", "timed out", "canceled", "cancelled"), ErrorKind.TIMEOUT),
    (("ambiguous",), ErrorKind.AMBIGUOUS_COLUMN),
    (("group by", "not a group", "aggregate function or the"), ErrorKind.GROUPING),
    (("same number of", "equal number of expressions", "number of columns"), ErrorKind.ARITY),
    (("no such column", "invalid identifier", "invalid column", "unknown column", "column not found",
      "unrecognized name"), ErrorKind.UNKNOWN_COLUMN),
    (("column", "does not exist"), ErrorKind.UNKNOWN_COLUMN),
    (("no such table", "invalid object name", "table or view does not exist", "table not found", "unknown table",
      "was not found", "unknown_table"), ErrorKind.UNKNOWN_TABLE),
    (("no such function", "unknown function", "not a recognized", "function not found"), ErrorKind.FUNCTION),
    (("relation", "does not exist"), ErrorKind.UNKNOWN_TABLE),
    (("function", "does not exist"), ErrorKind.FUNCTION),
    (("divide by zero", "division by zero", "divisor is equal to zero", "overflow", "out of range"),
     ErrorKind.RUNTIME),
    (("conversion", "cast", "operand type", "invalid input syntax", "type mismatch", "invalid number"),
     ErrorKind.TYPE),
    (("memory", "too large", "too big", "resources exceeded"), ErrorKind.TOO_LARGE),
    (("syntax", "parse", "unexpected", "missing expression", "incorrect"), ErrorKind.SYNTAX),
)  # fmt: skip


def open_database(url: str, *, name: str) -> SqlalchemyDatabase:
    """Connect through SQLAlchemy.

    Raises:
        MissingExtra: SQLAlchemy, or the dialect's driver, is not installed.
        ConfigError: SQLAlchemy knows no such dialect.
        DatabaseUnavailable: the database cannot be reached; no password is shown.
    """
    try:
        import sqlalchemy
        from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
    except ImportError:
        raise MissingExtra("this kind of database", needs="sqlalchemy") from None
    secret = server_address(url, name=name).password
    try:
        engine = sqlalchemy.create_engine(url.removeprefix("sqlalchemy+"))
    except (NoSuchModuleError, ArgumentError) as error:
        raise ConfigError(
            f"database {name!r}: {redact(url)!r}: {without_secret(str(error), secret)}",
            hint="SQLAlchemy needs the package of that dialect (snowflake-sqlalchemy, sqlalchemy-bigquery, ...)",
        ) from None
    except ImportError as error:
        raise MissingExtra(f"{redact(url)!r} ({error.name})", needs="sqlalchemy") from None
    database = SqlalchemyDatabase(engine, url=url, name=name, secret=secret)
    try:
        with database.session():
            pass
    except (SQLAlchemyError, OSError) as error:
        database.close()
        raise DatabaseUnavailable(
            f"database {name!r}: {database.url} cannot be reached: {database.clean(error)}",
            hint="is the server running, and do host, port, user, password and database name hold?",
        ) from None
    return database


class SqlalchemyDatabase:
    """One database behind a SQLAlchemy engine."""

    def __init__(self, engine: Any, *, url: str, name: str, secret: str | None) -> None:
        self.name = name
        self.url = redact(url)
        self._engine = engine
        self._secret = secret
        self._schema: Schema | None = None
        self.capabilities = Capabilities(
            dialect=_DIALECTS.get(engine.dialect.name, engine.dialect.name),
            snapshot=False,
            engine_timeout=False,
            read_only=False,
            accounts=False,
            origins=False,
        )

    def clean(self, error: Exception) -> str:
        original = getattr(error, "orig", None) or error
        return without_secret(str(original).strip(), self._secret)

    def schema(self) -> Schema:
        """Tables and views of the default schema, by SQLAlchemy's inspection."""
        if self._schema is None:
            import sqlalchemy

            inspector = sqlalchemy.inspect(self._engine)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sqlalchemy.exc.SAWarning)
                self._schema = self._inspected(inspector)
        return self._schema

    def _inspected(self, inspector: Any) -> Schema:
        names = [(name, False) for name in inspector.get_table_names()]
        names += [(name, True) for name in inspector.get_view_names()]
        return fingerprinted(
            Schema(
                dialect=self.capabilities.dialect,
                tables=tuple(_table(inspector, name, is_view) for name, is_view in names),
                default_schema=inspector.default_schema_name,
            )
        )

    def fingerprint(self) -> str:
        """The schema's digest: changed rows cannot be seen."""
        return self.schema().fingerprint

    def warnings(self) -> tuple[str, ...]:
        return (
            f"{self._engine.dialect.name}: no snapshot (gold and candidate may see different data), no time-out in the "
            "engine, read-only not enforced by sqlassay, tables and origins of columns known from the SQL's text "
            "alone; use a user that has SELECT only",
        )

    @contextmanager
    def session(self) -> Iterator[SqlalchemySession]:
        with self._engine.connect() as connection:
            try:
                yield SqlalchemySession(connection, clean=self.clean)
            finally:
                connection.rollback()

    def close(self) -> None:
        self._engine.dispose()


class SqlalchemySession:
    """Statements on one connection, whose transaction is always rolled back."""

    def __init__(self, connection: Any, *, clean: Callable[[Exception], str]) -> None:
        self._connection = connection
        self._clean = clean

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        from sqlalchemy.exc import SQLAlchemyError

        started = time.perf_counter()
        found = list(tokens(sql, "postgres"))
        if statement_count(found) == 0:
            return NotRun()
        if (why := unsendable(sql)) is not None:
            return SqlError(kind=ErrorKind.SYNTAX, message=why)
        if (why := refusal(found)) is not None:
            return SqlError(kind=ErrorKind.FORBIDDEN, message=why)
        try:
            relation = self._fetched(only_statement(sql, found), limits, deadline=started + limits.timeout_s)
        except TimeoutError:
            return TimedOut(limit_s=limits.timeout_s)
        except (SQLAlchemyError, MemoryError, UnicodeError, ValueError, OSError) as error:
            with suppress(SQLAlchemyError):
                self._connection.rollback()
            message = self._clean(error)
            return SqlError(kind=error_kind(error, message), message=message, duration_s=time.perf_counter() - started)
        return Rows(relation=relation, duration_s=time.perf_counter() - started)

    def stamp(self) -> str | None:
        return None

    def account(self, sql: str) -> Account | None:  # noqa: ARG002 - the protocol's signature
        return None

    def _fetched(self, sql: str, limits: Limits, *, deadline: float) -> Relation:
        result = self._connection.execution_options(stream_results=True).exec_driver_sql(sql)
        if not result.returns_rows:
            return Relation(columns=())
        columns = tuple(Column(name=str(described[0])) for described in result.cursor.description)
        count = ByteCount()
        rows: list[Row] = []
        truncated = False
        while chunk := [tuple(row) for row in result.fetchmany(_CHUNK)]:
            count.add(chunk)
            rows += chunk
            if len(rows) > limits.max_rows or count.total > limits.max_bytes:
                del rows[limits.max_rows :]
                truncated = True
                break
            if time.perf_counter() > deadline:
                raise TimeoutError
        result.close()
        kinds = [_kind_of(rows, i) for i in range(len(columns))]
        return Relation(
            columns=tuple(Column(name=column.name, kind=kind) for column, kind in zip(columns, kinds, strict=True)),
            rows=rows,
            truncated=truncated,
        )


def _kind_of(rows: list[Row], position: int) -> Kind:
    """Decimal where every value is one; otherwise each cell speaks for itself."""
    types = {type(row[position]) for row in rows} - {type(None)}
    return Kind.DECIMAL if types == {Decimal} else Kind.DYNAMIC


def error_kind(error: Exception, message: str) -> ErrorKind:
    """The kind of a failure, from its class and the words that engines use.

    >>> error_kind(Exception(), "ORA-00942: table or view does not exist")
    <ErrorKind.UNKNOWN_TABLE: 'unknown_table'>
    """
    if isinstance(error, MemoryError):
        return ErrorKind.TOO_LARGE
    if isinstance(error, (UnicodeError, ValueError)):
        return ErrorKind.SYNTAX
    if isinstance(error, OSError) or getattr(error, "connection_invalidated", False):
        return ErrorKind.CONNECTION
    lowered = message.lower()
    for words, kind in _WORDS:
        if (
            all(word in lowered for word in words)
            if words[-1] == "does not exist"
            else any(word in lowered for word in words)
        ):
            return kind
    return ErrorKind.OTHER


def _table(inspector: Any, name: str, is_view: bool) -> TableSchema:
    columns = inspector.get_columns(name)
    return TableSchema(
        name=name,
        columns=tuple(column["name"] for column in columns),
        types=tuple(str(column["type"]) for column in columns),
        primary_key=() if is_view else tuple(inspector.get_pk_constraint(name).get("constrained_columns", ())),
        foreign_keys=()
        if is_view
        else tuple(
            ForeignKey(
                columns=tuple(key["constrained_columns"]),
                to_table=key["referred_table"],
                to_columns=tuple(key["referred_columns"]),
            )
            for key in inspector.get_foreign_keys(name)
        ),
        is_view=is_view,
        view_sql=select_of(inspector.get_view_definition(name), "postgres") if is_view else None,
    )
