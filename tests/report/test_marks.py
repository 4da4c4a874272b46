"""The parts that the component family names are marked whole in the SQL texts, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.measurement import Bucket
from sqlassay.records.run import Manifest, RunState
from sqlassay.report import html
from sqlassay.report.build import build
from sqlassay.summary.aggregate import summarise
from sqlassay.testing.builders import case, measurement

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

JOINED = "SELECT f.id, COUNT(*) FROM films AS f JOIN genres g ON f.id = g.film_id WHERE f.year >= 1990"
PARTS = {
    "a filter through its alias": (JOINED, "filters", "films.year >= 1990", ["f.year >= 1990"]),
    "a join, turned round": (JOINED, "joins", "genres.film_id = films.id", ["f.id = g.film_id"]),
    "a join with its kind": (JOINED, "joins", "left: films.id = genres.film_id", ["f.id = g.film_id"]),
    "a table": (JOINED, "tables", "genres", ["genres"]),
    "a column of the select list only": (JOINED, "columns", "films.id", ["f.id"]),
    "an aggregation": (JOINED, "aggregations", "COUNT(*)", ["COUNT(*)"]),
    "what is not there": (JOINED, "filters", "films.title = 'Alien'", []),
    "a name without its table": (
        "select year from films where year between 1990 and 2000",
        "filters",
        "films.year >= 1990",
        [],
    ),
    "quoted names, a signed literal, a comment": (
        'SELECT 1 FROM "Films" WHERE "Films"."Year" <> /* no */ \'x\' -- "Films"."Year"',
        "filters",
        "films.year != 'x'",
        ['"Films"."Year" <> /* no */ \'x\''],
    ),
    "a list in another order": (
        "SELECT 1 FROM t WHERE a IN (2, 1)",
        "filters",
        "t.a IN (1, 2)",
        ["a IN (2, 1)"],
    ),
    "an ordering": ("SELECT a FROM t ORDER BY a DESC LIMIT 3", "ordering", "1. t.a DESC", ["a DESC"]),
    "a limit": ("SELECT a FROM t ORDER BY a DESC LIMIT 3", "ordering", "LIMIT 3", ["LIMIT 3"]),
    "markup": ("SELECT '<img src=x>' FROM t", "filters", "<img src=x>", []),
}


def _page(folder: Path, sql: str, evidence: dict[str, Any]) -> Path:
    cases = {"a": case("a", gold_sql=(sql,))}
    lines = [measurement("a", bucket=Bucket.WRONG_VALUES, evidence=evidence)]
    manifest = Manifest(run_id="r", state=RunState.COMPLETE, signature="s")
    summary = summarise(lines, cases, signature="s", run_id="r")
    path = folder / "page.html"
    path.write_text(html.render(build(manifest, summary, measurements=lines, cases=cases)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("side", ["missing", "extra"])
def test_a_part_is_marked_whole(watched: Any, tmp_path: Path, name: str, side: str) -> None:
    sql, part, item, expected = PARTS[name]
    own = "gold" if side == "missing" else "candidate"
    evidence = {
        "component": {part: {"gold": [], "candidate": [], "missing": [], "extra": [], own: [item], side: [item]}},
        "sql": {"candidate": sql},
    }
    page = watched.open(_page(tmp_path, sql, evidence), "#case?id=a&p=0&r=0")
    page.wait_for_selector("#case pre.sql")
    assert page.locator("#case pre.sql").all_inner_texts()[:2] == [sql, sql]
    assert page.locator(f"#case pre.sql mark.{side}").all_inner_texts() == expected
    assert page.locator("#case pre.sql mark").count() == len(expected)
    if expected:
        assert item in page.locator("#case pre.sql mark").first.get_attribute("title")


def test_a_query_of_thousands_of_words_still_opens(watched: Any, tmp_path: Path) -> None:
    sql = "SELECT a FROM t WHERE " + " OR ".join(f"t.a = {number}" for number in range(1500))
    lost = [f"t.b BETWEEN {number} AND {number + 1}" for number in range(40)]
    evidence = {
        "component": {"filters": {"gold": lost, "candidate": [], "missing": ["t.a = 7", *lost], "extra": []}},
        "sql": {"candidate": sql},
    }
    page = watched.open(_page(tmp_path, sql, evidence), "#case?id=a&p=0&r=0")
    page.wait_for_selector("#case pre.sql")
    assert page.locator("#case pre.sql mark.missing").all_inner_texts() == ["t.a = 7"]
