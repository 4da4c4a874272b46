"""What does comparing one gold result with the candidate's give? Shared by the execution and the output family."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlassay.records.case import (
    GroupsShape,
    IdSetShape,
    Ordered,
    RankingShape,
    ScalarShape,
    TableShape,
)
from sqlassay.records.execution import ErrorKind, NotRun, Rows, SqlError, error_of
from sqlassay.records.query import Ordering, OrderPlan, Understanding
from sqlassay.records.relation import Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.value import Ceiling, Reason
from sqlassay.tables.comparison import Comparison
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.order import OrderFacts, order_of, says_order, settled
from sqlassay.tables.output import Alignment, align
from sqlassay.tables.rule import Facts, Links, Order, TableRule
from sqlassay.tables.shapes import Ground, ShapeError, ShapeVerdict, groups, id_set, ranking, scalar
from sqlassay.tables.tolerance import agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One gold against the candidate.

    `undefined` says why there is no verdict; `exact` is None then. `reference` and `candidate` are the results, None
    where there is none to compare. `comparison` is set for shape `table`, `shape` for the others.
    """

    index: int
    exact: bool | None = None
    undefined: Reason | None = None
    reference: Relation | None = None
    candidate: Relation | None = None
    links: Links = Links()
    comparison: Comparison | None = None
    shape: ShapeVerdict | None = None
    ordered: bool = False
    case_error: str | None = None
    ceilings: frozenset[Ceiling] = frozenset()


def judge(trial: Trial, settings: ScoreSettings, index: int) -> Judged:
    """Compare the candidate's result with that of gold `index` (specification section 5.1)."""
    if not trial.case.gold_sql or not trial.golds:
        reason = Reason.NOT_APPLICABLE if not trial.case.gold_sql else Reason.HARNESS_FAILED
        return Judged(index=index, undefined=reason)
    if trial.fault is not None:
        return Judged(index=index, undefined=Reason.HARNESS_FAILED)
    gold = trial.golds[index]
    if lost(gold) or lost(trial.candidate):
        return Judged(index=index, undefined=Reason.HARNESS_FAILED)
    if not isinstance(gold.execution, Rows):
        return Judged(index=index, undefined=Reason.GOLD_FAILED)
    reference, execution = gold.execution.relation, trial.candidate.execution
    links = links_between(gold, trial.candidate)
    if refused(trial) or not isinstance(execution, Rows):
        unknown = isinstance(execution, NotRun) and trial.candidate.sql is not None and not refused(trial)
        return Judged(
            index=index,
            exact=None if unknown else False,
            undefined=Reason.NOT_RECORDED if unknown else None,
            reference=reference,
        )
    candidate = execution.relation
    if reference.truncated or candidate.truncated:
        return Judged(
            index=index,
            undefined=Reason.TRUNCATED,
            reference=reference,
            candidate=candidate,
            links=links,
            ceilings=frozenset({Ceiling.TRUNCATED}),
        )
    facts = _order(trial, gold, reference, settings)
    try:
        return _compared(trial, settings, index, reference, candidate, links, facts)
    except ShapeError as error:
        return Judged(
            index=index,
            undefined=Reason.GOLD_FAILED,
            reference=reference,
            candidate=candidate,
            links=links,
            case_error=str(error),
        )


def _compared(
    trial: Trial,
    settings: ScoreSettings,
    index: int,
    reference: Relation,
    candidate: Relation,
    links: Links,
    facts: OrderFacts,
) -> Judged:
    case = trial.case
    tolerance = case.tolerance or settings.tolerance
    coercions = coercions_of(settings)
    ceilings = set(facts.ceilings)
    comparison: Comparison | None = None
    shape: ShapeVerdict | None = None
    if isinstance(case.compare_on, TableShape):
        rule = TableRule(
            tolerance=tolerance,
            columns=settings.columns,
            order=facts.order,
            links=links,
            coercions=coercions,
            optional_columns=case.optional_columns,
        )
        comparison = compare_tables(reference, candidate, rule)
        exact = comparison.exact
        ceilings |= comparison.ceilings
    else:
        pools = [row for cut in facts.order.cuts for row in cut.pool]
        grouped = case.compare_on if isinstance(case.compare_on, GroupsShape) else None
        ground = Ground.of(
            reference if grouped is None else settled(reference, candidate, facts.order, grouped.columns),
            candidate,
            links=links,
            agree=agreement(tolerance),
            coercions=coercions,
            threshold=Fraction(str(settings.pair_threshold)),
            pools=pools,
        )
        shape = _by_shape(case.compare_on, ground, facts)
        exact = shape.exact
        if shape.by_hair:
            ceilings.add(Ceiling.DECIDED_BY_TOLERANCE)
        if exact and shape.single:
            ceilings.add(Ceiling.WEAK_EVIDENCE)
        if not reference.height and not candidate.height:
            ceilings.add(Ceiling.BOTH_EMPTY)
        if not isinstance(case.compare_on, RankingShape):
            ceilings.discard(Ceiling.TIES_UNKNOWN)
    return Judged(
        index=index,
        exact=exact,
        reference=reference,
        candidate=candidate,
        links=links,
        comparison=comparison,
        shape=shape,
        ordered=facts.ordered,
        ceilings=frozenset(ceilings),
    )


def coercions_of(settings: ScoreSettings) -> Coercions:
    """The coercions that the settings allow."""
    return Coercions(dates=settings.coerce_dates, booleans=settings.coerce_booleans)


