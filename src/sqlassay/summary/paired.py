"""Is the difference between two runs of the same cases more than luck?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlassay.summary.intervals import REPLICATES, Z95, percentile_interval, resampled_means

_POWER80 = 0.8416212335729143
"""The 80 % point of the normal distribution."""


def mcnemar(fixed: int, broken: int) -> float:
    """Exact two-sided McNemar p-value: the sign test on cases that changed, 0..1.

    >>> mcnemar(0, 0), mcnemar(5, 5)
    (1.0, 1.0)
    >>> round(mcnemar(6, 0), 5)
    0.03125
    """
    if fixed < 0 or broken < 0:
        raise ValueError("counts of cases are not negative")
    changed, fewer = fixed + broken, min(fixed, broken)
    if changed == 0:
        return 1.0
    tail = sum(math.comb(changed, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << changed))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: which of many slices differ, with one error rate over all.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def smallest_detectable(n: int, *, changed: int) -> float | None:
    """The smallest difference in a proportion that `n` paired cases could have shown, as a share of 0..1.

    Two-sided at 5 % with 80 % power when `changed` of the cases flip; never below six cases, since five flips in
    one direction are not significant. None when fewer than six cases are paired.

    >>> smallest_detectable(5, changed=0) is None
    True
    >>> round(smallest_detectable(1000, changed=100), 3)
    0.028
    """
    if n < 6:
        return None
    return min(1.0, max(6 / n, (Z95 + _POWER80) * math.sqrt(changed) / n))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference of means (second minus first) with its 95 % interval and two-sided bootstrap p-value."""

    value: float
    interval: tuple[float, float] | None
    p: float | None


def paired_difference(
    first: Sequence[float], second: Sequence[float], *, clusters: Sequence[int], seed: int, replicates: int = REPLICATES
) -> Difference:
    """Mean of `second - first` over paired cases, resampling whole clusters with a seed.

    The p-value is twice the smaller share of resamples on one side of zero, counted with one added, so that it is
    never 0. Fewer than two clusters give no interval.

    Raises:
        ValueError: the sides differ in length or are empty.
    """
    import numpy as np

    if not first or len(first) != len(second) or len(first) != len(clusters):
        raise ValueError("paired values need equal, non-zero length")
    change = np.array(second, dtype=np.float64) - np.array(first, dtype=np.float64)
    value = float(np.sort(change).sum() / len(change))
    _, cluster = np.unique(np.array(clusters), return_inverse=True)
    groups = int(cluster.max()) + 1
    if groups < 2:
        return Difference(value=value, interval=None, p=None)
    sums = np.bincount(cluster, weights=change, minlength=groups).astype(np.float64)[:, None]
    sizes = np.bincount(cluster, minlength=groups).astype(np.float64)[:, None]
    means = resampled_means(sums, sizes, seed=seed, replicates=replicates)
    below, above = int((means <= 0).sum()), int((means >= 0).sum())
    p = min(1.0, 2 * (min(below, above) + 1) / (replicates + 1))
    return Difference(value=value, interval=percentile_interval(means)[0], p=p)
