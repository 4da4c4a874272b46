"""Does the candidate SQL name only what the schema has? (specification section 5.7)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.query import Understanding
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, ratio

NAME = "answer.schema_adherence"

CARD = Card(
    name=NAME,
    title="Schema adherence",
    question="Do the tables and columns that the candidate SQL names exist?",
    formula="names the schema has / names in the candidate SQL, each table and column once",
    undefined={
        Reason.NO_SQL: "there is no candidate SQL",
        Reason.UNRESOLVED: "the candidate SQL does not parse",
        Reason.NOT_RECORDED: "the schema is not known",
        Reason.NOTHING_TO_COUNT: "the candidate SQL names no table and no column",
    },
    source="specification section 5.7",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """Names of the candidate SQL, by whether the schema has them."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    undefined: Reason | None = None


def examine(trial: Trial, settings: ScoreSettings) -> Examined:  # noqa: ARG001 - no setting changes it
    """Sort the candidate's names."""
    if trial.candidate.sql is None:
        return Examined(undefined=Reason.NO_SQL)
    understood = trial.candidate.comprehension
    if understood is None:
        return Examined(undefined=Reason.NOT_RECORDED)
    if not isinstance(understood, Understanding):
        return Examined(undefined=Reason.UNRESOLVED)
    return Examined(known=understood.known_names, unknown=understood.unknown_names)


def adherence(examined: Examined) -> Reading:
    """Which share of the named tables and columns exists? 0..1; undefined without candidate SQL or names.

    >>> adherence(Examined(known=("orders", "orders.id"), unknown=("orders.colour",)))
    Ratio(hits=2, total=3)
    """
    if examined.undefined is not None:
        return Undefined(reason=examined.undefined)
    named = len(examined.known) + len(examined.unknown)
    return ratio(len(examined.known), named, otherwise=Reason.NOTHING_TO_COUNT)


def readings(examined: Examined) -> Mapping[str, Reading]:
    """The family's one reading."""
    return {NAME: adherence(examined)}


def evidence(examined: Examined) -> Mapping[str, Any]:
    """The names that the schema does not have."""
    return {"unknown": list(examined.unknown)} if examined.unknown else {}


def ceilings(examined: Examined) -> Iterable[Ceiling]:  # noqa: ARG001 - it meets none of its own
    """None of its own: `unresolved` is reported by the components."""
    return ()


FAMILY: Family[Examined] = Family(
    name="adherence", cards=(CARD,), examine=examine, readings=readings, evidence=evidence, ceilings=ceilings
)
