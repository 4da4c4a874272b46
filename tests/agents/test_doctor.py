"""What doctor and the test helper say of one turn, and when they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.doctor import Expected, examine, examine_payload, examined, expected_from, require_healthy
from sqlassay.agents.registry import build, reader
from sqlassay.errors import AdapterBroken, ConfigError, ExitCode
from sqlassay.records.ask import Ask
from sqlassay.records.turn import Turn
from sqlassay.testing.agents import assert_reads, assert_recognises

MESSAGES: dict[str, Any] = {
    "messages": [
        {"type": "human", "data": {"content": "How many films?"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [
            {"name": "sql_db_query", "args": {"query": "SELECT COUNT(*) FROM films"}, "id": "1"}]}},
        {"type": "tool", "data": {
            "content": "[(7,)]", "name": "sql_db_query", "tool_call_id": "1", "status": "success"}},
        {"type": "ai", "data": {"content": "Seven.", "tool_calls": []}},
    ]
}  # fmt: skip


def renamed(tool: str) -> dict[str, Any]:
    import json

    return dict(json.loads(json.dumps(MESSAGES).replace("sql_db_query", tool)))


def test_a_healthy_turn_tells_what_came_from_where() -> None:
    seen = examine_payload(reader("langchain"), MESSAGES, expected=Expected(tools=("sql_db_query",)))
    found = {finding.field: (finding.value, finding.source) for finding in seen.found}
    assert seen.healthy
    assert found["candidate_sql"] == ("SELECT COUNT(*) FROM films", "the answer query is only_one")
    assert found["queries"] == ("1 statements, 1 executed, 0 failed", "tools sql_db_query")
    assert "returned" in {finding.field for finding in seen.missing}
    assert seen.tools_seen == ("sql_db_query",)
    assert any(line.startswith("  answer: Seven.") for line in seen.lines())
    require_healthy(seen)


def test_a_renamed_tool_is_noticed_with_the_name_it_has_now() -> None:
    seen = examine_payload(reader("langchain"), renamed("sql_db_query2"), expected=Expected(tools=("sql_db_query",)))
    assert seen.problems == (
        "the tool 'sql_db_query' was never called (did you mean 'sql_db_query2'?); tools called: sql_db_query2",
        "unrecognised tool 'sql_db_query2' was given SQL: name it under tools.query or tools.check",
    )
    with pytest.raises(AdapterBroken) as error:
        require_healthy(seen)
    assert error.value.exit_code is ExitCode.GOLD_BROKEN


def test_a_renamed_tool_is_noticed_without_expectations() -> None:
    seen = examine_payload(reader("langchain"), renamed("ask_warehouse"))
    assert [problem.split(" was ")[0] for problem in seen.problems] == ["unrecognised tool 'ask_warehouse'"]
    named = reader("langchain", {"tools": {"query": "ask_warehouse"}})
    assert examine_payload(named, renamed("ask_warehouse")).healthy


def test_a_tool_that_hides_everything_is_a_problem_only_where_nothing_else_is_seen() -> None:
    called = {"name": "analyst", "args": {"question": "How many?"}, "id": "1"}
    messages = [
        {"type": "human", "data": {"content": "How many films?"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [called]}},
        {"type": "tool", "data": {"content": "Seven.", "name": "analyst", "tool_call_id": "1"}},
        {"type": "ai", "data": {"content": "Seven.", "tool_calls": []}},
    ]
    (problem,) = examine_payload(reader("langchain"), {"messages": messages}).problems
    assert problem.startswith("what 'analyst' did inside")
    assert examine_payload(reader("langchain"), {"messages": [*messages[:3], *MESSAGES["messages"][1:]]}).healthy


def test_an_expected_field_that_never_shows_up() -> None:
    seen = examine_payload(reader("langchain"), MESSAGES, expected=Expected(fields=("answer", "stages.plan", "status")))
    assert seen.problems == ("the field 'stages.plan' was never seen", "the field 'status' was never seen")


def test_an_empty_record() -> None:
    assert examined(Turn(), None, agent="x", question="?", expected=Expected()).problems == (
        "neither query nor answer nor status was extracted",
    )


async def test_a_mapped_field_that_is_not_there() -> None:
    agent = build(
        {
            "kind": "command",
            "command": ["echo", '{"text": "Seven."}'],
            "map": {"answer": "text", "sql": "q", "error": "e"},
        },
        base_dir=".",
    )
    seen = await examine(agent, Ask(question="How many?", request_id="1"))
    assert seen.problems == ("sql: nothing at 'q'",)


async def test_a_replay_is_examined_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "sql": "SELECT 1"}')
    agent = build({"kind": "replay", "path": "p.jsonl"}, base_dir=str(tmp_path))
    seen = await examine(agent, Ask(question="?", request_id="doctor"), expected=Expected(fields=("candidate_sql",)))
    assert seen.healthy


async def test_an_unknown_status_word_is_a_problem() -> None:
    agent = build({"kind": "python", "target": lambda _: {"sql": "SELECT 1", "status": "done"}}, base_dir=".")
    seen = await examine(agent, Ask(question="?", request_id="1"))
    assert not seen.healthy


def test_expectations_of_a_configuration() -> None:
    settings = {"expect": {"tools": ["a"], "fields": "answer"}, "read_settings": {"tools": {"query": ["b", "a"]}}}
    assert expected_from(settings) == Expected(tools=("a", "b"), fields=("answer",))
    assert expected_from({}) == Expected()
    with pytest.raises(ConfigError, match=r"agent\.expect"):
        expected_from({"expect": {"tols": []}})


def test_the_helper_for_a_users_own_tests() -> None:
    turn = assert_reads("langchain", MESSAGES, tools=["sql_db_query"], candidate_sql="SELECT COUNT(*) FROM films")
    assert turn.answer == "Seven."
    own = {"tools": {"query": ["ask_db"]}}
    assert_reads("langchain", renamed("ask_db"), settings=own, tools=["ask_db"], status="SUCCESS")
    with pytest.raises(AssertionError, match=r"answer is 'Seven\.', not 'Eight\.'"):
        assert_reads("langchain", MESSAGES, answer="Eight.")
    with pytest.raises(AssertionError, match="never called"):
        assert_reads("langchain", MESSAGES, tools=["other"])


def test_the_helper_for_a_live_agent() -> None:
    settings = {"kind": "python", "target": lambda question: {"sql": "SELECT 1", "answer": question}}
    assert assert_recognises(settings, "Hm?", fields=["candidate_sql"], answer="Hm?").answer == "Hm?"
    with pytest.raises(AssertionError, match="the field 'stages' was never seen"):
        assert_recognises(settings, "Hm?", fields=["stages"])
