"""Places of words in ascending order: what a stable sort gives, also where words share their high bits."""

from __future__ import annotations

import numpy as np
import pytest

from sqlassay.tables.places import ascending, distinct, starts


@pytest.mark.parametrize("shift", [0, 20, 50, 58])
@pytest.mark.parametrize("height", [0, 1, 2, 3, 1000, 4097])
def test_places_are_those_of_a_stable_sort(shift: int, height: int) -> None:
    chance = np.random.default_rng(shift + height)
    words = chance.integers(0, 2**63, height).astype(np.uint64) >> np.uint64(shift)
    words[: height // 3] |= np.uint64(2**63)
    places, ordered = ascending(words)
    assert places.tolist() == np.argsort(words, kind="stable").tolist()
    assert ordered.tolist() == sorted(words.tolist())


def test_two_runs_that_share_their_high_bits_are_both_put_right() -> None:
    words = np.array([9, 1, 2**63 + 5, 2**40, 2**63 + 3, 9, 0, 2**63 + 4], dtype=np.uint64)
    places, ordered = ascending(words)
    assert ordered.tolist() == sorted(words.tolist())
    assert places.tolist() == [6, 1, 0, 5, 3, 4, 7, 2]


def test_starts_and_distinct_of_nothing() -> None:
    nothing = np.array([], dtype=np.uint64)
    assert starts(nothing).tolist() == []
    assert distinct(nothing).tolist() == []
