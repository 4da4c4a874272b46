"""A small shop database, and configurations on it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.config import Config
from sqlassay.records.settings import Limits
from sqlassay.running.configure import from_mapping
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
Answering = Callable[[dict[str, Any]], Any]

AGENT = '''
import json, os, time

def log(text):
    fd = os.open(os.environ["SHOP_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (text + "\\n").encode())
    os.close(fd)

def answer(question, **context):
    """Answers `SQL ...` with that SQL; other words make it misbehave."""
    log(question)
    word, _, rest = question.partition(" ")
    if word == "hang":
        time.sleep(60)
    if word == "crash":
        raise RuntimeError("out of paper")
    if word == "unreachable":
        from sqlassay.errors import AgentUnreachable
        raise AgentUnreachable("nobody is at home")
    if word == "unreadable":
        return 7
    if word == "abyss":
        deep = []
        for _ in range(20000):
            deep = [deep]
        return {"sql": rest, "stages": {"plan": {"deep": deep}}}
    if word == "odd":
        return {"sql": rest, "answer": "\\ud800", "stages": {"s": {"nan": float("nan"), "set": {1}, 3: object()}}}
    if word == "empty":
        return {}
    if word == "decline":
        return {"status": "UNSUPPORTED", "answer": "no"}
    if word == "slow":
        time.sleep(float(rest.split()[0]))
        rest = rest.partition(" ")[2]
        log("end " + question)
    if word == "context":
        return {"sql": "SELECT 1", "answer": json.dumps(context, default=str)}
    return {"sql": rest, "status": "SUCCESS"}
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """`item(id, name, price)` with ten rows; a module `shop_agent` beside it."""
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        connection.executemany("INSERT INTO item VALUES (?, ?, ?)", [(i, f"item {i}", i * 1.5) for i in range(10)])
        connection.commit()
    (tmp_path / "shop_agent.py").write_text(AGENT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def url(shop: Path) -> str:
    return f"sqlite:///{shop / 'shop.db'}"


@pytest.fixture
def configured(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    """A configuration with the given cases; their question is `SQL <gold>` unless they have one."""
    monkeypatch.setenv("SHOP_LOG", str(shop / "asked.log"))

    def make(cases: Sequence[Mapping[str, Any]], **settings: Any) -> Config:
        lines = [{"question": f"SQL {case.get('gold_sql')}", **case} for case in cases]
        (shop / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return from_mapping(
            {
                "cases": "cases.jsonl",
                "database": "sqlite:///shop.db",
                "agent": {"kind": "python", "target": "shop_agent:answer"},
                **settings,
            },
            base_dir=str(shop),
            environment={},
        )

    return make


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Two warm workers for the whole session, with short limits."""
    made = Pool(2, limits=Limits(grace_s=0.2))
    yield made
    made.close()


@pytest.fixture
def endpoint() -> Iterator[Callable[[Answering], str]]:
    """Serves a function of a JSON body over HTTP for one test; gives the address."""
    started: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def serve(answering: Answering) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps(answering(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        started.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield serve
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()
