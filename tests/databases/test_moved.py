"""What lies at the address changes while the database is open: the next case sees what lies there now."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from sqlassay.databases import connect
from sqlassay.databases.base import Database
from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.execution import Rows
from sqlassay.records.relation import Row
from sqlassay.records.settings import Limits
from throwaway import mysql_writer

ONE = ("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)")
TWO = ("CREATE TABLE t (b INT)", "INSERT INTO t VALUES (7), (8)")


def make(path: Path, engine: str, statements: Sequence[str]) -> Path:
    if engine == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(";".join(statements))
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
    return path


def seen(database: Database) -> tuple[tuple[str, ...], list[Row]]:
    columns = database.schema().tables[0].columns
    with database.session() as session:
        execution = session.execute("SELECT * FROM t ORDER BY 1", limits=Limits())
    assert isinstance(execution, Rows), execution
    return columns, list(execution.relation.tuples())


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "put",
    [
        pytest.param(lambda new, path: os.replace(new, path), id="replaced"),
        pytest.param(lambda new, path: (path.unlink(), shutil.copyfile(new, path)), id="removed and made again"),
        pytest.param(shutil.copyfile, id="written over"),
    ],
)
def test_another_file_in_its_place(tmp_path: Path, engine: str, put: Callable[[Path, Path], object]) -> None:
    path, new = make(tmp_path / "one", engine, ONE), make(tmp_path / "two", engine, TWO)
    with closing(connect(f"{engine}:///{path}")) as database:
        before = database.fingerprint()
        assert seen(database) == (("a",), [(1,), (2,)])
        put(new, path)
        os.utime(path, (1, 1))
        assert seen(database) == (("b",), [(7,), (8,)])
        assert database.fingerprint() != before


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_file_that_is_gone_is_the_harness_s_fault(tmp_path: Path, engine: str) -> None:
    path = make(tmp_path / "one", engine, ONE)
    with closing(connect(f"{engine}:///{path}", name="shop")) as database:
        seen(database)
        path.unlink()
        with pytest.raises(DatabaseUnavailable, match=r"'shop'.*is gone"):
            database.schema()
        with pytest.raises(DatabaseUnavailable), database.session():
            pass
        make(tmp_path / "two", engine, TWO).rename(path)
        assert seen(database) == (("b",), [(7,), (8,)])


CHANGES = (
    ("ALTER TABLE t RENAME COLUMN a TO b", ("b",)),
    ("ALTER TABLE t ADD COLUMN c INT", ("b", "c")),
    ("DROP TABLE t", ()),
    ("CREATE TABLE t (d INT)", ("d",)),
    ("CREATE OR REPLACE VIEW v AS SELECT d FROM t", ("d", "d")),
    ("DROP VIEW v", ("d",)),
)


def followed(database: Database, write: Callable[[str], object]) -> None:
    assert database.schema() is database.schema(), "read once while nothing changes"
    for statement, columns in CHANGES:
        write(statement)
        assert tuple(column for table in database.schema().tables for column in table.columns) == columns, statement
    write("INSERT INTO t VALUES (5)")
    with database.session() as session:
        execution = session.execute("SELECT * FROM t", limits=Limits())
    assert isinstance(execution, Rows)
    assert execution.relation.columns[0].origin == "t.d"


@pytest.mark.postgres
def test_postgres_sees_a_changed_schema(postgres_database: Callable[..., str]) -> None:
    import psycopg

    url = postgres_database(*ONE)
    with psycopg.connect(url, autocommit=True) as writer, closing(connect(url)) as database:
        followed(database, lambda sql: writer.execute(sql.encode()))


@pytest.mark.mysql
def test_mysql_sees_a_changed_schema(mysql_database: Callable[..., str]) -> None:
    url = mysql_database(*ONE)
    with mysql_writer(url) as writer, closing(connect(url)) as database:
        followed(database, lambda sql: writer.cursor().execute(sql))
