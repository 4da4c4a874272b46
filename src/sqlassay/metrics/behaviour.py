"""Was answering, asking or declining right? (specification section 5.5)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.case import Status
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import StatusSource, TurnErrorKind
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, verdict

_SOURCE = "specification section 5.5"
_UNDEFINED = {
    Reason.NOT_APPLICABLE: "the case is not one that this share is taken over",
    Reason.NOT_RECORDED: "the turn holds no status",
    Reason.HARNESS_FAILED: "the agent could not be reached, or its answer could not be read",
}

CARDS = (
    Card(
        name="behaviour.refusal_recall",
        title="Refusal recall",
        question="Of the questions that should be refused, how many were refused in any way?",
        formula="refused / should be refused",
        undefined=_UNDEFINED,
        source=_SOURCE,
    ),
    Card(
        name="behaviour.refusal_precision",
        title="Refusal precision",
        question="Of the refusals, how many were of questions that should be refused?",
        formula="rightly refused / refused",
        undefined=_UNDEFINED,
        source=_SOURCE,
    ),
    Card(
        name="behaviour.refusal_kind_accuracy",
        title="Right kind of refusal",
        question="Of the right refusals, how many were of the right kind (asked, declined, fell back)?",
        formula="right kind / rightly refused",
        undefined=_UNDEFINED,
        source=_SOURCE,
    ),
    Card(
        name="behaviour.over_refusal",
        title="Over-refusal",
        question="Of the questions that should be answered, how many were refused?",
        formula="refused / expected SUCCESS",
        better="lower",
        undefined=_UNDEFINED,
        source=_SOURCE,
    ),
    Card(
        name="behaviour.control_over_refusal",
        title="Over-refusal on controls",
        question="Of the negative controls, questions that must simply be answered, how many were refused?",
        formula="refused / controls",
        better="lower",
        undefined=_UNDEFINED,
        source=_SOURCE,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What was expected, what happened, and how that was known; `failed` when the harness is to blame for no answer."""

    expected: Status
    actual: Status | None
    status_source: StatusSource
    control: bool
    failed: bool


def examine(trial: Trial, _settings: ScoreSettings) -> Behaviour:
    """Compare the case's expected terminal status with the turn's."""
    error = trial.turn.error
    lost = error is not None and error.kind in (TurnErrorKind.TRANSPORT, TurnErrorKind.EXTRACTION)
    return Behaviour(
        expected=trial.case.expected_status,
        actual=trial.turn.status,
        status_source=trial.turn.status_source,
        control=trial.case.control,
        failed=trial.turn.status is None and (lost or trial.fault is not None),
    )


def readings(seen: Behaviour) -> Mapping[str, Reading]:
    """One yes or no per share that the case belongs to, so that sums over cases give the shares."""
    return {
        "behaviour.refusal_recall": refusal_recall(seen),
        "behaviour.refusal_precision": refusal_precision(seen),
        "behaviour.refusal_kind_accuracy": refusal_kind_accuracy(seen),
        "behaviour.over_refusal": over_refusal(seen),
        "behaviour.control_over_refusal": control_over_refusal(seen),
    }


def refusal_recall(seen: Behaviour) -> Reading:
    """1 when a question that should be refused was refused in any way; errors and spent budgets are no refusals.

    >>> known = dict(status_source=StatusSource.TYPED, control=False, failed=False)
    >>> refusal_recall(Behaviour(expected=Status.UNSUPPORTED, actual=Status.CLARIFICATION, **known)).value
    1.0
    """
    return _over(seen, counts=seen.expected.is_refusal, holds=_refused(seen))


def refusal_precision(seen: Behaviour) -> Reading:
    """1 when a refusal was of a question that should be refused."""
    return _over(seen, counts=_refused(seen), holds=seen.expected.is_refusal)


def refusal_kind_accuracy(seen: Behaviour) -> Reading:
    """1 when a right refusal is of the expected kind."""
    return _over(seen, counts=seen.expected.is_refusal and _refused(seen), holds=seen.actual is seen.expected)


def over_refusal(seen: Behaviour) -> Reading:
    """1 when a question that should be answered was refused: lower is better."""
    return _over(seen, counts=seen.expected is Status.SUCCESS, holds=_refused(seen))


def control_over_refusal(seen: Behaviour) -> Reading:
    """1 when a negative control was refused: lower is better."""
    return _over(seen, counts=seen.control, holds=_refused(seen))


def evidence(seen: Behaviour) -> Mapping[str, Any]:
    """A cell of the confusion table, and how the status was known."""
    return {
        "expected": seen.expected.value,
        "actual": None if seen.actual is None else seen.actual.value,
        "status_source": None if seen.actual is None else seen.status_source.value,
        "control": seen.control,
    }


def ceilings(_seen: Behaviour) -> Iterable[Ceiling]:
    """None: a status is known or it is not."""
    return ()


def _refused(seen: Behaviour) -> bool:
    return seen.actual is not None and seen.actual.is_refusal


def _over(seen: Behaviour, *, counts: bool, holds: bool) -> Reading:
    if seen.actual is None:
        return Undefined(reason=Reason.HARNESS_FAILED if seen.failed else Reason.NOT_RECORDED)
    return verdict(holds) if counts else Undefined(reason=Reason.NOT_APPLICABLE)


FAMILY: Family[Behaviour] = Family(
    name="behaviour", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings
)
