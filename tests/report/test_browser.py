"""The page in a real browser: every view, filter, key and link, in both themes, with hostile content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pages import settled
from sqlassay.report import html
from sqlassay.report.model import Report

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_from_a_number_to_two_cells_in_three_clicks(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file)
    assert page.locator("#overview .score").is_visible()
    page.click(".causes a >> nth=0")
    rows = settled(page).locator("#list tbody tr")
    assert rows.count() == report.buckets[0].count
    rows.first.locator("a").click()
    assert settled(page).locator("#case .grid").is_visible()
    assert page.locator("#case .grid td.d").count() > 0
    assert "¡Ay!" in page.locator("#case .grid td.d.x").first.inner_text()


def test_links_hold_the_filter(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file, "#cases?category=join&verdict=failed")
    expected = [row.key.case_id for row in report.cases if row.category == "join" and row.passed is False]
    assert page.locator("#list td.id a").all_inner_texts() == expected
    assert page.locator("select[name=category]").input_value() == "join"
    page.click("#list td.id a >> nth=0")
    page.click("text=‹ Cases")
    assert page.url.endswith("#cases?category=join&verdict=failed")
    page.reload()
    assert page.locator("#list td.id a").all_inner_texts() == expected


def test_search_filter_range_sort_and_clear(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file, "#cases")
    page.fill("#search", "number 12")
    assert page.locator("#list td.id a").all_inner_texts() == ["films_0012"]
    page.click("#clear")
    page.select_option("select[name=ceiling]", "weak_evidence")
    met = [row for row in report.cases if any(c.value == "weak_evidence" for c in row.ceilings)]
    assert page.locator("#list tbody tr").count() == len(met)
    page.click("#clear")
    page.select_option("select[name=metric]", "output.cells.recall")
    page.fill("input[name=max]", "0.5")
    low = [row for row in report.cases if row.metrics["output.cells.recall"] <= 0.5]
    assert page.locator("#list tbody tr").count() == len(low)
    page.click("#list th button >> text=output.cells.recall")
    values = [float(text) for text in settled(page).locator("#list tbody td:last-child").all_inner_texts()]
    assert values == sorted(values)
    page.click("#list th button >> text=output.cells.recall")
    values = [float(text) for text in settled(page).locator("#list tbody td:last-child").all_inner_texts()]
    assert values == sorted(values, reverse=True)


def test_keys(watched: Any, page_file: Path) -> None:
    page = watched.open(page_file)
    page.keyboard.press("/")
    page.wait_for_selector("#search:focus")
    page.keyboard.type("films_000")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("tr[aria-selected=true] td.id a").inner_text() == "films_0001"
    page.keyboard.press("Enter")
    page.wait_for_selector("#case h1")
    assert page.locator("#case h1").inner_text() == "films_0001"
    page.keyboard.press("j")
    page.wait_for_selector("#case h1 >> text=films_0002")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list >> visible=true")
    assert page.locator("#search").input_value() == "films_000"


def test_one_case_shows_everything(watched: Any, page_file: Path, report: Report) -> None:
    page = watched.open(page_file, f"#case?id={report.failing[0].key.case_id}&p=0&r=0")
    page.wait_for_selector("#case .grid")
    titles = page.locator("#case h2").all_inner_texts()
    for title in (
        "Gold SQL",
        "What differs in the SQL",
        "Results",
        "Final answer",
        "Retrieval",
        "Stages",
        "See it again",
    ):
        assert any(text.startswith(title) for text in titles), title
    assert page.locator("#case pre.sql mark.missing").all_inner_texts()
    assert page.locator("#case mark[title='not found in the result']").inner_text() == "42"
    page.click("text=Raw records")
    assert '"case_id"' in page.locator("details:has-text('Raw records') pre").first.inner_text()


def test_hostile_content_is_inert(watched: Any, tmp_path: Path, hostile_report: Report) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html.render(hostile_report), encoding="utf-8")
    page = watched.open(path)
    addresses = page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
    assert all(address.startswith("#") for address in addresses)
    page.click("a[data-view=cases]")
    count = settled(page).locator("#list tbody tr").count()
    assert count == len(hostile_report.cases)
    for number in range(count):
        page.click(f"#list tbody tr >> nth={number} >> td.id a")
        page.wait_for_selector("#case h2 >> text=Results")
        assert page.locator("#case .grid thead tr:last-child th").count() <= 40
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        page.click("text=‹ Cases")
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img, main iframe, main svg[onload]").count() == 0


def test_filter_links_find_their_hostile_cases(watched: Any, tmp_path: Path, hostile_report: Report) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html.render(hostile_report), encoding="utf-8")
    page = watched.open(path)
    for number in range(page.locator(".heat tbody th a").count()):
        page.click(f".heat tbody th a >> nth={number}")
        assert settled(page).locator("#list tbody tr").count() >= 1
        page.click("a[data-view=overview]")


def test_a_thousand_cases_draw_no_more_than_a_page_of_them(
    watched: Any, tmp_path: Path, make_report: Callable[..., Report]
) -> None:
    def opened(cases: int) -> Any:
        path = tmp_path / f"{cases}.html"
        path.write_text(html.render(make_report(cases)), encoding="utf-8")
        page = watched.open(path, "#cases")
        page.wait_for_selector("#list tbody tr")
        return page

    drawn = "document.querySelectorAll('#cases *').length"
    few = opened(150).evaluate(drawn)
    page = opened(1000)
    assert page.evaluate(drawn) < 1.1 * few
    assert page.locator("#list tbody tr").count() == 100
    page.click("#next")
    assert settled(page).locator("#list td.id a").first.inner_text() == "films_0100"
    found = page.evaluate(
        "(() => { const box = document.querySelector('#search'); box.value = 'number 7';"
        "box.dispatchEvent(new Event('input')); return document.querySelectorAll('#list tbody tr').length; })()"
    )
    assert 0 < found <= 100, "the list follows within the event"
