"""Where in the agent's pipeline did it break first? (specification section 5.6)"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.plain import to_plain
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import TurnErrorKind
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, verdict

_DEPTH = 60
_SHOWN = 20
_ORDERED = "ordered"

CARDS = (
    Card(
        name="stages.{stage}",
        title="Stage as expected",
        question="Did this stage of the pipeline produce what the case expects of it?",
        formula="1 when the expected mapping is part of the recorded one, else 0",
        undefined={
            Reason.NOT_RECORDED: "the turn does not show this stage",
            Reason.HARNESS_FAILED: "the agent could not be reached, or its answer could not be read",
        },
        source="specification section 5.6",
    ),
)


class StageResult(StrEnum):
    """What became of one expected stage."""

    PASS = "pass"
    FAIL = "fail"
    NOT_RECORDED = "not_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where a stage is not as expected: path in the stage, what was expected there, what was found."""

    path: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One expected stage, examined."""

    name: str
    result: StageResult
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """All expected stages in the order of the case; `failed` when the harness is to blame for a turn without any."""

    stages: tuple[Stage, ...]
    failed: bool = False

    @property
    def first_broken(self) -> str | None:
        """The first failing stage in the case's order; one that was not recorded is not known to be broken."""
        return next((stage.name for stage in self.stages if stage.result is StageResult.FAIL), None)


def examine(trial: Trial, _settings: ScoreSettings) -> Stages:
    """Match every expected stage against the recorded one."""
    error = trial.turn.error
    lost = error is not None and error.kind in (TurnErrorKind.TRANSPORT, TurnErrorKind.EXTRACTION)
    return Stages(
        stages=tuple(
            _examined(name, expected, trial.turn.stages.get(name))
            for name, expected in trial.case.expect.stages.items()
        ),
        failed=not trial.turn.stages and (lost or trial.fault is not None),
    )


def readings(seen: Stages) -> Mapping[str, Reading]:
    """One reading per stage that the case expects something of."""
    return {f"stages.{stage.name}": _reading(stage, failed=seen.failed) for stage in seen.stages}


def evidence(seen: Stages) -> Mapping[str, Any]:
    """Per stage the result and where it differs; the first broken stage."""
    if not seen.stages:
        return {}
    return {
        "stages": {
            stage.name: {"result": stage.result.value, "differences": [to_plain(item) for item in stage.differences]}
            for stage in seen.stages
        },
        "first_broken_stage": seen.first_broken,
    }


def ceilings(_seen: Stages) -> Iterable[Ceiling]:
    """None: what is not recorded is undefined."""
    return ()


def first_broken_stage(expected: Mapping[str, Mapping[str, Any]], recorded: Mapping[str, Any]) -> str | None:
    """The first stage, in the order of `expected`, that is recorded and not as expected.

    >>> first_broken_stage({"intent": {"kind": "COUNT"}, "plan": {"tables": ["a", "b"]}},
    ...                    {"intent": {"kind": "COUNT", "score": 0.9}, "plan": {"tables": ["b"]}})
    'plan'
    """
    return Stages(
        stages=tuple(_examined(name, want, recorded.get(name)) for name, want in expected.items())
    ).first_broken


def differences(expected: Any, actual: Any) -> tuple[Difference, ...]:
    """Where `actual` does not hold what `expected` says.

    Mappings match partially: what is not mentioned is free, and null is what is null or absent. Lists match as sets,
    their members partially. A mapping `{ordered: [...]}`, or `ordered: true` beside lists in a mapping that has no
    such field itself, makes them match member by member in order. Numbers are equal by value; text is exact; a
    boolean is not a number.

    >>> differences({"tables": ["a", "b"]}, {"tables": ["b", "a"], "cost": 3})
    ()
    >>> differences({"tables": {"ordered": ["a", "b"]}}, {"tables": ["b", "a"]})[0].path
    'tables[0]'
    """
    return tuple(_differ(expected, actual, path="", ordered=False, depth=0))


