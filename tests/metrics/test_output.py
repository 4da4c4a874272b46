"""Columns and cells of small results, each number worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sqlassay.metrics import execution, output
from sqlassay.records.case import Case, IdSetShape, RankingShape, Shape, Status, TableShape
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.measurement import ShapeLabel
from sqlassay.records.query import Ordering, OrderPlan, Pieces, SortKey, Understanding
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Quantity, Ratio, Reading, Undefined

NAMES = ("output.columns.precision", "output.columns.recall", "output.cells.precision", "output.cells.recall")


def rows(names: str, *cells: tuple[Any, ...], truncated: bool = False) -> Rows:
    columns = tuple(Column(name=name) for name in names.split())
    return Rows(relation=Relation(columns=columns, rows=list(cells), truncated=truncated))


def understood(
    *,
    origins: tuple[str | None, ...],
    expressions: tuple[str | None, ...] | None = None,
    aggregates: tuple[bool, ...] | None = None,
    ordering: Ordering = Ordering(),
    plan: OrderPlan = OrderPlan(),
) -> Understanding:
    return Understanding(
        tables=(),
        base_tables=(),
        columns_read=(),
        names=("",) * len(origins),
        origins=origins,
        expressions=expressions or (None,) * len(origins),
        aggregates=aggregates or (False,) * len(origins),
        pieces=Pieces(),
        ordering=ordering,
        order_plan=plan,
        canonical="",
    )


def trial(
    gold: Execution,
    candidate: Execution,
    *,
    shape: Shape = TableShape(),
    facts: tuple[Understanding | None, Understanding | None] = (None, None),
    case: Case | None = None,
    status: Status = Status.SUCCESS,
    auxiliary: Execution | None = None,
) -> Trial:
    case = case or Case(id="c", question="q", gold_sql=("gold",), compare_on=shape)
    answered = not isinstance(candidate, NotRun)
    return Trial(
        case=case,
        turn=Turn(case_id="c", status=status, candidate_sql="candidate" if answered else None),
        golds=(Side(sql="gold", execution=gold, comprehension=facts[0], auxiliary=auxiliary),),
        candidate=Side(sql="candidate" if answered else None, execution=candidate, comprehension=facts[1]),
    )


def plain(reading: Reading) -> float | str:
    match reading:
        case Ratio() | Quantity():
            return round(reading.value, 3)
        case Undefined(reason=reason):
            return reason.value
    raise AssertionError(reading)


def measured(given: Trial) -> tuple[float | str, ...]:
    found = output.FAMILY.readings(output.FAMILY.examine(given, ScoreSettings()))
    return tuple(plain(found[name]) for name in NAMES)


def shape_of(given: Trial) -> ShapeLabel | None:
    return output.label(output.FAMILY.examine(given, ScoreSettings()))


def exact(given: Trial) -> float | str:
    settings = ScoreSettings()
    return plain(execution.FAMILY.readings(execution.FAMILY.examine(given, settings))["execution.exact"])


BOLTS = rows(
    "item customer_id total", ("BOLT", "C001", 100), ("BOLT", "C002", 250), ("HELM", "C001", 100), ("HELM", "C002", 250)
)
SITES = rows(
    "item customer_id total site",
    ("BOLT", "C001", 100, "S1"),
    ("BOLT", "C002", 250, "S1"),
    ("HELM", "C001", 30, "S1"),
    ("HELM", "C001", 50, "S2"),
)


def test_the_worked_check_of_the_specification() -> None:
    gold = understood(
        origins=("o.item", "o.customer_id", None),
        expressions=(None, None, "SUM(o.amount)"),
        aggregates=(False, False, True),
    )
    answer = understood(
        origins=("o.item", "o.customer_id", None, "o.site"),
        expressions=(None, None, "SUM(o.amount)", None),
        aggregates=(False, False, True, False),
    )
    for facts in ((None, None), (gold, answer)):
        given = trial(BOLTS, SITES, facts=facts)
        assert measured(given) == (0.625, 1.0, 0.667, 0.667)
        evidence = output.FAMILY.evidence(output.FAMILY.examine(given, ScoreSettings()))
        assert evidence["matched_cells"] == 8
        assert evidence["row_key"] == ["item", "customer_id"]
        assert evidence["extra_columns"] == ["site"]
        assert [pair["candidate"] for pair in evidence["pairs"]] == ["item", "customer_id", "total"]
        assert shape_of(given) is ShapeLabel.WRONG_VALUES


NULLS = rows("a b", (None, None), (None, None))
EMPTY = rows("a b")
NOTHING = Rows(relation=Relation(columns=()))
ONE = rows("a", (1,))

DEGENERATE: dict[str, tuple[Execution, Execution, tuple[float | str, ...], float | str]] = {
    "both without rows": (EMPTY, EMPTY, (0.0, 0.0, "no_pairs", "no_pairs"), 1.0),
    "candidate without rows": (rows("a", (1,), (2,)), rows("a"), (0.0, 0.0, "no_pairs", "no_pairs"), 0.0),
    "gold without rows": (rows("a"), rows("a", (1,), (2,)), (0.0, 0.0, "no_pairs", "no_pairs"), 0.0),
    "no columns on both sides": (NOTHING, NOTHING, ("nothing_to_count",) * 2 + ("no_pairs",) * 2, 1.0),
    "no columns in the candidate": (ONE, NOTHING, ("nothing_to_count", 0.0, "no_pairs", "no_pairs"), 0.0),
    "all NULL": (NULLS, NULLS, (1.0, 1.0, 1.0, 1.0), 1.0),
    "one row": (ONE, ONE, (1.0, 1.0, 1.0, 1.0), 1.0),
    "one row, another value": (ONE, rows("a", (2,)), (0.0, 0.0, "no_pairs", "no_pairs"), 0.0),
    "one constant column": (
        rows("a k", (1, 7), (2, 7)),
        rows("a k", (1, 7), (2, 7)),
        (1.0, 1.0, 1.0, 1.0),
        1.0,
    ),
    "constant columns that cannot be told apart": (
        rows("a b", (7, 7), (7, 7)),
        rows("x y", (7, 7), (7, 7)),
        (0.0, 0.0, "no_pairs", "no_pairs"),
        1.0,
    ),
    "duplicate names": (rows("id id", (1, 4), (2, 5)), rows("id id", (1, 4), (2, 5)), (1.0, 1.0, 1.0, 1.0), 1.0),
    "cells without a hash": (
        rows("a", ([1, {"b": 2}],), ([],)),
        rows("a", ([],), ([1.0, {"b": 2}],)),
        (1.0, 1.0, 1.0, 1.0),
        1.0,
    ),
    "lone surrogates": (rows("a", ("\ud800",), ("b",)), rows("a", ("b",), ("\ud800",)), (1.0, 1.0, 1.0, 1.0), 1.0),
    "gold cut by a limit": (
        rows("a", (1,), truncated=True),
        ONE,
        ("truncated",) * 4,
        "truncated",
    ),
    "candidate cut by a limit": (ONE, rows("a", (1,), truncated=True), ("truncated",) * 4, "truncated"),
    "candidate failed": (
        ONE,
        SqlError(kind=ErrorKind.SYNTAX, message="near x"),
        ("no_sql", 0.0, "no_sql", "no_sql"),
        0.0,
    ),
    "no candidate": (ONE, NotRun(), ("no_sql", 0.0, "no_sql", "no_sql"), 0.0),
    "gold failed": (SqlError(kind=ErrorKind.SYNTAX, message="near x"), ONE, ("gold_failed",) * 4, "gold_failed"),
    "connection lost": (
        ONE,
        SqlError(kind=ErrorKind.CONNECTION, message="gone"),
        ("harness_failed",) * 4,
        "harness_failed",
    ),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_trials(name: str) -> None:
    gold, candidate, numbers, verdict = DEGENERATE[name]
    given = trial(gold, candidate)
    assert measured(given) == numbers
    assert exact(given) == verdict


def test_empty_results_with_columns_paired_by_origin() -> None:
    facts = understood(origins=("t.a", "t.b"))
    some = rows("a b", (1, 2), (3, 4))
    both = (facts, facts)
    assert measured(trial(some, EMPTY, facts=both)) == (0.0, 0.0, "empty_result", 0.0)
    assert measured(trial(EMPTY, some, facts=both)) == (0.0, 0.0, 0.0, "empty_result")
    assert measured(trial(EMPTY, EMPTY, facts=both)) == (0.0, 0.0, "empty_result", "empty_result")


def test_a_refusal_where_an_answer_was_due_counts_as_no_answer() -> None:
    given = trial(ONE, ONE, status=Status.CLARIFICATION)
    assert exact(given) == 0.0
    assert measured(given) == ("no_sql", 0.0, "no_sql", "no_sql")


def test_a_behaviour_case_is_not_measured() -> None:
    case = Case(id="c", question="q")
    given = Trial(case=case, turn=Turn(case_id="c", status=Status.UNSUPPORTED))
    assert measured(given) == ("not_applicable",) * 4
    assert exact(given) == "not_applicable"


def test_an_absent_optional_column_leaves_the_denominator() -> None:
    case = Case(id="c", question="q", gold_sql=("gold",), optional_columns=("note",))
    gold = rows("id note", (1, "x"), (2, "y"))
    assert measured(trial(gold, rows("id", (1,), (2,)), case=case)) == (1.0, 1.0, 1.0, 1.0)
    assert exact(trial(gold, rows("id", (1,), (2,)), case=case)) == 1.0
    assert exact(trial(gold, rows("id note", (1, "x"), (2, "z")), case=case)) == 0.0
    assert exact(trial(gold, rows("note id", ("x", 1), ("y", 2)), case=case)) == 1.0
    wrong = trial(gold, rows("id note", (1, "p"), (2, "q")), case=case)
    assert exact(wrong) == 0.0
    assert measured(wrong)[:2] == (0.5, 0.5)


ORDERED = understood(
    origins=("t.a",),
    ordering=Ordering(keys=(SortKey(expression="t.a"),)),
)
LABELS: dict[ShapeLabel, tuple[Execution, Execution]] = {
    ShapeLabel.EXACT: (rows("a", (1,), (2,)), rows("a", (2,), (1,))),
    ShapeLabel.NOTHING_ALIGNED: (rows("a", (1,), (2,)), rows("b", ("x",), ("y",))),
    ShapeLabel.MISSING_COLUMNS: (rows("a b", (1, "x"), (2, "y")), rows("a", (1,), (2,))),
    ShapeLabel.TOO_MANY_ROWS: (rows("a", (1,), (2,)), rows("a", (1,), (2,), (3,))),
    ShapeLabel.TOO_FEW_ROWS: (rows("a", (1,), (2,), (3,)), rows("a", (1,), (2,))),
    ShapeLabel.WRONG_VALUES: (rows("a b", (1, 5), (2, 6)), rows("a b", (1, 6), (2, 5))),
    ShapeLabel.EXTRA_COLUMNS: (rows("a", (1,), (2,)), rows("a b", (1, "x"), (2, "y"))),
    ShapeLabel.NOT_RUN: (rows("a", (1,)), NotRun()),
}


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.value)
def test_shape_labels_of_tables(label: ShapeLabel) -> None:
    assert shape_of(trial(*LABELS[label])) is label


def test_same_rows_in_another_order_are_wrong_order() -> None:
    given = trial(rows("a", (1,), (2,)), rows("a", (2,), (1,)), facts=(ORDERED, None))
    assert shape_of(given) is ShapeLabel.WRONG_ORDER
    assert measured(given) == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("shape", "candidate", "label"),
    [
        (IdSetShape(column="a"), rows("a", (1,), (2,), (3,)), ShapeLabel.TOO_MANY_ROWS),
        (IdSetShape(column="a"), rows("a", (1,)), ShapeLabel.TOO_FEW_ROWS),
        (IdSetShape(column="a"), rows("a", (1,), (5,)), ShapeLabel.WRONG_VALUES),
        (IdSetShape(column="a"), rows("a"), ShapeLabel.TOO_FEW_ROWS),
        (IdSetShape(column="a"), rows("zz", ("x",)), ShapeLabel.MISSING_COLUMNS),
        (RankingShape(column="a"), rows("a", (2,), (1,)), ShapeLabel.WRONG_ORDER),
    ],
)
def test_shape_labels_of_other_shapes(shape: Shape, candidate: Rows, label: ShapeLabel) -> None:
    assert shape_of(trial(rows("a", (1,), (2,)), candidate, shape=shape, facts=(ORDERED, None))) is label


def test_names_in_the_evidence_are_unique() -> None:
    given = trial(rows("id id", (1, 4), (2, 5)), rows("id id", (1, 4), (2, 5)))
    evidence: Any = output.FAMILY.evidence(output.FAMILY.examine(given, ScoreSettings()))
    assert [(pair["reference"], pair["candidate"], pair["by"]) for pair in evidence["pairs"]] == [
        ("id", "id", "values"),
        ("id#2", "id#2", "values"),
    ]


def test_near_constant_flags_do_not_pair_and_aggregates_are_no_key() -> None:
    gold = rows("day flag", *[(day, ("N", "Y", "?")[day // 14]) for day in range(30)])
    assert measured(trial(gold, rows("n", ("N",))))[0] == 0.0
    totals = rows("city total", ("Oslo", 5), ("Bergen", 9), ("Bodo", 9))
    facts = understood(origins=("t.city", None), expressions=(None, "SUM(t.n)"), aggregates=(False, True))
    evidence = output.FAMILY.evidence(
        output.FAMILY.examine(trial(totals, totals, facts=(facts, facts)), ScoreSettings())
    )
    assert evidence["row_key"] == ["city"]
