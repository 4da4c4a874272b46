"""smolagents: code agents, tool-calling agents, managed agents; what code did is told only where it must be so."""

from __future__ import annotations

from typing import Any

import pytest

from sqlassay.agents.registry import reader
from sqlassay.records.turn import Turn

SQL = "SELECT count(*) FROM film"


def read(name: str, payload: Any, **settings: Any) -> Turn:
    return reader(name, settings).read(payload)


def facts(turn: Turn) -> list[tuple[str, str, bool | None, bool | None]]:
    return [(one.sql, one.role.value, one.executed, one.succeeded) for one in turn.queries]


def step(code: str, seen: str | None, error: str | None = None, number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "step_number": number,
        "tool_calls": [{"id": f"call_{number}", "function": {"name": "python_interpreter", "arguments": code}}],
        "observations": seen,
        "error": None if error is None else {"type": "AgentExecutionError", "message": error},
        **more,
    }


def test_smolagents_code_actions() -> None:
    second = "print(sql_engine('SELECT x FROM film'))"
    code = f'q = "SELECT count(*) "\nq2 = q + "FROM film"\nprint(sql_engine(q2))\n{second}\nsql_engine("SELECT 9")'
    failed = f"Code execution failed at line '{second}' due to: OperationalError: no such column: x"
    turn = read("smolagents", {"steps": [{"task": "q"}, step(code, None, failed)], "output": "3", "state": "success"})
    assert facts(turn) == [
        (SQL, "query", True, True),
        ("SELECT x FROM film", "query", True, False),
        ("SELECT 9", "query", False, None),
    ]


def test_smolagents_sql_that_code_builds_is_a_gap() -> None:
    code = "for c in names:\n    sql_engine(f'SELECT {c}')"
    turn = read("smolagents", {"steps": [{"task": "q"}, step(code, "x")], "output": "3", "state": "success"})
    assert facts(turn) == [("", "query", None, None)]
    assert turn.candidate_sql is None
    assert any("built by code" in gap for gap in turn.gaps)


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("q = 'SELECT '\nq += '1'\nsql_engine(q)", [("SELECT 1", True, True)]),
        ("t = 'film'\nsql_engine(f'SELECT * FROM {t}')", [("SELECT * FROM film", True, True)]),
        (
            "if rows:\n    sql_engine('SELECT 1')\nelse:\n    sql_engine('SELECT 2')",
            [("SELECT 1", None, None), ("SELECT 2", None, None)],
        ),
        ("try:\n    sql_engine('SELECT 1')\nexcept Exception as e:\n    print(e)", [("SELECT 1", None, None)]),
        ("try:\n    sql_engine('SELECT 1')\nfinally:\n    print()", [("SELECT 1", True, True)]),
        ("x = done and sql_engine('SELECT 1')", [("SELECT 1", None, None)]),
        ("x = sql_engine('SELECT 1') or 'none'", [("SELECT 1", True, True)]),
        ("[sql_engine('SELECT 1') for t in tables]", [("", None, None)]),
        ("q = 'SELECT 1'\nif rows:\n    q = 'SELECT 2'\nsql_engine(q)", [("", None, None)]),
        ("q = 'SELECT 1'\ndef f():\n    q = 'SELECT 2'\nsql_engine(q)", [("SELECT 1", True, True)]),
        ("import sqlite3\nsqlite3.connect('f').execute('SELECT 1')", [("SELECT 1", None, None)]),
        ("print(len(str(rows)), ' '.join(rows), rows.execute('now'))", []),
    ],
)
def test_smolagents_reads_only_what_the_code_must_have_done(
    code: str, facts: list[tuple[str, bool | None, bool | None]]
) -> None:
    steps = [{"task": "q"}, step("rows = tables = done = ()", None), step(code, "x")]
    turn = read("smolagents", {"steps": steps, "output": "3", "state": "success"})
    assert [(query.sql, query.executed, query.succeeded) for query in turn.queries] == facts


