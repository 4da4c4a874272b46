"""Failing cases grouped by cause, for the next round of fixing."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlassay.records.plain import to_plain
from sqlassay.records.run import TrialKey
from sqlassay.report.model import Report


def to_jsonl(report: Report, *, unscored: bool = False, only: frozenset[TrialKey] | None = None) -> Iterator[str]:
    """One line per failing trial, in the order of the causes' frequency: what a person or a model needs to mend it.

    `unscored` adds the cases that failed through the harness or the gold, after the agent's; `only` keeps to some.
    """
    groups = sorted(report.buckets, key=lambda row: row.bucket.unscored)
    for group in groups:
        if group.bucket.unscored and not unscored:
            continue
        for key in group.keys:
            if only is not None and key not in only:
                continue
            detail = report.detail(key, rows=5)
            assert detail is not None
            evidence = {} if detail.measurement is None else detail.measurement.evidence
            line = {
                "bucket": group.bucket.value,
                "meaning": group.meaning,
                "remedy": group.remedy,
                "case_id": key.case_id,
                "phrasing": key.phrasing,
                "repeat": key.repeat,
                "category": detail.row.category,
                "question": detail.row.question,
                "cause": detail.row.cause,
                "shape": None if detail.row.shape is None else detail.row.shape.value,
                "first_broken_stage": detail.row.first_broken_stage,
                "gold_sql": detail.gold_sql,
                "candidate_sql": detail.candidate_sql,
                "candidate_error": to_plain(evidence.get("execution", {}).get("candidate_error")),
                "answer": None if detail.turn is None else detail.turn.answer,
                "component": to_plain(evidence.get("component", {})),
                "differing_rows": _sample(detail.grid),
                "metrics": dict(detail.row.metrics),
                "command": detail.command,
            }
            yield json.dumps(line, ensure_ascii=True) + "\n"


def _sample(grid: object) -> object:
    from sqlassay.report.alignment import Grid, Mark

    if not isinstance(grid, Grid):
        return None
    return {
        "columns": [{"gold": column.gold, "candidate": column.candidate} for column in grid.columns],
        "rows": [
            {"mark": row.mark.value, "gold": row.gold, "candidate": row.candidate}
            for row in grid.rows
            if row.mark is not Mark.SAME
        ],
    }
