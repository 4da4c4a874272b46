"""What does one statement leave to the next, in its session and after it?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import duckdb
import psycopg
import pytest

from sqlassay.databases import connect
from sqlassay.databases.base import Database
from sqlassay.databases.mysql import MysqlDatabase
from sqlassay.records.execution import Execution, Rows, SqlError, TimedOut
from sqlassay.records.settings import Limits
from throwaway import MakeDatabase, mysql_writer

LIMITS = Limits(timeout_s=20)
SETUP = ("CREATE TABLE n (i INTEGER PRIMARY KEY)", "INSERT INTO n VALUES (1), (2), (3)")


def values(execution: Execution) -> list[tuple[object, ...]]:
    assert isinstance(execution, Rows), execution
    return list(execution.relation.tuples())


@pytest.fixture(
    params=[
        "sqlite",
        "duckdb",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("mysql", marks=pytest.mark.mysql),
    ]
)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        with closing(apsw.Connection(str(tmp_path / "n.db"))) as file:
            file.execute(";".join(SETUP))
        url = f"sqlite:///{tmp_path / 'n.db'}"
    elif request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "n.duckdb")) as connection:
            for statement in SETUP:
                connection.execute(statement)
        url = f"duckdb:///{tmp_path / 'n.duckdb'}"
    else:
        url = request.getfixturevalue(f"{request.param}_database")(*SETUP)
    with closing(connect(url)) as opened:
        yield opened


def long_text(database: Database, length: int) -> str:
    if database.capabilities.dialect == "sqlite":
        return f"printf('%.*c', {length}, 'x')"
    return f"repeat('x', {length})"


def test_one_row_beyond_the_byte_cap_is_cut_and_harms_nobody(database: Database) -> None:
    sql = f"SELECT i, {long_text(database, 3_000_000)} FROM n"
    with database.session() as session:
        cut = session.execute(sql, limits=Limits(max_bytes=1_000_000))
        assert isinstance(cut, Rows)
        assert cut.relation.truncated
        assert values(session.execute("SELECT COUNT(*) FROM n", limits=LIMITS)) == [(3,)]
        whole = session.execute(sql, limits=LIMITS)
    assert isinstance(whole, Rows)
    assert not whole.relation.truncated
    assert [len(row[1]) for row in whole.relation.tuples()] == [3_000_000] * 3


def test_a_session_goes_on_after_a_cut_an_error_and_another_limit(database: Database) -> None:
    many = "SELECT a.i, b.i, c.i, d.i, e.i, f.i FROM n a, n b, n c, n d, n e, n f"
    with database.session() as session:
        cut = session.execute(many, limits=Limits(max_rows=300))
        assert isinstance(cut, Rows)
        assert (cut.relation.truncated, cut.relation.height) == (True, 300)
        assert isinstance(session.execute("SELECT weight FROM n", limits=LIMITS), SqlError)
        empty = session.execute("SELECT i FROM n WHERE i > 3", limits=Limits(timeout_s=7))
        assert isinstance(empty, Rows)
        assert (empty.relation.height, empty.relation.names) == (0, ("i",))
        whole = session.execute(many, limits=Limits(timeout_s=21))
        assert isinstance(whole, Rows)
        assert (whole.relation.truncated, whole.relation.height) == (False, 729)


@pytest.mark.mysql
def test_a_user_variable_is_seen_by_its_own_statement_only(mysql_database: MakeDatabase) -> None:
    with closing(connect(mysql_database(*SETUP))) as database:
        with database.session() as session:
            total = session.execute("SELECT @total := SUM(i), @`the rest` := 5, @a.b := 7 FROM n", limits=LIMITS)
            assert values(total)[0][0] == 6
            read = "SELECT @total, @`the rest`, @a.b"
            assert values(session.execute(read, limits=LIMITS)) == [(None, None, None)]
            session.execute("SELECT @total := 1", limits=LIMITS)
        with database.session() as session:
            assert values(session.execute("SELECT @total", limits=LIMITS)) == [(None,)]


@pytest.mark.mysql
def test_mysql_has_a_snapshot_whatever_level_the_connection_was_given(mysql_database: MakeDatabase) -> None:
    url = mysql_database(*SETUP)
    with closing(connect(url)) as database:
        assert isinstance(database, MysqlDatabase)
        with database._connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        with (
            database.session() as session,
            mysql_writer(url) as other,
        ):
            assert values(session.execute("SELECT COUNT(*) FROM n", limits=LIMITS)) == [(3,)]
            with other.cursor() as cursor:
                cursor.execute("INSERT INTO n VALUES (4)")
            assert values(session.execute("SELECT COUNT(*) FROM n", limits=LIMITS)) == [(3,)]


@pytest.mark.postgres
def test_what_a_function_of_the_database_sets_is_undone(postgres_database: MakeDatabase) -> None:
    url = postgres_database(
        *SETUP,
        "CREATE FUNCTION loosen() RETURNS text LANGUAGE sql AS "
        "$$SELECT set_config('statement_timeout', '0', false) || set_config('search_path', 'nowhere', false)$$",
    )
    with closing(connect(url)) as database, database.session() as session:
        assert values(session.execute("SELECT loosen()", limits=Limits(timeout_s=0.3))) == [("0nowhere",)]
        assert values(session.execute("SELECT count(*) FROM n", limits=Limits(timeout_s=0.3))) == [(3,)]
        assert isinstance(session.execute("SELECT pg_sleep(60)", limits=Limits(timeout_s=0.3)), TimedOut)


@pytest.mark.postgres
def test_a_schema_is_read_again_only_when_it_changed(postgres_database: MakeDatabase) -> None:
    url = postgres_database(*SETUP)
    with closing(connect(url)) as database, psycopg.connect(url, autocommit=True) as other:
        before = database.schema()
        other.execute("INSERT INTO n VALUES (4)")
        assert database.schema() is before
        other.execute("ALTER TABLE n RENAME COLUMN i TO number")
        assert database.schema().tables[0].columns == ("number",)
