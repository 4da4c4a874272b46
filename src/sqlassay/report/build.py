"""From the records of a run to the report of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlassay.errors import RecordError
from sqlassay.records.case import (
    Case,
    GroupsShape,
    IdSetShape,
    RankingShape,
    ScalarShape,
    Shape,
    TableShape,
)
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, TrialKey
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.strict import from_plain
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ceiling, Quantity, Ratio, Undefined
from sqlassay.report.alignment import COLUMN_CAP, ROW_CAP, Deciding, Grid, Mark, cell_name, grid
from sqlassay.report.beside import CellRule
from sqlassay.report.cards import CardIndex
from sqlassay.report.model import (
    BucketRow,
    CaseDetail,
    CaseRow,
    ComponentRow,
    FamilyBlock,
    HeatRow,
    MetricRow,
    Report,
    Results,
    ShapeRow,
)
from sqlassay.report.words import BUCKETS, FAMILIES, FAMILY_QUESTIONS
from sqlassay.summary.model import Summary

COMPONENT_SETS = ("tables", "columns", "joins", "filters", "aggregations", "group_by", "ordering")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the records of one trial come from when its details are wanted; each None where it has none."""

    measurement: Callable[[TrialKey], Measurement | None]
    turn: Callable[[TrialKey], Turn | None]
    results: Results | None = None
    raw: Callable[[TrialKey], Mapping[str, str]] | None = None
    """The records as JSON; made from the records themselves where it is None."""


def build(
    manifest: Manifest,
    summary: Summary,
    *,
    measurements: Iterable[Measurement],
    turns: Iterable[Turn] = (),
    cases: Mapping[str, Case],
    results: Results | None = None,
) -> Report:
    """Build the report of a run from records in memory; see `assemble` for where they need not be."""
    scored = {TrialKey(case_id=m.case_id, phrasing=m.phrasing, repeat=m.repeat): m for m in measurements}
    asked = {TrialKey(case_id=t.case_id, phrasing=t.phrasing, repeat=t.repeat): t for t in turns}
    rows = (
        case_row(measurement, case=cases.get(key.case_id), ended=ended(asked.get(key)))
        for key, measurement in scored.items()
    )
    sources = Sources(measurement=scored.get, turn=asked.get, results=results)
    return assemble(manifest, summary, rows=rows, cases=cases, sources=sources)


def assemble(
    manifest: Manifest, summary: Summary, *, rows: Iterable[CaseRow], cases: Mapping[str, Case], sources: Sources
) -> Report:
    """Build the report of a run from one row per trial, as `case_row` makes them.

    `sources` are asked for one trial at a time, when its details are wanted, so that a long run need not be kept.
    """
    contradicted = {outcome.key for outcome in summary.outcomes if outcome.disagrees}
    listed = tuple(
        replace(row, disagrees=True) if row.key in contradicted else row for row in sorted(rows, key=_in_order(cases))
    )
    by_key = {row.key: row for row in listed}
    settings = _settings(manifest)

    def detail(key: TrialKey, rows: int = ROW_CAP, columns: int = COLUMN_CAP) -> CaseDetail | None:
        row = by_key.get(key)
        if row is None:
            return None
        found = _detail(
            row,
            case=cases.get(key.case_id),
            turn=sources.turn(key),
            measurement=sources.measurement(key),
            sides=(None, None) if sources.results is None else sources.results(key),
            run_id=manifest.run_id,
            settings=settings,
            rows=rows,
            columns=columns,
        )
        return found if sources.raw is None else replace(found, raw=sources.raw(key))

    cards = CardIndex()
    columns = _heat_columns(summary)
    return Report(
        manifest=manifest,
        summary=summary,
        families=_families(summary, cards),
        buckets=_buckets(listed),
        shapes=tuple(
            ShapeRow(shape=shape, keys=keys)
            for shape in ShapeLabel
            if (keys := tuple(row.key for row in listed if row.shape is shape))
        ),
        components=_components(summary),
        heat_columns=columns,
        heat=_heat(summary, columns),
        cases=listed,
        detail=detail,
    )


def _in_order(cases: Mapping[str, Case]) -> Callable[[CaseRow], tuple[int, TrialKey]]:
    places = {case_id: place for place, case_id in enumerate(cases)}
    return lambda row: (places.get(row.key.case_id, len(places)), row.key)


Ended = tuple[str, str | None]
"""The question as it was put, empty where that is unknown, and the status in which it ended."""


def ended(turn: Turn | None) -> Ended:
    """What a row keeps of a turn."""
    return ("", None) if turn is None else (turn.question or "", None if turn.status is None else turn.status.value)


