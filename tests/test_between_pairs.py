"""What one pair does must not reach the next, and what is not known must not be guessed: small known answers."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import sqlassay
from sqlassay.records.measurement import Measurement
from sqlassay.records.value import Reason, Undefined


def database(folder: Path, name: str, setup: str) -> str:
    path = folder / f"{name}.db"
    with apsw.Connection(str(path)) as made:
        made.execute(setup)
    made.close()
    return f"sqlite:///{path}"


def kind(score: Measurement) -> str | None:
    error = score.evidence["execution"]["candidate_error"]
    return None if error is None else str(error["kind"])


@pytest.fixture(scope="module")
def two_rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    return database(tmp_path_factory.mktemp("pairs"), "two", "CREATE TABLE t(a); INSERT INTO t VALUES (1),(2)")


def test_an_answer_that_deletes_leaves_the_next_pair_its_rows(two_rows: str) -> None:
    first = sqlassay.score_sql("SELECT COUNT(*) FROM t", "DELETE FROM t", database=two_rows)
    assert (first.value("execution.exact"), kind(first)) == (0, "forbidden")
    assert sqlassay.score_sql("SELECT 2", "SELECT COUNT(*) FROM t", database=two_rows).value("execution.exact") == 1


def test_an_answer_is_executed_once_and_a_second_time_no_differently(two_rows: str) -> None:
    kinds = [
        kind(sqlassay.score_sql("SELECT a FROM t", "CREATE INDEX ix ON t(a)", database=two_rows)) for _ in range(2)
    ]
    assert kinds == ["forbidden", "forbidden"]


def test_the_same_texts_on_another_database_are_another_pair(two_rows: str, tmp_path: Path) -> None:
    one_row = database(tmp_path, "one", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    found = [
        sqlassay.score_sql("SELECT 1", "SELECT COUNT(*) FROM t", database=url).value("execution.exact")
        for url in (one_row, two_rows, one_row)
    ]
    assert found == [1, 0, 1]


def test_a_database_whose_rows_change_is_read_again(tmp_path: Path) -> None:
    url = database(tmp_path, "grows", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    assert sqlassay.score_sql("SELECT 1", "SELECT COUNT(*) FROM t", database=url).value("execution.exact") == 1
    database(tmp_path, "grows", "INSERT INTO t VALUES (2)")
    assert sqlassay.score_sql("SELECT 1", "SELECT COUNT(*) FROM t", database=url).value("execution.exact") == 0


def test_one_accepted_gold_is_enough(two_rows: str) -> None:
    score = sqlassay.score_sql(["SELECT 7", "SELECT MAX(a) FROM t"], "SELECT COUNT(*) FROM t", database=two_rows)
    assert score.value("execution.exact") == 1
    assert score.evidence["execution"]["gold_index"] == 1


def test_a_set_and_a_bag_are_two_rules(tmp_path: Path) -> None:
    url = database(tmp_path, "bag", "CREATE TABLE g(v); INSERT INTO g VALUES (1),(1),(2)")
    score = sqlassay.score_sql("SELECT v FROM g", "SELECT DISTINCT v FROM g", database=url, exact_as=["bird"])
    assert (score.value("execution.exact"), score.value("execution.exact@bird")) == (0, 1)


def test_nothing_right_is_zero_and_nothing_to_find_is_undefined(two_rows: str) -> None:
    gold = "SELECT a FROM t WHERE a > 1 AND a < 9"
    wrong = sqlassay.score_sql(gold, "SELECT a FROM t WHERE a <> 5", database=two_rows)
    assert [wrong.value(f"component.filters.{side}") for side in ("precision", "recall")] == [0, 0]
    spare = sqlassay.score_sql("SELECT a FROM t", "SELECT a FROM t WHERE a > 1", database=two_rows)
    assert spare.value("component.filters.precision") == 0
    assert spare.metrics["component.filters.recall"] == Undefined(reason=Reason.NOTHING_TO_COUNT)


def test_what_no_parser_reads_is_unknown_and_not_wrong(two_rows: str) -> None:
    score = sqlassay.score_sql("SELECT a FROM t", "SELECT a FROM t WHERE (", database=two_rows)
    assert score.metrics["component.tables.recall"] == Undefined(reason=Reason.UNRESOLVED)
    assert score.value("execution.exact") == 0


def test_a_gold_that_reads_the_clock_is_counted(two_rows: str) -> None:
    gold = "SELECT COUNT(*) FROM t WHERE a >= date('now', '-30 days')"
    assert "nondeterministic" in sqlassay.score_sql(gold, gold, database=two_rows).to_dict()["ceilings"]
