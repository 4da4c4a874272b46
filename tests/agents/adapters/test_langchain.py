"""LangChain: what each shape of payload and each way to end a run becomes."""

from __future__ import annotations

from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"


def human(text: str) -> dict[str, Any]:
    return {"type": "human", "data": {"content": text, "type": "human"}}


def ai(text: str = "", *calls: tuple[str, dict[str, Any], str], **more: Any) -> dict[str, Any]:
    found = [{"name": name, "args": args, "id": call_id, "type": "tool_call"} for name, args, call_id in calls]
    return {"type": "ai", "data": {"content": text, "type": "ai", "tool_calls": found, **more}}


def tool(call_id: str, content: Any, name: str = "sql_db_query", status: str = "success") -> dict[str, Any]:
    return {
        "type": "tool",
        "data": {"content": content, "type": "tool", "name": name, "tool_call_id": call_id, "status": status},
    }


def query(sql: str, call_id: str = "c1", name: str = "sql_db_query") -> tuple[str, dict[str, Any], str]:
    return name, {"query": sql}, call_id


def read(payload: Any, **settings: Any) -> Turn:
    return reader("langchain", settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, str, bool | None, bool | None]]:
    return [(one.sql, one.role.value, one.executed, one.succeeded) for one in turn.queries]


def test_success() -> None:
    turn = read({"messages": [human("How many films?"), ai("", query(SQL)), tool("c1", "[(3,)]"), ai("There are 3.")]})
    assert (turn.question, turn.answer, turn.candidate_sql) == ("How many films?", "There are 3.", SQL)
    assert (turn.status, turn.status_source.value, turn.candidate_source.value) == ("SUCCESS", "inferred", "only_one")
    assert turn.queries[0].row_count == 1


def test_an_error_in_an_ordinary_message_is_an_error() -> None:
    bad = "SELECT nope FROM film"
    turn = read(
        [
            human("q"),
            ai("", query(bad)),
            tool("c1", "Error: (sqlite3.OperationalError) no such column: nope"),
            ai("", query(SQL, "c2")),
            tool("c2", "[(3,)]"),
            ai("3"),
        ]
    )
    assert facts(turn) == [(bad, "query", True, False), (SQL, "query", True, True)]
    assert turn.candidate_sql == SQL


def test_a_checked_statement_never_ran() -> None:
    turn = read([human("q"), ai("", query(SQL, name="sql_db_query_checker")), tool("c1", SQL), ai("There are 3.")])
    assert facts(turn) == [(SQL, "check", False, None)]
    assert turn.candidate_sql is None


def test_parallel_calls_keep_the_order_in_which_they_were_made() -> None:
    turn = read(
        [
            human("q"),
            ai("", query("SELECT 1", "a"), query("SELECT x FROM nope", "b")),
            tool("b", "Error: no such table: nope"),
            tool("a", "[(1,)]"),
            ai("1"),
        ]
    )
    assert facts(turn) == [("SELECT 1", "query", True, True), ("SELECT x FROM nope", "query", True, False)]


def test_malformed_arguments_never_reach_the_tool() -> None:
    broken = {"name": "sql_db_query", "args": '{"query": "SEL', "id": "c1", "type": "invalid_tool_call"}
    turn = read([human("q"), ai("", invalid_tool_calls=[broken])])
    assert facts(turn) == [("", "query", False, None)]
    assert (turn.status, turn.status_source.value) == ("ERROR", "flag")
    assert turn.error is not None


@pytest.mark.parametrize(
    ("last", "status", "source"),
    [
        (ai("I can't help with that."), "UNSUPPORTED", "text_rule"),
        (ai("Do you mean this year or last year?"), "CLARIFICATION", "text_rule"),
        (ai("", additional_kwargs={"refusal": "No."}), "UNSUPPORTED", "typed"),
        (ai("", response_metadata={"finish_reason": "content_filter"}), "UNSUPPORTED", "finish_reason"),
        (ai("Sorry, need more steps to process this request."), "BUDGET_EXHAUSTED", "text_rule"),
        (ai("Tool call limit reached: run limit exceeded (3/2 calls)."), "BUDGET_EXHAUSTED", "text_rule"),
        (ai("The USA, with 523.06."), "SUCCESS", "inferred"),
        (ai("", ("ask_user", {"question": "Which year?"}, "c9")), "CLARIFICATION", "typed"),
    ],
)
def test_how_a_run_ended(last: dict[str, Any], status: str, source: str) -> None:
    turn = read([human("q"), last])
    assert (turn.status, turn.status_source.value) == (status, source)
    assert turn.candidate_sql is None


