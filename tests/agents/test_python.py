"""Agents that are Python functions: called off the run's loop, with the context they accept."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.plain import plain
from sqlassay.agents.python import PythonAgent
from sqlassay.agents.registry import build
from sqlassay.errors import AgentUnreachable, ConfigError, ExtractionError
from sqlassay.records.ask import Ask, Message
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, TurnErrorKind

FREE = threading.Event()
"""What agents that hang wait for."""
ASK = Ask(
    question="How many?",
    request_id="r1",
    history=(Message(role="user", content="hi"),),
    hide=("h1",),
    database="films",
    at="2026-01-01",
)


async def turn_of(target: Any, *, ask: Ask = ASK, base_dir: str = ".", **settings: Any) -> Turn:
    agent = build({"kind": "python", "target": target, **settings}, base_dir=base_dir)
    try:
        payload = await agent.ask(ask)
        return agent.read(json.loads(json.dumps(payload)))
    finally:
        await agent.close()


async def test_a_plain_function_that_returns_text() -> None:
    turn = await turn_of(lambda _: "SELECT COUNT(*) FROM films")
    assert turn.candidate_sql == "SELECT COUNT(*) FROM films"
    assert turn.adapter == "python 1"


async def test_a_coroutine_function_that_returns_a_mapping() -> None:
    async def agent(question: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"sql": "SELECT 1", "answer": question, "status": "SUCCESS"}

    turn = await turn_of(agent)
    assert (turn.candidate_sql, turn.answer, turn.status_source) == ("SELECT 1", "How many?", StatusSource.DECLARED)


async def test_a_record_or_model_is_a_mapping_too() -> None:
    @dataclasses.dataclass
    class Reply:
        sql: str
        answer: str

    assert (await turn_of(lambda _: Reply("SELECT 1", "x"))).candidate_sql == "SELECT 1"
    assert (await turn_of(lambda _: Turn(answer="x", status=Status.FALLBACK))).status is Status.FALLBACK


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), {}),
        (("database", "at"), {"database": "films", "at": "2026-01-01"}),
        (("hide", "request_id"), {"hide": ["h1"], "request_id": "r1"}),
        (("history",), {"history": [{"role": "user", "content": "hi"}]}),
    ],
)
async def test_only_the_context_that_it_accepts(names: tuple[str, ...], expected: dict[str, Any]) -> None:
    seen: dict[str, Any] = {}
    arguments = ", ".join(("question", "*", *names) if names else ("question",))
    scope: dict[str, Any] = {"seen": seen}
    exec(f"def agent({arguments}):\n    seen.update({', '.join(f'{n}={n}' for n in names)})\n    return 'x'", scope)
    await turn_of(scope["agent"])
    assert seen == expected


async def test_all_of_the_context_and_nothing_that_holds_gold() -> None:
    seen: dict[str, Any] = {}

    def agent(_question: str, **context: Any) -> str:
        seen.update(context)
        return "x"

    await turn_of(agent)
    assert set(seen) == {"history", "database", "hide", "request_id", "at"}


async def test_an_exception_is_the_agents_crash() -> None:
    def agent(_question: str) -> str:
        raise ValueError("no such film")

    turn = await turn_of(agent)
    assert (turn.status, turn.status_source) == (Status.ERROR, StatusSource.EXCEPTION)
    assert turn.error is not None
    assert (turn.error.kind, turn.error.message) == (TurnErrorKind.AGENT_CRASH, "ValueError: no such film")


@pytest.mark.parametrize("raised", [SystemExit(3), asyncio.CancelledError()])
async def test_not_even_exit_ends_the_run(raised: BaseException) -> None:
    async def agent(_question: str) -> str:
        raise raised

    turn = await turn_of(agent)
    assert turn.error is not None
    assert turn.error.kind is TurnErrorKind.AGENT_CRASH


async def test_running_out_of_steps_is_a_status_of_its_own() -> None:
    class GraphRecursionError(Exception):
        pass

    def agent(_question: str) -> str:
        raise GraphRecursionError("limit of 25 reached")

    turn = await turn_of(agent)
    assert (turn.status, turn.error) == (Status.BUDGET_EXHAUSTED, None)


async def test_an_agent_that_says_it_is_unreachable_is_not_to_blame() -> None:
    def agent(_question: str) -> str:
        raise AgentUnreachable("the model's endpoint is down")

    with pytest.raises(AgentUnreachable, match="endpoint is down"):
        await turn_of(agent)


def naps(_question: str) -> str:
    time.sleep(0.3)
    return "x"


def sleeps(_question: str) -> str:
    FREE.wait()
    return "x"


async def waits(_question: str) -> str:
    await asyncio.Event().wait()
    return "x"


async def blocks(_question: str) -> str:
    FREE.wait()
    return "x"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("agent", [sleeps, waits, blocks])
async def test_a_limit_holds_whatever_the_agent_does(agent: Callable[[str], Any]) -> None:
    FREE.clear()
    try:
        turn = await turn_of(agent, timeout_s=0.1)
    finally:
        FREE.set()
    assert turn.status is Status.ERROR
    assert turn.error is not None
    assert (turn.error.kind, turn.error.message) == (TurnErrorKind.AGENT_TIMEOUT, "no answer within 0.1 s")


@pytest.mark.timeout(60)
async def test_a_blocked_loop_does_not_take_the_next_question_with_it() -> None:
    free = threading.Event()

    async def agent(question: str) -> str:
        if question == "block":
            free.wait()
        return "fine"

    asked = build({"kind": "python", "target": agent, "timeout_s": 1}, base_dir=".")
    first = asked.read(await asked.ask(Ask(question="block", request_id="1")))
    second = asked.read(await asked.ask(Ask(question="go", request_id="2")))
    free.set()
    await asked.close()
    assert first.error is not None
    assert second.answer == "fine"


@pytest.mark.timeout(60)
async def test_hanging_threads_do_not_use_up_a_pool() -> None:
    free = threading.Event()

    def agent(question: str) -> str:
        if question == "hang":
            free.wait()
        return "fine"

    asked = build({"kind": "python", "target": agent, "timeout_s": 1}, base_dir=".")
    await asyncio.gather(*(asked.ask(Ask(question="hang", request_id=str(n))) for n in range(40)))
    turn = asked.read(await asked.ask(Ask(question="go", request_id="x")))
    free.set()
    assert turn.answer == "fine"


async def test_a_blocking_agent_never_blocks_the_loop() -> None:
    agent = build({"kind": "python", "target": naps}, base_dir=".")
    asking = asyncio.ensure_future(agent.ask(ASK))
    ticks = 0
    while not asking.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks > 5


async def test_the_target_is_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for name in ("one", "two"):
        (tmp_path / name / "film_agent.py").write_text(f"def answer(question):\n    return 'I am {name}'\n")
    for name in ("one", "two"):
        assert (await turn_of("film_agent:answer", base_dir=str(tmp_path / name))).answer == f"I am {name}"
    assert (await turn_of("two/film_agent.py:answer", base_dir=str(tmp_path))).answer == "I am two"


async def test_a_class_is_made_once_and_called(tmp_path: Path) -> None:
    (tmp_path / "made_agent.py").write_text(
        "class Agent:\n    n = 0\n    def __call__(self, q):\n        self.n += 1\n        return f'no {self.n}'\n"
    )
    agent = build({"kind": "python", "target": "made_agent:Agent"}, base_dir=str(tmp_path))
    answers = [agent.read(await agent.ask(ASK)).answer for _ in range(2)]
    assert answers == ["no 1", "no 2"]


def test_a_module_that_fails_to_import_says_why(tmp_path: Path) -> None:
    (tmp_path / "broken_agent.py").write_text("raise RuntimeError('no key')\n")
    with pytest.raises(ConfigError, match="RuntimeError: no key"):
        build({"kind": "python", "target": "broken_agent:f"}, base_dir=str(tmp_path))


async def test_another_kind_of_result_cannot_be_read() -> None:
    with pytest.raises(ExtractionError, match="the agent returned a list"):
        await turn_of(lambda _: [1, 2])


async def test_a_frameworks_result_is_read_by_its_adapter() -> None:
    messages = [
        {"type": "human", "data": {"content": "How many?"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [
            {"name": "ask_db", "args": {"query": "SELECT COUNT(*) FROM films"}, "id": "1", "type": "tool_call"}]}},
        {"type": "tool", "data": {"content": "[(7,)]", "name": "ask_db", "tool_call_id": "1", "status": "success"}},
        {"type": "ai", "data": {"content": "Seven.", "tool_calls": []}},
    ]  # fmt: skip
    turn = await turn_of(
        lambda _: {"messages": messages}, read="langchain", read_settings={"tools": {"query": ["ask_db"]}}
    )
    assert turn.candidate_sql == "SELECT COUNT(*) FROM films"
    assert turn.adapter.startswith("langchain")


async def test_a_mapped_result() -> None:
    result = {"out": {"query": "SELECT 1"}, "cost": {"tokens_in": 5}, "n": 2}
    mapping = {"candidate_sql": "out.query", "usage": "cost", "usage.steps": "n", "answer": "text"}
    turn = await turn_of(lambda _: result, map=mapping)
    assert (turn.candidate_sql, turn.usage.tokens_in, turn.usage.steps) == ("SELECT 1", 5, 2)
    assert turn.gaps == ("answer: nothing at 'text'",)
    assert result["cost"] == {"tokens_in": 5}


def test_plain_data_of_anything() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    json.dumps(plain({"odd": Odd(), "nested": nested, "nan": float("nan"), "b": b"\xff", 3: {1, 2}}))


async def test_closing_closes_the_function_object() -> None:
    class Agent:
        closed = False

        def __call__(self, _question: str) -> str:
            return "x"

        async def aclose(self) -> None:
            self.closed = True

    target = Agent()
    agent = PythonAgent(target)
    await agent.ask(ASK)
    await agent.close()
    assert target.closed
