"""How is a fixture file written: tables with their keys, rows, and views, in SQLite or DuckDB?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import apsw

from sqlassay.databases.snapshot_values import as_text, for_sqlite
from sqlassay.errors import MissingExtra
from sqlassay.records.relation import Column, ForeignKey, Interval, Kind, Row, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A table on its way into a fixture."""

    table: TableSchema
    columns: tuple[Column, ...]
    rows: list[Row]


def fixture_url(path: Path, engine: Literal["sqlite", "duckdb"]) -> str:
    """The URL of a fixture file, by absolute path."""
    return f"{engine}:///{path.absolute()}"


def quoted(name: str, dialect: str) -> str:
    """A possibly dotted name, quoted.

    >>> quoted("sales.order lines", "postgres"), quoted("t", "mysql")
    ('"sales"."order lines"', '`t`')
    """
    mark = "`" if dialect in ("mysql", "bigquery", "databricks") else '"'
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in name.split("."))


_SQLITE_TYPES = {
    Kind.INTEGER: "INTEGER",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DECIMAL: "DECIMAL",
    Kind.FLOAT: "REAL",
    Kind.TEXT: "TEXT",
    Kind.CHAR: "TEXT",
    Kind.BYTES: "BLOB",
    Kind.DATE: "DATE TEXT",
    Kind.TIME: "TEXT",
    Kind.TIMESTAMP: "TIMESTAMP TEXT",
    Kind.TIMESTAMPTZ: "TIMESTAMP TEXT",
    Kind.JSON: "JSON TEXT",
}


