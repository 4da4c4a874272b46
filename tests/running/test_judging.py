"""Judges speak last, are recorded, and change no verdict."""

from __future__ import annotations

from collections.abc import Callable

from sqlassay.judges.base import CORRECTNESS, Material
from sqlassay.records.config import Config
from sqlassay.records.measurement import Measurement
from sqlassay.records.opinion import Opinion
from sqlassay.running.judging import judge
from sqlassay.running.plan import plan
from sqlassay.running.rescore import rescore
from sqlassay.running.run import RunResult, carry_out, run
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]


class FakeJudge:
    def __init__(self) -> None:
        self.seen: list[Material] = []
        self.closed = False

    async def opinions(self, material: Material) -> tuple[Opinion, ...]:
        self.seen.append(material)
        return (Opinion(metric=CORRECTNESS, score=0.75, reason="so so", model="fake", prompt_hash="h"),)

    async def close(self) -> None:
        self.closed = True


def scores(result: RunResult) -> dict[str, Measurement]:
    return {score.case_id: score for score in result.folder.scores()}


def test_opinions_are_recorded_once_and_change_no_verdict(configured: Configured, pool: Pool) -> None:
    cases = [
        {"id": "text", "gold_sql": "SELECT 1", "question": "context", "expected_answer": "one"},
        {"id": "silent", "gold_sql": "SELECT 1"},
    ]
    done = carry_out(plan(configured(cases)), pool)
    before = scores(done)
    judging = FakeJudge()
    judged = judge(done.path, judging)
    assert judging.closed
    (material,) = judging.seen
    assert material.expected_answer == "one"
    assert "SELECT" not in material.answer
    assert material.result is not None
    after = scores(judged)
    assert after["text"].value(CORRECTNESS) == 0.75
    assert before["text"].value(CORRECTNESS) is None
    for name, score in after.items():
        for metric in ("outcome.pass", "execution.exact", "execution.executable"):
            assert score.value(metric) == before[name].value(metric)
        assert score.bucket == before[name].bucket
    again = FakeJudge()
    judge(done.path, again)
    assert again.seen == [], "what has opinions is not judged again"
    assert scores(rescore(done.path))["text"].value(CORRECTNESS) == 0.75


def test_no_judge_is_never_built(configured: Configured) -> None:
    config = configured(
        [{"id": "a", "gold_sql": "SELECT 1"}], judge={"kind": "no such kind"}, no_judge=True, run={"workers": 1}
    )
    assert run(config).passed == 1
