"""How runs end and hand over: outputs of any type, retries without a tool, handoffs, rows as data, silence."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from sqlassay.agents.registry import reader
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"


def read(name: str, payload: Any) -> Turn:
    return reader(name).read(payload)


def request(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "request", "parts": parts}


def response(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "response", "parts": parts}


ASKED = request({"part_kind": "user-prompt", "content": "q"})
CALLED = response({"part_kind": "tool-call", "tool_name": "run_sql", "args": {"sql": SQL}, "tool_call_id": "1"})
RETURNED = request({"part_kind": "tool-return", "tool_name": "run_sql", "content": [[3]], "tool_call_id": "1"})
FINAL = response({"part_kind": "tool-call", "tool_name": "final_result", "args": {}, "tool_call_id": "2"})


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (59, "59"),
        ([["France", 667.62]], '[["France", 667.62]]'),
        ({"country": "France", "spent": 667.62}, '{"country": "France", "spent": 667.62}'),
        ("France.", "France."),
    ],
)
def test_pydantic_ai_outputs_of_any_type_are_the_answer(output: Any, answer: str) -> None:
    turn = read("pydantic_ai", {"output": output, "all_messages": [ASKED, CALLED, RETURNED, FINAL]})
    assert (turn.answer, turn.candidate_sql, turn.status, turn.gaps) == (answer, SQL, "SUCCESS", ())


def test_pydantic_ai_asks_for_another_answer_without_a_tool() -> None:
    retry = request({"part_kind": "retry-feedback", "content": "Error: too short", "retry": {"cause": "model_retry"}})
    said = [response({"part_kind": "text", "content": text}) for text in ("It", "It is three.")]
    turn = read("pydantic_ai", {"all_messages": [ASKED, CALLED, RETURNED, said[0], retry, said[1]]})
    assert (turn.answer, turn.candidate_sql, turn.gaps) == ("It is three.", SQL, ())


def test_pydantic_ai_streams_end_with_their_output() -> None:
    events = [
        {"event_kind": "part_start", "index": 0, "part": CALLED["parts"][0]},
        {"event_kind": "function_tool_result", "result": RETURNED["parts"][0]},
        {"event_kind": "agent_run_result", "result": {"output": {"sql_query": "SELECT 1", "explanation": "one"}}},
    ]
    turn = read("pydantic_ai", events)
    assert (turn.candidate_sql, turn.candidate_source.value, turn.answer) == ("SELECT 1", "declared", "one")


def test_openai_agents_handoffs_hide_nothing() -> None:
    def call(name: str, arguments: str, call_id: str) -> dict[str, Any]:
        return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}

    def output(call_id: str, text: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call_id, "output": text}

    items = [
        {"role": "user", "content": "q"},
        *(call("transfer_to_sql", "{}", "1"), output("1", '{"assistant": "sql"}')),
        *(call("run_sql", json.dumps({"sql": SQL}), "2"), output("2", "[[3]]")),
        {"role": "assistant", "content": "three"},
    ]
    turn = read("openai_agents", {"to_input_list": items, "final_output": "three"})
    assert (turn.candidate_sql, turn.statements_complete, turn.gaps) == (SQL, True, ())


def result(*texts: str, structured: Any = None, failed: bool = False) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text} for text in texts]
    return {"content": blocks, "structuredContent": structured, "isError": failed}


@pytest.mark.parametrize(
    ("answer", "executed", "succeeded", "rows"),
    [
        (result('{"n": 1}', '{"n": 2}', structured={"result": [{"n": 1}, {"n": 2}]}), True, True, 2),
        (result(structured={"result": []}), True, True, 0),
        (result("Error executing tool read_query", failed=True), True, False, None),
        (result("Error executing tool read_query: 1 validation error for A", failed=True), False, False, None),
        (result("Error: no such table: t", structured={"result": [{"type": "text", "text": "x"}]}), True, False, None),
    ],
)
def test_mcp_rows_as_data_and_failures(answer: Any, executed: bool, succeeded: bool, rows: int | None) -> None:
    call = {"method": "tools/call", "params": {"name": "read_query", "arguments": {"query": SQL}}}
    (query,) = read("mcp", {"calls": [{"request": call, "result": answer}]}).queries
    assert (query.executed, query.succeeded, query.row_count) == (executed, succeeded, rows)


def test_vanna_turns_in_which_the_model_said_nothing_are_the_agents_failure() -> None:
    bar = {"rich": {"type": "status_bar_update", "data": {"status": "idle", "message": "Response complete"}}}
    asked: dict[str, Any] = {"conversation": {"messages": [{"role": "user", "content": "q"}]}}
    turn = read("vanna", {**asked, "chat_poll_response": {"chunks": [bar]}})
    assert (turn.status, turn.status_source.value) == ("ERROR", "flag")
    assert turn.error is not None
    assert read("vanna", asked).status is None


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("openai", [{"role": "user", "content": "q"}, {"role": "assistant", "content": ""}]),
        ("openai_agents", {"to_input_list": [{"role": "user", "content": "q"}], "final_output": ""}),
        ("langchain", [{"type": "human", "content": "q"}, {"type": "ai", "content": ""}]),
        ("pydantic_ai", {"output": "", "all_messages": [ASKED]}),
    ],
)
def test_an_empty_final_text_is_the_agents_failure_and_not_the_readers(name: str, payload: Any) -> None:
    turn = read(name, payload)
    assert (turn.status, turn.status_source.value, turn.answer) == ("ERROR", "flag", "")
    assert turn.error is not None
    assert not any("neither a status" in gap for gap in turn.gaps)


def test_llama_index_agents_results_hold_their_calls() -> None:
    def call(number: int, sql: str, said: str, failed: bool) -> dict[str, Any]:
        output = {"blocks": [{"block_type": "text", "text": said}], "tool_name": "run_sql", "is_error": failed}
        return {"tool_name": "run_sql", "tool_kwargs": {"sql": sql}, "tool_id": f"c{number}", "tool_output": output}

    words = {"role": "assistant", "blocks": [{"block_type": "text", "text": "Three."}]}
    calls = [call(1, "SELECT x", "Error: no such column: x", True), call(2, SQL, "[(3,)]", False)]
    turn = read("llama_index", {"response": words, "current_agent_name": "a", "tool_calls": calls})
    assert [(query.sql, query.succeeded) for query in turn.queries] == [("SELECT x", False), (SQL, True)]
    assert (turn.answer, turn.candidate_sql, turn.status) == ("Three.", SQL, "SUCCESS")
    for one in calls:
        del one["tool_output"]
    turn = read("llama_index", {"response": words, "current_agent_name": "a", "tool_calls": calls})
    assert [(query.sql, query.executed) for query in turn.queries] == [("SELECT x", None), (SQL, None)]
    assert any("holds no results" in gap for gap in turn.gaps)


def test_llama_index_outputs_in_memory_keep_the_results_that_their_dump_drops() -> None:
    class Result:
        def __init__(self) -> None:
            self.tool_name, self.tool_kwargs, self.tool_id = "run_sql", {"sql": SQL}, "1"
            self.tool_output = {"content": "[(3,)]", "is_error": False}

    class Output:
        response = None
        tool_calls: ClassVar[list[Any]] = [Result()]

        def model_dump(self) -> dict[str, Any]:
            return {"response": {"role": "assistant", "content": "Three."}, "tool_calls": [{"tool_name": "run_sql"}]}

    turn = read("llama_index", Output())
    assert (turn.candidate_sql, turn.answer) == (SQL, "Three.")
