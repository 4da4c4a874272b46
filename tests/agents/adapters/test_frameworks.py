"""pydantic-ai, LlamaIndex, Vanna, Claude Agent SDK, MCP, A2A, Genie, Cortex Analyst: one story each way."""

from __future__ import annotations

from typing import Any

import pytest

from sqlassay.agents.registry import READERS, reader
from sqlassay.errors import ConfigError, ExtractionError
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"


def read(name: str, payload: Any, **settings: Any) -> Turn:
    return reader(name, settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, str, bool | None, bool | None]]:
    return [(one.sql, one.role.value, one.executed, one.succeeded) for one in turn.queries]


# pydantic-ai


def request(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts)}


def response(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), "usage": {"input_tokens": 5, "output_tokens": 2}}


def prompt(text: str) -> dict[str, Any]:
    return {"part_kind": "user-prompt", "content": text}


def called(args: Any, call_id: str = "c1", name: str = "run_sql") -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": name, "args": args, "tool_call_id": call_id}


def returned(content: Any, call_id: str = "c1", name: str = "run_sql", **more: Any) -> dict[str, Any]:
    return {"part_kind": "tool-return", "tool_name": name, "content": content, "tool_call_id": call_id, **more}


def text(words: str) -> dict[str, Any]:
    return {"part_kind": "text", "content": words}


def test_pydantic_ai_messages() -> None:
    rows = {"columns": ["n"], "rows": [[3]], "truncated": True}
    turn = read(
        "pydantic_ai",
        [
            request({"part_kind": "system-prompt", "content": "Schema: CREATE TABLE film(id INT)"}, prompt("q")),
            response(called({"sql": SQL})),
            request(returned(rows)),
            response(text("three")),
        ],
    )
    assert (turn.answer, turn.candidate_sql, turn.usage.tokens_in) == ("three", SQL, 10)
    assert turn.queries[0].seen is not None
    assert (turn.queries[0].seen.truncated, turn.queries[0].seen.row_cap) == (True, 1)
    assert turn.retrieval is not None
    assert turn.retrieval.offered is not None
    assert [one.name for one in turn.retrieval.offered] == ["film"]
    assert turn.retrieval.offered_complete is True


def test_pydantic_ai_retries_budget_and_denials() -> None:
    validation = {
        "part_kind": "retry-prompt",
        "tool_name": "run_sql",
        "tool_call_id": "c1",
        "content": [{"msg": "missing"}],
    }
    turn = read("pydantic_ai", [request(prompt("q")), response(called("{}")), request(validation), response(text("?"))])
    assert facts(turn) == [("", "query", False, False)]
    over = {
        "exception": "UsageLimitExceeded",
        "message": "",
        "captured_messages": [request(prompt("q")), response(called({"sql": SQL}))],
    }
    assert facts(read("pydantic_ai", over)) == [(SQL, "query", False, None)]
    denied = returned("no", outcome="denied")
    turn = read(
        "pydantic_ai", [request(prompt("q")), response(called({"sql": SQL})), request(denied), response(text("-"))]
    )
    assert facts(turn) == [(SQL, "query", False, False)]


@pytest.mark.parametrize(
    ("output", "name", "status", "sql"),
    [
        ({"sql_query": SQL, "explanation": ""}, "Success", "SUCCESS", SQL),
        ({"error_message": "no weather"}, "InvalidRequest", "UNSUPPORTED", None),
        ({"question": "which year?"}, "ClarificationNeeded", "CLARIFICATION", None),
        ({"calls": [], "approvals": [{"tool_name": "run_sql"}]}, "DeferredToolRequests", "CLARIFICATION", None),
    ],
)
def test_pydantic_ai_typed_results(output: Any, name: str, status: str, sql: str | None) -> None:
    turn = read("pydantic_ai", {"output": output, "output_type": name, "all_messages": [request(prompt("q"))]})
    assert (turn.status, turn.status_source.value, turn.candidate_sql) == (status, "typed", sql)


