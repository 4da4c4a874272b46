"""A report read from a run folder line by line says what one made from all its records at once says."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sqlassay
from sqlassay.archive.run_folder import RunFolder
from sqlassay.report import payload
from sqlassay.report.build import build
from sqlassay.report.stored import report_of, summary_of, twins_of

KEPT = Path(__file__).parents[1] / "fixtures" / "runs" / "v1"


@pytest.fixture
def folder() -> RunFolder:
    return RunFolder(KEPT)


def test_both_ways_give_the_same_report(folder: RunFolder) -> None:
    streamed = report_of(folder)
    cases = {case.id: case for case in folder.cases()}
    rows_of = folder.rows_by_key()
    scored = {(m.case_id, m.phrasing, m.repeat): m for m in folder.scores()}
    whole = build(
        folder.manifest,
        summary_of(folder),
        measurements=scored.values(),
        turns=folder.turns(),
        cases=cases,
        results=lambda key: rows_of(key, 0),
    )
    assert len(streamed.cases) > 5
    assert streamed.cases == whole.cases
    assert streamed.summary == whole.summary
    assert [streamed.buckets, streamed.shapes, streamed.heat] == [whole.buckets, whole.shapes, whole.heat]
    for row in streamed.cases:
        one, other = streamed.detail(row.key), whole.detail(row.key)
        assert one is not None
        assert other is not None
        assert payload.detail(one, raw=False) == payload.detail(other, raw=False)
        raw = payload.detail(one)["raw"]
        assert json.loads(raw["score"]) == scored[row.key.case_id, row.key.phrasing, row.key.repeat].to_dict()


def test_twins_are_the_same_whether_golds_are_read_again_or_not(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.commit()
    golds = {
        "one": "SELECT a FROM t WHERE b = 'x' AND a > 2",
        "same": "select u.a from t u where 2 < u.a and u.b = 'x'",
        "other": "SELECT a FROM t WHERE a > 2",
        "typo": 'SELECT "nothing" FROM t',
        "typo again": 'SELECT  "nothing"  FROM t',
        "near": 'SELECT "nothing" FROM t AS u',
        "broken": "SELECT c FROM t",
        "broken too": "SELECT c FROM t",
    }
    config = {
        "cases": [{"id": name, "question": "?", "gold_sql": sql} for name, sql in golds.items()],
        "database": f"sqlite:///{tmp_path / 't.db'}",
        "agent": {"kind": "replay", "path": str(tmp_path / "answers.jsonl")},
        "runs": str(tmp_path / "runs"),
    }
    answers = "".join(json.dumps({"id": name, "sql": "SELECT 1"}) + "\n" for name in golds)
    (tmp_path / "answers.jsonl").write_text(answers, encoding="utf-8")
    (tmp_path / "cases.json").write_text(json.dumps(config.pop("cases")), encoding="utf-8")
    folder = sqlassay.run({**config, "cases": str(tmp_path / "cases.json")}).folder
    read_again = twins_of(folder, {case.id: case for case in folder.cases()})
    groups = {
        frozenset({"one", "same"}),
        frozenset({"typo", "typo again", "near"}),
        frozenset({"broken", "broken too"}),
    }
    assert set(read_again) == groups
    assert set(summary_of(folder).per_case.twins) == groups
