"""OpenTelemetry: the conventions, database spans, sub-agents and broken traces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"


def value(given: Any) -> dict[str, Any]:
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(one) for one in given]}}
    return {"intValue": str(given)} if isinstance(given, int) else {"stringValue": given}


def span(span_id: str, parent: str, name: str, start: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "traceId": "t",
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(start * 1_000_000_000),
        "endTimeUnixNano": str((start + 1) * 1_000_000_000),
        "attributes": [{"key": key, "value": value(one)} for key, one in attributes.items()],
        **more,
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def agent(span_id: str = "root", parent: str = "", **more: Any) -> dict[str, Any]:
    return span(
        span_id,
        parent,
        "invoke_agent a",
        1,
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": span_id},
        **more,
    )


def chat(span_id: str, start: int, heard: list[Any], said: list[Any], parent: str = "root") -> dict[str, Any]:
    return span(
        span_id,
        parent,
        "chat m",
        start,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(heard),
            "gen_ai.output.messages": json.dumps(said),
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.output_tokens": 2,
        },
    )


def tool(
    span_id: str, start: int, sql: str, back: str | None, parent: str = "root", name: str = "run_sql", **more: Any
) -> Any:
    found = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": span_id,
        "gen_ai.tool.call.arguments": json.dumps({"sql": sql}),
    }
    if back is not None:
        found["gen_ai.tool.call.result"] = back
    return span(span_id, parent, f"execute_tool {name}", start, found, **more)


def words(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def calls(*ids: tuple[str, str]) -> dict[str, Any]:
    parts = [{"type": "tool_call", "id": one, "name": "run_sql", "arguments": {"sql": sql}} for one, sql in ids]
    return {"role": "assistant", "parts": parts}


USER = [words("system", "CREATE TABLE film(id INT)"), words("user", "How many films?")]


def read(payload: Any, **settings: Any) -> Turn:
    return reader("otel", settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, str, bool | None, bool | None]]:
    return [(one.sql, one.role.value, one.executed, one.succeeded) for one in turn.queries]


def test_genai_spans() -> None:
    turn = read(
        export(
            tool("c1", 3, SQL, '{"columns": ["n"], "rows": [[3]]}'),
            chat("l2", 4, USER, [words("assistant", "There are 3.")]),
            agent(),
            chat("l1", 2, USER, [calls(("c1", SQL))]),
        )
    )
    assert (turn.question, turn.answer, turn.candidate_sql) == ("How many films?", "There are 3.", SQL)
    assert (turn.usage.model_calls, turn.usage.tokens_in, turn.usage.tokens_out) == (2, 10, 4)
    assert turn.retrieval is not None
    assert turn.retrieval.offered is not None
    assert [one.name for one in turn.retrieval.offered] == ["film"]


def test_database_spans_show_what_was_sent() -> None:
    limited = f"{SQL} LIMIT 100"
    database = {"db.system.name": "sqlite", "db.query.text": limited, "db.response.returned_rows": 1}
    turn = read(
        export(
            agent(),
            chat("l1", 2, USER, [calls(("c1", SQL))]),
            tool("c1", 3, SQL, "[(3,)]"),
            span("d1", "c1", "SELECT", 3, database),
            chat("l2", 5, USER, [words("assistant", "3")]),
        )
    )
    assert [(one.sql, one.sql_written, one.tool) for one in turn.queries] == [(limited, SQL, "run_sql")]
    assert turn.candidate_sql == limited


def test_database_spans_reveal_sql_that_code_built() -> None:
    found = {"db.system": "postgresql", "db.statement": SQL}
    failed = {"status": {"code": "STATUS_CODE_ERROR", "message": "no such column: x"}}
    turn = read(
        export(
            agent(),
            span("d1", "root", "SELECT", 2, {**found, "db.statement": "SELECT x FROM film"}, **failed),
            span("d2", "root", "SELECT", 3, found),
        )
    )
    assert facts(turn) == [("SELECT x FROM film", "query", True, False), (SQL, "query", True, True)]
    assert turn.candidate_sql == SQL


def test_sub_agents_have_a_path_and_parallel_calls_their_order() -> None:
    turn = read(
        export(
            agent(),
            chat(
                "l1",
                2,
                USER,
                [{"role": "assistant", "parts": [{"type": "tool_call", "id": "k", "name": "ask", "arguments": "{}"}]}],
            ),
            tool("k", 3, "", "3", name="ask"),
            agent("analyst", "k"),
            chat("l2", 4, USER, [calls(("b", "SELECT 1"), ("a", "SELECT x FROM nope"))], parent="analyst"),
            tool("a", 5, "SELECT x FROM nope", "SQL error: no such table: nope", parent="analyst"),
            tool("b", 6, "SELECT 1", "[(1,)]", parent="analyst"),
            chat("l3", 8, USER, [words("assistant", "1")]),
        )
    )
    assert facts(turn) == [("SELECT 1", "query", True, True), ("SELECT x FROM nope", "query", True, False)]
    assert {one.path for one in turn.queries} == {("analyst",)}
    assert turn.answer == "1"


def test_a_call_that_no_tool_span_answers_did_not_run_and_failures_are_read() -> None:
    raised: dict[str, Any] = {
        "events": [
            {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "boom"}}]}
        ]
    }
    turn = read(
        export(
            agent(status={"code": 2, "message": "GraphRecursionError('limit')"}),
            chat("l1", 2, USER, [calls(("c1", SQL))]),
            tool("c1", 3, SQL, None, status={"code": "STATUS_CODE_ERROR"}, **raised),
            chat("l2", 4, USER, [calls(("c2", "SELECT 2"))]),
        )
    )
    assert facts(turn) == [(SQL, "query", True, False), ("SELECT 2", "query", False, None)]
    assert turn.queries[0].error == "boom"
    assert (turn.status, turn.status_source.value) == ("BUDGET_EXHAUSTED", "exception")


def test_a_trace_without_its_root_is_read_with_a_gap() -> None:
    turn = read(export(chat("l1", 2, USER, [calls(("c1", SQL))]), tool("c1", 3, SQL, "[(3,)]")))
    assert (turn.candidate_sql, "the root span is missing" in turn.gaps) == (SQL, True)
    lost = read(export(chat("l1", 2, USER, [calls(("c1", SQL))])))
    assert facts(lost) == [(SQL, "query", None, None)]


def test_older_conventions() -> None:
    flat = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "How many films?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "3",
    }
    turn = read(export(span("root", "", "openai.chat", 1, flat)))
    assert (turn.question, turn.answer, turn.status_source.value) == ("How many films?", "3", "inferred")
    event = {"name": "gen_ai.choice", "attributes": [{"key": "message", "value": {"stringValue": '{"content": "4"}'}}]}
    assert read(export(span("root", "", "chat", 1, {"gen_ai.operation.name": "chat"}, events=[event]))).answer == "4"


@pytest.mark.parametrize("payload", ["{", {}, {"resourceSpans": []}, [{"role": "user", "content": "q"}], 4])
def test_other_payloads_are_refused(payload: Any) -> None:
    with pytest.raises(ExtractionError):
        read(payload)


def langgraph(said: dict[str, Any], *steps: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """A graph's spans as OpenInference writes them: a model, other steps, and the last state at the root."""
    generation = {"generations": [[{"text": "", "message": said}]]}
    model = {"openinference.span.kind": "LLM", "output.value": json.dumps(generation)}
    root = {"openinference.span.kind": "CHAIN", "output.value": json.dumps(state)}
    root["input.value"] = json.dumps({"messages": [{"type": "human", "data": {"content": "q"}}]})
    return export(span("root", "", "LangGraph", 1, root), span("m", "root", "ChatModel", 2, model), *steps)