def test_pydantic_ai_stream_events_and_live_results() -> None:
    events = [
        {"event_kind": "part_start", "index": 0, "part": called('{"sql": "SELECT')},
        {"event_kind": "part_delta", "index": 0, "delta": {"args_delta": ' 1"}'}},
        {"event_kind": "function_tool_result", "result": returned([[1]])},
        {"event_kind": "part_start", "index": 0, "part": text("one")},
        {"event_kind": "part_delta", "index": 0, "delta": {"content_delta": "!"}},
    ]
    turn = read("pydantic_ai", events)
    assert (turn.candidate_sql, turn.answer) == ("SELECT 1", "one!")

    class Result:
        output = "one"

        def all_messages(self) -> list[dict[str, Any]]:
            return [request(prompt("q")), response(text("one"))]

        def new_messages(self) -> list[dict[str, Any]]:
            return self.all_messages()

    assert read("pydantic_ai", Result()).answer == "one"


# LlamaIndex


def engine(answer: str, metadata: dict[str, Any], *nodes: str) -> dict[str, Any]:
    return {"response": answer, "metadata": metadata, "source_nodes": [{"node": {"text": one}} for one in nodes]}


def test_llama_index_responses() -> None:
    ran = read("llama_index", engine("3", {"sql_query": SQL, "result": [[3]], "col_keys": ["n"]}, "[(3,)]"))
    assert (ran.candidate_sql, facts(ran), ran.retrieval) == (SQL, [(SQL, "query", True, True)], None)
    assert ran.returned is not None
    assert ran.returned.columns == ("n",)
    failed = read(
        "llama_index", engine("hm", {"sql_query": SQL}, f"Error: Statement {SQL!r} is invalid SQL.\nError: x")
    )
    assert facts(failed) == [(SQL, "query", True, False)]
    refused = read(
        "llama_index", engine("hm", {"sql_query": "I can't delete data."}, "Error: Statement is invalid SQL.")
    )
    assert (refused.status, refused.status_source.value, refused.candidate_sql) == ("UNSUPPORTED", "text_rule", None)
    only = read("llama_index", engine(SQL, {"sql_query": SQL, "result": SQL}))
    assert (only.candidate_sql, only.candidate_source.value, facts(only)) == (
        SQL,
        "declared",
        [(SQL, "query", False, None)],
    )


def test_llama_index_workflow_events() -> None:
    events = [
        {"tool_name": "run_sql", "tool_kwargs": {"sql": SQL}, "tool_id": "t"},
        {"tool_name": "run_sql", "tool_kwargs": {"sql": SQL}, "tool_id": "t", "tool_output": {"content": "[(3,)]"}},
        {"response": {"role": "assistant", "blocks": [{"text": "three"}]}, "tool_calls": []},
    ]
    turn = read("llama_index", events)
    assert (turn.answer, turn.candidate_sql, len(turn.queries)) == ("three", SQL, 1)


# Vanna


def test_vanna_conversation_with_ui() -> None:
    messages = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "run_sql", "arguments": {"sql": SQL}}],
        },
        {"role": "tool", "content": "n\n3\n(Results truncated to 1000 characters. x)", "tool_call_id": "c1"},
        {"role": "assistant", "content": "three"},
    ]
    table = {"columns": ["n"], "data": [{"n": 3}], "row_count": 400, "max_rows_displayed": 100}
    ui = {"chunks": [{"rich": {"type": "dataframe", "data": table}}]}
    turn = read("vanna", {"conversation": {"messages": messages}, "chat_poll_response": ui})
    assert (turn.candidate_sql, turn.answer) == (SQL, "three")
    assert turn.returned is not None
    assert (turn.returned.row_count, turn.returned.row_cap, turn.returned.truncated) == (400, 100, True)
    assert turn.queries[0].seen is not None
    assert turn.queries[0].seen.truncated_by == "1000 characters"


def test_vanna_memory_hands_over_sql() -> None:
    args = f"   Args: {{'sql': '{SQL}'}}"
    found = f"Found 1 similar tool usage pattern(s):\n\n1. run_sql (similarity: 0.93)\n   Question: q\n{args}"
    asked = {"id": "m", "name": "search_saved_correct_tool_uses", "arguments": {"question": "q"}}
    turn = read(
        "vanna",
        {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "", "tool_calls": [asked]},
                {"role": "tool", "content": found, "tool_call_id": "m"},
                {"role": "assistant", "content": "three"},
            ]
        },
    )
    assert turn.retrieval is not None
    assert turn.retrieval.memory == (SQL,)
    assert turn.queries == ()


# Claude Agent SDK


def use(name: str, given: dict[str, Any], call_id: str = "t1", parent: str | None = None) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": parent}


