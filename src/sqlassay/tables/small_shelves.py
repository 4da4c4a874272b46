"""How many cells match on many small shelves, all of them at once? Every way to hand out up to four rows is tried.

Shelves of one size are one array: their scores are looked up pair by pair, and the best of all assignments is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.agreed import couples_agree
from sqlassay.tables.places import Places, Words, ascending, starts
from sqlassay.tables.tolerance import Agreement

Counts = NDArray[np.int64]
Score = Callable[[Places, Places], NDArray[np.integer[Any]]]
"""Matched cells of the reference rows and the candidate rows at these places, pair by pair."""

SMALL: Final = 4
"""Rows on a side up to which all assignments are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelves:
    """The rows of both sides, shelf by shelf, and how many of each side lie on every shelf."""

    left: Places
    right: Places
    here: Counts
    there: Counts

    def rest(self, done: NDArray[np.bool_]) -> Shelves:
        """The shelves that are not done."""
        return Shelves(
            left=self.left[np.repeat(~done, self.here)],
            right=self.right[np.repeat(~done, self.there)],
            here=self.here[~done],
            there=self.there[~done],
        )


def shelved(reference: Words, candidate: Words) -> Shelves:
    """Rows with equal words lie on one shelf.

    >>> found = shelved(np.array([7, 5, 7], dtype=np.uint64), np.array([9, 7], dtype=np.uint64))
    >>> found.left.tolist(), found.right.tolist(), found.here.tolist(), found.there.tolist()
    ([1, 0, 2], [1, 0], [1, 2, 0], [0, 1, 1])
    """
    places, ordered = ascending(np.concatenate([reference, candidate]))
    begins = np.flatnonzero(starts(ordered))
    right = places >= len(reference)
    there = np.add.reduceat(right, begins, dtype=np.int64) if len(begins) else begins
    return Shelves(
        left=places[~right],
        right=places[right] - len(reference),
        here=np.diff(begins, append=len(places)) - there,
        there=there,
    )


def small_shelves(shelves: Shelves, score: Score) -> tuple[int, NDArray[np.bool_]]:
    """Matched cells on all small shelves, and which shelves are done. A shelf that is empty on a side is done.

    >>> rows = np.array([7, 8, 9]), np.array([8, 7, 5])
    >>> keys = np.array([1, 1, 2], dtype=np.uint64)
    >>> cells, done = small_shelves(shelved(keys, keys), lambda one, two: (rows[0][one] == rows[1][two]).astype(int))
    >>> cells, done.tolist()
    (2, [True, True])
    """
    here, there = shelves.here, shelves.there
    left_start, right_start = np.cumsum(here) - here, np.cumsum(there) - there
    done = (here == 0) | (there == 0)
    sizes = np.where(~done & (here <= SMALL) & (there <= SMALL), here * (SMALL + 1) + there, 0).astype(np.int8)
    total = 0
    for size in np.flatnonzero(np.bincount(sizes, minlength=1)[1:]).tolist():
        tall, wide = divmod(size + 1, SMALL + 1)
        chosen = np.flatnonzero(sizes == size + 1)
        rows = shelves.left[left_start[chosen][:, None] + np.arange(tall)]
        answers = shelves.right[right_start[chosen][:, None] + np.arange(wide)]
        table = score(np.repeat(rows, wide, axis=1).ravel(), np.tile(answers, (1, tall)).ravel())
        total += int(_best(table.reshape(len(chosen), tall, wide)).sum(dtype=np.int64))
        done[chosen] = True
    return total, done


def _best(table: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The most that an assignment of rows to columns gives, for every matrix of a stack."""
    if table.shape[1] > table.shape[2]:
        table = table.transpose(0, 2, 1)
    _, tall, wide = table.shape
    cells = [[np.ascontiguousarray(table[:, i, j]) for j in range(wide)] for i in range(tall)]
    best = np.zeros(len(table), dtype=table.dtype)
    for places in permutations(range(wide), tall):
        np.maximum(best, sum(cells[i][j] for i, j in enumerate(places)), out=best)
    return best


Coded = tuple[NDArray[Any], NDArray[Any], list[Any] | None]
"""Both sides of a column as integers, equal where its cells are, and the cells that are numbered so (None: ints)."""


def coded(reference: Sequence[Any], candidate: Sequence[Any], *, numbered: bool = False) -> Coded:
    """Both sides of a column as integers, each once; `numbered` asks for cells numbered from 0.

    >>> one, two, cells = coded(["x", None, "x"], [None, "y"])
    >>> one.tolist(), two.tolist(), cells
    ([0, 1, 0], [1, 2], ['x', None, 'y'])
    """
    if not numbered and set(map(type, reference)) == {int} == set(map(type, candidate)):
        try:
            return np.array(reference, dtype=np.int64), np.array(candidate, dtype=np.int64), None
        except OverflowError:
            pass
    codes: dict[Any, int] = {}
    one, two = (
        np.fromiter((codes.setdefault(cell, len(codes)) for cell in cells), dtype=np.int64, count=len(cells))
        for cells in (reference, candidate)
    )
    return one, two, list(codes)


def by_codes(
    reference: Sequence[tuple[Any, ...]],
    candidate: Sequence[tuple[Any, ...]],
    tolerant: Sequence[bool],
    agree: Agreement,
) -> Score:
    """The score of rows given as Python values, each column coded once."""
    columns = zip(zip(*reference, strict=True), zip(*candidate, strict=True), tolerant, strict=True)
    coded_ = [(coded(left, right, numbered=loose), loose) for left, right, loose in columns]

    def score(one: Places, two: Places) -> NDArray[np.int32]:
        total = np.zeros(len(one), dtype=np.int32)
        for (left, right, values), loose in coded_:
            same = left[one] == right[two]
            if loose and values is not None:
                open_ = np.flatnonzero(~same)
                same[open_] = couples_agree(agree, values, left[one[open_]], right[two[open_]])
            total += same
        return total

    return score
