"""Runs stopped from outside, in processes of their own: an interrupt, a disk that refuses, a second writer."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from sqlassay.archive.run_folder import RunFolder, reopen
from sqlassay.cli.main import run_command
from sqlassay.records.run import RunState

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT and sets limits of the process"),
]
CASES = 12
AGENT = """
import os
import time


def answer(question):
    with open("asked.log", "a") as log:
        log.write(question + "\\n")
    number = int(question.split()[1])
    if number == 3 and not os.path.exists("patient"):
        time.sleep(600)
    return {"sql": f"SELECT a FROM t WHERE a < {number}"}
"""
CONFIG = """
cases: cases.jsonl
database: sqlite:///t.db
agent: {kind: python, target: "stopped_agent:answer"}
run: {jobs: 2, workers: 1}
"""
PROGRAM = "from sqlassay.cli.main import main; import resource, sys; {before}; main(sys.argv[1:])"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve cases on a small database; the agent never answers the fourth while there is no file `patient`."""
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(CASES)])
        connection.commit()
    cases = [
        {"id": f"c{i}", "question": f"Below {i} ?", "gold_sql": f"SELECT a FROM t WHERE a < {i}"} for i in range(CASES)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    (tmp_path / "stopped_agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "sqlassay.yaml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments: str, before: str = "pass") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM.format(before=before), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], path: Path, lines: int = 0) -> None:
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= lines):
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
    assert process.poll() is None, process.communicate()


def whole(path: Path) -> int:
    """How many lines the file has; every one is JSON."""
    content = path.read_bytes() if path.exists() else b""
    assert content == b"" or content.endswith(b"\n")
    return len([json.loads(line) for line in content.splitlines()])


def questions(folder: Path) -> Counter[str]:
    return Counter((folder / "asked.log").read_text(encoding="utf-8").splitlines())


def test_an_interrupt_says_how_to_go_on_and_going_on_asks_nothing_twice(folder: Path) -> None:
    run = folder / "runs" / "r"
    process = start("run", "--run-id", "r", "--timeout", "30", "--gate")
    # All but the fourth are answered; that one is in flight for ever.
    wait_for(process, run / "scores.jsonl", CASES - 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "--timeout 30.0 --gate --resume --run-id r" in said
    assert RunFolder(run).manifest.state is RunState.INTERRUPTED
    assert whole(run / "turns.jsonl") == whole(run / "scores.jsonl") == CASES - 1
    (folder / "patient").touch()
    words = shlex.split(next(line for line in said.splitlines() if "go on with: " in line).partition("go on with: ")[2])
    assert run_command([word for word in words[words.index("run") :] if word != "--gate"]) == 0
    assert whole(run / "scores.jsonl") == CASES
    again = {question for question, count in questions(folder).items() if count > 1}
    assert again == {"Below 3 ?"}
    turns = {turn.case_id: turn.asked_again for turn in RunFolder(run).turns()}
    assert [case_id for case_id, asked_again in turns.items() if asked_again] == ["c3"]


def test_an_interrupt_before_the_first_question_can_be_gone_on_with(folder: Path) -> None:
    process = start("run", "--run-id", "r", "-q")
    wait_for(process, folder / "runs" / "r" / "manifest.json")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "run --resume --run-id r" in said
    (folder / "patient").touch()
    assert run_command(["run", "--resume", "-q"]) == 0
    assert whole(folder / "runs" / "r" / "scores.jsonl") == CASES


def test_a_disk_that_refuses_tears_nothing_and_loses_nothing(folder: Path) -> None:
    (folder / "patient").touch()
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))"
    process = start("run", "--run-id", "r", "-q", before=limit)
    _, said = process.communicate()
    assert process.returncode == 3, said
    assert "cannot be written" in said
    assert "--resume" in said
    run = folder / "runs" / "r"
    kept = whole(run / "scores.jsonl")
    assert kept < CASES
    assert whole(run / "turns.jsonl") >= kept
    before = questions(folder)
    turned = {turn.question for turn in RunFolder(run).turns()}
    assert run_command(["run", "--resume", "-q"]) == 0
    assert whole(run / "scores.jsonl") == CASES
    assert all(questions(folder)[question] == before[question] for question in turned)


def test_a_second_process_is_refused_with_the_first_ones_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = folder / "runs" / "r"
    process = start("run", "--run-id", "r", "-q")
    wait_for(process, run / "scores.jsonl", 1)
    for arguments in (["run", "--resume", "--run-id", "r", "-q"], ["score", "r", "-q"]):
        assert run_command(arguments) != 0
        assert f"pid {process.pid}" in capsys.readouterr().err
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    with reopen(run):
        assert whole(run / "scores.jsonl") >= 1


def test_a_place_that_cannot_hold_runs_is_named_before_anything_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken").touch()
    assert run_command(["run", "--runs", "taken", "-q"]) == 2
    assert "taken" in capsys.readouterr().err
    assert not (folder / "asked.log").exists()
