"""Where do two arrays of numbers agree under tolerance? In floats where these cannot be wrong, exactly at the edge.

The rule is that of `tables.tolerance`; the arrays hold finite numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.cells import is_number
from sqlassay.tables.places import Numbers, Places
from sqlassay.tables.tolerance import Agreement

_EXACT: Final = 2**53
_FLOATS: Final = 1e300
_BLOCK: Final = 1 << 15
"""Numbers looked at together: few enough that what is made of them stays in the cache."""


def agreed(agree: Agreement, left: Numbers, right: Numbers) -> NDArray[np.bool_]:
    """Where the numbers of two arrays agree, place by place.

    >>> from sqlassay.records.case import Tolerance
    >>> agreed(Agreement(Tolerance()), np.array([1.0, 1.0, 0.001]), np.array([1.01, 1.011, 0.009])).tolist()
    [True, False, False]
    """
    found = np.empty(len(left), dtype=bool)
    for block in _blocks(len(left)):
        found[block] = _agreed(agree, left[block], right[block])
    return found


def all_agree(agree: Agreement, left: Numbers, right: Numbers) -> bool:
    """Whether the numbers agree at every place."""
    return all(bool(_agreed(agree, left[block], right[block]).all()) for block in _blocks(len(left)))


def all_near(agree: Agreement, left: Numbers, right: Numbers) -> bool:
    """Whether no gap between the numbers is wider than any that agrees."""
    return all(
        bool((np.abs(left[block] - right[block]) <= reach(agree, left[block], right[block])).all())
        for block in _blocks(len(left))
    )


def reach(agree: Agreement, left: Numbers, right: Numbers) -> Any:
    """A gap that no agreeing pair exceeds, place by place."""
    flat, size = agree.flat, np.maximum(np.abs(left), np.abs(right))
    if flat is not None:
        return flat * (1 + 1e-9) + size * 1e-14
    return np.maximum(agree.narrowest, agree.share * size) * (1 + 1e-6) + size * 1e-14


def couples_agree(agree: Agreement, values: Sequence[Any], one: Places, two: Places) -> NDArray[np.bool_]:
    """Where the normal forms at two lists of places in `values` agree; those that floats do not hold are asked apart.

    >>> from sqlassay.records.case import Tolerance
    >>> places = np.array([0, 1, 2, 2]), np.array([1, 2, 3, 2])
    >>> couples_agree(Agreement(Tolerance()), [5.0, 5.004, None, 5], *places).tolist()
    [True, False, False, True]
    """
    floats = np.array([float(cell) if _is_plain(cell) else np.nan for cell in values], dtype=np.float64)
    left, right = floats[one], floats[two]
    plain = np.isfinite(left) & np.isfinite(right)
    found = np.zeros(len(one), dtype=bool)
    found[plain] = agreed(agree, left[plain], right[plain])
    odd = np.flatnonzero(~plain)
    if len(odd):
        couples, back = np.unique(one[odd] * len(values) + two[odd], return_inverse=True)
        holds = [agree(values[couple // len(values)], values[couple % len(values)]) for couple in couples.tolist()]
        found[odd] = np.array(holds, dtype=bool)[back]
    return found


def closeness(agree: Agreement, values: Sequence[Any]) -> NDArray[np.bool_]:
    """Which of some distinct normal forms agree with which, as a square of truths."""
    found = np.eye(len(values), dtype=bool)
    numbers = [place for place, cell in enumerate(values) if is_number(cell) and abs(cell) < _FLOATS]
    floats = np.array([float(values[place]) for place in numbers], dtype=np.float64)
    order = np.argsort(floats)
    floats, places = floats[order], np.array(numbers, dtype=np.int64)[order]
    far = reach(agree, floats, floats) * (1 + 1e-6)
    start, stop = np.searchsorted(floats, floats - far), np.searchsorted(floats, floats + far, side="right")
    count = stop - start
    one = np.repeat(np.arange(len(floats)), count)
    two = np.arange(len(one)) + np.repeat(start - np.cumsum(count) + count, count)
    found[places[one], places[two]] = couples_agree(agree, values, places[one], places[two])
    others = sorted({*range(len(values))} - {*numbers})
    for place, other in combinations(others, 2):
        found[place, other] = found[other, place] = agree(values[place], values[other])
    return found


def _is_plain(cell: Any) -> bool:
    return (type(cell) is float and isfinite(cell)) or (type(cell) is int and abs(cell) < _EXACT)


def _blocks(height: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, height, _BLOCK))


def _agreed(agree: Agreement, left: Numbers, right: Numbers) -> NDArray[np.bool_]:
    """The same at once; what floats cannot decide is asked one by one."""
    gap, size = np.abs(left - right), np.maximum(np.abs(left), np.abs(right))
    slack = size * 1e-14 + 1e-15
    sure: NDArray[np.bool_] = left == right
    if agree.mode in ("plain", "guarded"):
        limit = np.maximum(agree.narrowest, agree.share * size)
        inside = gap < limit - slack
        if agree.mode == "guarded":
            inside &= gap < 0.1 * size - slack
        sure |= inside
    doubtful = np.flatnonzero(~sure & (gap <= reach(agree, left, right)))
    if len(doubtful):
        known, holds = _by_millionths(agree, left[doubtful], right[doubtful])
        sure[doubtful[known]] = holds[known]
        for position in doubtful[~known].tolist():
            sure[position] = agree(float(left[position]), float(right[position]))
    return sure


def _by_millionths(agree: Agreement, left: Numbers, right: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Exact arithmetic at the edge for numbers of up to six decimals: which are decided, and how."""
    limit = agree.millionths
    if limit is None:
        return np.zeros(len(left), dtype=bool), np.zeros(len(left), dtype=bool)
    one, two = np.rint(left * 1e6), np.rint(right * 1e6)
    size = np.maximum(np.abs(one), np.abs(two))
    fits = (one / 1e6 == left) & (two / 1e6 == right) & (size < 1e14)
    gap = np.abs(one - two)
    if agree.mode == "plain":
        return fits, gap <= limit
    inside = gap * 10 <= size
    return fits & ((gap > limit) | inside), (gap <= limit) & inside
