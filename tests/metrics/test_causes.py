"""Every row of the closed list of causes: the first that applies, and only that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sqlassay.metrics.causes import FAILING, UNSCORED, Facts, decide, known_caps
from sqlassay.records.case import Case, Expectation, GroupsShape, IdSetShape, Status
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.measurement import Bucket, ShapeLabel
from sqlassay.records.query import Ordering, OrderPlan, Pieces, Understanding
from sqlassay.records.relation import Column, Relation
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Query, Returned, Role, Seen, Turn, TurnError, TurnErrorKind, Usage
from sqlassay.records.value import Broken, Ratio, Reading, Reason, Undefined

WRONG: Mapping[str, Reading] = {"execution.exact": Ratio(hits=0, total=1)}
RIGHT: Mapping[str, Reading] = {"execution.exact": Ratio(hits=1, total=1)}
CUT: Mapping[str, Reading] = {
    **WRONG,
    "output.cells.precision": Ratio(hits=2, total=2),
    "output.columns.precision": Ratio(hits=1, total=1),
}


def rows(height: int) -> Rows:
    return Rows(relation=Relation(columns=(Column(name="n"),), rows=[(i,) for i in range(height)]))


def understanding(limit: int | None) -> Understanding:
    return Understanding(
        tables=(),
        base_tables=(),
        columns_read=(),
        names=(),
        origins=(),
        expressions=(),
        aggregates=(),
        pieces=Pieces(),
        ordering=Ordering(limit=limit),
        order_plan=OrderPlan(),
        canonical="",
    )


def facts(
    *,
    expected: Status = Status.SUCCESS,
    gold: Execution | None = rows(3),
    candidate: Execution = rows(2),
    metrics: Mapping[str, Reading] = WRONG,
    shape: ShapeLabel | None = None,
    case: Mapping[str, Any] | None = None,
    fault: str | None = None,
    limit: int | None = None,
    **turn: Any,
) -> Facts:
    has_sql = not isinstance(candidate, NotRun)
    side = None if gold is None else Side(sql="G", execution=gold)
    trial = Trial(
        case=Case(
            id="a",
            question="?",
            gold_sql=() if gold is None else ("G",),
            expect=Expectation(terminal_status=expected),
            **(case or {}),
        ),
        turn=Turn(**{"status": Status.SUCCESS, "candidate_sql": "C" if has_sql else None, **turn}),
        golds=() if side is None else (side,),
        candidate=Side(sql="C" if has_sql else None, execution=candidate, comprehension=understanding(limit)),
        fault=fault,
    )
    return Facts(trial=trial, gold=side, metrics=metrics, shape=shape)


def failed(kind: TurnErrorKind, status: Status | None = Status.ERROR) -> dict[str, Any]:
    return {"status": status, "error": TurnError(kind=kind, message="boom"), "candidate": NotRun()}


def write(*, succeeded: bool) -> Query:
    return Query(sql="w", executed=True, succeeded=succeeded, role=Role.WRITE)


REFUSE: dict[str, Any] = {"expected": Status.UNSUPPORTED, "gold": None, "metrics": {}}
ROWS: list[tuple[Bucket, dict[str, Any]]] = [
    (Bucket.HARNESS_ERROR, {"fault": "connection lost"}),
    (Bucket.HARNESS_ERROR, failed(TurnErrorKind.TRANSPORT, None)),
    (Bucket.HARNESS_ERROR, {"candidate": SqlError(kind=ErrorKind.CONNECTION, message="gone")}),
    (Bucket.HARNESS_ERROR, {"gold": SqlError(kind=ErrorKind.CONNECTION, message="gone")}),
    (Bucket.HARNESS_ERROR, {"metrics": {**RIGHT, "output.columns.recall": Broken(error="bug")}}),
    (Bucket.HARNESS_ERROR, {"metrics": {"execution.exact": Undefined(reason=Reason.TRUNCATED)}}),
    (Bucket.HARNESS_ERROR, {"metrics": {"execution.exact": Undefined(reason=Reason.NOT_RECORDED)}}),
    (Bucket.EXTRACTOR_EMPTY, {"status": None, "candidate": NotRun()}),
    (Bucket.EXTRACTOR_EMPTY, {**failed(TurnErrorKind.EXTRACTION, None), "answer": "  "}),
    (Bucket.GOLD_ERROR, {"gold": SqlError(kind=ErrorKind.SYNTAX, message="typo")}),
    (Bucket.GOLD_ERROR, {"gold": TimedOut(limit_s=1), **failed(TurnErrorKind.AGENT_CRASH)}),
    (Bucket.GOLD_ERROR, {"metrics": {"execution.exact": Undefined(reason=Reason.GOLD_FAILED)}}),
    (Bucket.AGENT_ERROR, failed(TurnErrorKind.AGENT_CRASH)),
    (Bucket.AGENT_ERROR, failed(TurnErrorKind.AGENT_TIMEOUT)),
    (Bucket.AGENT_ERROR, {"status": Status.ERROR, "answer": "I broke"}),
    (Bucket.AGENT_ERROR, {**REFUSE, "status": Status.ERROR, "candidate": NotRun()}),
    (Bucket.ANSWERED_UNANSWERABLE, REFUSE),
    (Bucket.ANSWERED_UNANSWERABLE, {**REFUSE, "candidate": NotRun(), "answer": "42"}),
    (Bucket.WRONG_REFUSAL, {**REFUSE, "status": Status.CLARIFICATION, "candidate": NotRun()}),
    (Bucket.STEP_BUDGET, {"status": Status.BUDGET_EXHAUSTED, "usage": Usage(steps=9)}),
    (Bucket.STEP_BUDGET, {**REFUSE, "status": Status.BUDGET_EXHAUSTED}),
    (Bucket.ASKED_CLARIFICATION, {"status": Status.CLARIFICATION, "candidate": NotRun()}),
    (Bucket.DECLINED, {"status": Status.UNSUPPORTED, "candidate": NotRun()}),
    (Bucket.FELL_BACK, {"status": Status.FALLBACK, "candidate": NotRun()}),
    (Bucket.NO_QUERY_HALLUCINATION, {"candidate": NotRun(), "answer": "42"}),
    (Bucket.NO_QUERY_HALLUCINATION, {"candidate": NotRun(), "queries": (Query(sql="q", executed=False),)}),
    (Bucket.NO_QUERY_HALLUCINATION, {"candidate": NotRun(), "gold": None, "metrics": {}}),
    (Bucket.QUERY_NEVER_RAN, {"queries": (Query(sql="C", executed=False),), "shape": ShapeLabel.WRONG_VALUES}),
    (
        Bucket.QUERY_NEVER_RAN,
        {"candidate": NotRun(), "queries": (Query(sql="t", executed=True, role=Role.INTROSPECTION),)},
    ),
    (Bucket.QUERY_NEVER_RAN, {"candidate": NotRun(), "queries": (write(succeeded=True),)}),
    (Bucket.QUERY_NEVER_RAN, {"candidate": NotRun(), "queries": (write(succeeded=False), write(succeeded=True))}),
    (Bucket.SQL_ERROR, {"candidate": SqlError(kind=ErrorKind.UNKNOWN_COLUMN, message="no x")}),
    (Bucket.SQL_ERROR, {"candidate": TimedOut(limit_s=30), "shape": ShapeLabel.NOT_RUN}),
    (Bucket.SQL_ERROR, {"candidate": NotRun(), "queries": (Query(sql="q", executed=True, succeeded=False),)}),
    (Bucket.SQL_ERROR, {"candidate": NotRun(), "queries": (write(succeeded=False),)}),
    (
        Bucket.SQL_ERROR,
        {
            "candidate": NotRun(),
            "queries": (Query(sql="q", executed=True, succeeded=False, error="no q"), write(succeeded=True)),
        },
    ),
    (Bucket.SQL_ERROR, {"candidate": SqlError(kind=ErrorKind.SYNTAX, message="x"), "gold": None, "metrics": {}}),
    (Bucket.TRUNCATED_CORRECT, {"metrics": CUT, "returned": Returned(row_cap=2), "shape": ShapeLabel.TOO_FEW_ROWS}),
    (
        Bucket.TRUNCATED_CORRECT,
        {"metrics": CUT, "queries": (Query(sql="C", executed=True, seen=Seen(truncated=True, row_cap=2)),)},
    ),
    (
        Bucket.TRUNCATED_CORRECT,
        {"metrics": CUT, "queries": (Query(sql="C", executed=True, seen=Seen(content=[[0], [1]], truncated=True)),)},
    ),
    (Bucket.TRUNCATED_CORRECT, {"metrics": CUT, "returned": Returned(rows=[[0], [1]], truncated=True)}),
    (
        Bucket.TRUNCATED_CORRECT,
        {"metrics": CUT, "queries": (Query(sql="C", sql_written="select credit_limit", executed=True),), "limit": 2},
    ),
    (
        Bucket.TRUNCATED_CORRECT,
        {"metrics": CUT, "queries": (Query(sql="C", sql_written="select n limit 100", executed=True),), "limit": 2},
    ),
    (
        Bucket.TOO_FEW_ROWS,
        {
            "metrics": CUT,
            "queries": (Query(sql="C", sql_written="select n limit 2", executed=True),),
            "limit": 2,
            "shape": ShapeLabel.TOO_FEW_ROWS,
        },
    ),
    (
        Bucket.TRUNCATED_CORRECT,
        {
            "metrics": {**WRONG, "execution.id_precision": Ratio(hits=2, total=2)},
            "case": {"compare_on": IdSetShape(column="n")},
            "returned": Returned(row_cap=2),
        },
    ),
    (
        Bucket.TRUNCATED_CORRECT,
        {
            "metrics": {
                **WRONG,
                "execution.group_precision": Ratio(hits=2, total=2),
                "execution.total_accuracy": Ratio(hits=2, total=2),
            },
            "case": {"compare_on": GroupsShape(columns=("n",))},
            "returned": Returned(row_cap=2),
        },
    ),
    (Bucket.TOO_FEW_ROWS, {"metrics": CUT, "returned": Returned(row_cap=50), "shape": ShapeLabel.TOO_FEW_ROWS}),
    (Bucket.NOTHING_ALIGNED, {"shape": ShapeLabel.NOTHING_ALIGNED}),
    (Bucket.MISSING_COLUMNS, {"shape": ShapeLabel.MISSING_COLUMNS}),
    (Bucket.WRONG_ORDER, {"shape": ShapeLabel.WRONG_ORDER}),
    (Bucket.TOO_MANY_ROWS, {"shape": ShapeLabel.TOO_MANY_ROWS}),
    (Bucket.TOO_FEW_ROWS, {"shape": ShapeLabel.TOO_FEW_ROWS}),
    (Bucket.WRONG_VALUES, {"shape": ShapeLabel.WRONG_VALUES}),
    (Bucket.EXTRA_COLUMNS, {"shape": ShapeLabel.EXTRA_COLUMNS}),
    (Bucket.OTHER_DIFFERENCE, {"shape": None}),
    (Bucket.OTHER_DIFFERENCE, {"candidate": NotRun(), "answer": "42", "statements_complete": False}),
    (Bucket.OTHER_DIFFERENCE, {"candidate": NotRun(), "answer": "42", "queries": (Query(sql="", executed=None),)}),
]


@pytest.mark.parametrize(("bucket", "given"), ROWS, ids=[f"{bucket}-{i}" for i, (bucket, _) in enumerate(ROWS)])
def test_each_row(bucket: Bucket, given: dict[str, Any]) -> None:
    outcome = decide(facts(**given))
    assert outcome.bucket is bucket
    assert outcome.passed is (None if bucket.unscored else False)
    assert outcome.cause is not None
    assert outcome.cause[0].isupper()


def test_the_list_is_closed_and_in_order_and_every_row_is_walked() -> None:
    assert [*UNSCORED, *FAILING, Bucket.OTHER_DIFFERENCE] == list(Bucket)
    assert {bucket for bucket, _ in ROWS} == set(Bucket)


@pytest.mark.parametrize(
    "given",
    [
        {"metrics": RIGHT},
        {"metrics": RIGHT, "queries": (Query(sql="C", executed=False),)},
        {**REFUSE, "status": Status.UNSUPPORTED, "candidate": NotRun()},
        {"gold": None, "metrics": {}},
        {"metrics": RIGHT, "returned": Returned(row_cap=2)},
    ],
)
def test_a_passing_case_has_no_cause(given: dict[str, Any]) -> None:
    outcome = decide(facts(**given))
    assert (outcome.passed, outcome.bucket, outcome.cause) == (True, None, None)


def test_a_right_result_under_a_wrong_status_fails() -> None:
    assert decide(facts(metrics=RIGHT, status=Status.FALLBACK)).bucket is Bucket.FELL_BACK
    assert decide(facts(metrics=RIGHT, status=Status.BUDGET_EXHAUSTED)).bucket is Bucket.STEP_BUDGET


def test_an_expected_answer_without_gold_needs_a_candidate_that_ran() -> None:
    assert decide(facts(gold=None, metrics={}, candidate=rows(0))).passed is True
    assert decide(facts(gold=None, metrics={}, candidate=NotRun(), answer="yes")).passed is False


def test_caps_are_read_from_every_place_that_knows_one() -> None:
    given = facts(
        returned=Returned(row_cap=50),
        queries=(
            Query(sql="C", sql_written="select 1", seen=Seen(truncated=True, row_cap=10)),
            Query(sql="other", seen=Seen(truncated=False, row_cap=7)),
        ),
        limit=100,
    )
    assert known_caps(given.trial) == (50, 10, 100)


def test_a_limit_that_the_agent_wrote_itself_is_no_cap() -> None:
    given = facts(queries=(Query(sql="C", sql_written="SELECT n LIMIT 2"),), limit=2, metrics=CUT)
    assert known_caps(given.trial) == ()
