"""Shelves counted all at once, one by one, and by trying every way to hand out the rows: one number."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import permutations
from operator import eq
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


@pytest.mark.parametrize("mode", ["exact", "guarded", "plain"])
def test_a_shelf_of_any_size_has_the_cells_of_the_best_assignment(mode: Any) -> None:
    """Settling pairs first and summing columns up changes nothing: scipy on the plain matrix says the same."""
    from scipy.optimize import linear_sum_assignment

    chance, agree = random.Random(mode), Agreement(Tolerance(mode=mode))
    tolerant = [False, mode != "exact", mode != "exact", False]
    numbers: list[Any] = [Decimal("1.005"), None, 2, 10**400, float("inf"), *(n / 250 for n in range(40))]
    for turn in range(120):
        words = [f"w{n}" for n in range(chance.choice([2, 20, 60]))]
        left: list[Row] = [
            (chance.choice(words), chance.choice(numbers), chance.uniform(0, 3), turn)
            for _ in range(chance.randint(5, 40))
        ]
        right = [
            tuple(
                cell if chance.random() < 0.6 else chance.choice(column)
                for cell, column in zip(chance.choice(left), zip(*left, strict=True), strict=True)
            )
            for _ in range(chance.randint(5, 40))
        ]
        scores = [
            [sum(x == y or (t and agree(x, y)) for x, y, t in zip(a, b, tolerant, strict=True)) for b in right]
            for a in left
        ]
        places = linear_sum_assignment(scores, maximize=True)
        wanted = sum(scores[i][j] for i, j in zip(*places, strict=True))
        keys = [0] * len(left), [0] * len(right)
        assert shelves.tally(left, right, keys=keys, tolerant=tolerant, agree=agree, limit=100).cells == wanted


def test_most_pairs_of_a_shelf_are_settled_without_an_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.optimize

    seen: list[int] = []
    solve = scipy.optimize.linear_sum_assignment

    def watched(matrix: Any, *, maximize: bool) -> Any:
        seen.append(len(matrix))
        return solve(matrix, maximize=maximize)

    monkeypatch.setattr(scipy.optimize, "linear_sum_assignment", watched)
    chance = random.Random(3)
    left = [tuple(chance.randint(0, 50) for _ in range(5)) for _ in range(300)]
    right = [tuple(cell + 100 if chance.random() < 0.1 else cell for cell in row) for row in left]
    found = shelves.tally(
        left,
        right,
        keys=([0] * 300, [0] * 300),
        tolerant=[False] * 5,
        agree=Agreement(Tolerance(mode="exact")),
        limit=1000,
    )
    in_place = sum(sum(map(eq, one, two)) for one, two in zip(left, right, strict=True))
    assert found.cells >= in_place
    assert sum(seen) < 60
