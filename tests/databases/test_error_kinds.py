"""Every statement of `error_kinds.txt` fails with its kind, by each engine's own words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlassay.databases import connect
from sqlassay.records.execution import Execution, SqlError
from sqlassay.records.settings import Limits

STATEMENTS = Path(__file__).with_name("error_kinds.txt").read_text(encoding="utf-8").splitlines()[1:]
SETUP = (
    "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(30), price DECIMAL(10,2), made DATE)",
    "CREATE TABLE maker (id INT PRIMARY KEY, item_id INT, name VARCHAR(30))",
    "INSERT INTO item VALUES (1,'a',1.5,'2020-01-01'),(2,'b',2.5,'2021-01-01'),(3,'c',NULL,NULL)",
    "INSERT INTO maker VALUES (1,1,'x'),(2,1,'y'),(3,2,'z')",
)


def kind_of(execution: Execution) -> str:
    return execution.kind.value if isinstance(execution, SqlError) else type(execution).__name__


def wrong_kinds(url: str, engine: str) -> list[str]:
    wrong, seen = [], 0
    with closing(connect(url)) as database:
        for line in STATEMENTS:
            kind, engines, sql = line.split(" | ", 2)
            if engine not in engines:
                continue
            seen += 1
            with database.session() as session:
                execution = session.execute(sql, limits=Limits())
            if kind_of(execution) != kind:
                wrong.append(f"{sql}: {kind_of(execution)}, not {kind}: {execution!s:.200}")
    assert seen > 60
    return wrong


def test_sqlite(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript(";".join(SETUP) + ";")
    assert wrong_kinds(f"sqlite:///{tmp_path / 'a.db'}", "s") == []


def test_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        for statement in SETUP:
            connection.execute(statement)
    assert wrong_kinds(f"duckdb:///{tmp_path / 'a.duckdb'}", "d") == []


@pytest.mark.postgres
def test_postgres(postgres_database: Callable[..., str]) -> None:
    assert wrong_kinds(postgres_database(*SETUP), "p") == []


@pytest.mark.mysql
def test_mysql(mysql_database: Callable[..., str]) -> None:
    assert wrong_kinds(mysql_database(*SETUP), "m") == []
