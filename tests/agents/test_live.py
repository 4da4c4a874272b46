"""The user's own LangGraph graph or pydantic-ai agent, run in process with a scripted model."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from sqlassay.agents.langgraph import graph_of
from sqlassay.agents.recorder import record
from sqlassay.agents.registry import build
from sqlassay.errors import ConfigError
from sqlassay.records.ask import Ask, Message
from sqlassay.records.case import Status
from sqlassay.records.turn import CandidateSource, StatusSource, Turn, TurnErrorKind

ASK = Ask(
    question="How many rows?",
    request_id="r1",
    history=(Message(role="user", content="Hi"), Message(role="assistant", content="Hello")),
)


@pytest.fixture
def connection() -> Iterator[Any]:
    raw = sqlite3.connect(":memory:", check_same_thread=False)
    raw.executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3);")
    yield record(raw)
    raw.close()


async def turn_of(settings: dict[str, Any], ask: Ask = ASK) -> Turn:
    agent = build(settings, base_dir=".")
    try:
        return agent.read(json.loads(json.dumps(await agent.ask(ask))))
    finally:
        await agent.close()


class ScriptedGraph:
    """What a compiled graph offers: a stream of states."""

    def __init__(self, states: list[dict[str, Any]], error: Exception | None = None) -> None:
        self.states, self.error = states, error
        self.started: list[tuple[Any, Any]] = []

    async def ainvoke(self, _state: Any, _config: Any) -> Any:
        raise AssertionError("the stream is preferred")

    async def astream(self, state: Any, config: Any, *, stream_mode: str) -> Any:
        assert stream_mode == "values"
        self.started.append((state, config))
        for reached in self.states:
            yield reached
        if self.error is not None:
            raise self.error


HUMAN = {"type": "human", "data": {"content": "How many rows?"}}
CALL = {"type": "ai", "data": {"content": "", "tool_calls": [
    {"name": "sql_db_query", "args": {"query": "SELECT COUNT(*) FROM t"}, "id": "1"}]}}  # fmt: skip
RESULT = {
    "type": "tool",
    "data": {"content": "[(3,)]", "name": "sql_db_query", "tool_call_id": "1", "status": "success"},
}
SAID = {"type": "ai", "data": {"content": "Three.", "tool_calls": []}}


async def test_a_graph_gets_history_question_and_config() -> None:
    graph = ScriptedGraph([{"messages": [HUMAN, CALL, RESULT, SAID]}])
    turn = await turn_of({"kind": "langgraph", "target": graph, "recursion_limit": 9, "config": {"tags": ["x"]}})
    ((state, config),) = graph.started
    assert state == {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "How many rows?"},
        ]
    }
    assert config == {"tags": ["x"], "recursion_limit": 9, "configurable": {"thread_id": "r1"}}
    assert (turn.candidate_sql, turn.answer, turn.status) == ("SELECT COUNT(*) FROM t", "Three.", Status.SUCCESS)


async def test_a_graph_with_a_state_of_its_own() -> None:
    graph = ScriptedGraph([{"plan": "COUNT"}, {"plan": "COUNT", "query": "SELECT 1", "said": "One."}])
    turn = await turn_of(
        {
            "kind": "langgraph",
            "target": lambda: graph,
            "input": {"question": "{question}"},
            "map": {"candidate_sql": "query", "answer": "said", "stages.plan": "{kind: plan}"},
        }
    )
    assert graph.started[0][0] == {"question": "How many rows?"}
    assert (turn.candidate_sql, turn.answer, turn.stages) == ("SELECT 1", "One.", {"plan": {"kind": "COUNT"}})


async def test_a_graph_that_runs_out_of_steps_keeps_its_messages() -> None:
    class GraphRecursionError(RecursionError):
        pass

    graph = ScriptedGraph([{"messages": [HUMAN]}, {"messages": [HUMAN, CALL, RESULT]}], GraphRecursionError("limit"))
    turn = await turn_of({"kind": "langgraph", "target": graph})
    assert (turn.status, turn.status_source) == (Status.BUDGET_EXHAUSTED, StatusSource.EXCEPTION)
    assert turn.candidate_sql == "SELECT COUNT(*) FROM t"


async def test_a_graph_that_breaks_keeps_its_messages() -> None:
    graph = ScriptedGraph([{"messages": [HUMAN, CALL, RESULT]}], ValueError("no node"))
    turn = await turn_of({"kind": "langgraph", "target": graph})
    assert turn.status is Status.ERROR
    assert turn.error is not None
    assert turn.error.kind is TurnErrorKind.AGENT_CRASH
    assert [query.sql for query in turn.queries] == ["SELECT COUNT(*) FROM t"]


def test_what_is_no_graph() -> None:
    with pytest.raises(ConfigError, match="no graph"):
        graph_of(lambda: 3)


async def test_a_real_langgraph_agent(connection: Any) -> None:
    pytest.importorskip("langgraph", reason="LangGraph is not installed (extra langgraph)")
    agents = pytest.importorskip("langchain.agents", reason="LangChain is not installed (extra langgraph)")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    @tool  # type: ignore[untyped-decorator,unused-ignore]
    def sql_db_query(query: str) -> str:
        """Run a query."""
        return str(connection.execute(query + " LIMIT 5").fetchall())

    class Scripted(GenericFakeChatModel):  # type: ignore[misc,unused-ignore]
        def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002 - the framework's signature
            return self

    def messages() -> Iterator[Any]:
        call = {"name": "sql_db_query", "args": {"query": "SELECT COUNT(*) FROM t"}, "id": "1"}
        yield AIMessage(content="", tool_calls=[call])
        yield AIMessage(content="There are 3 rows.")

    graph = agents.create_agent(Scripted(messages=messages()), tools=[sql_db_query])
    turn = await turn_of({"kind": "langgraph", "target": graph})
    (query,) = turn.queries
    assert (query.sql, query.sql_written) == ("SELECT COUNT(*) FROM t LIMIT 5", "SELECT COUNT(*) FROM t")
    assert (query.executed, query.succeeded, query.tool, query.row_count) == (True, True, "sql_db_query", 1)
    assert (turn.candidate_source, turn.answer) == (CandidateSource.ONLY_ONE, "There are 3 rows.")
    assert len(turn.history) == 2


@pytest.mark.parametrize("endless", [False, True])
async def test_a_real_pydantic_ai_agent(connection: Any, endless: bool) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (extra pydantic-ai)")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def model(messages: Any, _info: Any) -> Any:
        if endless or len(messages) < 4:
            return ModelResponse(parts=[ToolCallPart("run_sql", {"sql": "SELECT COUNT(*) FROM t"})])
        return ModelResponse(parts=[TextPart("There are 3 rows.")])

    agent = pydantic_ai.Agent(FunctionModel(model))

    @agent.tool_plain  # type: ignore[untyped-decorator,unused-ignore]
    def run_sql(sql: str) -> str:
        return str(connection.execute(sql).fetchall())

    turn = await turn_of({"kind": "pydantic_ai", "target": agent, "usage_limits": {"request_limit": 3}})
    assert turn.queries[0].sql == "SELECT COUNT(*) FROM t"
    assert turn.queries[0].row_count == 1
    assert turn.candidate_sql == "SELECT COUNT(*) FROM t"
    if endless:
        assert (turn.status, turn.status_source) == (Status.BUDGET_EXHAUSTED, StatusSource.EXCEPTION)
    else:
        assert turn.answer == "There are 3 rows."
