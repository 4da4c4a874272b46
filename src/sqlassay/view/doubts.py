"""Which golds did people call wrong while reviewing runs, and still stand as they were?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlassay.archive.run_folder import runs_in
from sqlassay.datasets.findings import Code, Finding, found
from sqlassay.records.case import Case
from sqlassay.report.inert import line
from sqlassay.view import reviews
from sqlassay.view.reviews import Review, Said


def doubted(runs: Path, cases: Sequence[Case]) -> tuple[Finding, ...]:
    """One finding per case whose gold somebody's last word, over all runs of the folder, calls wrong.

    A gold that was changed since that run is taken for mended. A missing folder has no reviews.
    """
    golds = {case.id: case for case in cases}
    words: dict[tuple[str, str], tuple[Review, bool]] = {}
    for folder in runs_in(runs):
        said = [review for review in reviews.read(folder.path) if review.case_id in golds]
        if not said:
            continue
        asked = {case.id: case.gold_sql for case in folder.cases()}
        for review in said:
            stands = asked.get(review.case_id) == golds[review.case_id].gold_sql
            known = words.get((review.case_id, review.who))
            if known is None or review.at >= known[0].at:
                words[review.case_id, review.who] = review, stands
    doubts = [review for review, stands in words.values() if stands and review.verdict is Said.GOLD_WRONG]
    return tuple(
        _finding(case, [review for review in doubts if review.case_id == case.id])
        for case in cases
        if case.id in {review.case_id for review in doubts}
    )


def with_doubts(findings: Iterable[Finding], doubts: Iterable[Finding], cases: Sequence[Case]) -> tuple[Finding, ...]:
    """All findings in the order of the cases, what people said after what `check` saw itself."""
    places = {case.id: place for place, case in enumerate(cases)}
    return tuple(sorted((*findings, *doubts), key=lambda finding: places.get(finding.case_id or "", -1)))


def _finding(case: Case, doubts: Sequence[Review]) -> Finding:
    said = "; ".join(
        line(review.who or "someone", limit=60) + (f": {line(review.note, limit=200)}" if review.note else "")
        for review in doubts
    )
    return found(
        Code.GOLD_DOUBTED,
        f"the gold was called wrong in a review ({said})",
        remedy="mend the gold, or say in `sqlassay view` that the verdict is right after all",
        case=case,
    )
