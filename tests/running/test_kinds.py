"""Conversations, wordings and repeats through every way of reaching an agent, and through the frameworks' readers."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.config import Config
from sqlassay.running.plan import plan
from sqlassay.running.run import carry_out
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
COUNT = "SELECT COUNT(*) FROM item"
EARLIER = ["Hello.", "What is there?"]
CASE = {
    "id": "talk",
    "turns": EARLIER,
    "question": "How many items?",
    "phrasings": ["Count the items."],
    "gold_sql": COUNT,
}

PRINTS = f"""
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({{"sql": "{COUNT}", "answer": f"{{len(asked.get('history', []))}} before"}}))
"""

READ = """
SQL = "SELECT COUNT(*) FROM item"

def langchain(q):
    call = {"name": "sql_db_query", "args": {"query": SQL}, "id": "1"}
    return {"messages": [
        {"type": "human", "data": {"content": q}},
        {"type": "ai", "data": {"content": "", "tool_calls": [call]}},
        {"type": "tool", "data": {"content": "[(10,)]", "name": "sql_db_query", "tool_call_id": "1"}},
        {"type": "ai", "data": {"content": "Ten."}}]}

def pydantic_ai(q):
    part = lambda kind, **more: {"part_kind": kind, **more}
    return {"output": "Ten.", "all_messages": [
        {"kind": "request", "parts": [part("user-prompt", content=q)]},
        {"kind": "response", "parts": [part("tool-call", tool_name="run_sql", args={"sql": SQL}, tool_call_id="1")]},
        {"kind": "request", "parts": [part("tool-return", tool_name="run_sql", content=[[10]], tool_call_id="1")]},
        {"kind": "response", "parts": [part("text", content="Ten.")]}]}

def openai(q):
    call = {"id": "1", "type": "function", "function": {"name": "run_sql", "arguments": '{"sql": "' + SQL + '"}'}}
    return [{"role": "user", "content": q}, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "[[10]]"}, {"role": "assistant", "content": "Ten."}]

