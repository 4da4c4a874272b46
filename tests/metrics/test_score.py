"""From a trial to a measurement: every family, one cause, evidence, and what happens when a family fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from sqlassay.metrics import registry
from sqlassay.metrics import score as scoring
from sqlassay.metrics.base import Card, Family
from sqlassay.metrics.score import score
from sqlassay.records.case import Case, Expectation, Status
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.relation import Column, Relation, Schema, TableSchema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Returned, Turn, TurnError, TurnErrorKind
from sqlassay.records.value import Broken, Ceiling, Quantity, Ratio, Reading, Undefined
from sqlassay.records.wire import read_line, read_measurement, write_line
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

SCHEMA = Schema(dialect="sqlite", tables=(TableSchema(name="t", columns=("a", "b"), types=("INT", "INT")),))
NAMES = index(SCHEMA)


def rows(*values: tuple[Any, ...], truncated: bool = False, account: Account | None = None) -> Rows:
    width = len(values[0]) if values else 1
    columns = tuple(Column(name="ab"[i]) for i in range(width))
    relation = Relation(columns=columns, rows=list(values), truncated=truncated)
    return Rows(relation=relation, account=account, duration_s=0.1)


def side(sql: str, execution: Execution) -> Side:
    return Side(sql=sql, execution=execution, comprehension=understand(sql, NAMES))


def trial(
    candidate: Execution,
    *golds: Execution,
    sql: str = "SELECT a FROM t WHERE b = 1",
    case: Mapping[str, Any] | None = None,
    **turn: Any,
) -> Trial:
    texts = [f"SELECT a FROM t WHERE b > {number}" for number in range(len(golds))]
    has_sql = not isinstance(candidate, NotRun)
    return Trial(
        case=Case(id="a", question="?", gold_sql=tuple(texts), **(case or {})),
        turn=Turn(**{"case_id": "a", "status": Status.SUCCESS, "candidate_sql": sql if has_sql else None, **turn}),
        golds=tuple(side(text, each) for text, each in zip(texts, golds, strict=True)),
        candidate=side(sql, candidate) if has_sql else Side(sql=None),
        schema=SCHEMA,
    )


def test_a_right_answer() -> None:
    measured = score(trial(rows((1,), (2,)), rows((2,), (1,))))
    assert measured.metrics["outcome.pass"] == Ratio(hits=1, total=1)
    assert measured.value("execution.exact") == 1
    assert (measured.bucket, measured.cause) == (None, None)
    assert next(iter(measured.metrics)) == "outcome.pass"


def test_evidence_of_both_sides() -> None:
    measured = score(trial(rows((1,)), rows((1,)), sql="SELECT max(t.a) FROM t"))
    sql = measured.evidence["sql"]
    assert sql["gold_tables"] == sql["gold_base_tables"] == sql["candidate_tables"] == ["t"]
    assert sql["gold_columns_read"] == ["t.a", "t.b"]
    assert sql["candidate_columns_read"] == ["t.a"]
    assert (sql["gold_origins"], sql["candidate_origins"]) == (["t.a"], [None])
    execution = measured.evidence["execution"]
    assert (execution["gold_rows"], execution["candidate_rows"]) == (1, 1)
    assert execution["gold_error"] is execution["candidate_error"] is None


def test_no_candidate_leaves_its_evidence_unknown() -> None:
    sql = score(trial(NotRun(), rows((1,)))).evidence["sql"]
    assert sql["gold_tables"] == ["t"]
    assert sql["candidate_tables"] is sql["candidate_origins"] is None


def test_the_gold_that_counts_is_the_one_that_fits() -> None:
    measured = score(trial(rows((7,)), rows((1,)), SqlError(kind=ErrorKind.OTHER, message="x"), rows((7,))))
    assert measured.value("execution.exact") == 1
    assert measured.evidence["execution"]["gold_index"] == 2


FAULTS: list[Trial] = [
    trial(rows((1,)), SqlError(kind=ErrorKind.CONNECTION, message="gone")),
    trial(SqlError(kind=ErrorKind.CONNECTION, message="gone"), rows((1,))),
    trial(NotRun(), rows((1,)), status=None, error=TurnError(kind=TurnErrorKind.TRANSPORT, message="no route")),
    trial(NotRun(), rows((1,)), status=None),
]


@pytest.mark.parametrize("faulty", FAULTS)
def test_a_fault_counts_neither_for_nor_against_the_agent(faulty: Trial) -> None:
    measured = score(faulty)
    assert measured.bucket is not None
    assert measured.bucket.unscored
    assert measured.value("outcome.pass") is None
    for name in ("execution.exact", "output.columns.recall"):
        assert isinstance(measured.metrics[name], Undefined), name


def test_a_truncated_side_is_a_limit_of_ours() -> None:
    measured = score(trial(rows((1,), truncated=True), rows((1,))))
    assert measured.bucket is Bucket.HARNESS_ERROR
    assert Ceiling.TRUNCATED in measured.ceilings


def test_ceilings_come_in_the_order_of_the_closed_list() -> None:
    shown = Returned(row_cap=1, truncated=True)
    measured = score(trial(rows((1,), (2,)), rows((1,), (2,)), sql="SELECT a FROM t ORDER BY random()", returned=shown))
    assert {Ceiling.TRUNCATED_SHOWN, Ceiling.NONDETERMINISTIC} <= set(measured.ceilings)
    assert list(measured.ceilings) == [ceiling for ceiling in Ceiling if ceiling in measured.ceilings]
    assert Ceiling.WEAK_EVIDENCE in score(trial(rows((1,)), rows((1,)))).ceilings
    clock = trial(rows((1,)), rows((1,)), sql="SELECT date('now')")
    assert Ceiling.NONDETERMINISTIC in score(clock).ceilings


@pytest.mark.parametrize(
    ("stored", "stale"),
    [([[2], [1]], False), ([[1.001], [2]], False), ([[1]], True), ([[1], [3]], True), ([[1, 2]], True), ([], True)],
)
def test_a_stored_result_that_no_longer_holds_is_called_stale(stored: list[list[Any]], stale: bool) -> None:
    measured = score(trial(rows((1,), (2,)), rows((1,), (2,)), case={"gold_rows": stored}))
    assert measured.evidence["execution"]["gold_rows_stale"] is stale
    assert measured.value("execution.exact") == 1
    assert "gold_rows_stale" not in score(trial(rows((1,)), rows((1,)))).evidence["execution"]


def _failing(family: str, *names: str) -> Family[Any]:
    def examine(trial: Trial, settings: ScoreSettings) -> Any:
        raise ZeroDivisionError(f"in {trial.case.id} under {settings.columns}")

    cards = tuple(Card(name=name, title=name, question="?", formula="?") for name in names)
    none: Mapping[str, Reading] = {}
    return Family(
        name=family,
        cards=cards,
        examine=examine,
        readings=lambda _: none,
        evidence=lambda _: {},
        ceilings=lambda _: (),
    )


def test_a_family_that_fails_takes_neither_the_case_nor_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = _failing("answer", "answer.one", "answer.two", "answer.{name}")
    monkeypatch.setattr(scoring, "families", lambda: (*registry.families(), broken))
    measured = score(trial(rows((1,)), rows((1,))))
    assert measured.metrics["answer.one"] == Broken(error="ZeroDivisionError: in a under any")
    assert "answer.{name}" not in measured.metrics
    assert measured.value("execution.exact") == 1
    assert measured.bucket is Bucket.HARNESS_ERROR
    assert "answer.one" in (measured.cause or "")
    assert isinstance(measured.metrics["outcome.pass"], Undefined)


def test_stages_name_the_first_that_broke() -> None:
    expectation = Expectation(stages={"intent": {"kind": "COUNT"}, "plan": {"steps": [1]}})
    wrong = trial(rows((1,)), rows((2,)), case={"expect": expectation}, stages={"intent": {"kind": "LIST"}})
    assert score(wrong).first_broken_stage == "intent"


def test_every_line_is_json_and_comes_back() -> None:
    for measured in (score(FAULTS[0]), score(trial(rows((1,)), rows((1,)))), score(trial(NotRun(), rows((1,))))):
        line = write_line(measured)
        json.loads(line, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
        assert write_line(read_measurement(read_line(line))) == line


def test_the_same_trial_gives_the_same_bytes() -> None:
    one = trial(rows((1, 2), (1, 3)), rows((1, 2), (1, 4)), sql="SELECT a, b FROM t")
    assert write_line(score(one)) == write_line(score(one))


def test_every_metric_is_declared_and_named_once() -> None:
    names = [card.name for card in registry.cards()]
    assert len(names) == len(set(names))
    assert names[0] == "outcome.pass"
    measured: Measurement = score(trial(rows((1,)), rows((1,))))
    for name, reading in measured.metrics.items():
        assert isinstance(reading, (Ratio, Quantity, Undefined)), name
        assert name in names or any("{" in known for known in names), name


def test_all_families_are_there() -> None:
    assert len(registry.families()) == len(registry.NAMES)
