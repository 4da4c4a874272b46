"""Agents behind HTTP: what is sent, how answers are read, and whose fault it is when there is none."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sqlassay.agents.registry import build
from sqlassay.agents.sse import events_in
from sqlassay.agents.transport import RateLimited, retry_after_s
from sqlassay.errors import AgentFailure, AgentUnreachable, ConfigError, ExtractionError
from sqlassay.records.ask import Ask, Message
from sqlassay.records.case import Status
from sqlassay.records.turn import Turn

ASK = Ask(question='How many "films" {hide}?\n', request_id="r1", hide=("h1", "h2"), database="films")


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Reply:
    status: int = 200
    body: str = '{"sql": "SELECT 1"}'
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    keeps_open: bool = False


class Server:
    """A scripted agent: replies one after the other, the last one again and again."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply()]
        self.asked: list[Asked] = []
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                headers = {key.lower(): value for key, value in self.headers.items()}
                outer.asked.append(Asked(self.command, self.path, headers, body))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                time.sleep(reply.delay_s)
                data = reply.body.encode()
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(data) + (1000 if reply.keeps_open else 0)))
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                try:
                    self.wfile.write(data)
                    if reply.keeps_open:
                        outer.stopped.wait(10)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = answer  # noqa: N815 - names that the base class looks for

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/ask"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    async def turn(self, *replies: Reply, ask: Ask = ASK, **settings: Any) -> Turn:
        if replies:
            self.replies = list(replies)
        agent = build({"kind": "http", "url": self.url, "backoff_s": 0.01, **settings}, base_dir=".")
        try:
            return agent.read(json.loads(json.dumps(await agent.ask(ask))))
        finally:
            await agent.close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.stopped.set()
    made.http.shutdown()
    made.http.server_close()


async def test_the_simplest_agent(server: Server) -> None:
    turn = await server.turn(Reply(body='{"sql": "SELECT 1", "answer": "One.", "status": "SUCCESS"}'))
    assert (turn.candidate_sql, turn.answer, turn.status, turn.adapter) == (
        "SELECT 1",
        "One.",
        Status.SUCCESS,
        "http 1",
    )
    (asked,) = server.asked
    assert asked.method == "POST"
    assert json.loads(asked.body) == {
        "question": ASK.question, "request_id": "r1", "hide": ["h1", "h2"], "database": "films",
    }  # fmt: skip
    assert turn.usage.latency_s is not None


async def test_a_structure_with_placeholders(server: Server) -> None:
    ask = Ask(question="q {hide}", request_id="r1", history=(Message(role="user", content="a"),))
    await server.turn(
        body={"input": {"text": "Q: {question}", "n": 3}, "chat": "{history}", "db": "{database}"}, ask=ask
    )
    assert json.loads(server.asked[0].body) == {
        "input": {"text": "Q: q {hide}", "n": 3},
        "chat": [{"role": "user", "content": "a"}],
        "db": None,
    }


async def test_a_text_template(server: Server) -> None:
    await server.turn(body='{"q": {{ question | tojson }}, "all": {{ hide | tojson }}}')
    assert json.loads(server.asked[0].body) == {"q": ASK.question, "all": ["h1", "h2"]}
    assert server.asked[0].headers["content-type"] == "application/json"


async def test_a_template_is_a_sandbox(server: Server) -> None:
    with pytest.raises(ConfigError, match=r"agent\.body"):
        await server.turn(body="{{ question.__class__.__mro__ }}")


async def test_get_with_parameters(server: Server) -> None:
    await server.turn(method="GET", params={"q": "{question}", "k": 5}, ask=Ask(question="a&b c", request_id="r"))
    await server.turn(method="GET", url=server.url + "/{question}", ask=Ask(question="a/b c", request_id="r"))
    assert [asked.path for asked in server.asked] == ["/ask?q=a%26b+c&k=5", "/ask/a%2Fb%20c"]
    assert server.asked[0].body == ""


