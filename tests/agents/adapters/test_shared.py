"""What the readers share: refusals in words, roles of statements, tool replies, offered tables, Python code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.agents.endings import of_exception
from sqlassay.agents.messages import Outcome, arguments_of, loaded, plain
from sqlassay.agents.offered import described, tables_in
from sqlassay.agents.plain import plain as result_as_plain
from sqlassay.agents.python_code import BUILT, calls_in
from sqlassay.agents.refusals import status_in
from sqlassay.agents.results import read_reply
from sqlassay.agents.statements import looks_like_sql, role_of
from sqlassay.agents.toolbox import toolbox
from sqlassay.agents.typed_output import read_output
from sqlassay.errors import ConfigError

ENGINE = {"sql_engine": "query"}.get


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I can't help with that: I am not able to delete data.", "UNSUPPORTED"),
        ("I cannot delete data.", "UNSUPPORTED"),
        ("I don't know", "UNSUPPORTED"),
        ("I’m sorry, but I can’t answer that.", "UNSUPPORTED"),
        ("Unfortunately, the database does not contain weather data.", "UNSUPPORTED"),
        ("I could not run that query: the column TotalAmount does not exist.", "UNSUPPORTED"),
        ("There is no table for salaries.", "UNSUPPORTED"),
        ("That is outside of what I can do.", "UNSUPPORTED"),
        ("Billing country or home country?", "CLARIFICATION"),
        ("Happy to help. Could you clarify which year you mean?", "CLARIFICATION"),
        ("Please specify the period.", "CLARIFICATION"),
        ("Something went wrong, please try again later.", "FALLBACK"),
        ("Agent stopped due to max iterations.", "BUDGET_EXHAUSTED"),
        ("Sorry, need more steps to process this request.", "BUDGET_EXHAUSTED"),
        ("Please tell me whether you mean the billing or the home country.", "CLARIFICATION"),
        ("I need more information about the period.", "CLARIFICATION"),
        ("The schema has invoices only. Weather isn't part of this database.", "UNSUPPORTED"),
        ("The schema has invoices only, so I'm unable to answer.", "UNSUPPORTED"),
        ("Salaries are not stored in this database.", "UNSUPPORTED"),
        ("An error occurred while running the tool. Please try again.", "FALLBACK"),
        ("Model call failed after 2 attempts with ValueError: x", "FALLBACK"),
        ("Please let me know if you need anything else.", None),
        ("The database has no customers from Atlantis.", None),
        ("There are 59 customers.", None),
        ("No invoices match.", None),
        ("France spent the most. Is there anything else?", None),
        ("The total is 12. I could not find any others.", None),
        ("Deleted the small invoices.", None),
        ("", None),
    ],
)
def test_words_that_refuse_ask_or_give_up(text: str, status: str | None) -> None:
    found = status_in(text, ran=False)
    assert (None if found is None else found.value) == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("France spent the most. Would you like the others?", None),
        ("The data does not contain a winner: two countries tie.", None),
        ("I can't answer that with this data.", "UNSUPPORTED"),
        ("I don't know", None),
        ("Do you mean the billing country or the home country?", "CLARIFICATION"),
        ("There are twelve in Paris. Did you mean Paris, Texas?", None),
        ("Would you like me to go on?", None),
    ],
)
def test_after_a_query_ran_only_an_outright_refusal_or_question_counts(text: str, status: str | None) -> None:
    found = status_in(text, ran=True)
    assert (None if found is None else found.value) == status


@pytest.mark.parametrize(
    ("sql", "role"),
    [
        ("SELECT 1", "query"),
        ("  -- look\n(SELECT 1)", "query"),
        ("WITH t AS (SELECT 1) SELECT * FROM t", "query"),
        ("FROM film SELECT id", "query"),
        ("SELECT name FROM sqlite_master WHERE type = 'table'", "introspection"),
        ("SELECT * FROM information_schema.columns c JOIN pg_catalog.pg_class k ON true", "introspection"),
        ("SELECT * FROM sqlite_master, film", "query"),
        ("SELECT * FROM film WHERE note = 'from sqlite_master'", "query"),
        ("WITH m AS (SELECT * FROM sqlite_master) SELECT * FROM m", "introspection"),
        ("SELECT * FROM pragma_table_info('film')", "introspection"),
        ("SELECT EXTRACT(year FROM released) FROM film", "query"),
        ("PRAGMA table_info(film)", "introspection"),
        ("SHOW TABLES", "introspection"),
        ("DESCRIBE film", "introspection"),
        ("EXPLAIN QUERY PLAN SELECT 1", "explain"),
        ("DELETE FROM film", "write"),
        ("WITH d AS (DELETE FROM film RETURNING id) SELECT * FROM d", "write"),
        ("WITH s AS (SELECT 1) INSERT INTO film SELECT * FROM s", "write"),
        ("SELECT * INTO copy FROM film", "write"),
        ("SELECT replace(title, 'delete', '') FROM film", "query"),
        ("SELECT 1; DROP TABLE film", "write"),
        ("SELECT 1; SELECT 2", "query"),
        ("I can't do that", "query"),
        ("", "query"),
    ],
)
def test_roles_of_statements(sql: str, role: str) -> None:
    assert role_of(sql).value == role


@given(st.text(max_size=300))
def test_roles_and_words_never_fail(text: str) -> None:
    role_of(text)
    looks_like_sql(text)
    status_in(text, ran=False)
    read_reply(Outcome(content=text))
    tables_in(text)
    calls_in(text, kind=ENGINE)
    arguments_of(text)


@pytest.mark.parametrize(
    ("content", "reached", "failed", "rows"),
    [
        ("Error: (sqlite3.OperationalError) no such column: x", True, True, None),
        ("SQL error: no such table: t", True, True, None),
        ("no such table: Nope", True, True, None),
        ("Query timed out after 30 s", True, True, None),
        ("Timeout expired", True, True, None),
        ("canceling statement due to statement timeout", True, True, None),
        ("(1146, \"Table 'db.x' doesn't exist\")", True, True, None),
        ("(1146, 'Table for two')", True, False, None),
        ("001003 (42000): SQL compilation error:\nsyntax", True, True, None),
        ("Msg 208, Level 16, State 1: Invalid object name 'x'.", True, True, None),
        ("400 Syntax error: Expected end of input", True, True, None),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `x` cannot be found", True, True, None),
        ("Tool 'run_sql' failed after 3 attempts with ValueError: x. Please try again.", True, True, None),
        ("The tool call `run_sql` was blocked because it was risky. The tool was not executed.", False, True, None),
        ("MCP error -32602: Tool run_it not found", False, True, None),
        ("MCP error -32001: Request timed out", True, True, None),
        ("Input validation error: 'query' is a required property", False, True, None),
        ("Error executing tool read_query: 1 validation error for read_queryArguments", False, True, None),
        ("Timeout,Count\n1,2", True, False, None),
        ("Connection | n\nlost | 3", True, False, None),
        ("(0 rows)", True, False, 0),
        ("No results found.", True, False, 0),
        ('relation "x" does not exist', True, True, None),
        ("ORA-00942: table or view does not exist", True, True, None),
        ("Tool 'run_it' not found", False, True, None),
        ("Unknown tool name: 'x'. Available tools: 'y'", False, True, None),
        ("Invalid arguments: 1 validation error for A", False, True, None),
        ("Error: Error validating query: delete from t", False, True, None),
        ("User rejected the tool call for `run_sql`", False, True, None),
        ('{"success": false, "error": "column nope"}', True, True, None),
        ('{"columns": ["error"], "rows": [["x"]]}', True, False, 1),
        ("[('France', 667.62)]", True, False, 1),
        ("[{'n': Decimal('1.5')}, {'n': None}]", True, False, 2),
        ("", True, False, 0),
        ("[]", True, False, 0),
        ("Query executed successfully. No rows returned.", True, False, 0),
        ("country,spent\nFrance,1", True, False, None),
        ([{"type": "text", "text": "Error: boom"}], True, True, None),
        ({"columns": ["a"], "rows": [[1], [2]]}, True, False, 2),
    ],
)
def test_replies(content: Any, reached: bool, failed: bool, rows: int | None) -> None:
    reply = read_reply(Outcome(content=content))
    assert (reply.failed, reply.row_count) == (failed, rows)
    if failed:
        assert reply.reached is reached


@pytest.mark.parametrize(
    ("content", "by", "cap"),
    [
        ("a,b\n1,2\n(Results truncated to 1000 characters. more)", "1000 characters", None),
        ("[[1], [2]]\nShowing first 2 of 400 rows", "2 rows", 2),
        ('{"rows": [[1], [2]], "truncated": true}', "the tool", 2),
    ],
)
def test_what_cut_a_result(content: str, by: str, cap: int | None) -> None:
    reply = read_reply(Outcome(content=content))
    assert (reply.truncated, reply.truncated_by, reply.row_cap) == (True, by, cap)


def test_offered_tables() -> None:
    ddl = (
        "Schema:\nCREATE TABLE IF NOT EXISTS \"film\" (id INTEGER, note TEXT DEFAULT 'a,b');\ncreate view v as select 1"
    )
    assert [table.name for table in tables_in(ddl)] == ["film", "v"]
    words = "Table 'film' has columns: id (INTEGER), price (NUMERIC(10, 2)),  and foreign keys: x."
    assert [(table.name, table.columns) for table in tables_in(words)] == [("film", ("id", "price"))]
    assert tables_in("an example uses film and actor") == ()
    assert described('["film", "actor"]', table=None) == ()
    assert described("[{'cid': 0, 'name': 'id', ...}]", table="film") == ()


def test_python_code_is_read_never_run() -> None:
    code = "q: str = 'SELECT 1'\nq = f'SELECT {x}'\nsql_engine(q)\nif sql_engine(query='SELECT 2'):\n    pass"
    found, readable = calls_in(code, kind=ENGINE)
    assert readable
    assert [call.arguments for call in found] == [BUILT, {"query": "SELECT 2"}]
    assert calls_in("print(", kind=ENGINE) == ([], False)


def test_exceptions_tell_budget_refusal_timeout_and_crash() -> None:
    names = ["GraphRecursionError", "openai.ContentFilterFinishReasonError", "TimeoutError", "KeyError"]
    found = [of_exception(name, "m") for name in names]
    assert [signal.status.value for signal, _ in found] == ["BUDGET_EXHAUSTED", "UNSUPPORTED", "ERROR", "ERROR"]
    assert [None if error is None else error.kind.value for _, error in found] == [
        None,
        None,
        "agent_timeout",
        "agent_crash",
    ]


def test_typed_results_by_status_field_and_own_field_names() -> None:
    typed = read_output({"status": "declined", "reason": "no data"})
    assert typed is not None
    assert typed.signal is not None
    assert (typed.signal.status.value, typed.signal.source.value, typed.answer) == (
        "UNSUPPORTED",
        "declared",
        "no data",
    )
    assert read_output("text") is None
    asked = read_output({"question": "Which year?"}, type_name="NeedClarification")
    assert asked is not None
    assert asked.answer == "Which year?"
    assert read_output({"country": "France", "spent": 1.5}).whole == '{"country": "France", "spent": 1.5}'  # type: ignore[union-attr]
    assert read_output({"query": "who is it?"}).sql is None  # type: ignore[union-attr]


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="did you mean 'query'"):
        toolbox({"tools": {"querry": ["x"]}}, {})
    with pytest.raises(ConfigError, match="list of names"):
        toolbox({"tools": {"query": 3}}, {})
    assert toolbox({"sql_arguments": "text"}, {}).sql_in({"text": "SELECT 1", "query": "no"}) == ("SELECT 1",)


def test_objects_that_hold_each_other_are_taken_apart_once() -> None:
    class Node:
        def __init__(self) -> None:
            self.others: list[Any] = []

    nodes = [Node() for _ in range(30)]
    for node in nodes:
        node.others = nodes
    assert plain(nodes[0])["__class__"] == "Node"
    assert loaded(b'{"a": 1}\n{"a": 2}\nbroken') == [{"a": 1}, {"a": 2}]


def test_results_in_memory_may_refer_to_each_other() -> None:
    @dataclass
    class Agent:
        name: str
        handoffs: list[Agent]

    agents = [Agent(name=str(number), handoffs=[]) for number in range(20)]
    for agent in agents:
        agent.handoffs = agents
    found = result_as_plain({"agent": agents[0], "output": "three"})
    assert (found["output"], found["agent"]["name"]) == ("three", "0")