def ai(text: str = "", *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "ai", "data": {"content": text, "tool_calls": list(calls), **more}}


CALL = {"name": "sql_db_query", "args": {"query": "SELECT 1"}, "id": "c"}


def test_langchain_keeps_refusals_and_malformed_calls_in_values_only() -> None:
    refused = read(langgraph(ai(additional_kwargs={"refusal": "No."}), state={"messages": []}))
    assert (refused.status, refused.status_source.value, refused.answer) == ("UNSUPPORTED", "typed", "No.")
    broken = read(langgraph(ai(invalid_tool_calls=[{**CALL, "args": '{"query'}]), state={"messages": []}))
    assert (broken.status, [query.sql for query in broken.queries]) == ("ERROR", [""])


def test_langgraph_steps_that_stop_to_ask() -> None:
    raised = [
        {"key": "exception.type", "value": value("langgraph.errors.GraphInterrupt")},
        {"key": "exception.message", "value": value("(Interrupt(value={'question': 'Which year?'}, id='1'),)")},
    ]
    kind = {"openinference.span.kind": "TOOL"}
    asked = span("t", "root", "ask_user", 3, kind, events=[{"name": "exception", "attributes": raised}])
    call = {"name": "ask_user", "args": {"question": "Which year?"}, "id": "c"}
    turn = read(langgraph(ai("", call), asked, state={"messages": []}))
    assert (turn.status, turn.status_source.value, turn.answer) == ("CLARIFICATION", "typed", "Which year?")


def test_langgraph_steps_that_say_the_last_word() -> None:
    tool = span("t", "root", "sql_db_query", 3, {"openinference.span.kind": "TOOL", "output.value": "[(1,)]"})
    limit = ai("Model call limits exceeded: run limit (2/2)")
    turn = read(langgraph(ai("", CALL), tool, state={"messages": [limit]}))
    assert (turn.status, turn.candidate_sql) == ("BUDGET_EXHAUSTED", "SELECT 1")
    given = {"messages": [], "structured_response": {"answer": "one", "sql": "SELECT 1"}}
    turn = read(langgraph(ai("", CALL), tool, state=given))
    assert (turn.answer, turn.candidate_source.value) == ("one", "declared")


