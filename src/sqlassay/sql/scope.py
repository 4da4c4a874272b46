"""What can a name mean at one place of a query: sources, their columns, merged join columns, aliases, outer scopes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlassay.sql.schema import Relation

INSTANCE = "\x1f"
"""Marks the second and later instance of a relation inside internal texts: `emp\\x1f2.name`."""
LONGEST_INSIDE = 4000
_INSTANCE = re.compile(INSTANCE + r"\d+")
NO_READS: frozenset[str] = frozenset()


def plain(text: str) -> str:
    """A canonical text as evidence shows it: instances of one relation are not told apart (aliases are gone)."""
    return _INSTANCE.sub("", text) if INSTANCE in text else text


def numbered(text: str) -> str:
    """A canonical text that tells instances of one relation apart, for comparing whole queries."""
    return text.replace(INSTANCE, "#")


def bounded(text: str) -> str:
    """A text that other texts will hold again: a long one is stood in for by its digest, so that nesting cannot
    make texts grow without bound.
    """
    if len(text) <= LONGEST_INSIDE:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return f"{text[:80]}…{digest}"


def ordered(texts: Iterable[str]) -> list[str]:
    """Operands in canonical order, which may not depend on how instances are numbered."""
    found = list(texts)
    if any(INSTANCE in text for text in found):
        return sorted(found, key=lambda text: (plain(text), text))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression is: canonical text, base column where it is one, base columns read, aggregate or not.

    `full` differs from `text` only where a subquery stands in it. `sure` is false where no text can be told.
    """

    text: str
    origin: str | None = None
    reads: frozenset[str] = NO_READS
    aggregate: bool = False
    sure: bool = True
    full: str | None = None

    @property
    def whole(self) -> str:
        return self.text if self.full is None else self.full


@dataclass(frozen=True, slots=True)
class Output:
    """One output column: folded name for look-ups, the name as written, and what it is."""

    key: str
    name: str
    value: Value


@dataclass(slots=True)
class Outcome:
    """A resolved query: its output columns, whole canonical text, and whether columns beyond these may exist."""

    outputs: list[Output]
    canonical: str = ""
    open: bool = False
    tables: tuple[str, ...] = ()

    def by_key(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for output in self.outputs:
            found.setdefault(output.key, output.value)
        return found


@dataclass(slots=True)
class Source:
    """One item of a FROM clause.

    `columns` are the known columns by folded name; `open` accepts any further name. `label` is what stands for the
    source in canonical text. `base` is the relation's written name where it is a table or view.
    """

    alias: str | None
    label: str
    columns: Mapping[str, Value]
    open: bool = False
    base: str | None = None
    parts: tuple[str, ...] = ()
    relation: Relation | None = None
    unknown: bool = False
    identity: object = None
    reads: frozenset[str] = NO_READS
    outputs: list[Output] | None = None
    merged_away: set[str] = field(default_factory=set)
    renamed: bool = False

    def column(self, key: str) -> Value | None:
        return self.columns.get(key)


class TableColumns(dict[str, Value]):
    """The columns of one table instance, made when they are first asked for."""

    __slots__ = ("base", "label", "relation")

    def __init__(self, relation: Relation, label: str, renamed: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.relation, self.label, self.base = relation, label, relation.name
        if renamed:
            for key, column in renamed.items():
                self[key] = self._value(column)

    def _value(self, column: str) -> Value:
        name = f"{self.base}.{column}"
        return Value(text=f"{self.label}.{column}", origin=name, reads=frozenset((name,)))

    def get(self, key: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        found = super().get(key)
        if found is None:
            column = self.relation.columns.get(key)
            if column is None and self.relation.loose:
                column = self.relation.columns.get(self.relation.loose.get(key.lower(), key))
            if column is None:
                return default
            found = self[key] = self._value(column)
        return found


@dataclass(slots=True)
class Cte:
    """A common table expression, resolved when it is first read: one that nothing reads is not read."""

    name: str
    node: exp.Expr
    columns: tuple[str, ...]
    scope: CteScope
    parent: Scope | None
    outcome: Outcome | None = None
    partial: Outcome | None = None
    busy: bool = False


@dataclass(slots=True)
class CteScope:
    """The CTEs visible at one place: the innermost first."""

    parent: CteScope | None
    entries: dict[str, Cte] = field(default_factory=dict)
    scalars: dict[str, exp.Expr] = field(default_factory=dict)
    """ClickHouse's `WITH 5 AS limit`: expressions by name."""

    def scalar(self, name: str) -> exp.Expr | None:
        at: CteScope | None = self
        while at is not None:
            found = at.scalars.get(name)
            if found is not None:
                return found
            at = at.parent
        return None

    def find(self, name: str) -> Cte | None:
        at: CteScope | None = self
        while at is not None:
            found = at.entries.get(name)
            if found is not None:
                return found
            at = at.parent
        return None


@dataclass(slots=True)
class Scope:
    """One SELECT: where its names are looked up. `aliases` are output expressions by folded alias."""

    parent: Scope | None
    ctes: CteScope
    sources: list[Source] = field(default_factory=list)
    merged: dict[str, Value] = field(default_factory=dict)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    windows: dict[str, exp.Window] = field(default_factory=dict)
    resolving: set[str] = field(default_factory=set)
    alias_first: bool = False
    alias_fallback: bool = False
    nested: bool = False
    """An expression in this scope holds a subquery, or a relation occurs twice: short and whole text differ."""

    def instances(self, identity: object) -> int:
        count, at = 0, self
        scope: Scope | None = at
        while scope is not None:
            count += sum(1 for source in scope.sources if source.identity == identity)
            scope = scope.parent
        return count


@dataclass(slots=True)
class Collected:
    """What was found anywhere in the statement."""

    tables: set[str] = field(default_factory=set)
    columns_read: set[str] = field(default_factory=set)
    joins: set[str] = field(default_factory=set)
    filters: set[str] = field(default_factory=set)
    aggregations: set[str] = field(default_factory=set)
    group_by: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    views: set[str] = field(default_factory=set)
    ambiguous: str | None = None
    random: bool = False
    clock: bool = False
