"""Large results are compared on arrays of words: the same answers as cell by cell, on random data."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables import exact, rows
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.handed import relation_of
from sqlassay.tables.output import align
from sqlassay.tables.rule import Order, TableRule

pa = pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def no_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_quick", lambda *_: None)


def _table(chance: random.Random, height: int) -> dict[str, list[Any]]:
    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.1 else value

    makers: list[Any] = [
        lambda: maybe(chance.randint(-2, 2)),
        lambda: maybe(chance.choice(["a", "b", "", "c\u00e9"])),
        lambda: maybe(chance.choice([0.0, -0.0, 0.004, 0.009, 0.018, 1.0, 1.01, float("nan"), float("inf")])),
        lambda: chance.choice([0, 1]),
        lambda: maybe(chance.uniform(0, 0.05)),
    ]
    return {f"c{n}": [make() for _ in range(height)] for n, make in enumerate(chance.choices(makers, k=4))}


def _variant(chance: random.Random, table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    names = list(table)
    order = list(range(len(table[names[0]])))
    chance.shuffle(order)
    columns = [[table[name][place] for place in order] for name in names]
    for _ in range(chance.randint(0, 2)):
        column = chance.choice(columns)
        place = chance.randrange(len(column))
        if type(column[place]) is float:
            column[place] += chance.choice([0.003, 0.02])
        else:
            column[place] = chance.choice(column)
    if chance.random() < 0.3:
        chance.shuffle(columns)
    if chance.random() < 0.2:
        columns = [[*column, column[0]] for column in columns]
    return dict(zip(names, columns, strict=True))


def _as_rows(table: dict[str, list[Any]]) -> Relation:
    return Relation(columns=tuple(Column(name=n) for n in table), rows=list(zip(*table.values(), strict=True)))


def _as_arrow(table: dict[str, list[Any]]) -> Relation:
    arrow = pa.table(dict(table))
    kinds = relation_of(arrow).columns
    return Relation(columns=kinds, arrow=arrow)


def _answers(left: Relation, right: Relation, mode: Any, *, ordered: bool) -> Any:
    groups = [n // 3 for n in range(left.height)] if ordered else None
    found = compare_tables(left, right, TableRule(tolerance=Tolerance(mode=mode), order=Order(groups=groups)))
    side = align(left, right, tolerance=Tolerance(mode=mode))
    return (
        (found.exact, found.by_position, found.with_extra, found.same_rows, found.ceilings),
        (side.pairs, side.key, side.matched_cells, side.unpaired),
    )


@pytest.mark.parametrize("make", [_as_rows, _as_arrow])
@pytest.mark.parametrize("mode", ["guarded", "plain", "exact"])
def test_words_and_cells_agree(make: Any, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(mode)
    equal = 0
    for turn in range(120):
        table = _table(chance, chance.randint(1, 12))
        other = _variant(chance, table)
        ordered = turn % 4 == 0
        monkeypatch.setattr(rows, "LARGE", 10**9)
        slow = _answers(_as_rows(table), _as_rows(other), mode, ordered=ordered)
        monkeypatch.setattr(rows, "LARGE", 0)
        fast = _answers(make(table), make(other), mode, ordered=ordered)
        assert fast == slow, (table, other)
        equal += fast[0][0]
    assert 10 < equal < 110


def test_words_are_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlassay.tables.encode import Coercions
    from sqlassay.tables.rows import Plan, bench_of
    from sqlassay.tables.tolerance import agreement

    monkeypatch.setattr(rows, "LARGE", 0)
    left = _as_arrow({"a": [1, 2], "b": ["x", None], "c": [0.5, 1.0]})
    bench = bench_of(left, left, plan=Plan(required=2), agree=agreement(Tolerance()), coercions=Coercions())
    assert bench.large


def test_a_swap_between_two_rows_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    left: dict[str, list[Any]] = {"x": [1, 2, 3], "y": ["a", "b", "c"]}
    assert not compare_tables(_as_arrow(left), _as_arrow({"x": [1, 2, 3], "y": ["b", "a", "c"]})).exact


@pytest.mark.parametrize("value", [-1, -2, 2**62, 2**62 + 1])
def test_neighbours_and_large_integers_stay_apart(value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    left, right = {"x": [value, None]}, {"x": [value - 1, None]}
    assert not compare_tables(_as_arrow(left), _as_arrow(right)).exact
    assert compare_tables(_as_arrow(left), _as_arrow({"x": [None, value]})).exact
