"""What a run tells while it goes on: frozen records for a progress bar or a log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlassay.records.measurement import Bucket
from sqlassay.records.run import RunState, TrialKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """`planned` trials in all, of which `kept` were scored before this process began, `passed` of them right."""

    run_id: str
    path: Path
    planned: int
    kept: int
    passed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The agent has answered (or failed to); its SQL is still to be judged."""

    key: TrialKey
    latency_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnded:
    """One trial is scored and on disk. `passed` is None where it is unscored."""

    key: TrialKey
    passed: bool | None
    bucket: Bucket | None
    cause: str | None
    done: int
    planned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowed:
    """The agent asked for less: at most `jobs` questions in flight from now on, the next after `wait_s`."""

    jobs: int
    wait_s: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run has stopped; `error` says why where it failed."""

    run_id: str
    path: Path
    state: RunState
    error: str | None = None


Event = RunStarted | TurnEnded | TrialEnded | Slowed | RunEnded
