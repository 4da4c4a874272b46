"""Rows that match one to one under tolerance: words, cells and trying every partner give one verdict each time.

Instances are chains, look-alike groups and gaps at the edge of what agrees, with one to three columns of numbers.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import slow_tables as slow
from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables import rows
from sqlassay.tables.encode import Coercions
from sqlassay.tables.rows import Plan, bench_of, rows_equal
from sqlassay.tables.tolerance import Agreement

Row = tuple[Any, ...]

MODES = ("plain", "guarded")
INSTANCES = 1700
"""Per mode and number of float columns; 10,200 in all."""


def _chain(chance: random.Random) -> float:
    return round(chance.randint(0, 5) * chance.choice([0.01, 0.009, 0.005]), 3)


def _far_chain(chance: random.Random) -> float:
    return round(5 + _chain(chance), 3)


def _edge(chance: random.Random) -> float:
    return chance.choice([0.0, 0.01, 0.02, 1.0, 1.01, 1.02, 0.1 + 0.2, 0.31, -0.0, -0.004, 0.004])


def _spread(chance: random.Random) -> float:
    return chance.uniform(1, 1.06)


def _odd(chance: random.Random) -> float | None:
    return chance.choice([None, float("nan"), float("inf"), float("-inf"), 10**400, 0.5, 0.505])


_STEPS = ([0.0, 0.01, -0.01, 0.009, -0.004], [0.0, 0.004, -0.004, 0.01, 0.0100001])


def _instance(chance: random.Random, floats: int) -> tuple[list[Row], list[Row]]:
    makers = chance.choices([_chain, _far_chain, _edge, _spread, _odd], weights=[2, 3, 2, 3, 1], k=floats)
    left: list[Row] = [(chance.choice("aab"), *(make(chance) for make in makers)) for _ in range(chance.randint(1, 7))]
    steps = chance.choice(_STEPS)
    right = [
        (
            key,
            *(
                cell if not cell or type(cell) is int or chance.random() < 0.3 else cell + chance.choice(steps)
                for cell in cells
            ),
        )
        for key, *cells in left
    ]
    if chance.random() < 0.2:
        right[chance.randrange(len(right))] = chance.choice(left)
    chance.shuffle(right)
    return left, right


def _relation(table: list[Row]) -> Relation:
    return Relation(columns=tuple(Column(name=f"c{n}") for n in range(len(table[0]))), rows=table)


def _verdict(left: Relation, right: Relation, agree: Agreement) -> bool:
    plan = Plan(required=left.height)
    bench = bench_of(left, right, plan=plan, agree=agree, coercions=Coercions())
    return rows_equal(bench, [(n, n) for n in range(left.width)])


@pytest.mark.parametrize("floats", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
def test_every_instance_has_the_verdict_of_trying_every_partner(
    mode: Any, floats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, agree = random.Random(f"{mode} {floats}"), Agreement(Tolerance(mode=mode))
    verdicts: Counter[bool] = Counter()
    sorted_fails = 0
    for _ in range(INSTANCES):
        left, right = _instance(chance, floats)
        wanted = slow.rows_equal(left, right, range(floats + 1), mode)
        sides = _relation(left), _relation(right)
        monkeypatch.setattr(rows, "LARGE", 10**9)
        assert _verdict(*sides, agree) == wanted, (left, right)
        monkeypatch.setattr(rows, "LARGE", 0)
        assert _verdict(*sides, agree) == wanted, (left, right)
        verdicts[wanted] += 1
        sorted_fails += wanted and not _sorted_pairing(left, right, mode)
    assert min(verdicts[True], verdicts[False]) > INSTANCES / 10
    assert sorted_fails > 10 or floats == 1


def _sorted_pairing(left: list[Row], right: list[Row], mode: str) -> bool:
    order = [sorted(side, key=lambda row: tuple(map(repr, row))) for side in (left, right)]
    return all(
        all(slow.agrees(x, y, mode, loose=place > 0) for place, (x, y) in enumerate(zip(a, b, strict=True)))
        for a, b in zip(*order, strict=True)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("floats", [1, 2, 3])
def test_a_thousand_rows_in_few_groups(mode: Any, floats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense groups, where sorted pairing of several columns fails and blocks have to be matched."""
    monkeypatch.setattr(rows, "LARGE", 0)
    chance, agree = np.random.default_rng(floats), Agreement(Tolerance(mode=mode))
    keys = chance.integers(0, 4, 1000)
    numbers = [chance.random(1000) * 20 + 1 for _ in range(floats)]
    order = chance.permutation(1000)
    moved = [(column + chance.uniform(-0.0099, 0.0099, 1000))[order] for column in numbers]
    left = list(zip(keys.tolist(), *(column.tolist() for column in numbers), strict=True))
    right = list(zip(keys[order].tolist(), *(column.tolist() for column in moved), strict=True))
    assert _verdict(_relation(left), _relation(right), agree)
    spoiled = [(key, first + 0.2 * (place == 17), *rest) for place, (key, first, *rest) in enumerate(right)]
    assert not _verdict(_relation(left), _relation(spoiled), agree)


@pytest.mark.parametrize("large", [0, 10**9])
def test_identical_rows_are_not_taken_out_first(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", large)
    agree = Agreement(Tolerance(mode="plain"))
    left, right = [("a", 0.0, 5.0), ("a", 0.009, 5.0)], [("a", 0.009, 5.0), ("a", 0.018, 5.0)]
    assert _verdict(_relation(left), _relation(right), agree)
    assert not _verdict(_relation(left), _relation([right[0], ("a", 0.02, 5.0)]), agree)
