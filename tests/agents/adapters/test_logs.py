"""Every public framework log agrees with the careful reader's account of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.records.turn import Query, Turn

LOGS = Path(os.environ.get("SQLASSAY_PUBLIC_LOGS") or Path(__file__).parents[4] / "shared" / "agent_logs")
EXPECTED = sorted((LOGS / "expected").glob("*.json"))

STATUS = {
    "answered": "SUCCESS",
    "asked": "CLARIFICATION",
    "refused": "UNSUPPORTED",
    "budget": "BUDGET_EXHAUSTED",
    "agent_error": "ERROR",
    "no_answer": "ERROR",
}
BASIS = {
    "typed": "typed",
    "typed:refusal": "typed",
    "finish_reason": "finish_reason",
    "stop_reason": "finish_reason",
    "result.subtype": "flag",
    "state": "flag",
    "ui component": "flag",
    "empty": "flag",
    "text in the SQL slot": "text_rule",
    "text+query": "inferred",
}
CANDIDATE = {
    "only_one": "only_one",
    "last_ok": "last_successful",
    "linked_to_answer": "linked",
    "declared": "declared",
    None: "none",
}
READ_DIFFERENTLY = {("claude_agent_sdk__permission_denied", 0): {"executed": False}}
"""The SDK lists the call under `permission_denials`: the statement never reached its tool (docs/adapters.md)."""

pytestmark = [
    pytest.mark.public_data,
    pytest.mark.skipif(not EXPECTED, reason=f"no agent logs under {LOGS} (set SQLASSAY_PUBLIC_LOGS)"),
]


def source_of(expected: dict[str, Any]) -> str:
    basis = expected["status_basis"]
    if basis.startswith("exception:"):
        return "exception"
    if basis == "text":
        return "inferred" if expected["status"] == "answered" else "text_rule"
    return BASIS[basis]


def read(path: Path) -> tuple[Turn, dict[str, Any]]:
    framework, scenario = path.stem.split("__", 1)
    payload = json.loads((LOGS / framework / f"{scenario}.json").read_text())
    return reader(framework).read(payload), json.loads(path.read_text())


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_agrees_with_the_careful_reader(path: Path) -> None:
    turn, expected = read(path)
    assert turn.status is not None
    assert turn.status.value == STATUS[expected["status"]]
    assert turn.status_source.value == source_of(expected)
    assert turn.answer == expected["answer"]
    at = expected["answer_statement"]
    assert turn.candidate_sql == (None if at is None else expected["statements"][at]["sql"])
    assert turn.candidate_source.value == CANDIDATE[expected["answer_basis"]]
    offered = () if turn.retrieval is None else turn.retrieval.offered or ()
    assert [table.name for table in offered] == expected["offered"]
    assert len(turn.queries) == len(expected["statements"])
    for number, (query, statement) in enumerate(zip(turn.queries, expected["statements"], strict=True)):
        compare(query, {**known(statement), **READ_DIFFERENTLY.get((path.stem, number), {})})


def known(statement: dict[str, Any]) -> dict[str, Any]:
    """`other` and `prose` are no roles of the turn record: what was sent as a query has that role."""
    return {
        "sql": statement["sql"] or "",
        "role": {"other": "query", "prose": "query"}.get(statement["role"], statement["role"]),
        "executed": {"yes": True, "no": False, "unknown": None}[statement["executed"]],
        "succeeded": statement["ok"],
        "tool": statement["tool"],
        "call_id": statement["call_id"],
    }


def compare(query: Query, expected: dict[str, Any]) -> None:
    found = {name: getattr(query, name) for name in expected}
    assert {**found, "role": query.role.value} == expected
    assert (query.error is not None) is (query.succeeded is False)


OTHER = sorted(
    path
    for folder in ("langchain", "mcp", "otel")
    for path in (LOGS / folder).glob("*.json")
    if not (LOGS / "expected" / f"{folder}__{path.name}").exists()
)


@pytest.mark.parametrize("path", OTHER, ids=lambda path: path.stem)
def test_logs_without_an_account_tell_the_story_of_their_name(path: Path) -> None:
    turn = reader(path.parent.name).read(json.loads(path.read_text()))
    ran = [query for query in turn.queries if query.executed and query.succeeded]
    name = path.stem.removesuffix(".otlp")
    assert turn.status is not None
    if "budget" in name or "smolagents_tc_error" in name:
        assert turn.status.value == "BUDGET_EXHAUSTED"
    elif "refusal" in name:
        assert turn.status.value == "UNSUPPORTED"
        assert turn.candidate_sql is None
    elif "clarification" in name:
        assert turn.status.value == "CLARIFICATION"
    elif "checker_only" in name or "hallucinated" in name:
        assert not ran
        assert turn.candidate_sql is None
    elif "success" in name or "error_retry" in name or "parallel" in name or "subagent" in name:
        assert turn.candidate_sql is not None
        assert "ROUND(SUM(i.Total), 2)" in turn.candidate_sql
        assert [query.error is not None for query in turn.queries].count(True) == (
            1 if "error_retry" in name or "parallel" in name else 0
        )
        if "subagent" in name:
            assert all(query.path for query in turn.queries)
    assert turn.adapter.startswith(path.parent.name)


@pytest.mark.parametrize("path", sorted(LOGS.glob("*/wire*.jsonl")), ids=lambda path: path.parent.name)
def test_wire_logs_read_the_newest_conversation(path: Path) -> None:
    turn = reader("openai").read(path.read_text())
    assert turn.question
    assert any("other conversations" in gap for gap in turn.gaps)


def test_postgres_servers_hide_errors_in_ordinary_results() -> None:
    turn = reader("mcp").read(json.loads((LOGS / "mcp" / "postgres-mcp.json").read_text()))
    facts = [(query.sql[:12], query.role.value, query.executed, query.succeeded) for query in turn.queries]
    assert facts == [
        ("select count", "query", True, True),
        ("select nope ", "query", True, False),
        ("select 1 as ", "query", True, True),
        ("delete from ", "write", False, False),
        ("select * fro", "explain", False, False),
    ]
    assert turn.queries[0].row_count == 1


def test_two_statements_of_one_call_are_two_statements() -> None:
    turn = reader("mcp").read(json.loads((LOGS / "mcp" / "dbhub.json").read_text()))
    both = [query for query in turn.queries if query.call_id == "4"]
    assert [query.sql for query in both] == ["select 1 as a", "select 2 as b"]
    assert {query.sql_written for query in both} == {"select 1 as a; select 2 as b"}


def test_a_capped_result_keeps_its_cap() -> None:
    turn = reader("mcp").read(json.loads((LOGS / "mcp" / "dbhub_two_sources.json").read_text()))
    seen = turn.queries[0].seen
    assert seen is not None
    assert (seen.truncated, seen.row_cap, turn.queries[0].row_count) == (True, 2, None)