def _by_shape(
    shape: IdSetShape | RankingShape | ScalarShape | GroupsShape, ground: Ground, facts: OrderFacts
) -> ShapeVerdict:
    match shape:
        case IdSetShape(column=column):
            return id_set(ground, column, facts)
        case RankingShape(column=column):
            return ranking(ground, column, facts)
        case ScalarShape():
            return scalar(ground)
        case GroupsShape(columns=columns):
            return groups(ground, columns, facts.order)


_UNKNOWN_ORDER: Final = Ordering(), OrderPlan()
_FREE: Final = OrderFacts(order=Order(), ordered=False)
"""Neither order counts nor does a cut: the usual gold."""


def _order(trial: Trial, gold: Side, reference: Relation, settings: ScoreSettings) -> OrderFacts:
    case, understood = trial.case, gold.comprehension
    ordering, plan = _UNKNOWN_ORDER
    ordered = case.ordered
    if isinstance(understood, Understanding):
        ordering, plan = understood.ordering, understood.order_plan
    elif gold.sql is not None and ordered is Ordered.AUTO and says_order(gold.sql):
        ordered = Ordered.YES
    if isinstance(case.compare_on, RankingShape) and ordered is Ordered.AUTO:
        ordered = Ordered.YES
    if ordered is not Ordered.YES and not ordering.keys and not ordering.limited:
        return _FREE
    auxiliary = gold.auxiliary.relation if isinstance(gold.auxiliary, Rows) else None
    return order_of(reference, ordering=ordering, plan=plan, auxiliary=auxiliary, ordered=ordered, ties=settings.ties)


def lost(side: Side) -> bool:
    """Whether the connection, and not the statement, failed."""
    return isinstance(side.execution, SqlError) and side.execution.kind is ErrorKind.CONNECTION


def refused(trial: Trial) -> bool:
    """Whether the agent refused where an answer was due."""
    status = trial.turn.status
    return status is not None and status.is_refusal and not trial.case.expected_status.is_refusal


def links_between(gold: Side, candidate: Side) -> Links:
    """What is proven about the columns of both sides, by the parser or else by the engine."""
    return Links(reference=facts_of(gold), candidate=facts_of(candidate))


def facts_of(side: Side) -> Facts:
    """Origins and expressions of one side's output columns; nothing where their number is not the result's."""
    relation = side.execution.relation if isinstance(side.execution, Rows) else None
    width = relation.width if relation is not None else None
    understood = side.comprehension
    if isinstance(understood, Understanding) and width in (None, len(understood.origins)):
        return Facts(origins=understood.origins, expressions=understood.expressions, aggregates=understood.aggregates)
    if relation is not None and any(column.origin is not None for column in relation.columns):
        return Facts(origins=tuple(column.origin for column in relation.columns))
    return Facts()


def aligned(trial: Trial, settings: ScoreSettings, judged: Judged) -> Alignment | None:
    """The alignment of both results (specification section 5.3); None when one is missing or cut."""
    if judged.reference is None or judged.candidate is None or judged.undefined is Reason.TRUNCATED:
        return None
    comparison = judged.comparison
    return align(
        judged.reference,
        judged.candidate,
        links=judged.links,
        settings=settings,
        tolerance=trial.case.tolerance,
        optional_columns=trial.case.optional_columns,
        suggested=None if comparison is None else comparison.assignment,
    )


def choose(trial: Trial, settings: ScoreSettings) -> int:
    """Which gold every family uses: the first with exact 1, else the best aligned, then list order.

    Best is by columns.recall, columns.precision, cells.recall, cells.precision. 0 when none of them runs.
    """
    if len(trial.golds) < 2:
        return 0
    best = 0
    best_rank: tuple[Fraction, ...] = (Fraction(-1),) * 5
    for index in range(len(trial.golds)):
        judged = judge(trial, settings, index)
        if judged.exact:
            return index
        if judged.undefined in (Reason.GOLD_FAILED, Reason.HARNESS_FAILED) and judged.case_error is None:
            continue
        rank = (Fraction(0), *_rank(aligned(trial, settings, judged)))
        if rank > best_rank:
            best, best_rank = index, rank
    return best


def _rank(alignment: Alignment | None) -> tuple[Fraction, ...]:
    if alignment is None:
        return (Fraction(-1),) * 4

    def share(hits: Fraction | int, total: int) -> Fraction:
        return Fraction(hits) / total if total else Fraction(-1)

    width = alignment.width
    return (
        share(alignment.column_recall, alignment.reference_columns),
        share(alignment.column_precision, alignment.candidate_columns),
        share(alignment.matched_cells, alignment.reference_rows * width),
        share(alignment.matched_cells, alignment.candidate_rows * width),
    )


_last: tuple[Trial, ScoreSettings, Judged] | None = None
"""The newest judgement: the output family asks for the one that the execution family just made."""


def judged_once(trial: Trial, settings: ScoreSettings) -> Judged:
    """The judgement of the chosen gold, made once per trial."""
    global _last
    last = _last
    if last is not None and last[0] is trial and last[1] is settings:
        return last[2]
    index = trial.chosen or choose(trial, settings)
    judged = judge(trial, settings, index if index < max(1, len(trial.golds)) else 0)
    _last = (trial, settings, judged)
    return judged


def error_evidence(side: Side) -> dict[str, str] | None:
    """`{kind, message}` of a failed side, None when it ran."""
    error = error_of(side.execution)
    return None if error is None else {"kind": error[0].value, "message": error[1]}
