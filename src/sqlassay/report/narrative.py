"""What should a reader fix first? The sentences that open every rendering."""

from __future__ import annotations

from dataclasses import dataclass

from sqlassay.records.run import RunState
from sqlassay.records.value import Ceiling
from sqlassay.report.model import Report
from sqlassay.report.numbers import percent, plural
from sqlassay.report.words import CEILINGS, SELF_CHECKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One self-check in a line."""

    name: str
    count: int
    meaning: str
    names: tuple[str, ...] = ()

    @property
    def filter(self) -> dict[str, str]:
        """What the list of cases filters by to show the cases behind it; empty where there is no such list."""
        buckets = {"harness_errors": "harness_error", "extractor_empty": "extractor_empty"}
        if self.name == "scorer_disagreements":
            return {"check": self.name}
        bucket = buckets.get(self.name, self.name if self.name == "other_difference" else "")
        return {"bucket": bucket} if bucket else {}

    @property
    def clean(self) -> bool:
        return self.count == 0


def self_checks(report: Report) -> tuple[Check, ...]:
    """The ruler's own checks, in the order of the specification."""
    checks = report.summary.self_checks
    stages = checks.stages_never_recorded
    counts = {
        "harness_errors": checks.harness_errors,
        "extractor_empty": checks.extractor_empty,
        "scorer_disagreements": checks.scorer_disagreements,
        "other_difference": checks.other_difference,
        "stages_never_recorded": len(stages),
    }
    return tuple(
        Check(
            name=name, count=count, meaning=SELF_CHECKS[name], names=stages if name == "stages_never_recorded" else ()
        )
        for name, count in counts.items()
    )


def headline(report: Report) -> str:
    """The run in one sentence."""
    counts = report.summary.counts
    if not counts.attempted:
        return "No case was attempted."
    if not counts.scored:
        return f"None of {plural(counts.attempted, 'case')} could be scored."
    text = (
        f"{counts.passed:,} of {plural(counts.scored, 'scored case')} passed ({percent(counts.passed / counts.scored)})"
    )
    return f"{text}; {counts.unscored:,} could not be scored." if counts.unscored else f"{text}."


def first_to_fix(report: Report) -> tuple[str, ...]:
    """At most three sentences, the most useful first: the ruler, then retrieval, then the commonest cause."""
    found: list[str] = []
    summary = report.summary
    if not summary.self_checks.clean:
        named = [f"{c.count:,} {c.meaning}" for c in self_checks(report) if not c.clean]
        found.append(f"The ruler comes first: {', '.join(named)}.")
    if summary.ceilings.get(Ceiling.LEAK):
        leaked = plural(summary.ceilings[Ceiling.LEAK], "case")
        found.append(f"In {leaked} the agent was handed its own gold: those prove nothing.")
    for name, what in (
        ("retrieval.in_turn.recall", "was offered"),
        ("retrieval.direct.recall", "gets from its retriever"),
    ):
        recall = summary.metrics.get(name)
        if recall is not None and recall.mean is not None and recall.mean < 0.9:
            found.append(f"The agent {what} only {percent(recall.mean)} of the tables it needs: start with retrieval.")
            break
    failing = [row for row in report.buckets if not row.bucket.unscored]
    total = sum(row.count for row in failing)
    found += [f"{row.title}: {row.count:,} of {plural(total, 'failure')}. {row.remedy}" for row in failing[:3]]
    return tuple(found[:3])


def conditions(report: Report) -> tuple[str, ...]:
    """What to know before reading any number: the run's state, its notices, what was left unscored."""
    manifest, counts = report.manifest, report.summary.counts
    found: list[str] = []
    if manifest.state is not RunState.COMPLETE:
        found.append(f"This run is {manifest.state.value}: the numbers are of what was scored so far.")
    if counts.attempted < counts.cases:
        found.append(f"{counts.cases - counts.attempted:,} of {plural(counts.cases, 'case')} have not been attempted.")
    if counts.missing:
        found.append(f"{plural(counts.missing, 'question')} asked or planned without a score line.")
    guessed = {k: v for k, v in report.summary.status_sources.items() if k in ("inferred", "text_rule")}
    for source, count in guessed.items():
        how = "inferred, for the agent reports no status" if source == "inferred" else "guessed from the text"
        found.append(f"How {plural(count, 'turn')} ended was {how}.")
    return (*found, *manifest.notices)


def ceilings(report: Report) -> tuple[tuple[Ceiling, int, str], ...]:
    """Ceilings that were met, most frequent first, with their meaning."""
    met = [(c, n, CEILINGS[c]) for c, n in report.summary.ceilings.items() if n]
    return tuple(sorted(met, key=lambda item: -item[1]))
