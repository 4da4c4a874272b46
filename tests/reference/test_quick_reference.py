"""What is plain at first sight is what a close look finds, also among values that Python takes for equal."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow_tables as slow
import strategies
from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Kind, Relation
from sqlassay.records.value import Ceiling
from sqlassay.tables.comparison import DIFFERENT, Comparison
from sqlassay.tables.different import plainly_different
from sqlassay.tables.exact import _Verdict, compare_tables
from sqlassay.tables.output import align
from sqlassay.tables.quick import interchangeable, plain_verdict
from sqlassay.tables.rule import Cut, Facts, Links, Order, TableRule


class _Text(str):
    """Text of a driver's own class."""


LIKE: list[list[Any]] = [
    [0, False, 0.0, -0.0, Decimal(0), Decimal("-0")],
    [1, True, 1.0, Decimal("1"), Decimal("1.00")],
    [5, 5.0, Decimal("5.0")],
    [0.5, Decimal("0.5")],
    [0.1, Decimal("0.1"), Decimal.from_float(0.1)],
    [0.30000000000000004, Decimal.from_float(0.30000000000000004), Decimal("0.3")],
    [2**53, float(2**53), Decimal(2**53)],
    [2**60, float(2**60), Decimal(2**60), 2**60 + 1],
    [10**23, 1e23, int(1e23), Decimal("1e23")],
    [1125899906842624.25, Decimal("1125899906842624.25"), 1125899906842624.2],
    [5e-324, Decimal.from_float(5e-324)],
    ["a", "A", b"a", "a "],
    [None],
    [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))],
    [datetime(2024, 1, 1), date(2024, 1, 1), "2024-01-01"],
]
ODD: list[list[Any]] = [
    *LIKE,
    [float("nan"), float("nan"), Decimal("NaN"), Decimal("sNaN"), None],
    [float("inf"), Decimal("Infinity"), float("-inf")],
    ["a", _Text("a")],
    [[1], (1,), [True]],
    [b"a", bytearray(b"a")],
]
KINDS = st.sampled_from([*[Kind.DYNAMIC] * 6, Kind.CHAR, Kind.JSON, Kind.BOOLEAN, Kind.TEXT])
NAMES = ("a", "b", "A", "")


@st.composite
def look_alikes(draw: st.DrawFn, groups: list[list[Any]]) -> tuple[Relation, Relation]:
    """A table, and its rows again with cells of which many are `==` to what they replace."""
    width = draw(st.integers(1, 3))
    columns = [draw(st.lists(st.sampled_from(groups), min_size=1, max_size=2)) for _ in range(width)]
    rows, twins = [], []
    for _ in range(draw(st.integers(0, 5))):
        chosen = [draw(st.sampled_from(options)) for options in columns]
        rows.append(tuple(draw(st.sampled_from(cells)) for cells in chosen))
        keep = [draw(st.booleans()) for _ in chosen]
        own = zip(rows[-1], chosen, keep, strict=True)
        twins.append(tuple(cell if kept else draw(st.sampled_from(cells)) for cell, cells, kept in own))
    if draw(st.booleans()):
        twins = draw(st.permutations(twins))
    heads = [tuple(Column(name=draw(st.sampled_from(NAMES)), kind=draw(KINDS)) for _ in columns) for _ in range(2)]
    return Relation(columns=heads[0], rows=rows), Relation(columns=heads[draw(st.integers(0, 1))], rows=twins)


def _closely(reference: Relation, candidate: Relation, rule: TableRule) -> Comparison:
    return _Verdict(reference, candidate, rule).comparison()


TOLERANCES = (
    Tolerance(),
    Tolerance(mode="exact"),
    Tolerance(mode="rounding"),
    Tolerance(mode="plain"),
    Tolerance(mode="plain", abs="0", rel="1e-20"),
)
FACTS = st.sampled_from([Facts(), Facts(origins=("t.a", "t.b", "t.c")), Facts(origins=("t.b", "t.a", None))])


