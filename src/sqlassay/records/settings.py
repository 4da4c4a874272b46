"""Every choice that can change a number or a run. The signature is made from these fields by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sqlassay.records.case import Tolerance

ScorerVersion = "1"
"""Raised whenever a verdict or a metric of an unchanged trial could change; part of every cache key."""


class Rule(StrEnum):
    """A public benchmark's own rule, reported beside ours, never instead."""

    SPIDER = "spider"
    BIRD = "bird"
    SPIDER2 = "spider2"
    DEFOG = "defog"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """How results are compared. Ratios lie in 0..1."""

    tolerance: Tolerance = Tolerance()
    """When two numbers are equal; a case may say otherwise."""
    columns: Literal["any", "by_position", "by_name"] = "any"
    """Which columns belong together in shape `table`: any one-to-one assignment that makes the rows equal, by position,
    or by name."""
    ties: Literal["accept", "strict"] = "accept"
    """Whether rows that are equal on the sort keys of the gold may stand in any order."""
    exact_as: tuple[Rule, ...] = ()
    """Rules of public benchmarks whose verdict is reported beside ours."""
    pair_threshold: float = 0.5
    """Least overlap (the smaller of precision and recall) at which values alone pair two columns."""
    key_selectivity: float = 0.5
    """Least share of distinct values at which columns serve as a row key."""
    coerce_dates: bool = True
    """Whether a date may equal a midnight timestamp and its ISO text, where one side is typed."""
    coerce_booleans: bool = True
    """Whether a boolean may equal 1 and 0, where one side is typed."""
    agent_adds: tuple[Literal["pagination"], ...] = ()
    """What the agent adds to its SQL by design; taken off the candidate before its parts are compared."""
    shelf_limit: int = 5000
    """Rows on one side of a shelf above which the documented bound replaces the exact assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one statement may take. Seconds, rows, bytes."""

    timeout_s: float = 30.0
    """Seconds after which a statement is stopped in the engine; never above `run.timeout_s` where not set."""
    max_rows: int = 1_000_000
    """Rows after which a result is cut, and `exact` undefined."""
    max_bytes: int = 512 * 1024 * 1024
    """Bytes after which a result is cut, and `exact` undefined."""
    grace_s: float = 0.5
    """How long after `timeout_s` a worker that ignores the interrupt is killed."""
    memory_bytes: int = 4 * 1024**3
    """Address space a worker process may add for one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a run is carried out. Only what can change a number enters the signature."""

    jobs: int = 4
    """Questions in flight at a time."""
    workers: int = 2
    """SQL worker processes."""
    timeout_s: float = 60.0
    """Per turn of the agent."""
    retries: int = 3
    """How often an agent that cannot be reached is asked again before the case is left unscored."""
    repeats: int = 1
    """How often every question is asked."""
    phrasings: bool = True
    """Ask alternative wordings too."""
    hide: Literal["per_request", "global", "none"] = "per_request"
    """How a case and its twins are hidden from retrieval: by ids sent with each question, one case at a time for a
    system that can only hide globally, or not at all."""
    seed: int = 20260101
    """Of every random step: intervals, the fast slice."""
    requests_per_minute: float | None = None
    """Most questions a minute; none when empty."""
    tokens_per_minute: float | None = None
    """Most tokens a minute, as the agent reports them; none when empty."""
    fast: bool = False
    """Only a fixed, stratified tenth of the cases."""
