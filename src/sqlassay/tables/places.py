"""Where do the values of an array stand, ascending? A sort of words that carry their own places.

Sorting values alone is several times faster than sorting places by value, so a place is packed into the low bits of
its word; words whose high bits are the same are put right afterwards. It pays where high bits differ, as in hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Places = NDArray[np.int64]
Numbers = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)


def ascending(words: Words) -> tuple[Places, Words]:
    """The places of words in ascending order, equal words in their own order, and the words in that order.

    >>> places, ordered = ascending(np.array([7, 2, 9, 2], dtype=np.uint64))
    >>> places.tolist(), ordered.tolist()
    ([1, 3, 0, 2], [2, 2, 7, 9])
    """
    low = np.uint64((1 << max(len(words) - 1, 0).bit_length()) - 1)
    packed = (words & ~low) | np.arange(len(words), dtype=np.uint64)
    packed.sort()
    packed &= low
    places = packed.view(np.int64)
    ordered = words[places]
    wrong = np.flatnonzero(ordered[1:] < ordered[:-1])
    if len(wrong):
        _settle(words, places, ordered & ~low, wrong)
        ordered = words[places]
    return places, ordered


def _settle(words: Words, places: Places, high: Words, wrong: Places) -> None:
    """Sort the runs of equal high bits in which some word is smaller than the one before."""
    runs = distinct(high[wrong])
    marks = np.zeros(len(words) + 1, dtype=np.int8)
    marks[np.searchsorted(high, runs)] += 1
    marks[np.searchsorted(high, runs, side="right")] -= 1
    inside = np.flatnonzero(np.cumsum(marks[:-1], dtype=np.int8))
    unsettled = places[inside]
    places[inside] = unsettled[np.argsort(words[unsettled], kind="stable")]


def starts(ordered: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Where a new value begins in an array whose equal values stand together.

    >>> starts(np.array([2, 2, 7, 9, 9])).tolist()
    [True, False, True, True, False]
    """
    found = np.empty(len(ordered), dtype=bool)
    found[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=found[1:])
    return found


def distinct(ordered: NDArray[Scalar]) -> NDArray[Scalar]:
    """The distinct values of an ascending array, ascending.

    >>> distinct(np.array([2, 2, 7], dtype=np.uint64)).tolist()
    [2, 7]
    """
    return ordered[starts(ordered)]


def inverted(one: Places, two: Places) -> Places:
    """For each row of one order the row that stands at its place in another order.

    >>> inverted(np.array([2, 0, 1]), np.array([5, 6, 7])).tolist()
    [6, 7, 5]
    """
    partners = np.empty_like(one)
    partners[one] = two
    return partners


def ascending_with(keys: Words, numbers: Sequence[Numbers]) -> Places:
    """Places in ascending order of key, and of the numbers, the first before the second, where keys are equal.

    >>> ascending_with(np.array([5, 3, 5], dtype=np.uint64), [np.array([0.5, 9.0, -1.0])]).tolist()
    [1, 2, 0]
    """
    places, ordered = ascending(keys)
    first = starts(ordered)
    shared = _in_runs(first)
    if not len(numbers) or not len(shared):
        return places
    rows = places[shared]
    places[shared] = rows[_by_numbers(np.cumsum(first, dtype=np.int64)[shared], [column[rows] for column in numbers])]
    return places


def _in_runs(first: NDArray[np.bool_]) -> Places:
    """Where the values stand that are not alone in their run."""
    alone = first.copy()
    alone[:-1] &= first[1:]
    return np.flatnonzero(~alone)


def _by_numbers(groups: Places, numbers: Sequence[Numbers]) -> Places:
    """The order of rows within ascending groups: by group and the first bits of a number, ties by all of it."""
    bits = int(groups[-1]).bit_length()
    words = _monotone(numbers[0]) >> np.uint64(bits)
    words |= groups.astype(np.uint64) << np.uint64(64 - bits)
    order = np.argsort(words)
    words = words[order]
    ties = _in_runs(starts(words))
    rows = order[ties]
    order[ties] = rows[np.lexsort((*(column[rows] for column in reversed(numbers)), words[ties]))]
    return order


def _monotone(numbers: Numbers) -> Words:
    """Words in the order of the numbers."""
    bits = (numbers + 0.0).view(np.uint64)
    return bits ^ np.where(bits >> np.uint64(63), np.uint64(2**64 - 1), np.uint64(2**63))
