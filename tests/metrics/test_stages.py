"""Stage expectations: partial, nested, lists as sets unless ordered; the first that breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.metrics.stages import FAMILY, differences, examine, first_broken_stage
from sqlassay.records.case import Case, Expectation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import Turn, TurnError, TurnErrorKind
from sqlassay.records.value import Ratio, Reason, Undefined


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({}, {"a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": {"b": {"c": "x"}}}, {"a": {"b": {"c": "x", "d": 1}, "e": 2}}),
        ({"t": ["a", "b"]}, {"t": ["b", "a", "a"]}),
        ({"t": [{"n": 1}, {"n": 2}]}, {"t": [{"n": 2, "m": 0}, {"n": 1}]}),
        ({"t": ["a", {"n": 1}]}, {"t": [{"n": 1}, "a"]}),
        ({"t": {"ordered": ["a", "b"]}}, {"t": ["a", "b"]}),
        ({"t": ["a", "b"], "ordered": True}, {"t": ["a", "b"]}),
        ({"ordered": True}, {"ordered": True}),
        ({"a": None}, {}),
        ({"a": None}, {"a": None}),
        ({"t": []}, {"t": []}),
    ],
)
def test_what_matches(expected: Any, actual: Any) -> None:
    assert differences(expected, actual) == ()


@pytest.mark.parametrize(
    ("expected", "actual", "path"),
    [
        ({"a": 1}, {}, "a"),
        ({"a": 1}, {"a": "1"}, "a"),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": "RESOLVED"}, {"a": "resolved"}, "a"),
        ({"a": None}, {"a": 0}, "a"),
        ({"a": {"b": {"c": "x"}}}, {"a": {"b": {"c": "y"}}}, "a.b.c"),
        ({"a": {"b": 1}}, {"a": [1]}, "a"),
        ({"t": ["a", "b"]}, {"t": ["a"]}, "t"),
        ({"t": ["a"]}, {"t": ["a", "b"]}, "t"),
        ({"t": ["a"]}, {"t": "a"}, "t"),
        ({"t": [{"n": 1}]}, {"t": [{"n": 1}, {"n": 2}]}, "t"),
        ({"t": {"ordered": ["a", "b"]}}, {"t": ["b", "a"]}, "t[0]"),
        ({"t": ["a", "b"], "ordered": True}, {"t": ["b", "a"]}, "t[0]"),
        ({"s": {"t": ["a", "b"]}, "ordered": True}, {"s": {"t": ["a", "b", "c"]}}, "s.t"),
        ({"t": ["a"], "ordered": True}, {"t": ["a"], "ordered": False}, "ordered"),
    ],
)
def test_what_differs_and_where(expected: Any, actual: Any, path: str) -> None:
    assert differences(expected, actual)[0].path == path


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("abc", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
)
stage = st.dictionaries(st.text("abc", max_size=2), plain, max_size=4)


@settings(deadline=None)
@given(stage, stage)
def test_a_stage_matches_itself_and_more_of_it_is_free(expected: dict[str, Any], more: dict[str, Any]) -> None:
    assert differences(expected, expected) == ()
    assert differences(expected, {**more, **expected}) == ()


def test_deep_and_large_stages_end() -> None:
    deep: Any = "x"
    for _ in range(3000):
        deep = {"a": deep}
    assert differences(deep, deep)
    assert differences({"t": list(range(20000))}, {"t": list(range(19999, -1, -1))}) == ()


def test_the_first_failing_stage_in_the_order_of_the_case() -> None:
    expected = {"intent": {"k": 1}, "semantic": {"s": 1}, "plan": {"p": 1}, "sql": {"q": 1}}
    assert first_broken_stage(expected, {"sql": {"q": 0}, "plan": {"p": 0}, "intent": {"k": 1}}) == "plan"
    assert first_broken_stage(expected, {"intent": {"k": 1}}) is None


def trial(turn: Turn) -> Trial:
    stages = {"intent": {"k": 1}, "semantic": {"s": 1}, "plan": {"p": 1}}
    return Trial(case=Case(id="a", question="?", expect=Expectation(stages=stages)), turn=turn)


def test_pass_fail_and_not_recorded() -> None:
    seen = examine(trial(Turn(stages={"intent": {"k": 1}, "plan": {"p": 2}})), ScoreSettings())
    assert FAMILY.readings(seen) == {
        "stages.intent": Ratio(hits=1, total=1),
        "stages.semantic": Undefined(reason=Reason.NOT_RECORDED),
        "stages.plan": Ratio(hits=0, total=1),
    }
    evidence = FAMILY.evidence(seen)
    assert evidence["first_broken_stage"] == "plan"
    assert evidence["stages"]["plan"] == {
        "result": "fail",
        "differences": [{"path": "p", "expected": 1, "actual": 2}],
    }


def test_a_case_that_expects_nothing_has_no_reading() -> None:
    seen = examine(Trial(case=Case(id="a", question="?"), turn=Turn(stages={"x": {}})), ScoreSettings())
    assert (FAMILY.readings(seen), FAMILY.evidence(seen)) == ({}, {})


def test_a_lost_agent_is_the_harnesss() -> None:
    lost = Turn(error=TurnError(kind=TurnErrorKind.TRANSPORT, message="gone"))
    found = FAMILY.readings(examine(trial(lost), ScoreSettings()))
    assert set(found.values()) == {Undefined(reason=Reason.HARNESS_FAILED)}
