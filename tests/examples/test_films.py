"""The demo from an empty folder: every fault of the agent is found under its own name, and nothing of ours is."""

from __future__ import annotations

import json

import pytest

from sqlassay.cli.main import run_command
from sqlassay.records.measurement import Bucket

NOT_SHOWN = {Bucket.HARNESS_ERROR, Bucket.EXTRACTOR_EMPTY, Bucket.OTHER_DIFFERENCE}
"""Faults of the harness: a demo that had them would be broken."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("demo") / "films"
    assert run_command(["demo", str(folder), "--quiet"]) == 0
    (run,) = (folder / "runs").iterdir()
    assert (run / "report.html").is_file()
    loaded: dict[str, dict[str, object]] = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return loaded


def test_every_cause_occurs_but_those_of_the_harness(summary: dict[str, dict[str, object]]) -> None:
    assert {name for name, count in summary["buckets"].items() if count} == {
        bucket.value for bucket in Bucket if bucket not in NOT_SHOWN
    }


def test_self_checks_are_all_zero(summary: dict[str, dict[str, object]]) -> None:
    assert not any(summary["self_checks"].values())


def test_no_example_leaks_past_leave_one_out(summary: dict[str, dict[str, object]]) -> None:
    assert summary["ceilings"]["leak"] == 0


def test_the_agent_is_right_often_and_refuses_both_rightly_and_wrongly(summary: dict[str, dict[str, object]]) -> None:
    metrics = summary["metrics"]
    assert isinstance(metrics["outcome.pass"], dict)
    assert 0.3 < metrics["outcome.pass"]["mean"] < 0.7
    for name in ("refusal_recall", "refusal_precision", "over_refusal"):
        estimate = metrics[f"behaviour.{name}"]
        assert isinstance(estimate, dict)
        assert 0 < estimate["mean"] < 1


def test_the_retriever_finds_most_tables(summary: dict[str, dict[str, object]]) -> None:
    recall = summary["metrics"]["retrieval.direct.recall"]
    assert isinstance(recall, dict)
    assert recall["n"] >= 40
    assert 0.8 < recall["mean"] <= 1
