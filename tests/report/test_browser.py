"""The page in a real browser: every view, filter, key and link, in both themes, with hostile content."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlassay.report import comparison, html
from sqlassay.report.model import Report
from sqlassay.summary.compare import compare

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

CONTRAST = """
() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, under) => {
    const a = top[3] === undefined ? 1 : top[3];
    return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a));
  };
  const bad = [];
  for (const element of document.querySelectorAll("main:not([hidden]) *, header *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || !box.height || element.closest(".skip, button:disabled, [aria-hidden=true]")) continue;
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    const ground = layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
    const style = getComputedStyle(element);
    const text = over(parse(style.color), ground);
    const [a, b] = [light(text), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), large = parseFloat(style.fontSize) >= 24;
    const said = element.textContent.trim().slice(0, 30);
    if (ratio < (large ? 3 : 4.5)) bad.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ${said}`);
  }
  return bad;
}
"""
"""Texts whose contrast lies below WCAG AA."""

NAMED = """
() => {
  const controls = ":is(button, a, input, select, summary, svg[role=img])";
  return [...document.querySelectorAll(`main:not([hidden]) ${controls}, header ${controls}`)].filter((e) => {
    const label = e.closest("label");
    const name = e.getAttribute("aria-label") || e.textContent.trim() || (label && label.textContent.trim());
    return e.getBoundingClientRect().width && !name;
  }).map((e) => e.outerHTML.slice(0, 120));
}
"""
"""Controls and images without a name for a screen reader."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("SQLASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None and os.environ.get("SQLASSAY_REQUIRE_SERVICES") != "1":
        pytest.skip("Chromium is not installed (apt-get install chromium, or set SQLASSAY_CHROMIUM)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=_FLAGS)
        yield chromium
        chromium.close()


class Watched:
    """A page that notes every complaint of the browser and every request."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_page(viewport={"width": 1280, "height": 800}, **options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path, fragment: str = "") -> Any:
        self.page.goto(f"file://{path}{fragment}")
        return self.page


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    one = Watched(browser)
    yield one
    one.page.close()
    assert one.complaints == []
    assert all(url.startswith("file://") for url in one.requests)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory, report: Report) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.render(report), encoding="utf-8")
    return path


def visible(page: Any, selector: str) -> int:
    return int(page.locator(f"{selector} >> visible=true").count())


def test_from_a_number_to_two_cells_in_three_clicks(watched: Watched, page_file: Path, report: Report) -> None:
    page = watched.open(page_file)
    assert page.locator("#overview .score").is_visible()
    page.click(".causes a >> nth=0")
    rows = page.locator("#list tbody tr")
    assert rows.count() == report.buckets[0].count
    rows.first.locator("a").click()
    assert page.locator("#case .grid").is_visible()
    assert page.locator("#case .grid td.d").count() > 0
    assert "¡Ay!" in page.locator("#case .grid td.d.x").first.inner_text()


def test_links_hold_the_filter(watched: Watched, page_file: Path, report: Report) -> None:
    page = watched.open(page_file, "#cases?category=join&verdict=failed")
    expected = [row.key.case_id for row in report.cases if row.category == "join" and row.passed is False]
    assert page.locator("#list td.id a").all_inner_texts() == expected
    assert page.locator("select[name=category]").input_value() == "join"
    page.click("#list td.id a >> nth=0")
    page.click("text=‹ Cases")
    assert page.url.endswith("#cases?category=join&verdict=failed")
    page.reload()
    assert page.locator("#list td.id a").all_inner_texts() == expected


def test_search_filter_range_sort_and_clear(watched: Watched, page_file: Path, report: Report) -> None:
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
    values = [float(text) for text in page.locator("#list tbody td:last-child").all_inner_texts()]
    assert values == sorted(values)
    page.click("#list th button >> text=output.cells.recall")
    values = [float(text) for text in page.locator("#list tbody td:last-child").all_inner_texts()]
    assert values == sorted(values, reverse=True)


def test_keys(watched: Watched, page_file: Path) -> None:
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


def test_one_case_shows_everything(watched: Watched, page_file: Path, report: Report) -> None:
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#cases", "#case?id=films_0003&p=0&r=0"])
def test_contrast_and_names(browser: Any, page_file: Path, theme: str, fragment: str) -> None:
    watched = Watched(browser, color_scheme=theme)
    page = watched.open(page_file, fragment)
    page.wait_for_selector("main:not([hidden]) h1")
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMED) == []
    assert page.locator("main:not([hidden])").count() == 1
    assert visible(page, "h1") == 1
    page.close()
    assert watched.complaints == []


def test_the_theme_button(browser: Any, page_file: Path) -> None:
    watched = Watched(browser, color_scheme="light")
    page = watched.open(page_file)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == dark
    page.close()


@pytest.mark.parametrize("fragment", ["", "#cases", "#case?id=films_0003&p=0&r=0"])
def test_nothing_overflows_a_phone(browser: Any, page_file: Path, fragment: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(f"file://{page_file}{fragment}")
    page.wait_for_selector("main:not([hidden]) h1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def test_hostile_content_is_inert(watched: Watched, tmp_path: Path, hostile_report: Report) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html.render(hostile_report), encoding="utf-8")
    page = watched.open(path)
    addresses = page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
    assert all(address.startswith("#") for address in addresses)
    page.click("a[data-view=cases]")
    count = page.locator("#list tbody tr").count()
    assert count == len(hostile_report.cases)
    for number in range(count):
        page.click(f"#list tbody tr >> nth={number} >> td.id a")
        page.wait_for_selector("#case h2 >> text=Results")
        assert page.locator("#case .grid thead tr:last-child th").count() <= 40
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        page.click("text=‹ Cases")
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img, main iframe, main svg[onload]").count() == 0


def test_filter_links_find_their_hostile_cases(watched: Watched, tmp_path: Path, hostile_report: Report) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html.render(hostile_report), encoding="utf-8")
    page = watched.open(path)
    for number in range(page.locator(".heat tbody th a").count()):
        page.click(f".heat tbody th a >> nth={number}")
        assert page.locator("#list tbody tr").count() >= 1
        page.click("a[data-view=overview]")


def test_a_thousand_cases_open_fast(watched: Watched, tmp_path: Path, make_report: Callable[..., Report]) -> None:
    path = tmp_path / "large.html"
    path.write_text(html.render(make_report(1000)), encoding="utf-8")
    start = time.monotonic()
    page = watched.open(path, "#cases")
    page.wait_for_selector("#list tbody tr")
    assert time.monotonic() - start < 6  # 2 s on a quiet machine; loaded ones get room
    assert page.locator("#list tbody tr").count() == 100
    page.click("#next")
    assert page.locator("#list td.id a").first.inner_text() == "films_0100"
    spent = page.evaluate(
        "(() => { const box = document.querySelector('#search'); const t = performance.now();"
        "box.value = 'number 7'; box.dispatchEvent(new Event('input')); return performance.now() - t; })()"
    )
    assert spent < 500


def test_the_overview_reads_without_javascript(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{page_file}")
    assert page.locator(".score").is_visible()
    assert page.locator(".causes li").first.is_visible()
    assert page.locator("noscript").count() == 1
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_comparison_page(browser: Any, tmp_path: Path, make_report: Callable[..., Report], theme: str) -> None:
    before, after = make_report(30, seed=1), make_report(30, seed=2)
    path = tmp_path / "compare.html"
    change = compare(before.summary, after.summary)
    path.write_text(comparison.render_html(change, before, after), encoding="utf-8")
    watched = Watched(browser, color_scheme=theme)
    page = watched.open(path)
    assert page.locator("#flips details").count() == len(change.fixed) + len(change.broken) + len(change.flipped)
    page.click("#flips details summary >> nth=0")
    assert page.locator("#flips details[open] .grid >> visible=true").count() == 2
    assert page.evaluate(CONTRAST) == []
    page.close()
    assert watched.complaints == []
    assert all(url.startswith("file://") for url in watched.requests)