def test_a_lost_run_is_a_budget_stop_with_a_gap() -> None:
    turn = read({"exception": "GraphRecursionError", "message": "limit of 8", "messages": None})
    assert (turn.status, turn.status_source.value, turn.gaps) == (
        "BUDGET_EXHAUSTED",
        "exception",
        ("all messages lost",),
    )


def test_an_interrupt_asks_and_a_call_that_waits_for_approval_did_not_run() -> None:
    asked = read({"messages": [human("q")], "__interrupt__": [{"value": "Which year?", "id": "i"}]})
    assert (asked.status, asked.status_source.value, asked.answer) == ("CLARIFICATION", "typed", "Which year?")
    for printed in (
        "Interrupt(value='Which year?', id='i')",
        "(Interrupt(value={'question': 'Which year?'}, id='i'),)",
    ):
        assert read({"messages": [human("q")], "__interrupt__": printed}).answer == "Which year?"
    request = {"action_requests": [{"name": "sql_db_query", "args": {"query": SQL}, "description": "Run it?"}]}
    held = read({"messages": [human("q"), ai("", query(SQL))], "__interrupt__": [{"value": request}]})
    assert facts(held) == [(SQL, "query", False, None)]
    assert held.candidate_sql is None


def test_only_the_newest_turn_counts() -> None:
    old = "SELECT title FROM film"
    first = [human("first"), ai("", query(old)), tool("c1", "[('A',)]"), ai("A")]
    turn = read([*first, human("then"), ai("", query(SQL, "c2")), tool("c2", "[(3,)]"), ai("3")])
    assert [one.sql for one in turn.queries] == [SQL]
    assert [(one.role, one.content) for one in turn.history] == [("user", "first"), ("assistant", "A")]
    assert turn.question == "then"


def test_a_renamed_tool_is_not_guessed_and_a_setting_finds_it() -> None:
    payload = [human("q"), ai("", query(SQL, name="warehouse")), tool("c1", "[(3,)]", name="warehouse"), ai("3")]
    turn = read(payload)
    assert facts(turn) == [(SQL, "query", None, None)]
    assert turn.candidate_sql is None
    assert any("warehouse" in gap for gap in turn.gaps)
    assert read(payload, tools={"query": "warehouse"}).candidate_sql == SQL


def test_an_unknown_tool_did_not_run() -> None:
    said = "Error: run_it is not a valid tool, try one of [sql_db_query]."
    turn = read(
        [human("q"), ai("", query(SQL, name="run_it")), tool("c1", said, name="run_it", status="error"), ai("?!")]
    )
    assert facts(turn) == [(SQL, "query", False, False)]


def test_a_trace_that_breaks_off_leaves_unknown_what_is_unknown() -> None:
    turn = read([human("q"), ai("", query(SQL))])
    assert facts(turn) == [(SQL, "query", None, None)]
    assert turn.candidate_sql is None
    assert "the log ends without a final answer" in turn.gaps


def test_ddl_is_offered_and_a_list_of_names_is_not() -> None:
    ddl = 'CREATE TABLE "film" (\n\t"id" INTEGER, \n\t"title" TEXT\n)'
    names = ai("", ("sql_db_list_tables", {}, "l"))
    schema = ai("", ("sql_db_schema", {"table_names": "film"}, "s"))
    turn = read(
        [
            human("q"),
            names,
            tool("l", "film, actor", "sql_db_list_tables"),
            schema,
            tool("s", ddl, "sql_db_schema"),
            ai("3"),
        ]
    )
    assert turn.retrieval is not None
    assert turn.retrieval.offered is not None
    assert [(one.name, one.columns) for one in turn.retrieval.offered] == [("film", ("id", "title"))]
    unknown = read([human("q"), ai("3")])
    assert unknown.retrieval is not None
    assert unknown.retrieval.offered_complete is False


