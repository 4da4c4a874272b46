"""A copy with rows backwards holds the same data, and only small SQLite files are copied."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqlassay.databases import reordered as module
from sqlassay.databases.connect import connect
from sqlassay.databases.reordered import reordered
from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.execution import Rows
from sqlassay.records.settings import Limits

SETUP = """
CREATE TABLE plain (a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB);
CREATE TABLE "odd name" (x TEXT COLLATE NOCASE);
CREATE TABLE keyed (k TEXT PRIMARY KEY, v INT) WITHOUT ROWID;
CREATE VIEW seen AS SELECT b FROM plain;
CREATE INDEX by_b ON plain (b);
CREATE VIRTUAL TABLE words USING fts5 (word);
INSERT INTO plain VALUES (1, 'x', 1.5, x'00'), (2, NULL, 2, NULL), (3, 'z', NULL, x'ff');
INSERT INTO "odd name" VALUES ('A'), ('b');
INSERT INTO keyed VALUES ('p', 1), ('q', 2);
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.executescript(SETUP)
    connection.close()
    return f"sqlite:///{tmp_path / 'a.db'}"


def test_the_same_rows_lie_backwards(url: str) -> None:
    with reordered(url, name="a") as copy:
        assert copy is not None
        with copy.session() as session:

            def rows(sql: str) -> list[tuple[object, ...]]:
                done = session.execute(sql, limits=Limits())
                assert isinstance(done, Rows)
                return list(done.relation.tuples())

            assert rows("SELECT * FROM plain") == [
                (3, "z", None, b"\xff"),
                (2, None, 2.0, None),
                (1, "x", 1.5, b"\x00"),
            ]
            assert rows("SELECT * FROM seen") == [("z",), (None,), ("x",)]
            assert rows("SELECT * FROM keyed") == [("q", 2), ("p", 1)]
            assert rows("SELECT x FROM \"odd name\" WHERE x = 'a'") == [("A",)]


def test_the_original_is_not_touched_and_the_copy_goes(url: str, tmp_path: Path) -> None:
    before = (tmp_path / "a.db").read_bytes()
    with reordered(url, name="a") as copy:
        assert copy is not None
        place = Path(copy.url.removeprefix("sqlite:///"))
        assert place.exists()
    assert not place.exists()
    assert (tmp_path / "a.db").read_bytes() == before


def test_other_engines_and_large_files_are_not_copied(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with reordered("postgresql://h/d", name="a") as copy:
        assert copy is None
    monkeypatch.setattr(module, "LARGEST", 10)
    with reordered(url, name="a") as copy:
        assert copy is None


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable), reordered(f"sqlite:///{tmp_path}/none.db", name="a"):
        pass


def test_duckdb_rows_lie_backwards_too(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "a.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR)")
        connection.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.u AS SELECT * FROM range(3)")
        connection.execute("CREATE VIEW v AS SELECT b FROM t")
    original = connect(f"duckdb:///{file}", name="a")
    with reordered(f"duckdb:///{file}", name="a") as copy:
        assert copy is not None
        with copy.session() as session:
            for sql, expected in (
                ("SELECT a FROM t", [(2,), (1,)]),
                ("SELECT b FROM v", [("y",), ("x",)]),
                ("SELECT * FROM s.u", [(2,), (1,), (0,)]),
            ):
                done = session.execute(sql, limits=Limits())
                assert isinstance(done, Rows)
                assert list(done.relation.tuples()) == expected
    original.close()
