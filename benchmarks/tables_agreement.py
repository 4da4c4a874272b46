"""How far do deterministic verdicts agree with people? Cohen's kappa on FLEX's expert labels, ours beside plain EX.

    python benchmarks/tables_agreement.py [flex_bird.jsonl]

The file holds previews of both results, not the databases: cells are read back from their printed form, origins are
unknown, and pairs whose preview is cut keep the verdict that BIRD's own script gave.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlassay.records.relation import Column, Relation
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.order import says_order
from sqlassay.tables.rule import Order, TableRule

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
SHAPE = re.compile(r"shape=\((\d+), (\d+)\)\s*$")


def relation(preview: str) -> Relation | None:
    """A result from its preview, None when the preview does not hold all of it."""
    shape = SHAPE.search(preview)
    if shape is None or " chars |" in preview:
        return None
    height, width = map(int, shape.groups())
    lines = [line for line in preview.splitlines() if line.startswith("| ")]
    rows = [tuple(cell(text) for text in line[2:-2].split(" | ")) for line in lines]
    if len(rows) != height or any(len(row) != width for row in rows):
        return None
    return Relation(columns=tuple(Column(name="") for _ in range(width)), rows=rows)


def cell(text: str) -> Any:
    if text in ("None", "NaN", "nan"):
        return None
    if re.fullmatch(r"-?(0|[1-9]\d*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", text) else text


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of two raters over yes/no labels.

    >>> kappa([(True, True), (False, False)])
    1.0
    """
    total = len(pairs)
    observed = Decimal(sum(a == b for a, b in pairs)) / total
    left, right = Decimal(sum(a for a, _ in pairs)) / total, Decimal(sum(b for _, b in pairs)) / total
    chance = left * right + (1 - left) * (1 - right)
    return float((observed - chance) / (1 - chance)) if chance != 1 else 1.0


def interval(pairs: Sequence[tuple[bool, bool]], *, draws: int = 5000) -> tuple[float, float]:
    """A 95 % percentile bootstrap interval, seeded."""
    chance = random.Random(20260101)
    found = sorted(kappa(chance.choices(pairs, k=len(pairs))) for _ in range(draws))
    return found[int(draws * 0.025)], found[int(draws * 0.975)]


def main(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    ours, loose, plain, cut = [], [], [], 0
    remaining = []
    for line in lines:
        people, official = bool(line["human_right"]), bool(line["official_ex"])
        left, right = relation(line["gold_result_preview"]), relation(line["pred_result_preview"])
        verdict = extra = official
        if left is None or right is None or line["preview_truncated"]:
            cut += 1
        else:
            ordered = says_order(line["gold_sql"])
            order = Order(groups=range(left.height)) if ordered else Order()
            found = compare_tables(left, right, TableRule(order=order))
            verdict, extra = found.exact, found.with_extra
        ours.append((verdict, people))
        loose.append((extra, people))
        plain.append((official, people))
        if verdict != people:
            remaining.append((line["id"], "people say right" if people else "people say wrong"))
    print(f"{len(lines)} pairs, {cut} with a preview that is cut")
    for name, pairs in (("exact", ours), ("exact_with_extra", loose), ("plain EX", plain)):
        low, high = interval(pairs)
        same = sum(a == b for a, b in pairs)
        print(f"{name:18} kappa {kappa(pairs):.3f} [{low:.3f}, {high:.3f}], {same} of {len(pairs)} agree")
    for identity, said in remaining:
        print("  ", identity, said)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "human_labels" / "flex_bird.jsonl")
