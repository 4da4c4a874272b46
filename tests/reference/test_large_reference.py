"""Large results are compared on arrays of words: the same answers as cell by cell, on random data."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables import arrow, exact, rows
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
    made = pa.table(dict(table))
    return Relation(columns=relation_of(made).columns, arrow=made)


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


@pytest.mark.parametrize("polars", [True, False], ids=["with polars", "without"])
def test_what_is_plainly_the_same_is_the_same(polars: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if polars:
        pytest.importorskip("polars")
    monkeypatch.setattr(arrow, "has_polars", lambda: polars)
    monkeypatch.setattr(rows, "LARGE", 10**9)
    chance, shuffled, in_order = random.Random(5), 0, 0
    for _ in range(300):
        table = _table(chance, chance.randint(1, 12))
        other = table if chance.random() < 0.2 else _variant(chance, table)
        left, right = (_as_arrow(side) for side in (table, other))
        strict = TableRule(tolerance=Tolerance(mode="exact"), columns="by_position")
        ordered = TableRule(
            tolerance=Tolerance(mode="exact"), columns="by_position", order=Order(groups=range(left.height))
        )
        bag = compare_tables(_as_rows(table), _as_rows(other), strict).exact
        line = compare_tables(_as_rows(table), _as_rows(other), ordered).exact
        typed = [field.type for field in left.arrow.schema] == [field.type for field in right.arrow.schema]
        found = arrow.plainly_same(left, right, ordered=False)
        assert found <= bag, (table, other)
        assert arrow.plainly_same(left, right, ordered=True) <= line, (table, other)
        if polars and typed and not any(field.type == "null" for field in left.arrow.schema):
            assert found == bag, (table, other)
        shuffled += found and not line
        in_order += found and line
    assert in_order > 10
    assert shuffled > 10 or not polars


def test_an_integer_that_shares_the_word_of_null_is_not_null(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word of NULL, put through the inverse of the mixing, is an ordinary 64-bit integer."""
    monkeypatch.setattr(rows, "LARGE", 0)
    word = 0x5851F42D4C957F2D
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        seen = word
        for _ in range(3):
            seen = word ^ (seen >> shift)
        word = seen * pow(factor, -1, 2**64) % 2**64
    value = (word - 0x9E3779B97F4A7C15) % 2**64
    value -= 2**64 * (value >= 2**63)
    assert not compare_tables(_as_arrow({"x": [value, 1]}), _as_arrow({"x": [None, 1]})).exact


@pytest.mark.parametrize("widths", [(2, 1), (1, 2), (1, 0), (0, 1), (0, 0)])
def test_a_side_with_fewer_columns_or_none_is_aligned(widths: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 1)
    left, right = (
        Relation(columns=tuple(Column(name="ab"[p]) for p in range(width)), rows=[(n, n % 2)[:width] for n in range(4)])
        for width in widths
    )
    found = align(left, right)
    assert found.width == min(widths)
    assert compare_tables(left, right).exact == (widths[0] == widths[1])


@pytest.mark.parametrize("views", [True, False])
def test_text_in_any_layout_is_the_same_column_in_polars(views: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    if views and not arrow.exports_views():
        pytest.skip("this pyarrow does not hand views of text on")
    monkeypatch.setattr(arrow, "exports_views", lambda: views)
    texts = ["a", None, "", "longer than twelve bytes", "c\u00e9"]
    for layout in (pa.string(), pa.large_string(), pa.string_view()):
        assert arrow.in_polars(pa.chunked_array([pa.array(texts, layout)])).to_list() == texts


@pytest.mark.parametrize("polars", [True, False])
def test_arrow_on_one_side_alone_has_the_same_words(polars: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr("sqlassay.tables.large.has_polars", lambda: polars)
    moment = datetime(2020, 1, 1, 12)
    cells: dict[str, list[Any]] = {
        "id": [1, 2, 3],
        "text": ["a", None, "b"],
        "date": [date(2020, 1, 1), date(2021, 1, 1), None],
        "moment": [moment, None, moment.replace(microsecond=1)],
        "price": [Decimal("1.50"), None, Decimal("0.25")],
        "bytes": [b"a", b"", None],
        "flag": [True, False, None],
    }
    turned = {name: values[::-1] for name, values in cells.items()}
    for left, right in ((_as_arrow(cells), _as_rows(turned)), (_as_rows(turned), _as_arrow(cells))):
        assert compare_tables(left, right).exact
        assert align(left, right).matched_cells == 3 * len(cells)
        assert not compare_tables(left, _as_rows({**turned, "moment": [moment] * 3})).exact