def openai_agents(q):
    return {"final_output": "Ten.", "to_input_list": [{"role": "user", "content": q},
        {"type": "function_call", "name": "run_sql", "arguments": '{"sql": "' + SQL + '"}', "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "[[10]]"}]}

def claude_agent_sdk(q):
    use = {"type": "tool_use", "id": "1", "name": "mcp__db__read_query", "input": {"query": SQL}}
    back = {"type": "tool_result", "tool_use_id": "1", "content": "[[10]]"}
    return [{"type": "assistant", "message": {"content": [use]}}, {"type": "user", "message": {"content": [back]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": "Ten."}]

def smolagents(q):
    call = {"id": "1", "function": {"name": "sql_engine", "arguments": {"query": SQL}}}
    return {"steps": [{"task": q}, {"step_number": 1, "tool_calls": [call], "observations": "(10,)", "error": None}],
        "output": "Ten.", "state": "success"}

def vanna(q):
    call = {"id": "1", "name": "run_sql", "arguments": {"sql": SQL}}
    return {"messages": [{"role": "user", "content": q},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "n\\n10", "tool_call_id": "1"}, {"role": "assistant", "content": "Ten."}]}

def llama_index(q):
    return {"response": "Ten.", "metadata": {"sql_query": SQL, "result": [[10]], "col_keys": ["n"]}, "source_nodes": []}

def mcp(q):
    params = {"name": "read_query", "arguments": {"query": SQL}}
    result = {"content": [{"type": "text", "text": "[{'n': 10}]"}]}
    return {"calls": [{"request": {"method": "tools/call", "params": params}, "result": result}]}

def otel(q):
    def span(id, parent, name, start, **attributes):
        given = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
        times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 1)}
        return {"traceId": "t", "spanId": id, "parentSpanId": parent, "name": name, "attributes": given, **times}
    spans = [
        span("r", "", "invoke_agent a", 1, gen_ai__operation__name="invoke_agent", final_result="Ten."),
        span("t", "r", "execute_tool run_sql", 2, gen_ai__operation__name="execute_tool", gen_ai__tool__name="run_sql",
            gen_ai__tool__call__arguments='{"sql": "' + SQL + '"}', gen_ai__tool__call__result="[[10]]")]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}

def genie(q):
    return {"content": q, "status": "COMPLETED", "space_id": "s", "attachments": [{"query": {"query": SQL}}]}

def cortex_analyst(q):
    return {"message": {"role": "analyst", "content": [{"type": "sql", "statement": SQL}]}, "request_id": "r"}

def a2a(q):
    parts = [{"kind": "text", "text": "Ten."}, {"kind": "data", "data": {"sql": SQL}}]
    return {"kind": "task", "id": "t", "status": {"state": "completed"}, "artifacts": [{"parts": parts}]}
"""
READERS = [line.split()[1].split("(")[0] for line in READ.splitlines() if line.startswith("def ")]


def turns(configured: Configured, pool: Pool, agent: dict[str, Any]) -> dict[tuple[int, int], Any]:
    result = carry_out(plan(configured([CASE], agent=agent, run={"repeats": 2})), pool)
    assert result.passed == 4
    return {(turn.phrasing, turn.repeat): turn for turn in result.folder.turns()}


def check(found: dict[tuple[int, int], Any]) -> None:
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    for (phrasing, _), turn in found.items():
        assert turn.question == ("How many items?", "Count the items.")[phrasing]
        assert [message.role for message in turn.history] == ["user", "assistant", "user", "assistant"]
        assert [message.content for message in turn.history][::2] == EARLIER
        assert turn.candidate_sql == COUNT


def test_http(configured: Configured, pool: Pool, endpoint: Callable[..., str]) -> None:
    url = endpoint(lambda asked: {"sql": COUNT, "answer": f"{len(asked.get('history') or [])} before"})
    found = turns(configured, pool, {"kind": "http", "url": url})
    check(found)
    assert {turn.answer for turn in found.values()} == {"4 before"}


def test_command(configured: Configured, pool: Pool, shop: Path) -> None:
    (shop / "prints.py").write_text(PRINTS)
    found = turns(configured, pool, {"kind": "command", "command": [sys.executable, "prints.py"]})
    check(found)
    assert {turn.answer for turn in found.values()} == {"4 before"}


@pytest.mark.parametrize(
    "history", [None, [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi!"}]]
)
def test_replay(configured: Configured, pool: Pool, shop: Path, history: list[dict[str, str]] | None) -> None:
    told = {} if history is None else {"history": history}
    lines = [
        {"id": "talk", "sql": COUNT, "answer": f"{phrasing}.{repeat}", "phrasing": phrasing, "repeat": repeat, **told}
        for phrasing in (0, 1)
        for repeat in (0, 1)
    ]
    (shop / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = turns(configured, pool, {"kind": "replay", "path": "lines.jsonl"})
    assert {key: turn.answer for key, turn in found.items()} == {(p, r): f"{p}.{r}" for p in (0, 1) for r in (0, 1)}
    kept = [("user", said) for said in EARLIER] if history is None else [("user", "Hi."), ("assistant", "Hi!")]
    for turn in found.values():
        assert [(message.role, message.content) for message in turn.history] == kept
        assert turn.candidate_sql == COUNT


@pytest.mark.parametrize("name", ["langchain", "openai", "otel", "mcp"])
def test_recorded_payloads_of_a_framework(configured: Configured, pool: Pool, shop: Path, name: str) -> None:
    (shop / "payloads.py").write_text(READ)
    payloads = runpy.run_path(str(shop / "payloads.py"))
    line = {"id": "talk", "payload": payloads[name]("How many items?")}
    (shop / "lines.jsonl").write_text(json.dumps(line))
    found = turns(configured, pool, {"kind": "replay", "path": "lines.jsonl", "read": name})
    for (phrasing, _), turn in found.items():
        assert turn.question == ("How many items?", "Count the items.")[phrasing]
        assert (turn.candidate_sql, [message.role for message in turn.history]) == (COUNT, ["user", "user"])


@pytest.mark.parametrize("name", READERS)
def test_a_frameworks_reader(configured: Configured, pool: Pool, shop: Path, name: str) -> None:
    (shop / "framework_payloads.py").write_text(READ)
    sys.modules.pop("framework_payloads", None)
    check(turns(configured, pool, {"kind": "python", "target": f"framework_payloads:{name}", "read": name}))
