"""What a run is: its manifest, and the identity of one asked question within it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

FORMAT_VERSION = 1
"""Of the run folder; every past version stays readable."""


class RunState(StrEnum):
    STARTED = "started"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class TrialKey:
    """Which question of a run: case, wording, repetition.

    >>> str(TrialKey(case_id="a1", phrasing=2, repeat=0))
    'a1/2/0'
    """

    case_id: str
    phrasing: int = 0
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.case_id}/{self.phrasing}/{self.repeat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`manifest.json`: what was run with what, secrets redacted."""

    run_id: str
    state: RunState
    signature: str
    format_version: int = FORMAT_VERSION
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    """`fingerprint`, `cases`, `files`."""
    databases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name: redacted `url`, `dialect`, `fingerprint`, `capabilities`, `overridden`."""
    agent: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    """Conditions to read beside the numbers ("no snapshot on this engine", "scored again with --rerun")."""
    started_at: str = ""
    ended_at: str | None = None
    error: str | None = None
