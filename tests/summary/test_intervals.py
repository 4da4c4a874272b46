"""Intervals and paired tests against SciPy and against slow, plain references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sqlassay.summary.intervals import clusters, percentile_interval, resampled_means, wilson
from sqlassay.summary.paired import holm, mcnemar, paired_difference, smallest_detectable


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case: tuple[int, int]) -> None:
    hits, n = case
    expected = stats.binomtest(hits, n).proportion_ci(confidence_level=0.95, method="wilson")
    low, high = wilson(hits, n)
    assert low == pytest.approx(expected.low, abs=1e-12)
    assert high == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= low <= hits / n <= high <= 1


@pytest.mark.parametrize(("hits", "n"), [(0, 0), (3, 2), (-1, 4)])
def test_wilson_refuses_what_is_no_proportion(hits: int, n: int) -> None:
    with pytest.raises(ValueError):
        wilson(hits, n)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sign_test(fixed: int, broken: int) -> None:
    expected = stats.binomtest(fixed, fixed + broken, 0.5).pvalue if fixed + broken else 1.0
    assert mcnemar(fixed, broken) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(fixed, broken) == mcnemar(broken, fixed)


def test_mcnemar_takes_thousands_of_flips() -> None:
    assert mcnemar(5200, 4800) == pytest.approx(stats.binomtest(5200, 10000, 0.5).pvalue, rel=1e-6)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_the_step_down_rule(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    m = len(p_values)
    for index, p in enumerate(p_values):
        # The textbook form: the maximum over all p-values not larger of (m - rank) * p.
        ranked = sorted(p_values)
        expected = max(
            min(1.0, (m - rank) * value) for rank, value in enumerate(ranked) if value <= p
        )  # fmt: skip
        assert adjusted[index] == pytest.approx(expected)


def test_bootstrap_is_close_to_scipys() -> None:
    values = np.random.default_rng(7).beta(2, 1, size=120)
    ours = percentile_interval(resampled_means(values[:, None], np.ones((120, 1)), seed=3, replicates=4000))[0]
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=4000, rng=5).confidence_interval
    assert ours is not None
    assert ours[0] == pytest.approx(theirs.low, abs=0.006)
    assert ours[1] == pytest.approx(theirs.high, abs=0.006)


def test_bootstrap_resamples_whole_clusters() -> None:
    # Ten clusters of ten equal values carry ten observations, not a hundred.
    values = np.repeat(np.random.default_rng(1).integers(0, 2, size=10), 10).astype(float)
    alone = percentile_interval(resampled_means(values[:, None], np.ones((100, 1)), seed=1))[0]
    sums = values.reshape(10, 10).sum(axis=1)[:, None]
    together = percentile_interval(resampled_means(sums, np.full((10, 1), 10.0), seed=1))[0]
    assert alone is not None
    assert together is not None
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])


def test_bootstrap_is_the_same_for_any_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.arange(50, dtype=float)[:, None]
    whole = resampled_means(sums, np.ones((50, 1)), seed=9, replicates=100)
    monkeypatch.setattr("sqlassay.summary.intervals._BLOCK", 120)
    assert np.array_equal(resampled_means(sums, np.ones((50, 1)), seed=9, replicates=100), whole)


def test_twins_of_twins_share_a_cluster() -> None:
    twins = [frozenset("ab"), frozenset("bc"), frozenset({"d", "gone"}), frozenset({"gone", "too"})]
    assert clusters(["d", "c", "a", "b"], twins) == [0, 1, 1, 1]
    assert clusters([], twins) == []


def test_paired_difference_sees_a_shift_and_no_shift() -> None:
    rng = np.random.default_rng(2)
    first = rng.random(200)
    shifted = paired_difference(list(first), list(first + 0.1), clusters=range(200), seed=1)
    assert shifted.value == pytest.approx(0.1)
    assert shifted.p is not None
    assert shifted.p < 0.01
    noise = paired_difference(list(first), list(rng.permutation(first)), clusters=range(200), seed=1)
    assert noise.p is not None
    assert noise.p > 0.05


def test_paired_difference_of_one_cluster_has_no_interval() -> None:
    one = paired_difference([0.0, 1.0], [1.0, 1.0], clusters=[0, 0], seed=1)
    assert (one.value, one.interval, one.p) == (0.5, None, None)


def test_smallest_detectable_is_the_normal_power_formula() -> None:
    n, changed = 400, 60
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert smallest_detectable(n, changed=changed) == pytest.approx(z * math.sqrt(changed) / n)
    assert smallest_detectable(400, changed=0) == pytest.approx(6 / 400)
