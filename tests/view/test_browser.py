"""The view in a real browser: from all runs to one case, a review, a comparison, and a run that grows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pages import watched
from sqlassay.archive.run_folder import RunWriter
from sqlassay.records.run import RunState
from sqlassay.view import reviews
from sqlassay.view.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with watched(browser, asks_only="http://127.0.0.1:") as one:
        yield one


def test_from_all_runs_to_a_review(page: Any, runs: Path, start: Callable[..., Server]) -> None:
    page.goto(start(runs).url)
    page.click("table a >> text=second")
    page.click("a[data-view=cases]")
    page.click("#list a >> text=b2")
    page.wait_for_selector("#case .grid")
    page.fill("#who", "Ana")
    page.fill("#note", "agreed <b>")
    page.click("#right")
    page.wait_for_selector("text=Ana: right, agreed <b>")
    kept = reviews.read(runs / "second")
    assert [(r.case_id, r.verdict.value, r.who, r.bucket) for r in kept] == [("b2", "right", "Ana", "wrong_values")]
    page.click("a[data-view=overview]")
    page.reload()
    page.wait_for_selector("text=1 of 1 reviewed verdicts")


def test_odd_names_are_found(page: Any, runs: Path, start: Callable[..., Server]) -> None:
    page.goto(f"{start(runs).url}runs/second/#cases?q=c%2F3")
    page.click("#list td.id a")
    page.wait_for_selector("#case .grid")
    assert page.locator("#case h1").inner_text() == "c/3 <b>"


def test_compare_two(page: Any, runs: Path, start: Callable[..., Server]) -> None:
    page.goto(start(runs).url)
    page.click("button >> text=Compare")
    page.wait_for_selector("#flips")
    assert page.locator("#flips details[open] .grid").count() == 2


def test_a_run_grows_before_your_eyes(
    page: Any,
    runs: Path,
    start: Callable[..., Server],
    begin: Callable[[Path, str], RunWriter],
    add: Callable[[RunWriter, str], None],
) -> None:
    server = start(runs)
    with begin(runs, "third") as run:
        add(run, "a1")
        page.goto(f"{server.url}runs/third/")
        assert page.locator("a[data-view=cases]").inner_text() == "Cases 1"
        add(run, "b2")
        page.wait_for_selector("a[data-view=cases] >> text=Cases 2", timeout=20_000)
        run.finish(RunState.COMPLETE, ended_at="now")
    page.wait_for_selector("body[data-state=ended]", timeout=20_000)


@pytest.fixture
def summed(runs: Path) -> Path:
    """The runs with the part of their summaries that the list of runs reads."""
    for name, mean in (("first", 1 / 3), ("second", 2 / 3)):
        plain = {"counts": {"cases": 3, "passed": 3 * mean, "scored": 3}, "self_checks": {"harness_errors": 0}}
        plain["metrics"] = {"execution.exact": {"mean": mean}, "outcome.pass": {"mean": mean}}
        (runs / name / "summary.json").write_text(json.dumps(plain), encoding="utf-8")
    return runs


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_anybody_out_of_the_view(
    page: Any, summed: Path, start: Callable[..., Server], barriers: Callable[[Any], list[str]], theme: str
) -> None:
    server = start(summed)
    page.emulate_media(color_scheme=theme)
    for address, sign in (
        ("", "h1"),
        ("?metric=execution.exact", "svg.trend"),
        ("runs/second/#case?id=b2&p=0&r=0", "#right"),
        ("compare?before=first&after=second", "#flips .grid"),
    ):
        page.goto(server.url + address)
        page.wait_for_selector(sign)
        assert barriers(page) == []


def test_people_and_scorer_agree_by_cause(page: Any, runs: Path, start: Callable[..., Server]) -> None:
    page.goto(f"{start(runs).url}runs/first/")
    for case_id, button, who in (("a1", "#right", "Ana"), ("b2", "#wrong", "Ana"), ("c/3 <b>", "#right", "Bo")):
        page.evaluate("(id) => { location.hash = `case?${new URLSearchParams({ id, p: '0', r: '0' })}` }", case_id)
        page.wait_for_selector(f"#case h1 >> text={case_id}")
        page.fill("#who", who)
        page.click(button)
        page.wait_for_selector(f"text={who}: ")
        assert page.locator("#who").input_value() == who
    page.click("a[data-view=overview]")
    page.reload()
    card = page.locator(".card:has(> h2:text-is('Agreement with people'))")
    # Both say pass once and fail once; Ana alone calls a failure a pass: (2/3 - 4/9) / (1 - 4/9).
    assert "2 of 3 reviewed verdicts were called right; Cohen's kappa 0.40" in card.inner_text()
    rows = [row.split("\t") for row in card.locator("tbody tr").all_inner_texts()]
    assert rows == [["passed", "1", "1", "0.40\nn 3"], ["wrong values", "2", "1", "0.40\nn 3"]]


def test_the_trend_of_any_metric(page: Any, summed: Path, start: Callable[..., Server]) -> None:
    page.goto(start(summed).url)
    page.select_option("select[name=metric]", "execution.exact")
    page.click("button >> text=Show")
    page.wait_for_selector("h2 >> text=execution.exact over the runs")
    assert page.locator("svg.trend .spot").count() == 2
    assert page.locator("tbody tr").first.locator("td").nth(4).inner_text() == "0.6667"


def test_an_answer_of_a_comparison_leads_to_its_case(page: Any, runs: Path, start: Callable[..., Server]) -> None:
    page.goto(f"{start(runs).url}compare?before=first&after=second")
    page.click("#flips details[open] h4 a >> nth=1")
    page.wait_for_selector("#case .grid")
    assert "/runs/second/" in page.url
    assert page.locator("#case h1").inner_text() == "a1"
