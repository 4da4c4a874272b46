"""A password planted wherever one can stand is in no file of a run, no message and no report."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sqlassay.cli.main import run_command

SECRETS = {
    "HEADER": "pl4nted-header-0a1b2c",
    "BODY": "pl4nted-body-3d4e5f",
    "QUERY": "pl4nted-query-6a7b8c",
    "USER": "pl4nted-user-9d0e1f",
}
WRITTEN_OUT = "pl4nted-written-2a3b4c"
CASES = """
- {id: one, question: How many?, gold_sql: SELECT COUNT(*) FROM t}
- {id: two, question: Who are you?, expect: {terminal_status: UNSUPPORTED}}
"""
FORMATS = (".json", ".jsonl", ".html", ".md", ".xml", ".csv", ".parquet")


class Talkative(BaseHTTPRequestHandler):
    """An agent that repeats everything it was sent: in its answer, or in an error."""

    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        said = f"{self.path} {dict(self.headers)} {body}"
        sql = "SELECT COUNT(*) FROM t" if "How many" in body else ""
        payload = {"sql": f"{sql} -- {self.headers['X-Key']}" if sql else "", "answer": said, "error": None}
        text = json.dumps(payload).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr: what stands there is read by the tests."""


@pytest.fixture(params=[200, 401, 500])
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Talkative, "status", request.param)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Talkative)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_no_secret_leaves_the_run(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3

    for name, value in SECRETS.items():
        monkeypatch.setenv(f"PLANTED_{name}", value)
    monkeypatch.chdir(tmp_path)
    database = sqlite3.connect(tmp_path / "t.db")
    database.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    database.close()
    agent = {
        "kind": "http",
        "url": f"http://me:${{PLANTED_USER}}@{address}/ask?key=${{PLANTED_QUERY}}",
        "headers": {"Authorization": "Bearer ${PLANTED_HEADER}", "X-Key": WRITTEN_OUT},
        "body": {"question": "{question}", "token": "${PLANTED_BODY}"},
        "retries": 0,
    }
    config = {"cases": "cases.yaml", "database": "t.db", "agent": agent}
    (tmp_path / "sqlassay.yaml").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    outputs = [part for suffix in FORMATS for part in ("-o", f"out/report{suffix}")]
    run_command(["run", "--run-id", "one", *outputs])
    run_command(["show", "one", "one"])
    run_command(["report", "one", "--failures", "out/failures.jsonl"])
    run_command(["compare", "one", "one", "-o", "out/compare.html"])
    run_command(["doctor"])
    run_command(["score", "one", "--json"])
    said = capsys.readouterr()
    kept = {
        str(path): path.read_bytes() for folder in ("runs", "out") for path in Path(folder).rglob("*") if path.is_file()
    }
    kept |= {"stdout": said.out.encode(), "stderr": said.err.encode()}
    assert len([name for name in kept if name.startswith("out")]) == len(FORMATS) + 2
    leaks = [(name, secret) for name, text in _opened(kept) for secret in _forms() if secret in text]
    assert leaks == [], "\n".join(map(str, leaks))


def _forms() -> list[bytes]:
    return [secret.encode() for secret in (*SECRETS.values(), WRITTEN_OUT)]


def _opened(kept: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Every file, and what the compressed ones hold."""
    import zlib

    for name, text in kept.items():
        yield name, text
        rest = text
        while rest[:2] == b"\x1f\x8b":
            member = zlib.decompressobj(31)
            yield f"{name} (unpacked)", member.decompress(rest)
            rest = member.unused_data
