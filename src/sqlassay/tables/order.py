"""How far does row order count? Tie groups by the gold's own sort keys, and ties that a LIMIT cuts.

Specification section 5.1. The keys come from running the gold's key expressions as hidden columns, never from the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from sqlassay.records.case import Ordered
from sqlassay.records.query import KeySource, Ordering, OrderPlan
from sqlassay.records.relation import Relation, Row
from sqlassay.records.value import Ceiling
from sqlassay.tables.cells import normal
from sqlassay.tables.rule import Cut, Order


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """How order counts, and what limits knowing it. `ordered` tells whether order counts at all."""

    order: Order
    ordered: bool
    ceilings: frozenset[Ceiling] = frozenset()


def order_of(
    reference: Relation,
    *,
    ordering: Ordering = Ordering(),
    plan: OrderPlan = OrderPlan(),
    auxiliary: Relation | None = None,
    ordered: Ordered = Ordered.AUTO,
    ties: Literal["accept", "strict"] = "accept",
) -> OrderFacts:
    """Tie groups and cuts of a gold result.

    `auxiliary` is the result of `plan.hidden_sql`: the gold's columns followed by its keys, in order, never cut.

    >>> from sqlassay.records.query import SortKey
    >>> from sqlassay.records.relation import Column
    >>> gold = Relation(columns=(Column(name="name"),), rows=[("rope",)])
    >>> aux = Relation(columns=(Column(name="name"), Column(name="k")), rows=[("rope", 9), ("lamp", 9), ("mug", 1)])
    >>> facts = order_of(
    ...     gold,
    ...     ordering=Ordering(keys=(SortKey(expression="price", descending=True),), limit=1, limited=True),
    ...     plan=OrderPlan(source=KeySource.HIDDEN, hidden_sql="...", key_count=1),
    ...     auxiliary=aux,
    ... )
    >>> facts.order.cuts[0].pool, [ceiling.value for ceiling in facts.ceilings]
    ([('rope',), ('lamp',)], ['tie_at_limit'])
    """
    counts = ordered is Ordered.YES or (ordered is Ordered.AUTO and bool(ordering.keys))
    ceilings: set[Ceiling] = set()
    if ordering.limited and not ordering.keys:
        ceilings.add(Ceiling.NONDETERMINISTIC)
    known = _known_keys(reference, ordering, plan, auxiliary) if ordering.keys else None
    if known is None:
        if counts:
            ceilings.add(Ceiling.TIES_UNKNOWN)
        groups: Sequence[int] | None = range(reference.height) if counts else None
        return OrderFacts(order=Order(groups=groups), ordered=counts, ceilings=frozenset(ceilings))
    cuts = known.cuts(reference)
    if cuts:
        ceilings.add(Ceiling.TIE_AT_LIMIT)
    if ties == "strict":
        groups, cuts = range(reference.height), ()
    else:
        groups = known.groups(reference.height)
    order = Order(groups=groups if counts else None, cuts=cuts)
    return OrderFacts(order=order, ordered=counts, ceilings=frozenset(ceilings))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """Keys of all rows before the cut, and where the gold's rows start among them."""

    keys: Sequence[Any]
    rows: Sequence[Row] | None
    start: int
    cutting: bool

    def groups(self, height: int) -> list[int]:
        groups: list[int] = []
        for position in range(self.start, self.start + height):
            same = groups and self.keys[position] == self.keys[position - 1]
            groups.append(groups[-1] + (not same) if groups else 0)
        return groups

    def cuts(self, reference: Relation) -> tuple[Cut, ...]:
        height, start = reference.height, self.start
        if self.rows is None or not self.cutting or not height:
            return ()
        stop = start + height
        cuts: dict[int, Cut] = {}
        for inside, outside in ((start, start - 1), (stop - 1, stop)):
            if 0 <= outside < len(self.keys) and self.keys[inside] == self.keys[outside]:
                low, high = self._run(inside)
                first, last = max(low, start) - start, min(high, stop) - start
                cuts[first] = Cut(start=first, stop=last, pool=list(self.rows[low:high]))
        return tuple(cuts.values())

    def _run(self, position: int) -> tuple[int, int]:
        low, high = position, position + 1
        while low > 0 and self.keys[low - 1] == self.keys[position]:
            low -= 1
        while high < len(self.keys) and self.keys[high] == self.keys[position]:
            high += 1
        return low, high


def _known_keys(reference: Relation, ordering: Ordering, plan: OrderPlan, auxiliary: Relation | None) -> _Keys | None:
    width, height = reference.width, reference.height
    if not height:
        return _Keys(keys=(), rows=None, start=0, cutting=False)
    if plan.source is KeySource.OUTPUT and plan.positions and max(plan.positions) < width:
        found = None
        if auxiliary is not None and auxiliary.width >= width:
            found = _from_auxiliary(reference, ordering, auxiliary, plan.positions)
        if found is not None:
            return found
        columns = [reference.column(position) for position in plan.positions]
        return _Keys(keys=_tuples(columns), rows=None, start=0, cutting=False)
    if plan.source is KeySource.HIDDEN and auxiliary is not None and plan.key_count:
        if auxiliary.width != width + plan.key_count or auxiliary.height < height:
            return None
        return _from_auxiliary(reference, ordering, auxiliary, range(width, width + plan.key_count))
    return None


