"""Writes docs/metrics.md from the metrics' own declarations; a test keeps it up to date.

python tools/metric_pages.py
"""

from __future__ import annotations

from pathlib import Path

from sqlassay.metrics.base import Card
from sqlassay.metrics.registry import cards
from sqlassay.report.words import BUCKETS, CEILINGS, FAMILIES, FAMILY_QUESTIONS, REASONS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"


def page() -> str:
    """The whole page."""
    parts = [
        "# Metrics, causes, ceilings and reasons",
        "Written by `tools/metric_pages.py` from the declarations in `sqlassay.metrics`.",
    ]
    by_family: dict[str, list[Card]] = {}
    for card in cards():
        by_family.setdefault(card.name.split(".")[0], []).append(card)
    for family in sorted(by_family, key=FAMILIES.index):
        rows = "\n".join(_row(card) for card in by_family[family])
        parts.append(f"## {family}: {FAMILY_QUESTIONS[family][0].lower()}{FAMILY_QUESTIONS[family][1:]}")
        parts.append(f"| metric | asks | formula | unit | undefined |\n|---|---|---|---|---|\n{rows}")
    parts.append("## Causes\n\nThe first that applies; a passing case has none.")
    parts.append("\n".join(f"- `{bucket.value}`: {words.meaning} {words.remedy}" for bucket, words in BUCKETS.items()))
    parts.append("## Ceilings\n\nWhat limits a measurement in a case: counted, never corrected.")
    parts.append("\n".join(f"- `{ceiling.value}`: {meaning}" for ceiling, meaning in CEILINGS.items()))
    parts.append("## Reasons for undefined")
    parts.append("\n".join(f"- `{reason.value}`: {meaning}" for reason, meaning in REASONS.items()))
    return "\n\n".join(parts) + "\n"


def _row(card: Card) -> str:
    undefined = ", ".join(f"`{reason.value}`" for reason in card.undefined) or "never"
    cells = (f"`{card.name}`", card.question, card.formula, f"{card.unit}, {card.range}", undefined)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
