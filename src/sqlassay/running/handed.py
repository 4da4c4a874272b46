"""A case and a turn from what a caller of the library hands in: texts, and words as in a case file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlassay.datasets.shorthand import spell_out
from sqlassay.errors import UsageError
from sqlassay.records.case import Case, Shape, Status, Tolerance
from sqlassay.records.plain import to_plain
from sqlassay.records.settings import Rule
from sqlassay.records.strict import from_plain, unknown
from sqlassay.records.turn import CandidateSource, Turn

ShapeGiven = str | Mapping[str, Any] | Shape
ToleranceGiven = str | Mapping[str, Any] | Tolerance | None


def turn_of(candidate: str | None) -> Turn:
    source = CandidateSource.NONE if candidate is None else CandidateSource.DECLARED
    return Turn(status=Status.SUCCESS, candidate_sql=candidate, candidate_source=source)


def rules_named(names: Sequence[str]) -> tuple[Rule, ...]:
    known = [rule.value for rule in Rule]
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if name not in known:
            raise UsageError(unknown("rule", str(name), known)[0], hint=f"one of: {', '.join(known)}")
    return tuple(Rule(name) for name in given)


def case_of(**fields: Any) -> Case:
    """A case from fields written as in a case file, or from our own records."""
    ready = {name: value for name, value in fields.items() if isinstance(value, (Tolerance, *_SHAPES))}
    written = {name: value for name, value in fields.items() if name not in ready and value is not None}
    spelled, problems = spell_out({"id": "", "question": "", **written})
    if problems:
        raise UsageError(
            "; ".join(f"{'.'.join(map(str, p.path))}: {p.message}" for p in problems), hint=problems[0].hint
        )
    ready_plain = {name: to_plain(value) for name, value in ready.items()}
    return from_plain(Case, {**spelled, **ready_plain}, what="case")


_SHAPES: tuple[type[Any], ...] = Shape.__args__
