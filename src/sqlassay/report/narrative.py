"""What should a reader fix first? The sentences that open every rendering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlassay.records.run import RunState, TrialKey
from sqlassay.records.value import Ceiling
from sqlassay.report.model import CaseRow, Report
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to do: a sentence, what the list of cases filters by to show them, and how many there are."""

    text: str
    filter: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[TrialKey, ...] = ()

    def __str__(self) -> str:
        return self.text


def first_to_fix(report: Report) -> tuple[Advice, ...]:
    """At most three things, the most useful first: the ruler, then retrieval, then the commonest cause."""
    found: list[Advice] = []
    summary = report.summary
    if not summary.self_checks.clean:
        bent = [check for check in self_checks(report) if not check.clean]
        named = [f"{check.count:,} {check.meaning}" for check in bent]
        shown = next((check.filter for check in bent if check.filter), {})
        found.append(Advice(text=f"The ruler comes first: {', '.join(named)}.", filter=shown))
    if summary.ceilings.get(Ceiling.LEAK):
        leaked = plural(summary.ceilings[Ceiling.LEAK], "case")
        text = f"In {leaked} the agent was handed its own gold: those prove nothing."
        keys = tuple(row.key for row in report.cases if Ceiling.LEAK in row.ceilings)
        found.append(Advice(text=text, filter={"ceiling": Ceiling.LEAK.value}, cases=keys))
    for name, what in (
        ("retrieval.in_turn.recall", "was offered"),
        ("retrieval.direct.recall", "gets from its retriever"),
    ):
        recall = summary.metrics.get(name)
        if recall is not None and recall.mean is not None and recall.mean < 0.9:
            text = f"The agent {what} only {percent(recall.mean)} of the tables it needs: start with retrieval."
            short = sorted((row for row in report.cases if row.metrics.get(name, 1.0) < 1.0), key=_by(name))
            shown = {"metric": name, "max": "0.999", "sort": "metric:asc"}
            found.append(Advice(text=text, filter=shown, cases=tuple(row.key for row in short)))
            break
    failing = [row for row in report.buckets if not row.bucket.unscored]
    total = sum(row.count for row in failing)
    found += [
        Advice(
            text=f"{row.title}: {row.count:,} of {plural(total, 'failure')}. {row.remedy}",
            filter={"bucket": row.bucket.value},
            cases=row.keys,
        )
        for row in failing[:3]
    ]
    return tuple(found[:3])


def _by(name: str) -> Callable[[CaseRow], float]:
    return lambda row: row.metrics[name]


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
