"""What is wrong from outside is a clear error or a counted condition, with its exit code, and nothing is lost."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sqlassay.cli.main import run_command

GOLD = "SELECT COUNT(*) FROM t"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    database = sqlite3.connect(tmp_path / "t.db")
    database.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    database.close()
    cases = [{"id": name, "question": f"How many, {name}?", "gold_sql": GOLD} for name in ("one", "two")]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(folder: Path, agent: dict[str, Any]) -> None:
    config = {"cases": "cases.jsonl", "database": "t.db", "agent": agent}
    (folder / "sqlassay.yaml").write_text(json.dumps(config), encoding="utf-8")


@pytest.fixture
def login_page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            page = b"<html><body>Please log in</body></html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ask"
    server.shutdown()
    thread.join()
    server.server_close()


def counted(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


def test_a_dead_agent_leaves_every_case_unscored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(folder, {"kind": "http", "url": "http://127.0.0.1:9/ask", "retries": 0})
    assert run_command(["run", "--run-id", "one", "--json"]) == 3
    summary = counted(capsys)
    assert summary["buckets"]["harness_error"] == summary["self_checks"]["harness_errors"] == 2
    assert summary["metrics"]["outcome.pass"]["mean"] is None
    assert len((folder / "runs" / "one" / "turns.jsonl").read_bytes().splitlines()) == 2


def test_an_agent_that_answers_a_web_page(folder: Path, login_page: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure(folder, {"kind": "http", "url": login_page, "retries": 0})
    assert run_command(["run", "--run-id", "one", "--json"]) == 3
    assert counted(capsys)["buckets"]["extractor_empty"] == 2
    assert run_command(["show", "one", "two"]) == 0
    assert "a web page instead of JSON" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("predictions", "said"),
    [
        ([("one", GOLD), ("two", GOLD), ("three", GOLD)], "'three'"),
        ([("one", GOLD), ("two", GOLD), ("one", GOLD)], "'one' appears twice"),
        ([("one", GOLD)], "no prediction for 'two'"),
    ],
)
def test_predictions_are_joined_by_id_or_refused(
    folder: Path, predictions: list[tuple[str, str]], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(json.dumps({"id": name, "sql": sql}) + "\n" for name, sql in predictions)
    (folder / "p.jsonl").write_text(lines, encoding="utf-8")
    configure(folder, {"kind": "replay", "path": "p.jsonl"})
    assert run_command(["run", "-q"]) == 2
    assert said in capsys.readouterr().err
    assert not list((folder / "runs").glob("*/scores.jsonl"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("mapping", "said"),
    [("question=Qestion", "did you mean"), ("qestion=Question", "question"), ("question", "FIELD=COLUMN")],
)
def test_an_unknown_column_or_field_in_a_mapping(mapping: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.csv").write_text(f"id,Question,gold_sql\n1,How many?,{GOLD}\n", encoding="utf-8")
    assert run_command(["import", "columns", "q.csv", "--into", "out", "--map", mapping]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "three", "question": "How many?", "gold_sql": ""}', "cases.jsonl:3"),
        ('{"id": "three", "question": "How many?", "gold_sql": []}', "cases.jsonl:3"),
        ('{"id": "three", "question": ', "cases.jsonl:3"),
        ('{"id": "one", "question": "Again?", "gold_sql": "SELECT 1"}', "stands twice"),
    ],
)
def test_a_bad_line_of_cases_is_named(folder: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    configure(folder, {"kind": "replay", "path": "p.jsonl"})
    assert run_command(["run", "-q"]) == 2
    assert said in capsys.readouterr().err


def test_a_missing_database_is_named_before_anything_is_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(folder, {"kind": "http", "url": "http://127.0.0.1:9/ask"})
    (folder / "t.db").unlink()
    assert run_command(["run", "-q"]) == 3
    assert "t.db" in capsys.readouterr().err
    assert not list((folder / "runs").glob("*/asked.jsonl"))


@pytest.mark.usefixtures("folder")
def test_json_alone_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.jsonl").write_text("".join(f'{{"id": "{name}", "sql": "{GOLD}"}}\n' for name in ("one", "two")))
    configure(Path(), {"kind": "replay", "path": "p.jsonl"})
    commands = [
        ["run", "--run-id", "one", "--json", "-o", "out.html"],
        ["check", "--json"],
        ["doctor", "--json"],
        ["score", "one", "--json"],
        ["report", "one", "--json", "-o", "out.md"],
        ["show", "one", "two", "--json"],
        ["list", "--json"],
        ["compare", "one", "one", "--json"],
        ["gate", "one", "--require", "outcome.pass >= 0.5", "--json"],
    ]
    for command in commands:
        assert run_command(command) == 0, command
        assert json.loads(capsys.readouterr().out), command
