"""Refusals both ways: readings per case whose sums give the shares of specification section 5.5."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.metrics.behaviour import CARDS, FAMILY, examine
from sqlassay.records.case import Case, Expectation, Status
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import StatusSource, Turn, TurnError, TurnErrorKind
from sqlassay.records.value import Ratio, Reading, Reason, Undefined

S, C, U, F, B, E = (
    Status.SUCCESS,
    Status.CLARIFICATION,
    Status.UNSUPPORTED,
    Status.FALLBACK,
    Status.BUDGET_EXHAUSTED,
    Status.ERROR,
)


def trial(expected: Status, actual: Status | None, *, control: bool = False, error: TurnError | None = None) -> Trial:
    gold = ("SELECT 1",) if expected is S else ()
    return Trial(
        case=Case(id="a", question="?", gold_sql=gold, expect=Expectation(terminal_status=expected), control=control),
        turn=Turn(status=actual, status_source=StatusSource.TYPED, error=error),
    )


def readings(one: Trial) -> dict[str, Reading]:
    return dict(FAMILY.readings(examine(one, ScoreSettings())))


def share(name: str, trials: Iterable[Trial]) -> tuple[float, float]:
    found = [reading for one in trials if isinstance(reading := readings(one)[f"behaviour.{name}"], Ratio)]
    return sum(reading.hits for reading in found), sum(reading.total for reading in found)


RUN = [
    trial(S, S), trial(S, S, control=True), trial(S, C), trial(S, F, control=True), trial(S, B), trial(S, E),
    trial(C, C), trial(C, U), trial(U, U), trial(U, S), trial(F, E), trial(U, B),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "hits", "total"),
    [
        ("refusal_recall", 3, 6),
        ("refusal_precision", 3, 5),
        ("refusal_kind_accuracy", 2, 3),
        ("over_refusal", 2, 6),
        ("control_over_refusal", 1, 2),
    ],
)
def test_shares_counted_by_hand(name: str, hits: int, total: int) -> None:
    assert share(name, RUN) == (hits, total)


def test_an_agent_that_always_asks_scores_badly() -> None:
    asked = [trial(one.case.expected_status, C, control=one.case.control) for one in RUN]
    assert share("refusal_recall", asked) == (6, 6)
    assert share("refusal_precision", asked) == (6, 12)
    assert share("refusal_kind_accuracy", asked) == (2, 6)
    assert share("over_refusal", asked) == (6, 6)


def test_what_a_case_is_no_part_of_is_not_applicable() -> None:
    found = readings(trial(S, S))
    assert found["behaviour.over_refusal"] == Ratio(hits=0, total=1)
    others = {name for name, reading in found.items() if reading == Undefined(reason=Reason.NOT_APPLICABLE)}
    assert others == set(found) - {"behaviour.over_refusal"}


def test_no_status_is_not_recorded_and_a_lost_agent_is_the_harness() -> None:
    assert set(readings(trial(U, None)).values()) == {Undefined(reason=Reason.NOT_RECORDED)}
    lost = TurnError(kind=TurnErrorKind.TRANSPORT, message="gone")
    assert set(readings(trial(U, None, error=lost)).values()) == {Undefined(reason=Reason.HARNESS_FAILED)}


def test_evidence_is_a_cell_of_the_confusion_table() -> None:
    assert FAMILY.evidence(examine(trial(U, C), ScoreSettings())) == {
        "expected": "UNSUPPORTED", "actual": "CLARIFICATION", "status_source": "typed", "control": False,
    }  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(list(Status)), st.none() | st.sampled_from(list(Status)), st.booleans())
def test_every_card_is_read_for_every_combination(expected: Status, actual: Status | None, control: bool) -> None:
    found = readings(trial(expected, actual, control=control))
    assert set(found) == {card.name for card in CARDS}
    assert {reading.value for reading in found.values() if isinstance(reading, Ratio)} <= {0, 1}
