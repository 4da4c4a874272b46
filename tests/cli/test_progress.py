"""What is said while a run goes on, where there is no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlassay.cli.progress import progress
from sqlassay.records.run import TrialKey
from sqlassay.running.events import RunStarted, Slowed, TrialEnded


def test_the_same_slowing_is_said_once_and_a_wait_only_where_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as hear:
        hear(RunStarted(run_id="one", path=Path("one"), planned=9, kept=0))
        for jobs in (2, 1, 1, 1):
            hear(Slowed(jobs=jobs, wait_s=0.0, why="nobody is at home"))
        hear(Slowed(jobs=1, wait_s=2.0, why="a rate limit"))
    assert capsys.readouterr().err.splitlines() == [
        "run one: 9 questions",
        "slowed to 2 at a time: nobody is at home",
        "slowed to 1 at a time: nobody is at home",
        "slowed to 1 at a time, waiting 2.0 s: a rate limit",
    ]


def test_what_an_earlier_part_of_the_run_got_right_counts_as_right(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as hear:
        hear(RunStarted(run_id="one", path=Path("one"), planned=3, kept=2, passed=1))
        hear(TrialEnded(key=TrialKey(case_id="c"), passed=True, bucket=None, cause=None, done=3, planned=3))
    assert "3/3 done, 2 right" in capsys.readouterr().err
