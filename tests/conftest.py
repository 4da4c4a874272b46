"""Which database servers are at hand for tests, and a database of one's own on each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

POSTGRES = os.environ.get("SQLASSAY_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
MYSQL = os.environ.get("SQLASSAY_TEST_MYSQL", "mysql://root@127.0.0.1:3306")
REQUIRED = os.environ.get("SQLASSAY_REQUIRE_SERVICES") == "1"

MakeDatabase = Callable[..., str]


def _absent(what: str, error: Exception) -> None:
    message = f"{what} cannot be reached: {str(error).strip().splitlines()[0] if str(error) else type(error).__name__}"
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def postgres_database() -> Iterator[MakeDatabase]:
    """Makes databases on the PostgreSQL server from statements; each URL lives until the module's tests end."""
    psycopg = pytest.importorskip("psycopg")
    try:
        server = psycopg.connect(POSTGRES + "/postgres", autocommit=True, connect_timeout=5)
    except psycopg.Error as error:
        _absent("PostgreSQL", error)
    made: list[str] = []

    def make(*statements: str) -> str:
        name = f"sqlassay_{uuid4().hex[:12]}"
        server.execute(f"CREATE DATABASE {name}")
        made.append(name)
        with psycopg.connect(f"{POSTGRES}/{name}", autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        return f"{POSTGRES}/{name}"

    yield make
    for name in made:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    server.close()


@pytest.fixture(scope="module")
def mysql_database() -> Iterator[MakeDatabase]:
    """Makes databases on the MySQL or MariaDB server from statements; each URL lives until the module's tests end."""
    pymysql = pytest.importorskip("pymysql")
    from sqlassay.databases.addresses import server_address

    address = server_address(MYSQL, name="tests")
    options = {"host": address.host, "port": address.port, "user": address.user, "password": address.password or ""}
    try:
        server = pymysql.connect(**options, autocommit=True, connect_timeout=5, charset="utf8mb4")
    except (pymysql.Error, OSError) as error:
        _absent("MySQL", error)
    made: list[str] = []

    def make(*statements: str) -> str:
        name = f"sqlassay_{uuid4().hex[:12]}"
        with server.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
            made.append(name)
            cursor.execute(f"USE {name}")
            for statement in statements:
                cursor.execute(statement)
        return f"{MYSQL}/{name}"

    yield make
    with server.cursor() as cursor:
        for name in made:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
    server.close()
