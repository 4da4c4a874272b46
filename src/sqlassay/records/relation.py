"""What a table is here: named, typed columns and rows, with nothing lost on the way from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID


class Kind(StrEnum):
    """The type an engine states for a column; `DYNAMIC` where each cell has its own (SQLite) or none is known."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    CHAR = "char"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    INTERVAL = "interval"
    UUID = "uuid"
    JSON = "json"
    ARRAY = "array"
    STRUCT = "struct"
    MAP = "map"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A span as SQL keeps it: months, days and microseconds do not turn into each other.

    >>> Interval(months=1, days=2) == Interval(days=32)
    False
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0


Cell = (
    None
    | bool
    | int
    | float
    | Decimal
    | str
    | bytes
    | date
    | time
    | datetime
    | Interval
    | UUID
    | Sequence[Any]
    | Mapping[str, Any]
)
"""One value. `kind` JSON, ARRAY, STRUCT and MAP columns hold lists and mappings; ints are of any size."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """An output column: its name as the engine gave it, its stated kind, and its base column where the engine knows."""

    name: str
    kind: Kind = Kind.DYNAMIC
    declared: str | None = None
    origin: str | None = None
    """`table.column` from the engine's own metadata, folded by dialect; None when it is an expression or unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Relation:
    """A result: columns by position (names may repeat) and rows as tuples, or as Arrow where the driver gives that.

    `rows` is the small-result form. `arrow`, when not None, is a pyarrow.Table with the same columns by position;
    then `rows` may be empty and `table()` callers should use `height`. Use `tuples()` to get rows whatever the form.

    >>> r = Relation(columns=(Column(name="n"), Column(name="n")), rows=[(1, 2), (3, 4)])
    >>> r.width, r.height, r.column(1)
    (2, 2, [2, 4])
    """

    columns: tuple[Column, ...]
    rows: Sequence[Row] = ()
    truncated: bool = False
    """True when a limit of ours cut the rows (max_rows or max_bytes)."""
    arrow: Any = None

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def height(self) -> int:
        return len(self.rows) if self.arrow is None else int(self.arrow.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def tuples(self) -> Sequence[Row]:
        """All rows as tuples of Python values, in the engine's order."""
        if self.arrow is None:
            return self.rows
        if not self.columns:
            return [()] * self.height
        return list(zip(*(self.column(i) for i in range(self.width)), strict=True))

    def column(self, position: int) -> list[Any]:
        """The values of one column, top to bottom."""
        if self.arrow is None:
            return [row[position] for row in self.rows]
        return list(self.arrow.column(position).to_pylist())


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """A base table or view: column names in order with their declared types."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    view_sql: str | None = None
    """The SELECT under a view, where the engine tells; None for a base table."""
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    is_view: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """`columns` of the owning table refer to `to_columns` of `to_table`."""

    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All relations of one database as their engine spells them, and the dialect whose folding rule applies.

    `dialect` is sqlglot's name: sqlite, duckdb, postgres, mysql, tsql, oracle, bigquery, snowflake, databricks,
    clickhouse, trino, redshift. Table names outside the default schema are dotted (`sales.orders`).
    """

    dialect: str
    tables: tuple[TableSchema, ...] = ()
    default_schema: str | None = None
    collated: bool = False
    """Whether some column has a collation that takes different texts for equal (NOCASE, citext)."""
    fingerprint: str = field(default="", compare=False)
    """A digest of the above, set by whoever read it; cache keys use it."""
