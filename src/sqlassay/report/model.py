"""What every rendering reads: one frozen report of one run, with the details of a case made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlassay.records.case import Case
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, TrialKey
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ceiling
from sqlassay.report.alignment import Grid
from sqlassay.summary.model import Estimate, Summary

Results = Callable[[TrialKey], tuple[Relation | None, Relation | None]]
"""The gold and the candidate result of a trial, each None where it was not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric with its card's words and its estimate."""

    name: str
    family: str
    title: str
    question: str
    better: str
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyBlock:
    """The metrics of one family, in the order of their cards."""

    name: str
    question: str
    metrics: tuple[MetricRow, ...]

    @property
    def measured(self) -> tuple[MetricRow, ...]:
        """The metrics that at least one case has."""
        return tuple(row for row in self.metrics if row.estimate.n)

    @property
    def unmeasured(self) -> tuple[MetricRow, ...]:
        """The metrics that no case has."""
        return tuple(row for row in self.metrics if not row.estimate.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRow:
    """A cause with its count, its words, and the cases behind it in run order."""

    bucket: Bucket
    count: int
    title: str
    meaning: str
    remedy: str
    keys: tuple[TrialKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeRow:
    """A shape label of the output numbers with the trials that have it."""

    shape: ShapeLabel
    keys: tuple[TrialKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow:
    """One of the sets of a query: precision and recall, None where no case has it."""

    name: str
    precision: Estimate | None
    recall: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatRow:
    """A slice with one estimate per column of the heat table."""

    dimension: str
    value: str
    cells: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """A trial in the list of cases. `metrics` holds the defined values only."""

    key: TrialKey
    question: str
    category: str | None
    difficulty: str | None
    tags: tuple[str, ...]
    database: str | None
    tables: tuple[str, ...]
    status: str | None
    passed: bool | None
    bucket: Bucket | None
    cause: str | None
    shape: ShapeLabel | None
    ceilings: tuple[Ceiling, ...]
    first_broken_stage: str | None
    metrics: Mapping[str, float]
    undefined: Mapping[str, str] = field(default_factory=dict)
    disagrees: bool = False
    """Two scorers contradict each other here."""
    expected: str | None = None
    """The status in which the case should end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDetail:
    """Everything known of one trial, for the page of one case."""

    row: CaseRow
    case: Case | None
    turn: Turn | None
    measurement: Measurement | None
    grid: Grid | None
    gold_sql: str | None
    """The accepted gold query that was used."""
    candidate_sql: str | None
    gold_error: tuple[str, str] | None = None
    candidate_error: tuple[str, str] | None = None
    command: str = ""
    """Shows this case again at a terminal."""
    again: str = ""
    """Puts the question to the agent again and scores the answer."""
    raw: Mapping[str, str] = field(default_factory=dict)
    """The records as they stand on disk, by what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run as every rendering shows it."""

    manifest: Manifest
    summary: Summary
    families: tuple[FamilyBlock, ...]
    buckets: tuple[BucketRow, ...]
    """Only causes that occurred, most frequent first."""
    shapes: tuple[ShapeRow, ...]
    components: tuple[ComponentRow, ...]
    heat_columns: tuple[str, ...]
    heat: tuple[HeatRow, ...]
    cases: tuple[CaseRow, ...]
    detail: Callable[..., CaseDetail | None]
    """`detail(key, rows=50, columns=20)`: made when asked for, so that a report of many cases stays small."""

    @property
    def headline(self) -> Estimate | None:
        return self.summary.metrics.get("outcome.pass")

    @property
    def failing(self) -> tuple[CaseRow, ...]:
        return tuple(row for row in self.cases if row.passed is False)

    @property
    def unscored(self) -> tuple[CaseRow, ...]:
        return tuple(row for row in self.cases if row.passed is None)
