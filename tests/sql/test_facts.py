"""What queries read and return, against facts that an engine or a careful reader established."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.query import Understanding, Unresolved
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

FACTS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "sql" / "facts.jsonl").read_text("utf-8").splitlines()
]


def schema_of(fact: dict[str, Any]) -> Schema:
    tables = tuple(
        TableSchema(
            name=table["name"],
            columns=tuple(table["columns"]),
            types=tuple(table.get("types", ())),
            primary_key=tuple(table.get("key", ())),
            is_view="view" in table,
            view_sql=table.get("view"),
        )
        for table in fact["tables"]
    )
    return Schema(dialect=fact["dialect"], tables=tables, default_schema=fact.get("default_schema"))


@pytest.mark.parametrize("fact", FACTS, ids=[fact["name"] for fact in FACTS])
def test_a_query_reads_and_returns_what_is_known_of_it(fact: dict[str, Any]) -> None:
    understood = understand(fact["sql"], index(schema_of(fact)))
    if isinstance(understood, Unresolved):
        assert list(understood.tables or ()) in fact.get("reads", [[]])
        assert "columns" not in fact
        assert "origins" not in fact
        return
    assert list(understood.tables) in fact.get("reads", [list(understood.tables)])
    assert list(understood.columns_read) in fact.get("columns", [list(understood.columns_read)])
    assert list(understood.origins) in fact.get("origins", [list(understood.origins)])
    assert bool(understood.ordering.keys) is fact.get("ordered", bool(understood.ordering.keys))
    if fact.get("clock"):
        assert understood.clock_bound


def test_the_facts_are_there() -> None:
    assert len(FACTS) > 300
    dialects = {fact["dialect"] for fact in FACTS}
    assert dialects >= {
        "sqlite",
        "duckdb",
        "postgres",
        "tsql",
        "bigquery",
        "oracle",
        "mysql",
        "snowflake",
        "clickhouse",
    }
    understood = [understand(fact["sql"], index(schema_of(fact))) for fact in FACTS]
    assert sum(isinstance(each, Understanding) for each in understood) > 0.95 * len(FACTS)


@pytest.mark.parametrize(
    ("sql", "clock"),
    [
        ("SELECT date('now')", True),
        ("SELECT id FROM orders WHERE day >= datetime('NOW', '-1 day')", True),
        ("SELECT CAST(strftime('%Y', ('now')) AS INTEGER)", True),
        ("SELECT id, 'now' FROM orders", False),
        ("SELECT id FROM orders WHERE day = 'now' OR day LIKE 'now'", False),
        ("SELECT CASE day WHEN 'now' THEN 1 END FROM orders", False),
    ],
)
def test_in_sqlite_only_a_function_reads_the_clock_out_of_a_text(sql: str, clock: bool) -> None:
    found = understand(
        sql, index(Schema(dialect="sqlite", tables=(TableSchema(name="orders", columns=("id", "day")),)))
    )
    assert isinstance(found, Understanding)
    assert found.clock_bound is clock
