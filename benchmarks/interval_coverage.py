"""Do the 95 % intervals hold the truth about 95 % of the time? A seeded simulation.

    python benchmarks/interval_coverage.py

prints the table of `docs/statistics.md`; the test suite runs a shorter version of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from sqlassay.summary.intervals import percentile_interval, resampled_means, wilson
from sqlassay.summary.paired import mcnemar, paired_difference

Draw = Callable[[np.random.Generator], tuple[float, float]]
"""One experiment: the ends of its interval."""


def proportion(n: int, p: float) -> Draw:
    return lambda rng: wilson(float(rng.binomial(n, p)), n)


def twins(groups: int, size: int, p: float, *, alike: float) -> Draw:
    """Clusters whose members share their fate with probability `alike`."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        fate = rng.random(groups) < p
        own = rng.random((groups, size)) < p
        values = np.where(rng.random((groups, size)) < alike, fate[:, None], own)
        return bootstrap(values.sum(axis=1).astype(float), np.full(groups, float(size)), rng)

    return draw


def share_of_cells(n: int) -> Draw:
    """A skewed mean of shares: most cases 1, the rest anywhere; its true mean is 0.85."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        values = np.where(rng.random(n) < 0.7, 1.0, rng.random(n))
        return bootstrap(values, np.ones(n), rng)

    return draw


def paired(n: int, shift: float) -> Draw:
    """Two runs of the same cases whose shares differ by `shift` on average."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        ease = rng.random(n) * 0.6
        before, after = ease + rng.random(n) * 0.2, ease + shift + rng.random(n) * 0.2
        seed = int(rng.integers(1 << 32))
        found = paired_difference(before.tolist(), after.tolist(), clusters=range(n), seed=seed, replicates=400)
        assert found.interval is not None
        return found.interval

    return draw


def false_alarms(n: int, *, runs: int, seed: int = 7) -> float:
    """How often the exact test calls two equally good systems different, at the level 5 %."""
    rng = np.random.default_rng(seed)
    fixed, broken = rng.binomial(n, 0.08, size=runs), rng.binomial(n, 0.08, size=runs)
    return float(np.mean([mcnemar(int(f), int(b)) < 0.05 for f, b in zip(fixed, broken, strict=True)]))


def bootstrap(sums: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    means = resampled_means(sums[:, None], sizes[:, None], seed=int(rng.integers(1 << 32)), replicates=400)
    found = percentile_interval(means)[0]
    assert found is not None
    return found


def coverage(draw: Draw, truth: float, *, runs: int, seed: int = 7) -> float:
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(runs):
        low, high = draw(rng)
        hits += low <= truth <= high
    return hits / runs


SETTINGS: dict[str, tuple[Draw, float]] = {
    "Wilson, n = 10, p = 0.5": (proportion(10, 0.5), 0.5),
    "Wilson, n = 40, p = 0.9": (proportion(40, 0.9), 0.9),
    "Wilson, n = 200, p = 0.8": (proportion(200, 0.8), 0.8),
    "Wilson, n = 1000, p = 0.98": (proportion(1000, 0.98), 0.98),
    "bootstrap, mean of shares, n = 30": (share_of_cells(30), 0.85),
    "bootstrap, mean of shares, n = 200": (share_of_cells(200), 0.85),
    "cluster bootstrap, 20 clusters of 4, alike 0.8": (twins(20, 4, 0.7, alike=0.8), 0.7),
    "cluster bootstrap, 100 clusters of 4, alike 0.8": (twins(100, 4, 0.7, alike=0.8), 0.7),
    "paired bootstrap, n = 100, difference 0": (paired(100, 0.0), 0.0),
    "paired bootstrap, n = 100, difference 0.05": (paired(100, 0.05), 0.05),
}


def main() -> int:
    for label, (experiment, truth) in SETTINGS.items():
        print(f"| {label} | {coverage(experiment, truth, runs=4000):.3f} |")
    for n in (100, 1000):
        print(f"| exact McNemar, n = {n}, no difference: false alarms | {false_alarms(n, runs=4000):.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
