"""What a whole run says: every count, mean and interval, frozen; `Summary.to_dict()` is `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlassay.records.case import Case
from sqlassay.records.measurement import Bucket
from sqlassay.records.run import TrialKey
from sqlassay.records.value import Ceiling, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One metric over cases: its mean with everything needed to judge that mean.

    `n` cases were scored of `attempted`; the others are in `undefined` by reason, so that
    `n + sum(undefined.values()) == attempted`. `interval` holds 95 %; `method` says how it was made:
    `wilson`, `bootstrap` (over clusters of twins), or `wilson_clusters` where every cluster of a proportion says the
    same and a bootstrap could not see any spread.
    """

    mean: float | None
    n: int
    attempted: int
    interval: tuple[float, float] | None = None
    method: str | None = None
    undefined: Mapping[Reason, int] = field(default_factory=dict)
    unit: str = "share"
    bounds: tuple[float, float] | None = None
    """The mean if every unscored case were wrong, and if all were right; None where that cannot be said."""
    unscored: int = 0
    """Cases that lack a value through the harness's or the gold's fault."""
    low: float | None = None
    high: float | None = None
    """Smallest and largest case value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many cases and trials (a case times its wordings and repeats) there were, and what became of them.

    A case is `passed` when all its scored trials pass, `failed` when one fails, `unscored` when none was scored;
    `scored = passed + failed`, `attempted = scored + unscored`. `missing` trials were planned or asked and have no
    score line.
    """

    cases: int
    attempted: int
    scored: int
    unscored: int
    passed: int
    failed: int
    trials: int
    trials_scored: int
    trials_passed: int
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfChecks:
    """Faults of the ruler itself; all zero is what makes the rest worth reading."""

    harness_errors: int = 0
    extractor_empty: int = 0
    scorer_disagreements: int = 0
    other_difference: int = 0
    stages_never_recorded: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not (
            self.harness_errors
            or self.extractor_empty
            or self.scorer_disagreements
            or self.other_difference
            or self.stages_never_recorded
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Over cases asked more than once in the same words: `pass_at[k-1]` is pass@k, `pass_all[k-1]` is pass^k."""

    repeats: int
    cases: int
    pass_at: tuple[float, ...]
    pass_all: tuple[float, ...]
    flips: float
    """Share of the cases that passed at one time and failed at another in the same words."""
    flipping: tuple[str, ...]
    """Ids of the cases that flipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrasings:
    """Over cases asked in several wordings: the share with the same result for every wording.

    `by` is `result` where the candidate's rows were compared, `verdict` where only pass and fail are known.
    """

    cases: int
    consistent: float
    inconsistent: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCount:
    """One pipeline stage over trials: how often it passed, failed or was not recorded, and failed first."""

    name: str
    passed: int
    failed: int
    not_recorded: int
    first_broken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often a case that should end in `expected` ended in `actual` (`NONE` where no status was known)."""

    expected: str
    actual: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The distribution of a quantity over cases."""

    unit: str
    n: int
    total: float
    low: float
    p50: float
    p90: float
    p95: float
    high: float
    histogram: tuple[int, ...]
    """Counts in equal steps from `low` to `high`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the numbers add up to, in counts of answerable questions."""

    not_answered_from_query: int = 0
    hallucinated: int = 0
    """Of those, answered with neither a query nor a statement that may have been executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One trial in a line: `passed` is None where it is unscored; `why` the cause in words."""

    key: TrialKey
    passed: bool | None
    bucket: Bucket | None
    ceilings: tuple[Ceiling, ...] = ()
    why: str | None = None
    gold_digest: str | None = None
    """Of the gold result, so that two runs can tell that the data moved."""
    disagrees: bool = False
    """Two scorers contradict each other on this trial (a self-check)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseValues:
    """Per metric and case the mean over the case's trials; what paired comparisons read."""

    ids: tuple[str, ...]
    values: Mapping[str, Mapping[str, float]]
    cases: Mapping[str, Case] = field(default_factory=dict)
    tables: Mapping[str, int] = field(default_factory=dict)
    twins: tuple[frozenset[str], ...] = ()
    """Groups of ids of cases that ask for the same thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in numbers. Buckets, ceilings and self-checks count trials."""

    signature: str
    run_id: str
    seed: int
    counts: Counts
    self_checks: SelfChecks
    ceilings: Mapping[Ceiling, int]
    metrics: Mapping[str, Estimate]
    buckets: Mapping[Bucket, int]
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    findings: Findings
    repeats: Repeats | None = None
    phrasings: Phrasings | None = None
    stages: tuple[StageCount, ...] = ()
    stage_buckets: Mapping[str, Mapping[Bucket, int]] = field(default_factory=dict)
    """First broken stage (`none` where all stages held) by cause, over failing trials."""
    behaviour: tuple[Confusion, ...] = ()
    status_sources: Mapping[str, int] = field(default_factory=dict)
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()
    """Kept for gates and reports; not part of `summary.json`."""
    per_case: CaseValues = CaseValues(ids=(), values={})
    """Kept for comparisons; not part of `summary.json`."""

    def to_dict(self) -> dict[str, Any]:
        """`summary.json` as a plain mapping: the published form of this record."""
        from sqlassay.records.plain import to_plain
        from sqlassay.summary.published import published

        plain = to_plain(published(self))
        assert isinstance(plain, dict)
        return plain
