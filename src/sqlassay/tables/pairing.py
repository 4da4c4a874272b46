"""Which candidate column carries the information of which reference column, and how well?

Specification section 5.3: by origin, by expression, by values under two guards, and left-over constants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Final

from sqlassay.tables.overlap import Overlap
from sqlassay.tables.rows import Bench
from sqlassay.tables.rule import Facts, Links


class By(StrEnum):
    """How a pair was made."""

    ORIGIN = "origin"
    EXPRESSION = "expression"
    VALUES = "values"
    CONSTANT = "constant"


_Rank = tuple[float, float, bool, bool, bool]
_Option = tuple[_Rank, int, int, int]
"""How good a pair is or could be, the pair, and how closely it was looked at."""

_KNOWN: Final = 2
"""Looks after which a pair is known."""
_UNKNOWN: Final = (-3.0, False, False, False)
"""The rest of a rank that could be any: before every rank that is known."""


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


def pair_columns(
    bench: Bench, links: Links, *, threshold: Fraction, suggested: Sequence[int | None] | None = None
) -> tuple[Pair, ...]:
    """Pair the columns of both sides one to one (specification section 5.3), in reference order.

    `suggested` is the assignment of the exact verdict, where there is one: among pairs that the values cannot tell
    apart it comes before names and positions, so that both readings of one trial speak of the same columns.
    """
    return _Pairing(bench, links, threshold, suggested).pairs()


class _Pairing:
    def __init__(self, bench: Bench, links: Links, threshold: Fraction, suggested: Sequence[int | None] | None) -> None:
        self.bench = bench
        self._overlaps: dict[tuple[int, int], Overlap] = {}
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
            self._take([(1.0, i, j) for i in here[key] for j in there[key]], by, None)

    def _overlap(self, i: int, j: int) -> Overlap:
        known = self._overlaps.get((i, j))
        if known is None:
            known = self._overlaps[(i, j)] = self.bench.overlap(i, j)
        return known

    def _by_values(self) -> None:
        left, right = sorted(self.left), sorted(self.right)
        self._take(self.bench.overlap_limits(left, right, self.threshold), By.VALUES, self.threshold)

    def _take(self, options: Iterable[tuple[float, int, int]], by: By, threshold: Fraction | None) -> None:
        """Best first; a pair that only the lowest index decides is ambiguous.

        `options` come with the most that the smaller share of a pair can be. A pair is looked at more closely only
        when nothing is left that could be better; then it goes back to its place.
        """
        waiting = [((-limit, *_UNKNOWN), i, j, 0) for limit, i, j in options]
        heapify(waiting)
        while waiting and self.left and self.right:
            rank, i, j, looks = heappop(waiting)
            if i not in self.left or j not in self.right:
                continue
            if looks < _KNOWN:
                closer = self._look(i, j, -rank[0], looks, threshold)
                if closer is not None:
                    heappush(waiting, closer)
                continue
            equals = [(i, j)]
            while waiting and waiting[0][0] == rank:
                equals.append(heappop(waiting)[1:3])
            self._settle(equals, by)

    def _look(self, i: int, j: int, limit: float, looks: int, threshold: Fraction | None) -> _Option | None:
        """A pair with what one more look tells of it; None when it does not reach the threshold."""
        if looks == 0 and self.bench.large:
            limit = min(limit, self.bench.overlap_sample(i, j))
            if threshold is not None and limit < float(threshold):
                return None
            if limit < 1.0:
                return (-limit, *_UNKNOWN), i, j, 1
        if threshold is not None and not self._overlap(i, j).reaches(threshold):
            return None
        return self._rank(i, j), i, j, _KNOWN

    def _settle(self, equals: Sequence[tuple[int, int]], by: By) -> None:
        """Make pairs of options that only their indices tell apart, lowest first."""
        for place, (i, j) in enumerate(equals):
            if i in self.left and j in self.right:
                rivals = any(
                    (k == i) != (m == j) and k in self.left and m in self.right for k, m in equals[place + 1 :]
                )
                self._pair(i, j, by, ambiguous=rivals)

    def _rank(self, i: int, j: int) -> _Rank:
        least, total = self._overlap(i, j).rank
        suggested = self.suggested is not None and self.suggested[i] == j
        equal = names_equal(self.left_names[i], self.right_names[j])
        return (-least, -total, not suggested, not equal, i != j)

    def _by_constant(self) -> None:
        here = [i for i in sorted(self.left) if self.bench.distinct_count(0, i) == 1]
        there = [j for j in sorted(self.right) if self.bench.distinct_count(1, j) == 1]

        def same(i: int, j: int) -> bool:
            return self._overlap(i, j).rank[0] == 1

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
        overlap = self._overlap(i, j)
        self.made.append(Pair(reference=i, candidate=j, by=by, overlap=overlap, ambiguous=ambiguous))
        self.left.discard(i)
        self.right.discard(j)
