"""Where do the values of an array stand, ascending? A sort of words that carry their own places.

Sorting values alone is several times faster than sorting places by value, so a place is packed into the low bits of
its word; words whose high bits are the same are put right afterwards. It pays where high bits differ, as in hashes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Places = NDArray[np.int64]


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


def distinct(ordered: Words) -> Words:
    """The distinct words of an ascending array, ascending.

    >>> distinct(np.array([2, 2, 7], dtype=np.uint64)).tolist()
    [2, 7]
    """
    return ordered[starts(ordered)]
