"""The configured gold set from file to findings, with a real engine and each gold scored against itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqlassay.datasets import load
from sqlassay.datasets.findings import Code, Finding
from sqlassay.errors import DatabaseUnavailable
from sqlassay.running.checking import check_configured
from sqlassay.running.configure import load as configuration

CASES = """\
- id: fine
  question: Which films?
  database: films
  gold_sql: SELECT title FROM films
- id: typo
  question: Which films are there?
  database: films
  gold_sql: SELECT titel FROM films
- id: bare
  question: One film per genre?
  database: films
  gold_sql: SELECT genre, title FROM films GROUP BY genre
- id: none
  question: Weather?
  expect: {terminal_status: UNSUPPORTED}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    connection = sqlite3.connect(tmp_path / "films.db")
    connection.executescript(
        "CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT, genre TEXT);"
        "INSERT INTO films VALUES (1, 'A', 'Drama'), (2, 'B', 'Drama'), (3, 'C', 'Comedy');"
    )
    connection.close()
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "sqlassay.yaml").write_text(
        "cases: cases.yaml\ndatabase: {films: films.db, unused: missing.db}\nagent: {kind: http, url: '${NOT_SET}'}\n"
    )
    return tmp_path


def findings(folder: Path) -> tuple[Finding, ...]:
    config = configuration(folder / "sqlassay.yaml", environment={})
    return check_configured(config, load(config.cases, base_dir=config.base_dir).cases)


def test_findings_need_neither_agent_nor_unused_databases(folder: Path) -> None:
    found = {(finding.code, finding.case_id): finding for finding in findings(folder)}
    assert set(found) == {(Code.GOLD_FAILS, "typo"), (Code.STORAGE_ORDER, "bare")}
    assert found[Code.GOLD_FAILS, "typo"].line == 5
    assert (found[Code.GOLD_FAILS, "typo"].file or "").endswith("cases.yaml")


def test_a_missing_database_is_nobody_s_finding(folder: Path) -> None:
    (folder / "films.db").unlink()
    with pytest.raises(DatabaseUnavailable, match=r"films\.db"):
        findings(folder)
