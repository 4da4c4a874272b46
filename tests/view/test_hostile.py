"""Names, SQL, results, notes and addresses that try to break out of the view stay text, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pages import watched
from sqlassay.archive.results import keep
from sqlassay.archive.run_folder import create
from sqlassay.records.execution import Rows
from sqlassay.records.measurement import Bucket
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.trial import Side, Trial
from sqlassay.testing.builders import case, measurement, relation, turn
from sqlassay.view import reviews
from sqlassay.view.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

HOSTILE = (
    "</script><script>window.hurt=1</script><img src=x onerror=window.hurt=1>",
    "javascript:window.hurt=1",
    "\u202edrow\u2066 \x00\x1b[31m\u2028",
    "\"><svg onload=window.hurt=1>{{ 7*7 }}{% for %}' onmouseover='window.hurt=1",
    "a?b#c/../..%2F&id=x;=HYPERLINK(1)",
)
WIDE = Relation(
    columns=tuple(relation(HOSTILE[0].replace(" ", "_")).columns) * 500, rows=[("y" * 1_000_000, *["<b>"] * 499)]
)


def _run(runs: Path, name: str, *, wrong: bool) -> None:
    cases = [case(text, question=text, category=text, tags=(text,), gold_sql=(f"SELECT '{text}'",)) for text in HOSTILE]
    manifest = Manifest(run_id=name, state=RunState.STARTED, signature=HOSTILE[0], started_at=f"2026 {name} <b>")
    with create(runs, manifest) as run:
        run.write_cases(cases)
        for each in cases:
            said = turn(each.id, sql=f"SELECT '{each.id}' -- {name}", question=each.id, answer=each.id)
            gold = Side(sql=each.gold_sql[0], execution=Rows(relation=WIDE))
            found = Side(sql=said.candidate_sql, execution=Rows(relation=relation("a", (each.id,))))
            trial = Trial(case=each, turn=said, golds=(gold,), candidate=found)
            score = measurement(each.id, bucket=Bucket.WRONG_VALUES if wrong else None, evidence=_evidence(each.id))
            score = replace(score, cause=each.id if wrong else None)
            run.add_turn(said)
            run.add_score(
                json.dumps(score.to_dict()).encode(), keep(trial, key=TrialKey(case_id=each.id), database="default")
            )
        run.finish(RunState.COMPLETE, ended_at="<i>")


def _evidence(text: str) -> dict[str, Any]:
    return {
        "component": {"filters": {"gold": [text], "candidate": [], "missing": [text], "extra": [text]}},
        "execution": {"candidate_error": {"kind": text, "message": text}},
        "output": {"pairs": [], "row_key": None},
    }


@pytest.fixture(scope="module")
def hostile_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("hostile") / "runs"
    _run(runs, "first", wrong=True)
    _run(runs, "second", wrong=False)
    return runs


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with watched(browser, asks_only="http://127.0.0.1:") as one:
        yield one
        assert one.evaluate("window.hurt") is None


def _inert(page: Any) -> None:
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img, main iframe, main svg[onload], main [onmouseover], main [onerror]").count() == 0
    addresses = page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.protocol)")
    assert set(addresses) == {"http:"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert "\u202e" not in page.content()
    assert "\x00" not in page.content()


def test_a_comparison_of_hostile_runs_is_text(page: Any, hostile_runs: Path, start: Callable[..., Server]) -> None:
    page.goto(f"{start(hostile_runs).url}compare?before=first&after=second")
    flips = page.locator("#flips details")
    assert flips.count() == len(HOSTILE)
    for number in range(flips.count()):
        flips.nth(number).evaluate("(box) => { box.open = true; }")
    assert page.locator("#flips .grid").count() == 2 * len(HOSTILE)
    assert page.locator("#flips .grid >> nth=0").locator("thead tr:last-child th").count() <= 40
    assert "⟨U+202E⟩" in page.locator("#flips").inner_text()
    assert len(page.content()) < 1_000_000
    _inert(page)


def test_hostile_cases_are_found_opened_and_reviewed(
    page: Any, hostile_runs: Path, start: Callable[..., Server]
) -> None:
    url = f"{start(hostile_runs).url}runs/first/"
    page.goto(url)
    _inert(page)
    for number, text in enumerate(HOSTILE):
        page.goto(f"{url}#cases?bucket=wrong_values")
        page.click(f"#list td.id a >> nth={number}")
        page.wait_for_selector("#case .grid")
        page.fill("#who", HOSTILE[0][:100])
        page.fill("#note", f"{text} {text}")
        page.click("#wrong")
        page.wait_for_selector("#case [role=status] p")
        _inert(page)
    kept = reviews.read(hostile_runs / "first")
    assert sorted(review.case_id for review in kept) == sorted(HOSTILE)
    page.goto(url)
    assert f"0 of {len(HOSTILE)} reviewed verdicts" in page.locator("#overview").inner_text()
    page.reload()
    _inert(page)


def test_hostile_addresses_are_answered_with_plain_text(
    page: Any, hostile_runs: Path, start: Callable[..., Server]
) -> None:
    url = start(hostile_runs).url
    for text in HOSTILE:
        page.goto(f"{url}?" + page.evaluate("(metric) => String(new URLSearchParams({ metric }))", text))
        _inert(page)
        page.goto(
            f"{url}runs/first/#cases?" + page.evaluate("(q) => String(new URLSearchParams({ q, sort: q }))", text)
        )
        page.wait_for_selector("#count")
        _inert(page)
        page.goto(
            f"{url}runs/first/#case?" + page.evaluate("(id) => String(new URLSearchParams({ id: id + '!' }))", text)
        )
        page.wait_for_selector("text=No such case")
        _inert(page)
