"""Retrievers called by the harness: over HTTP and in process, with what is to be hidden."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sqlassay.errors import ConfigError
from sqlassay.records.turn import OfferedTable
from sqlassay.retrievers import registry
from sqlassay.retrievers.base import read_answer
from sqlassay.retrievers.python import PythonRetriever


class _Server(ThreadingHTTPServer):
    received: list[tuple[str, dict[str, Any], str | None]]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert isinstance(self.server, _Server)
        self.server.received.append((self.path, body, self.headers.get("Authorization")))
        answers: dict[str, tuple[int, str]] = {
            "/retrieve": (200, json.dumps({"tables": ["CREATE TABLE t (a INT)", "u"], "examples": [{"id": "k1"}]})),
            "/nested": (200, json.dumps({"out": {"docs": [{"name": "t", "columns": ["a"]}]}})),
            "/text": (200, "CREATE TABLE t (a INT);"),
            "/broken": (500, "no"),
            "/hide": (200, "{}"),
        }
        status, text = answers[self.path]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[_Server]:
    made = _Server(("127.0.0.1", 0), _Handler)
    made.received = []
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def url(server: _Server, path: str) -> str:
    return f"http://127.0.0.1:{server.server_port}{path}"


async def test_http_sends_question_and_what_to_hide(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    settings = {
        "kind": "http",
        "url": url(server, "/retrieve"),
        "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"},
        "hide_url": url(server, "/hide"),
    }
    retriever = registry.build(settings, base_dir=".")
    direct = await retriever.retrieve("How many?", database="shop", hide=("k7",), hide_sql=("SELECT 1",), timeout_s=5)
    await retriever.hide(ids=("k7",), sql=("SELECT 1",))
    await retriever.close()
    assert direct.offered == (
        OfferedTable(name="t", columns=("a",)),
        OfferedTable(name="u", has_ddl=False),
    )
    assert direct.examples == ("k1",)
    assert direct.error is None
    assert direct.latency_s is not None
    assert server.received == [
        (
            "/retrieve",
            {"question": "How many?", "hide": ["k7"], "hide_sql": ["SELECT 1"], "database": "shop"},
            "Bearer s3cret",
        ),
        ("/hide", {"hide": ["k7"], "hide_sql": ["SELECT 1"]}, "Bearer s3cret"),
    ]


@pytest.mark.parametrize(("path", "mapping"), [("/nested", {"offered": "out.docs"}), ("/text", None)])
async def test_http_reads_answers_of_several_shapes(
    server: _Server, path: str, mapping: Mapping[str, str] | None
) -> None:
    settings: dict[str, Any] = {"kind": "http", "url": url(server, path)}
    if mapping is not None:
        settings["map"] = mapping
    retriever = registry.build(settings, base_dir=".")
    direct = await retriever.retrieve("?", timeout_s=5)
    await retriever.close()
    assert direct.offered == (OfferedTable(name="t", columns=("a",)),)


async def test_http_failures_are_data(server: _Server) -> None:
    broken = registry.build({"kind": "http", "url": url(server, "/broken")}, base_dir=".")
    assert (await broken.retrieve("?", timeout_s=5)).error == "HTTP 500"
    await broken.close()
    absent = registry.build({"kind": "http", "url": "http://127.0.0.1:9/x"}, base_dir=".")
    failed = await absent.retrieve("?", timeout_s=5)
    assert failed.error is not None
    assert failed.offered is None
    await absent.close()


async def test_python_takes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "my_retriever_module.py").write_text(
        "def find(question, hide=()):\n    return {'offered': [{'name': 't', 'ddl': 'CREATE TABLE t (a INT)'}],"
        " 'examples': [question, *hide]}\n",
        "utf-8",
    )
    retriever = registry.build({"target": "my_retriever_module:find"}, base_dir=str(tmp_path))
    direct = await retriever.retrieve("How many?", hide=("k7",), hide_sql=("SELECT 1",), database="shop")
    assert direct.offered == (OfferedTable(name="t", columns=("a",)),)
    assert direct.examples == ("How many?", "k7")


async def test_python_may_be_async_fail_or_hang() -> None:
    async def slow(question: str, **context: Any) -> Sequence[str]:
        await asyncio.sleep(0 if question == "quick" else 30)
        return ["CREATE TABLE t (a INT)", str(context["database"])]

    def failing(question: str) -> None:
        raise KeyError(question)

    quick = await PythonRetriever(slow).retrieve("quick", database="d")
    assert quick.offered == (OfferedTable(name="t", columns=("a",)), OfferedTable(name="d", has_ddl=False))
    late = await PythonRetriever(slow).retrieve("slow", timeout_s=0.05)
    assert late.error == "TimeoutError: no answer within 0.05 s"
    assert (await PythonRetriever(failing).retrieve("q")).error == "KeyError: 'q'"


@pytest.mark.parametrize("secret", ["s3cret\n", "s3crét"])
async def test_settings_are_filled_and_no_secret_is_in_an_error(
    server: _Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, secret: str
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", secret)
    address = url(server, "/nested").removeprefix("http")
    settings = {"kind": "http", "url": "${SHOP_SCHEME:-http}" + address, "headers": {"A": "${SHOP_TOKEN}"}}
    retriever = registry.build(settings, base_dir=str(tmp_path))
    answer = await retriever.retrieve("q")
    await retriever.close()
    assert answer.error
    assert "s3cr" not in answer.error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "htpp", "url": "http://x"}, "retriever.kind: 'htpp' is not known"),
        ({"kind": "http", "url": "ftp://x"}, "retriever.url: expected an http or https address"),
        ({"kind": "http", "url": "http://x", "header": {}}, "retriever: unknown setting 'header' for kind 'http'"),
        ({"kind": "http", "url": "http://${NOT_SET_ANYWHERE}"}, "the environment variable NOT_SET_ANYWHERE is not set"),
        ({"kind": "http", "url": "http://x", "map": {"tables": "a"}}, "retriever.map: unknown field 'tables'"),
        ({"kind": "python", "target": "nowhere"}, "retriever.target: expected 'module:callable'"),
        ({"kind": "python", "target": "no_such_module_here:x"}, "cannot import 'no_such_module_here'"),
        ({"kind": "python", "target": "json:nothing"}, "'json:nothing' is not callable"),
    ],
)
def test_wrong_settings_are_refused_with_words(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.build(settings, base_dir=str(tmp_path))
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (None, []),
        ([], []),
        ({"tables": {"t": "CREATE TABLE t (a INT)", "u": ["a", "b"]}}, [("t", True), ("u", True)]),
        ({"tables": [{"table_name": "t"}]}, [("t", False)]),
        ({"documents": [{"content": "CREATE TABLE t (a INT); CREATE TABLE u (b INT)"}]}, [("t", True), ("u", True)]),
        (["t", "CREATE TABLE t (a INT)"], [("t", True)]),
    ],
)
def test_answers_are_read_whatever_their_shape(answer: Any, names: list[tuple[str, bool]]) -> None:
    offered = read_answer(answer).offered
    assert offered is not None
    assert [(table.name, table.has_ddl) for table in offered] == names


def test_an_answer_without_tables_says_nothing_about_them() -> None:
    assert read_answer({"examples": ["SELECT 1"]}).offered is None
    assert read_answer(7).error is not None
