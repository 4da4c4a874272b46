"""LangChain: streams, run trees and events as the framework's present releases write them, and what middleware adds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"
DRAFT = "SELECT count(*) FROM films"
QUESTION = {"value": {"question": "Which year?"}, "id": "i1"}


def read(payload: Any, **settings: Any) -> Turn:
    return reader("langchain", settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, bool | None, bool | None]]:
    return [(one.sql, one.executed, one.succeeded) for one in turn.queries]


def human(text: str) -> dict[str, Any]:
    return {"type": "human", "data": {"content": text}}


def ai(text: str, *calls: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    tool_calls = [{"name": name, "args": args, "id": "c1"} for name, args in calls]
    return {"type": "ai", "data": {"content": text, "tool_calls": tool_calls, **more}}


def reply(name: str, text: Any) -> dict[str, Any]:
    return {"type": "tool", "data": {"content": text, "name": name, "tool_call_id": "c1", "id": f"reply of {name}"}}


def chunk(text: str = "", *, name: str | None = None, args: str | None = None, last: bool = False) -> list[Any]:
    piece = {"name": name, "args": args, "id": "c1" if name else None, "index": 0}
    data = {
        "content": text,
        "id": "run-1",
        "tool_call_chunks": [] if args is None else [piece],
        "chunk_position": "last" if last else None,
    }
    return [{"type": "AIMessageChunk", "data": data}, {"langgraph_checkpoint_ns": "model:1"}]


def test_the_last_chunk_of_a_stream_is_a_piece_and_not_the_message() -> None:
    arguments = json.dumps({"query": SQL})
    called = [chunk(name="sql_db_query", args=""), chunk(args=arguments[:9]), chunk(args=arguments[9:])]
    done = [{"type": "tool", "data": {"content": "[(3,)]", "tool_call_id": "c1", "name": "sql_db_query"}}, {}]
    said = [chunk("There "), chunk("are 3"), chunk(".", last=True)]
    for one in said:
        one[0]["data"]["id"] = "run-2"
    turn = read([*called, chunk(last=True), done, *said])
    assert (facts(turn), turn.candidate_sql, turn.answer) == ([(SQL, True, True)], SQL, "There are 3.")


def test_a_message_that_repeats_its_chunks_is_said_once() -> None:
    whole = chunk("There are 3.", last=True)
    assert read([chunk("There "), chunk("are 3."), whole]).answer == "There are 3."


def test_the_debug_stream_tells_what_each_step_wrote() -> None:
    def step(number: int, name: str, *messages: dict[str, Any]) -> dict[str, Any]:
        return {"step": number, "type": "task_result", "payload": {"name": name, "result": {"messages": messages}}}

    asked = {"step": 1, "type": "task", "payload": {"name": "model", "input": {"messages": [human("How many?")]}}}
    inner = step(2, "tools", reply("sql_db_query", "[(3,)]"))
    payload = [asked, step(1, "model", ai("", ("sql_db_query", {"query": SQL}))), inner, step(3, "model", ai("3"))]
    for shape in (payload, [[["tools:1"], one] if one is inner else [[], one] for one in payload]):
        turn = read(shape)
        assert (turn.question, turn.answer, facts(turn)) == ("How many?", "3", [(SQL, True, True)])


def test_an_interrupt_in_a_stream_of_events_is_a_question() -> None:
    def event(kind: str, data: dict[str, Any], *parents: str, name: str = "x") -> dict[str, Any]:
        return {"event": kind, "run_id": f"{kind}{len(parents)}", "name": name, "data": data, "parent_ids": parents}

    turn = read(
        [
            event("on_chain_start", {"input": {"messages": [human("q")]}}),
            event("on_chat_model_end", {"output": ai("", ("ask_user", {"question": "Which year?"}))}, "r"),
            event("on_tool_error", {"error": "(Interrupt(value={'question': 'Which year?'}, id='i1'),)"}, "r"),
            event("on_chain_stream", {"chunk": {"__interrupt__": [QUESTION]}}),
            event("on_chain_end", {"output": {"messages": [human("q")]}}),
        ]
    )
    assert (turn.status, turn.status_source.value, turn.answer) == ("CLARIFICATION", "typed", "Which year?")
    assert turn.queries == ()


def run(name: str, kind: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "run_type": kind, "inputs": {}, "outputs": {}, "child_runs": children, **more}


def generated(message: dict[str, Any]) -> dict[str, Any]:
    return run("m", "llm", outputs={"generations": [[{"text": "", "message": message}]]})


def test_an_interrupt_in_a_run_tree_is_a_question() -> None:
    error = "GraphInterrupt((Interrupt(value={'question': 'Which year?'}, id='i1'),))Traceback (most recent call last):"
    asking = run("tools", "chain", run("ask_user", "tool", error=error), error=error)
    model = generated(ai("", ("ask_user", {"question": "Which year?"})))
    turn = read([run("graph", "chain", model, asking, inputs={"messages": [human("q")]})])
    assert (turn.status, turn.status_source.value, turn.answer) == ("CLARIFICATION", "typed", "Which year?")


def test_a_run_tree_shows_the_reply_to_a_tool_that_does_not_exist_in_the_step_around_it() -> None:
    error = reply("run_it", "Error: run_it is not a valid tool, try one of [sql_db_query].")
    tools = run("tools", "chain", outputs={"messages": [error]})
    graph = run(
        "graph",
        "chain",
        generated(ai("", ("run_it", {"sql": SQL}))),
        tools,
        generated(ai("I can't answer that.")),
        inputs={"messages": [human("q")]},
    )
    turn = read([graph])
    assert (facts(turn), turn.status, turn.gaps) == ([(SQL, False, False)], "UNSUPPORTED", ())


def test_a_reviewer_who_replaces_a_call_leaves_the_statement_that_was_executed() -> None:
    notice = (
        "Note: a human reviewer replaced this tool call before it ran. This was intentional. Executed instead: "
        f"sql_db_query with arguments {json.dumps({'query': SQL})}.\n\nTool response:\n[(3,)]"
    )
    payload = [human("q"), ai("", ("sql_db_query", {"query": DRAFT})), reply("sql_db_query", notice), ai("3")]
    (query,) = read(payload).queries
    assert (query.sql, query.sql_written, query.row_count) == (SQL, DRAFT, 1)
    assert query.seen is not None
    assert query.seen.content == "[(3,)]"


@pytest.mark.parametrize(
    ("name", "answer", "sql", "said"),
    [
        ("Answer", {"answer": "Three.", "sql": SQL}, SQL, "Three."),
        ("Count", {"films": 3}, None, '{"films": 3}'),
    ],
)
def test_a_structured_answer_is_no_unknown_tool(name: str, answer: dict[str, Any], sql: str | None, said: str) -> None:
    given = [ai("", (name, answer)), reply(name, f"Returning structured response: {answer}")]
    turn = read({"messages": [human("q"), *given], "structured_response": answer})
    assert (turn.candidate_sql, turn.answer, turn.statements_complete) == (sql, said, True)
    assert facts(turn) == ([] if sql is None else [(sql, False, None)])
    assert turn.gaps == ()


@pytest.mark.parametrize("name", ["transfer_to_sql_agent", "transfer_back_to_supervisor", "_Exception"])
def test_handing_over_hides_nothing(name: str) -> None:
    payload = [human("q"), ai("", (name, {})), reply(name, "Successfully transferred."), ai("3")]
    assert read(payload).statements_complete
