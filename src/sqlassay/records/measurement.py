"""What was measured on one trial: readings by metric name, one cause, ceilings, evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlassay.records.value import Broken, Ceiling, Quantity, Ratio, Reading, Undefined


class Bucket(StrEnum):
    """The one cause of a failing or unscored case, in the order in which they are tried."""

    HARNESS_ERROR = "harness_error"
    EXTRACTOR_EMPTY = "extractor_empty"
    GOLD_ERROR = "gold_error"
    AGENT_ERROR = "agent_error"
    ANSWERED_UNANSWERABLE = "answered_unanswerable"
    WRONG_REFUSAL = "wrong_refusal"
    STEP_BUDGET = "step_budget"
    ASKED_CLARIFICATION = "asked_clarification"
    DECLINED = "declined"
    FELL_BACK = "fell_back"
    NO_QUERY_HALLUCINATION = "no_query_hallucination"
    QUERY_NEVER_RAN = "query_never_ran"
    SQL_ERROR = "sql_error"
    TRUNCATED_CORRECT = "truncated_correct"
    NOTHING_ALIGNED = "nothing_aligned"
    MISSING_COLUMNS = "missing_columns"
    WRONG_ORDER = "wrong_order"
    TOO_MANY_ROWS = "too_many_rows"
    TOO_FEW_ROWS = "too_few_rows"
    WRONG_VALUES = "wrong_values"
    EXTRA_COLUMNS = "extra_columns"
    OTHER_DIFFERENCE = "other_difference"

    @property
    def unscored(self) -> bool:
        return self in (Bucket.HARNESS_ERROR, Bucket.EXTRACTOR_EMPTY, Bucket.GOLD_ERROR)


class ShapeLabel(StrEnum):
    """How the output numbers read together."""

    EXACT = "exact"
    NOT_RUN = "not_run"
    NOTHING_ALIGNED = "nothing_aligned"
    MISSING_COLUMNS = "missing_columns"
    WRONG_ORDER = "wrong_order"
    TOO_MANY_ROWS = "too_many_rows"
    TOO_FEW_ROWS = "too_few_rows"
    WRONG_VALUES = "wrong_values"
    EXTRA_COLUMNS = "extra_columns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A `scores.jsonl` line, as the library returns it (`sqlassay.Score`).

    `evidence` is keyed by family, then by field: `evidence["sql"]["gold_tables"]`.
    """

    case_id: str
    phrasing: int = 0
    repeat: int = 0
    metrics: Mapping[str, Reading] = field(default_factory=dict)
    bucket: Bucket | None = None
    cause: str | None = None
    """The bucket in a sentence that a person understands; None when the case passes."""
    shape: ShapeLabel | None = None
    ceilings: tuple[Ceiling, ...] = ()
    first_broken_stage: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Reading:
        return self.metrics[metric]

    def value(self, metric: str) -> float | None:
        """The reading as a number, None where it is undefined, broken or absent."""
        match self.metrics.get(metric):
            case Ratio() | Quantity() as reading:
                return reading.value
            case _:
                return None

    def to_dict(self) -> dict[str, Any]:
        """A `scores.jsonl` line as a plain mapping."""
        from sqlassay.records.plain import to_plain

        return {
            "case_id": self.case_id,
            "phrasing": self.phrasing,
            "repeat": self.repeat,
            "metrics": {name: _plain_reading(reading) for name, reading in self.metrics.items()},
            "bucket": None if self.bucket is None else self.bucket.value,
            "cause": self.cause,
            "shape": None if self.shape is None else self.shape.value,
            "ceilings": [ceiling.value for ceiling in self.ceilings],
            "first_broken_stage": self.first_broken_stage,
            "evidence": to_plain(self.evidence),
        }


def _plain_reading(reading: Reading) -> dict[str, Any]:
    match reading:
        case Ratio(hits=hits, total=total):
            return {"value": reading.value, "hits": hits, "total": total}
        case Quantity(value=value, unit=unit):
            return {"value": value, "unit": unit}
        case Undefined(reason=reason):
            return {"value": None, "undefined": reason.value}
        case Broken(error=error):
            return {"value": None, "broken": error}
