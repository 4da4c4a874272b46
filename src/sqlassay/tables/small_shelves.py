"""How many cells match on many small shelves, all of them at once? Every way to hand out up to four rows is tried.

Shelves of one size are one array: their scores are looked up pair by pair, and the best of all assignments is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.tolerance import Agreement

Places = NDArray[np.int64]
Score = Callable[[Places, Places], NDArray[np.int64]]
"""Matched cells of the reference rows and the candidate rows at these places, pair by pair."""

SMALL: Final = 4
"""Rows on a side up to which all assignments are tried."""


def small_shelves(reference: Places, candidate: Places, count: int, score: Score) -> tuple[int, NDArray[np.bool_]]:
    """Matched cells on all small shelves, and which of the `count` shelves are done.

    `reference` and `candidate` give each row's shelf, 0 to `count` - 1. A shelf that is empty on a side is done.

    >>> rows = np.array([7, 8, 9]), np.array([8, 7, 5])
    >>> cells, done = small_shelves(
    ...     np.array([0, 0, 1]), np.array([0, 0, 1]), 2, lambda one, two: (rows[0][one] == rows[1][two]).astype(int)
    ... )
    >>> cells, done.tolist()
    (2, [True, True])
    """
    here, there = np.bincount(reference, minlength=count), np.bincount(candidate, minlength=count)
    left, right = np.argsort(reference, kind="stable"), np.argsort(candidate, kind="stable")
    left_start, right_start = np.cumsum(here) - here, np.cumsum(there) - there
    done = (here == 0) | (there == 0)
    total = 0
    for tall in range(1, SMALL + 1):
        for wide in range(1, SMALL + 1):
            shelves = np.flatnonzero((here == tall) & (there == wide))
            if not len(shelves):
                continue
            rows = left[left_start[shelves][:, None] + np.arange(tall)]
            answers = right[right_start[shelves][:, None] + np.arange(wide)]
            table = score(np.repeat(rows, wide, axis=1).ravel(), np.tile(answers, (1, tall)).ravel())
            total += int(_best(table.reshape(len(shelves), tall, wide)).sum())
            done[shelves] = True
    return total, done


def _best(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most that an assignment of rows to columns gives, for every matrix of a stack."""
    if table.shape[1] > table.shape[2]:
        table = table.transpose(0, 2, 1)
    _, tall, wide = table.shape
    best = np.zeros(len(table), dtype=np.int64)
    for places in permutations(range(wide), tall):
        np.maximum(best, sum(table[:, i, j] for i, j in enumerate(places)), out=best)
    return best


def by_codes(
    reference: Sequence[tuple[Any, ...]],
    candidate: Sequence[tuple[Any, ...]],
    tolerant: Sequence[bool],
    agree: Agreement,
) -> Score:
    """The score of rows given as Python values, each column coded once."""
    coded = []
    for column, loose in enumerate(tolerant):
        codes: dict[Any, int] = {}
        sides = tuple(
            np.fromiter((codes.setdefault(row[column], len(codes)) for row in rows), dtype=np.int64, count=len(rows))
            for rows in (reference, candidate)
        )
        coded.append((sides, list(codes) if loose else None))

    def score(one: Places, two: Places) -> NDArray[np.int64]:
        total = np.zeros(len(one), dtype=np.int64)
        for (left, right), values in coded:
            same = left[one] == right[two]
            if values is not None:
                same |= _close(left[one], right[two], ~same, values, agree)
            total += same
        return total

    return score


def _close(left: Places, right: Places, open_: NDArray[np.bool_], values: list[Any], agree: Agreement) -> Any:
    """Where two different values agree, each couple of values asked once."""
    found = np.zeros(len(left), dtype=bool)
    places = np.flatnonzero(open_)
    couples, back = np.unique(left[places] * len(values) + right[places], return_inverse=True)
    holds = [agree(values[couple // len(values)], values[couple % len(values)]) for couple in couples.tolist()]
    found[places] = np.array(holds, dtype=bool)[back]
    return found
