"""The statements that an agent really sent, noted at its own connection."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import StaticPool

from sqlassay.agents.recorder import merge, record, recording
from sqlassay.agents.registry import build
from sqlassay.records.ask import Ask
from sqlassay.records.case import Status
from sqlassay.records.turn import CandidateSource, Query, Role, StatusSource, Turn


@pytest.fixture
def connection() -> Iterator[Any]:
    raw = sqlite3.connect(":memory:", check_same_thread=False)
    raw.executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3);")
    yield record(raw)
    raw.close()


def test_every_way_to_send_is_noted_once(connection: Any) -> None:
    with recording() as rec:
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,), (2,), (3,)]
        cursor = connection.cursor()
        assert cursor.execute("SELECT 1").fetchone() == (1,)
        assert list(cursor.execute("SELECT a FROM t WHERE a > ?", (1,))) == [(2,), (3,)]
        cursor.executemany("INSERT INTO t VALUES (?)", [(4,), (5,)])
        connection.execute("PRAGMA table_info(t)").fetchall()
    sent = rec.statements()
    assert [(q.sql, q.role, q.row_count) for q in sent] == [
        ("SELECT a FROM t", Role.QUERY, 3),
        ("SELECT 1", Role.QUERY, 1),
        ("SELECT a FROM t WHERE a > ?", Role.QUERY, 2),
        ("INSERT INTO t VALUES (?)", Role.WRITE, None),
        ("PRAGMA table_info(t)", Role.INTROSPECTION, 1),
    ]
    assert all(q.executed is True and q.succeeded is True and q.duration_s is not None for q in sent)
    assert sent[0].seen is not None
    assert sent[0].seen.content == [[1], [2], [3]]
    json.dumps(rec.queries())


def test_a_failure_is_noted_and_still_raised(connection: Any) -> None:
    with recording() as rec, pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT nope FROM t")
    (query,) = rec.statements()
    assert (query.executed, query.succeeded, query.error) == (True, False, "OperationalError: no such column: nope")


def test_outside_of_a_turn_nothing_is_noted_and_nothing_changes(connection: Any) -> None:
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.row_factory = sqlite3.Row
    assert connection.execute("SELECT a FROM t").fetchone()["a"] == 1
    with connection as entered:
        entered.execute("INSERT INTO t VALUES (9)")
    assert connection.total_changes == 4
    assert record(connection) is connection


def test_many_rows_are_counted_and_few_kept(connection: Any) -> None:
    with recording() as rec:
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n"
        for _ in connection.execute(sql):
            pass
    (query,) = rec.statements()
    assert query.row_count == 20000
    assert query.seen is not None
    assert len(query.seen.content) == 50


def test_what_is_no_connection_is_refused() -> None:
    with pytest.raises(TypeError, match="neither an engine nor a DB-API connection"):
        record(object())


def test_an_engine_of_sqlalchemy() -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    assert record(record(engine)) is engine
    with recording() as rec, engine.connect() as connected:
        connected.execute(text("SELECT :n"), {"n": 1}).all()
        with pytest.raises(OperationalError):
            connected.execute(text("SELECT nope"))
    with engine.connect() as connected:
        connected.execute(text("SELECT 2"))
    engine.dispose()
    first, failed = rec.statements()
    assert (first.sql, first.succeeded) == ("SELECT ?", True)
    assert (failed.succeeded, failed.error) == (False, "OperationalError: no such column: nope")


def test_turns_at_the_same_time_do_not_mix(connection: Any) -> None:
    async def turn(number: int) -> list[str]:
        with recording() as rec:
            for _ in range(5):
                await asyncio.to_thread(connection.execute, f"SELECT {number}")
                await asyncio.sleep(0)
            return [query.sql for query in rec.statements()]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(turn(number) for number in range(6)))

    assert asyncio.run(all_of_them()) == [[f"SELECT {number}"] * 5 for number in range(6)]


def test_a_pool_that_loses_the_context_belongs_to_the_only_turn(connection: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(connection.execute, "SELECT 0").result()
        with recording() as rec:
            pool.submit(connection.execute, "SELECT 1").result()
            with recording() as inner:
                pool.submit(connection.execute, "SELECT 2").result()
    assert [query.sql for query in rec.statements()] == ["SELECT 1"]
    assert (rec.unattributed, inner.unattributed) == (1, 1)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_python_agents_turn_holds_what_it_sent(connection: Any, asynchronous: bool) -> None:
    def work(_question: str) -> str:
        connection.execute("SELECT a FROM t").fetchall()
        connection.execute("SELECT COUNT(*) FROM t").fetchall()
        return "There are 3 rows."

    async def work_async(question: str) -> str:
        await asyncio.sleep(0)
        return work(question)

    agent = build({"kind": "python", "target": work_async if asynchronous else work}, base_dir=".")
    turn = agent.read(await agent.ask(Ask(question="How many?", request_id="1")))
    await agent.close()
    assert [query.sql for query in turn.queries] == ["SELECT a FROM t", "SELECT COUNT(*) FROM t"]
    assert turn.answer == "There are 3 rows."
    assert (turn.candidate_sql, turn.status) == ("SELECT COUNT(*) FROM t", Status.SUCCESS)


async def test_words_of_refusal_after_a_query_that_ran_are_an_answer(connection: Any) -> None:
    def agent(_question: str) -> str:
        connection.execute("SELECT a FROM t").fetchall()
        return "There are three. Which of them do you mean?"

    built = build({"kind": "python", "target": agent}, base_dir=".")
    turn = built.read(await built.ask(Ask(question="?", request_id="1")))
    await built.close()
    assert (turn.status, turn.status_source) == (Status.SUCCESS, StatusSource.INFERRED)


async def test_a_crash_keeps_what_was_sent_before(connection: Any) -> None:
    def agent(_question: str) -> str:
        connection.execute("SELECT a FROM t").fetchall()
        raise RuntimeError("later")

    built = build({"kind": "python", "target": agent}, base_dir=".")
    turn = built.read(await built.ask(Ask(question="?", request_id="1")))
    assert turn.status is Status.ERROR
    assert [query.sql for query in turn.queries] == ["SELECT a FROM t"]


def sent(sql: str, **fields: Any) -> Query:
    return Query(sql=sql, executed=True, succeeded=True, **fields)


def test_a_tool_that_added_a_limit_is_seen() -> None:
    turn = Turn(queries=(Query(sql="SELECT a FROM t;", tool="run", call_id="1"),), status=Status.SUCCESS)
    merged = merge(turn, (sent("SELECT a FROM t LIMIT 10", row_count=3),))
    (query,) = merged.queries
    assert (query.sql, query.sql_written, query.tool) == ("SELECT a FROM t LIMIT 10", "SELECT a FROM t;", "run")
    assert (query.executed, query.row_count) == (True, 3)
    assert (merged.candidate_sql, merged.candidate_source) == ("SELECT a FROM t LIMIT 10", CandidateSource.ONLY_ONE)


def test_what_was_only_looked_at_stays_beside_what_was_sent() -> None:
    checked = Query(sql="SELECT 1", role=Role.CHECK, executed=False)
    turn = Turn(queries=(checked, Query(sql="SELECT 1", tool="run")), status=Status.SUCCESS)
    merged = merge(turn, (sent("SELECT 1"), sent("SELECT 2")))
    assert [(q.role, q.executed, q.sql) for q in merged.queries] == [
        (Role.CHECK, False, "SELECT 1"),
        (Role.QUERY, True, "SELECT 1"),
        (Role.QUERY, True, "SELECT 2"),
    ]


def test_what_the_agent_declares_stays_declared() -> None:
    turn = Turn(candidate_sql="SELECT 9", candidate_source=CandidateSource.DECLARED, status=Status.SUCCESS)
    assert merge(turn, (sent("SELECT 1"),)).candidate_sql == "SELECT 9"


def test_statements_by_another_way_are_a_gap() -> None:
    turn = Turn(queries=(sent("SELECT 1"),), status=Status.SUCCESS)
    merged = merge(turn, (sent("SELECT 2"),), unattributed=2)
    assert [query.sql for query in merged.queries] == ["SELECT 1", "SELECT 2"]
    assert len(merged.gaps) == 2
