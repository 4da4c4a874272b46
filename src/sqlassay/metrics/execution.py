"""Did it run, and is it the same answer? (specification section 5.1)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.metrics.others import rule_readings
from sqlassay.metrics.verdicts import Judged, choose, error_evidence, judged_once
from sqlassay.records.case import GroupsShape, IdSetShape, RankingShape
from sqlassay.records.execution import ErrorKind, NotRun, Rows, SqlError
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, ratio, verdict

_GOLD = "no gold SQL runs, or its result does not have the case's shape"
_UNKNOWN: Mapping[Reason, str] = {
    Reason.NOT_APPLICABLE: "the case has no gold SQL",
    Reason.GOLD_FAILED: _GOLD,
    Reason.HARNESS_FAILED: "the connection was lost or the agent could not be reached",
    Reason.TRUNCATED: "a limit of ours cut a side",
    Reason.NOT_RECORDED: "the candidate's result was not kept",
}
_SHARES: Mapping[Reason, str] = {
    **_UNKNOWN,
    Reason.NO_SQL: "there is no candidate result",
    Reason.NO_PAIRS: "the candidate has no such column",
    Reason.EMPTY_RESULT: "the side that would be the denominator is empty",
    Reason.NOTHING_TO_COUNT: "no key matched, or the gold has no totals",
}
_SOURCE = "specification section 5.1"


def _card(name: str, title: str, question: str, formula: str, undefined: Mapping[Reason, str] = _UNKNOWN) -> Card:
    return Card(
        name=f"execution.{name}",
        title=title,
        question=question,
        formula=formula,
        undefined=undefined,
        source=_SOURCE,
    )


CARDS = (
    _card(
        "executable",
        "Executable",
        "Did the candidate SQL run here?",
        "1 when it ran without error; 0 when it failed or there was none",
        {
            Reason.NOT_APPLICABLE: _UNKNOWN[Reason.NOT_APPLICABLE],
            Reason.HARNESS_FAILED: _UNKNOWN[Reason.HARNESS_FAILED],
            Reason.NOT_RECORDED: "the statement was not carried out by us",
        },
    ),
    _card(
        "exact",
        "Exact",
        "Is it the same answer by the case's shape?",
        "1 when the results are equal by the shape (table, id_set, ranking, scalar, groups); else 0",
    ),
    _card(
        "exact_by_position",
        "Exact by position",
        "Would it be the same answer with columns taken by position?",
        "1 when rows are equal with column i against column i; else 0 (shape table)",
    ),
    _card(
        "exact_with_extra",
        "Exact with extra columns",
        "Are the gold's columns all there, right and in whole rows, spurious ones aside?",
        "1 when the rows are equal over some choice of as many candidate columns; else 0 (shape table)",
    ),
    _card(
        "id_precision",
        "Id precision",
        "Which share of the candidate's ids is right?",
        "|gold ids and candidate ids| / |candidate ids|, distinct and not NULL (shapes id_set, ranking)",
        _SHARES,
    ),
    _card(
        "id_recall",
        "Id recall",
        "Which share of the gold's ids was found?",
        "|gold ids and candidate ids| / |gold ids|, distinct and not NULL (shapes id_set, ranking)",
        _SHARES,
    ),
    _card(
        "set_exact",
        "Set exact",
        "Are the right items there, whatever their order?",
        "1 when the sets of ids are equal; else 0 (shape ranking)",
    ),
    _card(
        "group_precision",
        "Group precision",
        "Which share of the candidate's group keys is right?",
        "matched keys / candidate keys; a key that comes twice is an extra key (shape groups)",
        _SHARES,
    ),
    _card(
        "group_recall",
        "Group recall",
        "Which share of the gold's group keys was found?",
        "matched keys / gold keys (shape groups)",
        _SHARES,
    ),
    _card(
        "total_accuracy",
        "Total accuracy",
        "Are the totals of the matched groups right?",
        "agreeing (key, total) cells / matched keys x totals (shape groups)",
        _SHARES,
    ),
    _card(
        "exact@{rule}",
        "Exact by another benchmark's rule",
        "What would the public benchmark's own rule say?",
        "1 when that rule accepts the pair; else 0 (spider, spider_keep_distinct, bird, spider2, defog)",
    ),
    _card(
        "soft_f1@bird",
        "BIRD Soft-F1",
        "What would BIRD's Soft-F1 say?",
        "F1 over cells, rows paired in the order in which they came, as BIRD publishes it",
    ),
    _card(
        "subset@defog",
        "defog subset",
        "Would defog's rule find the gold among the candidate's columns?",
        "1 when the gold's columns are a subset of the candidate's after defog's normalisation; else 0",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """All that the readings of this family are made from."""

    trial: Trial
    judged: Judged
    readings: Mapping[str, Reading]


def examine(trial: Trial, settings: ScoreSettings) -> Examined:
    """Judge the chosen gold and read every metric of the family from that."""
    judged = judged_once(trial, settings)
    readings: dict[str, Reading] = {"execution.executable": executable(trial), "execution.exact": exact(judged)}
    readings |= _by_shape(trial, judged)
    if settings.exact_as:
        readings |= rule_readings(trial, settings.exact_as, judged)
    return Examined(trial=trial, judged=judged, readings=readings)


def executable(trial: Trial) -> Reading:
    """Did the candidate SQL run here? 1 when it did, 0 when it failed or there was none; gold cases only.

    Undefined without gold SQL, through the harness's fault, and when the statement was not carried out by us.
    """
    if not trial.case.gold_sql:
        return Undefined(reason=Reason.NOT_APPLICABLE)
    side = trial.candidate
    match side.execution:
        case Rows():
            return verdict(True)
        case SqlError(kind=ErrorKind.CONNECTION):
            return Undefined(reason=Reason.HARNESS_FAILED)
        case NotRun():
            if trial.fault is not None:
                return Undefined(reason=Reason.HARNESS_FAILED)
            return verdict(False) if side.sql is None else Undefined(reason=Reason.NOT_RECORDED)
        case _:
            return verdict(False)


def exact(judged: Judged) -> Reading:
    """Is it the same answer by the case's shape? 1 or 0; undefined when no verdict can be made."""
    if judged.undefined is not None:
        return Undefined(reason=judged.undefined)
    return verdict(bool(judged.exact))


