"""Texts that an engine's collation takes for equal are tied, whatever their code points; asked of the real engines."""

from __future__ import annotations

from pathlib import Path

import apsw
import duckdb
import pytest

import sqlassay
from throwaway import MakeDatabase

ROWS = "INSERT INTO t VALUES (1, 'x'), (2, 'X'), (3, 'y'), (4, 'Y')"
RIGHT = "SELECT id FROM t WHERE id > 0 ORDER BY CASE id WHEN 2 THEN 0 WHEN 1 THEN 1 WHEN 4 THEN 2 ELSE 3 END"
WRONG = "SELECT id FROM t ORDER BY CASE id WHEN 2 THEN 0 WHEN 3 THEN 1 WHEN 1 THEN 2 ELSE 3 END"
CUT = "SELECT 2 AS id UNION ALL SELECT 1 UNION ALL SELECT 4"


def _ties(url: str, order: str = "name") -> None:
    gold = f"SELECT id FROM t ORDER BY {order}"
    for answer, exact in ((RIGHT, 1), (WRONG, 0)):
        score = sqlassay.score_sql(gold, answer, database=url)
        assert score.value("execution.exact") == exact, answer
        assert "ties_unknown" not in score.to_dict()["ceilings"]
    score = sqlassay.score_sql(f"{gold} LIMIT 3", CUT, database=url)
    assert score.value("execution.exact") == 1
    assert "tie_at_limit" in score.to_dict()["ceilings"]


def _sqlite(folder: Path, column: str) -> str:
    with apsw.Connection(str(folder / "t.db")) as made:
        made.execute(f"CREATE TABLE t(id INTEGER, name {column}); {ROWS}")
    made.close()
    return f"sqlite:///{folder / 't.db'}"


def test_sqlite_column_with_a_collation(tmp_path: Path) -> None:
    _ties(_sqlite(tmp_path, "TEXT COLLATE NOCASE"))


def test_sqlite_key_with_a_collation(tmp_path: Path) -> None:
    url = _sqlite(tmp_path, "TEXT")
    _ties(url, "name COLLATE NOCASE")
    gold = "SELECT DISTINCT name FROM t ORDER BY name COLLATE NOCASE"
    answer = "SELECT name FROM t ORDER BY lower(name), name DESC"
    assert sqlassay.score_sql(gold, answer, database=url).value("execution.exact") == 1


def test_sqlite_texts_that_differ_are_no_tie_without_one(tmp_path: Path) -> None:
    url = _sqlite(tmp_path, "TEXT COLLATE BINARY")
    assert sqlassay.score_sql("SELECT id FROM t ORDER BY name", RIGHT, database=url).value("execution.exact") == 0


def test_duckdb_column_with_a_collation(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.execute(f"CREATE TABLE t(id INTEGER, name VARCHAR COLLATE NOCASE); {ROWS}")
    _ties(f"duckdb:///{tmp_path / 't.duckdb'}")


def test_postgres_collation_that_ignores_case(postgres_database: MakeDatabase) -> None:
    loose = "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    _ties(postgres_database(loose, "CREATE TABLE t(id INT, name TEXT COLLATE loose)", ROWS))


@pytest.mark.parametrize("how", ["name", "concat(name, '')", "2"])
def test_mysql_ignores_case_as_a_rule(mysql_database: MakeDatabase, how: str) -> None:
    url = mysql_database("CREATE TABLE t(id INT, name VARCHAR(9))", ROWS)
    _ties(url, "name" if how == "2" else how)
    gold = f"SELECT name, COUNT(*) FROM t GROUP BY name ORDER BY {how} DESC"
    answer = "SELECT name, COUNT(*) FROM t GROUP BY name ORDER BY name DESC"
    assert sqlassay.score_sql(gold, answer, database=url).value("execution.exact") == 1


def test_mysql_column_that_keeps_case_apart(mysql_database: MakeDatabase) -> None:
    url = mysql_database("CREATE TABLE t(id INT, name VARCHAR(9) COLLATE utf8mb4_bin)", ROWS)
    assert sqlassay.score_sql("SELECT id FROM t ORDER BY name", RIGHT, database=url).value("execution.exact") == 0
