"""How many cells are right in a large result? Rows alone on their shelf and small shelves are counted all at once.

The rest goes the way of small results, shelf by shelf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.large import LargeBench
from sqlassay.tables.pairing import Pair
from sqlassay.tables.places import Words
from sqlassay.tables.shelves import Tally, tally, whole_rows
from sqlassay.tables.small_shelves import small_shelves
from sqlassay.tables.vectors import mix

Places = NDArray[np.int64]


def matched_cells(bench: LargeBench, pairs: Sequence[Pair], key: tuple[Pair, ...] | None, *, limit: int) -> Tally:
    """Matched cells over the paired columns (specification section 5.3)."""
    if key is None:
        return _without_key(bench, pairs)
    words = [_key_words(bench, key, side) for side in (0, 1)]
    singles, shared = _shelves(words[0], words[1])
    total = 0
    for pair in pairs:
        if pair in key:
            total += len(singles[0])
        else:
            total += int(bench.close_cells(pair.reference, pair.candidate, *singles).sum())
    if not len(shared[0]):
        return Tally(cells=total)
    known = np.unique(words[0][shared[0]])
    shelves = [np.searchsorted(known, words[side][shared[side]]) for side in (0, 1)]

    def score(one: Places, two: Places) -> Places:
        cells = np.full(len(one), len(key), dtype=np.int64)
        for pair in pairs:
            if pair not in key:
                cells += bench.close_cells(pair.reference, pair.candidate, shared[0][one], shared[1][two])
        return cells

    found_cells, done = small_shelves(shelves[0], shelves[1], len(known), score)
    total += found_cells
    shared = (shared[0][~done[shelves[0]]], shared[1][~done[shelves[1]]])
    if not len(shared[0]):
        return Tally(cells=total)
    meetings = [bench.meeting(pair.reference, pair.candidate) for pair in pairs]
    tolerant = [m.tolerant and pair not in key for pair, m in zip(pairs, meetings, strict=True)]
    found = tally(
        *(_tuples(bench, pairs, tolerant, side, shared[side]) for side in (0, 1)),
        keys=(words[0][shared[0]].tolist(), words[1][shared[1]].tolist()),
        tolerant=tolerant,
        agree=bench.agree,
        limit=limit,
    )
    return Tally(cells=total + found.cells, large=found.large)


def _without_key(bench: LargeBench, pairs: Sequence[Pair]) -> Tally:
    meetings = [bench.meeting(pair.reference, pair.candidate) for pair in pairs]
    tolerant = [meeting.tolerant for meeting in meetings]
    everything = [np.arange(len(bench.vectors[side][0].words)) for side in (0, 1)]
    if any(tolerant):
        sides = [_tuples(bench, pairs, tolerant, side, everything[side]) for side in (0, 1)]
        return Tally(cells=whole_rows(*sides, tolerant=tolerant, agree=bench.agree) * len(pairs))
    rows = [_key_words(bench, pairs, side) for side in (0, 1)]
    (one, counts), (two, others) = (np.unique(side, return_counts=True) for side in rows)
    _, left, right = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    return Tally(cells=int(np.minimum(counts[left], others[right]).sum()) * len(pairs))


def _key_words(bench: LargeBench, pairs: Sequence[Pair], side: int) -> Words:
    positions = [pair.candidate if side else pair.reference for pair in pairs]
    words = bench.vectors[side][positions[0]].words
    for position in positions[1:]:
        words = mix(words ^ bench.vectors[side][position].words) + words
    return words


def _shelves(reference: Words, candidate: Words) -> tuple[tuple[Places, Places], tuple[Places, Places]]:
    """Rows alone on their shelf on both sides, paired; and the rows of all shelves that hold more."""
    one, left_counts = np.unique(reference, return_counts=True)
    two, right_counts = np.unique(candidate, return_counts=True)
    common, at_left, at_right = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    single = (left_counts[at_left] == 1) & (right_counts[at_right] == 1)
    return (
        (_at(reference, common[single]), _at(candidate, common[single])),
        (_within(reference, common[~single]), _within(candidate, common[~single])),
    )


def _at(words: Words, wanted: Words) -> Places:
    """Where each wanted word, which occurs once, stands."""
    order = np.argsort(words)
    return order[np.searchsorted(words, wanted, sorter=order)]


def _within(words: Words, wanted: Words) -> Places:
    """The rows whose word is among the wanted ones."""
    if not len(wanted):
        return np.empty(0, dtype=np.int64)
    places = np.searchsorted(wanted, words)
    places[places == len(wanted)] = 0
    return np.flatnonzero(wanted[places] == words)


def _tuples(
    bench: LargeBench, pairs: Sequence[Pair], tolerant: Sequence[bool], side: int, places: Places
) -> list[tuple[Any, ...]]:
    """Rows as small Python values that compare as their cells do."""
    columns: list[list[Any]] = []
    for pair, loose in zip(pairs, tolerant, strict=True):
        vector = bench.vectors[side][pair.candidate if side else pair.reference]
        words = vector.words[places].tolist()
        if loose:
            assert vector.numbers is not None
            numbers = vector.numbers[places]
            free = np.isfinite(numbers).tolist()
            columns.append(
                [n if finite else ("word", w) for n, w, finite in zip(numbers.tolist(), words, free, strict=True)]
            )
        else:
            columns.append(words)
    return list(zip(*columns, strict=True))
