"""How fast do rows arrive, beside the driver alone, and how late does a time-out ring?

Run `python benchmarks/databases_fetch.py [rows]`. Everything is measured in one process, in turn, as ratios of
medians; servers that are not there are left out.
"""

from __future__ import annotations

import statistics
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


def median_s(action: Callable[[], object], *, times: int) -> float:
    action()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def fetch(database: Database, sql: str) -> None:
    with database.session() as session:
        execution = session.execute(sql, limits=LIMITS)
    assert isinstance(execution, Rows), execution


def overshoot_ms(database: Database) -> float:
    late = []
    for _ in range(5):
        with database.session() as session:
            started = time.perf_counter()
            session.execute(ENDLESS, limits=Limits(timeout_s=0.2))
            late.append((time.perf_counter() - started - 0.2) * 1000)
    return max(late)


def report(name: str, url: str, large: str, small: str, drivers: dict[str, Callable[[str], object]]) -> None:
    try:
        database = connect(url)
    except SqlassayError as error:
        print(f"{name}: left out ({error})")
        return
    with closing(database):
        ours = median_s(lambda: fetch(database, large), times=3)
        bare = {driver: median_s(lambda read=read: read(large), times=3) for driver, read in drivers.items()}
        best = min(bare, key=bare.__getitem__)
        print(f"{name}: large {ours * 1000:.0f} ms, {ours / bare[best]:.2f} x {best} ({bare[best] * 1000:.0f} ms)")
        with database.session() as session:
            ours = median_s(lambda: session.execute(small, limits=LIMITS), times=500)
        bare = {driver: median_s(lambda read=read: read(small), times=500) for driver, read in drivers.items()}
        best = min(bare, key=bare.__getitem__)
        print(f"{name}: small {ours * 1e6:.0f} us, {ours / bare[best]:.2f} x {best} ({bare[best] * 1e6:.0f} us)")
        print(f"{name}: a time-out of 200 ms rings at most {overshoot_ms(database):.0f} ms late (of 5)")


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
    read = {"psycopg fetchall": lambda sql: connection.execute(sql).fetchall()}
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
