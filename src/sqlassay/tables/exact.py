"""Are two tables the same? The exact verdict, its looser readings, and what limits it.

Specification section 5.1, shape `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from typing import Final

from sqlassay.records.relation import Column, Relation, Row
from sqlassay.records.value import Ceiling
from sqlassay.tables.columns import ColumnTies, Compatibility, names_cross
from sqlassay.tables.comparison import DIFFERENT, Comparison
from sqlassay.tables.different import plainly_different
from sqlassay.tables.encode import Table, tables_of
from sqlassay.tables.quick import known_of
from sqlassay.tables.quick import plain_verdict as _quick
from sqlassay.tables.rows import Bench, Plan, bench_of, rows_equal
from sqlassay.tables.rule import Order, TableRule
from sqlassay.tables.tolerance import HAIR, agreement

_SUBSETS: Final = 256
"""Ways to leave out absent optional columns that are looked at."""


def compare_tables(reference: Relation, candidate: Relation, rule: TableRule = TableRule()) -> Comparison:
    """Compare a candidate table with a reference table by `rule` (specification section 5.1).

    >>> from sqlassay.records.relation import Column
    >>> def table(names, *rows):
    ...     return Relation(columns=tuple(Column(name=name) for name in names), rows=rows)
    >>> verdict = compare_tables(table("ab", (1, "x"), (2, "y")), table("ba", ("y", 2), ("x", 1)))
    >>> verdict.exact, verdict.by_position, verdict.assignment
    (True, False, (1, 0))
    """
    if reference.height != candidate.height:
        return DIFFERENT
    plain = _quick(reference, candidate, rule)
    if plain is not None:
        return plain
    if plainly_different(reference, candidate, rule):
        return DIFFERENT
    return _Verdict(reference, candidate, rule).comparison()


def _folded(names: Sequence[str]) -> list[str]:
    return [name.casefold() for name in names]


class _Verdict:
    def __init__(self, reference: Relation, candidate: Relation, rule: TableRule) -> None:
        self.rule = rule
        self.agree = agreement(rule.tolerance)
        self.gold_height = reference.height
        keep, extra = _with_pools(reference, rule.order)
        self.plan = _plan(rule.order, self.gold_height, candidate.height)
        if extra:
            left, right = tables_of(reference, candidate, keep=keep, extra_rows=extra)
            self.bench = Bench(left, right, plan=self.plan, agree=self.agree, coercions=rule.coercions)
        else:
            self.bench = bench_of(reference, candidate, plan=self.plan, agree=self.agree, coercions=rule.coercions)
        self.left, self.right = self.bench.reference, self.bench.candidate
        self.ties = ColumnTies(rule.links, self.left.names, self.right.names)
        self.fit = self._fit(self.bench)
        self.crossed = False
        self.reference, self.candidate = reference, candidate

    def _fit(self, bench: Bench) -> Compatibility:
        return Compatibility(bench, self.ties.permitted)

    def comparison(self) -> Comparison:
        assignment = self._decide(self.fit)
        exact = assignment is not None
        crossed = self.crossed
        by_position = self._by_position(assignment)
        same_rows, settled = exact, assignment
        if not exact and self.plan.ordered:
            settled = self._decide(self._fit(self.bench.with_plan(_unordered(self.plan))))
            same_rows = settled is not None
        return Comparison(
            exact=exact,
            by_position=by_position,
            with_extra=exact or self._with_extra(),
            same_rows=same_rows,
            assignment=settled,
            ceilings=frozenset(self._ceilings(assignment, crossed)),
        )

    def _decide(self, fit: Compatibility) -> tuple[int | None, ...] | None:
        """The assignment under which the tables are equal, by the rule for columns; None when there is none."""
        absent = self.left.width - self.right.width
        if absent == 0:
            return self._match(fit, tuple(range(self.left.width)))
        for kept in self._without_optional(absent):
            found = self._match(fit, kept)
            if found is not None:
                return found
        return None

    def _without_optional(self, absent: int) -> Iterator[tuple[int, ...]]:
        """Reference columns left when as many optional ones as the candidate lacks are taken away."""
        optional = {name.casefold() for name in self.rule.optional_columns}
        names = enumerate(self.left.names)
        places = [i for i, name in names if name.casefold() in optional and not self.ties.bound(i)]
        if not 0 < absent <= len(places):
            return
        there = set(_folded(self.right.names))
        places.sort(key=lambda i: self.left.names[i].casefold() in there)
        for dropped in islice(combinations(places, absent), _SUBSETS):
            yield tuple(i for i in range(self.left.width) if i not in dropped)

    def _match(self, fit: Compatibility, kept: tuple[int, ...]) -> tuple[int | None, ...] | None:
        whole = len(kept) == self.left.width
        if self.rule.columns != "any":
            by_name = self.rule.columns == "by_name"
            order: Sequence[int] | None = self._by_name(kept) if by_name else range(len(kept))
            if order is not None and not self._equal(fit, kept, order):
                order = self._among_names(fit, kept) if by_name else None
            return None if order is None else _spread(kept, order, self.left.width)
        if whole and all(self.ties.permitted(i, i) for i in kept) and self._equal(fit, kept, kept):
            return kept
        if self._stranded(fit, kept):
            return None
        natural = self.ties.natural(kept)
        if natural is not None and (not whole or natural != list(kept)) and self._confirm(fit, kept, natural):
            return _spread(kept, natural, self.left.width)
        allowed = fit.matrix(kept)
        if allowed is None:
            return None
        found = self._searched(fit, kept, allowed, lambda order: self._confirm(fit, kept, order))
        return None if found is None else _spread(kept, found, self.left.width)

    def _searched(
        self,
        fit: Compatibility,
        kept: Sequence[int],
        allowed: list[list[bool]],
        confirm: Callable[[Sequence[int]], bool],
    ) -> Sequence[int] | None:
        from sqlassay.tables.assignment import search

        return search(
            fit.bench if len(kept) == self.left.width else _narrowed(fit.bench, kept),
            allowed,
            prefer=lambda position, j: self.ties.wish(kept[position], j),
            confirm=confirm,
        )

    def _stranded(self, fit: Compatibility, kept: Sequence[int]) -> bool:
        """Whether the first column that cannot stay in its place has no other: the usual wrong answer, told early."""
        for i in kept:
            if i >= self.right.width or not fit(i, i):
                return not any(fit(i, j) for j in range(self.right.width))
        return False

    def _equal(self, fit: Compatibility, kept: Sequence[int], order: Sequence[int]) -> bool:
        pairs = list(zip(kept, order, strict=True))
        if fit.bench.large and fit.bench.identical(pairs):
            return True
        return all(fit.holds(i, j) for i, j in pairs) and rows_equal(fit.bench, pairs)

    def _confirm(self, fit: Compatibility, kept: Sequence[int], order: Sequence[int]) -> bool:
        by_position = tuple(kept) == tuple(order)
        crossing = not by_position and names_cross([self.left.names[i] for i in kept], self.right.names, order)
        if crossing and self.crossed:
            return False
        equal = all(map(fit, kept, order)) and rows_equal(fit.bench, list(zip(kept, order, strict=True)))
        if crossing and equal:
            self.crossed = True
        return equal and not crossing

    def _by_name(self, kept: Sequence[int]) -> list[int] | None:
        free: dict[str, list[int]] = {}
        for j, name in enumerate(_folded(self.right.names)):
            free.setdefault(name, []).append(j)
        order = []
        for i in kept:
            places = free.get(self.left.names[i].casefold())
            if not places:
                return None
            order.append(places.pop(0))
        return order

    def _among_names(self, fit: Compatibility, kept: Sequence[int]) -> Sequence[int] | None:
        """Columns of one name in an order under which the rows are equal: their names do not tell them apart."""
        here, there = _folded([self.left.names[i] for i in kept]), _folded(self.right.names)
        if len(set(here)) == len(here):
            return None
        places = range(len(there))
        allowed = [[name == there[j] and fit.holds(i, j) for j in places] for i, name in zip(kept, here, strict=True)]
        return self._searched(fit, kept, allowed, lambda order: self._equal(fit, kept, order))

    def _by_position(self, assignment: tuple[int | None, ...] | None) -> bool:
        if self.left.width != self.right.width:
            return False
        identity = tuple(range(self.left.width))
        return assignment == identity or self._equal(self.fit, identity, identity)

    def _with_extra(self) -> bool:
        if self.right.width <= self.left.width or not self.left.width:
            return False
        everything = tuple(range(self.left.width))
        natural = self.ties.natural(everything)
        if natural is not None and self._confirm(self.fit, everything, natural):
            return True
        allowed = self.fit.matrix(everything)
        if allowed is None:
            return False
        from sqlassay.tables.assignment import search

        found = search(
            self.bench,
            allowed,
            prefer=self.ties.wish,
            confirm=lambda order: self._confirm(self.fit, everything, order),
        )
        return found is not None

    def _ceilings(self, assignment: tuple[int | None, ...] | None, crossed: bool) -> Iterator[Ceiling]:
        if not self.gold_height and not self.right.height and self.left.width == self.right.width:
            yield Ceiling.BOTH_EMPTY
        if assignment is None:
            if crossed:
                yield Ceiling.LABELS_CROSSED
            if self._hair_differs(equal=False):
                yield Ceiling.DECIDED_BY_TOLERANCE
            return
        by_position = assignment == tuple(range(self.left.width))
        if (
            by_position
            and self.rule.columns != "by_name"
            and names_cross(self.left.names, self.right.names, assignment)
        ):
            yield Ceiling.LABELS_CROSSED
        if self.rule.columns == "any" and not by_position and not self.ties.swap_proven(assignment):
            yield Ceiling.SWAP_UNPROVEN
        if self.gold_height == 1 or (
            self.left.width == 1 and self.gold_height and self.bench.distinct_count(0, 0) == 1
        ):
            yield Ceiling.WEAK_EVIDENCE
        pairs = [(i, j) for i, j in enumerate(assignment) if j is not None]
        if not self.bench.identical(pairs) and self._hair_differs(equal=True, pairs=pairs):
            yield Ceiling.DECIDED_BY_TOLERANCE

    def _hair_differs(self, *, equal: bool, pairs: Sequence[tuple[int, int]] | None = None) -> bool:
        """Whether the verdict is another one when numbers may differ by a billionth only."""
        bench = self.bench.with_rule(agreement(HAIR))
        if pairs is not None and all(bench.holds(i, j) for i, j in pairs) and rows_equal(bench, pairs):
            return False
        if self.left.width != self.right.width and not self.rule.optional_columns:
            return False
        if not equal and not self._hair_is_wider():
            return False
        return (self._decide(self._fit(bench)) is not None) != equal

    def _hair_is_wider(self) -> bool:
        """Whether a billionth of some number is more than the rule allows, so that it could accept what the rule did
        not; with guarded and plain rules only very large numbers do, on both sides."""
        if self.reference.arrow is None and not self.rule.order.cuts:
            largest = known_of(self.reference).largest
            if 1e-9 * largest * (1 + 1e-6) <= self.agree.narrow:
                return False
        return 1e-9 * self.bench.largest_fraction() > self.agree.narrow


def _spread(kept: Sequence[int], order: Sequence[int], width: int) -> tuple[int | None, ...]:
    places = dict(zip(kept, order, strict=True))
    return tuple(places.get(i) for i in range(width))


def _narrowed(bench: Bench, kept: Sequence[int]) -> Bench:
    """The same comparison over fewer reference columns, for the search."""
    columns = tuple(bench.reference.columns[i] for i in kept)
    narrow = _Projection(bench.reference, columns, kept)
    return Bench(narrow, bench.candidate, plan=bench.plan, agree=bench.agree, coercions=bench.coercions)


class _Projection(Table):
    def __init__(self, whole: Table, columns: tuple[Column, ...], kept: Sequence[int]) -> None:
        super().__init__(columns, whole.rows, decimals=True, arrow=whole.arrow)
        self._made = {position: whole[i] for position, i in enumerate(kept)}


def _with_pools(reference: Relation, order: Order) -> tuple[list[Row] | None, list[Row]]:
    if not order.cuts:
        return None, []
    rows = list(reference.tuples())
    inside = {position for cut in order.cuts for position in range(cut.start, cut.stop)}
    return [row for p, row in enumerate(rows) if p not in inside], [row for cut in order.cuts for row in cut.pool]


def _plan(order: Order, gold: int, candidate: int) -> Plan:
    inside = {position for cut in order.cuts for position in range(cut.start, cut.stop)}
    required = gold - len(inside)
    split = None
    if len(order.cuts) == 2:
        split = (len(order.cuts[0].pool), order.cuts[0].stop - order.cuts[0].start)
    if order.groups is None:
        return Plan(required=required, split=split)
    reference = [group for p, group in enumerate(order.groups) if p not in inside]
    reference += [order.groups[cut.start] for cut in order.cuts for _ in cut.pool]
    groups = list(order.groups)
    return Plan(
        required=required,
        split=split,
        reference_groups=reference,
        candidate_groups=groups if candidate == gold else list(range(candidate)),
    )


def _unordered(plan: Plan) -> Plan:
    return Plan(required=plan.required, split=plan.split)
