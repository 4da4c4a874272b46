"""The simulation in `benchmarks/interval_coverage.py`, in a short version: the intervals cover as they say."""

from __future__ import annotations

import numpy as np
import pytest

import interval_coverage as simulation
from sqlassay.summary.intervals import wilson


@pytest.mark.parametrize("name", simulation.SETTINGS)
def test_intervals_cover(name: str) -> None:
    draw, truth = simulation.SETTINGS[name]
    low = 0.86 if "= 30" in name or "20 clusters" in name else 0.92
    assert low <= simulation.coverage(draw, truth, runs=300) <= 0.99


def test_ignoring_twins_would_be_wrong() -> None:
    def blind(rng: np.random.Generator) -> tuple[float, float]:
        fate = np.repeat(rng.random(50) < 0.7, 4)
        return wilson(float(fate.sum()), 200)

    assert simulation.coverage(blind, 0.7, runs=400) < 0.8


def test_equally_good_systems_are_seldom_called_different() -> None:
    assert simulation.false_alarms(200, runs=500) <= 0.06