def test_smolagents_names_live_from_step_to_step_unless_a_step_broke_off() -> None:
    assigned, used = step("q = 'SELECT 1'", None), step("sql_engine(q)", "(1,)")
    broken = {**step("q = 'SELECT 2'\nboom()", None), "error": {"type": "AgentExecutionError", "message": "boom"}}
    turn = read("smolagents", {"steps": [{"task": "q"}, assigned, used], "output": "1", "state": "success"})
    assert turn.candidate_sql == "SELECT 1"
    turn = read("smolagents", {"steps": [{"task": "q"}, assigned, broken, used], "output": "1", "state": "success"})
    assert turn.candidate_sql is None


@pytest.mark.parametrize("code", ["print(analyst('How many films?'))", "r = analyst(task='q', additional_args={})"])
def test_smolagents_agents_called_from_code_are_a_gap(code: str) -> None:
    payload = {"steps": [{"task": "q"}, step(code, "three")], "output": "three", "state": "success"}
    turn = read("smolagents", payload)
    assert (turn.queries, turn.statements_complete) == ((), False)
    assert any("'analyst' did inside" in gap for gap in turn.gaps)
    assert reader("smolagents", {"tools": {"other": "analyst"}}).read(payload).statements_complete


def test_smolagents_a_renamed_tool_in_code_shows() -> None:
    steps = [{"task": "q"}, step("print(warehouse('SELECT 1'))", "1")]
    payload = {"steps": steps, "output": "1", "state": "success"}
    turn = read("smolagents", payload)
    assert [(query.sql, query.executed) for query in turn.queries] == [("SELECT 1", None)]
    assert any("'warehouse' was given SQL" in gap for gap in turn.gaps)
    assert reader("smolagents", {"tools": {"query": "warehouse"}}).read(payload).candidate_sql == "SELECT 1"


def test_smolagents_results_of_any_type_are_shown_whole() -> None:
    steps = [{"task": "q"}, step("final_answer(['France', 667.62])", None)]
    said = [
        read("smolagents", {"steps": steps, "output": output}).answer for output in (["France", 667.62], 59, {"n": 1})
    ]
    assert said == ['["France", 667.62]', "59", '{"n": 1}']


def test_smolagents_tool_calls_and_budget() -> None:
    calls = [
        {"id": str(n), "function": {"name": "sql_engine", "arguments": {"query": sql}}}
        for n, sql in enumerate([SQL, "SELECT 9"])
    ]
    one = {"step_number": 1, "tool_calls": calls, "observations": "(3,)\n(9,)", "error": None}
    turn = read("smolagents", {"steps": [{"task": "q"}, one], "output": "9", "state": "max_steps_error"})
    assert (turn.status, turn.status_source.value, turn.candidate_sql) == ("BUDGET_EXHAUSTED", "flag", "SELECT 9")


def test_smolagents_tool_calls_of_failed_steps() -> None:
    """A step whose tool failed keeps its calls only in the message of the model."""

    def asked(*calls: tuple[str, str]) -> dict[str, Any]:
        found = [{"id": one, "function": {"name": "sql_engine", "arguments": {"query": sql}}} for one, sql in calls]
        return {"role": "assistant", "content": None, "tool_calls": found}

    def failed(number: int, kind: str, message: str, *calls: tuple[str, str]) -> dict[str, Any]:
        error = {"type": kind, "message": message}
        return {"step_number": number, "tool_calls": None, "error": error, "model_output_message": asked(*calls)}

    kind = "AgentToolExecutionError"
    words = "Error executing tool 'sql_engine' with arguments {'query': 'SELECT x FROM film'}: no such column: x"
    steps = [
        {"task": "q"},
        failed(1, kind, words, ("a", "SELECT x FROM film")),
        failed(2, kind, words, ("b", SQL), ("c", "SELECT x FROM film")),
        failed(3, kind, "Unknown tool sql_engine, should be one of: final_answer.", ("d", SQL)),
        failed(4, "AgentMaxStepsError", "Reached max steps.", ("e", SQL)),
    ]
    turn = read("smolagents", {"steps": steps, "output": None, "state": "max_steps_error"})
    assert facts(turn) == [
        ("SELECT x FROM film", "query", True, False),
        (SQL, "query", None, None),
        ("SELECT x FROM film", "query", True, False),
        (SQL, "query", False, False),
        (SQL, "query", False, None),
    ]
    assert turn.usage.tool_calls == 5
