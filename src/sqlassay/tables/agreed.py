"""Where do two arrays of numbers agree under tolerance? In floats where these cannot be wrong, exactly at the edge.

The rule is that of `tables.tolerance`; the arrays hold finite numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.places import Numbers
from sqlassay.tables.tolerance import Agreement

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