def write_sqlite(path: Path, tables: Sequence[Copied], views: Sequence[TableSchema]) -> None:
    """Write a new SQLite file."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA foreign_keys = off")
        with connection:
            for copied in tables:
                declared = [_sqlite_type(column) for column in copied.columns]
                connection.execute(_create(copied, declared, tables))
                if copied.rows:
                    dirty = [_has_dirty_text([row[i] for row in copied.rows]) for i in range(len(copied.columns))]
                    marks = ", ".join("CAST(? AS TEXT)" if each else "?" for each in dirty)
                    connection.executemany(
                        f"INSERT INTO {_local(copied.table.name)} VALUES ({marks})",
                        (
                            tuple(_sqlite_cell(cell, each) for cell, each in zip(row, dirty, strict=True))
                            for row in copied.rows
                        ),
                    )
            for view in views:
                connection.execute(f"CREATE VIEW {_local(view.name)} AS {view.view_sql}")
        connection.execute("VACUUM")
    finally:
        connection.close()


def _has_dirty_text(cells: list[Any]) -> bool:
    """Whether a column of text only holds some that has no UTF-8: it is handed over as bytes, and cast."""
    texts = [cell for cell in cells if cell is not None]
    if not all(isinstance(cell, str) for cell in texts):
        return False
    return any("\udc80" <= character <= "\udcff" for text in texts if not text.isascii() for character in text)


def _sqlite_cell(value: Any, as_bytes: bool) -> Any:
    return value.encode("utf-8", "surrogateescape") if as_bytes and value is not None else for_sqlite(value)


def _sqlite_type(column: Column) -> str:
    if column.kind is Kind.DYNAMIC:
        return column.declared or ""
    return _SQLITE_TYPES.get(column.kind, "TEXT")


def write_duckdb(path: Path, tables: Sequence[Copied], views: Sequence[TableSchema]) -> list[str]:
    """Write a new DuckDB file; the tables whose keys were left out, because the rows break them, are returned.

    Raises:
        MissingExtra: duckdb is not installed.
    """
    try:
        import duckdb
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("a DuckDB snapshot", needs="duckdb") from None
    without_keys: list[str] = []
    arrow = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(), "BLOB": pa.binary()}
    with duckdb.connect(str(path)) as connection:
        for copied in _parents_first(tables):
            schema, _, _ = copied.table.name.rpartition(".")
            if schema:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema, 'duckdb')}")
            types = [_duckdb_type(column, [row[i] for row in copied.rows]) for i, column in enumerate(copied.columns)]
            name = quoted(copied.table.name, "duckdb")
            arrays = [
                pa.array([_duckdb_cell(row[i], type_) for row in copied.rows], type=arrow.get(type_, pa.string()))
                for i, type_ in enumerate(types)
            ]
            connection.register(
                "copied_rows", pa.Table.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])
            )
            casts = ", ".join(f"CAST(c{i} AS {type_})" for i, type_ in enumerate(types))
            insert = f"INSERT INTO {name} SELECT {casts} FROM copied_rows"
            try:
                connection.execute(_create(copied, types, tables, name=name))
                connection.execute(insert)
            except duckdb.Error:
                without_keys.append(copied.table.name)
                connection.execute(f"DROP TABLE IF EXISTS {name}")
                connection.execute(_create(copied, types, None, name=name))
                connection.execute(insert)
            connection.unregister("copied_rows")
        for view in views:
            with suppress(duckdb.Error):
                connection.execute(f"CREATE VIEW {quoted(view.name, 'duckdb')} AS {view.view_sql}")
    return without_keys


def _parents_first(tables: Sequence[Copied]) -> list[Copied]:
    """Tables after those that their foreign keys name, as far as that is possible."""
    left = {copied.table.name.lower(): copied for copied in tables}
    ordered: list[Copied] = []
    while left:
        ready = [
            name
            for name, copied in left.items()
            if not any(target in left and target != name for target in _targets(copied))
        ]
        ordered += [left.pop(name) for name in ready or list(left)]
    return ordered


def _targets(copied: Copied) -> list[str]:
    return [key.to_table.lower() for key in copied.table.foreign_keys]


_DUCKDB_TYPES = {
    Kind.FLOAT: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.TEXT: "VARCHAR",
    Kind.CHAR: "VARCHAR",
    Kind.BYTES: "BLOB",
    Kind.DATE: "DATE",
    Kind.TIME: "TIME",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
    Kind.INTERVAL: "INTERVAL",
    Kind.UUID: "UUID",
    Kind.JSON: "JSON",
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "DOUBLE": (float, int),
    "BOOLEAN": (bool,),
    "VARCHAR": (str,),
    "BLOB": (bytes,),
    "DATE": (date,),
    "TIME": (time,),
    "TIMESTAMP": (datetime,),
    "TIMESTAMP WITH TIME ZONE": (datetime,),
    "INTERVAL": (Interval,),
    "UUID": (UUID,),
}


def _duckdb_type(column: Column, cells: list[Any]) -> str:
    """The type that holds every cell of a column; VARCHAR where only text does."""
    if column.kind is Kind.JSON:
        return "JSON"
    present = [cell for cell in cells if cell is not None]
    types = set(map(type, present))
    if column.kind is Kind.INTEGER or (column.kind is Kind.DYNAMIC and types == {int}):
        if all(isinstance(cell, int) and -(2**63) <= cell < 2**63 for cell in present):
            return "BIGINT"
        return "HUGEINT" if all(isinstance(cell, int) and abs(cell) < 2**127 for cell in present) else "VARCHAR"
    if column.kind is Kind.DECIMAL or (column.kind is Kind.DYNAMIC and types == {Decimal}):
        return _decimal_type(present)
    if column.kind is Kind.DYNAMIC and types and types <= {int, float}:
        return "DOUBLE"
    if column.kind is Kind.DYNAMIC and types == {bytes}:
        return "BLOB"
    wanted = _DUCKDB_TYPES.get(column.kind, "VARCHAR")
    fits = all(isinstance(cell, _PYTHON_TYPES.get(wanted, (object,))) for cell in present)
    return wanted if fits else "VARCHAR"


def _decimal_type(cells: list[Any]) -> str:
    numbers = [cell for cell in cells if isinstance(cell, (Decimal, int))]
    if len(numbers) < len(cells) or not all(Decimal(number).is_finite() for number in numbers):
        return "VARCHAR"
    scale = max((max(0, -int(Decimal(number).as_tuple().exponent)) for number in numbers), default=2)
    whole = max((len(str(abs(int(number)))) for number in numbers), default=1)
    return f"DECIMAL({max(18, whole + scale)}, {scale})" if whole + scale <= 38 else "VARCHAR"


def _duckdb_cell(value: Any, type_: str) -> Any:
    if value is None or type_ in ("BIGINT", "DOUBLE", "BOOLEAN"):
        return value
    if type_ == "BLOB":
        return bytes(value)
    if isinstance(value, str) and type_ != "JSON":
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, Interval):
        return f"{value.months} months {value.days} days {value.microseconds} microseconds"
    return as_text(value)


def _local(name: str) -> str:
    """SQLite has no schemas: `sales.orders` becomes one name."""
    return '"' + name.replace('"', '""') + '"'


def _create(copied: Copied, types: Sequence[str], tables: Sequence[Copied] | None, *, name: str | None = None) -> str:
    """CREATE TABLE with the primary key and the foreign keys between `tables`; no keys where these are None."""
    table = copied.table
    parts = [f"{quoted_column(column)} {type_}".rstrip() for column, type_ in zip(table.columns, types, strict=True)]
    if table.primary_key and tables is not None:
        parts.append(f"PRIMARY KEY ({', '.join(map(quoted_column, table.primary_key))})")
    present = {each.table.name.lower(): each.table.name for each in tables or ()}
    for key in table.foreign_keys:
        target = present.get(key.to_table.lower())
        if target is not None and key.to_columns:
            parts.append(_reference(key, _local(target) if name is None else quoted(target, "duckdb")))
    return f"CREATE TABLE {name or _local(table.name)} ({', '.join(parts)})"


def _reference(key: ForeignKey, target: str) -> str:
    own = ", ".join(map(quoted_column, key.columns))
    theirs = ", ".join(map(quoted_column, key.to_columns))
    return f"FOREIGN KEY ({own}) REFERENCES {target} ({theirs})"


def quoted_column(name: str) -> str:
    """One column's name, quoted."""
    return '"' + name.replace('"', '""') + '"'
