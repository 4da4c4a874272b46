"""A page of a thousand cases with wide results stays small enough to be an artifact, and opens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.measurement import Bucket
from sqlassay.records.run import Manifest, RunState
from sqlassay.report import html
from sqlassay.report.build import build
from sqlassay.report.model import Report
from sqlassay.summary.aggregate import summarise
from sqlassay.testing.builders import case, measurement, relation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

CASES, ROWS, COLUMNS = 1000, 60, 25


@pytest.fixture(scope="module")
def wide() -> Report:
    """A thousand cases, all failing, with more rows and columns a side than are embedded."""
    names = " ".join(f"column_{number}" for number in range(COLUMNS))
    gold = relation(names, *[tuple(f"gold value {row} of {c}" for c in range(COLUMNS)) for row in range(ROWS)])
    found = relation(names, *[tuple(f"other value {row} of {c}" for c in range(COLUMNS)) for row in range(ROWS)])
    cases = {f"c{number:04d}": case(f"c{number:04d}", question=f"Question {number}?") for number in range(CASES)}
    lines = [measurement(name, bucket=Bucket.WRONG_VALUES) for name in cases]
    return build(
        Manifest(run_id="wide", state=RunState.COMPLETE, signature="s"),
        summarise(lines, cases, signature="s", run_id="wide"),
        measurements=lines,
        cases=cases,
        results=lambda _: (gold, found),
    )


def test_wide_results_are_cut_to_what_fits_and_every_case_opens(watched: Any, tmp_path: Path, wide: Report) -> None:
    text = html.render(wide)
    assert len(text.encode()) < 15_000_000
    assert len(re.findall(r'<script type="application/json" id="d\d+">', text)) == CASES
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    for name in ("c0000", f"c{CASES - 1:04d}"):
        page = watched.open(path, f"#case?id={name}&p=0&r=0")
        page.wait_for_selector("#case .grid")
        assert page.locator("#case .grid tbody tr").count() <= 50
        assert page.locator("#case .grid thead tr:last-child th").count() <= 40
        assert "aligned rows are shown" in page.locator("#case").inner_text()