def result_of(content: str, call_id: str = "t1", parent: str | None = None, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": error}
    return {"type": "user", "message": {"content": [block]}, "parent_tool_use_id": parent}


def ended(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "num_turns": 2, "is_error": False, "result": "three", **more}


@pytest.mark.parametrize(
    ("result", "status", "source"),
    [
        (ended(), "SUCCESS", "inferred"),
        (ended(subtype="error_max_turns", result=None, is_error=True), "BUDGET_EXHAUSTED", "flag"),
        (ended(subtype="error_max_budget_usd", result=None), "BUDGET_EXHAUSTED", "flag"),
        (ended(subtype="error_during_execution", result=None, is_error=True, errors=["boom"]), "ERROR", "flag"),
        (ended(stop_reason="refusal"), "UNSUPPORTED", "finish_reason"),
        (ended(structured_output={"sql": SQL}), "SUCCESS", "typed"),
    ],
)
def test_claude_results(result: dict[str, Any], status: str, source: str) -> None:
    turn = read("claude_agent_sdk", [use("mcp__db__read_query", {"query": SQL}), result_of("[{'n': 3}]"), result])
    assert (turn.status, turn.status_source.value, turn.candidate_sql) == (status, source, SQL)


def test_claude_runs_that_the_user_stopped_keep_their_statements() -> None:
    used = {"type": "tool_use", "id": "1", "name": "mcp__db__read_query", "input": {"query": SQL}}
    stopped = {"type": "text", "text": "[Request interrupted by user for tool use]"}
    messages: list[dict[str, Any]] = [
        {"type": "user", "message": {"content": "How many films?"}},
        {"type": "assistant", "message": {"content": [used]}},
        {"type": "user", "message": {"content": [stopped]}},
        {"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 1},
    ]
    turn = read("claude_agent_sdk", messages)
    assert (turn.question, turn.status, facts(turn)) == ("How many films?", "ERROR", [(SQL, "query", False, None)])


def test_claude_sub_agents_shells_questions_and_sessions() -> None:
    inner = [
        use("Task", {"subagent_type": "analyst"}, "k"),
        use("mcp__db__read_query", {"query": SQL}, parent="k"),
        result_of("[{'n': 3}]", parent="k"),
        result_of("three", "k"),
        ended(),
    ]
    assert read("claude_agent_sdk", inner).queries[0].path == ("analyst",)
    shell = read("claude_agent_sdk", [use("Bash", {"command": 'psql -c "SELECT 1"'}), result_of("1"), ended()])
    assert facts(shell) == [("", "query", None, None)]
    assert shell.queries[0].tool == "Bash"
    listed = read("claude_agent_sdk", [use("Bash", {"command": "ls"}), result_of("films.db"), ended()])
    assert (listed.queries, listed.statements_complete) == ((), False)
    asked = read("claude_agent_sdk", [use("AskUserQuestion", {"questions": [{"question": "Which year?"}]})])
    assert (asked.status, asked.status_source.value, asked.answer) == ("CLARIFICATION", "typed", "Which year?")
    second = [use("mcp__db__read_query", {"query": "SELECT 2"}, "t2"), result_of("[{'n': 2}]", "t2"), ended(result="2")]
    turn = read("claude_agent_sdk", [*inner, *second])
    assert ([one.sql for one in turn.queries], turn.answer) == (["SELECT 2"], "2")


# MCP


def test_mcp_json_rpc() -> None:
    def send(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }

    def back(number: int, words: str, failed: bool = False) -> dict[str, Any]:
        found = {"content": [{"type": "text", "text": words}], "isError": failed}
        return {"jsonrpc": "2.0", "id": number, "result": found}

    turn = read(
        "mcp",
        [
            send(1, "read_query", {"query": SQL}),
            send(2, "describe_table", {"table_name": "film"}),
            back(2, "[{'cid': 0, 'name': 'id', 'type': 'INTEGER'}]"),
            back(1, "[{'n': Decimal('3')}, {'n': Decimal('4')}]"),
            send(3, "query", {"sql": "SELECT 1"}),
            {"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "no such table: x"}},
            send(4, "execute_sql", {"sql": "SELECT 2"}),
        ],
    )
    assert facts(turn) == [
        (SQL, "query", True, True),
        ("SELECT 1", "query", True, False),
        ("SELECT 2", "query", None, None),
    ]
    assert turn.queries[0].row_count == 2
    assert turn.retrieval is not None
    assert turn.retrieval.offered is not None
    assert [(one.name, one.columns) for one in turn.retrieval.offered] == [("film", ("id",))]


# A2A, Genie, Cortex Analyst


def task(state: str, **more: Any) -> dict[str, Any]:
    return {"kind": "task", "id": "t", "status": {"state": state, **more}}


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("completed", "SUCCESS"),
        ("TASK_STATE_INPUT_REQUIRED", "CLARIFICATION"),
        ("rejected", "UNSUPPORTED"),
        ("failed", "ERROR"),
        ("auth-required", "ERROR"),
    ],
)
def test_a2a_states(state: str, status: str) -> None:
    turn = read("a2a", {"jsonrpc": "2.0", "result": task(state, message={"role": "agent", "parts": [{"text": "x"}]})})
    assert (turn.status, turn.status_source.value, turn.answer) == (status, "declared", "x")


def test_a2a_streams_and_open_tasks() -> None:
    part = {"kind": "data", "data": {"sql": SQL, "columns": ["n"], "rows": [[3]]}}
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "three"}]}
    stream = [
        {"result": task("working")},
        {"result": {"kind": "artifact-update", "artifact": artifact}},
        {"result": {"kind": "artifact-update", "append": True, "artifact": {"artifactId": "a", "parts": [part]}}},
        {"result": {"kind": "status-update", "status": {"state": "completed"}, "final": True}},
    ]
    turn = read("a2a", stream)
    assert (turn.answer, turn.candidate_sql, turn.candidate_source.value) == ("three", SQL, "declared")
    assert (turn.queries[0].executed, turn.returned is not None) == (None, True)
    still = read("a2a", stream[:1])
    assert (still.status, "the task was still working" in still.gaps) == (None, True)


