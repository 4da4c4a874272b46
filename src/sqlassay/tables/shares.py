"""How many values do two large columns share? Exactly where it counts, by a sample where a pair has no chance.

Values are ascending distinct words, or ascending distinct numbers. Words are as good as random, so the smallest of them
are a sample that both columns draw alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.agreed import agreed, reach
from sqlassay.tables.places import Numbers, Scalar, Words
from sqlassay.tables.tolerance import Agreement
from sqlassay.tables.vectors import Vector

_SAMPLE: Final = 512
_DOUBT: Final = 20.0
"""A sample is wrong about a limit with a chance of at most exp(-2 * _DOUBT), by Hoeffding's inequality."""
_SHORT: Final = 8
"""How many times longer the other array is from which a search is faster than a merge."""


def limits(left: Sequence[Vector], right: Sequence[Vector], threshold: Fraction, *, exact: bool) -> NDArray[np.float64]:
    """The most that the smaller share of common values can be, for every pair of columns; -1 for a pair without hope.

    Without hope are reference columns of less than two values, columns that cannot meet and, where no number may
    differ (`exact`, or both of integers), counts of values too different to reach the threshold.
    """
    here, there = (np.array([len(column.distinct) for column in side], dtype=np.int64) for side in (left, right))
    small, great = np.minimum.outer(here, there), np.maximum.outer(here, there)
    found: NDArray[np.float64] = small / np.maximum(great, 1)
    hopeless = small * threshold.denominator < threshold.numerator * great
    if not exact:
        numbers, whole = (
            tuple(np.array([getattr(c, what) for c in side], dtype=bool) for side in (left, right))
            for what in ("counts", "whole")
        )
        tolerant = np.logical_and.outer(*numbers) & ~np.logical_and.outer(*whole)
        found[tolerant] = 1.0
        hopeless &= ~tolerant
    found[hopeless] = -1.0
    found[here < 2] = -1.0
    if threshold:
        natures, empty = (
            tuple([getattr(c, what) for c in side] for side in (left, right)) for what in ("nature", "has_nulls")
        )
        meet = np.equal.outer(*map(np.array, natures)) | np.logical_and.outer(*empty)
        found[~meet] = -1.0
    return found


def common(one: NDArray[Scalar], two: NDArray[Scalar]) -> int:
    """How many values occur in both of two ascending arrays of distinct values.

    >>> common(np.array([1, 3, 5, 9]), np.array([0, 3, 9, 12, 15]))
    2
    """
    if len(one) > len(two):
        one, two = two, one
    if not len(one):
        return 0
    if len(one) * _SHORT < len(two):
        places = np.searchsorted(two, one)
        places[places == len(two)] = 0
        return int(np.count_nonzero(two[places] == one))
    both = np.concatenate([one, two])
    both.sort()
    return int(np.count_nonzero(both[1:] == both[:-1]))


def sample(one: Words, two: Words) -> float:
    """The most that the smaller share of common words can be, by the smallest of them; of few, by their number."""
    if max(len(one), len(two)) <= _SAMPLE:
        return min(len(one), len(two)) / max(len(one), len(two), 1)
    cut = min(words[_SAMPLE] for words in (one, two) if len(words) > _SAMPLE)
    one, two = one[: np.searchsorted(one, cut)], two[: np.searchsorted(two, cut)]
    found = common(one, two)
    return min(_most(found, len(one)), _most(found, len(two)))


def _most(hits: int, drawn: int) -> float:
    """The largest share of which so many drawn at random can be hits."""
    return min(1.0, hits / drawn + sqrt(_DOUBT / drawn)) if drawn else 1.0


def near(levels: Numbers, others: Numbers, agree: Agreement) -> int:
    """How many of some ascending distinct numbers agree with some of the others."""
    if not len(levels) or not len(others):
        return 0
    far = reach(agree, levels, levels) * (1 + 1e-6)
    start, stop = np.searchsorted(others, levels - far), np.searchsorted(others, levels + far, side="right")
    found = np.zeros(len(levels), dtype=bool)
    step = 0
    while True:
        places = np.flatnonzero(~found & (start + step < stop))
        if not len(places):
            return int(found.sum())
        found[places] = agreed(agree, levels[places], others[start[places] + step])
        step += 1


def near_sample(one: Vector, two: Vector, agree: Agreement) -> float:
    """The most that the smaller share of agreeing values can be, by some of the numbers of each column."""
    return min(_near_most(one, two, agree), _near_most(two, one, agree))


def _near_most(one: Vector, two: Vector, agree: Agreement) -> float:
    levels = one.levels
    if len(levels) <= _SAMPLE:
        return 1.0
    drawn = levels[np.sort(np.random.default_rng(len(levels)).integers(0, len(levels), _SAMPLE))]
    others = len(one.distinct) - len(levels)
    share = _most(near(drawn, two.levels, agree), _SAMPLE)
    return (share * len(levels) + others) / len(one.distinct)
