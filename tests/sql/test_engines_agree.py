"""On public data the parser's account is the engine's: tables and columns always, origins but for set operations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import reading_against_engines

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA") or ROOT.parent / "shared" / "data")


@pytest.mark.public_data
@pytest.mark.skipif(not (DATA / "spider_dev").is_dir(), reason=f"no Spider development set in {DATA}")
def test_sqlite_and_the_parser_agree_on_spider() -> None:
    tallies = reading_against_engines.against_sqlite(DATA / "spider_dev")
    assert len(tallies) == 6
    assert tallies["gold"].queries == 972
    assert tallies["gold"].refused == 0
    for name, tally in tallies.items():
        read = tally.queries - tally.refused
        assert tally.unresolved == [], name
        assert tally.agreed["tables"] == read
        assert tally.agreed["columns_read"] == read
        # SQLite gives a column of a set operation the origin of its first branch; here all branches must agree.
        assert all(
            any(word in each.sql.upper() for word in ("UNION", "INTERSECT", "EXCEPT")) for each in tally.differences
        )
        assert len(tally.differences) <= 14


@pytest.mark.postgres
@pytest.mark.public_data
@pytest.mark.skipif(not (DATA / "defog").is_dir(), reason=f"no defog data in {DATA}")
def test_postgres_and_the_parser_agree_on_defog(defog_databases: dict[str, str]) -> None:
    tally = reading_against_engines.against_postgres(defog_databases, DATA / "defog")["gold"]
    assert tally.queries > 200
    assert tally.refused == 0
    assert tally.unresolved == []
    assert tally.differences == []
