"""Do the rows of two large results match one to one when numbers may differ a little? Arrays first, cells for the rest.

What must be equal exactly is a word per row. Rows sorted by it and by their numbers are paired; where that pairing
agrees it is a proof. What fails is cut into blocks at gaps that no agreement bridges, and only such blocks are matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.agreed import agreed, reach
from sqlassay.tables.places import Numbers, Places, Words, ascending_with, inverted, starts
from sqlassay.tables.tolerance import Agreement
from sqlassay.tables.vectors import Vector, mix, same_values

Columns = Sequence[tuple[Vector, Vector]]
"""Reference and candidate columns that stand for each other."""


@dataclass(slots=True, kw_only=True)
class _Side:
    """One side's rows: what must be equal as words, numbers that may differ, and what stands where no number is."""

    words: Words
    numbers: list[Numbers]
    marks: list[Words | None]


def rows_close(agree: Agreement, keys: tuple[Words, Words], exact: Columns, tolerant: Columns) -> bool | None:
    """Whether a one-to-one matching of whole rows exists; None when two values share a word and cells must decide.

    `keys` are the words of the exact columns, row by row.
    """
    left, right = (_side(keys[side], [pair[side] for pair in tolerant]) for side in (0, 1))
    if left.words.sum(dtype=np.uint64) != right.words.sum(dtype=np.uint64):
        return False
    orders = ascending_with(left.words, left.numbers), ascending_with(right.words, right.numbers)
    groups = left.words[orders[0]]
    if not np.array_equal(groups, right.words[orders[1]]):
        return False
    partners = inverted(*orders)
    if not all(same_values(one, two, None, partners) for one, two in exact) or not _same_marks(left, right, partners):
        return None
    rows = [[numbers[order] for numbers in side.numbers] for side, order in zip((left, right), orders, strict=True)]
    holds = np.ones(len(groups), dtype=bool)
    for one, two in zip(*rows, strict=True):
        holds &= agreed(agree, one, two)
    if holds.all():
        return True
    if len(tolerant) == 1 and agree.interval:
        return False
    first = starts(groups)
    again = np.flatnonzero(~first)
    here, before = orders[0][again], orders[0][again - 1]
    if not all(same_values(one, one, here, before) for one, _ in exact):
        return None
    return _blocks_agree(agree, first, rows[0], rows[1], holds)


def _side(words: Words, columns: Sequence[Vector]) -> _Side:
    side = _Side(words=words, numbers=[], marks=[])
    for place, column in enumerate(columns):
        assert column.numbers is not None
        free = np.isfinite(column.numbers)
        if free.all():
            side.numbers.append(column.numbers)
            side.marks.append(None)
        else:
            marks = np.where(free, np.uint64(0), column.words)
            side.numbers.append(np.where(free, column.numbers, 0.0))
            side.marks.append(marks)
            side.words = np.where(free, side.words, mix((side.words ^ marks) + np.uint64(place)))
    return side


def _same_marks(left: _Side, right: _Side, partners: Places) -> bool:
    """Whether partners have NULL, NaN or the same infinity in the same places."""
    for one, two in zip(left.marks, right.marks, strict=True):
        if (one is None) != (two is None):
            return False
        if one is not None and two is not None and not np.array_equal(one, two[partners]):
            return False
    return True


def _blocks_agree(
    agree: Agreement, first: NDArray[np.bool_], left: list[Numbers], right: list[Numbers], holds: NDArray[np.bool_]
) -> bool:
    """Decide the blocks in which some sorted pair fails; `first` tells where a group begins."""
    begins = first.copy()
    high, low = np.maximum(left[0], right[0]), np.minimum(left[0], right[0])
    begins[1:] |= low[1:] - high[:-1] > reach(agree, high[:-1], low[1:])
    start = np.flatnonzero(begins)
    size = np.diff(start, append=len(begins))
    fails = np.add.reduceat(~holds, start) > 0
    if bool((fails & (size == 1)).any()):
        return False
    twos = start[fails & (size == 2)]
    for one, two in zip(left, right, strict=True):
        if not (agreed(agree, one[twos], two[twos + 1]).all() and agreed(agree, one[twos + 1], two[twos]).all()):
            return False
    many = fails & (size > 2)
    block = np.cumsum(begins) - 1
    places = np.flatnonzero(many[block])
    if not len(places):
        return True
    from sqlassay.tables.matching import bags_agree

    return bags_agree(_bag(block, left, places), _bag(block, right, places), agree)


def _bag(block: Places, numbers: list[Numbers], places: Places) -> list[tuple[Any, tuple[Any, ...]]]:
    rows = zip(*(column[places].tolist() for column in numbers), strict=True)
    return list(zip(block[places].tolist(), rows, strict=True))
