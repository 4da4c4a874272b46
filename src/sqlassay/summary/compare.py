"""What changed between two runs of the same cases, by name and by number?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.records.measurement import Bucket
from sqlassay.records.value import Ceiling
from sqlassay.summary.intervals import clusters, seed_of
from sqlassay.summary.model import Estimate, Outcome, Summary
from sqlassay.summary.paired import holm, mcnemar, paired_difference, smallest_detectable
from sqlassay.summary.slices import slices_of

HEADLINES = ("outcome.pass", "execution.exact")
"""Proportions that get McNemar's test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A case whose verdict changed, with the cause on each side (None where it passed)."""

    case_id: str
    before: Bucket | None
    after: Bucket | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric in both runs. `before` and `after` are each run's own; all else is over the `n` cases that have it in
    both and whose data did not move.

    `test` is `mcnemar` (on the question itself, first repeat) or `bootstrap`; `detectable` is the smallest
    difference of a proportion that this many cases could have shown.
    """

    name: str
    before: Estimate
    after: Estimate
    n: int
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    test: str | None
    fixed: int | None = None
    broken: int | None = None
    detectable: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceChange:
    """The pass rate of one slice in both runs; `p` is McNemar's, `adjusted` Holm's over all slices."""

    dimension: str
    value: str
    n: int
    before: float
    after: float
    fixed: int
    broken: int
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two runs compared. `before` and `after` are the summaries they were made from.

    `flipped` are cases that failed in both runs for different causes; `moved` those whose gold result changed,
    which stand in no other list and no test.
    """

    before: Summary
    after: Summary
    same_signature: bool
    warnings: tuple[str, ...]
    fixed: tuple[Flip, ...]
    broken: tuple[Flip, ...]
    flipped: tuple[Flip, ...]
    moved: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    unscored: tuple[str, ...]
    metrics: tuple[MetricChange, ...]
    slices: tuple[SliceChange, ...]
    risen_ceilings: tuple[tuple[Ceiling, int, int], ...]

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `no difference shown`, from the exact test on passing cases."""
        headline = next((metric for metric in self.metrics if metric.name == "outcome.pass"), None)
        if headline is None or headline.p is None or headline.p >= 0.05 or not headline.difference:
            return "no difference shown"
        return "better" if headline.difference > 0 else "worse"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, without the two summaries' inner tables."""
        from sqlassay.records.plain import to_plain

        return {
            "before": self.before.run_id,
            "after": self.after.run_id,
            "verdict": self.verdict,
            "same_signature": self.same_signature,
            "warnings": list(self.warnings),
            "fixed": to_plain(self.fixed),
            "broken": to_plain(self.broken),
            "flipped": to_plain(self.flipped),
            "moved": list(self.moved),
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
            "unscored": list(self.unscored),
            "metrics": [_metric_dict(metric) for metric in self.metrics],
            "slices": to_plain(self.slices),
            "ceilings": {
                ceiling.value: {"before": self.before.ceilings.get(ceiling, 0), "after": count}
                for ceiling, count in self.after.ceilings.items()
            },
            "risen_ceilings": [
                {"ceiling": ceiling.value, "before": old, "after": new} for ceiling, old, new in self.risen_ceilings
            ],
        }


def compare(before: Summary, after: Summary) -> Change:
    """Pair two runs by case. Random steps use the seed of `after`."""
    old, new = _firsts(before), _firsts(after)
    shared = [case_id for case_id in new if case_id in old]
    moved = {c for c in shared if _moved(old[c], new[c])}
    kept = [case_id for case_id in shared if case_id not in moved]
    scored = [c for c in kept if old[c].passed is not None and new[c].passed is not None]
    fixed = [c for c in scored if new[c].passed and not old[c].passed]
    broken = [c for c in scored if old[c].passed and not new[c].passed]
    flipped = [c for c in scored if not old[c].passed and not new[c].passed and old[c].bucket is not new[c].bucket]

    def flips(ids: list[str]) -> tuple[Flip, ...]:
        return tuple(Flip(case_id=c, before=old[c].bucket, after=new[c].bucket) for c in ids)

    same = before.signature == after.signature
    return Change(
        before=before,
        after=after,
        same_signature=same,
        warnings=_warnings(before, after, moved=moved),
        fixed=flips(fixed),
        broken=flips(broken),
        flipped=flips(flipped),
        moved=tuple(sorted(moved)),
        only_before=tuple(c for c in old if c not in new),
        only_after=tuple(c for c in new if c not in old),
        unscored=tuple(c for c in kept if old[c].passed is None or new[c].passed is None),
        metrics=_metrics(before, after, kept=kept, old=old, new=new),
        slices=_slices(after, scored, old=old, new=new),
        risen_ceilings=tuple(
            (ceiling, before.ceilings.get(ceiling, 0), count)
            for ceiling, count in after.ceilings.items()
            if count > before.ceilings.get(ceiling, 0)
        ),
    )


def _firsts(summary: Summary) -> dict[str, Outcome]:
    """The outcome of each case on the question itself, first repeat."""
    return {o.key.case_id: o for o in summary.outcomes if o.key.phrasing == 0 and o.key.repeat == 0}


