"""How many cells are right once rows are put on the shelf of their key? (specification section 5.3)

Each shelf is an assignment problem: its candidate rows are given to its reference rows so that matched cells are most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

from sqlassay.tables.matching import _edges, _matching, skeleton
from sqlassay.tables.tolerance import Agreement

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    from sqlassay.tables.small_shelves import by_codes, coded, shelved, small_shelves
    from sqlassay.tables.vectors import mix

    here, there, _ = coded(*keys)
    shelves = shelved(mix(here.view(np.uint64)), mix(there.view(np.uint64)))
    cells, done = small_shelves(shelves, by_codes(reference, candidate, tolerant, agree))
    rest = shelves.rest(done)
    places = rest.left.tolist(), rest.right.tolist()
    rows = [reference[place] for place in places[0]], [candidate[place] for place in places[1]]
    return cells, rows, ([keys[0][place] for place in places[0]], [keys[1][place] for place in places[1]])


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
    """The best assignment: pairs that none can better are settled first, scipy does the rest."""
    matrix = _scores(left, right, tolerant, agree)
    done = 0
    while matrix.size:
        cells, open_rows, open_columns = _settled(matrix)
        done += cells
        few = 8 * (len(open_rows) + len(open_columns)) > 7 * sum(matrix.shape)
        matrix = matrix[open_rows[:, None], open_columns]
        if few:
            break
    if not matrix.size:
        return done
    from scipy.optimize import linear_sum_assignment

    chosen = linear_sum_assignment(matrix, maximize=True)
    return done + int(matrix[chosen].sum(dtype=int))


def _scores(left: Sequence[Row], right: Sequence[Row], tolerant: Sequence[bool], agree: Agreement) -> NDArray[Any]:
    """How many cells of every two rows agree, summed up column by column."""
    import numpy as np

    from sqlassay.tables.agreed import closeness
    from sqlassay.tables.small_shelves import coded

    matrix = np.zeros((len(left), len(right)), dtype=np.uint8 if len(tolerant) < 255 else np.int32)
    for mine, theirs, loose in zip(zip(*left, strict=True), zip(*right, strict=True), tolerant, strict=True):
        a, b, values = coded(mine, theirs, numbered=True)
        assert values is not None
        if loose:
            matrix += closeness(agree, values)[a[:, None], b[None, :]]
        else:
            small = np.uint8 if len(values) < 256 else np.uint16 if len(values) < 65536 else np.int64
            matrix += a.astype(small)[:, None] == b.astype(small)[None, :]
    return matrix


def _settled(matrix: NDArray[Any]) -> tuple[int, NDArray[Any], NDArray[Any]]:
    """Cells of pairs that are in a best assignment, and the rows and columns that are left to assign.

    A pair whose score is at least the next best of its row and the next best of its column together is in one: to give
    both to each other, and their partners to one another, loses nothing. Rows and columns without a match are left out.
    """
    import numpy as np

    best = matrix.argmax(axis=1)
    rows = np.arange(len(matrix))
    score = matrix[rows, best].astype(int)
    column_best = matrix.max(axis=0).astype(int)
    open_rows, open_columns = score > 0, column_best > 0
    others = matrix.copy()
    others[rows, best] = 0
    next_in_row = others.max(axis=1).astype(int)
    rivals = np.bincount(best, minlength=matrix.shape[1])
    next_in_column = others.max(axis=0).astype(int)
    sure = (score > 0) & (rivals[best] == 1) & (score >= next_in_row + next_in_column[best])
    open_rows &= ~sure
    open_columns[best[sure]] = False
    return int(score[sure].sum()), np.flatnonzero(open_rows), np.flatnonzero(open_columns)


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
