"""The view in a real browser: from all runs to one case, a review, a comparison, and a run that grows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlassay.archive.run_folder import RunWriter
from sqlassay.records.run import RunState
from sqlassay.view import reviews
from sqlassay.view.server import Server

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


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    complaints: list[str] = []
    one = browser.new_page(viewport={"width": 1280, "height": 800})
    one.on("console", lambda message: complaints.append(message.text))
    one.on("pageerror", lambda error: complaints.append(str(error)))
    yield one
    one.close()
    assert complaints == []


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