def test_a_tool_span_tells_with_what_it_was_really_called() -> None:
    kind = {"openinference.span.kind": "TOOL", "input.value": "SELECT 2", "output.value": "[(2,)]"}
    (query,) = read(langgraph(ai("", CALL), span("t", "root", "sql_db_query", 3, kind), state={"messages": []})).queries
    assert (query.sql, query.sql_written, query.row_count) == ("SELECT 2", "SELECT 1", 1)


def test_a_call_that_waited_for_approval_is_one_call() -> None:
    asked = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c", "name": "run_sql", "arguments": {"sql": SQL}}],
    }
    question = {"role": "user", "parts": [{"type": "text", "content": "q"}]}
    said = {"role": "assistant", "parts": [{"type": "text", "content": "three"}]}
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "run_sql",
        "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.arguments": json.dumps({"sql": SQL}),
        "gen_ai.tool.call.result": "[[3]]",
    }
    turn = read(export(agent(), span("t", "root", "x", 2, attributes), chat("m", 3, [question, asked], [said])))
    assert [(query.sql, query.executed, query.row_count) for query in turn.queries] == [(SQL, True, 1)]


def test_pydantic_ai_results_in_spans() -> None:
    def ended(result: Any, tool: str = "final_result") -> Turn:
        part = {"type": "tool_call", "id": "c", "name": tool, "arguments": {}}
        said = {"role": "assistant", "parts": [part]}
        top = {"gen_ai.operation.name": "invoke_agent", "final_result": json.dumps(result)}
        return read(export(span("root", "", "agent run", 1, top), chat("m", 2, [], [said])))

    assert ended({"answer": "three", "sql": None}).answer == "three"
    asked = ended({"question": "Which year?"}, "final_result_NeedClarification")
    assert (asked.status, asked.answer) == ("CLARIFICATION", "Which year?")
    waiting = ended({"calls": [], "approvals": [{"tool_name": "run_sql"}]}, "run_sql")
    assert (waiting.status, waiting.answer) == ("CLARIFICATION", "approval of run_sql")


def test_arguments_that_did_not_validate_never_reached_the_tool() -> None:
    details = [{"type": "missing", "loc": ["sql"], "msg": "Field required"}]
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "run_sql",
        "gen_ai.tool.call.arguments": json.dumps({"sql": SQL}),
        "gen_ai.tool.call.result": json.dumps(details),
    }
    (query,) = read(export(agent(), span("t", "root", "x", 2, attributes, status={"code": 2}))).queries
    assert (query.executed, query.succeeded) == (False, False)


def test_an_agent_inside_a_span_of_another_service_is_read_whole() -> None:
    printed = "RunResult(output=None, state='max_steps_error', steps=[])"
    top = {"openinference.span.kind": "AGENT", "output.value": printed, "input.value": '{"task": "How many?"}'}
    inner = {"openinference.span.kind": "TOOL", "tool.name": "run_sql", "input.value": SQL, "output.value": "[(3,)]"}
    turn = read(export(span("a", "elsewhere", "Agent.run", 1, top), span("t", "a", "run_sql", 2, inner)))
    assert (turn.question, turn.status, turn.candidate_sql) == ("How many?", "BUDGET_EXHAUSTED", SQL)
    assert "the root span is missing" in turn.gaps


def test_parallel_calls_without_ids_are_told_apart_by_their_arguments() -> None:
    calls = [{"type": "tool_call", "name": "run_sql", "arguments": {"sql": f"SELECT {number}"}} for number in (1, 2, 3)]

    def ran(number: int, start: int, **more: Any) -> dict[str, Any]:
        kind = {"openinference.span.kind": "TOOL", "tool.name": "run_sql", "output.value": f"[({number},)]"}
        kind["input.value"] = json.dumps({"args": [f"SELECT {number}"], "kwargs": {}})
        return span(f"t{number}", "root", "run_sql", start, kind, **more)

    asked = chat("m", 2, [], [{"role": "assistant", "parts": calls}])
    failed = {"status": {"code": 2, "message": "no such table"}}
    turn = read(export(agent(), asked, ran(3, 3), ran(1, 4, **failed), ran(2, 5)))
    assert [(query.sql, query.succeeded) for query in turn.queries] == [
        ("SELECT 1", False),
        ("SELECT 2", True),
        ("SELECT 3", True),
    ]


def test_a_streamed_answer_of_a_query_engine_is_its_last_models() -> None:
    given = {
        "response_gen": "<generator object>",
        "metadata": {"sql_query": SQL, "result": [[3]]},
        "response_txt": None,
    }
    engine = {"openinference.span.kind": "CHAIN", "output.value": json.dumps(given), "input.value": "How many films?"}
    wrote = {"openinference.span.kind": "LLM", "output.value": SQL}
    told = {"openinference.span.kind": "LLM", "output.value": "There are 3."}
    turn = read(export(span("e", "", "query", 1, engine), span("a", "e", "x", 2, wrote), span("b", "e", "y", 4, told)))
    assert (turn.question, turn.answer, turn.candidate_sql) == ("How many films?", "There are 3.", SQL)
