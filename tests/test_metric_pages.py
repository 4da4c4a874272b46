"""The page about metrics says what the metrics declare."""

from __future__ import annotations

from pathlib import Path

import metric_pages
from sqlassay.records.measurement import Bucket
from sqlassay.records.value import Ceiling, Reason

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_is_what_the_declarations_say() -> None:
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == metric_pages.page()


def test_every_cause_ceiling_and_reason_is_explained() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert [word for kind in (Bucket, Ceiling, Reason) for word in kind if f"- `{word.value}`: " not in page] == []
