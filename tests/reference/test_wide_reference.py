"""Pairing and row key of large tables: best first, by limits and samples, finds what looking at everything finds."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables import rows, shares
from sqlassay.tables.encode import Coercions
from sqlassay.tables.keys import choose_key
from sqlassay.tables.pairing import Pair, pair_columns
from sqlassay.tables.rows import Bench, Plan, bench_of
from sqlassay.tables.rule import Facts, Links
from sqlassay.tables.tolerance import Agreement

HALF = Fraction(1, 2)


def _bench(left: list[Any], right: list[Any], mode: Any) -> Bench:
    sides = []
    for side in (left, right):
        cells = zip(*(column for _, column in side), strict=True)
        sides.append(Relation(columns=tuple(Column(name=name) for name, _ in side), rows=list(cells)))
    plan = Plan(required=len(left[0][1]))
    return bench_of(*sides, plan=plan, agree=Agreement(Tolerance(mode=mode)), coercions=Coercions())


def _columns(chance: np.random.Generator, height: int, count: int) -> list[tuple[str, list[Any]]]:
    """Columns that share many values, some or none."""
    makers: list[Any] = [
        lambda: chance.integers(0, height, height).tolist(),
        lambda: chance.integers(0, height * 10, height).tolist(),
        lambda: chance.integers(height, 2 * height, height).tolist(),
        lambda: chance.integers(0, 5, height).tolist(),
        lambda: np.round(chance.random(height) * 90, 2).tolist(),
        lambda: (chance.random(height) * 90).tolist(),
        lambda: [f"t{n}" for n in chance.integers(0, height, height).tolist()],
    ]
    return [(f"name{n}", makers[place]()) for n, place in enumerate(chance.integers(0, len(makers), count).tolist())]


def _changed(chance: np.random.Generator, columns: list[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    order = chance.permutation(len(columns)).tolist()
    changed = []
    for place, source in enumerate(order):
        name, cells = columns[source]
        spoiled = list(cells)
        foreign = chance.random() < 0.5
        other: Any = (lambda row: f"-{row}") if type(cells[0]) is str else (lambda row: -1000 - row)
        for row in chance.integers(0, len(cells), chance.integers(0, len(cells))).tolist():
            spoiled[row] = None if chance.random() < 0.1 else other(row) if foreign else spoiled[row - 1]
        changed.append((name if chance.random() < 0.3 else f"d{place}", spoiled))
    return changed


def everything(bench: Bench, names: tuple[list[str], list[str]]) -> list[tuple[int, int]]:
    """Every pair looked at in full, and the best taken first."""
    options = []
    for i in range(bench.reference.width):
        for j in range(bench.candidate.width):
            found = bench.overlap(i, j)
            if found.reference >= 2 and found.least >= HALF:
                total = found.precision + found.recall
                options.append((-found.least, -total, names[0][i] != names[1][j], i != j, i, j))
    made: list[tuple[int, int]] = []
    for *_, i, j in sorted(options):
        if all(i != k and j != m for k, m in made):
            made.append((i, j))
    return sorted(made)


@pytest.mark.parametrize("mode", ["exact", "guarded", "plain"])
def test_pairs_are_those_of_looking_at_every_pair(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    pairs = 0
    for seed in range(12):
        chance = np.random.default_rng(seed)
        left = _columns(chance, 1500, 7)
        right = _changed(chance, left)
        bench = _bench(left, right, mode)
        assert bench.large
        found = [(p.reference, p.candidate) for p in pair_columns(bench, Links(), threshold=HALF)]
        assert found == everything(bench, ([name for name, _ in left], [name for name, _ in right])), seed
        pairs += len(found)
    assert 30 < pairs < 12 * 7


@pytest.mark.parametrize("mode", ["exact", "plain"])
def test_limits_and_samples_are_never_below_the_share(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    closer = 0
    for seed in range(6):
        chance = np.random.default_rng(seed)
        left = _columns(chance, 1500, 6)
        bench = _bench(left, _changed(chance, left), mode)
        limits = {(i, j): limit for limit, i, j in bench.overlap_limits(range(6), range(6), Fraction(0))}
        for (i, j), limit in limits.items():
            least = bench.overlap(i, j).rank[0]
            assert least <= limit
            assert least <= bench.overlap_sample(i, j)
            closer += bench.overlap_sample(i, j) < limit
        kept = {(i, j) for _, i, j in bench.overlap_limits(range(6), range(6), HALF)}
        assert all(bench.overlap(i, j).least < HALF for i, j in limits.keys() - kept)
    assert closer > 20


@pytest.mark.parametrize("lengths", [(0, 5), (5, 5), (40, 3000), (3000, 40), (1500, 1700)])
def test_common_counts_what_sets_have_in_common(lengths: tuple[int, int]) -> None:
    chance = np.random.default_rng(sum(lengths))
    one, two = (np.array(sorted(set(chance.integers(0, 4000, length).tolist()))) for length in lengths)
    assert shares.common(one, two) == len({*one.tolist()} & {*two.tolist()})
    assert shares.common(one, one.copy()) == len(one)


def best_key(pairs: list[Pair], columns: list[list[Any]]) -> tuple[int, ...]:
    options = [*combinations(pairs, 1), *combinations(pairs, 2)]
    ranked = min(
        options,
        key=lambda option: (
            -len(set(zip(*(columns[p.reference] for p in option), strict=True))),
            -min(p.overlap.least for p in option),
            len(option),
            [p.reference for p in option],
        ),
    )
    return tuple(pair.reference for pair in ranked)


@pytest.mark.parametrize("large", [0, 10**9])
def test_the_row_key_is_the_best_of_all_columns_and_couples(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", large)
    singles = unique = 0
    for seed in range(25):
        chance = np.random.default_rng(seed)
        height = int(chance.integers(1800, 5000))
        sizes = 10 ** chance.uniform(0.5, 4, 6)
        columns = [chance.integers(0, int(size), height).tolist() for size in sizes]
        if seed % 2:
            columns[int(chance.integers(0, 5))] = (np.arange(height) // 50).tolist()
            columns[5] = (np.arange(height) % 50).tolist()
        if seed % 5 == 0:
            columns[int(chance.integers(0, 6))] = chance.permutation(height).tolist()
        table = [(f"c{n}", column) for n, column in enumerate(columns)]
        bench = _bench(table, table, "exact")
        pairs = [pair for pair in pair_columns(bench, Links(), threshold=HALF) if pair.reference == pair.candidate]
        key = choose_key(bench, pairs, Facts(), floor=Fraction(0))
        assert key is not None
        assert tuple(pair.reference for pair in key) == best_key(pairs, columns), seed
        singles += len(key) == 1
        unique += bench.key_count([(pair.reference, pair.candidate) for pair in key], height) == height
    assert singles >= 3
    assert unique > 10
