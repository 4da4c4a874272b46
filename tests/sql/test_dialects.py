"""Queries in ten dialects: every name resolves, and only true relations are tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlassay.records.query import Understanding, Unresolved
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

TABLES = {
    "users": ("id", "name", "city", "active", "tags", "attrs"),
    "orders": ("id", "user_id", "amount", "day", "items", "status"),
    "sales.lines": ("order_id", "product_id", "qty"),
}
LINES = (Path(__file__).parents[1] / "fixtures" / "sql" / "dialect_queries.txt").read_text("utf-8").splitlines()
QUERIES = [tuple(part.strip() for part in line.split(" | ", 2)) for line in LINES]


def shop(dialect: str) -> SchemaIndex:
    def stored(name: str) -> str:
        return name.upper() if dialect in ("oracle", "snowflake") else name

    tables = tuple(
        TableSchema(name=stored(name), columns=tuple(map(stored, columns)), types=("?",) * len(columns))
        for name, columns in TABLES.items()
    )
    return index(Schema(dialect=dialect, tables=tables))


@pytest.mark.parametrize(("dialect", "tables", "sql"), QUERIES)
def test_every_name_resolves(dialect: str, tables: str, sql: str) -> None:
    understood = understand(sql, shop(dialect))
    assert isinstance(understood, Understanding), understood
    assert understood.unknown_names == ()
    assert understood.tables == tuple(tables.split())


def test_ten_dialects_are_covered() -> None:
    assert len(QUERIES) > 150
    assert {dialect for dialect, _, _ in QUERIES} == {
        "duckdb", "postgres", "mysql", "tsql", "oracle", "bigquery", "snowflake", "databricks", "clickhouse",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "stored", "query", "resolves"),
    [
        ("postgres", "Painter", "SELECT id FROM Painter", False),
        ("postgres", "Painter", 'SELECT id FROM "Painter"', True),
        ("postgres", "painter", "SELECT ID FROM PAINTER", True),
        ("snowflake", "PAINTER", "SELECT id FROM painter", True),
        ("snowflake", "painter", "SELECT id FROM painter", False),
        ("snowflake", "painter", 'SELECT id FROM "painter"', True),
        ("oracle", "PAINTER", "SELECT ID FROM Painter", True),
        ("sqlite", "Painter", "SELECT Id FROM pAINTER", True),
        ("duckdb", "Painter", 'SELECT Id FROM "pAINTER"', True),
        ("tsql", "Painter", "SELECT Id FROM [PAINTER]", True),
        ("mysql", "Painter", "SELECT Id FROM painter", True),
        ("bigquery", "Painter", "SELECT ID FROM Painter", True),
        ("bigquery", "Painter", "SELECT id FROM painter", False),
        ("clickhouse", "Painter", "SELECT id FROM painter", False),
        ("databricks", "Painter", "SELECT ID FROM painter", True),
    ],
)
def test_identifiers_fold_by_the_dialects_own_rule(dialect: str, stored: str, query: str, resolves: bool) -> None:
    column = "ID" if dialect in ("oracle",) or stored == "PAINTER" else "id"
    if dialect == "snowflake":
        column = "ID"
    schema = Schema(dialect=dialect, tables=(TableSchema(name=stored, columns=(column,), types=("int",)),))
    understood = understand(query, index(schema))
    assert isinstance(understood, Understanding)
    assert (understood.unknown_names == ()) is resolves


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "oracle", "duckdb", "sqlite", "tsql", "mysql"])
@pytest.mark.parametrize("stored", ["painter", "PAINTER", "Painter"])
@pytest.mark.parametrize("written", ["painter", "PAINTER", "Painter"])
def test_in_a_schema_written_by_hand_case_means_nothing(dialect: str, stored: str, written: str) -> None:
    schema = Schema(dialect=dialect, tables=(TableSchema(name=stored, columns=("Id", "NAME")),))
    understood = understand(f"SELECT iD, Name FROM {written} WHERE {written}.ID > 3", index(schema))
    assert isinstance(understood, Understanding)
    assert understood.unknown_names == ()
    assert understood.tables == ("painter",)
    assert understood.origins == ("painter.id", "painter.name")


def test_two_columns_that_differ_in_case_only_stay_two() -> None:
    for types in ((), ("int", "int")):
        schema = Schema(dialect="postgres", tables=(TableSchema(name="t", columns=("Id", "id"), types=types),))
        understood = understand('SELECT "Id", Id FROM t', index(schema))
        assert isinstance(understood, Understanding)
        assert understood.origins == ("t.Id", "t.id")


@pytest.mark.parametrize(
    ("dialect", "sql", "tables"),
    [
        ("oracle", "SELECT a, s FROM sales_v MODEL DIMENSION BY (a) MEASURES (s) RULES (s[1] = 2)", ("sales_v",)),
        ("bigquery", "DECLARE d DATE; SELECT COUNT(*) FROM t WHERE a >= d", ("t",)),
        ("tsql", "EXEC dbo.GetReport @y = 2024", ()),
        ("postgres", "SELECT a FROM t1, public.t2 JOIN s.t3 ON WHERE", ("s.t3", "t1", "t2")),
        ("sqlite", "WITH c AS (SELECT 1) SELECT FROM c, t WHERE", ("t",)),
    ],
)
def test_what_does_not_parse_still_names_its_tables(dialect: str, sql: str, tables: tuple[str, ...]) -> None:
    understood = understand(sql, index(Schema(dialect=dialect)))
    assert isinstance(understood, Unresolved)
    assert understood.tables == tables


@pytest.mark.parametrize(
    ("dialect", "sql", "random", "clock"),
    [
        ("sqlite", "SELECT id FROM users ORDER BY RANDOM()", True, False),
        ("sqlite", "SELECT id FROM users WHERE name > date('now', '-90 days')", False, True),
        ("sqlite", "SELECT date('2024-01-01')", False, False),
        ("sqlite", "SELECT CURRENT_TIMESTAMP", False, True),
        ("postgres", "SELECT now() - interval '1 day'", False, True),
        ("postgres", "SELECT gen_random_uuid()", True, False),
        ("postgres", "SELECT 'now'::timestamp", False, True),
        ("mysql", "SELECT CURDATE(), RAND()", True, True),
        ("tsql", "SELECT GETDATE(), NEWID()", True, True),
        ("oracle", "SELECT SYSDATE FROM dual", False, True),
        ("duckdb", "SELECT * FROM users USING SAMPLE 3", True, False),
        ("clickhouse", "SELECT now(), rand()", True, True),
        ("sqlite", "SELECT id FROM users WHERE name = 'random()'", False, False),
    ],
)
def test_chance_and_clock_are_seen(dialect: str, sql: str, random: bool, clock: bool) -> None:
    understood = understand(sql, shop(dialect))
    assert isinstance(understood, Understanding)
    assert (understood.nondeterministic, understood.clock_bound) == (random, clock)
