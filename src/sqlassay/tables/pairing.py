"""Which candidate column carries the information of which reference column, and how well?

Specification section 5.3: by origin, by expression, by values under two guards, and left-over constants.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from sqlassay.tables.cells import is_number
from sqlassay.tables.encode import ColumnCells
from sqlassay.tables.rows import Bench
from sqlassay.tables.rule import Facts, Links
from sqlassay.tables.tolerance import Agreement


class By(StrEnum):
    """How a pair was made."""

    ORIGIN = "origin"
    EXPRESSION = "expression"
    VALUES = "values"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Distinct values of two columns and how many of each side agree with some value of the other."""

    reference: int
    candidate: int
    reference_hits: int
    candidate_hits: int

    @property
    def precision(self) -> Fraction:
        """Share of the candidate's distinct values found in the reference, 0 when it has none."""
        return Fraction(self.candidate_hits, self.candidate) if self.candidate else Fraction(0)

    @property
    def recall(self) -> Fraction:
        """Share of the reference's distinct values found in the candidate, 0 when it has none."""
        return Fraction(self.reference_hits, self.reference) if self.reference else Fraction(0)

    @property
    def least(self) -> Fraction:
        return min(self.precision, self.recall)

    @property
    def rank(self) -> tuple[float, float]:
        """Minimum and sum of precision and recall, correctly rounded, so that equal shares stay equal."""
        a, b = self.candidate_hits, self.candidate or 1
        c, d = self.reference_hits, self.reference or 1
        return min(a / b, c / d), (a * d + c * b) / (b * d)

    def reaches(self, threshold: Fraction) -> bool:
        """Whether both shares are at least `threshold`."""
        top, bottom = threshold.numerator, threshold.denominator
        return self.candidate_hits * bottom >= top * max(
            self.candidate, 1
        ) and self.reference_hits * bottom >= top * max(self.reference, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A reference column and the candidate column that stands for it, both by position."""

    reference: int
    candidate: int
    by: By
    overlap: Overlap
    ambiguous: bool = False


_MADE: Final = re.compile(
    r"""^(?: | \?column\? | column\d* | col\d+ | _col\d+ | f\d+_ | expr_?\d* | expr\$\d+ | _?c\d+ | .*\(.*
        | sum | count | avg | min | max | round | coalesce | case | bool | row_number | rank | dense_rank | exists
        | array_agg | string_agg | group_concat | count_star | unnest )$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def is_engine_made(name: str) -> bool:
    """Whether an output name is empty or the kind an engine makes up; such names never count as equal.

    >>> [is_engine_made(name) for name in ("", "?column?", "COUNT(*)", "sum", "total")]
    [True, True, True, True, False]
    """
    return _MADE.match(name) is not None


def names_equal(a: str, b: str) -> bool:
    """Equal column names, case folded, unless an engine made them up."""
    return a.casefold() == b.casefold() and not is_engine_made(a)


class _Values:
    """Distinct values per column and form, and their overlaps, each worked out once."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._distinct: dict[tuple[int, int, str], frozenset[Any]] = {}
        self._overlaps: dict[tuple[int, int], Overlap] = {}

    def distinct(self, side: int, position: int, form: Any = "plain") -> frozenset[Any]:
        table = self.bench.candidate if side else self.bench.reference
        if form == "plain":
            return table[position].distinct
        key = (side, position, form)
        if key not in self._distinct:
            self._distinct[key] = frozenset(table[position].form(form))
        return self._distinct[key]

    def overlap(self, i: int, j: int) -> Overlap:
        known = self._overlaps.get((i, j))
        if known is None:
            meeting = self.bench.meeting(i, j)
            left, right = self.distinct(0, i, meeting.form), self.distinct(1, j, meeting.form)
            common = len(left & right)
            here, there = common, common
            if meeting.tolerant and (common < len(left) or common < len(right)):
                one, two = self.bench.reference[i], self.bench.candidate[j]
                here += _agreeing(one, two, left - right, self.bench.agree)
                there += _agreeing(two, one, right - left, self.bench.agree)
            known = Overlap(reference=len(left), candidate=len(right), reference_hits=here, candidate_hits=there)
            self._overlaps[(i, j)] = known
        return known


def _agreeing(one: ColumnCells, two: ColumnCells, rest: frozenset[Any], agree: Agreement) -> int:
    """How many of the values `rest` of column `one`, which `two` does not have, agree with some value of `two`."""
    (levels, floats), (others, other_floats) = one.levels, two.levels
    count = start = 0
    flat = agree.flat
    for value, place in zip(levels, floats, strict=True):
        if value not in rest:
            continue
        reach = flat + abs(place) * 1e-12 if flat is not None else agree.width(value)
        start = bisect_left(other_floats, place - reach, start if flat is not None else 0)
        for position in range(start, len(others)):
            if other_floats[position] > place + reach:
                break
            if agree(value, others[position]):
                count += 1
                break
    for value in rest:
        if type(value) is tuple:
            count += any(agree(value, other) for other in two.distinct if type(other) is tuple)
        elif is_number(value) and not abs(value) < 1e300:
            count += any(agree(value, other) for other in two.numbers)
    return count


def pair_columns(
    bench: Bench, links: Links, *, threshold: Fraction, suggested: Sequence[int | None] | None = None
) -> tuple[Pair, ...]:
    """Pair the columns of both sides one to one (specification section 5.3), in reference order.

    `suggested` is the assignment of the exact verdict, where there is one: among pairs that the values cannot tell
    apart it comes before names and positions, so that both readings of one trial speak of the same columns.
    """
    return _Pairing(bench, links, threshold, suggested).pairs()


def _may_meet(one: ColumnCells, two: ColumnCells) -> bool:
    """Whether columns without a type in common can have values in common: numbers, coercions, NULL."""
    if None in one.distinct and None in two.distinct:
        return True
    text = frozenset({str}), frozenset({bytes})
    return not ((one.types in text and two.types <= _NEVER_TEXT) or (two.types in text and one.types <= _NEVER_TEXT))


_NEVER_TEXT: Final = frozenset({int, float, Decimal})


class _Pairing:
    def __init__(self, bench: Bench, links: Links, threshold: Fraction, suggested: Sequence[int | None] | None) -> None:
        self.values = _Values(bench)
        self.links, self.threshold, self.suggested = links, threshold, suggested
        self.left_names, self.right_names = bench.reference.names, bench.candidate.names
        self.left = set(range(bench.reference.width))
        self.right = set(range(bench.candidate.width))
        self.made: list[Pair] = []

    def pairs(self) -> tuple[Pair, ...]:
        self._by_fact(By.ORIGIN, Facts.origin)
        self._by_fact(By.EXPRESSION, Facts.expression)
        self._by_values()
        self._by_constant()
        return tuple(sorted(self.made, key=lambda pair: pair.reference))

    def _by_fact(self, by: By, fact: Callable[[Facts, int], str | None]) -> None:
        here: dict[str, list[int]] = {}
        there: dict[str, list[int]] = {}
        for positions, facts, known in (
            (self.left, self.links.reference, here),
            (self.right, self.links.candidate, there),
        ):
            for position in sorted(positions):
                key = fact(facts, position)
                if key is not None:
                    known.setdefault(key, []).append(position)
        for key in here.keys() & there.keys():
            self._take([(i, j) for i in here[key] for j in there[key]], by)

    def _by_values(self) -> None:
        bench = self.values.bench
        top, bottom = self.threshold.numerator, self.threshold.denominator
        right = [(j, bench.candidate[j]) for j in sorted(self.right)]
        options = []
        for i in sorted(self.left):
            column = bench.reference[i]
            if len(column.distinct) < 2:
                continue
            for j, other in right:
                if top and column.types.isdisjoint(other.types) and not _may_meet(column, other):
                    continue
                smaller, larger = sorted((len(column.distinct), len(other.distinct)))
                if not bench.meeting(i, j).tolerant and smaller * bottom < top * larger:
                    continue
                if self.values.overlap(i, j).reaches(self.threshold):
                    options.append((i, j))
        self._take(options, By.VALUES)

    def _take(self, options: list[tuple[int, int]], by: By) -> None:
        """Best first; a pair that only the lowest index decides is ambiguous."""
        ranked = sorted((self._rank(i, j), i, j) for i, j in options)
        for place, (rank, i, j) in enumerate(ranked):
            if i not in self.left or j not in self.right:
                continue
            rivals = False
            for other, k, m in ranked[place + 1 :]:
                if other != rank:
                    break
                if (k == i) != (m == j) and k in self.left and m in self.right:
                    rivals = True
                    break
            self._pair(i, j, by, ambiguous=rivals)

    def _rank(self, i: int, j: int) -> tuple[float, float, bool, bool, bool]:
        least, total = self.values.overlap(i, j).rank
        suggested = self.suggested is not None and self.suggested[i] == j
        equal = names_equal(self.left_names[i], self.right_names[j])
        return (-least, -total, not suggested, not equal, i != j)

    def _by_constant(self) -> None:
        values, bench = self.values, self.values.bench
        here = [i for i in sorted(self.left) if len(values.distinct(0, i)) == 1]
        there = [j for j in sorted(self.right) if len(values.distinct(1, j)) == 1]

        def same(i: int, j: int) -> bool:
            return bench.meeting(i, j).form in ("plain", "stamp", "bits") and values.overlap(i, j).least == 1

        for i in here:
            for j in there:
                free = j in self.right and i in self.left
                if free and names_equal(self.left_names[i], self.right_names[j]) and same(i, j):
                    self._pair(i, j, By.CONSTANT)
        for i in [i for i in here if i in self.left]:
            partners = [j for j in there if j in self.right and same(i, j)]
            if len(partners) == 1:
                rivals = [k for k in here if k in self.left and same(k, partners[0])]
                if rivals == [i]:
                    self._pair(i, partners[0], By.CONSTANT)

    def _pair(self, i: int, j: int, by: By, *, ambiguous: bool = False) -> None:
        overlap = self.values.overlap(i, j)
        self.made.append(Pair(reference=i, candidate=j, by=by, overlap=overlap, ambiguous=ambiguous))
        self.left.discard(i)
        self.right.discard(j)
