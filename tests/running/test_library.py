"""The scorer as a function: tables of every kind, queries in a worker."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlassay.errors import DatabaseUnavailable, UsageError
from sqlassay.records.case import IdSetShape, Tolerance
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Column, Kind, Relation
from sqlassay.running.handed import ShapeGiven
from sqlassay.running.library import close, compare, score_sql
from sqlassay.tables.handed import relation_of

LEFT: dict[str, Any] = {"columns": ["id", "name"], "rows": [[1, "a"], [2, None], [3, "c"]]}


def as_pandas() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"id": [1, 2, 3], "name": ["a", None, "c"]})


def as_polars() -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame({"id": [1, 2, 3], "name": ["a", None, "c"]})


def as_arrow() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({"id": [1, 2, 3], "name": ["a", None, "c"]})


def as_relation() -> Any:
    return Relation(columns=(Column(name="id"), Column(name="name")), rows=[(1, "a"), (2, None), (3, "c")])


@pytest.mark.parametrize("make", [as_pandas, as_polars, as_arrow, as_relation])
def test_tables_of_every_kind_are_the_same_table(make: Any) -> None:
    assert compare(LEFT, make()).value("execution.exact") == 1
    assert compare(make(), LEFT, ordered=True).value("execution.exact") == 1
    missing = {**LEFT, "rows": LEFT["rows"][:2]}
    assert compare(make(), missing).shape is ShapeLabel.TOO_FEW_ROWS


def test_pandas_keeps_types_and_says_null_for_what_is_missing() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [[1, 1.5, pandas.Timestamp("2024-01-01 10:00"), True, Decimal("1.10")], [2, None, pandas.NaT, False, None]],
        columns=["i", "f", "t", "b", "t"],
    )
    relation = relation_of(frame)
    assert [column.kind for column in relation.columns][:4] == [
        Kind.INTEGER,
        Kind.FLOAT,
        Kind.TIMESTAMP,
        Kind.BOOLEAN,
    ]
    assert relation.rows[1] == (2, None, None, False, None)
    assert [type(cell).__module__ for cell in relation.rows[0]] == [
        "builtins",
        "builtins",
        "datetime",
        "builtins",
        "decimal",
    ]


def test_frames_of_the_other_libraries_keep_their_types() -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    data = {"s": ["a", None], "i": [1, 2]}
    for table in (polars.DataFrame(data), polars.LazyFrame(data), pyarrow.table(data), pyarrow.record_batch(data)):
        relation = relation_of(table)
        assert [(column.name, column.kind) for column in relation.columns] == [("s", Kind.TEXT), ("i", Kind.INTEGER)]
        assert relation.rows == [("a", 1), (None, 2)]


@pytest.mark.parametrize(
    "table",
    [5, None, "SELECT 1", [[1]], {"rows": []}, {"columns": ["a"], "rows": [[1, 2]]}, {"columns": ["a"], "rows": ["x"]}],
)
def test_what_is_no_table_is_said(table: Any) -> None:
    with pytest.raises(UsageError, match="reference"):
        compare(table, LEFT)


def test_shapes_and_tolerances_are_written_as_in_a_case() -> None:
    right = {"columns": ["name", "id"], "rows": [["x", 3], ["y", 2], ["z", 1]]}
    assert compare(LEFT, right).value("execution.exact") == 0
    shapes: tuple[ShapeGiven, ...] = ("id_set", {"id_set": "id"}, IdSetShape(column="id"))
    for shape in shapes[1:]:
        assert compare(LEFT, right, shape=shape).value("execution.exact") == 1
    with pytest.raises(UsageError):
        compare(LEFT, right, shape=shapes[0])
    one, two = ({"columns": ["n"], "rows": [[value], [7]]} for value in (100.0, 100.5))
    assert compare(one, two).value("execution.exact") == 0
    assert compare(one, two, tolerance={"abs": 1}).value("execution.exact") == 1
    assert compare(one, two, tolerance=Tolerance(mode="plain", abs="1")).value("execution.exact") == 1
    assert compare(one, one, tolerance="exact").value("execution.exact") == 1


def test_two_queries_on_a_database(url: str) -> None:
    score = score_sql("SELECT id FROM item", "Sure:\n```sql\nSELECT id FROM item ORDER BY name\n```", database=url)
    assert isinstance(score, Measurement)
    assert score.value("outcome.pass") == 1
    assert score.evidence["sql"]["candidate_origins"] == ["item.id"]
    wrong = score_sql(["SELECT 1", "SELECT 2"], "SELECT 2", database=url)
    assert wrong.evidence["execution"]["gold_index"] == 1
    assert score_sql("SELECT 1", None, database=url).bucket is Bucket.NO_QUERY_HALLUCINATION
    assert score_sql("SELECT 1", "DROP TABLE item", database=url).bucket is Bucket.SQL_ERROR
    rules = score_sql("SELECT name FROM item", "SELECT DISTINCT name FROM item", database=url, exact_as=["spider"])
    assert rules.value("execution.exact@spider") == 1


def test_settings_and_databases_that_mean_nothing(url: str) -> None:
    with pytest.raises(UsageError, match="spider"):
        score_sql("SELECT 1", "SELECT 1", database=url, exact_as=["spyder"])
    with pytest.raises(UsageError, match="gold"):
        score_sql([], "SELECT 1", database=url)
    with pytest.raises(DatabaseUnavailable):
        score_sql("SELECT 1", "SELECT 1", database="sqlite:///absent.db")


def test_a_hostile_query_dies_with_its_worker(url: str) -> None:
    deaf = "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')"
    score = score_sql("SELECT 1", deaf, database=url, timeout=0.3)
    assert score.evidence["execution"]["candidate_error"]["kind"] == "timeout"
    assert score_sql("SELECT 1", "SELECT 1", database=url).value("outcome.pass") == 1
    close()


def test_a_plain_script_needs_no_main_guard_and_ends(url: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sqlassay\nprint(sqlassay.score_sql('SELECT 1', 'SELECT 1', database={url!r}).value('outcome.pass'))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1.0\n", "")


def test_a_warm_worker_knows_where_the_caller_is_and_what_lies_there_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, rows in (("a", "(1), (2)"), ("b", "(1)")):
        (tmp_path / folder).mkdir()
        with closing(sqlite3.connect(tmp_path / folder / "films.db")) as connection:
            connection.executescript(f"CREATE TABLE t (n); INSERT INTO t VALUES {rows};")
    counted = []
    for folder in ("a", "b"):
        monkeypatch.chdir(tmp_path / folder)
        score = score_sql("SELECT n FROM t", "SELECT n FROM t", database="sqlite:///films.db")
        counted.append(score.evidence["execution"]["gold_rows"])
    (tmp_path / "a" / "films.db").replace(tmp_path / "b" / "films.db")
    score = score_sql("SELECT n FROM t", "SELECT n FROM t", database="sqlite:///films.db")
    assert [*counted, score.evidence["execution"]["gold_rows"]] == [2, 1, 2]
