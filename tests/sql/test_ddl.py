"""Tables and columns in DDL texts, in many dialects and among prose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.sql.ddl import tables_in


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("CREATE TABLE t (a INT, b TEXT)", "sqlite", [("t", ("a", "b"))]),
        ("CREATE TABLE t (a INT PRIMARY KEY, b TEXT, FOREIGN KEY (a) REFERENCES u (x))", None, [("t", ("a", "b"))]),
        ('CREATE TABLE "Odd Table" ("the key" INT)', "postgres", [("Odd Table", ("the key",))]),
        ("CREATE TABLE [dbo].[Orders] ([Id] INT NOT NULL, [Amt] MONEY)", "tsql", [("dbo.Orders", ("Id", "Amt"))]),
        ("CREATE TABLE `a` (`b` INT COMMENT 'x, y (z)', KEY `k` (`b`)) ENGINE=InnoDB", "mysql", [("a", ("b",))]),
        ("CREATE TABLE IF NOT EXISTS s.t (a NUMBER(10, 2));\nCREATE VIEW v AS SELECT a FROM s.t", "snowflake",
         [("s.t", ("a",)), ("v", ("a",))]),
        ("CREATE TABLE t (\n  a INT, -- the key, you see\n  b TEXT CHECK (b IN ('x', 'y'))\n)\n/* 3 rows */\n1 x", None,
         [("t", ("a", "b"))]),
        ("Here is the schema:\n```sql\nCREATE TABLE t (a INT)\n```\nand CREATE TABLE u (b INT);", None,
         [("t", ("a",)), ("u", ("b",))]),
        ("CREATE TABLE h (ts DateTime, url String) ENGINE = MergeTree ORDER BY ts", "clickhouse",
         [("h", ("ts", "url"))]),
        ("CREATE TABLE t (a WEIRD TYPE THING(1,2) <>, b INT)", "sqlite", [("t", ("a", "b"))]),
        ("CREATE TEMP TABLE x AS SELECT 1 AS one", "postgres", [("x", ("one",))]),
        ("no tables here, nor do we create tables", None, []),
        ("", None, []),
    ],
)  # fmt: skip
def test_tables_in(text: str, dialect: str | None, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(table.name, table.columns) for table in tables_in(text, dialect)] == expected


def test_a_table_described_twice_is_offered_once() -> None:
    (table,) = tables_in("CREATE TABLE t (a INT); CREATE TABLE t (a INT, b INT)")
    assert table.columns == ("a", "b")
    assert table.has_ddl


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_crashes_it(before: str, after: str) -> None:
    tables_in(f"{before} CREATE TABLE {after}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["CREATE TABLE t (" * 5_000, "CREATE TABLE t (a INT)" + "\nWITH" * 200_000])
def test_brackets_that_never_close_and_clauses_that_never_end_do_not_hang(text: str) -> None:
    assert [table.name for table in tables_in(text)] == ["t"]
