"""What did the turn take? (specification section 5.8)"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.execution import Rows
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import Usage
from sqlassay.records.value import Ceiling, Quantity, Reading, Reason, Undefined, ratio

_SOURCE = "specification section 5.8"
_UNKNOWN = {Reason.NOT_RECORDED: "the agent does not tell, and the adapter cannot see it"}


def _card(name: str, title: str, question: str, unit: str, formula: str) -> Card:
    return Card(
        name=f"cost.{name}",
        title=title,
        question=question,
        formula=formula,
        unit=unit,
        range="0..",
        better="lower",
        undefined=_UNKNOWN,
        source=_SOURCE,
    )


_USAGE = (
    ("latency_s", "Latency", "How long did the agent take to answer?", "seconds", "seconds from question to answer"),
    ("steps", "Steps", "How many steps did the agent take?", "count", "steps"),
    ("model_calls", "Model calls", "How often was a model called?", "count", "model calls"),
    ("tool_calls", "Tool calls", "How often was a tool called?", "count", "tool calls"),
    ("tokens_in", "Tokens in", "How many tokens were sent to models?", "tokens", "input tokens"),
    ("tokens_out", "Tokens out", "How many tokens did models write?", "tokens", "output tokens"),
    ("cost_usd", "Cost", "What did the models cost?", "usd", "US dollars"),
)
"""Fields of the turn's usage that are read as they stand."""

CARDS = (
    *(_card(*usage) for usage in _USAGE),
    _card(
        "statements",
        "Statements executed",
        "How many statements did the agent execute?",
        "count",
        "statements known to have been executed, look-ups included",
    ),
    Card(
        name="cost.statements_failed",
        title="Statements failed",
        question="Of the statements that the agent executed, how many failed?",
        formula="failed / executed with a known outcome",
        better="lower",
        undefined={Reason.NOTHING_TO_COUNT: "no statement with a known outcome was executed"},
        source=_SOURCE,
    ),
    Card(
        name="cost.time_ratio",
        title="Time against the gold",
        question="How long does the answer query take, measured in gold queries?",
        formula="time of candidate / time of gold, in the same snapshot",
        unit="ratio",
        range="0..",
        better="lower",
        undefined={
            Reason.NO_SQL: "the candidate gave no result",
            Reason.GOLD_FAILED: "no gold SQL ran",
            Reason.NOT_APPLICABLE: "the case has no gold SQL",
            Reason.NOT_RECORDED: "a side was not timed",
        },
        source=_SOURCE,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The turn's usage, its statements counted, and the seconds of both sides where they ran.

    `statements` is None where the record cannot tell whether all were executed, or whether there were any.
    """

    usage: Usage
    statements: int | None
    known: int
    failed: int
    candidate_s: float | None
    gold_s: float | None
    has_gold: bool


def examine(trial: Trial, _settings: ScoreSettings) -> Cost:
    """Count the turn's statements and take both sides' times."""
    queries = trial.turn.queries
    executed = [query for query in queries if query.executed is True]
    outcomes = [query.succeeded for query in executed if query.succeeded is not None]
    unknown = (
        any(query.executed is None for query in queries)
        or not trial.turn.statements_complete
        or (not queries and trial.turn.usage.tool_calls != 0)
    )
    golds = [side.execution for side in (*trial.golds[trial.chosen :], *trial.golds)]
    return Cost(
        usage=trial.turn.usage,
        statements=None if unknown else len(executed),
        known=len(outcomes),
        failed=outcomes.count(False),
        candidate_s=_seconds(trial.candidate.execution),
        gold_s=next((_seconds(execution) for execution in golds if isinstance(execution, Rows)), None),
        has_gold=bool(trial.case.gold_sql or golds),
    )


def readings(seen: Cost) -> Mapping[str, Reading]:
    """Quantities as recorded; what is unknown is undefined and never 0."""
    found: dict[str, Reading] = {
        f"cost.{name}": _quantity(getattr(seen.usage, name), unit) for name, _, _, unit, _ in _USAGE
    }
    found["cost.statements"] = _quantity(seen.statements, "count")
    found["cost.statements_failed"] = ratio(seen.failed, seen.known, otherwise=Reason.NOTHING_TO_COUNT)
    found["cost.time_ratio"] = time_ratio(seen)
    return found


def time_ratio(seen: Cost) -> Reading:
    """Time of the candidate over time of the gold, 0 and above; 1 is as fast as the gold.

    >>> usage = dict(usage=Usage(), statements=None, known=0, failed=0, has_gold=True)
    >>> time_ratio(Cost(candidate_s=0.3, gold_s=0.2, **usage)).value
    1.5
    """
    if not seen.has_gold:
        return Undefined(reason=Reason.NOT_APPLICABLE)
    if seen.gold_s is None:
        return Undefined(reason=Reason.GOLD_FAILED)
    if seen.candidate_s is None:
        return Undefined(reason=Reason.NO_SQL)
    if seen.gold_s <= 0 or seen.candidate_s < 0:
        return Undefined(reason=Reason.NOT_RECORDED)
    return Quantity(value=round(seen.candidate_s / seen.gold_s, 6), unit="ratio")


def evidence(seen: Cost) -> Mapping[str, Any]:
    """The seconds that both sides took."""
    return {"candidate_s": seen.candidate_s, "gold_s": seen.gold_s}


def ceilings(_seen: Cost) -> Iterable[Ceiling]:
    """None."""
    return ()


def _seconds(execution: object) -> float | None:
    return execution.duration_s if isinstance(execution, Rows) else None


def _quantity(value: float | int | None, unit: str) -> Reading:
    if value is None or not math.isfinite(value):
        return Undefined(reason=Reason.NOT_RECORDED)
    return Quantity(value=float(value), unit=unit)


FAMILY: Family[Cost] = Family(
    name="cost", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings
)