def _examined(name: str, expected: Mapping[str, Any], actual: Mapping[str, Any] | None) -> Stage:
    if actual is None:
        return Stage(name=name, result=StageResult.NOT_RECORDED)
    found = differences(expected, actual)
    return Stage(name=name, result=StageResult.FAIL if found else StageResult.PASS, differences=tuple(found[:_SHOWN]))


def _reading(stage: Stage, *, failed: bool) -> Reading:
    if stage.result is StageResult.NOT_RECORDED:
        return Undefined(reason=Reason.HARNESS_FAILED if failed else Reason.NOT_RECORDED)
    return verdict(stage.result is StageResult.PASS)


def _differ(expected: Any, actual: Any, *, path: str, ordered: bool, depth: int) -> Iterable[Difference]:
    if depth > _DEPTH:
        yield Difference(path=path, expected="...", actual="...")
    elif isinstance(expected, Mapping):
        if _is_list(actual) and set(expected) == {_ORDERED} and _is_list(expected[_ORDERED]):
            yield from _in_order(expected[_ORDERED], actual, path=path, depth=depth)
        elif isinstance(actual, Mapping):
            yield from _in_mapping(expected, actual, path=path, ordered=ordered, depth=depth)
        else:
            yield Difference(path=path, expected=expected, actual=actual)
    elif _is_list(expected):
        if not _is_list(actual):
            yield Difference(path=path, expected=expected, actual=actual)
        elif ordered:
            yield from _in_order(expected, actual, path=path, depth=depth)
        elif not _same_set(expected, actual, depth=depth):
            yield Difference(path=path, expected=expected, actual=actual)
    elif not _same_scalar(expected, actual):
        yield Difference(path=path, expected=expected, actual=actual)


def _in_mapping(
    expected: Mapping[str, Any], actual: Mapping[str, Any], *, path: str, ordered: bool, depth: int
) -> Iterable[Difference]:
    says_ordered = expected.get(_ORDERED) is True and _ORDERED not in actual
    for key, want in expected.items():
        if key == _ORDERED and says_ordered:
            continue
        yield from _differ(
            want,
            actual.get(key),
            path=f"{path}.{key}" if path else str(key),
            ordered=ordered or says_ordered,
            depth=depth + 1,
        )


def _in_order(expected: Sequence[Any], actual: Sequence[Any], *, path: str, depth: int) -> Iterable[Difference]:
    if len(expected) != len(actual):
        yield Difference(path=path, expected=list(expected), actual=list(actual))
        return
    for number, (want, got) in enumerate(zip(expected, actual, strict=True)):
        yield from _differ(want, got, path=f"{path}[{number}]", ordered=True, depth=depth + 1)


def _same_set(expected: Sequence[Any], actual: Sequence[Any], *, depth: int) -> bool:
    """Every expected member is there, and nothing else is; scalars by value, the rest by partial match."""
    plain, rest = _split(expected)
    plain_found, rest_found = _split(actual)
    if plain != plain_found:
        return False
    return all(any(_matches(want, got, depth) for got in rest_found) for want in rest) and all(
        any(_matches(want, got, depth) for want in rest) for got in rest_found
    )


def _split(members: Sequence[Any]) -> tuple[frozenset[Any], list[Any]]:
    plain: set[Any] = set()
    rest: dict[str, Any] = {}
    for member in members:
        if isinstance(member, Mapping) or _is_list(member):
            rest.setdefault(json.dumps(to_plain(member), sort_keys=True), member)
        else:
            plain.add(_key(member))
    return frozenset(plain), list(rest.values())


def _matches(expected: Any, actual: Any, depth: int) -> bool:
    return not any(True for _ in _differ(expected, actual, path="", ordered=False, depth=depth + 1))


def _same_scalar(expected: Any, actual: Any) -> bool:
    return bool(_key(expected) == _key(actual))


def _key(value: Any) -> tuple[str, Any]:
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (int, float)):
        return "number", value
    if isinstance(value, (str, type(None))):
        return "text" if isinstance(value, str) else "null", value
    return type(value).__name__, str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


FAMILY: Family[Stages] = Family(
    name="stages", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings
)
