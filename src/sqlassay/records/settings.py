"""Every choice that can change a number or a run. The signature is made from these fields by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sqlassay.records.case import Tolerance

ScorerVersion = "1"
"""Raised whenever a verdict or a metric of an unchanged trial could change; part of every cache key."""


class Rule(StrEnum):
    """A public benchmark's own rule (specification section 5.1), reported beside ours, never instead."""

    SPIDER = "spider"
    BIRD = "bird"
    SPIDER2 = "spider2"
    DEFOG = "defog"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """How results are compared (specification section 5). Ratios lie in 0..1."""

    tolerance: Tolerance = Tolerance()
    columns: Literal["any", "by_position", "by_name"] = "any"
    ties: Literal["accept", "strict"] = "accept"
    exact_as: tuple[Rule, ...] = ()
    pair_threshold: float = 0.5
    key_selectivity: float = 0.5
    coerce_dates: bool = True
    coerce_booleans: bool = True
    agent_adds: tuple[Literal["pagination"], ...] = ()
    shelf_limit: int = 5000
    """Rows on one side of a shelf above which the documented bound replaces the exact assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one statement may take (specification section 4). Seconds, rows, bytes."""

    timeout_s: float = 30.0
    max_rows: int = 1_000_000
    max_bytes: int = 512 * 1024 * 1024
    grace_s: float = 0.5
    """How long after `timeout_s` a worker that ignores the interrupt is killed."""
    memory_bytes: int = 4 * 1024**3
    """Address space a worker process may add for one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a run is carried out. Only what can change a number enters the signature."""

    jobs: int = 4
    workers: int = 2
    """SQL worker processes."""
    timeout_s: float = 60.0
    """Per turn of the agent."""
    retries: int = 3
    repeats: int = 1
    phrasings: bool = True
    """Ask alternative wordings too."""
    hide: Literal["per_request", "global", "none"] = "per_request"
    seed: int = 20260101
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    fast: bool = False
