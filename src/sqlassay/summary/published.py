"""What does `summary.json` hold, field by field? The records from which its JSON Schema is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlassay.records.measurement import Bucket
from sqlassay.records.value import Ceiling, Reason
from sqlassay.summary.model import (
    Confusion,
    Counts,
    Estimate,
    Findings,
    Phrasings,
    Repeats,
    SelfChecks,
    Spread,
    StageCount,
    Summary,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedEstimate:
    """One metric: `n` cases of `attempted` have a value, the others are undefined by reason."""

    mean: float | None
    n: int
    attempted: int
    interval: tuple[float, float] | None
    """95 %; null where there are too few cases."""
    interval_by: str | None
    """`wilson`, `bootstrap` (over clusters of twins) or `wilson_clusters`."""
    undefined: Mapping[Reason, int] = field(default_factory=dict)
    unit: str = "share"
    unscored: int = 0
    """Cases that lack a value through the harness's or the gold's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """`summary.json`. Buckets, ceilings and self-checks count trials."""

    signature: str
    run_id: str
    seed: int
    counts: Counts
    self_checks: SelfChecks
    ceilings: Mapping[Ceiling, int]
    metrics: Mapping[str, PublishedEstimate]
    buckets: Mapping[Bucket, int]
    slices: Mapping[str, Mapping[str, Mapping[str, PublishedEstimate]]]
    """Dimension (category, difficulty, tag, database, tables), value, metric."""
    findings: Findings
    repeats: Repeats | None = None
    phrasings: Phrasings | None = None
    stages: tuple[StageCount, ...] = ()
    stage_buckets: Mapping[str, Mapping[Bucket, int]] = field(default_factory=dict)
    """First broken stage (`none` where all stages held) by cause, over failing trials."""
    behaviour: tuple[Confusion, ...] = ()
    status_sources: Mapping[str, int] = field(default_factory=dict)
    """How it was known how a turn ended, counted."""
    spreads: Mapping[str, Spread] = field(default_factory=dict)


def published(summary: Summary) -> Published:
    """The part of a summary that is written down."""
    return Published(
        signature=summary.signature,
        run_id=summary.run_id,
        seed=summary.seed,
        counts=summary.counts,
        self_checks=summary.self_checks,
        ceilings=summary.ceilings,
        metrics=_estimates(summary.metrics),
        buckets=summary.buckets,
        slices={
            dimension: {value: _estimates(metrics) for value, metrics in values.items()}
            for dimension, values in summary.slices.items()
        },
        findings=summary.findings,
        repeats=summary.repeats,
        phrasings=summary.phrasings,
        stages=summary.stages,
        stage_buckets=summary.stage_buckets,
        behaviour=summary.behaviour,
        status_sources=summary.status_sources,
        spreads=summary.spreads,
    )


def _estimates(metrics: Mapping[str, Estimate]) -> dict[str, PublishedEstimate]:
    return {
        name: PublishedEstimate(
            mean=estimate.mean,
            n=estimate.n,
            attempted=estimate.attempted,
            interval=estimate.interval,
            interval_by=estimate.method,
            undefined=estimate.undefined,
            unit=estimate.unit,
            unscored=estimate.unscored,
        )
        for name, estimate in metrics.items()
    }
