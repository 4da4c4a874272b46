"""From one trial to one measurement: every family read, one cause, the ceilings met, the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.metrics import causes, execution
from sqlassay.metrics.base import Card, Family
from sqlassay.metrics.registry import families
from sqlassay.records.execution import Account, Rows
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.query import Understanding
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.value import Broken, Ceiling, Reading, Reason, Undefined, verdict
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.rule import TableRule

PASS = Card(
    name="outcome.pass",
    title="Passed",
    question="Did the case end as it should, and is the answer right?",
    formula="1 when the terminal status is the expected one and, with gold SQL, execution.exact is 1; else 0",
    undefined={
        Reason.HARNESS_FAILED: "the harness failed, or nothing could be read from what the agent returned",
        Reason.GOLD_FAILED: "no gold SQL runs",
    },
    source="specification section 6",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What the families said."""

    metrics: dict[str, Reading] = field(default_factory=dict)
    ceilings: set[Ceiling] = field(default_factory=set)
    evidence: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def score(trial: Trial, settings: ScoreSettings = ScoreSettings()) -> Measurement:
    """Measure one trial: deterministic, offline, the same trial gives the same measurement.

    A family that raises gives `Broken` readings and leaves the case unscored as `harness_error`; the other families
    are read all the same.
    """
    read = _Read()
    chosen = _choose(trial, settings, read)
    trial = replace(trial, chosen=chosen)
    seen = replace(trial, fault=causes.fault_of(trial))
    for family in families():
        _examine(family, seen, settings, read)
    gold = trial.golds[chosen] if trial.golds else None
    shape = _shape(trial, read)
    facts = causes.Facts(trial=trial, gold=gold, metrics=read.metrics, shape=shape)
    outcome = causes.decide(facts)
    read.evidence["sql"] = _sql_evidence(gold, trial.candidate)
    stale = _is_stale(trial, gold, settings)
    if stale is not None:
        read.evidence["execution"] = {**read.evidence.get("execution", {}), "gold_rows_stale": stale}
    read.ceilings.update(_own_ceilings(trial, gold, outcome, read))
    return Measurement(
        case_id=trial.case.id,
        phrasing=trial.turn.phrasing,
        repeat=trial.turn.repeat,
        metrics={PASS.name: _pass_reading(outcome), **read.metrics},
        bucket=outcome.bucket,
        cause=outcome.cause,
        shape=shape,
        ceilings=tuple(ceiling for ceiling in Ceiling if ceiling in read.ceilings),
        first_broken_stage=_first_broken_stage(read),
        evidence=read.evidence,
    )


def exact(trial: Trial, settings: ScoreSettings = ScoreSettings()) -> Reading:
    """`execution.exact` alone, as `score` reads it."""
    read = _Read()
    trial = replace(trial, chosen=_choose(trial, settings, read))
    _examine(execution.FAMILY, replace(trial, fault=causes.fault_of(trial)), settings, read)
    return read.metrics["execution.exact"]


def _examine(family: Family[Any], trial: Trial, settings: ScoreSettings, read: _Read) -> None:
    try:
        examined = family.examine(trial, settings)
        readings = dict(family.readings(examined))
        evidence = family.evidence(examined)
        ceilings = set(family.ceilings(examined))
    except Exception as error:  # noqa: BLE001 - a family that fails must not take the case or the run with it
        said = f"{type(error).__name__}: {error}"
        for card in family.cards:
            if "{" not in card.name:
                read.metrics[card.name] = Broken(error=said)
        if not any("{" not in card.name for card in family.cards):
            read.metrics[family.name] = Broken(error=said)
        return
    read.metrics.update(readings)
    read.ceilings.update(ceilings)
    if evidence:
        read.evidence[family.name] = {**read.evidence.get(family.name, {}), **evidence}


def _pass_reading(outcome: causes.Outcome) -> Reading:
    if outcome.passed is not None:
        return verdict(outcome.passed)
    return Undefined(reason=Reason.GOLD_FAILED if outcome.bucket is Bucket.GOLD_ERROR else Reason.HARNESS_FAILED)


def _choose(trial: Trial, settings: ScoreSettings, read: _Read) -> int:
    """Position of the gold that every family uses; the first where choosing itself fails."""
    if len(trial.golds) < 2:
        return 0
    try:
        return execution.choose(trial, settings)
    except Exception as error:  # noqa: BLE001 - as for a family
        read.metrics["execution.exact"] = Broken(error=f"{type(error).__name__}: {error}")
        return 0


