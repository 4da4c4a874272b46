"""What a turn took: recorded quantities, statements, and time against the gold; unknown is never 0."""

from __future__ import annotations

import math

import pytest

from sqlassay.metrics.cost import CARDS, FAMILY, examine
from sqlassay.records.case import Case
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.relation import Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Query, Turn, Usage
from sqlassay.records.value import Quantity, Ratio, Reading, Reason, Undefined

UNKNOWN = Undefined(reason=Reason.NOT_RECORDED)


def rows(seconds: float) -> Rows:
    return Rows(relation=Relation(columns=()), duration_s=seconds)


def readings(turn: Turn, *, golds: tuple[Execution, ...] = (), candidate: Execution = NotRun()) -> dict[str, Reading]:
    trial = Trial(
        case=Case(id="a", question="?", gold_sql=("SELECT 1",) * len(golds)),
        turn=turn,
        golds=tuple(Side(sql="SELECT 1", execution=execution) for execution in golds),
        candidate=Side(sql="SELECT 1", execution=candidate),
    )
    return dict(FAMILY.readings(examine(trial, ScoreSettings())))


def test_every_card_is_read() -> None:
    assert set(readings(Turn())) == {card.name for card in CARDS}


def test_what_is_recorded_is_read_as_it_stands() -> None:
    usage = Usage(model_calls=2, tool_calls=0, steps=4, tokens_in=100, tokens_out=20, cost_usd=0.25, latency_s=1.5)
    found = readings(Turn(usage=usage))
    assert found["cost.latency_s"] == Quantity(value=1.5, unit="seconds")
    assert found["cost.tool_calls"] == Quantity(value=0.0, unit="count")
    assert found["cost.tokens_in"] == Quantity(value=100.0, unit="tokens")
    assert found["cost.cost_usd"] == Quantity(value=0.25, unit="usd")
    assert found["cost.statements"] == Quantity(value=0.0, unit="count")


def test_what_is_unknown_is_never_0() -> None:
    found = readings(Turn(usage=Usage(latency_s=math.inf)))
    assert {found[f"cost.{name}"] for name in ("latency_s", "steps", "tokens_in", "statements")} == {UNKNOWN}
    assert found["cost.statements_failed"] == Undefined(reason=Reason.NOTHING_TO_COUNT)


def test_statements_executed_and_failed() -> None:
    queries = (
        Query(sql="1", executed=True, succeeded=True),
        Query(sql="2", executed=True, succeeded=False),
        Query(sql="3", executed=False),
        Query(sql="4", executed=True),
    )
    found = readings(Turn(queries=queries))
    assert found["cost.statements"] == Quantity(value=3.0, unit="count")
    assert found["cost.statements_failed"] == Ratio(hits=1, total=2)
    assert readings(Turn(queries=(*queries, Query(sql="5"))))["cost.statements"] == UNKNOWN


@pytest.mark.parametrize(
    ("golds", "candidate", "expected"),
    [
        ((rows(0.2),), rows(0.3), Quantity(value=1.5, unit="ratio")),
        ((SqlError(kind=ErrorKind.SYNTAX, message=""), rows(0.2)), rows(0.1), Quantity(value=0.5, unit="ratio")),
        ((), rows(0.3), Undefined(reason=Reason.NOT_APPLICABLE)),
        ((NotRun(),), rows(0.3), Undefined(reason=Reason.GOLD_FAILED)),
        ((rows(0.2),), NotRun(), Undefined(reason=Reason.NO_SQL)),
        ((rows(0.0),), rows(0.3), UNKNOWN),
    ],
)
def test_time_against_the_gold(golds: tuple[Execution, ...], candidate: Execution, expected: Reading) -> None:
    assert readings(Turn(), golds=golds, candidate=candidate)["cost.time_ratio"] == expected
