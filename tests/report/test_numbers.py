"""Does every number of the overview lead to its cases, and every filter to exactly those that it names?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pages import settled
from sqlassay.records.case import Case, Expectation, Status
from sqlassay.records.measurement import Bucket
from sqlassay.records.run import Manifest, RunState
from sqlassay.report import html
from sqlassay.report.build import build
from sqlassay.report.model import CaseRow, Report
from sqlassay.summary.aggregate import summarise
from sqlassay.testing.builders import case, measurement, relation, turn

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

NAMED: dict[str, Callable[[CaseRow], object]] = {
    "verdict": lambda row: {True: "passed", False: "failed", None: "unscored"}[row.passed],
    "bucket": lambda row: row.bucket,
    "category": lambda row: row.category,
    "difficulty": lambda row: row.difficulty,
    "tag": lambda row: row.tags,
    "table": lambda row: row.tables,
    "tables": lambda row: str(len(row.tables)),
    "ceiling": lambda row: row.ceilings,
    "shape": lambda row: row.shape,
    "stage": lambda row: row.first_broken_stage,
}


def ids(page: Any) -> list[str]:
    return list(settled(page).locator("#list td.id a").all_inner_texts())


@pytest.mark.parametrize("name", NAMED)
def test_each_filter_shows_what_it_names(watched: Any, page_file: Path, report: Report, name: str) -> None:
    pick = NAMED[name]
    found = [pick(row) for row in report.cases if pick(row)]
    wanted = str(found[0][0] if isinstance(found[0], tuple) else found[0])
    page = watched.open(page_file, "#cases")
    if page.locator(f"select[name={name}]").count():
        page.select_option(f"select[name={name}]", wanted)
        assert f"{name}={wanted}" in page.url
    else:
        page = watched.open(page_file, f"#cases?{name}={wanted}")

    def said(row: CaseRow) -> bool:
        value = pick(row)
        return wanted in value if isinstance(value, tuple) else value == wanted

    assert ids(page) == [row.key.case_id for row in report.cases if said(row)]


def test_a_mean_leads_to_its_cases_worst_first(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file)
    page.click(".tile a.figure[href*='output.cells.recall']")
    values = [
        float(text) for text in settled(page).locator("#list tbody td:last-child").all_inner_texts() if text != "–"
    ]
    assert values == sorted(values)
    assert values == sorted(round(row.metrics["output.cells.recall"], 4) for row in report.cases)


def test_a_cell_of_the_heat_table_leads_to_its_slice(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file)
    page.click(".heat a.figure[href*='category=join'][href*='outcome.pass']")
    assert sorted(ids(page)) == sorted(row.key.case_id for row in report.cases if row.category == "join")
    assert page.locator("#list tbody tr .tag").first.inner_text() == "failed"


def test_what_to_fix_first_leads_to_the_cases(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file)
    links = page.locator("ol.first li >> nth=1 >> a")
    links.last.click()
    assert len(ids(page)) == report.buckets[0].count
    page.click("a[data-view=overview]")
    links.first.click()
    page.wait_for_selector("#case h1")
    assert page.locator("#case h1").inner_text() == report.buckets[0].keys[0].case_id


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run asked twice: one case flips, one is refused rightly, one wrongly; one result is equal but for rounding."""
    cases: dict[str, Case] = {
        "flips": case("flips", gold_sql=("SELECT name, total FROM t",)),
        "asks": case("asks", gold_sql=("SELECT 1",)),
        "refused": case("refused", expect=Expectation(terminal_status=Status.UNSUPPORTED), gold_sql=()),
    }
    lines, turns = [], []
    for repeat in (0, 1):
        for name in cases:
            ended = Status.SUCCESS if name == "flips" else Status.UNSUPPORTED
            wanted = cases[name].expected_status
            bucket = Bucket.DECLINED if ended is not wanted else None
            if name == "flips" and repeat:
                bucket = Bucket.WRONG_VALUES
            behaviour = {"expected": wanted.value, "actual": ended.value, "status_source": "declared"}
            pairs = [{"reference": n, "candidate": n, "by": "origin"} for n in ("name", "total")]
            evidence = {"behaviour": behaviour, "output": {"pairs": pairs, "row_key": ["name"]}}
            lines.append(measurement(name, bucket=bucket, repeat=repeat, evidence=evidence))
            turns.append(turn(name, repeat=repeat, status=ended))
    summary = summarise(lines, cases, signature="sqlassay 0 | ab", run_id="twice")
    manifest = Manifest(run_id="twice", state=RunState.COMPLETE, signature="sqlassay 0 | ab", started_at="2026-11-30")
    gold = relation("name total", ("Ana", 1.004), ("Bo", 2.0), ("Cy", 3.0))
    found = relation("total name", (1.0, "Ana"), (2.5, "Bo"), (3.0, "Cy"))
    report = build(manifest, summary, measurements=lines, turns=turns, cases=cases, results=lambda _: (gold, found))
    path = tmp_path_factory.mktemp("twice") / "report.html"
    path.write_text(html.render(report), encoding="utf-8")
    return path


def test_repeats_name_the_cases_that_flip(watched: Any, twice: Path) -> None:
    page = watched.open(twice)
    card = page.locator(".card:has(> h2:text-is('Repeats'))")
    assert "33.3 % flipped" in card.inner_text()
    card.locator("a >> text=flips").click()
    assert ids(page) == ["flips", "flips"]
    assert page.locator("#list .tag").all_inner_texts() == ["passed", "failed"]
    assert page.locator("#list td.id").last.inner_text() == "flips repeat 1"


def test_the_confusion_table_leads_to_its_cases(watched: Any, twice: Path) -> None:
    page = watched.open(twice)
    page.click(".matrix td.miss a")
    assert set(ids(page)) == {"asks"}
    page.click("a[data-view=overview]")
    page.click(".matrix tr:has(th:text-is('unsupported')) td.hit a")
    assert set(ids(page)) == {"refused"}


def test_pairs_wear_one_number_and_rounding_is_told_from_difference(watched: Any, twice: Path) -> None:
    page = watched.open(twice, "#case?id=flips&p=0&r=1")
    page.wait_for_selector("#case .grid")
    heads = page.locator("#case .grid thead tr >> nth=1 >> th").all_inner_texts()
    assert [head.split()[0] for head in heads] == ["1name", "2total", "1name", "2total"]
    assert all("by origin" in head for head in heads)
    signs = page.locator("#case .grid tbody td.sign span[aria-hidden]").all_inner_texts()
    assert signs == ["≈", "≠"]
    assert page.locator("#case .grid td.d").all_inner_texts() == ["2.0", "2.5"]
    commands = page.locator("#case section:has(h2:text-is('See it again')) pre").all_inner_texts()
    assert commands == ["sqlassay show twice flips --repeat 1", "sqlassay run --case-id flips"]
