"""SQLite reads a double-quoted word that names no column as text; the six sets do not see which quotes were used."""

from __future__ import annotations

import pytest

from sqlassay.records.query import Understanding
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

FLIGHTS = index(
    Schema(
        dialect="sqlite",
        tables=(TableSchema(name="flights", columns=("origin", "target", "miles"), types=("TEXT", "TEXT", "INTEGER")),),
    )
)


@pytest.mark.parametrize(
    "condition",
    [
        'origin = "APG"',
        '"APG" = origin',
        'origin <> "APG"',
        'origin IN ("APG", "ABQ")',
        'origin BETWEEN "A" AND "B"',
        'origin LIKE "A%"',
        'origin = "APG" OR target = "APG"',
        '"APG" < origin',
        'origin || "x" = "APGx"',
        'CASE WHEN origin = "APG" THEN "here" ELSE target END = "here"',
    ],
)
def test_either_quote_gives_the_same_sets_and_canonical_text(condition: str) -> None:
    sql = f"SELECT miles FROM flights WHERE {condition}"
    double, single = understand(sql, FLIGHTS), understand(sql.replace('"', "'"), FLIGHTS)
    assert isinstance(double, Understanding)
    assert isinstance(single, Understanding)
    assert double.pieces == single.pieces
    assert double.canonical == single.canonical