def test_streamed_chunks_join() -> None:
    def chunk(**data: Any) -> list[Any]:
        return [{"type": "AIMessageChunk", "data": {"content": "", "id": "m1", **data}}, {"langgraph_node": "model"}]

    pieces = ['{"query": "SELECT', ' count(*) FROM film"}']
    stream = [
        chunk(tool_call_chunks=[{"name": "sql_db_query", "args": pieces[0], "id": "c1", "index": 0}]),
        chunk(tool_call_chunks=[{"name": None, "args": pieces[1], "id": None, "index": 0}]),
        [tool("c1", "[(3,)]"), {}],
        [{"type": "AIMessageChunk", "data": {"content": "There ", "id": "m2"}}, {}],
        [{"type": "AIMessageChunk", "data": {"content": "are 3.", "id": "m2"}}, {}],
    ]
    turn = read(stream)
    assert (turn.answer, turn.candidate_sql) == ("There are 3.", SQL)


def test_updates_of_subgraphs_have_a_path() -> None:
    inner = ["sub:1234"]
    stream = [
        [[], {"model": {"messages": [ai("", ("analyst", {"request": "q"}, "k"))]}}],
        [inner, {"model": {"messages": [ai("", query(SQL))]}}],
        [inner, {"tools": {"messages": [tool("c1", "[(3,)]")]}}],
        [inner, {"model": {"messages": [ai("inner words")]}}],
        [[], {"tools": {"messages": [tool("k", "3", "analyst")]}}],
        [[], {"model": {"messages": [ai("There are 3.")]}}],
    ]
    turn = read(stream)
    assert (turn.answer, turn.candidate_sql, turn.queries[0].path) == ("There are 3.", SQL, ("sub",))


def test_a_message_that_a_later_step_replaced_keeps_what_was_written() -> None:
    draft, final = "SELECT nope FROM film", SQL
    stream = [
        {"generate": {"messages": [ai("", query(draft, "q1"), id="draft")]}},
        {"check": {"messages": [ai("", query(final, "q2"), id="draft")]}},
        {"run": {"messages": [tool("q2", "[(3,)]")]}},
    ]
    turn = read(stream)
    assert [(one.sql, one.sql_written) for one in turn.queries] == [(final, draft)]


def test_callback_events_and_classic_agents() -> None:
    ids = {"run_id": "r1", "parent_ids": ["root"]}
    events = [
        {"event": "on_chain_start", "run_id": "root", "parent_ids": [], "data": {"input": {"messages": [human("q")]}}},
        {"event": "on_chat_model_end", **ids, "data": {"output": ai("", query(SQL))}},
        {
            "event": "on_tool_start",
            "name": "sql_db_query",
            "run_id": "t",
            "parent_ids": ["root"],
            "data": {"input": {}},
        },
        {
            "event": "on_tool_end",
            "name": "sql_db_query",
            "run_id": "t",
            "parent_ids": ["root"],
            "data": {"output": tool("c1", "[(3,)]")},
        },
        {"event": "on_chat_model_end", "run_id": "r2", "parent_ids": ["root"], "data": {"output": ai("3")}},
    ]
    assert (read(events).candidate_sql, read(events).question) == (SQL, "q")
    state = {"messages": [human("q"), ai("", query(SQL)), tool("c1", "[(3,)]"), ai("3")]}
    plain_nodes = [{"event": "on_chain_end", "run_id": "root", "parent_ids": [], "data": {"output": state}}]
    assert (read(plain_nodes).candidate_sql, read(plain_nodes).answer) == (SQL, "3")
    step = [{"kwargs": {"tool": "sql_db_query", "tool_input": SQL, "log": ""}}, "[(3,)]"]
    classic = read({"input": "q", "output": "3", "intermediate_steps": [step]})
    assert (classic.candidate_sql, classic.answer) == (SQL, "3")


def test_typed_results_declare_the_answer_query() -> None:
    turn = read({"messages": [human("q"), ai("done")], "structured_response": {"sql": SQL, "answer": "three"}})
    assert (turn.candidate_sql, turn.candidate_source.value, turn.answer) == (SQL, "declared", "three")
    assert (turn.status, turn.status_source.value) == ("SUCCESS", "typed")


def test_long_cells_are_seen_cut() -> None:
    turn = read([human("q"), ai("", query(SQL)), tool("c1", f"[('{'ab' * 148}a...', 1)]"), ai("Done.")])
    assert turn.queries[0].seen is not None
    assert turn.queries[0].seen.truncated is True


@pytest.mark.parametrize("payload", ["not json {", 5, {"a": 1}, ["x"], [{"resourceSpans": []}], {"steps": []}])
def test_other_payloads_are_refused(payload: Any) -> None:
    with pytest.raises(ExtractionError):
        read(payload)
