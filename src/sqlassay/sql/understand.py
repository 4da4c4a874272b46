"""What does a query say: which tables and columns it reads, what each output column is, its six sets, its order?"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal

from sqlglot import exp

from sqlassay.errors import Fault
from sqlassay.records.query import Comprehension, Pieces, Understanding, Unresolved
from sqlassay.sql import ordering as orders
from sqlassay.sql.combine import whole_text
from sqlassay.sql.parse import Unparsable, readable, with_room
from sqlassay.sql.resolve import Resolver
from sqlassay.sql.schema import SchemaIndex
from sqlassay.sql.scope import CteScope, Outcome, plain
from sqlassay.sql.weak import tables_named

Additions = tuple[Literal["pagination"], ...]
_VIEW_DEPTH = 12


class _Cache:
    """The most recently used understandings; entries are immutable and small."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: OrderedDict[tuple[object, ...], Comprehension] = OrderedDict()
        self.lock = Lock()

    def get(self, key: tuple[object, ...]) -> Comprehension | None:
        with self.lock:
            found = self.held.get(key)
            if found is not None:
                self.held.move_to_end(key)
            return found

    def put(self, key: tuple[object, ...], value: Comprehension) -> None:
        with self.lock:
            self.held[key] = value
            if len(self.held) > self.size:
                self.held.popitem(last=False)


_CACHE = _Cache(8192)


def understand(text: str, index: SchemaIndex, *, agent_adds: Additions = ()) -> Comprehension:
    """Read `text` against a schema (specification sections 5.1 to 5.4); never raises and never overflows.

    `agent_adds` names what an agent adds to its queries by design and what is taken off before reading.

    >>> from sqlassay.records.relation import Schema, TableSchema
    >>> from sqlassay.sql.schema import index
    >>> shop = index(Schema(dialect="sqlite", tables=(TableSchema(name="orders", columns=("id", "amount")),)))
    >>> query = understand("SELECT SUM(o.amount) FROM orders o WHERE 5 < o.id", shop)
    >>> query.tables, query.expressions, sorted(query.pieces.filters)
    (('orders',), ('SUM(orders.amount)',), ['orders.id > 5'])
    """
    key = (index.key, text, agent_adds)
    found = _CACHE.get(key)
    if found is None:
        found = _read(text, index, agent_adds, ())
        _CACHE.put(key, found)
    return found


def _read(text: str, index: SchemaIndex, agent_adds: Additions, inside: tuple[str, ...]) -> Comprehension:
    outcome = with_room(lambda: _resolve(text, index, agent_adds, inside), text)
    if isinstance(outcome, Fault):
        deep = outcome.type == "RecursionError"
        why = "nested too deeply" if deep else outcome.message or outcome.type
        return Unresolved(why=why, tables=tables_named(text, index))
    return outcome


def _resolve(text: str, index: SchemaIndex, agent_adds: Additions, inside: tuple[str, ...]) -> Comprehension:
    trees, read_from = readable(text, index.dialect)
    if len(trees) != 1:
        why = "holds no statement" if not trees else f"holds {len(trees)} statements"
        raise Unparsable(why)
    tree = trees[0]
    if not isinstance(tree, (exp.Query, exp.Values, exp.Pivot, exp.Paren)):
        raise Unparsable(f"not a query but {type(tree).__name__.upper()}")
    top = orders.outermost(tree)
    if "pagination" in agent_adds:
        for name in ("limit", "offset"):
            top.set(name, None)
    resolver = Resolver(read_from, index)
    outcome = resolver.query(tree, None, CteScope(parent=None))
    if resolver.collected.ambiguous is not None:
        raise Unparsable(resolver.collected.ambiguous)
    return _told(text, top, outcome, resolver, index, inside)


def _told(
    text: str,
    top: exp.Expr,
    outcome: Outcome,
    resolver: Resolver,
    index: SchemaIndex,
    inside: tuple[str, ...],
) -> Understanding:
    found = resolver.collected
    outputs = outcome.outputs
    resolver.last_outputs = outputs
    order = top.args.get("order")
    texts = resolver.keys.sorted_by(order.expressions, outcome) if order is not None else []
    ordering = orders.ordering_of(top, texts)
    base, read = _under_views(resolver, index, inside)
    columns: set[str] = set()
    for output in outputs:
        columns |= output.value.reads
    return Understanding(
        tables=tuple(sorted(found.tables)),
        base_tables=base,
        columns_read=read,
        names=tuple(output.name for output in outputs),
        origins=tuple(output.value.origin for output in outputs),
        expressions=tuple(plain(output.value.whole) if output.value.sure else None for output in outputs),
        aggregates=tuple(output.value.aggregate for output in outputs),
        pieces=Pieces(
            tables=frozenset(found.tables),
            columns=frozenset(columns),
            joins=frozenset(found.joins),
            filters=frozenset(found.filters),
            aggregations=frozenset(found.aggregations),
            group_by=frozenset(found.group_by),
        ),
        ordering=ordering,
        order_plan=orders.plan(text, top, outcome, resolver, ordering),
        canonical=whole_text(outcome),
        nondeterministic=found.random,
        clock_bound=found.clock,
        unknown_names=tuple(sorted(found.unknown)),
        known_names=tuple(sorted(found.known)),
    )


def _under_views(
    resolver: Resolver, index: SchemaIndex, inside: tuple[str, ...]
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Base tables with views expanded (None where a view's text is unknown), and every base column read."""
    found = resolver.collected
    if not found.views:
        return tuple(sorted(found.tables)), tuple(sorted(found.columns_read))
    base: set[str] | None = set(found.tables) - found.views
    read = {name for name in found.columns_read if name.rsplit(".", 1)[0] not in found.views}
    for view in sorted(found.views):
        relation = index.named(view)
        body = _body(relation.table.view_sql) if relation is not None and relation.table is not None else None
        under: Comprehension | None = None
        if body is not None and view not in inside and len(inside) < _VIEW_DEPTH:
            under = _read(body, index, (), (*inside, view))
        if isinstance(under, Understanding):
            if base is not None:
                base = base | set(under.base_tables) if under.base_tables is not None else None
            read.update(under.columns_read)
        else:
            base = None
            read.update(name for name in found.columns_read if name.rsplit(".", 1)[0] == view)
    return (None if base is None else tuple(sorted(base))), tuple(sorted(read))


def _body(view_sql: str | None) -> str | None:
    """The SELECT of a view, also where its whole CREATE VIEW is kept."""
    if view_sql is None:
        return None
    head = view_sql.lstrip()[:6].upper()
    if head != "CREATE":
        return view_sql
    lowered = view_sql.lower()
    for mark in (" as ", "\nas ", " as\n", "\nas\n", " as("):
        at = lowered.find(mark)
        if at >= 0:
            return view_sql[at + len(mark.rstrip("(")) :]
    return None