def _by_shape(trial: Trial, judged: Judged) -> dict[str, Reading]:
    """The readings that belong to the case's shape, under the same reason where there is no verdict."""
    names = _names(trial)
    if judged.undefined is not None:
        return {name: Undefined(reason=judged.undefined) for name in names}
    if judged.comparison is not None:
        return {
            "execution.exact_by_position": verdict(judged.comparison.by_position),
            "execution.exact_with_extra": verdict(judged.comparison.with_extra),
        }
    if judged.shape is not None:
        return {f"execution.{name}": reading for name, reading in judged.shape.readings.items()}
    return {name: _nothing(name, _gold_height(trial, judged)) for name in names}


def _names(trial: Trial) -> tuple[str, ...]:
    match trial.case.compare_on:
        case IdSetShape():
            names: tuple[str, ...] = ("id_precision", "id_recall")
        case RankingShape():
            names = ("id_precision", "id_recall", "set_exact")
        case GroupsShape():
            names = ("group_precision", "group_recall", "total_accuracy")
        case _ if trial.case.compare_on.kind == "table":
            names = ("exact_by_position", "exact_with_extra")
        case _:
            names = ()
    return tuple(f"execution.{name}" for name in names)


def _gold_height(trial: Trial, judged: Judged) -> int | None:
    """How many rows the gold gave, kept or not; None where it gave none."""
    gold = trial.golds[judged.index] if trial.golds else None
    if gold is None or not isinstance(gold.execution, Rows):
        return None
    return gold.execution.relation.height + gold.left_out


def _nothing(name: str, height: int | None) -> Reading:
    """Without a candidate result: verdicts and recalls are 0, what divides by the candidate is undefined."""
    if name.endswith(("precision", "accuracy")):
        return Undefined(reason=Reason.NO_SQL)
    if name.endswith("recall"):
        return ratio(0, height or 0, otherwise=Reason.EMPTY_RESULT)
    return verdict(False)


def readings(examined: Examined) -> Mapping[str, Reading]:
    """The readings by metric name."""
    return examined.readings


def evidence(examined: Examined) -> Mapping[str, Any]:
    """What the verdict rests on (specification section 11)."""
    trial, judged = examined.trial, examined.judged
    if not trial.case.gold_sql:
        return {}
    gold = trial.golds[judged.index] if trial.golds else None
    answer = trial.candidate.execution
    found: dict[str, Any] = {
        "gold_index": judged.index,
        "gold_error": None if gold is None else error_evidence(gold),
        "candidate_error": error_evidence(trial.candidate),
        "gold_rows": _gold_height(trial, judged),
        "candidate_rows": answer.relation.height if isinstance(answer, Rows) else None,
        "ordered": judged.ordered,
    }
    if judged.case_error is not None:
        found["case_error"] = judged.case_error
    if judged.comparison is not None:
        found["assignment"] = None if judged.comparison.assignment is None else list(judged.comparison.assignment)
    if judged.shape is not None:
        found["columns"] = dict(judged.shape.columns)
        found["dropped"] = {name: count for name, count in judged.shape.dropped.items() if count}
    return found


def ceilings(examined: Examined) -> Iterable[Ceiling]:
    """What limits the verdict."""
    trial, judged = examined.trial, examined.judged
    yield from judged.ceilings
    if trial.case.gold_sql and trial.golds and not any(isinstance(g.execution, Rows) for g in trial.golds):
        yield Ceiling.GOLD_ERROR


FAMILY = Family(name="execution", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings)

__all__ = ["CARDS", "FAMILY", "Examined", "choose", "examine"]
