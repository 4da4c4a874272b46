"""Small measurements and cases for tests, without a database or an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlassay.records.case import Case, Expectation, Status
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Column, Relation
from sqlassay.records.turn import CandidateSource, Turn
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, verdict

_UNSCORED_REASON = {
    Bucket.HARNESS_ERROR: Reason.HARNESS_FAILED,
    Bucket.EXTRACTOR_EMPTY: Reason.HARNESS_FAILED,
    Bucket.GOLD_ERROR: Reason.GOLD_FAILED,
}


def case(id: str = "a", **fields: Any) -> Case:
    """A case with gold SQL, or a behaviour case when `expected` is a refusal.

    >>> case("r", expected=Status.CLARIFICATION).gold_sql
    ()
    """
    expected = fields.pop("expected", Status.SUCCESS)
    gold = () if expected is not Status.SUCCESS else ("SELECT 1",)
    defaults: dict[str, Any] = {
        "question": f"What is {id}?",
        "gold_sql": gold,
        "expect": Expectation(terminal_status=expected),
    }
    return Case(id=id, **{**defaults, **fields})


def measurement(
    case_id: str = "a",
    *,
    bucket: Bucket | None = None,
    metrics: Mapping[str, Reading] | None = None,
    ceilings: Sequence[Ceiling] = (),
    evidence: Mapping[str, Any] | None = None,
    phrasing: int = 0,
    repeat: int = 0,
    first_broken_stage: str | None = None,
    shape: ShapeLabel | None = None,
) -> Measurement:
    """A measurement whose headline metrics follow from its bucket; `metrics` adds to them or replaces them.

    >>> measurement(bucket=Bucket.GOLD_ERROR)["execution.exact"]
    Undefined(reason=<Reason.GOLD_FAILED: 'gold_failed'>)
    """
    reading: Reading
    if bucket is not None and bucket.unscored:
        reading = Undefined(reason=_UNSCORED_REASON[bucket])
    else:
        reading = verdict(bucket is None)
    return Measurement(
        case_id=case_id,
        phrasing=phrasing,
        repeat=repeat,
        metrics={"outcome.pass": reading, "execution.exact": reading, **(metrics or {})},
        bucket=bucket,
        cause=None if bucket is None else f"because of {bucket.value}",
        shape=shape or (ShapeLabel.EXACT if bucket is None else None),
        ceilings=tuple(ceilings),
        first_broken_stage=first_broken_stage,
        evidence=evidence or {},
    )


def turn(case_id: str = "a", *, sql: str | None = "SELECT 1", **fields: Any) -> Turn:
    """A turn that answered with `sql`.

    >>> turn("b").status.value
    'SUCCESS'
    """
    defaults: dict[str, Any] = {
        "question": f"What is {case_id}?",
        "status": Status.SUCCESS,
        "candidate_source": CandidateSource.NONE if sql is None else CandidateSource.DECLARED,
    }
    return Turn(case_id=case_id, candidate_sql=sql, **{**defaults, **fields})


def relation(columns: str, *rows: Sequence[Any]) -> Relation:
    """A table from column names separated by blanks, and its rows.

    >>> relation("id name", (1, "a"), (2, "b")).height
    2
    """
    return Relation(columns=tuple(Column(name=name) for name in columns.split()), rows=[tuple(row) for row in rows])
