"""What a judge said: recorded with model and prompt hash, so that scoring again needs no model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One judgement of one metric on one turn; `score` in 0..1, None when the judge failed (`error` says why)."""

    metric: str
    score: float | None
    reason: str = ""
    model: str = ""
    prompt_hash: str = ""
    error: str | None = None