def case_row(measurement: Measurement, *, case: Case | None, ended: Ended) -> CaseRow:
    """One trial as the list of cases has it, without its evidence."""
    key = TrialKey(case_id=measurement.case_id, phrasing=measurement.phrasing, repeat=measurement.repeat)
    bucket = measurement.bucket
    values: dict[str, float] = {}
    undefined: dict[str, str] = {}
    for name, reading in measurement.metrics.items():
        if isinstance(reading, Undefined):
            undefined[name] = reading.reason
        elif isinstance(reading, Ratio):
            values[name] = reading.hits / reading.total
        elif isinstance(reading, Quantity):
            values[name] = reading.value
        else:
            undefined[name] = "broken"
    question, status = ended
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
        status=status,
        passed=None if bucket is not None and bucket.unscored else bucket is None,
        bucket=bucket,
        cause=measurement.cause,
        shape=measurement.shape,
        ceilings=tuple(measurement.ceilings),
        first_broken_stage=measurement.first_broken_stage,
        metrics=values,
        undefined=undefined,
        expected=None if case is None else case.expected_status.value,
    )


def _detail(
    row: CaseRow,
    *,
    case: Case | None,
    turn: Turn | None,
    measurement: Measurement | None,
    sides: tuple[Relation | None, Relation | None],
    run_id: str,
    settings: ScoreSettings,
    rows: int,
    columns: int,
) -> CaseDetail:
    evidence: Mapping[str, Any] = {} if measurement is None else measurement.evidence
    execution = evidence.get("execution", {})
    candidate = evidence.get("sql", {}).get("candidate") or (None if turn is None else turn.candidate_sql)
    return CaseDetail(
        row=row,
        case=case,
        turn=turn,
        measurement=measurement,
        grid=_beside(row, sides, case=case, evidence=evidence, settings=settings, rows=rows, columns=columns),
        gold_sql=_gold_sql(case, evidence),
        candidate_sql=candidate,
        gold_error=_error(execution.get("gold_error")),
        candidate_error=_error(execution.get("candidate_error")),
        command=f"sqlassay show {run_id} {_quoted(row.key.case_id)}"
        + (f" --phrasing {row.key.phrasing}" if row.key.phrasing else "")
        + (f" --repeat {row.key.repeat}" if row.key.repeat else ""),
        again=f"sqlassay run --case-id {_quoted(row.key.case_id)}",
    )


def _settings(manifest: Manifest) -> ScoreSettings:
    """How the run compared results; the default where another version wrote what this one cannot read."""
    try:
        return from_plain(ScoreSettings, manifest.settings.get("score", {}))
    except RecordError:
        return ScoreSettings()


def _beside(
    row: CaseRow,
    sides: tuple[Relation | None, Relation | None],
    *,
    case: Case | None,
    evidence: Mapping[str, Any],
    settings: ScoreSettings,
    rows: int,
    columns: int,
) -> Grid | None:
    shape = TableShape() if case is None else case.compare_on
    rule = CellRule.of(settings, None if case is None else case.tolerance)
    execution = evidence.get("execution", {})
    found = grid(
        *sides,
        evidence=evidence.get("output"),
        rule=rule if isinstance(shape, TableShape) else replace(rule, columns="any"),
        ordered=row.shape is ShapeLabel.WRONG_ORDER,
        deciding=_deciding(shape, execution.get("columns")),
        optional=() if case is None else case.optional_columns,
        heights=(_count(execution.get("gold_rows")), _count(execution.get("candidate_rows"))),
        rows=rows,
        columns=columns,
    )
    if found is None or None in (found.gold_rows, found.candidate_rows):
        return found
    return replace(found, notes=(*_what_counts(shape), *_why_right(row, found), *found.notes))


def _deciding(shape: Shape, columns: Any) -> Deciding | None:
    """The columns that the verdict of the case looked at; None where all count or the candidate has none of them."""
    if isinstance(shape, TableShape) or not isinstance(columns, Mapping):
        return None
    gold, candidate = columns.get("gold"), columns.get("candidate")
    if not isinstance(gold, str) or not isinstance(candidate, str):
        return None
    if not isinstance(shape, GroupsShape):
        return Deciding(pairs=((gold, candidate),), key=not isinstance(shape, ScalarShape))
    partners = candidate.split(", ")
    found = tuple(zip(shape.columns, partners, strict=False))
    return Deciding(pairs=found, key=True) if len(partners) == len(shape.columns) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None


def _what_counts(shape: Shape) -> Iterator[str]:
    match shape:
        case IdSetShape(column=column) | RankingShape(column=column):
            yield f"only {cell_name(column)} decides; other columns are free"
        case ScalarShape():
            yield "only the one value decides; other columns are free"
        case GroupsShape(columns=columns):
            yield f"groups by {', '.join(map(cell_name, columns))} decide; order and extra columns are free"


_FREE = {
    Ceiling.TIE_AT_LIMIT: "any of the rows that tie at the LIMIT was accepted",
    Ceiling.NONDETERMINISTIC: "the gold is cut without an order or depends on chance: other rows were accepted",
}


def _why_right(row: CaseRow, found: Grid) -> Iterator[str]:
    """Why an answer is right in spite of rows that differ."""
    if row.shape is ShapeLabel.EXACT and any(line.mark is not Mark.SAME for line in found.rows):
        yield from (_FREE[ceiling] for ceiling in row.ceilings if ceiling in _FREE)


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
