"""Shelves counted all at once, one by one, and by trying every way to hand out the rows: one number."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest

from sqlassay.records.case import Tolerance
from sqlassay.tables import shelves
from sqlassay.tables.tolerance import Agreement

Row = tuple[Any, ...]


def best(left: list[Row], right: list[Row], agree: Agreement, tolerant: list[bool]) -> int:
    if len(left) > len(right):
        left, right = right, left

    def cells(a: Row, b: Row) -> int:
        return sum(x == y or (loose and agree(x, y)) for x, y, loose in zip(a, b, tolerant, strict=True))

    return max(
        sum(cells(row, right[place]) for row, place in zip(left, places, strict=True))
        for places in permutations(range(len(right)), len(left))
    )


@pytest.mark.parametrize("mode", ["exact", "guarded", "plain"])
def test_all_at_once_and_one_by_one_agree(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, agree = random.Random(mode), Agreement(Tolerance(mode=mode))
    tolerant = [False, mode != "exact", mode != "exact"]
    kinds: list[list[Any]] = [[1, "a", None], [0.0, 0.008, 0.016, 1.0, None], [1.0, 1.01, 2.0]]
    for _ in range(150):
        sides = [[tuple(map(chance.choice, kinds)) for _ in range(chance.randint(1, 24))] for _ in range(2)]
        keys = [[chance.choice(["x", "y", None, 5, 6, 7]) for _ in side] for side in sides]
        wanted = 0
        for key in set(keys[0]) & set(keys[1]):
            left, right = (
                [r for r, k in zip(s, ks, strict=True) if k == key] for s, ks in zip(sides, keys, strict=True)
            )
            if min(len(left), len(right)) > 3 and max(len(left), len(right)) > 6:
                break
            wanted += best(left, right, agree, tolerant)
        else:
            for limit in (0, 10**9):
                monkeypatch.setattr(shelves, "_AT_ONCE", limit)
                found = shelves.tally(
                    sides[0], sides[1], keys=(keys[0], keys[1]), tolerant=tolerant, agree=agree, limit=100
                )
                assert (found.cells, found.large) == (wanted, False), (sides, keys)