def _shape(trial: Trial, read: _Read) -> ShapeLabel | None:
    """The label that the output family gave; `not_run` without a candidate result, none without gold SQL."""
    for family in ("output", "execution"):
        label = read.evidence.get(family, {}).get("shape")
        if label is not None:
            return ShapeLabel(label)
    if trial.case.gold_sql and not isinstance(trial.candidate.execution, Rows):
        return ShapeLabel.NOT_RUN
    return None


def _first_broken_stage(read: _Read) -> str | None:
    found = read.evidence.get("stages", {}).get("first_broken_stage")
    return None if found is None else str(found)


def _own_ceilings(trial: Trial, gold: Side | None, outcome: causes.Outcome, read: _Read) -> Iterable[Ceiling]:
    """The conditions that no single family sees."""
    if outcome.bucket is Bucket.GOLD_ERROR:
        yield Ceiling.GOLD_ERROR
    sides = [side for side in (gold, trial.candidate) if side is not None]
    if any(isinstance(side.execution, Rows) and side.execution.relation.truncated for side in sides):
        yield Ceiling.TRUNCATED
    if any(_is_nondeterministic(side, at=trial.case.at) for side in sides):
        yield Ceiling.NONDETERMINISTIC
    if outcome.passed and _shown_cut(trial):
        yield Ceiling.TRUNCATED_SHOWN
    exact = read.metrics.get("execution.exact")
    if exact == verdict(True) and gold is not None and isinstance(gold.execution, Rows):
        relation = gold.execution.relation
        if relation.height == 1 or relation.height * relation.width == 1:
            yield Ceiling.WEAK_EVIDENCE


def _is_nondeterministic(side: Side, *, at: str | None) -> bool:
    understood = side.comprehension
    if not isinstance(understood, Understanding):
        return False
    return understood.nondeterministic or (understood.clock_bound and at is None)


def _shown_cut(trial: Trial) -> bool:
    returned, execution = trial.turn.returned, trial.candidate.execution
    if returned is None:
        return False
    if returned.truncated is not None:
        return returned.truncated
    shown = returned.row_count if returned.rows is None else len(returned.rows)
    if not isinstance(execution, Rows):
        return False
    if shown is not None:
        return shown < execution.relation.height
    return returned.row_cap is not None and returned.row_cap < execution.relation.height


def _is_stale(trial: Trial, gold: Side | None, settings: ScoreSettings) -> bool | None:
    """Whether the reference result that the case stores is no longer what its gold SQL gives; None where unknown."""
    stored = trial.case.gold_rows
    if stored is None or gold is None or not isinstance(gold.execution, Rows) or gold.execution.relation.truncated:
        return None
    live = gold.execution.relation
    rows = [tuple(row) for row in stored]
    if any(len(row) != live.width for row in rows):
        return True
    rule = TableRule(tolerance=trial.case.tolerance or settings.tolerance, columns="by_position")
    names = tuple(Column(name=column.name) for column in live.columns)
    return not compare_tables(Relation(columns=names, rows=rows), live, rule).exact


def _sql_evidence(gold: Side | None, candidate: Side) -> Mapping[str, Any]:
    """What both sides read (specification section 11), and where engine and parser disagree about it."""
    evidence: dict[str, Any] = {}
    for name, side in (("gold", gold), ("candidate", candidate)):
        tables, base, columns, origins = _reads(side)
        evidence[f"{name}_tables"] = tables
        evidence[f"{name}_base_tables"] = base
        evidence[f"{name}_columns_read"] = columns
        evidence[f"{name}_origins"] = origins
    said = [
        f"{name}: {each}"
        for name, side in (("gold", gold), ("candidate", candidate))
        for each in (() if side is None else side.disagreements)
    ]
    if said:
        evidence["disagreements"] = said
    if gold is not None and isinstance(gold.comprehension, Understanding):
        evidence["gold_canonical"] = gold.comprehension.canonical
    return evidence


_Names = list[str] | None


def _reads(side: Side | None) -> tuple[_Names, _Names, _Names, list[str | None] | None]:
    if side is None or side.sql is None:
        return None, None, None, None
    understood = side.comprehension
    if isinstance(understood, Understanding):
        return (
            list(understood.tables),
            _listed(understood.base_tables),
            list(understood.columns_read),
            list(understood.origins),
        )
    account = side.execution.account if isinstance(side.execution, Rows) else None
    if isinstance(account, Account):
        origins = None if account.origins is None else list(account.origins)
        return _listed(account.tables), _listed(account.base_tables), _listed(account.columns_read), origins
    return None, None, None, None


def _listed(names: tuple[str, ...] | None) -> _Names:
    return None if names is None else list(names)
