"""Killed at any instant and resumed: every finished case is kept, no answered question is asked again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlassay.archive.run_folder import RunFolder
from sqlassay.records.config import Config
from sqlassay.records.run import RunState
from sqlassay.running.plan import plan
from sqlassay.running.run import carry_out
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
CASES = [
    {"id": f"c{i}", "gold_sql": f"SELECT id FROM item WHERE id < {i % 7}", "question": f"slow 0.01 {sql}"}
    for i in range(24)
    for sql in [f"SELECT id FROM item WHERE id < {i % 7 + (i % 5 == 0)} -- {i}"]
]
PROGRAM = """
import json, os, sys
from sqlassay.running.configure import from_mapping
from sqlassay.running.run import run

settings, base = json.loads(sys.argv[1]), sys.argv[2]
for mode in sys.stdin:
    process = os.fork()
    if process:
        print(process, flush=True)
        os.waitpid(process, 0)
        print("gone", flush=True)
        continue
    resume = "r" if mode.strip() == "resume" else None
    result = run(from_mapping(settings, base_dir=base, environment={}), run_id="r", resume=resume)
    print(result.state.value, flush=True)
    os._exit(0)
"""
SETTINGS = {
    "cases": "cases.jsonl",
    "database": "sqlite:///shop.db",
    "agent": {"kind": "python", "target": "shop_agent:answer"},
    "run": {"jobs": 3, "workers": 1},
}


class Launcher:
    """Starts the run again and again, each time in a process of its own, without importing it again."""

    def __init__(self, shop: Path) -> None:
        command = [sys.executable, "-c", PROGRAM, json.dumps(SETTINGS), str(shop)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def start(self, mode: str) -> int:
        """The id of a process that carries out the run."""
        assert self._process.stdin is not None
        self._process.stdin.write(mode + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def ended(self) -> str:
        """Wait for it; how the run ended, empty where the process was killed."""
        said = self._line()
        return "" if said == "gone" or self._line() != "gone" else said

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def launcher(configured: Configured, shop: Path) -> Iterator[Launcher]:
    configured(CASES)
    made = Launcher(shop)
    yield made
    made.close()


def questions(shop: Path) -> Counter[str]:
    log = shop / "asked.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return Counter(line for line in lines if line.startswith("slow"))


def turns_on_disk(folder: Path) -> set[str]:
    return {turn.question for turn in RunFolder(folder).turns()} if (folder / "manifest.json").exists() else set()


def outcomes(folder: Path) -> dict[str, object]:
    return {s.case_id: (s.value("outcome.pass"), s.bucket, s.shape) for s in RunFolder(folder).scores()}


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_killed_at_random_instants(configured: Configured, shop: Path, pool: Pool, launcher: Launcher) -> None:
    unbroken = carry_out(plan(configured(CASES)), pool, run_id="unbroken")
    expected = outcomes(unbroken.path)
    assert len(expected) == len(CASES)
    (shop / "asked.log").unlink()
    folder, chance = shop / "runs" / "r", random.Random(7)
    for _ in range(22):
        before, already = turns_on_disk(folder), questions(shop)
        process = launcher.start("resume" if (folder / "manifest.json").exists() else "start")
        # Killed at some instant between its first question and a little after its last.
        _wait_for_question(shop, already)
        time.sleep(chance.random() * 0.4)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        launcher.ended()
        asked = questions(shop) - already
        assert not before & set(asked), "a question whose turn was on disk was asked again"
        assert before <= turns_on_disk(folder), "a turn that was on disk is gone"
        if len(turns_on_disk(folder)) > len(CASES) - 6:
            _take_back(folder)
    launcher.start("resume")
    assert launcher.ended() == "complete"
    assert outcomes(folder) == expected
    assert len(list(RunFolder(folder).scores())) == len(list(RunFolder(folder).turns())) == len(CASES)
    assert RunFolder(folder).manifest.state is RunState.COMPLETE
    marked = {turn.question for turn in RunFolder(folder).turns() if turn.asked_again}
    assert {question for question, times in questions(shop).items() if times > 1} <= marked


def test_a_turn_that_was_lost_is_asked_for_and_scored_once_more(configured: Configured, pool: Pool) -> None:
    made = plan(configured(CASES))
    folder = carry_out(made, pool, run_id="r").path
    expected = outcomes(folder)
    *turns, lost = (folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "turns.jsonl").write_bytes(b"".join(turns) + lost[:-7])
    result = carry_out(made, pool, run_id="r", resume=True)
    assert (result.scored, result.unscored) == (len(CASES), 0)
    scored = [score.case_id for score in RunFolder(folder).scores()]
    assert len(scored) == len(set(scored))
    assert outcomes(folder) == expected
    assert [t.case_id for t in RunFolder(folder).turns() if t.asked_again] == [json.loads(lost)["case_id"]]


def _wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.005)


def _wait_for_question(shop: Path, already: Counter[str]) -> None:
    _wait_for(lambda: questions(shop) != already)


def _take_back(folder: Path) -> None:
    """Make room for more kills: as if the process had been killed early, in the middle of a line."""
    turns = (folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    kept = {json.loads(line)["case_id"] for line in turns[:4]}
    (folder / "turns.jsonl").write_bytes(b"".join(turns[:4]) + turns[4][:50])
    if (folder / "scores.jsonl").exists():
        scores = (folder / "scores.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "scores.jsonl").write_bytes(
            b"".join(s for s in scores if s.endswith(b"\n") and json.loads(s)["case_id"] in kept)
        )


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_cleanly(configured: Configured, shop: Path, launcher: Launcher, how: signal.Signals) -> None:
    configured([{**case, "question": str(case["question"]).replace("0.01", "0.3")} for case in CASES])
    process = launcher.start("start")
    _wait_for(lambda: bool(turns_on_disk(shop / "runs" / "r")))
    os.kill(process, how)
    assert launcher.ended() == "interrupted"
    folder = RunFolder(shop / "runs" / "r")
    assert folder.manifest.state is RunState.INTERRUPTED
    assert 0 < len(folder.turned()) < len(CASES)
    for name in ("turns.jsonl", "scores.jsonl"):
        path = folder.path / name
        assert not path.exists() or path.read_bytes().endswith(b"\n")
