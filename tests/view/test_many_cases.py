"""Ten thousand cases in the view: the list, search, filters, pages and one case, in a real browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages import watched
from sqlassay.archive.results import keep
from sqlassay.archive.run_folder import create
from sqlassay.records.execution import Rows
from sqlassay.records.measurement import Bucket
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.trial import Side, Trial
from sqlassay.testing.builders import case, measurement, relation, turn
from sqlassay.view.server import Server, make_server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

CASES = 10_000
WRONG = 7
"""Every so manieth case is wrong."""


def _is_wrong(number: int) -> bool:
    return number % WRONG == 0


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of ten thousand cases, written as runs are written."""
    runs = tmp_path_factory.mktemp("many") / "runs"
    cases = [
        case(
            f"films_{number:05d}",
            question=f"How many films has director number {number}?",
            category=("count", "filter", "join")[number % 3],
            tags=("smoke",) if number % 1000 == 0 else (),
        )
        for number in range(CASES)
    ]
    gold = Side(sql="SELECT 1", execution=Rows(relation=relation("n", (1,), (2,))))
    other = Side(sql="SELECT 2", execution=Rows(relation=relation("n", (1,), (3,))))
    with create(runs, Manifest(run_id="many", state=RunState.STARTED, signature="s", started_at="2026")) as run:
        run.write_cases(cases)
        for number, each in enumerate(cases):
            wrong = _is_wrong(number)
            asked = turn(each.id, question=each.question)
            trial = Trial(case=each, turn=asked, golds=(gold,), candidate=other if wrong else gold)
            score = measurement(each.id, bucket=Bucket.WRONG_VALUES if wrong else None)
            run.add_turn(asked)
            line = json.dumps(score.to_dict()).encode()
            run.add_score(line, keep(trial, key=TrialKey(case_id=each.id), database="default"))
        run.finish(RunState.COMPLETE, ended_at="2026")
    return runs


@pytest.fixture(scope="module")
def server(many: Path) -> Iterator[Server]:
    with make_server(many) as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    with watched(browser, asks_only=server.url) as one:
        one.goto(f"{server.url}runs/many/")
        yield one


def _ids(page: Any) -> list[str]:
    return list(page.locator("#list td.id a").all_inner_texts())


def test_the_list_draws_one_page_and_turns_it(page: Any) -> None:
    page.click("a[data-view=cases]")
    right = sum(not _is_wrong(number) for number in range(CASES))
    counts = f"10,000 of 10,000 · {right} passed, {CASES - right} failed, 0 unscored"
    assert page.locator("#count").inner_text() == counts
    assert _ids(page) == [f"films_{number:05d}" for number in range(100)]
    assert page.evaluate("document.querySelectorAll('#cases *').length") < 3000
    for _ in range(3):
        page.keyboard.press("j")
    assert page.locator("tr[aria-selected=true] td.id a").inner_text() == "films_00003"
    page.click("#next")
    assert (page.locator("#page").inner_text(), _ids(page)[0]) == ("page 2 of 100", "films_00100")
    page.click("#previous")
    assert page.locator("#page").inner_text() == "page 1 of 100"
    page.goto(page.url.split("#")[0] + "#cases?page=100")
    page.wait_for_selector("text=page 100 of 100")
    assert _ids(page)[-1] == "films_09999"


def test_search_filters_and_sorting_reach_every_case(page: Any) -> None:
    page.click("a[data-view=cases]")
    page.fill("#search", "director 98")
    assert _ids(page)[0] == "films_00098"
    page.fill("#search", "number 9876?")
    assert _ids(page) == ["films_09876"]
    page.click("#clear")
    page.select_option("select[name=tag]", "smoke")
    page.select_option("select[name=category]", "filter")
    assert _ids(page) == [f"films_{number:05d}" for number in range(0, CASES, 1000) if number % 3 == 1]
    page.click("#clear")
    page.select_option("select[name=bucket]", "wrong_values")
    page.click("#list th button >> text=Case")
    page.click("#list th button >> text=Case")
    wrong = [number for number in reversed(range(CASES)) if _is_wrong(number)]
    assert _ids(page) == [f"films_{number:05d}" for number in wrong[:100]]


def test_one_case_of_many_is_read_when_it_is_opened(page: Any) -> None:
    page.goto(page.url + "#cases?bucket=wrong_values")
    page.wait_for_selector("#list td.id a")
    page.click("#list td.id a >> nth=99")
    page.wait_for_selector("#case .grid")
    assert page.locator("#case h1").inner_text() == "films_00693"
    assert page.locator("#case .grid .missing td.m, #case .grid td.d").count() > 0
    page.keyboard.press("j")
    page.wait_for_selector("#case h1 >> text=films_00700")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list >> visible=true")
    assert page.url.endswith("#cases?bucket=wrong_values")
