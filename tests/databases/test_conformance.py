"""Every engine of ours passes the public suite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import apsw
import duckdb
import psycopg
import pymysql
import pytest

from sqlassay.databases import connect
from sqlassay.databases.addresses import server_address
from sqlassay.databases.base import Database
from sqlassay.records.execution import ErrorKind
from sqlassay.testing.databases import SETUP, DatabaseConformance, Write

MakeDatabase = Callable[..., str]


def _opened(url: str) -> Iterator[Database]:
    database = connect(url, name="under test")
    yield database
    database.close()


def _sqlite_file(path: Path) -> str:
    connection = apsw.Connection(str(path))
    connection.execute(";".join(SETUP))
    connection.close()
    return str(path)


class TestSqlite(DatabaseConformance):
    DIALECT = "sqlite"

    @pytest.fixture(params=["delete", "wal"])
    def path(self, tmp_path: Path, request: pytest.FixtureRequest) -> str:
        path = _sqlite_file(tmp_path / "shop.db")
        if request.param == "wal":
            connection = apsw.Connection(path)
            connection.pragma("journal_mode", "wal")
            connection.close()
        return path

    @pytest.fixture
    def database(self, path: str) -> Iterator[Database]:
        yield from _opened(f"sqlite:///{path}")

    @pytest.fixture
    def write(self, path: str) -> Write:
        def write(sql: str) -> bool:
            connection = apsw.Connection(path)
            try:
                connection.execute(sql)
            except apsw.BusyError:
                return False
            finally:
                connection.close()
            return True

        return write


class TestDuckdb(DatabaseConformance):
    DIALECT = "duckdb"
    ERRORS: ClassVar[dict[str, ErrorKind]] = {
        sql: kind for sql, kind in DatabaseConformance.ERRORS.items() if sql != "SELECT id, FROM item"
    }
    """DuckDB reads a trailing comma."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        path = str(tmp_path / "shop.duckdb")
        with duckdb.connect(path) as connection:
            for statement in SETUP:
                connection.execute(statement)
        return path

    @pytest.fixture
    def database(self, path: str) -> Iterator[Database]:
        yield from _opened(f"duckdb:///{path}")

    @pytest.fixture
    def write(self, path: str) -> Write:
        def write(sql: str) -> bool:
            code = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"
            return subprocess.run([sys.executable, "-c", code, path, sql], capture_output=True).returncode == 0

        return write


@pytest.fixture(scope="module")
def postgres_url(postgres_database: MakeDatabase) -> str:
    return postgres_database(*SETUP)


@pytest.fixture(scope="module")
def mysql_url(mysql_database: MakeDatabase) -> str:
    return mysql_database(*SETUP)


@pytest.mark.postgres
class TestPostgres(DatabaseConformance):
    DIALECT = "postgres"
    ENDLESS = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 9) c"

    @pytest.fixture
    def database(self, postgres_url: str) -> Iterator[Database]:
        yield from _opened(postgres_url)

    @pytest.fixture
    def write(self, postgres_url: str) -> Write:
        def write(sql: str) -> bool:
            with psycopg.connect(postgres_url, autocommit=True) as connection:
                connection.execute(sql.encode())
            return True

        return write


@pytest.mark.mysql
class TestMysql(DatabaseConformance):
    DIALECT = "mysql"

    @pytest.fixture
    def database(self, mysql_url: str) -> Iterator[Database]:
        yield from _opened(mysql_url)

    @pytest.fixture
    def write(self, mysql_url: str) -> Write:
        def write(sql: str) -> bool:
            address = server_address(mysql_url, name="x")
            connection = pymysql.connect(
                host=address.host,
                port=address.port or 3306,
                user=address.user,
                password="",
                database=address.database,
                autocommit=True,
            )
            with connection, connection.cursor() as cursor:
                cursor.execute(sql)
            return True

        return write


class TestSqlalchemy(DatabaseConformance):
    """The generic file, shown on an engine that happens to be here."""

    DIALECT = "sqlite"

    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        return _sqlite_file(tmp_path / "shop.db")

    @pytest.fixture
    def database(self, path: str) -> Iterator[Database]:
        yield from _opened(f"sqlalchemy+sqlite:///{path}")

    @pytest.fixture
    def write(self) -> Write:
        return lambda _sql: False

    def test_it_declares_what_it_cannot_do(self, database: Database) -> None:
        capabilities = database.capabilities
        assert (capabilities.snapshot, capabilities.engine_timeout, capabilities.read_only) == (False, False, False)
        assert "no snapshot" in database.warnings()[0]


@pytest.mark.postgres
class TestSqlalchemyOnPostgres(DatabaseConformance):
    """The generic file on a server."""

    DIALECT = "postgres"

    @pytest.fixture
    def database(self, postgres_url: str) -> Iterator[Database]:
        yield from _opened("sqlalchemy+postgresql+psycopg" + postgres_url.removeprefix("postgresql"))

    @pytest.fixture
    def write(self) -> Write:
        return lambda _sql: False