async def test_a_map_into_the_record(server: Server) -> None:
    body = {
        "out": {"sql": "SELECT 2", "text": "Two.", "state": "done"},
        "trace": [{"name": "plan", "ms": 3}, {"name": "sql", "ms": 4}],
        "meta": {"tokens": 12, "none": None},
    }
    turn = await server.turn(
        Reply(body=json.dumps(body)),
        map={
            "candidate_sql": "out.sql",
            "answer": "out.text",
            "status": "out.state",
            "usage.tokens_in": "meta.tokens",
            "stages.plan": "trace[?name=='plan'] | [0]",
            "error": "meta.none",
            "usage.cost_usd": "meta.cost",
        },
        statuses={"done": "SUCCESS"},
    )
    assert (turn.candidate_sql, turn.answer, turn.status) == ("SELECT 2", "Two.", Status.SUCCESS)
    assert turn.usage.tokens_in == 12
    assert turn.stages == {"plan": {"name": "plan", "ms": 3}}
    assert turn.gaps == ("usage.cost_usd: nothing at 'meta.cost'",)


async def test_an_answer_where_nothing_is_found_is_empty_and_says_so(server: Server) -> None:
    turn = await server.turn(Reply(body='{"other": 1}'), map={"candidate_sql": "sql", "answer": "text"})
    assert (turn.status, turn.candidate_sql, turn.answer) == (None, None, None)
    assert turn.gaps == ("candidate_sql: nothing at 'sql'", "answer: nothing at 'text'")


async def test_plain_text(server: Server) -> None:
    turn = await server.turn(Reply(body="SELECT 3", content_type="text/plain; charset=utf-8"))
    assert turn.candidate_sql == "SELECT 3"


@pytest.mark.parametrize(
    ("body", "content_type", "message"),
    [
        ("<!DOCTYPE html><title>Log in</title>", "text/html", "a web page instead of JSON"),
        ("<html>proxy</html>", "application/json", "a web page instead of JSON"),
        ('{"sql": ', "application/json", "is not JSON"),
        ("", "application/json", "is not JSON"),
        ("[1, 2]", "application/json", "returned a list"),
    ],
)
async def test_what_is_no_answer_is_not_the_agents_fault(
    server: Server, body: str, content_type: str, message: str
) -> None:
    with pytest.raises(ExtractionError, match=message):
        await server.turn(Reply(body=body, content_type=content_type))


