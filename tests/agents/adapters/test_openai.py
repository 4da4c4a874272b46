"""OpenAI's APIs and its Agents SDK: messages, items, exchanges, streams, errors and traces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"
ROWS = '{"columns": ["n"], "rows": [[3]], "truncated": false}'


def call(sql: str | None, call_id: str, name: str = "run_sql", raw: str | None = None) -> dict[str, Any]:
    arguments = json.dumps({"sql": sql}) if raw is None else raw
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(text: str | None = None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {}), **more}


def tool(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER = {"role": "user", "content": "How many films?"}


def read(payload: Any, name: str = "openai", **settings: Any) -> Turn:
    return reader(name, settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, str, bool | None, bool | None]]:
    return [(one.sql, one.role.value, one.executed, one.succeeded) for one in turn.queries]


def item(sql: str, call_id: str, name: str = "run_sql") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps({"sql": sql})}


def output(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def words(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_chat_and_responses_tell_the_same() -> None:
    chat = read([USER, assistant(None, call(SQL, "c1")), tool("c1", ROWS), assistant("There are 3.")])
    items = read([USER, item(SQL, "c1"), output("c1", ROWS), words("There are 3.")])
    for turn in (chat, items):
        assert (turn.question, turn.answer, turn.candidate_sql) == ("How many films?", "There are 3.", SQL)
        assert facts(turn) == [(SQL, "query", True, True)]
        assert turn.queries[0].seen is not None
        assert turn.queries[0].seen.truncated is False


def test_parallel_malformed_and_checked_calls() -> None:
    turn = read(
        [
            USER,
            assistant(None, call("SELECT 1", "a"), call(None, "b", raw='{"sql": "SEL'), call(SQL, "c", "check_sql")),
            tool("c", "ok"),
            tool("b", "An error occurred while running the tool."),
            tool("a", "[[1]]"),
            assistant("1"),
        ]
    )
    assert facts(turn) == [("SELECT 1", "query", True, True), ("", "query", True, False), (SQL, "check", False, None)]
    assert turn.candidate_sql == "SELECT 1"


@pytest.mark.parametrize(
    ("reply", "status", "source"),
    [
        (
            {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]},
            "UNSUPPORTED",
            "typed",
        ),
        (
            {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
            "UNSUPPORTED",
            "finish_reason",
        ),
        ({"choices": [{"message": {"content": "3"}, "finish_reason": "length"}]}, "SUCCESS", "inferred"),
        ({"object": "response", "status": "failed", "error": {"code": "server_error"}, "output": []}, "ERROR", "flag"),
        (
            {
                "object": "response",
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
                "output": [],
            },
            "UNSUPPORTED",
            "finish_reason",
        ),
        ({"error": {"message": "bad", "code": "content_filter"}}, "UNSUPPORTED", "flag"),
        ({"object": "response", "output": [{"type": "mcp_approval_request", "name": "x"}]}, "CLARIFICATION", "typed"),
    ],
)
def test_how_a_reply_ended(reply: dict[str, Any], status: str, source: str) -> None:
    turn = read({"request": {"messages": [USER]}, "reply": reply})
    assert (turn.status, turn.status_source.value) == (status, source)


def test_an_answer_cut_by_length_is_a_gap() -> None:
    reply = {"choices": [{"message": {"content": "There are"}, "finish_reason": "length"}]}
    assert "answer cut by length" in read({"request": {"messages": [USER]}, "reply": reply}).gaps


def test_exchanges_count_only_their_own_conversation() -> None:
    first = {"request": {"messages": [USER]}, "reply": {"choices": [{"message": assistant(None, call(SQL, "c1"))}]}}
    second = {
        "request": {"messages": [USER, assistant(None, call(SQL, "c1")), tool("c1", ROWS)]},
        "reply": {"choices": [{"message": assistant("3")}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    }
    other = {
        "request": {"messages": [USER]},
        "reply": {"choices": [{"message": assistant(None, call("SELECT 9", "z"))}]},
    }
    turn = read([other, first, second])
    assert [one.sql for one in turn.queries] == [SQL]
    assert (turn.usage.model_calls, turn.usage.tokens_in) == (2, 7)
    assert turn.gaps == ("1 exchanges of other conversations were left out",)


def test_a_response_that_continues_another_has_its_history() -> None:
    first = {
        "request": {"input": "How many films?", "instructions": "CREATE TABLE film(id INT)"},
        "reply": {"object": "response", "id": "r1", "output": [item(SQL, "c1")]},
    }
    second = {
        "request": {"input": [output("c1", ROWS)], "previous_response_id": "r1"},
        "reply": {"object": "response", "id": "r2", "output": [words("3")]},
    }
    turn = read([first, second])
    assert (turn.question, turn.answer, turn.candidate_sql) == ("How many films?", "3", SQL)
    assert turn.retrieval is not None
    assert turn.retrieval.offered is not None
    assert [table.name for table in turn.retrieval.offered] == ["film"]


def test_streams_join() -> None:
    deltas: list[dict[str, Any]] = [
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "run_sql", "arguments": '{"sql": "SELECT'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ' 1"}'}}]},
    ]
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    assert [one.sql for one in read(chunks).queries] == ["SELECT 1"]
    events = [
        {"type": "response.created", "response": {}},
        {"type": "response.output_text.delta", "delta": "There are "},
        {"type": "response.output_text.delta", "delta": "3."},
    ]
    assert read(events).answer == "There are 3."
    done = {
        "type": "response.completed",
        "response": {"object": "response", "status": "completed", "output": [words("3")]},
    }
    assert read([*events, done]).answer == "3"


def test_structured_text_declares() -> None:
    turn = read([USER, assistant(json.dumps({"sql": SQL, "answer": "three"}))])
    assert (turn.candidate_sql, turn.candidate_source.value, turn.answer) == (SQL, "declared", "three")


def test_markdown_in_an_answer_is_not_the_answer_query() -> None:
    turn = read([USER, assistant(f"Use\n```sql\n{SQL}\n```")])
    assert (turn.candidate_sql, turn.queries) == (None, ())


def agents(**found: Any) -> Turn:
    return read({"framework": "openai-agents", **found}, "openai_agents")


def test_agents_results_and_errors() -> None:
    items = [USER, item(SQL, "c1"), output("c1", ROWS), words("3")]
    turn = agents(to_input_list=items, final_output="3")
    assert (turn.status, turn.candidate_sql, turn.answer) == ("SUCCESS", SQL, "3")
    over = agents(exception="MaxTurnsExceeded", message="Max turns (6) exceeded", run_data_items=items[1:3])
    assert (over.status, over.status_source.value, over.candidate_sql) == ("BUDGET_EXHAUSTED", "exception", SQL)
    crash = agents(exception="ModelBehaviorError", message="Tool x not found in agent y", run_data_items=[])
    assert crash.error is not None
    assert (crash.status, crash.error.kind.value) == ("ERROR", "agent_crash")
    slow = agents(exception="APITimeoutError", message="", run_data_items=[])
    assert slow.error is not None
    assert slow.error.kind.value == "agent_timeout"


def test_agents_used_as_tools_show_in_the_trace() -> None:
    def span(span_id: str, parent: str | None, name: str, given: dict[str, Any], back: str) -> dict[str, Any]:
        data = {"type": "function", "name": name, "input": json.dumps(given), "output": back}
        return {"id": span_id, "parent_id": parent, "started_at": span_id, "span_data": data}

    trace = [span("s1", None, "analyst", {"input": "q"}, "3"), span("s2", "s1", "run_sql", {"sql": SQL}, ROWS)]
    outer = [USER, {"type": "function_call", "call_id": "k", "name": "analyst", "arguments": "{}"}, output("k", "3")]
    turn = agents(to_input_list=[*outer, words("3")], final_output="3", trace=trace)
    assert (turn.candidate_sql, turn.queries[0].path) == (SQL, ("analyst",))


@pytest.mark.parametrize("name", ["openai", "openai_agents"])
@pytest.mark.parametrize("payload", ["[[", 3, {"x": 1}, [{"kind": "request", "parts": []}], {"steps": []}])
def test_other_payloads_are_refused(name: str, payload: Any) -> None:
    with pytest.raises(ExtractionError):
        read(payload, name)
