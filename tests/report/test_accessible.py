"""Who can read the page: in either theme, on a phone, by screen reader, without JavaScript, on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlassay.report import comparison, html
from sqlassay.report.model import Report
from sqlassay.summary.compare import compare

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
CASE = "#case?id=films_0003&p=0&r=0"
PAGES = pytest.mark.parametrize("fragment", ["", "#cases", "#cases?q=nothing", CASE, "#case?id=no"])

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

UNFOLD = "for (const box of document.querySelectorAll('details')) box.open = true"
WIDER = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture(scope="module")
def change_file(tmp_path_factory: pytest.TempPathFactory, make_report: Callable[..., Report]) -> Path:
    before, after = make_report(30, seed=1), make_report(30, seed=2)
    path = tmp_path_factory.mktemp("change") / "compare.html"
    path.write_text(comparison.render_html(compare(before.summary, after.summary), before, after), encoding="utf-8")
    return path


@THEMES
@PAGES
def test_nothing_keeps_anybody_out(
    watch: Callable[..., Any], page_file: Path, barriers: Callable[[Any], list[str]], theme: str, fragment: str
) -> None:
    page = watch(color_scheme=theme).open(page_file, fragment)
    page.wait_for_selector("main:not([hidden]) h1")
    page.evaluate(UNFOLD)
    assert barriers(page) == []
    assert page.evaluate(CONTRAST) == []
    assert page.locator("main:not([hidden])").count() == 1
    assert page.locator("h1 >> visible=true").count() == 1


@THEMES
def test_nothing_keeps_anybody_out_of_a_comparison(
    watch: Callable[..., Any], change_file: Path, barriers: Callable[[Any], list[str]], theme: str
) -> None:
    page = watch(color_scheme=theme).open(change_file)
    page.evaluate(UNFOLD)
    assert barriers(page) == []
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("which", ["report", "hostile_report"])
def test_hostile_texts_keep_nobody_out(
    watched: Any, tmp_path: Path, barriers: Callable[[Any], list[str]], which: str, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "page.html"
    path.write_text(html.render(request.getfixturevalue(which)), encoding="utf-8")
    assert barriers(watched.open(path)) == []


def test_the_comparison_has_both_answers_of_each_flip(
    watched: Any, change_file: Path, make_report: Callable[..., Report]
) -> None:
    before, after = make_report(30, seed=1), make_report(30, seed=2)
    change = compare(before.summary, after.summary)
    page = watched.open(change_file)
    assert page.locator("main > section").first.get_attribute("id") == "flips"
    flipped = [flip.case_id for flip in (*change.broken, *change.fixed, *change.flipped)]
    assert page.locator("#flips summary .mono").all_inner_texts() == flipped
    page.click("#flips details summary >> nth=0")
    assert page.locator("#flips details[open] .grid >> visible=true").count() == 2
    assert page.locator("#flips details[open] .two pre.sql").count() == 2


def test_the_theme_button(watch: Callable[..., Any], page_file: Path) -> None:
    page = watch(color_scheme="light").open(page_file)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == dark


@PAGES
@pytest.mark.parametrize("width", [340, 390, 820])
def test_nothing_overflows_a_small_screen(
    watch: Callable[..., Any], page_file: Path, width: int, fragment: str
) -> None:
    page = watch(viewport={"width": width, "height": 800}).open(page_file, fragment)
    page.wait_for_selector("main:not([hidden]) h1")
    assert not page.evaluate(WIDER)


def test_a_comparison_fits_a_phone(watch: Callable[..., Any], change_file: Path) -> None:
    page = watch(viewport={"width": 390, "height": 800}).open(change_file)
    page.click("#flips details summary >> nth=0")
    assert not page.evaluate(WIDER)


def test_on_a_phone_the_filters_are_folded(watch: Callable[..., Any], page_file: Path) -> None:
    page = watch(viewport={"width": 390, "height": 800}).open(page_file, "#cases")
    assert page.locator("#search").is_visible()
    assert not page.locator("select[name=category]").is_visible()
    page.click("summary >> text=Filters")
    page.select_option("select[name=category]", "join")
    assert "category=join" in page.url


def test_the_overview_reads_without_javascript(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{page_file}")
    assert page.locator(".score").is_visible()
    assert page.locator(".causes li").first.is_visible()
    assert page.locator("noscript").count() == 1
    context.close()


@THEMES
@pytest.mark.parametrize("fragment", ["", CASE])
def test_paper_is_white_and_everything_is_on_it(
    watch: Callable[..., Any], page_file: Path, theme: str, fragment: str
) -> None:
    page = watch(color_scheme=theme, viewport={"width": 760, "height": 1000}).open(page_file, fragment)
    page.wait_for_selector("main:not([hidden]) h1")
    if theme == "dark":
        page.click("#theme")
        page.click("#theme")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(CONTRAST.replace("main:not([hidden]) *, header *", "main:not([hidden]) *")) == []
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert min(red, green, blue) > 240
    assert not page.locator("header.top").is_visible()
    assert page.locator("main:not([hidden]) details:not([open], .no-print)").count() == 0
    assert not page.evaluate(WIDER)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main:not([hidden]) details[open]").count() == 0