@settings(max_examples=1500, deadline=None)
@given(
    both=look_alikes(ODD),
    tolerance=st.sampled_from(TOLERANCES),
    columns=st.sampled_from(["any", "by_position", "by_name"]),
    ordered=st.booleans(),
    facts=st.tuples(FACTS, FACTS),
)
def test_a_close_look_finds_the_same(both: Any, tolerance: Any, columns: Any, ordered: bool, facts: Any) -> None:
    reference, candidate = both
    order = Order(groups=[n // 2 for n in range(reference.height)]) if ordered else Order()
    links = Links(reference=facts[0], candidate=facts[1])
    rule = TableRule(tolerance=tolerance, columns=columns, order=order, links=links)
    for _ in range(2):
        found = plain_verdict(reference, candidate, rule)
        assert found is None or found == _closely(reference, candidate, rule)


@settings(max_examples=800, deadline=None)
@given(both=look_alikes(LIKE), mode=st.sampled_from(["guarded", "plain", "exact"]))
def test_what_is_plain_is_equal_by_the_slow_reference(both: Any, mode: Any) -> None:
    reference, candidate = both
    rows = reference.tuples(), candidate.tuples()
    if plain_verdict(reference, candidate, TableRule(tolerance=Tolerance(mode=mode))) is not None:
        assert slow.rows_equal(*rows, range(reference.width), mode)


def _table(rows: list[tuple[Any, ...]]) -> Relation:
    return Relation(columns=tuple(Column(name=name) for name in "abcd"[: len(rows[0])]), rows=rows)


def _usual(height: int, chance: random.Random, *, spread: int) -> list[tuple[Any, ...]]:
    return [
        (chance.randint(0, spread), f"name {n % spread}", chance.randint(0, 99) / 10, chance.choice([None, 1, 0]))
        for n in range(height)
    ]


@pytest.mark.parametrize("height", [1, 10, 50, 100, 1000])
@pytest.mark.parametrize("spread", [1, 2000], ids=["duplicates", "distinct"])
def test_the_usual_right_answer_is_plain_and_one_change_is_not(height: int, spread: int) -> None:
    chance = random.Random(f"{height}{spread}")
    rows = _usual(height, chance, spread=spread)
    shuffled = chance.sample(rows, height)
    gold = _table(rows)
    for answer in (list(rows), shuffled, tuple(shuffled)):
        found = plain_verdict(gold, Relation(columns=_table(rows).columns, rows=answer), TableRule())
        assert found == _closely(gold, _table(rows), TableRule())
    place = chance.randrange(height)
    for cell in ("other", 7, True):
        broken = [*shuffled[:place], (*shuffled[place][:3], cell), *shuffled[place + 1 :]]
        assert plain_verdict(gold, _table(broken), TableRule()) is None


def test_as_many_rows_with_other_duplicates_are_not_plainly_the_same() -> None:
    for height in (6, 300):
        rows = [(n // 2, "x") for n in range(height)]
        other = [*rows[:-1], rows[0]]
        assert plain_verdict(_table(rows), _table(other), TableRule()) is None
        assert plain_verdict(_table(rows), _table(rows[::-1]), TableRule()) is not None


def test_order_and_cut_ties_are_looked_at_closely() -> None:
    gold = _table([(1, "x"), (2, "y")])
    backwards = _table([(2, "y"), (1, "x")])
    for order in (Order(groups=[0, 1]), Order(cuts=(Cut(start=1, stop=2, pool=[(2, "y"), (3, "z")]),))):
        assert plain_verdict(gold, backwards, TableRule(order=order)) is None
        assert plain_verdict(gold, _table(list(gold.rows)), TableRule(order=order)) is not None


@pytest.mark.parametrize(
    ("cell", "other", "tolerance"),
    [
        (1, True, TOLERANCES[0]),
        (0.0, False, TOLERANCES[0]),
        (Decimal("1"), True, TOLERANCES[0]),
        (0.1, Decimal.from_float(0.1), Tolerance(mode="exact")),
        (Decimal.from_float(0.1), 0.1, Tolerance(mode="exact")),
        (0.1, Decimal.from_float(0.1), Tolerance(mode="plain", abs="0", rel="1e-20")),
        (0.30000000000000004, Decimal.from_float(0.30000000000000004), Tolerance(mode="rounding")),
        (5e-324, Decimal.from_float(5e-324), TOLERANCES[0]),
        (1125899906842624.25, Decimal("1125899906842624.25"), TOLERANCES[0]),
        (2**60, float(2**60), TOLERANCES[0]),
        (float(2**60), 2**60, TOLERANCES[0]),
        (5, Decimal("sNaN"), TOLERANCES[0]),
    ],
)
@pytest.mark.parametrize("others", [1, 300])
def test_a_cell_that_python_takes_for_equal_is_looked_at_closely(
    cell: Any, other: Any, tolerance: Tolerance, others: int
) -> None:
    rest = [(n, f"name {n}") for n in range(2, others + 2)]
    rule = TableRule(tolerance=tolerance)
    gold, answer = [(cell, "x"), *rest], [(other, "x"), *rest]
    assert plain_verdict(_table(gold), _table(answer), rule) is None
    assert plain_verdict(_table(gold), _table(answer[::-1]), rule) is None
    assert plain_verdict(_table([*gold, gold[0]]), _table([*answer[::-1], answer[0]]), rule) is None


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_floats_and_decimals_among_themselves_are_plain_under_every_rule(tolerance: Tolerance) -> None:
    rows = [(0.1, Decimal("0.3"), 2**60), (1e-3, Decimal("1e-9"), -(2**60)), (None, None, None)]
    for answer in (list(rows), rows[::-1]):
        assert plain_verdict(_table(list(rows)), _table(answer), TableRule(tolerance=tolerance)) is not None


@pytest.mark.parametrize("height", [1, 1000])
def test_other_libraries_booleans_are_no_numbers_either(height: int) -> None:
    numpy = pytest.importorskip("numpy")
    gold = _table([(1, n) for n in range(2, height + 2)])
    answer = _table([(numpy.bool_(True), n) for n in range(2, height + 2)])
    assert plain_verdict(gold, answer, TableRule()) is None
    assert plain_verdict(gold, _table(list(answer.rows[::-1])), TableRule()) is None


@pytest.mark.parametrize("cell", ["ab ", '{"a": 1}'])
@pytest.mark.parametrize("kind", [Kind.CHAR, Kind.JSON])
def test_columns_whose_kind_has_rules_of_its_own_are_looked_at_closely(cell: str, kind: Kind) -> None:
    plain, own = Relation(columns=(Column(name="a"),), rows=[(cell,)]), Column(name="a", kind=kind)
    other = Relation(columns=(own,), rows=[(cell,)])
    assert plain_verdict(plain, other, TableRule()) is None
    assert plain_verdict(other, plain, TableRule()) is None


_WIDE = (
    st.sampled_from([9_999_999.5, 10_000_000.0, 10_000_000.0105, 10_000_000.021, 1e9, 1e9 + 0.5, 1e9 + 2]),
    st.sampled_from([20_000_000, 20_000_000.015, Decimal("20000000.03"), None]),
    *strategies.COLUMNS,
)


_EDGES = (
    st.sampled_from([0.0, 0.005, 0.0051, 0.01, 0.0101, 0.02, -0.01]),
    st.sampled_from([1.0, 1.01, 1.0101, 1.02, Decimal("1.005"), 1, True, False]),
    st.sampled_from([float("inf"), float("-inf"), float("nan"), 1e300, 10**400, Decimal("sNaN"), 0]),
    st.sampled_from([1e15, 1e15 + 0.125, 1e15 - 0.125, 10**15]),
    st.sampled_from(["2024-01-01", date(2024, 1, 1), "x", None]),
    *_WIDE,
)


@settings(max_examples=1500, deadline=None)
@given(
    both=st.one_of(strategies.pairs(kinds=_EDGES), strategies.pairs(width=1, height=3, kinds=_EDGES)),
    tolerance=st.sampled_from(TOLERANCES),
    columns=st.sampled_from(["any", "by_position", "by_name"]),
    ordered=st.booleans(),
)
def test_what_is_plainly_different_is_so_at_a_close_look(
    both: Any, tolerance: Tolerance, columns: Any, ordered: bool
) -> None:
    left, right = both[0].relation, both[1].relation
    order = Order(groups=range(left.height)) if ordered else Order()
    rule = TableRule(tolerance=tolerance, columns=columns, order=order)
    if plainly_different(left, right, rule):
        assert _closely(left, right, rule) == DIFFERENT


def test_the_usual_wrong_answer_is_plainly_different() -> None:
    rows = _usual(50, random.Random(1), spread=9)
    gold = _table(rows)
    for place, cell in ((0, 77), (1, "other"), (2, 50.0), (3, 5)):
        broken = [(*row[:place], cell, *row[place + 1 :]) if n == 7 else row for n, row in enumerate(rows)]
        assert plainly_different(gold, _table(broken[::-1]), TableRule())
        apart = Order(cuts=(Cut(start=0, stop=1, pool=rows[:2]),))
        assert not plainly_different(gold, _table(broken), TableRule(order=apart))
    assert not plainly_different(gold, _table([row[::-1] for row in rows]), TableRule())
    assert plainly_different(gold, _table([row[::-1] for row in rows]), TableRule(columns="by_position"))
    assert plainly_different(_table([(0, 5), (0, 6)]), _table([(None, 5), (0, 6)]), TableRule())


def test_rows_without_columns_are_neither_plainly_the_same_nor_plainly_different() -> None:
    gold, answer = (Relation(columns=(), rows=[(), ()]) for _ in range(2))
    assert plain_verdict(gold, answer, TableRule()) is None
    assert not plainly_different(gold, answer, TableRule())
    assert compare_tables(gold, answer).exact


def test_many_small_gaps_are_no_plain_difference() -> None:
    gold = _table([(1 + n / 8, f"name {n}") for n in range(100)])
    answer = _table([(1 + n / 8 + 0.0095, f"name {n}") for n in range(100)])
    assert not plainly_different(gold, answer, TableRule())
    assert compare_tables(gold, answer).exact
    assert plainly_different(gold, answer, TableRule(tolerance=Tolerance(mode="exact")))


@pytest.mark.parametrize(
    ("kind", "cell", "other"), [(Kind.CHAR, "ab ", "ab"), (Kind.JSON, '{"a": 1}', '{"a":1}'), (Kind.JSON, "1", "1.0")]
)
def test_other_texts_of_one_value_are_no_plain_difference(kind: Kind, cell: str, other: str) -> None:
    gold, answer = (Relation(columns=(Column(name="a", kind=kind),), rows=[(text,)]) for text in (cell, other))
    assert not plainly_different(gold, answer, TableRule())
    assert compare_tables(gold, answer).exact


@settings(max_examples=500, deadline=None)
@given(both=strategies.pairs(kinds=_WIDE), tolerance=st.sampled_from(TOLERANCES))
def test_ending_early_changes_nothing(both: Any, tolerance: Tolerance) -> None:
    """A column that fits nowhere, and numbers too small for a billionth to matter, end the search and nothing else."""
    left, right = both
    rule = TableRule(tolerance=tolerance)
    found = compare_tables(left.relation, right.relation, rule)
    with (
        mock.patch("sqlassay.tables.exact._Verdict._stranded", return_value=False),
        mock.patch("sqlassay.tables.exact.known_of", return_value=mock.Mock(largest=float("inf"))),
    ):
        assert _closely(left.relation, right.relation, rule) == found or len(left.rows) != len(right.rows)


@pytest.mark.parametrize(
    ("number", "gap", "by_a_hair"),
    [(1e9, 0.5, True), (10_500_000.0, 0.0104, True), (9_000_000.0, 0.0104, False), (5.0, 0.0104, False)],
)
@pytest.mark.parametrize("small", [5.5, None])
def test_a_billionth_of_a_large_number_is_more_than_the_rule_allows(
    number: float, gap: float, by_a_hair: bool, small: float | None
) -> None:
    for one, two in ((number, number + gap), (number + gap, number)):
        found = compare_tables(_table([(one, "x"), (small, "y")]), _table([(two, "x"), (small, "y")]), TableRule())
        assert not found.exact
        assert found.ceilings == ({Ceiling.DECIDED_BY_TOLERANCE} if by_a_hair else set())


@settings(max_examples=800, deadline=None)
@given(both=look_alikes(ODD), tolerance=st.sampled_from(TOLERANCES))
def test_a_right_answer_is_aligned_as_the_gold_with_itself(both: Any, tolerance: Tolerance) -> None:
    reference, candidate = both
    suggested = compare_tables(reference, candidate, TableRule(tolerance=tolerance)).assignment
    found = align(*both, tolerance=tolerance, suggested=suggested)
    with mock.patch("sqlassay.tables.output.interchangeable", return_value=False):
        assert align(*both, tolerance=tolerance, suggested=suggested) == found


def test_only_the_same_values_under_the_same_names_are_interchangeable() -> None:
    rows = [(1, "x"), (0.5, "y"), (None, "y")]
    gold = _table(list(rows))
    assert interchangeable(gold, _table(rows[::-1]))
    for other in (
        [(True, "x"), *rows[1:]],
        [*rows[:2], (None, "x")],
        rows[:2],
        [rows[0], (Decimal("0.5"), "y"), rows[2]],
    ):
        assert not interchangeable(gold, _table(other))
    renamed = Relation(columns=(Column(name="a"), Column(name="z")), rows=list(rows))
    assert not interchangeable(gold, renamed)