SSE = (
    ": hello\n\n"
    'event: token\ndata: {"d": "SEL"}\n\n'
    'event: token\ndata: {"d": "ECT 1"}\n\n'
    'event: final\r\ndata: {"sql": "SELECT 1",\r\ndata:  "answer": "One."}\r\n\r\n'
    "data: [DONE]\n\n"
)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"stream": {"event": "final"}}, ("SELECT 1", "One.")),
        ({}, ("SELECT 1", "One.")),
        ({"stream": {"join": "d"}, "map": {"candidate_sql": "text"}}, ("SELECT 1", None)),
        ({"map": {"answer": "last.answer", "candidate_sql": "events[-1].data.sql"}}, ("SELECT 1", "One.")),
    ],
)
async def test_a_stream_of_events(
    server: Server, settings: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    turn = await server.turn(Reply(body=SSE, content_type="text/event-stream"), **settings)
    assert (turn.candidate_sql, turn.answer) == expected


async def test_a_stream_that_ended_too_early(server: Server) -> None:
    with pytest.raises(ExtractionError, match="ended without an event 'final'"):
        await server.turn(Reply(body='data: {"d": 1}\n\n', content_type="text/event-stream"), stream={"event": "final"})


@pytest.mark.parametrize(
    ("body", "stream"),
    [
        ('event: final\ndata: {"sql": "SELECT 1"}\n\n', {"event": "final"}),
        ('data: {"sql": "SELECT 1"}\n\ndata: [DONE]\n\n', {}),
    ],
)
async def test_a_stream_that_is_never_closed_is_not_waited_for(
    server: Server, body: str, stream: dict[str, str]
) -> None:
    reply = Reply(body=body, content_type="text/event-stream", keeps_open=True)
    assert (await server.turn(reply, stream=stream, timeout_s=5)).candidate_sql == "SELECT 1"


async def test_json_lines(server: Server) -> None:
    body = '{"delta": "x"}\n{"sql": "SELECT 1"}\n'
    assert (await server.turn(Reply(body=body, content_type="application/x-ndjson"))).candidate_sql == "SELECT 1"


def test_events_of_several_lines_and_without_a_last_blank_line() -> None:
    events = list(events_in("data: a\ndata: b\n\nevent: end\ndata:c"))
    assert [(event.name, event.data) for event in events] == [("message", "a\nb"), ("end", "c")]


async def test_a_job_is_polled_until_done(server: Server) -> None:
    replies = [
        Reply(status=202, body='{"id": "j/1", "state": "queued"}'),
        Reply(body='{"state": "running"}'),
        Reply(body='{"state": "done", "sql": "SELECT 1"}'),
    ]
    turn = await server.turn(
        *replies,
        headers={"X-Key": "k-12345"},
        poll={"url": "/jobs/{id}", "every_s": 0.01, "until": "state == 'done'", "failed": "state == 'failed'"},
    )
    assert turn.candidate_sql == "SELECT 1"
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/ask"), ("GET", "/jobs/j%2F1"), ("GET", "/jobs/j%2F1"),
    ]  # fmt: skip
    assert all(asked.headers["x-key"] == "k-12345" for asked in server.asked)


async def test_a_job_that_failed_is_the_agents(server: Server) -> None:
    poll = {"url_from": "href", "every_s": 0.01, "until": "state == 'done'", "failed": "state == 'failed'"}
    with pytest.raises(AgentFailure, match="job failed"):
        await server.turn(Reply(body='{"href": "/j/1"}'), Reply(body='{"state": "failed"}'), poll=poll)
    with pytest.raises(AgentFailure) as error:
        await server.turn(Reply(body='{"href": "/j/1"}'), Reply(body='{"state": "running"}'), poll=poll, timeout_s=0.2)
    assert error.value.kind == "agent_timeout"


