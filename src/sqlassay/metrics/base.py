"""How a metric is declared, and how a family of metrics is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ceiling, Reading, Reason

E = TypeVar("E")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A metric's declaration: documentation, command line and report headings come from it.

    `name` may hold a placeholder for a family of names: `execution.exact@{rule}`, `stages.{stage}`.
    `better` is `higher`, `lower` or `neither`.
    """

    name: str
    title: str
    question: str
    formula: str
    unit: str = "share"
    range: str = "0..1"
    better: str = "higher"
    undefined: Mapping[Reason, str] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family(Generic[E]):
    """One family: examine the trial once, then read everything from that examination.

    `evidence` is what goes under `evidence[name]` (plain data); `ceilings` the conditions met.
    """

    name: str
    cards: tuple[Card, ...]
    examine: Callable[[Trial, ScoreSettings], E]
    readings: Callable[[E], Mapping[str, Reading]]
    evidence: Callable[[E], Mapping[str, Any]]
    ceilings: Callable[[E], Iterable[Ceiling]]
