"""What a log cannot show stays unknown: nobody may conclude from it that no SQL was executed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlassay.agents.python import read_recorded
from sqlassay.agents.registry import reader
from sqlassay.records.turn import Turn


def human(text: str) -> dict[str, Any]:
    return {"type": "human", "data": {"content": text}}


def ai(text: str, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    tool_calls = [{"name": name, "args": args, "id": f"{name}-{at}"} for at, (name, args) in enumerate(calls)]
    return {"type": "ai", "data": {"content": text, "tool_calls": tool_calls}}


def reply(name: str, text: str) -> dict[str, Any]:
    return {"type": "tool", "data": {"content": text, "name": name, "tool_call_id": f"{name}-0"}}


def langchain(name: str, args: dict[str, Any], said: str) -> dict[str, Any]:
    return {"messages": [human("q"), ai("", (name, args)), reply(name, said), ai("France.")]}


def pydantic_ai(name: str, args: dict[str, Any], said: str) -> dict[str, Any]:
    def message(kind: str, **part: Any) -> dict[str, Any]:
        return {"kind": kind, "parts": [part]}

    return {
        "output": "France.",
        "all_messages": [
            message("request", part_kind="user-prompt", content="q"),
            message("response", part_kind="tool-call", tool_name=name, args=args, tool_call_id="1"),
            message("request", part_kind="tool-return", tool_name=name, content=said, tool_call_id="1"),
            message("response", part_kind="text", content="France."),
        ],
    }


def openai_agents(name: str, args: dict[str, Any], said: str) -> dict[str, Any]:
    call = {"type": "function_call", "name": name, "arguments": json.dumps(args), "call_id": "1"}
    output = {"type": "function_call_output", "call_id": "1", "output": said}
    final = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "France."}]}
    return {"final_output": "France.", "to_input_list": [{"role": "user", "content": "q"}, call, output, final]}


PAYLOADS = {"langchain": langchain, "pydantic_ai": pydantic_ai, "openai_agents": openai_agents}


def read(adapter: str, name: str, args: dict[str, Any], said: str = "France spent the most.") -> Turn:
    return reader(adapter).read(PAYLOADS[adapter](name, args, said))


@pytest.mark.parametrize("adapter", PAYLOADS)
def test_an_agent_called_as_a_tool_may_have_executed_sql(adapter: str) -> None:
    turn = read(adapter, "sql_analyst", {"question": "q"})
    assert (turn.queries, turn.candidate_sql, turn.statements_complete) == ((), None, False)
    assert any("'sql_analyst' did inside" in gap for gap in turn.gaps)


@pytest.mark.parametrize("adapter", PAYLOADS)
@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("list_tables", {}, "film, actor"),
        ("describe_table", {"table": "film"}, "CREATE TABLE film (id INTEGER)"),
        ("check_sql", {"sql": "SELECT 1"}, "ok"),
        ("sql_analyst", {"question": "q"}, "Unknown tool name: 'sql_analyst'. No tools available."),
    ],
)
def test_tools_that_are_known_hide_nothing(adapter: str, name: str, args: dict[str, Any], said: str) -> None:
    own = {"list_tables": "sql_db_list_tables", "describe_table": "sql_db_schema", "check_sql": "sql_db_query_checker"}
    called = own.get(name, name) if adapter == "langchain" else name
    assert read(adapter, called, args, said).statements_complete


def test_a_tool_that_is_named_as_reaching_no_database_hides_nothing() -> None:
    payload = langchain("get_weather", {"city": "Paris"}, "rain")
    assert not reader("langchain").read(payload).statements_complete
    assert reader("langchain", {"tools": {"other": "get_*"}}).read(payload).statements_complete
    assert read("langchain", "write_todos", {"todos": ["SELECT 1"]}).queries == ()


def test_a_recording_connection_sees_inside() -> None:
    sent = {"sql": "SELECT country FROM customer", "executed": True, "succeeded": True}
    payload = {"result": pydantic_ai("sql_analyst", {"question": "q"}, "France."), "error": None, "recorded": [sent]}
    turn = read_recorded(payload, reader("pydantic_ai"))
    assert (turn.statements_complete, turn.candidate_sql) == (True, "SELECT country FROM customer")


@pytest.mark.parametrize(("sql", "complete"), [(None, False), ("SELECT 1", True)])
def test_an_a2a_task_without_sql_tells_nothing_of_what_ran(sql: str | None, complete: bool) -> None:
    parts: list[dict[str, Any]] = [{"kind": "text", "text": "France."}]
    if sql is not None:
        parts.append({"kind": "data", "data": {"sql": sql}})
    task = {"kind": "task", "id": "t", "status": {"state": "completed"}, "artifacts": [{"parts": parts}]}
    turn = reader("a2a").read(task)
    assert (turn.candidate_sql, turn.statements_complete) == (sql, complete)
