"""How fast do rows arrive beside the drivers alone, what does a tiny case cost, and how late does a time-out ring?

Run `python benchmarks/databases_fetch.py [rows]`. Everything is measured in one process, in turn; servers that are not
there are left out. Fetching is compared by the processor time of this process, which other processes disturb least
(what a server spends is the same for all); the best of the rounds counts. The drivers keep every value of this table.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlassay.databases import connect
from sqlassay.databases.base import Database
from sqlassay.errors import SqlassayError
from sqlassay.records.execution import Rows
from sqlassay.records.settings import Limits

LIMITS = Limits(timeout_s=300, max_rows=100_000_000, max_bytes=1 << 40)
COLUMNS = "i, 'val' || (i % 200) AS b, i * 0.01 AS c, '2020-01-' || (i % 30) AS d, CASE WHEN i % 7 = 0 THEN i END AS e"
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) "
    "SELECT COUNT(*) FROM n a, n b, n c WHERE a.i + b.i + c.i < 0"
)
POSTGRES = "postgresql://postgres@127.0.0.1:5432/postgres"
MYSQL = "mysql://root@127.0.0.1:3306/mysql"


Actions = dict[str, Callable[[], object]]


def compared(actions: Actions, *, rounds: int) -> dict[str, tuple[float, float]]:
    """Processor and elapsed seconds of each action, the best of rounds in which all take turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in actions}
    for _ in range(rounds + 1):
        for name, action in actions.items():
            busy, started = time.process_time(), time.perf_counter()
            result = action()
            taken[name].append((time.process_time() - busy, time.perf_counter() - started))
            del result
    return {name: (min(a for a, _ in each[1:]), min(b for _, b in each[1:])) for name, each in taken.items()}


def fetch(database: Database, sql: str) -> Rows:
    """The result is handed out, so that letting it go is on nobody's clock."""
    with database.session() as session:
        execution = session.execute(sql, limits=LIMITS)
    assert isinstance(execution, Rows), execution
    return execution


def overshoots_ms(database: Database) -> list[float]:
    late = []
    for _ in range(5):
        with database.session() as session:
            started = time.perf_counter()
            session.execute(ENDLESS, limits=Limits(timeout_s=0.2))
            late.append((time.perf_counter() - started - 0.2) * 1000)
    return late


def small_case(database: Database, sql: str) -> None:
    """What the examiner does for one case: look at the schema, then both sides in one snapshot."""
    database.schema()
    with database.session() as session:
        session.execute(sql, limits=LIMITS)
        session.execute(sql, limits=LIMITS)


def report(name: str, url: str, large: str, small: str, drivers: dict[str, Callable[[str], object]]) -> None:
    try:
        database = connect(url)
    except SqlassayError as error:
        print(f"{name}: left out ({error})")
        return
    with closing(database):
        bare: Actions = {driver: lambda read=read: read(large) for driver, read in drivers.items()}  # type: ignore[misc]
        taken = compared({"ours": lambda: fetch(database, large), **bare}, rounds=5)
        for driver in bare:
            ours, theirs = taken["ours"][0], taken[driver][0]
            print(f"{name}: large {ours * 1000:.0f} ms, {ours / theirs:.2f} x {driver} ({theirs * 1000:.0f} ms)")
        driver, read = next(iter(drivers.items()))
        taken = compared(
            {
                "bare": lambda: read(small),
                "one statement": lambda: fetch(database, small),
                "case of two": lambda: small_case(database, small),
            },
            rounds=300,
        )
        print(
            f"{name}: small "
            + ", ".join(f"{what} {busy * 1e6:.0f} us busy of {took * 1e6:.0f}" for what, (busy, took) in taken.items())
            + f" (bare is {driver})"
        )
        late = overshoots_ms(database)
        print(f"{name}: a time-out of 200 ms rings {min(late):.0f} to {max(late):.0f} ms late (of {len(late)})")


def sqlite(folder: Path, rows: int) -> None:
    import apsw

    path = folder / "bench.db"
    connection: Any = apsw.Connection(str(path))
    connection.execute(
        f"CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
        f"SELECT {COLUMNS} FROM n"
    )
    read = {"apsw": lambda sql: connection.execute(sql).fetchall()}
    report("SQLite", f"sqlite:///{path}", "SELECT * FROM t", "SELECT * FROM t LIMIT 20", read)
    connection.close()


def duck(folder: Path, rows: int) -> None:
    import duckdb

    path = folder / "bench.duckdb"
    with duckdb.connect(str(path)) as connection:
        columns = COLUMNS.replace("i * 0.01", "(i * 0.01)::DOUBLE")
        connection.execute(f"CREATE TABLE t AS SELECT {columns} FROM range(1, {rows + 1}) r(i)")
    copy = folder / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    connection = duckdb.connect(str(copy), read_only=True, config={"threads": "1"})
    read: dict[str, Callable[[str], object]] = {
        "to_arrow_table": lambda sql: connection.sql(sql).to_arrow_table(),
        "fetchall": lambda sql: connection.execute(sql).fetchall(),
    }
    report("DuckDB", f"duckdb:///{path}", "SELECT * FROM t", "SELECT * FROM t LIMIT 20", read)
    connection.close()


def postgres(rows: int) -> None:
    import psycopg

    columns = COLUMNS.replace("i * 0.01", "(i * 0.01)::float8")
    large = f"SELECT {columns} FROM generate_series(1, {rows}) i"
    try:
        connection = psycopg.connect(POSTGRES, autocommit=True)
    except psycopg.Error:
        connection = None
    if connection is None:
        print("PostgreSQL: left out")
        return
    read: dict[str, Callable[[str], object]] = {
        "psycopg fetchall": lambda sql: connection.execute(sql).fetchall(),
        "psycopg fetchall, binary": lambda sql: connection.cursor(binary=True).execute(sql).fetchall(),
    }
    report("PostgreSQL", POSTGRES, large, large.replace(str(rows), "20"), read)
    connection.close()


def mysql(rows: int) -> None:
    import pymysql

    connection = None
    with suppress(pymysql.Error):
        connection = pymysql.connect(host="127.0.0.1", user="root", database="mysql")
    if connection is None:
        print("MariaDB: left out")
        return

    def fetchall(sql: str) -> object:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    columns = (
        "seq AS i, CONCAT('val', seq % 200), seq * 0.01e0, CONCAT('2020-01-', seq % 30), IF(seq % 7 = 0, seq, NULL)"
    )
    report(
        "MariaDB",
        MYSQL,
        f"SELECT {columns} FROM seq_1_to_{rows}",
        f"SELECT {columns} FROM seq_1_to_20",
        {"PyMySQL fetchall": fetchall},
    )
    connection.close()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        sqlite(Path(name), rows)
        duck(Path(name), rows)
    postgres(rows)
    mysql(rows)


if __name__ == "__main__":
    main()