def _from_auxiliary(
    reference: Relation, ordering: Ordering, auxiliary: Relation, positions: Sequence[int]
) -> _Keys | None:
    keys = _tuples([auxiliary.column(position) for position in positions])
    rows = auxiliary.tuples()
    if auxiliary.width != reference.width:
        rows = [row[: reference.width] for row in rows]
    start = (ordering.offset or 0) if ordering.limited or ordering.offset else 0
    if start + reference.height > len(rows) or not _contains(rows, reference):
        return None
    cutting = not ordering.with_ties
    return _Keys(keys=keys, rows=rows, start=start, cutting=cutting)


def _contains(rows: Sequence[Row], reference: Relation) -> bool:
    """Whether the gold's rows are among the auxiliary ones; if not, the hidden query was another question."""
    mine = reference.tuples()
    if list(rows[: len(mine)]) == list(mine):
        return True
    there = Counter(tuple(map(normal, row)) for row in rows)
    here = Counter(tuple(map(normal, row)) for row in mine)
    return all(there[row] >= count for row, count in here.items())


def _tuples(columns: Sequence[Sequence[Any]]) -> list[Any]:
    return list(zip(*([normal(cell) for cell in column] for column in columns), strict=True))


def settled(reference: Relation, candidate: Relation, order: Order, columns: Sequence[str]) -> Relation:
    """The reference with its cut ties filled from the pool by the rows that the candidate chose.

    A tied row counts as chosen when a candidate row holds all its cells, or at least those of the named `columns`.
    """
    if not order.cuts:
        return reference
    named = {name.casefold() for name in columns}
    keys = [position for position, name in enumerate(reference.names) if name.casefold() in named]
    rows = list(reference.tuples())
    left = Counter(_cells(row) for row in candidate.tuples())
    whole = {_normal(row) for row in candidate.tuples()}
    holding: dict[Any, list[frozenset[Any]]] = {}
    for answer in list(left):
        for cell in answer:
            holding.setdefault(cell, []).append(answer)

    def rank(row: Row) -> int:
        cells = _cells(row)
        if cells in left:
            return 2 if left[cells] < 1 else 0
        wanted = frozenset((normal(row[position]), 0) for position in keys) or cells
        found = min((holding.get(cell, []) for cell in wanted), key=len, default=[])
        if any(cells <= answer for answer in found):
            return 0
        return 1 if any(wanted <= answer for answer in found) else 2

    inside = {place for cut in order.cuts for place in range(cut.start, cut.stop)}
    left.subtract(_cells(row) for place, row in enumerate(rows) if place not in inside)
    for cut in order.cuts:
        ranks: dict[int, int] = {}
        for place in sorted(range(len(cut.pool)), key=lambda place, pool=cut.pool: _normal(pool[place]) not in whole):  # type: ignore[misc]
            ranks[place] = rank(cut.pool[place])
            if not ranks[place]:
                left.subtract([_cells(cut.pool[place])])
        best = sorted(ranks, key=ranks.__getitem__)[: cut.stop - cut.start]
        rows[cut.start : cut.stop] = [cut.pool[place] for place in sorted(best)]
    return Relation(columns=reference.columns, rows=rows)


def _normal(row: Row) -> tuple[Any, ...]:
    return tuple(map(normal, row))


def _cells(row: Row) -> frozenset[Any]:
    """A row's cells without their order, equal ones told apart by number."""
    seen: dict[Any, int] = {}
    cells = []
    for cell in map(normal, row):
        cells.append((cell, seen.get(cell, 0)))
        seen[cell] = seen.get(cell, 0) + 1
    return frozenset(cells)


_WORDS = frozenset("abcdefghijklmnopqrstuvwxyz_0123456789$")


def says_order(sql: str) -> bool:
    """Whether a text that no parser understood has ORDER BY outside all brackets, literals and comments.

    >>> says_order("SELECT a FROM t ORDER\\nBY a"), says_order("SELECT rank() OVER (ORDER BY a), 'order by' FROM t")
    (True, False)
    """
    words: list[str] = []
    depth = position = 0
    closing = {"'": "'", '"': '"', "`": "`"}
    while position < len(sql):
        character = sql[position]
        if character in closing:
            end = sql.find(closing[character], position + 1)
            position = len(sql) if end < 0 else end + 1
            words.append("")
        elif sql.startswith("--", position):
            end = sql.find("\n", position)
            position = len(sql) if end < 0 else end + 1
        elif sql.startswith("/*", position):
            end = sql.find("*/", position + 2)
            position = len(sql) if end < 0 else end + 2
        elif character.lower() in _WORDS:
            start = position
            while position < len(sql) and sql[position].lower() in _WORDS:
                position += 1
            words.append(sql[start:position].lower() if depth == 0 else "")
        else:
            depth += (character == "(") - (character == ")")
            position += 1
    return any(pair == ("order", "by") for pair in pairwise(words))
