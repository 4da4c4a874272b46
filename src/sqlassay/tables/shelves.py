"""How many cells are right once rows are put on the shelf of their key? (specification section 5.3)

Each shelf is an assignment problem: its candidate rows are given to its reference rows so that matched cells are most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

from sqlassay.tables.matching import _edges, _matching, skeleton
from sqlassay.tables.tolerance import Agreement

Row = tuple[Any, ...]

_TRY_ALL: Final = 4
_AT_ONCE: Final = 2000
"""Reference rows from which small shelves are counted all at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Matched cells over all shelves, and whether one shelf was too large for an exact assignment."""

    cells: int
    large: bool = False


def tally(
    reference: Sequence[Row],
    candidate: Sequence[Row],
    *,
    keys: tuple[Sequence[Any], Sequence[Any]],
    tolerant: Sequence[bool],
    agree: Agreement,
    limit: int,
) -> Tally:
    """Matched cells of the rows (paired columns only, in one order), shelf by shelf.

    A shelf with more than `limit` rows on a side is solved by a bound: identical rows first, then the rest paired in
    sorted order. That is an assignment, so the bound never counts more cells than the best one.
    """
    score = scorer(tolerant, agree)
    cells = 0
    if len(reference) >= _AT_ONCE:
        cells, (reference, candidate), keys = _at_once(reference, candidate, keys, tolerant, agree)
    shelves: dict[Any, tuple[list[Row], list[Row]]] = {}
    for key, row in zip(keys[0], reference, strict=True):
        shelf = shelves.get(key)
        if shelf is None:
            shelves[key] = shelf = ([], [])
        shelf[0].append(row)
    for key, row in zip(keys[1], candidate, strict=True):
        shelf = shelves.get(key)
        if shelf is not None:
            shelf[1].append(row)
    large = False
    exact = not any(tolerant)
    for left, right in shelves.values():
        if not right:
            continue
        if len(left) == 1 and len(right) == 1:
            cells += score(left[0], right[0])
            continue
        if max(len(left), len(right)) > limit:
            large = True
            cells += _bounded(left, right, score)
            continue
        cells += _assigned(left, right, score, tolerant, agree, exact=exact)
    return Tally(cells=cells, large=large)


def _at_once(
    reference: Sequence[Row],
    candidate: Sequence[Row],
    keys: tuple[Sequence[Any], Sequence[Any]],
    tolerant: Sequence[bool],
    agree: Agreement,
) -> tuple[int, tuple[Sequence[Row], Sequence[Row]], tuple[Sequence[Any], Sequence[Any]]]:
    """Matched cells on all small shelves in one pass, and the rows and keys of the others."""
    import numpy as np

    from sqlassay.tables.small_shelves import by_codes, small_shelves

    numbers: dict[Any, int] = {}
    here = [numbers.setdefault(key, len(numbers)) for key in keys[0]]
    there = [numbers.get(key, len(numbers)) for key in keys[1]]
    score = by_codes(reference, candidate, tolerant, agree)
    count = len(numbers) + 1
    cells, done = small_shelves(np.array(here), np.array(there, dtype=np.int64), count, score)
    open_ = [not finished for finished in done.tolist()]
    left = [row for row, shelf in zip(reference, here, strict=True) if open_[shelf]]
    right = [row for row, shelf in zip(candidate, there, strict=True) if open_[shelf]]
    return cells, (left, right), ([n for n in here if open_[n]], [n for n in there if open_[n]])


def scorer(tolerant: Sequence[bool], agree: Agreement) -> Callable[[Row, Row], int]:
    """Counts the cells in which two rows agree."""
    if not any(tolerant):
        return lambda a, b: sum(map(_equal, a, b))
    flags = list(tolerant)

    def score(a: Row, b: Row) -> int:
        return sum(x == y or (loose and agree(x, y)) for x, y, loose in zip(a, b, flags, strict=True))

    return score


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


def _cancel(left: Sequence[Row], right: Sequence[Row]) -> tuple[int, list[Row], list[Row]]:
    """Take equal rows out on both sides; keeps the optimum where no cell is compared with tolerance."""
    counts: dict[Row, int] = {}
    for row in left:
        counts[row] = counts.get(row, 0) + 1
    rest, same = [], 0
    for row in right:
        if counts.get(row):
            counts[row] -= 1
            same += 1
        else:
            rest.append(row)
    return same, [row for row, count in counts.items() for _ in range(count)], rest


def _assigned(
    left: Sequence[Row],
    right: Sequence[Row],
    score: Callable[[Row, Row], int],
    tolerant: Sequence[bool],
    agree: Agreement,
    *,
    exact: bool,
) -> int:
    done = 0
    if exact:
        same, left, right = _cancel(left, right)
        done = same * len(tolerant)
    if not left or not right:
        return done
    if len(left) > len(right):
        left, right = right, left
    if len(left) == 1:
        return done + max(score(left[0], row) for row in right)
    if len(right) <= _TRY_ALL:
        table = [[score(a, b) for b in right] for a in left]
        return done + max(
            sum(table[i][j] for i, j in enumerate(places)) for places in permutations(range(len(right)), len(left))
        )
    return done + _solved(left, right, tolerant, agree)


def _solved(left: Sequence[Row], right: Sequence[Row], tolerant: Sequence[bool], agree: Agreement) -> int:
    """The assignment by scipy, on a matrix summed up column by column."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((len(left), len(right)), dtype=np.uint8 if len(tolerant) < 255 else np.int32)
    for column, loose in enumerate(tolerant):
        codes: dict[Any, int] = {}
        a = np.fromiter((codes.setdefault(row[column], len(codes)) for row in left), dtype=np.int64, count=len(left))
        b = np.fromiter((codes.setdefault(row[column], len(codes)) for row in right), dtype=np.int64, count=len(right))
        if loose:
            values = list(codes)
            close = np.array([[agree(x, y) for y in values] for x in values], dtype=bool)
            matrix += close[a[:, None], b[None, :]]
        else:
            small = np.uint8 if len(codes) < 256 else np.uint16 if len(codes) < 65536 else np.int64
            matrix += a.astype(small)[:, None] == b.astype(small)[None, :]
    chosen = linear_sum_assignment(matrix, maximize=True)
    return int(matrix[chosen].sum(dtype=np.int64))


