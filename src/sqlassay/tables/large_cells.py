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
from sqlassay.tables.places import Places, Words
from sqlassay.tables.shelves import Tally, tally, whole_rows
from sqlassay.tables.small_shelves import shelved, small_shelves
from sqlassay.tables.vectors import row_words


def matched_cells(bench: LargeBench, pairs: Sequence[Pair], key: tuple[Pair, ...] | None, *, limit: int) -> Tally:
    """Matched cells over the paired columns (specification section 5.3)."""
    if key is None:
        return _without_key(bench, pairs)
    others = [(pair.reference, pair.candidate) for pair in pairs if pair not in key]

    def score(one: Places, two: Places) -> NDArray[np.int32]:
        cells = np.full(len(one), len(key), dtype=np.int32)
        for i, j in others:
            cells += bench.close_cells(i, j, one, two)
        return cells

    words = _key_words(bench, key, 0), _key_words(bench, key, 1)
    shelves = shelved(*words)
    total, done = small_shelves(shelves, score)
    rest = shelves.rest(done)
    if not len(rest.here):
        return Tally(cells=total)
    meetings = [bench.meeting(pair.reference, pair.candidate) for pair in pairs]
    tolerant = [m.tolerant and pair not in key for pair, m in zip(pairs, meetings, strict=True)]
    found = tally(
        *(_tuples(bench, pairs, tolerant, side, places) for side, places in enumerate((rest.left, rest.right))),
        keys=(words[0][rest.left].tolist(), words[1][rest.right].tolist()),
        tolerant=tolerant,
        agree=bench.agree,
        limit=limit,
    )
    return Tally(cells=total + found.cells, large=found.large)


def _without_key(bench: LargeBench, pairs: Sequence[Pair]) -> Tally:
    meetings = [bench.meeting(pair.reference, pair.candidate) for pair in pairs]
    tolerant = [meeting.tolerant for meeting in meetings]
    if any(tolerant):
        everything = [np.arange(len(bench.vectors[side][0].words)) for side in (0, 1)]
        sides = [_tuples(bench, pairs, tolerant, side, everything[side]) for side in (0, 1)]
        return Tally(cells=whole_rows(*sides, tolerant=tolerant, agree=bench.agree) * len(pairs))
    shelves = shelved(_key_words(bench, pairs, 0), _key_words(bench, pairs, 1))
    return Tally(cells=int(np.minimum(shelves.here, shelves.there).sum()) * len(pairs))


def _key_words(bench: LargeBench, pairs: Sequence[Pair], side: int) -> Words:
    columns = [bench.vectors[side][pair.candidate if side else pair.reference].words for pair in pairs]
    return columns[0] if len(columns) == 1 else row_words(columns, len(columns[0]))


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
