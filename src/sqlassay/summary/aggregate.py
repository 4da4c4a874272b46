"""What does the whole run say? One pass over the score lines, and every number of `summary.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlassay.records.case import Case, Status
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.run import TrialKey
from sqlassay.records.settings import RunSettings
from sqlassay.records.signature import Signature
from sqlassay.records.value import Ceiling, Ratio, Reason, Undefined
from sqlassay.summary.estimates import Estimator
from sqlassay.summary.intervals import clusters
from sqlassay.summary.model import (
    CaseValues,
    Confusion,
    Counts,
    Estimate,
    Findings,
    Outcome,
    SelfChecks,
    StageCount,
    Summary,
)
from sqlassay.summary.repeats import Retrials
from sqlassay.summary.selfchecks import disagrees
from sqlassay.summary.slices import DIMENSIONS, slices_of
from sqlassay.summary.table import CaseTable

Digests = Callable[[TrialKey], tuple[str | None, str | None]]
"""Digests of the gold and the candidate result of a trial, None where a side has none."""

Twins = Collection[frozenset[str]]
"""Groups of ids of cases that ask for the same thing."""

NOT_FROM_QUERY = frozenset(
    {
        Bucket.ASKED_CLARIFICATION,
        Bucket.DECLINED,
        Bucket.FELL_BACK,
        Bucket.NO_QUERY_HALLUCINATION,
        Bucket.QUERY_NEVER_RAN,
    }
)
"""Answerable questions that were not answered from a query."""

DEFAULT_SEED = RunSettings().seed
_STAGE = "stages."


def summarise(
    measurements: Iterable[Measurement],
    cases: Mapping[str, Case],
    *,
    signature: Signature | str,
    run_id: str,
    twins: Twins | Callable[[], Twins] | None = None,
    seed: int = DEFAULT_SEED,
    attempted: Iterable[TrialKey] | None = None,
    digests: Digests | None = None,
) -> Summary:
    """Sum up a run: within a case first, then over cases.

    `measurements` is read once and not kept; memory grows with cases times metrics. `attempted` are the trials that
    were put to the agent or should have been: those without a measurement count as missing, never as absent.
    `twins` are the clusters of the intervals, or say them once all measurements are read. The result does not depend
    on the order of `measurements`.
    """
    run = _Tally(cases=cases, digests=digests)
    for measurement in measurements:
        run.add(measurement)
    missing: Counter[str] = Counter()
    for key in attempted or ():
        if key not in run.seen:
            missing[key.case_id] += 1
    run.table.lack(sorted(missing.items()))
    run.table.close()
    known = tuple((twins() if callable(twins) else twins) or ())
    ids = sorted(run.table.ids)
    estimator = Estimator(run.table, clusters_of=dict(zip(ids, clusters(ids, known), strict=True)), seed=seed)
    metrics = estimator.estimate()
    outcomes = tuple(sorted(run.outcomes, key=lambda outcome: outcome.key))
    stages = run.stage_counts()
    return Summary(
        signature=signature if isinstance(signature, str) else signature.line,
        run_id=run_id,
        seed=seed,
        counts=_counts(outcomes, missing=missing, cases=len(cases)),
        self_checks=SelfChecks(
            harness_errors=run.buckets[Bucket.HARNESS_ERROR] + run.broken,
            extractor_empty=run.buckets[Bucket.EXTRACTOR_EMPTY],
            scorer_disagreements=run.disagreements,
            other_difference=run.buckets[Bucket.OTHER_DIFFERENCE],
            stages_never_recorded=tuple(s.name for s in stages if s.not_recorded and not s.passed + s.failed),
        ),
        ceilings={ceiling: run.ceilings[ceiling] for ceiling in Ceiling},
        metrics=metrics,
        buckets={bucket: run.buckets[bucket] for bucket in Bucket},
        slices=_slices(estimator, cases, run.tables),
        findings=Findings(
            not_answered_from_query=sum(run.buckets[bucket] for bucket in NOT_FROM_QUERY),
            hallucinated=run.buckets[Bucket.NO_QUERY_HALLUCINATION],
        ),
        repeats=run.retrials.repeats(),
        phrasings=run.retrials.phrasings(),
        stages=stages,
        stage_buckets={
            stage: {bucket: row[bucket] for bucket in Bucket if row[bucket]}
            for stage, row in sorted(run.stage_buckets.items())
        },
        behaviour=tuple(
            Confusion(expected=expected, actual=actual, count=count)
            for (expected, actual), count in sorted(run.confusion.items())
        ),
        status_sources=dict(sorted(run.sources.items())),
        spreads=estimator.spreads(),
        outcomes=outcomes,
        per_case=CaseValues(
            ids=tuple(ids), values=estimator.per_case(), cases=cases, tables=dict(run.tables), twins=known
        ),
    )


@dataclass(slots=True, kw_only=True)
class _Tally:
    """Everything that is counted while the score lines stream by."""

    cases: Mapping[str, Case]
    digests: Digests | None = None
    table: CaseTable = field(default_factory=CaseTable)
    seen: set[TrialKey] = field(default_factory=set)
    outcomes: list[Outcome] = field(default_factory=list)
    buckets: Counter[Bucket] = field(default_factory=Counter)
    ceilings: Counter[Ceiling] = field(default_factory=Counter)
    disagreements: int = 0
    broken: int = 0
    tables: dict[str, int] = field(default_factory=dict)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    stages: dict[str, Counter[str]] = field(default_factory=dict)
    first_broken: Counter[str] = field(default_factory=Counter)
    stage_buckets: dict[str, Counter[Bucket]] = field(default_factory=dict)
    retrials: Retrials = field(default_factory=Retrials)

    def add(self, measurement: Measurement) -> None:
        key = TrialKey(case_id=measurement.case_id, phrasing=measurement.phrasing, repeat=measurement.repeat)
        if key in self.seen:
            return
        self.seen.add(key)
        case = self.cases.get(key.case_id)
        bucket = measurement.bucket
        unscored = bucket is not None and bucket.unscored
        broken = self.table.add(key.case_id, measurement.metrics, unscored=unscored)
        stages = [name for name in measurement.metrics if name.startswith(_STAGE)]
        evidence = measurement.evidence
        gold, candidate = self._digests(key, evidence)
        passed = None if unscored else bucket is None
        if passed is not None:
            self.retrials.add(key.case_id, key.phrasing, passed=passed, digest=candidate)
        if bucket is not None:
            self.buckets[bucket] += 1
            if stages and not unscored:
                row = self.stage_buckets.setdefault(measurement.first_broken_stage or "none", Counter())
                row[bucket] += 1
        self.ceilings.update(set(measurement.ceilings))
        self.broken += broken and bucket is not Bucket.HARNESS_ERROR
        contradicted = disagrees(measurement, case)
        self.disagreements += contradicted
        tables = evidence.get("sql", {}).get("gold_tables")
        if tables:
            self.tables.setdefault(key.case_id, len(tables))
        self._behaviour(measurement, case)
        self._stages(measurement, stages)
        self.outcomes.append(
            Outcome(
                key=key,
                passed=passed,
                bucket=bucket,
                ceilings=tuple(measurement.ceilings),
                why=measurement.cause,
                gold_digest=gold,
                disagrees=contradicted,
            )
        )

    def stage_counts(self) -> tuple[StageCount, ...]:
        """One line per stage, in the order in which stages first appeared in a case."""
        return tuple(
            StageCount(
                name=name,
                passed=tally["pass"],
                failed=tally["fail"],
                not_recorded=tally["not_recorded"],
                first_broken=self.first_broken[name],
            )
            for name, tally in self.stages.items()
        )

    def _digests(self, key: TrialKey, evidence: Mapping[str, Any]) -> tuple[str | None, str | None]:
        if self.digests is not None:
            return self.digests(key)
        execution = evidence.get("execution", {})
        return execution.get("gold_digest"), execution.get("candidate_digest")

    def _behaviour(self, measurement: Measurement, case: Case | None) -> None:
        behaviour = measurement.evidence.get("behaviour", {})
        actual = behaviour.get("actual", behaviour.get("status"))
        if "expected" not in behaviour and case is None:
            return
        expected = behaviour.get("expected") or (case.expected_status if case else Status.SUCCESS)
        if behaviour:
            self.confusion[str(expected), str(actual) if actual else "NONE"] += 1
        source = behaviour.get("status_source")
        if source:
            self.sources[str(source)] += 1

    def _stages(self, measurement: Measurement, names: Sequence[str]) -> None:
        for name in names:
            stage = name.removeprefix(_STAGE)
            tally = self.stages.setdefault(stage, Counter())
            match measurement.metrics[name]:
                case Ratio(hits=hits, total=total):
                    tally["pass" if hits == total else "fail"] += 1
                case Undefined(reason=Reason.NOT_RECORDED):
                    tally["not_recorded"] += 1
        if measurement.first_broken_stage is not None:
            self.first_broken[measurement.first_broken_stage] += 1


def _counts(outcomes: tuple[Outcome, ...], *, missing: Mapping[str, int], cases: int) -> Counts:
    verdicts: dict[str, list[bool | None]] = {}
    for outcome in outcomes:
        verdicts.setdefault(outcome.key.case_id, []).append(outcome.passed)
    for case_id in missing:
        verdicts.setdefault(case_id, [])
    passed = failed = 0
    for trials in verdicts.values():
        if False in trials:
            failed += 1
        elif True in trials:
            passed += 1
    return Counts(
        cases=max(cases, len(verdicts)),
        attempted=len(verdicts),
        scored=passed + failed,
        unscored=len(verdicts) - passed - failed,
        passed=passed,
        failed=failed,
        trials=len(outcomes) + sum(missing.values()),
        trials_scored=sum(outcome.passed is not None for outcome in outcomes),
        trials_passed=sum(outcome.passed is True for outcome in outcomes),
        missing=sum(missing.values()),
    )


def _slices(
    estimator: Estimator, cases: Mapping[str, Case], tables: Mapping[str, int]
) -> dict[str, dict[str, dict[str, Estimate]]]:
    import numpy as np

    rows: dict[str, dict[str, list[int]]] = {dimension: {} for dimension in DIMENSIONS}
    for row, case_id in enumerate(estimator.ids):
        case = cases.get(case_id)
        if case is None:
            continue
        for dimension, value in slices_of(case, tables=tables.get(case_id)):
            rows[dimension].setdefault(value, []).append(row)
    return {
        dimension: {
            value: estimator.estimate(np.array(chosen, dtype=np.int64), step=(dimension, value))
            for value, chosen in sorted(values.items(), key=lambda item: _natural(item[0]))
        }
        for dimension, values in rows.items()
        if values
    }


def _natural(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() and len(value) < 9 else (1 << 30, value)
