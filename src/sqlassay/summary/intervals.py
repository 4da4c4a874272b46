"""How sure is a mean: Wilson's interval for proportions, a seeded cluster bootstrap for everything else."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""

REPLICATES = 1000
"""Bootstrap resamples behind every interval."""

_BLOCK = 2_000_000
"""Resampled weights held at once (16 MB), whatever the number of cases."""


def wilson(hits: float, n: float, *, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for a proportion of `hits` in `n`, both ends within 0..1.

    Raises:
        ValueError: `n` is not above 0, or `hits` lies outside 0..n.

    >>> low, high = wilson(8, 10)
    >>> f"{low:.4f} {high:.4f}"
    '0.4902 0.9433'
    """
    if not n > 0:
        raise ValueError("an interval needs at least one observation")
    if not 0 <= hits <= n:
        raise ValueError(f"hits {hits} outside 0..{n}")
    share = hits / n
    spread = z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == n else min(1.0, middle + half)
    return low, high


def clusters(ids: Sequence[str], twins: Iterable[frozenset[str]]) -> list[int]:
    """The cluster of each id, numbered in order of first appearance: the ids of a group of twins share one.

    Being a twin is taken as transitive, so that clusters never overlap.

    >>> clusters(["a", "b", "c"], [frozenset({"a", "c"})])
    [0, 1, 0]
    """
    known = set(ids)
    parent = {name: name for name in ids}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for group in twins:
        there = list(group & known)
        for name in there[1:]:
            parent[root(name)] = root(there[0])
    numbers: dict[str, int] = {}
    return [numbers.setdefault(root(name), len(numbers)) for name in ids]


def seed_of(seed: int, *parts: str) -> int:
    """A seed for one random step, made from the run's seed and the step's name.

    >>> seed_of(1, "category", "filter") == seed_of(1, "category", "join")
    False
    """
    text = "\x1f".join([str(seed), *parts])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def resampled_means(
    sums: NDArray[np.float64], counts: NDArray[np.float64], *, seed: int, replicates: int = REPLICATES
) -> NDArray[np.float64]:
    """Means of every column over resampled clusters: `replicates` rows, one column per column of `sums`.

    `sums` and `counts` hold, per cluster (row) and metric (column), the sum of the case values and how many there
    are. A resample in which a metric has no case is NaN.
    """
    import numpy as np

    size, width = sums.shape
    generator = np.random.default_rng(seed)
    both = np.ascontiguousarray(np.concatenate([sums, counts], axis=1))
    means = np.empty((replicates, width))
    step = max(1, _BLOCK // max(size, 1))
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        drawn = generator.integers(0, size, size=(rows, size)) + (np.arange(rows) * size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)
        totals = weights @ both
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + rows] = totals[:, :width] / totals[:, width:]
    return means


def percentile_interval(means: NDArray[np.float64], *, level: float = 0.95) -> list[tuple[float, float] | None]:
    """The percentile interval of each column of `resampled_means`; None for a column that is NaN throughout."""
    import numpy as np

    tail = (1 - level) / 2 * 100
    known = ~np.isnan(means)
    ends: list[tuple[float, float] | None] = [None] * means.shape[1]
    whole = np.flatnonzero(known.all(axis=0))
    if len(whole):
        lows, highs = np.percentile(means[:, whole], [tail, 100 - tail], axis=0)
        for index, low, high in zip(whole.tolist(), lows.tolist(), highs.tolist(), strict=True):
            ends[index] = (low, high)
    for index in np.flatnonzero(known.any(axis=0) & ~known.all(axis=0)).tolist():
        low, high = np.percentile(means[known[:, index], index], [tail, 100 - tail])
        ends[index] = (float(low), float(high))
    return ends
