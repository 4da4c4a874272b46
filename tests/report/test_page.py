"""The page as a file: self-contained, bounded, and inert whatever the run holds."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from sqlassay.report import html, payload
from sqlassay.report.model import Report

_BARE = {"meta", "link", "rect", "input", "br", "img"}


class Reader(HTMLParser):
    """Every element with its attributes, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.code: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._open = (tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.code.append((*self._open, data))


def digest(code: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


@pytest.mark.parametrize("which", ["report", "hostile_report"])
def test_only_our_own_code_may_run(which: str, request: pytest.FixtureRequest) -> None:
    page = Reader(html.render(request.getfixturevalue(which)))
    policy = next(
        a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, attributes, code in page.code:
        if attributes.get("type") == "application/json":
            json.loads(code)
        else:
            assert digest(code) in policy, tag
    running = [code for tag, attributes, code in page.code if tag == "script" and "type" not in attributes]
    assert running == [html.script("report")]


@pytest.mark.parametrize("which", ["report", "hostile_report"])
def test_nothing_is_fetched_and_nothing_listens_inline(which: str, request: pytest.FixtureRequest) -> None:
    for tag, attributes in Reader(html.render(request.getfixturevalue(which))).elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form" if attributes.get("action") else "")
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name != "style"
            if name in ("src", "href", "action", "formaction"):
                assert value is not None
                assert value.startswith("#") or (tag == "link" and value == "data:,"), (tag, value)


def test_a_page_of_a_thousand_cases_is_bounded(make_report: Callable[..., Report]) -> None:
    page = html.render(make_report(1000, rows=200))
    assert len(page.encode()) < 15_000_000
    details = re.findall(r'<script type="application/json" id="d\d+">(.*?)</script>', page)
    assert len(details) == 1000
    for text in details[:50]:
        grid = json.loads(text)["grid"]
        assert len(grid["rows"]) <= 50
        assert sum(column[0] is not None for column in grid["cols"]) <= 20


def test_the_budget_is_kept_and_failing_cases_get_more(make_report: Callable[..., Report]) -> None:
    report = make_report(60, rows=400)
    texts = list(payload.details(report, budget=300_000))
    assert sum(map(len, texts)) <= 300_000
    failing = [len(t) for t, row in zip(texts, report.cases, strict=True) if row.passed is False]
    passing = [len(t) for t, row in zip(texts, report.cases, strict=True) if row.passed]
    assert sum(failing) / len(failing) > sum(passing) / len(passing)
    assert list(payload.details(report, budget=100)) == [""] * 60


def test_one_case_with_monstrous_cells_is_small(hostile_report: Report) -> None:
    for text in payload.details(hostile_report):
        assert 0 < len(text) < 200_000


def test_the_index_tells_what_the_list_needs(report: Report) -> None:
    index = payload.index(report)
    assert [entry["id"] for entry in index["cases"]] == [row.key.case_id for row in report.cases]
    failing = next(entry for entry in index["cases"] if entry["v"] is False)
    assert failing["b"] in index["buckets"]
    assert len(failing["m"]) == len(index["metrics"])


def test_the_same_report_gives_the_same_page(report: Report) -> None:
    assert html.render(report) == html.render(report)


def test_a_self_check_that_is_not_zero_leads_to_its_cases(make_report: Callable[..., Report]) -> None:
    from sqlassay.report.narrative import Check

    for name, link in {
        "harness_errors": {"bucket": "harness_error"},
        "extractor_empty": {"bucket": "extractor_empty"},
        "other_difference": {"bucket": "other_difference"},
        "scorer_disagreements": {"check": "scorer_disagreements"},
        "stages_never_recorded": {},
    }.items():
        assert Check(name=name, count=1, meaning="").filter == link
    index = payload.index(make_report(9))
    assert not any("dis" in entry for entry in index["cases"])
