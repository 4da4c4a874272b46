"""Scored again: the same lines from the record alone; other rules; other data only when asked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlassay.archive import results
from sqlassay.archive.run_folder import create, reopen
from sqlassay.errors import ArchiveError, ConfigError
from sqlassay.metrics.score import score as score_trial
from sqlassay.records.case import Case, IdSetShape, Status, Tolerance
from sqlassay.records.config import Config
from sqlassay.records.execution import ErrorKind, Rows, SqlError
from sqlassay.records.measurement import Bucket
from sqlassay.records.relation import Column, Relation
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ratio
from sqlassay.records.wire import write_line
from sqlassay.running.plan import plan
from sqlassay.running.rescore import RERUN_NOTICE, rescore
from sqlassay.running.run import RunResult, carry_out
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
CASES = [
    {"id": "right", "gold_sql": "SELECT id, name FROM item ORDER BY price"},
    {"id": "prices", "gold_sql": "SELECT price FROM item", "question": "SQL SELECT price + 0.001 FROM item"},
    {"id": "wrong", "gold_sql": "SELECT id FROM item", "question": "SQL SELECT DISTINCT id FROM item LIMIT 3"},
    {"id": "error", "gold_sql": "SELECT id FROM item", "question": "SQL SELECT x FROM item"},
    {"id": "gold", "gold_sql": "SELECT x FROM item", "question": "SQL SELECT id FROM item"},
    {"id": "crash", "gold_sql": "SELECT id FROM item", "question": "crash"},
    {"id": "declined", "question": "decline", "expect": {"terminal_status": "UNSUPPORTED"}},
    {"id": "many", "gold_sql": ["SELECT 1", "SELECT count(*) FROM item"], "question": "SQL SELECT 10"},
]


@pytest.fixture
def config(configured: Configured) -> Config:
    return configured(CASES, score={"exact_as": ["spider", "bird"]})


@pytest.fixture
def done(config: Config, pool: Pool) -> RunResult:
    return carry_out(plan(config), pool, run_id="r")


def lines(result: RunResult) -> list[str]:
    return sorted((result.path / "scores.jsonl").read_text(encoding="utf-8").splitlines())


def test_the_same_bytes_without_agent_or_database(done: RunResult, shop: Path) -> None:
    before, content = lines(done), (done.path / "scores.jsonl").read_bytes()
    for name in ("shop.db", "shop_agent.py"):
        (shop / name).unlink()
    again = rescore(done.path)
    assert (again.path / "scores.jsonl").read_bytes() == content
    assert (again.passed, again.failed, again.unscored, again.buckets) == (
        done.passed,
        done.failed,
        done.unscored,
        done.buckets,
    )
    assert again.folder.manifest.signature == done.folder.manifest.signature
    spider = json.loads(next(line for line in before if '"wrong"' in line))["metrics"]["execution.exact@spider"]
    assert spider["value"] == 0.0


def test_other_rules_change_verdict_and_signature(done: RunResult) -> None:
    strict = rescore(done.path, settings=ScoreSettings(tolerance=Tolerance(mode="exact")))
    assert strict.passed == done.passed - 1
    assert "tolerance.mode:exact" in strict.folder.manifest.signature
    assert lines(rescore(done.path)) == lines(strict), "the rules of the last scoring are the run's now"


def test_executed_again_only_when_asked(done: RunResult, config: Config, shop: Path) -> None:
    with closing(sqlite3.connect(shop / "shop.db")) as connection:
        connection.execute("DELETE FROM item WHERE id > 2")
        connection.commit()
    assert rescore(done.path).buckets == done.buckets
    again = rescore(done.path, rerun=config)
    assert RERUN_NOTICE in again.folder.manifest.notices
    assert again.passed > done.passed - 1, "three rows are right where three rows are left"
    found = {score.case_id: score for score in again.folder.scores()}
    assert found["wrong"].bucket is None
    assert found["many"].bucket is Bucket.NOTHING_ALIGNED
    assert lines(rescore(done.path)) == lines(again), "the newest execution is the record now"
    with pytest.raises(ConfigError, match="not configured"):
        rescore(done.path, rerun=Config())


def test_a_capped_side_is_not_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(results, "STORED_ROWS", 3)
    rows = Rows(relation=Relation(columns=(Column(name="a"),), rows=[(i,) for i in range(5)]))
    case, turn = Case(id="a", question="?", gold_sql=("SELECT 1",)), Turn(case_id="a", candidate_sql="SELECT 2")
    trial = Trial(
        case=case,
        turn=turn,
        golds=(Side(sql="SELECT 1", execution=rows),),
        candidate=Side(sql="SELECT 2", execution=rows),
    )
    with create(tmp_path, Manifest(run_id="capped", state=RunState.COMPLETE, signature="")) as writer:
        writer.write_cases([case])
        writer.add_turn(turn).result()
        writer.add_score(b'{"case_id":"a"}', results.keep(trial, key=TrialKey(case_id="a"), database="d")).result()
    (score,) = rescore(tmp_path / "capped").folder.scores()
    assert score.to_dict()["metrics"]["execution.exact"] == {"value": None, "undefined": "not_recorded"}
    assert score.bucket is Bucket.HARNESS_ERROR
    assert score.evidence["execution"]["gold_rows"] == 5, "how many rows there were is known, kept or not"


def test_a_verdict_that_needs_no_rows_is_made_again_from_a_gold_kept_in_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(results, "STORED_ROWS", 3)
    rows = Rows(relation=Relation(columns=(Column(name="a"),), rows=[(i,) for i in range(5)]))
    case = Case(id="a", question="?", gold_sql=("SELECT 1",), compare_on=IdSetShape(column="a"))
    turn = Turn(case_id="a", candidate_sql="SELECT x", status=Status.SUCCESS)
    failed = Side(sql="SELECT x", execution=SqlError(kind=ErrorKind.UNKNOWN_COLUMN, message="no x"))
    trial = Trial(case=case, turn=turn, golds=(Side(sql="SELECT 1", execution=rows),), candidate=failed)
    before = score_trial(trial, ScoreSettings())
    with create(tmp_path, Manifest(run_id="capped", state=RunState.COMPLETE, signature="")) as writer:
        writer.write_cases([case])
        writer.add_turn(turn).result()
        kept = results.keep(trial, key=TrialKey(case_id="a"), database="d")
        writer.add_score(write_line(before).encode(), kept).result()
    (again,) = rescore(tmp_path / "capped").folder.scores()
    assert again.evidence["execution"] == before.evidence["execution"]
    assert {n: r for n, r in again.metrics.items() if n.startswith("execution.")} == {
        n: r for n, r in before.metrics.items() if n.startswith("execution.")
    }
    assert again.metrics["execution.id_recall"] == Ratio(hits=0, total=5)


def test_a_turn_without_sides_is_the_harness_s_fault(done: RunResult) -> None:
    (done.path / "results" / "sides.jsonl").unlink()
    again = rescore(done.path)
    assert again.unscored == len(CASES)
    assert set(again.buckets) == {"harness_error"}


def test_a_run_that_is_being_written_is_left_alone(done: RunResult) -> None:
    with reopen(done.path), pytest.raises(ArchiveError, match="another process"):
        rescore(done.path)
