"""Deep, wide and hostile SQL: bounded in time, never a crash; large schemas cost their build once."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.records.query import Understanding, Unresolved
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

Steps = Callable[[Callable[[], object]], int]
WORDS = re.findall(
    r"\S+",
    "SELECT FROM WHERE n m num ( ) , * = 1 7 JOIN ON AND OR NOT IN EXISTS UNION GROUP BY "
    "ORDER LIMIT WITH AS x HAVING CASE WHEN THEN END OVER PARTITION USING LEFT NATURAL DISTINCT "
    'COUNT SUM . "q" ; BETWEEN IS NULL ',
)
NUM = index(Schema(dialect="sqlite", tables=(TableSchema(name="num", columns=("n", "m")),)))


def chain(body: str, times: int, start: str, close: str = ")") -> str:
    return body * times + start + close * times


READABLE = {
    "900 ORs": "SELECT COUNT(*) FROM num WHERE " + " OR ".join(f"n = {i}" for i in range(900)),
    "2,000 ANDs": "SELECT COUNT(*) FROM num WHERE " + " AND ".join(f"n <> {i}" for i in range(2000)),
    "200 UNIONs": " UNION ".join(f"SELECT n FROM num WHERE n = {i}" for i in range(200)),
    "5,000 literals": "SELECT n FROM num WHERE n IN (" + ", ".join(map(str, range(5000))) + ")",
    "50 nested queries": "SELECT n FROM " + chain("(SELECT n FROM ", 50, "num"),
    "50 nested INs": "SELECT n FROM num WHERE n IN " + chain("(SELECT n FROM num WHERE n IN ", 50, "(1, 2)"),
    "50 nested scalars": "SELECT " + chain("(SELECT MAX(n) FROM num WHERE n > ", 50, "3") + " FROM num",
    "50 nested CASEs": "SELECT " + chain("CASE WHEN n = 1 THEN ", 50, "1", " ELSE 2 END") + " FROM num",
    "2,000 sums": "SELECT " + " + ".join(["n"] * 2000) + " FROM num",
    "2,000 concatenations": "SELECT " + " || ".join(["n"] * 2000) + " FROM num",
    "25 doubling CTEs": "WITH c0 AS (SELECT n FROM num), "
    + ", ".join(f"c{i} AS (SELECT a.n + b.n AS n FROM c{i - 1} a JOIN c{i - 1} b ON a.n = b.n)" for i in range(1, 26))
    + " SELECT * FROM c25",
    "100 joins": "SELECT t0.n FROM num t0 " + " ".join(f"JOIN num t{i} ON t{i}.n = t{i - 1}.n" for i in range(1, 100)),
}
TOO_DEEP = {
    "20,000 parentheses": "SELECT " + chain("(", 20_000, "n") + " FROM num",
    "5,000 calls": "SELECT " + chain("abs(", 5_000, "n") + " FROM num",
    "5,000 negations": "SELECT n FROM num WHERE " + "NOT " * 5_000 + "n = 1",
    "5,000 differences": "SELECT " + " - ".join(["n"] * 5_000) + " FROM num",
    "3,000 CASEs": "SELECT " + chain("CASE WHEN n = 1 THEN ", 3_000, "1", " ELSE 2 END") + " FROM num",
    "3,000 nested queries": "SELECT n FROM " + chain("(SELECT n FROM ", 3_000, "num"),
    "3 million characters": "SELECT '" + "x" * 3_000_000 + "'",
}


@pytest.mark.parametrize("what", READABLE)
@pytest.mark.timeout(60)
def test_large_but_honest_queries_are_read(what: str) -> None:
    understood = understand(READABLE[what], NUM)
    assert isinstance(understood, Understanding), understood
    assert understood.tables == ("num",)
    assert len(understood.canonical) < 200_000


@pytest.mark.parametrize("what", TOO_DEEP)
@pytest.mark.timeout(60)
def test_what_is_too_deep_is_unresolved_and_not_a_crash(what: str) -> None:
    assert isinstance(understand(TOO_DEEP[what], NUM), Unresolved)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=25,
    ),
    st.sampled_from(["sqlite", "duckdb", "postgres", "mysql", "tsql", "oracle", "bigquery", "snowflake", "clickhouse"]),
)
def test_no_sequence_of_words_crashes_it(words: list[str], dialect: str) -> None:
    schema = index(Schema(dialect=dialect, tables=(TableSchema(name="num", columns=("n", "m")),)))
    assert isinstance(understand(" ".join(words), schema), Understanding | Unresolved)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_no_text_crashes_it(text: str) -> None:
    assert isinstance(understand(text, NUM), Understanding | Unresolved)


def test_a_large_schema_costs_its_build_once(steps: Steps) -> None:
    def work(size: int) -> int:
        columns = tuple(f"c{i}" for i in range(50))
        schema = Schema(
            dialect="postgres",
            tables=tuple(TableSchema(name=f"t{i}", columns=columns, types=("int",) * 50) for i in range(size)),
            fingerprint=f"large {size}",
        )
        built = index(schema)
        assert index(schema) is built

        def read() -> None:
            for i in range(10):
                sql = f"SELECT a.c1, SUM(b.c2) FROM t{i} a JOIN t{i + 1} b ON a.c3 = b.c4 WHERE a.c5 > {i} GROUP BY 1"
                assert isinstance(understand(sql, built), Understanding)

        return steps(read)

    work(99)  # what is made once for the whole process is made here
    assert work(5000) <= 1.05 * work(100)
