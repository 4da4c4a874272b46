"""The same comparison for large results: the questions of a bench, answered on arrays of words.

Nothing is left to a hash where a verdict is "equal": rows that their words call equal are confirmed by the values
behind the words, and columns in which two values share a word are compared cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sqlassay.records.relation import Relation
from sqlassay.tables import shares
from sqlassay.tables.agreed import agreed, all_near
from sqlassay.tables.arrow import has_polars
from sqlassay.tables.close_rows import rows_close
from sqlassay.tables.coding import NeedsCells, vectors_of
from sqlassay.tables.encode import Coercions, Meeting, Table, tables_of
from sqlassay.tables.overlap import Overlap
from sqlassay.tables.places import Words, ascending, inverted, starts
from sqlassay.tables.rows import Bench, Plan
from sqlassay.tables.tolerance import Agreement
from sqlassay.tables.vectors import Vector, any_may_coerce, numbered, row_words, same_bag, same_values

_VECTORS: WeakKeyDictionary[Relation, dict[bool, list[Vector]]] = WeakKeyDictionary()


def _vectors(relation: Relation, polars: bool) -> list[Vector]:
    made = _VECTORS.setdefault(relation, {})
    if polars not in made:
        made[polars] = vectors_of(relation, polars=polars)
    return made[polars]


def _in_rows(relation: Relation) -> Relation:
    """The same result as rows: words are made of Arrow in other ways, and only words of one way can be compared."""
    return relation if relation.arrow is None else Relation(columns=relation.columns, rows=relation.tuples())


def bench_for(reference: Relation, candidate: Relation, *, plan: Plan, agree: Agreement, coercions: Coercions) -> Bench:
    """A bench on words; one on plain cells where words would not do."""
    left, right = tables_of(reference, candidate)
    both = reference.arrow is not None and candidate.arrow is not None
    sides = (reference, candidate) if both else (_in_rows(reference), _in_rows(candidate))
    polars = both and has_polars()
    try:
        vectors = (_vectors(sides[0], polars), _vectors(sides[1], polars))
    except NeedsCells:
        return Bench(left, right, plan=plan, agree=agree, coercions=coercions)
    if not any_may_coerce(*vectors):
        return LargeBench(left, right, plan=plan, agree=agree, coercions=coercions, vectors=vectors)
    return Bench(left, right, plan=plan, agree=agree, coercions=coercions)


class LargeBench(Bench):
    """A bench that answers on words."""

    large = True

    def __init__(
        self,
        reference: Table,
        candidate: Table,
        *,
        plan: Plan,
        agree: Agreement,
        coercions: Coercions,
        vectors: tuple[list[Vector], list[Vector]],
    ) -> None:
        super().__init__(reference, candidate, plan=plan, agree=agree, coercions=coercions)
        self.vectors = vectors
        self._shared: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
        self._close: dict[tuple[tuple[int, int], ...], bool] = {}

    def _like(self, *, plan: Plan, agree: Agreement) -> Bench:
        return LargeBench(
            self.reference,
            self.candidate,
            plan=plan,
            agree=agree,
            coercions=self.coercions,
            vectors=self.vectors,
        )

    def meeting(self, i: int, j: int) -> Meeting:
        one, two = self.vectors[0][i], self.vectors[1][j]
        numbers = one.nature == two.nature == "number"
        return Meeting(tolerant=numbers and not (one.whole and two.whole) and not self.agree.exact)

    def holds(self, i: int, j: int) -> bool:
        one, two = self.vectors[0][i], self.vectors[1][j]
        if same_bag(one, two):
            return True
        if not self.meeting(i, j).tolerant or len(one.words) != len(two.words):
            return False
        left, right = one.finite, two.finite
        return len(left) == len(right) and all_near(self.agree, left, right)

    def identical(self, pairs: Sequence[tuple[int, int]]) -> bool:
        columns = [*self._columns(pairs), *self._order]
        if not all(same_bag(one, two) for one, two in columns):
            return False
        left, right = self._rows(columns)
        if len(left) != len(right) or left.sum(dtype=np.uint64) != right.sum(dtype=np.uint64):
            return False
        (one, here), (two, there) = ascending(left), ascending(right)
        if not np.array_equal(here, there):
            return False
        partners = inverted(one, two)
        return all(same_values(*column, None, partners) for column in columns) or super().identical(pairs)

    def _columns(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[Vector, Vector]]:
        return [(self.vectors[0][i], self.vectors[1][j]) for i, j in pairs]

    @cached_property
    def _order(self) -> list[tuple[Vector, Vector]]:
        """The rows' places in the order, as one more column of both sides, where order counts."""
        groups, others = self.plan.reference_groups, self.plan.candidate_groups
        return [] if groups is None or others is None else [(numbered(groups), numbered(others))]

    def _rows(self, columns: Sequence[tuple[Vector, Vector]]) -> tuple[Words, Words]:
        """One word per row over some columns, for both sides."""
        heights = self.reference.height, self.candidate.height
        here, there = (row_words([c[side].words for c in columns], height) for side, height in enumerate(heights))
        return here, there

    def close(self, pairs: Sequence[tuple[int, int]]) -> bool:
        known = self._close.get(tuple(pairs))
        if known is None:
            known = self._close[tuple(pairs)] = self._is_close(pairs)
        return known

    def _is_close(self, pairs: Sequence[tuple[int, int]]) -> bool:
        if self.reference.height != self.candidate.height:
            return False
        tolerant = [(i, j) for i, j in pairs if self.meeting(i, j).tolerant]
        exact = [*self._columns([pair for pair in pairs if pair not in tolerant]), *self._order]
        found = rows_close(self.agree, self._rows(exact), exact, self._columns(tolerant))
        return super().close(pairs) if found is None else found

    def distinct_count(self, side: int, position: int) -> int:
        return len(self.vectors[side][position].distinct)

    def overlap_limits(
        self, left: Sequence[int], right: Sequence[int], threshold: Fraction
    ) -> Iterator[tuple[float, int, int]]:
        if not left or not right:
            return
        here, there = ([self.vectors[side][p] for p in places] for side, places in ((0, left), (1, right)))
        limits = shares.limits(here, there, threshold, exact=self.agree.exact)
        for row, column in np.argwhere(limits >= float(threshold)).tolist():
            yield float(limits[row, column]), left[row], right[column]

    def overlap_sample(self, i: int, j: int) -> float:
        one, two = self.vectors[0][i], self.vectors[1][j]
        if one.distinct_total == two.distinct_total:
            return 1.0
        if self.meeting(i, j).tolerant:
            return shares.near_sample(one, two, self.agree)
        return shares.sample(one.distinct, two.distinct)

    def overlap(self, i: int, j: int) -> Overlap:
        one, two = self.vectors[0][i], self.vectors[1][j]
        here = there = common = self._common(one, two)
        if self.meeting(i, j).tolerant and (common < len(one.distinct) or common < len(two.distinct)):
            finite = shares.common(one.levels, two.levels)
            here += shares.near(one.levels, two.levels, self.agree) - finite
            there += shares.near(two.levels, one.levels, self.agree) - finite
        return Overlap(
            reference=len(one.distinct), candidate=len(two.distinct), reference_hits=here, candidate_hits=there
        )

    def _common(self, one: Vector, two: Vector) -> int:
        """How many values two columns share; look-alike columns are counted once."""
        totals = one.distinct_total, two.distinct_total
        if totals[0] == totals[1]:
            return len(one.distinct)
        known = self._shared.get(totals)
        if known is None:
            known = self._shared[totals] = shares.common(one.distinct, two.distinct)
        return known

    def words(self, side: int, position: int, *, nulls: bool) -> Words:
        vector = self.vectors[side][position]
        return vector.nulls.astype(np.uint64) if nulls else vector.words

    def key_count(self, pairs: Sequence[tuple[int, int]], height: int) -> int:
        columns = [self.vectors[0][i] for i, _ in pairs]
        if len(columns) == 1 and height == len(columns[0].words):
            return len(columns[0].distinct)
        words = row_words([column.words[:height] for column in columns], height)
        words.sort()
        return int(np.count_nonzero(starts(words)))

    def largest_fraction(self) -> float:
        vectors = [vector for side in self.vectors for vector in side if vector.numbers is not None]
        if all(vector.whole for vector in vectors):
            return 0.0
        ends = (np.abs(vector.finite[[0, -1]]) for vector in vectors if len(vector.finite))
        return max((float(end.max()) for end in ends), default=0.0)

    def has_fractions(self, i: int) -> bool:
        return self.vectors[0][i].fractions

    def close_cells(self, i: int, j: int, one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where the cells of reference rows `one` and candidate rows `two` agree in a pair of columns."""
        left, right = self.vectors[0][i], self.vectors[1][j]
        same: NDArray[np.bool_] = left.words[one] == right.words[two]
        if self.meeting(i, j).tolerant and left.numbers is not None and right.numbers is not None:
            open_ = np.flatnonzero(~same)
            a, b = left.numbers[one[open_]], right.numbers[two[open_]]
            both = np.isfinite(a) & np.isfinite(b)
            same[open_[both]] = agreed(self.agree, a[both], b[both])
        return same
