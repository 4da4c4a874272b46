"""The simulation in `benchmarks/interval_coverage.py`, in a short version: the intervals cover as they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sqlassay.summary.intervals import wilson

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"


def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("interval_coverage", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SIMULATION = simulation()


@pytest.mark.parametrize("name", SIMULATION.SETTINGS)
def test_intervals_cover(name: str) -> None:
    draw, truth = SIMULATION.SETTINGS[name]
    low = 0.86 if "= 30" in name or "20 clusters" in name else 0.92
    assert low <= SIMULATION.coverage(draw, truth, runs=300) <= 0.99


def test_ignoring_twins_would_be_wrong() -> None:
    def blind(rng: np.random.Generator) -> tuple[float, float]:
        fate = np.repeat(rng.random(50) < 0.7, 4)
        return wilson(float(fate.sum()), 200)

    assert SIMULATION.coverage(blind, 0.7, runs=400) < 0.8


def test_equally_good_systems_are_seldom_called_different() -> None:
    assert SIMULATION.false_alarms(200, runs=500) <= 0.06
