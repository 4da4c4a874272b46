"""Two published systems on Spider dev: compared with the verdict that their official scores imply, and with what was
planted found: three regressions, and a typo in a gold query.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sqlassay.datasets import Dataset
from sqlassay.datasets.spider import read
from sqlassay.gate.rules import rules
from sqlassay.gate.verdict import State, judge
from sqlassay.records.case import Case
from sqlassay.records.config import Config, DatabaseSettings
from sqlassay.records.measurement import Bucket
from sqlassay.records.settings import Rule, ScoreSettings
from sqlassay.report.stored import summary_of
from sqlassay.running.plan import plan
from sqlassay.running.run import RunResult, carry_out
from sqlassay.running.worker import Pool
from sqlassay.summary.compare import compare

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "spider_dev"
DATABASES = ("concert_singer", "pets_1", "world_1")

pytestmark = [
    pytest.mark.public_data,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"Spider dev is not at {DATA}"),
]
Go = Callable[..., RunResult]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    return tuple(case for case in read(DATA).cases if case.database in DATABASES)


@pytest.fixture(scope="module")
def go(cases: tuple[Case, ...], pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Go:
    """Carries out a run of one system, with some of its answers and some cases replaced."""
    base = tmp_path_factory.mktemp("spider")
    urls = {name: DatabaseSettings(url=url) for name, url in read(DATA).databases.items() if name in DATABASES}

    def make(
        system: str, run_id: str, *, answers: Mapping[str, str] = {}, asked: tuple[Case, ...] = cases
    ) -> RunResult:
        known = {case.id for case in asked}
        told = [line for line in lines(DATA / "predictions" / f"{system}.jsonl") if line["id"] in known]
        path = base / f"{run_id}.jsonl"
        text = "".join(json.dumps({"id": t["id"], "sql": answers.get(t["id"], t["sql"])}) + "\n" for t in told)
        path.write_text(text, encoding="utf-8")
        config = Config(
            databases=urls,
            agent={"kind": "replay", "path": str(path)},
            runs=str(base / "runs"),
            score=ScoreSettings(exact_as=(Rule.SPIDER,)),
        )
        return carry_out(plan(config, cases=Dataset(cases=asked)), pool, run_id=run_id)

    return make


@pytest.fixture(scope="module")
def dail(go: Go) -> RunResult:
    return go("dail_sql_gpt4", "dail")


def test_two_systems_are_compared_with_the_verdict_that_official_scores_imply(
    go: Go, dail: RunResult, cases: tuple[Case, ...]
) -> None:
    from scipy.stats import binomtest

    official = {
        system: {line["id"]: line["ex"] for line in lines(DATA / "official" / f"{system}.verdicts.jsonl")}
        for system in ("dail_sql_gpt4", "c3_chatgpt")
    }
    c3 = go("c3_chatgpt", "c3")
    differ: set[str] = set()
    for result, system in ((dail, "dail_sql_gpt4"), (c3, "c3_chatgpt")):
        for score in result.folder.scores():
            assert score.value("execution.exact@spider") == official[system][score.case_id]
            if score.value("execution.exact") != official[system][score.case_id]:
                differ.add(score.case_id)
    change = compare(summary_of(dail.folder), summary_of(c3.folder))
    before, after = official["dail_sql_gpt4"], official["c3_chatgpt"]
    alike = [case.id for case in cases if case.id not in differ]
    assert len(alike) > 0.9 * len(cases)
    assert {f.case_id for f in change.broken} - differ == {c for c in alike if before[c] and not after[c]}
    assert {f.case_id for f in change.fixed} - differ == {c for c in alike if after[c] and not before[c]}
    headline = next(metric for metric in change.metrics if metric.name == "outcome.pass")
    p = binomtest(len(change.fixed), len(change.fixed) + len(change.broken)).pvalue
    assert headline.p == pytest.approx(p)
    assert (change.verdict == "no difference shown") == (p >= 0.05)


def test_three_planted_regressions_are_caught_and_named(go: Go, dail: RunResult) -> None:
    passing = [score.case_id for score in dail.folder.scores() if score.bucket is None]
    planted = sorted(passing)[10:70:20]
    broken = {
        planted[0]: "SELECT 'nothing like it'",
        planted[1]: "SELECT nme FROM nowhere",
        planted[2]: "SELECT 1 WHERE 0",
    }
    worse = summary_of(go("dail_sql_gpt4", "worse", answers=broken).folder)
    baseline = summary_of(dail.folder)
    verdict = judge(worse, rules(["no_regressions"]), baseline=baseline)
    assert verdict.state is State.FAILED
    assert sorted(verdict.results[0].cases) == planted
    assert all(case_id in verdict.sentence for case_id in planted)
    assert judge(baseline, rules(["no_regressions"]), baseline=baseline).state is State.PASSED


def test_a_planted_typo_in_a_gold_is_the_golds_fault(go: Go, dail: RunResult, cases: tuple[Case, ...]) -> None:
    passing = {score.case_id for score in dail.folder.scores() if score.bucket is None}
    sound = next(case for case in cases if case.id in passing and " FROM " in case.gold_sql[0])
    typo = dataclasses.replace(sound, gold_sql=(sound.gold_sql[0].replace(" FROM ", " FROM no_such_", 1),))
    result = go("dail_sql_gpt4", "typo", asked=tuple(typo if case.id == sound.id else case for case in cases))
    score = next(score for score in result.folder.scores() if score.case_id == sound.id)
    assert score.bucket is Bucket.GOLD_ERROR
    assert (result.unscored, result.failed) == (1, dail.failed)
    summary = summary_of(result.folder)
    assert summary.metrics["outcome.pass"].n == len(cases) - 1
    found = judge(summary, rules(["bucket.gold_error == 0", "bucket.sql_error <= 400"]))
    assert [r.state for r in found.results] == [State.FAILED, State.PASSED]
    assert found.results[0].cases == (sound.id,)
