"""What a query says once every name in it is resolved: relations, columns, origins, pieces, order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StatementKind(StrEnum):
    """What a text is, as the safety rule sees it."""

    READ = "read"
    WRITE = "write"
    DDL = "ddl"
    TRANSACTION = "transaction"
    SESSION = "session"
    EXPLAIN = "explain"
    COMMAND = "command"
    EMPTY = "empty"
    UNPARSED = "unparsed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The verdict of the safety rule on one text.

    `text` is the first statement exactly as written, without what follows its semicolon: what is sent to the engine.
    `count` is how many statements the text holds. `allowed` is true for exactly one read statement;
    `why` says in words why not.
    """

    text: str
    kind: StatementKind
    count: int
    allowed: bool
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SortKey:
    """One key of an ORDER BY: its canonical expression, direction and where NULLs go."""

    expression: str
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """ORDER BY, LIMIT and OFFSET of the outermost query; no keys when it has no ORDER BY.

    `limited` is true whenever rows are cut (LIMIT, TOP, FETCH), also by an expression that `limit` cannot hold.
    `with_ties`: the cut takes tied rows with it.
    """

    keys: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
    limited: bool = False
    with_ties: bool = False


class KeySource(StrEnum):
    """Where the values of the gold's sort keys come from."""

    NONE = "none"
    """The outermost query has no ORDER BY."""
    HIDDEN = "hidden"
    """`hidden_sql` returns the gold's columns followed by one column per key."""
    OUTPUT = "output"
    """The keys are among the output columns, at `positions`."""
    UNKNOWN = "unknown"
    """None can be had: order is strict and the case has ceiling `ties_unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlan:
    """How to obtain the sort keys without editing the text that produces the verdict.

    `hidden_sql` keeps the ORDER BY and drops LIMIT and OFFSET, so that rows tied across the cut are seen;
    with `key_count` hidden columns after the gold's own.
    """

    source: KeySource = KeySource.NONE
    hidden_sql: str | None = None
    key_count: int = 0
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The six sets, each item a canonical text a person can read.

    `joins` items read `a.x = b.y` with their kind in front when not inner (`left: a.x = b.y`).
    """

    tables: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    filters: frozenset[str] = frozenset()
    aggregations: frozenset[str] = frozenset()
    group_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """A parsed and resolved query. Names are folded by dialect, default-schema prefixes dropped, tuples sorted.

    `origins`, `expressions`, `aggregates` and `names` have one entry per output column, in order.
    """

    tables: tuple[str, ...]
    """Relations as named: tables and views, never CTEs."""
    base_tables: tuple[str, ...] | None
    """Base tables with views expanded; None where a view's text is unknown."""
    columns_read: tuple[str, ...]
    """Every base column read anywhere, `table.column`."""
    names: tuple[str, ...]
    origins: tuple[str | None, ...]
    expressions: tuple[str | None, ...]
    """Canonical expression over base columns, `SUM(orders.amount)`; None where it cannot be told."""
    aggregates: tuple[bool, ...]
    """Whether the output column is (or contains) an aggregate."""
    pieces: Pieces
    ordering: Ordering
    order_plan: OrderPlan
    canonical: str
    """The whole query in canonical form; equal texts are twins."""
    nondeterministic: bool = False
    """Calls RANDOM() or the like."""
    clock_bound: bool = False
    """Calls now(), CURRENT_DATE or the like."""
    unknown_names: tuple[str, ...] = ()
    """Tables and columns named that the schema does not have."""
    known_names: tuple[str, ...] = ()
    """Tables and columns named that the schema has (for schema adherence)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """The text does not parse, or a name in it has no meaning here; ceiling `unresolved`."""

    why: str
    tables: tuple[str, ...] | None = None
    """Relations that a weaker reader found by their place in the text; None where it found no way in."""


Comprehension = Understanding | Unresolved