def test_genie_messages() -> None:
    made = {
        "query": {"query": SQL, "statement_id": "s", "query_result_metadata": {"row_count": 1, "is_truncated": False}}
    }
    message = {
        "space_id": "x",
        "content": "q",
        "status": "COMPLETED",
        "attachments": [made, {"text": {"content": "three"}}],
    }
    turn = read("genie", message)
    assert (turn.question, turn.answer, turn.candidate_sql) == ("q", "three", SQL)
    assert facts(turn) == [(SQL, "query", True, True)]
    failed = {**message, "status": "FAILED", "error": {"type": "SQL_EXECUTION_EXCEPTION", "error": "no such column"}}
    assert facts(read("genie", failed)) == [(SQL, "query", True, False)]
    asks = {**message, "attachments": [{"text": {"content": "Which year?", "purpose": "FOLLOW_UP_QUESTION"}}]}
    assert (read("genie", asks).status, read("genie", asks).status_source.value) == ("CLARIFICATION", "typed")


def test_cortex_analyst_messages() -> None:
    def answer(*content: dict[str, Any]) -> dict[str, Any]:
        return {"message": {"role": "analyst", "content": list(content)}, "request_id": "r"}

    verified = {"verified_query_used": {"sql": "SELECT 1"}}
    turn = read(
        "cortex_analyst",
        answer({"type": "text", "text": "so"}, {"type": "sql", "statement": SQL, "confidence": verified}),
    )
    assert (turn.candidate_sql, facts(turn), turn.answer) == (SQL, [(SQL, "query", False, None)], "so")
    assert turn.retrieval is not None
    assert turn.retrieval.memory == ("SELECT 1",)
    asked = read(
        "cortex_analyst", answer({"type": "text", "text": "unclear"}, {"type": "suggestions", "suggestions": ["a?"]})
    )
    assert (asked.status, asked.status_source.value) == ("CLARIFICATION", "typed")
    stream = [
        {"event": "message.content.delta", "data": {"index": 0, "type": "sql", "statement_delta": "SELECT "}},
        {"event": "message.content.delta", "data": {"index": 0, "type": "sql", "statement_delta": "1"}},
    ]
    assert read("cortex_analyst", stream).candidate_sql == "SELECT 1"
    assert read("cortex_analyst", {"message": "bad token", "code": "390"}).status == "ERROR"


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_what_is_not_its_kind_and_unknown_settings(name: str) -> None:
    for payload in ("no json {", 7, {"unrelated": True}, [1, 2]):
        with pytest.raises(ExtractionError):
            read(name, payload)
    with pytest.raises(ConfigError, match="tool"):
        reader(name, {"toolz": {}})
    assert reader(name).name == name