def _moved(old: Outcome, new: Outcome) -> bool:
    return old.gold_digest is not None and new.gold_digest is not None and old.gold_digest != new.gold_digest


def signature_difference(before: str, after: str) -> tuple[str, ...]:
    """The settings in which two signature lines differ, `name: a / b`; the digest at their end is left out.

    >>> signature_difference("sqlassay 1 | ties:accept | 0a", "sqlassay 1 | ties:strict | 0b")
    ('ties: accept / strict',)
    """
    first, second = _settings(before), _settings(after)
    return tuple(
        f"{name}: {first.get(name, 'unset')} / {second.get(name, 'unset')}"
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    )


def _settings(signature: str) -> dict[str, str]:
    parts = signature.split(" | ")
    fields = dict(part.split(":", 1) for part in parts if ":" in part)
    return {"version": parts[0], **fields}


def _warnings(before: Summary, after: Summary, *, moved: set[str]) -> tuple[str, ...]:
    warnings: list[str] = []
    if before.signature != after.signature:
        apart = "; ".join(signature_difference(before.signature, after.signature)) or "unknown settings"
        warnings.append(f"the runs were made under different settings ({apart}): differences may come from them")
    if moved:
        warnings.append(f"the data moved under {len(moved)} case(s): their gold result changed, and they are left out")
    return tuple(warnings)


def _metrics(
    before: Summary, after: Summary, *, kept: list[str], old: Mapping[str, Outcome], new: Mapping[str, Outcome]
) -> tuple[MetricChange, ...]:
    cluster_of = dict(zip(kept, clusters(kept, after.per_case.twins), strict=True))
    changes: list[MetricChange] = []
    for name, estimate in after.metrics.items():
        earlier = before.metrics.get(name)
        if earlier is None:
            continue
        first, second = before.per_case.values.get(name, {}), after.per_case.values.get(name, {})
        ids = [c for c in kept if c in first and c in second]
        if not ids:
            changes.append(
                MetricChange(
                    name=name, before=earlier, after=estimate, n=0, difference=None, interval=None, p=None, test=None
                )
            )
            continue
        paired = paired_difference(
            [first[c] for c in ids],
            [second[c] for c in ids],
            clusters=[cluster_of[c] for c in ids],
            seed=seed_of(after.seed, "compare", name),
        )
        fixed = broken = None
        detectable = None
        p, test = paired.p, "bootstrap" if paired.p is not None else None
        if name in HEADLINES:
            fixed, broken = _crossed(name, ids, first=first, second=second, old=old, new=new)
            p, test = mcnemar(fixed, broken), "mcnemar"
            detectable = smallest_detectable(len(ids), changed=fixed + broken)
        changes.append(
            MetricChange(
                name=name,
                before=earlier,
                after=estimate,
                n=len(ids),
                difference=paired.value,
                interval=paired.interval,
                p=p,
                test=test,
                fixed=fixed,
                broken=broken,
                detectable=detectable,
            )
        )
    return tuple(changes)


def _crossed(
    name: str,
    ids: list[str],
    *,
    first: Mapping[str, float],
    second: Mapping[str, float],
    old: Mapping[str, Outcome],
    new: Mapping[str, Outcome],
) -> tuple[int, int]:
    def verdicts(case_id: str) -> tuple[bool, bool]:
        if name == "outcome.pass":
            return bool(old[case_id].passed), bool(new[case_id].passed)
        return first[case_id] == 1, second[case_id] == 1

    pairs = [verdicts(case_id) for case_id in ids]
    return sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)


def _slices(
    after: Summary, scored: list[str], *, old: Mapping[str, Outcome], new: Mapping[str, Outcome]
) -> tuple[SliceChange, ...]:
    members: dict[tuple[str, str], list[str]] = {}
    for case_id in scored:
        case = after.per_case.cases.get(case_id)
        if case is None:
            continue
        for key in slices_of(case, tables=after.per_case.tables.get(case_id)):
            members.setdefault(key, []).append(case_id)
    rows = []
    for (dimension, value), ids in sorted(members.items()):
        fixed = sum(bool(new[c].passed) and not old[c].passed for c in ids)
        broken = sum(bool(old[c].passed) and not new[c].passed for c in ids)
        rows.append((dimension, value, ids, fixed, broken, mcnemar(fixed, broken)))
    adjusted = holm([row[-1] for row in rows])
    return tuple(
        SliceChange(
            dimension=dimension,
            value=value,
            n=len(ids),
            before=sum(bool(old[c].passed) for c in ids) / len(ids),
            after=sum(bool(new[c].passed) for c in ids) / len(ids),
            fixed=fixed,
            broken=broken,
            p=p,
            adjusted=adjusted[index],
        )
        for index, (dimension, value, ids, fixed, broken, p) in enumerate(rows)
    )


def _metric_dict(metric: MetricChange) -> dict[str, Any]:
    return {
        "name": metric.name,
        "before": metric.before.mean,
        "after": metric.after.mean,
        "n": metric.n,
        "difference": metric.difference,
        "interval": None if metric.interval is None else list(metric.interval),
        "p": metric.p,
        "test": metric.test,
        "fixed": metric.fixed,
        "broken": metric.broken,
        "detectable": metric.detectable,
    }
