"""What every rendering reads: one frozen report of one run, with the details of a case made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlassay.records.case import Case, Ordered
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, TrialKey
from sqlassay.records.turn import Turn
from sqlassay.records.value import Broken, Ceiling, Undefined
from sqlassay.report.alignment import COLUMN_CAP, ROW_CAP, Grid, grid
from sqlassay.report.cards import CardIndex
from sqlassay.report.words import BUCKETS, FAMILIES, FAMILY_QUESTIONS
from sqlassay.summary.model import Estimate, Summary

Results = Callable[[TrialKey], tuple[Relation | None, Relation | None]]
"""The gold and the candidate result of a trial, each None where it was not kept."""

COMPONENT_SETS = ("tables", "columns", "joins", "filters", "aggregations", "group_by", "ordering")


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


def build(
    manifest: Manifest,
    summary: Summary,
    *,
    measurements: Iterable[Measurement],
    turns: Iterable[Turn] = (),
    cases: Mapping[str, Case],
    results: Results | None = None,
) -> Report:
    """Build the report of a run. `results` is called for one trial at a time, when its details are wanted."""
    scored = {TrialKey(case_id=m.case_id, phrasing=m.phrasing, repeat=m.repeat): m for m in measurements}
    asked = {TrialKey(case_id=t.case_id, phrasing=t.phrasing, repeat=t.repeat): t for t in turns}
    contradicted = {outcome.key for outcome in summary.outcomes if outcome.disagrees}
    rows = tuple(
        _row(
            key,
            disagrees=key in contradicted,
            measurement=scored[key],
            turn=asked.get(key),
            case=cases.get(key.case_id),
        )
        for key in sorted(scored, key=_in_order(cases))
    )
    by_key = {row.key: row for row in rows}

    def detail(key: TrialKey, rows: int = ROW_CAP, columns: int = COLUMN_CAP) -> CaseDetail | None:
        row = by_key.get(key)
        if row is None:
            return None
        return _detail(
            row,
            case=cases.get(key.case_id),
            turn=asked.get(key),
            measurement=scored[key],
            sides=(None, None) if results is None else results(key),
            run_id=manifest.run_id,
            rows=rows,
            columns=columns,
        )

    cards = CardIndex()
    columns = _heat_columns(summary)
    return Report(
        manifest=manifest,
        summary=summary,
        families=_families(summary, cards),
        buckets=_buckets(rows),
        shapes=tuple(
            ShapeRow(shape=shape, keys=keys)
            for shape in ShapeLabel
            if (keys := tuple(row.key for row in rows if row.shape is shape))
        ),
        components=_components(summary),
        heat_columns=columns,
        heat=_heat(summary, columns),
        cases=rows,
        detail=detail,
    )


def _in_order(cases: Mapping[str, Case]) -> Callable[[TrialKey], tuple[int, TrialKey]]:
    places = {case_id: place for place, case_id in enumerate(cases)}
    return lambda key: (places.get(key.case_id, len(places)), key)


def _row(key: TrialKey, *, measurement: Measurement, turn: Turn | None, case: Case | None, disagrees: bool) -> CaseRow:
    bucket = measurement.bucket
    values: dict[str, float] = {}
    undefined: dict[str, str] = {}
    for name, reading in measurement.metrics.items():
        match reading:
            case Undefined(reason=reason):
                undefined[name] = reason.value
            case Broken():
                undefined[name] = "broken"
            case _:
                values[name] = reading.value
    question = turn.question if turn is not None and turn.question else ""
    if not question and case is not None:
        question = case.wording(key.phrasing) if key.phrasing <= len(case.phrasings) else case.question
    return CaseRow(
        key=key,
        question=question,
        category=None if case is None else case.category,
        difficulty=None if case is None else case.difficulty,
        tags=() if case is None else case.tags,
        database=None if case is None else case.database,
        tables=tuple(str(name) for name in measurement.evidence.get("sql", {}).get("gold_tables") or ()),
        status=None if turn is None or turn.status is None else turn.status.value,
        passed=None if bucket is not None and bucket.unscored else bucket is None,
        bucket=bucket,
        cause=measurement.cause,
        shape=measurement.shape,
        ceilings=tuple(measurement.ceilings),
        first_broken_stage=measurement.first_broken_stage,
        metrics=values,
        undefined=undefined,
        disagrees=disagrees,
        expected=None if case is None else case.expected_status.value,
    )


def _detail(
    row: CaseRow,
    *,
    case: Case | None,
    turn: Turn | None,
    measurement: Measurement,
    sides: tuple[Relation | None, Relation | None],
    run_id: str,
    rows: int,
    columns: int,
) -> CaseDetail:
    evidence = measurement.evidence
    execution = evidence.get("execution", {})
    ordered = case is not None and (case.ordered is Ordered.YES or case.compare_on.kind == "ranking")
    candidate = evidence.get("sql", {}).get("candidate") or (None if turn is None else turn.candidate_sql)
    return CaseDetail(
        row=row,
        case=case,
        turn=turn,
        measurement=measurement,
        grid=grid(
            *sides,
            evidence=evidence.get("output"),
            ordered=ordered or row.shape is ShapeLabel.WRONG_ORDER,
            rows=rows,
            columns=columns,
        ),
        gold_sql=_gold_sql(case, evidence),
        candidate_sql=candidate,
        gold_error=_error(execution.get("gold_error")),
        candidate_error=_error(execution.get("candidate_error")),
        command=f"sqlassay show {run_id} {_quoted(row.key.case_id)}"
        + (f" --phrasing {row.key.phrasing}" if row.key.phrasing else "")
        + (f" --repeat {row.key.repeat}" if row.key.repeat else ""),
        again=f"sqlassay run --case-id {_quoted(row.key.case_id)}",
    )


def _gold_sql(case: Case | None, evidence: Mapping[str, Any]) -> str | None:
    if case is None or not case.gold_sql:
        return None
    used = evidence.get("execution", {}).get("gold_index", 0)
    return case.gold_sql[used] if isinstance(used, int) and 0 <= used < len(case.gold_sql) else case.gold_sql[0]


def _error(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    return str(value.get("kind", "other")), str(value.get("message", ""))


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


def _families(summary: Summary, cards: CardIndex) -> tuple[FamilyBlock, ...]:
    members: dict[str, list[MetricRow]] = {family: [] for family in FAMILIES}
    for name, estimate in summary.metrics.items():
        family = name.split(".", 1)[0]
        card = cards.find(name)
        members.setdefault(family, []).append(
            MetricRow(
                name=name,
                family=family,
                title=cards.title(name),
                question=card.question if card else "",
                better=card.better if card else ("lower" if family == "cost" else "higher"),
                estimate=estimate,
            )
        )
    return tuple(
        FamilyBlock(
            name=family,
            question=FAMILY_QUESTIONS.get(family, ""),
            metrics=tuple(sorted(rows, key=lambda row: cards.place(row.name))),
        )
        for family, rows in members.items()
        if rows
    )


def _buckets(rows: tuple[CaseRow, ...]) -> tuple[BucketRow, ...]:
    members: dict[Bucket, list[TrialKey]] = {}
    for row in rows:
        if row.bucket is not None:
            members.setdefault(row.bucket, []).append(row.key)
    order = list(Bucket)
    return tuple(
        BucketRow(
            bucket=bucket,
            count=len(keys),
            title=BUCKETS[bucket].title,
            meaning=BUCKETS[bucket].meaning,
            remedy=BUCKETS[bucket].remedy,
            keys=tuple(keys),
        )
        for bucket, keys in sorted(members.items(), key=lambda item: (-len(item[1]), order.index(item[0])))
    )


def _components(summary: Summary) -> tuple[ComponentRow, ...]:
    rows = (
        ComponentRow(
            name=name,
            precision=summary.metrics.get(f"component.{name}.precision"),
            recall=summary.metrics.get(f"component.{name}.recall"),
        )
        for name in COMPONENT_SETS
    )
    return tuple(row for row in rows if row.precision is not None or row.recall is not None)


_HEAT = (
    "outcome.pass",
    "execution.executable",
    "execution.exact",
    "retrieval.direct.recall",
    "retrieval.in_turn.recall",
    "output.columns.recall",
    "output.cells.recall",
    "output.cells.precision",
    "component.tables.recall",
    "component.joins.recall",
    "component.filters.recall",
    "answer.grounded_numbers",
)
"""One or two telling metrics per family: the columns of the heat table."""


def _heat_columns(summary: Summary) -> tuple[str, ...]:
    return tuple(name for name in _HEAT if name in summary.metrics and summary.metrics[name].n)


def _heat(summary: Summary, columns: tuple[str, ...]) -> tuple[HeatRow, ...]:
    return tuple(
        HeatRow(dimension=dimension, value=value, cells=tuple(metrics.get(name) for name in columns))
        for dimension, values in summary.slices.items()
        for value, metrics in values.items()
    )
