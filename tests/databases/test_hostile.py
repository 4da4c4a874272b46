"""Nothing that a candidate may say harms the database, the machine or the next case; and nothing honest is refused."""

from __future__ import annotations

import glob
import hashlib
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import duckdb
import psycopg
import pymysql
import pytest

from sqlassay.databases import connect
from sqlassay.databases.addresses import server_address
from sqlassay.databases.base import Database
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.settings import Limits
from sqlassay.testing.databases import SETUP

CORPUS = Path(__file__).parent / "hostile"
LIMITS = Limits(timeout_s=0.2, max_rows=20_000, max_bytes=16 * 1024 * 1024, memory_bytes=1024**3)
PLACEHOLDERS = {
    "NUL": "\0",
    "NEWLINE": "\n",
    "TAB": "\t",
    "SURROGATE": "\ud800",
    "PARENS": "(" * 5000 + "1" + ")" * 5000,
    "ORS": " OR ".join("id = 1" for _ in range(900)),
    "UNIONS": " ".join("UNION SELECT 1" for _ in range(200)),
    "LIST": ", ".join(str(i) for i in range(5000)),
    "CHAIN": "c0 AS (SELECT id FROM item), " + ", ".join(f"c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, 1000)),
    "LONG": "'" + "x" * 1_000_000 + "'",
    "WILDCARDS": "%a" * 200,
    "STARS": "*a" * 200,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    sql: str
    expected: frozenset[str]


def attacks(name: str, *, engine: str = "") -> list[Attack]:
    """The statements of one file that concern an engine, with the outcomes that are right."""
    found: list[Attack] = []
    expected: frozenset[str] = frozenset()
    concerned = True
    for line in (CORPUS / f"{name}.sql").read_text(encoding="utf-8").split("\n"):
        if line.startswith("-- expect: "):
            outcomes, *engines = line.removeprefix("-- expect: ").split(" @")
            expected = frozenset(outcomes.split("|"))
            concerned = not engines or engine in engines
        elif line and concerned:
            for placeholder, text in PLACEHOLDERS.items():
                line = line.replace(f"⟦{placeholder}⟧", text)
            found.append(Attack(sql=line, expected=expected))
    return found


def outcome(execution: Execution) -> str:
    match execution:
        case Rows():
            return "rows"
        case TimedOut():
            return "timeout"
        case SqlError(kind=ErrorKind.FORBIDDEN):
            return "forbidden"
        case SqlError(kind=ErrorKind.TOO_LARGE):
            return "too_large"
        case SqlError(kind=ErrorKind.CONNECTION, message=message):
            return f"connection lost: {message}"
        case SqlError():
            return "error"
        case NotRun():
            return "not run"


CANARY = "SELECT i.id, i.label, m.name FROM item i JOIN maker m ON m.id = i.maker_id ORDER BY i.id"


def assault(database: Database, statements: list[Attack], checksum: Callable[[], str]) -> list[str]:
    """Run every statement; what went wrong, in words."""
    with database.session() as session:
        canary = session.execute(CANARY, limits=Limits())
    assert isinstance(canary, Rows)
    before, wrong = checksum(), []
    for attack in statements:
        with database.session() as session:
            execution = session.execute(attack.sql, limits=LIMITS)
            after = session.execute(CANARY, limits=Limits())
        said = ascii(attack.sql[:90])
        if outcome(execution) not in attack.expected:
            wrong.append(f"{said}: {execution!s:.160}, not {'|'.join(sorted(attack.expected))}")
        if not isinstance(after, Rows) or list(after.relation.tuples()) != list(canary.relation.tuples()):
            wrong.append(f"{said}: the next statement was harmed: {after!s:.160}")
        if checksum() != before:
            wrong.append(f"{said}: the database changed")
            before = checksum()
    wrong += [f"left behind: {path}" for path in glob.glob("/tmp/sqlassay_hostile*")]
    return wrong


def file_checksum(path: Path) -> Callable[[], str]:
    return lambda: hashlib.sha256(path.read_bytes()).hexdigest()


def corpus(engine: str) -> list[Attack]:
    found = attacks("every_engine") + attacks(engine)
    assert len(found) >= 150
    return found


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = apsw.Connection(str(path))
    connection.execute(";".join(SETUP))
    connection.close()
    return path


@pytest.fixture
def duckdb_path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in SETUP:
            connection.execute(statement)
    return path


@pytest.fixture(scope="module")
def postgres_url(postgres_database: Callable[..., str]) -> str:
    return postgres_database(*SETUP, "CREATE SEQUENCE s")


@pytest.fixture(scope="module")
def mysql_url(mysql_database: Callable[..., str]) -> str:
    return mysql_database(*SETUP, "CREATE SEQUENCE s")


def opened(url: str) -> closing[Database]:
    return closing(connect(url))


def postgres_checksum(connection: psycopg.Connection[tuple[object, ...]]) -> Callable[[], str]:
    sql = (
        "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM (SELECT i::text FROM item i UNION ALL "
        "SELECT m::text FROM maker m UNION ALL SELECT last_value::text FROM s UNION ALL "
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace UNION ALL "
        "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database()) UNION ALL "
        "SELECT count(*)::text FROM pg_largeobject_metadata UNION ALL SELECT rolname::text FROM pg_roles) t"
    )

    def checksum() -> str:
        row = connection.execute(sql.encode()).fetchone()
        assert row is not None
        return str(row[0])

    return checksum


def test_sqlite_is_not_harmed(sqlite_path: Path) -> None:
    with opened(f"sqlite:///{sqlite_path}") as database:
        wrong = assault(database, corpus("sqlite"), file_checksum(sqlite_path))
        assert not wrong, "\n".join(wrong)


def test_duckdb_is_not_harmed(duckdb_path: Path) -> None:
    with opened(f"duckdb:///{duckdb_path}") as database:
        wrong = assault(database, corpus("duckdb"), file_checksum(duckdb_path))
        assert not wrong, "\n".join(wrong)


@pytest.mark.postgres
def test_postgres_is_not_harmed(postgres_url: str) -> None:
    with opened(postgres_url) as database, psycopg.connect(postgres_url, autocommit=True) as connection:
        wrong = assault(database, corpus("postgres"), postgres_checksum(connection))
        assert not wrong, "\n".join(wrong)
        running = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE application_name = 'sqlassay' AND state = 'active' "
            "AND datname = current_database()"
        ).fetchall()
        assert running == []


@pytest.mark.mysql
def test_mysql_is_not_harmed(mysql_url: str) -> None:
    address = server_address(mysql_url, name="x")
    connection = pymysql.connect(
        host=address.host,
        port=address.port or 3306,
        user=address.user,
        password="",
        database=address.database,
        autocommit=True,
    )

    def checksum() -> str:
        with connection.cursor() as cursor:
            cursor.execute("CHECKSUM TABLE item, maker, s")
            sums = cursor.fetchall()
            cursor.execute("SHOW TABLES")
            return repr((sums, cursor.fetchall()))

    with connection, opened(mysql_url) as database:
        wrong = assault(database, corpus("mysql"), checksum)
        assert not wrong, "\n".join(wrong)
        assert not running_on_mysql(connection)


def running_on_mysql(connection: pymysql.connections.Connection[Any]) -> tuple[object, ...]:
    """What other connections run; a statement that has just been answered is given a moment to leave the list."""
    sql = (
        "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Query' "
        "AND id <> CONNECTION_ID()"
    )
    found: tuple[object, ...] = ()
    for _ in range(50):
        with connection.cursor() as cursor:
            cursor.execute(sql)
            found = cursor.fetchall()
        if not found:
            break
        time.sleep(0.1)
    return found


def honest(database: Database, engine: str) -> list[str]:
    wrong = []
    for attack in attacks("honest", engine=engine):
        sql = attack.sql.replace('"', "`") if engine == "mysql" and ' AS "' in attack.sql else attack.sql
        with database.session() as session:
            execution = session.execute(sql, limits=Limits(timeout_s=20))
        if outcome(execution) == "forbidden" or not isinstance(execution, Rows):
            wrong.append(f"{sql[:90]}: {execution!s:.200}")
    return wrong


def test_sqlite_refuses_nothing_honest(sqlite_path: Path) -> None:
    with opened(f"sqlite:///{sqlite_path}") as database:
        wrong = honest(database, "sqlite")
        assert not wrong, "\n".join(wrong)


def test_duckdb_refuses_nothing_honest(duckdb_path: Path) -> None:
    with opened(f"duckdb:///{duckdb_path}") as database:
        wrong = honest(database, "duckdb")
        assert not wrong, "\n".join(wrong)


@pytest.mark.postgres
def test_postgres_refuses_nothing_honest(postgres_url: str) -> None:
    with opened(postgres_url) as database:
        wrong = honest(database, "postgres")
        assert not wrong, "\n".join(wrong)


@pytest.mark.mysql
def test_mysql_refuses_nothing_honest(mysql_url: str) -> None:
    with opened(mysql_url) as database:
        wrong = honest(database, "mysql")
        assert not wrong, "\n".join(wrong)
