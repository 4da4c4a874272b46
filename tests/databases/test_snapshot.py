"""A snapshot holds what the golds read, gives the same results, and says where it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from sqlassay.databases import connect
from sqlassay.databases.base import Database
from sqlassay.databases.snapshot import Gold, read_manifest, take, throwaway_copy
from sqlassay.errors import ArchiveError, UsageError
from sqlassay.testing.databases import SETUP, rows_of, run

GOLDS = (
    Gold(case_id="a", sql="SELECT label FROM item WHERE price > 5 ORDER BY id"),
    Gold(case_id="b", sql="SELECT m.name, COUNT(*) FROM item i JOIN maker m ON m.id = i.maker_id GROUP BY m.name"),
    Gold(case_id="c", sql="SELECT label FROM cheap"),
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Database]:
    connection = apsw.Connection(str(tmp_path / "shop.db"))
    connection.execute(";".join(SETUP))
    connection.execute("CREATE TABLE secrets (salary INTEGER); INSERT INTO secrets VALUES (1)")
    connection.execute("CREATE TABLE dirty (t TEXT); INSERT INTO dirty VALUES (CAST(x'ff41' AS TEXT)), ('é')")
    connection.execute(
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES item (id), amount REAL);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO sale SELECT i, 10 + i % 4, i / 8.0 FROM n"
    )
    connection.close()
    with closing(connect(f"sqlite:///{tmp_path / 'shop.db'}")) as database:
        yield database


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_golds_give_the_same_results(shop: Database, tmp_path: Path, engine: str) -> None:
    manifest = take(shop, GOLDS, tmp_path / "snap", engine="sqlite" if engine == "sqlite" else "duckdb")
    assert {check.case_id: check.outcome for check in manifest.checks} == {"a": "equal", "b": "equal", "c": "equal"}
    assert manifest.all_equal
    assert {"item", "maker", "cheap"} == {table.name.lower() for table in manifest.tables}
    assert read_manifest(tmp_path / "snap") == manifest


def test_tables_that_no_gold_reads_stay_where_they_are(shop: Database, tmp_path: Path) -> None:
    take(shop, GOLDS, tmp_path / "snap")
    with closing(connect(throwaway_copy(tmp_path / "snap", tmp_path / "run"))) as copy:
        assert {table.name for table in copy.schema().tables} == {"item", "maker", "cheap"}
        item = next(table for table in copy.schema().tables if table.name == "item")
        assert item.primary_key == ("id",)
        assert item.foreign_keys[0].to_table == "maker"
        assert rows_of(run(copy, "SELECT COUNT(*) FROM cheap")) == [(2,)]


def test_a_sample_keeps_foreign_keys_and_what_the_golds_need(shop: Database, tmp_path: Path) -> None:
    golds = (
        Gold(case_id="few", sql="SELECT id FROM sale WHERE id < 0"),
        Gold(case_id="all", sql="SELECT COUNT(*) FROM item"),
    )
    manifest = take(shop, golds, tmp_path / "snap", sample=2)
    assert manifest.all_equal
    copied = {table.name: (table.rows, table.of_rows) for table in manifest.tables}
    assert copied == {"item": (4, 4), "sale": (2, 5000)}
    with closing(connect(throwaway_copy(tmp_path / "snap", tmp_path / "run"))) as copy:
        orphans = "SELECT COUNT(*) FROM sale WHERE item_id NOT IN (SELECT id FROM item)"
        assert rows_of(run(copy, orphans)) == [(0,)]


def test_a_gold_that_needs_every_row_makes_its_table_whole(shop: Database, tmp_path: Path) -> None:
    manifest = take(shop, (Gold(case_id="sum", sql="SELECT SUM(amount) FROM sale"),), tmp_path / "snap", sample=10)
    assert manifest.all_equal
    assert [(table.rows, table.of_rows) for table in manifest.tables] == [(5000, 5000)]


def test_dirty_text_survives(shop: Database, tmp_path: Path) -> None:
    manifest = take(shop, (Gold(case_id="d", sql="SELECT t, typeof(t), hex(t) FROM dirty"),), tmp_path / "snap")
    assert manifest.all_equal


def test_golds_that_fail_are_named(shop: Database, tmp_path: Path) -> None:
    golds = (
        Gold(case_id="bad", sql="SELECT nope FROM item"),
        Gold(case_id="dialect", sql="SELECT iif(1, id, 0) FROM item"),
    )
    manifest = take(shop, golds, tmp_path / "snap", engine="duckdb")
    outcomes = {check.case_id: check.outcome for check in manifest.checks}
    assert outcomes == {"bad": "source_error", "dialect": "fixture_error"} or outcomes["bad"] == "unread"
    assert any("dialect" in difference for difference in manifest.differences)


def test_a_changed_fixture_is_refused(shop: Database, tmp_path: Path) -> None:
    take(shop, GOLDS, tmp_path / "snap")
    with (tmp_path / "snap" / "snapshot.db").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ArchiveError, match="checksum"):
        throwaway_copy(tmp_path / "snap", tmp_path / "run")


def test_wrong_use_is_said(shop: Database, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one gold"):
        take(shop, (), tmp_path / "snap")
    with pytest.raises(UsageError, match="at least one row"):
        take(shop, GOLDS, tmp_path / "snap", sample=0)
    take(shop, GOLDS, tmp_path / "snap")
    with pytest.raises(UsageError, match="already holds"):
        take(shop, GOLDS, tmp_path / "snap")
    with pytest.raises(ArchiveError, match="no readable snapshot"):
        read_manifest(tmp_path)


@pytest.mark.postgres
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_from_a_server(postgres_database: Callable[..., str], tmp_path: Path, engine: str) -> None:
    url = postgres_database(
        *SETUP,
        "CREATE TABLE kinds (n numeric(38, 20), t timestamptz, d date, b boolean, j jsonb, u uuid, x bytea, "
        "i interval)",
        "INSERT INTO kinds VALUES (0.10000000000000000001, '2020-01-01 10:00+02', '2020-01-01', true, '{\"a\": 1}', "
        "'12345678-1234-5678-1234-567812345678', '\\x00ff', '1 mon 2 days')",
    )
    golds = (*GOLDS, Gold(case_id="kinds", sql="SELECT n, d, b, u, x FROM kinds"))
    with closing(connect(url)) as database:
        manifest = take(database, golds, tmp_path / "snap", engine="sqlite" if engine == "sqlite" else "duckdb")
    assert {check.case_id: check.outcome for check in manifest.checks} == dict.fromkeys("abc", "equal") | {
        "kinds": "equal"
    }
    assert manifest.source_dialect == "postgres"
    assert any("view cheap is stored as a table" in difference for difference in manifest.differences)


def test_the_manifest_shows_no_password(postgres_database: Callable[..., str], tmp_path: Path) -> None:
    url = postgres_database(*SETUP).replace("postgres@", "postgres:s3cr3t@")
    with closing(connect(url)) as database:
        take(database, GOLDS[:1], tmp_path / "snap")
    text = (tmp_path / "snap" / "manifest.json").read_text()
    assert "s3cr3t" not in text
    assert json.loads(text)["source"].count("***") == 1