async def test_a_job_elsewhere_gets_no_headers(server: Server) -> None:
    other = Server()
    other.replies = [Reply(body='{"state": "done", "sql": "SELECT 1"}')]
    try:
        await server.turn(
            Reply(body=json.dumps({"href": other.url})),
            headers={"Authorization": "Bearer secret-1"},
            poll={"url_from": "href", "every_s": 0.01, "until": "state == 'done'"},
        )
    finally:
        other.http.shutdown()
        other.http.server_close()
    assert "authorization" in server.asked[0].headers
    assert "authorization" not in other.asked[0].headers


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_passing_trouble_is_tried_again(server: Server, status: int) -> None:
    turn = await server.turn(Reply(status=status, headers={"Retry-After": "0"}), Reply(status=status), Reply())
    assert turn.candidate_sql == "SELECT 1"
    assert len(server.asked) == 3


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts in seconds, which are noted instead of waited."""
    noted: list[float] = []
    pause = asyncio.sleep

    async def sleep(seconds: float) -> None:
        noted.append(seconds)
        await pause(0)

    monkeypatch.setattr("sqlassay.agents.transport.asyncio.sleep", sleep)
    return noted


async def test_retry_after_is_obeyed(server: Server, waits: list[float]) -> None:
    await server.turn(Reply(status=429, headers={"Retry-After": "3.5"}), Reply())
    assert waits == [3.5]


async def test_a_wait_beyond_the_limit_is_not_the_agents_timeout(server: Server, waits: list[float]) -> None:
    with pytest.raises(RateLimited, match="would be too late") as error:
        await server.turn(Reply(status=429, headers={"Retry-After": "300"}), timeout_s=60)
    assert error.value.retry_after_s == 300
    assert waits == []


@pytest.mark.parametrize(
    ("status", "error", "attempts"),
    [
        (500, AgentFailure, 3),
        (503, AgentUnreachable, 3),
        (429, AgentUnreachable, 3),
        (400, AgentUnreachable, 1),
        (401, AgentUnreachable, 1),
        (404, AgentUnreachable, 1),
    ],
)
async def test_lasting_trouble_is_put_where_it_belongs(
    server: Server, status: int, error: type[Exception], attempts: int
) -> None:
    with pytest.raises(error, match=f"answered {status}: nope"):
        await server.turn(Reply(status=status, body="nope"), retries=2)
    assert len(server.asked) == attempts


async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agent = build({"kind": "http", "url": f"http://127.0.0.1:{port}/", "retries": 1, "backoff_s": 0.01}, base_dir=".")
    with pytest.raises(AgentUnreachable, match=r"cannot be reached.*\(2 attempts\)"):
        await agent.ask(ASK)
    await agent.close()


async def test_a_slow_agent_is_its_own_fault(server: Server) -> None:
    with pytest.raises(AgentFailure) as error:
        await server.turn(Reply(delay_s=2), timeout_s=0.2)
    assert error.value.kind == "agent_timeout"


async def test_an_answer_without_end_is_stopped(server: Server) -> None:
    with pytest.raises(AgentFailure, match="answered more than 1000 bytes"):
        await server.turn(Reply(body="x" * 5000), max_bytes=1000)


async def test_a_redirect_on_the_same_host_is_followed(server: Server) -> None:
    turn = await server.turn(Reply(status=307, headers={"Location": "/ask/"}), Reply())
    assert turn.candidate_sql == "SELECT 1"
    assert [(asked.method, asked.path) for asked in server.asked] == [("POST", "/ask"), ("POST", "/ask/")]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(status=307, headers={"Location": "http://localhost:9/x"}), "redirects to another host"),
        (Reply(status=307, headers={"Location": "http://127.0.0.1:9/x"}), "redirects to another host"),
        (Reply(status=302, headers={"Location": "/login"}), "answers POST with redirect 302"),
        (Reply(status=308, headers={"Location": "/ask"}), "redirects more than 5 times"),
    ],
)
async def test_other_redirects_are_not(server: Server, reply: Reply, message: str) -> None:
    with pytest.raises(AgentUnreachable, match=message):
        await server.turn(reply, headers={"Authorization": "Bearer secret-1"})


async def test_secrets_come_from_the_environment_and_stay_there(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "tok-4711")
    headers = {"Authorization": "Bearer ${AGENT_TOKEN}"}
    turn = await server.turn(Reply(body='{"answer": "you sent Bearer tok-4711"}'), headers=headers)
    assert server.asked[0].headers["authorization"] == "Bearer tok-4711"
    assert turn.answer == "you sent Bearer ***"
    with pytest.raises(AgentUnreachable) as error:
        await server.turn(Reply(status=403, body="tok-4711 is not allowed"), headers=headers)
    assert "tok-4711" not in str(error.value)


async def test_one_client_serves_many_questions_at_once(server: Server) -> None:
    import asyncio

    agent = build({"kind": "http", "url": server.url}, base_dir=".")
    server.replies = [Reply(delay_s=0.05)]
    payloads = await asyncio.gather(*(agent.ask(Ask(question="q", request_id=str(n))) for n in range(20)))
    await agent.close()
    assert [agent.read(payload).candidate_sql for payload in payloads] == ["SELECT 1"] * 20


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ("2", lambda s: s == 2),
        ("-1", lambda s: s == 0),
        ("99999999", lambda s: s == 3600),
        ("nan", lambda s: s is None),
        ("soon", lambda s: s is None),
        (None, lambda s: s is None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", lambda s: s == 0),
    ],
)
def test_retry_after_in_every_form(value: str | None, check: Callable[[float | None], bool]) -> None:
    assert check(retry_after_s(value))