def _bounded(left: Sequence[Row], right: Sequence[Row], score: Callable[[Row, Row], int]) -> int:
    cells = len(left[0])
    same, left, right = _cancel(left, right)
    cells *= same
    left, right = sorted(left, key=_sort_key), sorted(right, key=_sort_key)
    return cells + sum(score(a, b) for a, b in zip(left, right, strict=False))


def _sort_key(row: Row) -> list[tuple[str, Any]]:
    return [("", value) if type(value) is int else (type(value).__name__, repr(value)) for value in row]


def whole_rows(
    reference: Sequence[Row], candidate: Sequence[Row], *, tolerant: Sequence[bool], agree: Agreement
) -> int:
    """Rows that match whole, one to one and as many as possible: the count where no key separates the rows."""
    if not any(tolerant):
        return _cancel(reference, candidate)[0]
    groups: dict[Any, tuple[list[Row], list[Row]]] = {}
    for side, rows in enumerate((reference, candidate)):
        for row in rows:
            key = tuple(skeleton(cell) if loose else cell for cell, loose in zip(row, tolerant, strict=True))
            vector = tuple(cell for cell, loose in zip(row, tolerant, strict=True) if loose)
            groups.setdefault(key, ([], []))[side].append(vector)
    matched = 0
    for left, right in groups.values():
        if left and right:
            edges = [found for row in left if (found := _edges([row], right, agree)) is not None]
            matched += _matching([found[0] for found in edges], len(right)) if edges else 0
    return matched
