"""Values, coercions per column pair, tables from other libraries, and other benchmarks' rules on small rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from sqlassay.errors import UsageError
from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Interval, Kind, Relation
from sqlassay.tables import others
from sqlassay.tables.cells import normal
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.handed import relation_of
from sqlassay.tables.output import align
from sqlassay.tables.rule import TableRule
from sqlassay.tables.tolerance import Agreement

NAN = float("nan")


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (1, Decimal("1.00"), True),
        (0.1, Decimal("0.1"), True),
        (0.0, -0.0, True),
        (NAN, float("nan"), True),
        (float("inf"), float("-inf"), False),
        (2**62, 2**62 + 1, False),
        (-1, -2, False),
        (1e23, 10**23, True),
        (True, 1, False),
        (None, 0, False),
        (None, NAN, False),
        ("", None, False),
        ("1", 1, False),
        (b"a", "a", False),
        (bytearray(b"a"), b"a", True),
        ([1, [2.0]], (1, (2,)), True),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ([1, 2], [2, 1], False),
        (timedelta(days=1), Interval(days=1), True),
        (Interval(months=1), Interval(days=30), False),
        (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), False),
        (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), True),
    ],
)
def test_normal_forms(a: Any, b: Any, equal: bool) -> None:
    assert (normal(a) == normal(b)) is equal
    if equal:
        assert hash(normal(a)) == hash(normal(b))


@pytest.mark.parametrize(
    ("mode", "a", "b", "agree"),
    [
        ("plain", 1.0, 1.01, True),
        ("plain", 999.99, 1000.0, True),
        ("plain", 1.0, Decimal("1.0100000001"), False),
        ("guarded", 1.0, 1.01, True),
        ("guarded", 0.001, 0.009, False),
        ("guarded", 0.0, 0.005, True),
        ("guarded", 0.0, 0.0051, False),
        ("guarded", 41.24, 41.237861, True),
        ("rounding", 0.12, 0.1234567, True),
        ("rounding", 1.5, 1.505, True),
        ("rounding", 1.51, 1.5, False),
        ("rounding", 0.13, 0.125, True),
        ("exact", 0.1, Decimal("0.1"), True),
        ("exact", 0.1, 0.1 + 1e-12, False),
    ],
)
def test_tolerance(mode: Any, a: Any, b: Any, agree: bool) -> None:
    rule = Agreement(Tolerance(mode=mode))
    assert rule(normal(a), normal(b)) is agree
    assert rule(normal(b), normal(a)) is agree


def test_every_hundredth_edge_is_inside() -> None:
    rule = Agreement(Tolerance(mode="plain"))
    assert all(rule(n / 100, (n + 1) / 100) for n in range(0, 100_000, 7))
    assert not any(rule(n / 100, (n + 1.001) / 100) for n in range(0, 100_000, 7))


def _one_column(*cells: Any) -> Relation:
    return Relation(columns=(Column(name="n"),), rows=[(cell,) for cell in cells])


@pytest.mark.parametrize("size", [1e15, 1e16, 1.8014398509481984e16, 1e300])
def test_large_floats_are_no_integers(size: float) -> None:
    rule = TableRule(tolerance=Tolerance(mode="plain", abs="0", rel="0.01"))
    assert compare_tables(_one_column(size, 1.0), _one_column(size * 1.001, 1.0), rule).exact
    assert compare_tables(_one_column(size), _one_column(int(Decimal(repr(size)))), TableRule()).exact
    if size < 1e300:
        assert not compare_tables(_one_column(int(size)), _one_column(int(size) + 1), rule).exact


@pytest.mark.parametrize("wide", [10**400, Decimal("1e400"), Decimal("12345678901234567890123456789012345.5")])
@pytest.mark.parametrize("mode", ["guarded", "plain", "rounding"])
def test_numbers_wider_than_floats_and_decimals_are_compared_and_aligned(wide: Any, mode: Any) -> None:
    left, right = _one_column(wide, 1.5, -wide), _one_column(-wide, 1.5, wide)
    rule = TableRule(tolerance=Tolerance(mode=mode))
    assert compare_tables(left, right, rule).exact
    assert not compare_tables(left, _one_column(wide, 1.5, wide), rule).exact
    assert align(left, right, tolerance=Tolerance(mode=mode)).matched_cells == 3


def test_a_json_null_is_a_value_and_no_sql_null() -> None:
    column = (Column(name="j", kind=Kind.JSON),)
    null, other = Relation(columns=column, rows=[("null",)]), Relation(columns=column, rows=[(None,)])
    assert compare_tables(null, null).exact
    assert compare_tables(null, Relation(columns=column, rows=[(" null ",)])).exact
    assert not compare_tables(null, other).exact
    assert not compare_tables(null, _one_column(None)).exact
    assert not compare_tables(null, _one_column("null")).exact


def test_columns_of_one_name_are_told_apart_by_the_rows() -> None:
    def named(names: str, *rows: tuple[Any, ...]) -> Relation:
        return Relation(columns=tuple(Column(name=name) for name in names), rows=rows)

    rule = TableRule(columns="by_name")
    assert compare_tables(named("aab", (1, 2, 3)), named("baa", (3, 2, 1)), rule).exact
    assert not compare_tables(named("aab", (1, 2, 3)), named("baa", (2, 3, 1)), rule).exact


def test_relative_tolerance() -> None:
    rule = Agreement(Tolerance(mode="plain", abs="0", rel="0.01"))
    assert rule(100.0, 99.0)
    assert not rule(100.0, 98.99)


def _table(*cells: Any, kind: Kind = Kind.DYNAMIC) -> Relation:
    return Relation(columns=(Column(name="a", kind=kind),), rows=[(cell,) for cell in cells])


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (_table(date(2024, 3, 5)), _table("2024-03-05"), True),
        (_table(date(2024, 3, 5)), _table(datetime(2024, 3, 5)), True),
        (_table(date(2024, 3, 5)), _table(datetime(2024, 3, 5, 1)), False),
        (_table(date(2024, 3, 5), date(2024, 3, 6)), _table("2024-03-05", "soon"), False),
        (_table(datetime(2024, 3, 5, 10)), _table("2024-03-05T10:00:00"), True),
        (_table(datetime(2024, 3, 5, 10, tzinfo=UTC)), _table("2024-03-05 10:00:00"), False),
        (_table("2024-03-05"), _table("2024-03-05 00:00:00"), False),
        (_table(True, False), _table(1, 0), True),
        (_table(True, False), _table(1, 2), False),
        (_table(True, False), _table("t", "f"), False),
        (_table("ab  ", kind=Kind.CHAR), _table("ab"), True),
        (_table("ab  "), _table("ab"), False),
        (_table(100, 200), _table(100, 201), False),
        (_table([1.0, 2.0]), _table([1.001, 2.0]), True),
        (_table([1, 2]), _table([1, 3]), False),
    ],
)
def test_coercions_per_column_pair(left: Relation, right: Relation, equal: bool) -> None:
    assert compare_tables(left, right).exact is equal
    assert compare_tables(right, left).exact is equal


def test_coercions_can_be_switched_off() -> None:
    off = TableRule(coercions=Coercions(dates=False, booleans=False))
    assert not compare_tables(_table(date(2024, 3, 5)), _table("2024-03-05"), off).exact
    assert not compare_tables(_table(True), _table(1), off).exact
    assert compare_tables(_table(True, False), _table(False, True), off).exact


def test_tables_from_other_libraries() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"a": [1, None, 3], "b": ["x", "y", None]}
    plain = relation_of({"columns": ["a", "b"], "rows": list(zip(*data.values(), strict=True))})
    for frame in (pd.DataFrame(data), pl.DataFrame(data), pl.DataFrame(data).to_arrow()):
        assert compare_tables(plain, relation_of(frame)).exact
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert relation_of(twice).rows == [(1, 2)]


@pytest.mark.parametrize("table", [7, {"rows": []}, {"columns": ["a"], "rows": [[1, 2]]}, {"colums": []}])
def test_what_is_no_table_is_said_to_be_none(table: Any) -> None:
    with pytest.raises(UsageError):
        relation_of(table)


def test_spider_takes_any_order_of_columns_and_strips_distinct() -> None:
    assert others.spider_equal([(1, "a"), (1, "a")], [("a", 1), ("a", 1)], order_matters=False)
    assert not others.spider_equal([(1, "a")], [("a", 1), ("a", 1)], order_matters=False)
    assert not others.spider_equal([(1,), (2,)], [(2,), (1,)], order_matters=True)
    assert others.spider_equal([], [], order_matters=False)
    text = "SELECT DISTINCT a, 'DISTINCT' FROM t -- distinct\nWHERE y = YEAR(CURDATE())"
    assert others.spider_text(text, keep_distinct=False) == "SELECT  a, 'DISTINCT' FROM t -- distinct\nWHERE y = 2020"
    assert "DISTINCT a" in others.spider_text(text, keep_distinct=True)


def test_spider2_compares_columns_and_takes_rows_apart() -> None:
    gold = relation_of({"columns": ["a", "b"], "rows": [(1, "x"), (2, "y")]})
    apart = relation_of({"columns": ["z", "b", "a"], "rows": [(0, "y", 1.004), (0, "x", 2)]})
    assert others.spider2_equal(gold, apart, ignore_order=True)
    assert not others.spider2_equal(gold, apart, ignore_order=False)
    nothing = relation_of({"columns": ["a"], "rows": [(None,)]})
    assert others.spider2_equal(nothing, relation_of({"columns": ["a"], "rows": [(0,)]}), ignore_order=True)


def test_defog_sorts_columns_by_name_and_finds_subsets() -> None:
    gold = relation_of({"columns": ["a", "b"], "rows": [(2, "y"), (1, "x"), (1, "x")]})
    other = relation_of({"columns": ["b", "a"], "rows": [("x", 1), ("y", 2)]})
    assert others.defog_equal(gold, other)
    renamed = relation_of({"columns": ["b", "c", "n"], "rows": [("x", 5, 1), ("y", 6, 2), ("x", 5, 1)]})
    assert not others.defog_equal(gold, renamed)
    assert others.defog_subset(gold, renamed)
    mixed = relation_of({"columns": ["n", "b"], "rows": [(1, "y"), (2, "x"), (1, "x")]})
    assert not others.defog_subset(gold, mixed)
    ordered = relation_of({"columns": ["a"], "rows": [(1,), (2,)]})
    backward = relation_of({"columns": ["a"], "rows": [(2,), (1,)]})
    assert others.defog_asks_order("Sort the years", None)
    assert others.defog_equal(
        ordered, backward, order_texts=("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a")
    )
    assert not others.defog_subset(ordered, backward, ordered=True)


def test_the_set_the_bag_and_the_list() -> None:
    gold, found = [(1,), (1,), (2,)], [(2,), (1,)]
    assert others.bird_equal(gold, found)
    assert not compare_tables(_table(1, 1, 2), _table(2, 1)).exact
    assert not others.bird_equal([([1],)], [([1],)])


@pytest.mark.parametrize("depth", [10, 400, 5000])
def test_deeply_nested_values_are_compared_or_called_unequal_but_never_crash(depth: int) -> None:
    text = "[" * depth + "]" * depth
    assert compare_tables(_table(text, kind=Kind.JSON), _table(text, kind=Kind.JSON)).exact
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    compare_tables(_table(value, 1), _table("x", 2))


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_boolean_that_python_takes_for_one_is_not_believed(shuffled: bool) -> None:
    columns = (Column(name="a"), Column(name="b"))
    gold = Relation(columns=columns, rows=[(1, "x"), (5, "y")])
    rows: list[tuple[Any, ...]] = [(True, "x"), (5, "y")]
    answer = Relation(columns=columns, rows=rows[::-1] if shuffled else rows)
    assert not compare_tables(gold, answer).exact
    assert compare_tables(gold, Relation(columns=columns, rows=[(1.0, "x"), (5, "y")])).exact
