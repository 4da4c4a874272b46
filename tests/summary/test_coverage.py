"""Do the 95 % intervals hold the truth about 95 % of the time? A seeded simulation; its figures are in the docs.

Run as a program it prints the table of `docs/design/statistics.md`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sqlassay.summary.intervals import percentile_interval, resampled_means, wilson

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
}


@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover(name: str) -> None:
    draw, truth = SETTINGS[name]
    low = 0.86 if "= 30" in name or "20 clusters" in name else 0.92
    assert low <= coverage(draw, truth, runs=300) <= 0.99


def test_ignoring_twins_would_be_wrong() -> None:
    def blind(rng: np.random.Generator) -> tuple[float, float]:
        fate = np.repeat(rng.random(50) < 0.7, 4)
        return wilson(float(fate.sum()), 200)

    assert coverage(blind, 0.7, runs=400) < 0.8


if __name__ == "__main__":
    for label, (experiment, expected) in SETTINGS.items():
        print(f"| {label} | {coverage(experiment, expected, runs=4000):.3f} |")
