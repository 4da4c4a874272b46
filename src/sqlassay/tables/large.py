"""The same comparison for large results: the questions of a bench, answered on arrays of words.

Nothing is left to a hash where a verdict is "equal": rows that their words call equal are confirmed by the values
behind the words, and columns in which two values share a word are compared cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sqlassay.records.relation import Relation
from sqlassay.tables.arrow import has_polars
from sqlassay.tables.encode import Coercions, Meeting, Table, tables_of
from sqlassay.tables.overlap import Overlap
from sqlassay.tables.rows import Bench, Plan
from sqlassay.tables.tolerance import Agreement
from sqlassay.tables.vectors import NeedsCells, Vector, Words, may_coerce, mix, same_values, vectors_of

_VECTORS: WeakKeyDictionary[Relation, dict[bool, list[Vector]]] = WeakKeyDictionary()


def _vectors(relation: Relation, polars: bool) -> list[Vector]:
    made = _VECTORS.setdefault(relation, {})
    if polars not in made:
        made[polars] = vectors_of(relation, polars=polars)
    return made[polars]


def bench_for(reference: Relation, candidate: Relation, *, plan: Plan, agree: Agreement, coercions: Coercions) -> Bench:
    """A bench on words; one on plain cells where words would not do."""
    left, right = tables_of(reference, candidate)
    polars = reference.arrow is not None and candidate.arrow is not None and has_polars()
    try:
        vectors = (_vectors(reference, polars), _vectors(candidate, polars))
    except NeedsCells:
        return Bench(left, right, plan=plan, agree=agree, coercions=coercions)
    if not any(may_coerce(one, two) for one in vectors[0] for two in vectors[1]):
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
        if np.array_equal(one.ascending, two.ascending):
            return True
        if not self.meeting(i, j).tolerant or len(one.words) != len(two.words):
            return False
        left, right = one.finite, two.finite
        return len(left) == len(right) and bool(np.all(np.abs(left - right) <= self._reach(left, right)))

    def _reach(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
        """A gap that no agreeing pair exceeds."""
        flat, size = self.agree.flat, np.maximum(np.abs(left), np.abs(right))
        if flat is not None:
            return flat * (1 + 1e-9) + size * 1e-14
        return np.maximum(self.agree.narrowest, self.agree.share * size) * (1 + 1e-6) + size * 1e-14

    def identical(self, pairs: Sequence[tuple[int, int]]) -> bool:
        columns = ((self.vectors[0][i], self.vectors[1][j]) for i, j in pairs)
        if not all(np.array_equal(one.ascending, two.ascending) for one, two in columns):
            return False
        left, right = self._rows(pairs, 0), self._rows(pairs, 1)
        if len(left) != len(right):
            return False
        one, two = np.argsort(left), np.argsort(right)
        if not np.array_equal(left[one], right[two]):
            return False
        for i, j in pairs:
            if not same_values(self.vectors[0][i], self.vectors[1][j], one, two):
                return super().identical(pairs)
        return not self.plan.ordered or np.array_equal(self._groups(0)[one], self._groups(1)[two])

    def _groups(self, side: int) -> NDArray[np.int64]:
        groups = self.plan.candidate_groups if side else self.plan.reference_groups
        height = (self.candidate if side else self.reference).height
        return np.zeros(height, dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)

    def _rows(self, pairs: Sequence[tuple[int, int]], side: int) -> Words:
        """One word per row over the paired columns and its place in the order."""
        words = mix(self._groups(side).astype(np.uint64))
        for pair in pairs:
            words = mix(words ^ self.vectors[side][pair[side]].words) + words
        return words

    def close(self, pairs: Sequence[tuple[int, int]]) -> bool:
        if self.reference.height != self.candidate.height:
            return False
        tolerant = [(i, j) for i, j in pairs if self.meeting(i, j).tolerant]
        sides = [self._keyed(pairs, tolerant, side) for side in (0, 1)]
        orders = [np.lexsort((*reversed(numbers), keys)) for keys, numbers in sides]
        keys = [side[0][order] for side, order in zip(sides, orders, strict=True)]
        if not np.array_equal(keys[0], keys[1]):
            return False
        agreed = np.ones(len(keys[0]), dtype=bool)
        for column in range(len(tolerant)):
            left, right = (side[1][column][order] for side, order in zip(sides, orders, strict=True))
            agreed &= self._agreed(left, right)
        if agreed.all():
            return True
        if len(tolerant) == 1 and self.agree.interval:
            return False
        return self._rest(keys[0], agreed, pairs, orders)

    def _keyed(
        self, pairs: Sequence[tuple[int, int]], tolerant: Sequence[tuple[int, int]], side: int
    ) -> tuple[Words, list[NDArray[np.float64]]]:
        """What must be equal exactly as one word per row, and the numbers that may differ a little."""
        words = self._rows([pair for pair in pairs if pair not in tolerant], side)
        numbers = []
        for pair in tolerant:
            vector = self.vectors[side][pair[side]]
            assert vector.numbers is not None
            free = np.isfinite(vector.numbers)
            words = mix(words ^ np.where(free, np.uint64(1), vector.words)) + words
            numbers.append(np.where(free, vector.numbers, 0.0))
        return words, numbers

    def _agreed(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where two columns of numbers agree; what floats cannot decide is asked one by one."""
        gap, size = np.abs(left - right), np.maximum(np.abs(left), np.abs(right))
        slack = size * 1e-14 + 1e-15
        sure: NDArray[np.bool_] = left == right
        if self.agree.mode in ("plain", "guarded"):
            limit = np.maximum(self.agree.narrowest, self.agree.share * size)
            inside = gap < limit - slack
            if self.agree.mode == "guarded":
                inside &= gap < 0.1 * size - slack
            sure |= inside
        doubtful = np.flatnonzero(~sure & (gap <= self._reach(left, right)))
        if len(doubtful):
            known, holds = self._by_millionths(left[doubtful], right[doubtful])
            sure[doubtful[known]] = holds[known]
            for position in doubtful[~known].tolist():
                sure[position] = self.agree(float(left[position]), float(right[position]))
        return sure

    def _by_millionths(
        self, left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Exact arithmetic at the edge for numbers of up to six decimals: which are decided, and how."""
        limit = self.agree.millionths
        if limit is None:
            return np.zeros(len(left), dtype=bool), np.zeros(len(left), dtype=bool)
        one, two = np.rint(left * 1e6), np.rint(right * 1e6)
        size = np.maximum(np.abs(one), np.abs(two))
        fits = (one / 1e6 == left) & (two / 1e6 == right) & (size < 1e14)
        gap = np.abs(one - two)
        if self.agree.mode == "plain":
            return fits, gap <= limit
        inside = gap * 10 <= size
        return fits & ((gap > limit) | inside), (gap <= limit) & inside

    def _rest(
        self,
        keys: Words,
        agreed: NDArray[np.bool_],
        pairs: Sequence[tuple[int, int]],
        orders: Sequence[NDArray[np.int64]],
    ) -> bool:
        """Decide the groups in which sorted pairing fails, by a matching on their cells."""
        from sqlassay.tables.matching import bags_agree

        changes = keys[1:] != keys[:-1]
        alone = np.concatenate([[True], changes]) & np.concatenate([changes, [True]])
        if bool((alone & ~agreed).any()):
            return False
        left_open = np.isin(keys, np.unique(keys[~agreed]))
        tolerant = [(i, j) for i, j in pairs if self.meeting(i, j).tolerant]
        bags: list[list[tuple[Any, tuple[Any, ...]]]] = []
        for side, order in enumerate(orders):
            places = order[left_open]
            columns = []
            for pair in tolerant:
                numbers = self.vectors[side][pair[side]].numbers
                assert numbers is not None
                columns.append(numbers[places].tolist())
            vectors = [tuple(None if cell != cell else cell for cell in row) for row in zip(*columns, strict=True)]
            bags.append(list(zip(keys[left_open].tolist(), vectors, strict=True)))
        return bags_agree(bags[0], bags[1], self.agree)

    def distinct_count(self, side: int, position: int) -> int:
        return len(self.vectors[side][position].distinct)

    def may_meet(self, i: int, j: int) -> bool:
        one, two = self.vectors[0][i], self.vectors[1][j]
        return one.nature == two.nature or bool(one.nulls.any() and two.nulls.any())

    def overlap(self, i: int, j: int) -> Overlap:
        one, two = self.vectors[0][i], self.vectors[1][j]
        common = _common(one.distinct, two.distinct)
        here = there = common
        if self.meeting(i, j).tolerant and (common < len(one.distinct) or common < len(two.distinct)):
            finite = _common_numbers(one.levels, two.levels)
            here += self._near(one.levels, two.levels) - finite
            there += self._near(two.levels, one.levels) - finite
        return Overlap(
            reference=len(one.distinct), candidate=len(two.distinct), reference_hits=here, candidate_hits=there
        )

    def _near(self, levels: NDArray[np.float64], others: NDArray[np.float64]) -> int:
        """How many of the distinct numbers agree with some of the others."""
        if not len(levels) or not len(others):
            return 0
        reach = self._reach(levels, levels) * (1 + 1e-6)
        start, stop = np.searchsorted(others, levels - reach), np.searchsorted(others, levels + reach, side="right")
        found = np.zeros(len(levels), dtype=bool)
        step = 0
        while True:
            places = np.flatnonzero(~found & (start + step < stop))
            if not len(places):
                return int(found.sum())
            found[places] = self._agreed(levels[places], others[start[places] + step])
            step += 1

    def words(self, side: int, position: int, *, nulls: bool) -> Words:
        vector = self.vectors[side][position]
        return vector.nulls.astype(np.uint64) if nulls else vector.words

    def key_codes(self, i: int, j: int) -> tuple[NDArray[np.int64], int]:
        del j
        vector = self.vectors[0][i]
        return vector.codes, len(vector.distinct)

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
            same[open_[both]] = self._agreed(a[both], b[both])
        return same


def _common(one: Words, two: Words) -> int:
    """How many words occur in both ascending arrays of distinct words."""
    if len(one) > len(two):
        one, two = two, one
    if not len(one):
        return 0
    places = np.searchsorted(two, one)
    places[places == len(two)] = 0
    return int(np.count_nonzero(two[places] == one))


def _common_numbers(one: NDArray[np.float64], two: NDArray[np.float64]) -> int:
    return len(np.intersect1d(one, two, assume_unique=True))
