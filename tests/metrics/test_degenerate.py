"""Degenerate trials, reviewed one by one: the value of every metric, or the reason why it has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlassay.metrics.registry import families
from sqlassay.records.case import Case, GroupsShape, IdSetShape, RankingShape, ScalarShape, Shape, Status, TableShape
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.relation import Column, Relation, Schema, TableSchema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Direct, Side, Trial
from sqlassay.records.turn import OfferedTable, Retrieval, Turn
from sqlassay.records.value import Quantity, Ratio, Reading, Undefined
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

SHAPES: dict[str, Shape] = {
    "table": TableShape(),
    "id_set": IdSetShape(column="a"),
    "ranking": RankingShape(column="a"),
    "scalar": ScalarShape(),
    "groups": GroupsShape(columns=("a",)),
}
TABLES = Schema(dialect="sqlite", tables=(TableSchema(name="t", columns=("a", "b", "c")),))
LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "degenerate.jsonl").read_text(encoding="utf-8").splitlines()
]


def execution(given: Any) -> Execution:
    """Rows as `{"names", "rows", "cut"}`, an error by its kind, null for what did not run."""
    if given is None:
        return NotRun()
    if isinstance(given, str):
        return SqlError(kind=ErrorKind(given), message="no")
    columns = tuple(Column(name=name) for name in given["names"])
    rows = [tuple(row) for row in given["rows"]]
    return Rows(relation=Relation(columns=columns, rows=rows, truncated=given.get("cut", False)))


def side(sql: str | None, result: Any) -> Side:
    facts = None if sql is None else understand(sql, index(TABLES))
    return Side(sql=sql, execution=execution(result), comprehension=facts)


def offered(names: list[str] | None, *, complete: bool) -> Retrieval | None:
    if names is None:
        return None
    return Retrieval(offered=tuple(OfferedTable(name=name) for name in names), offered_complete=complete)


def measured(line: dict[str, Any]) -> dict[str, float | str]:
    case = Case(id="c", question="?", gold_sql=(line["gold_sql"],), compare_on=SHAPES[line["shape"]])
    retrieval = offered(line.get("offered"), complete=line.get("complete", True))
    trial = Trial(
        case=case,
        turn=Turn(
            status=Status(line.get("status", "SUCCESS")), candidate_sql=line["candidate_sql"], retrieval=retrieval
        ),
        golds=(side(line["gold_sql"], line["gold"]),),
        candidate=side(line["candidate_sql"], line["candidate"]),
        direct=None if retrieval is None else Direct(offered=retrieval.offered),
        schema=TABLES,
    )
    found: dict[str, float | str] = {}
    for family in families():
        if family.name in ("execution", "output", "component", "retrieval"):
            readings = family.readings(family.examine(trial, ScoreSettings()))
            found |= {name: _plain(reading) for name, reading in readings.items()}
    return found


def _plain(reading: Reading) -> float | str:
    if isinstance(reading, Undefined):
        return reading.reason.value
    assert isinstance(reading, (Ratio, Quantity)), reading
    return round(reading.value, 3)


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['shape']}: {line['name']}")
def test_every_metric_of_a_degenerate_trial(line: dict[str, Any]) -> None:
    assert measured(line) == line["metrics"]


def test_every_shape_meets_every_kind_of_degenerate_result() -> None:
    names: dict[str, set[str]] = {}
    for line in LINES:
        names.setdefault(line["shape"], set()).add(line["name"])
    assert names.keys() == SHAPES.keys()
    assert len(set.intersection(*names.values())) >= 17
