"""Does the run meet the rules? Yes, no, or it cannot be told, whatever the unscored cases would have said."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlassay.errors import ExitCode
from sqlassay.gate.rules import GateRules, NoRegressions, Rule, Slice, Subject
from sqlassay.records.measurement import Bucket
from sqlassay.records.value import Ceiling
from sqlassay.summary.compare import Change, compare
from sqlassay.summary.model import Estimate, Outcome, Summary
from sqlassay.summary.paired import mcnemar
from sqlassay.summary.slices import slices_of

_SLACK = 1e-9
_NAMED = 8


class State(StrEnum):
    """What a rule, or the whole gate, says."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """One rule with its state, a sentence, and the ids of the cases that decide it."""

    rule: str
    state: State
    sentence: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate says: failed when a rule failed, else cannot tell when one cannot be told, else passed."""

    state: State
    sentence: str
    results: tuple[RuleResult, ...]

    @property
    def exit_code(self) -> ExitCode:
        return {
            State.PASSED: ExitCode.OK,
            State.FAILED: ExitCode.GATE_FAILED,
            State.CANNOT_TELL: ExitCode.INCOMPLETE,
        }[self.state]

    def to_dict(self) -> dict[str, Any]:
        return {
            "state": self.state.value,
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "rules": [
                {"rule": r.rule, "state": r.state.value, "sentence": r.sentence, "cases": list(r.cases)}
                for r in self.results
            ],
        }


def judge(summary: Summary, rules: GateRules, *, baseline: Summary | None = None) -> Verdict:
    """Decide (specification section 9): a rule is failed when it would fail even if every unscored case were right,
    passed when it holds even if all of them were wrong, else it cannot be told. No rules at all pass nothing.

    `baseline` is the run that `no_regressions` compares with.
    """
    results = [_compare_rule(summary, rule) for rule in rules.require]
    if rules.all_pass:
        results.append(_all_pass(summary))
    if rules.no_regressions is not None:
        results.append(_no_regressions(summary, baseline, rules.no_regressions))
    if rules.min_scored is not None:
        results.append(_enough(summary, rules.min_scored))
    if not results:
        sentence = "The gate has no rules, so it cannot tell."
        return Verdict(state=State.CANNOT_TELL, sentence=sentence, results=())
    state = next((s for s in (State.FAILED, State.CANNOT_TELL) if any(r.state is s for r in results)), State.PASSED)
    return Verdict(state=state, sentence=_overall(state, results), results=tuple(results))


def _overall(state: State, results: list[RuleResult]) -> str:
    deciding = "; ".join(result.sentence.removesuffix(".") for result in results if result.state is state)
    match state:
        case State.PASSED:
            return f"The gate passed: {len(results)} of {len(results)} rules hold."
        case State.FAILED:
            return f"The gate failed: {deciding}."
        case State.CANNOT_TELL:
            return f"The gate cannot tell: {deciding}."


def _compare_rule(summary: Summary, rule: Rule) -> RuleResult:
    chosen = tuple(_within(summary, rule.slice))
    if rule.slice is not None and not chosen:
        return RuleResult(rule=rule.text, state=State.CANNOT_TELL, sentence=_no_slice(summary, rule))
    if rule.subject is Subject.METRIC:
        return _metric_rule(summary, rule, chosen)
    return _count_rule(summary, rule, chosen)


def _metric_rule(summary: Summary, rule: Rule, chosen: tuple[Outcome, ...]) -> RuleResult:
    metrics = summary.metrics
    if rule.slice is not None:
        metrics = summary.slices.get(rule.slice.dimension, {}).get(rule.slice.value, {})
    estimate = metrics.get(rule.name)
    if estimate is None or (estimate.n == 0 and not estimate.unscored):
        why = f"{rule.text}: no case has a value of {rule.name}."
        return RuleResult(rule=rule.text, state=State.CANNOT_TELL, sentence=why)
    unscored = _unscored(chosen)
    if estimate.bounds is None:
        why = (
            f"{rule.text}: {estimate.unscored} case(s) have no value, and any could change the mean{_named(unscored)}."
        )
        return RuleResult(rule=rule.text, state=State.CANNOT_TELL, sentence=why, cases=_ids(unscored))
    low, high = estimate.bounds
    state = _state(rule, low, high)
    said = f"{rule.text}: it is {_mean(estimate)}"
    match state:
        case State.PASSED:
            even = (
                f", and at least {low:.4g} whatever the {estimate.unscored} unscored would be"
                if estimate.unscored
                else ""
            )
            return RuleResult(rule=rule.text, state=state, sentence=f"{said}{even}.")
        case State.FAILED:
            valued = summary.per_case.values.get(rule.name, {})
            failing = [o for o in chosen if o.passed is False and o.key.case_id in valued]
            even = (
                f", and {low:.4g} to {high:.4g} whatever the {estimate.unscored} unscored would be"
                if estimate.unscored
                else ""
            )
            sentence = f"{said}{even}{_named(failing)}."
            return RuleResult(rule=rule.text, state=state, sentence=sentence, cases=_ids(failing))
        case State.CANNOT_TELL:
            sentence = f"{said}, but {low:.4g} to {high:.4g} with the {estimate.unscored} unscored{_named(unscored)}."
            return RuleResult(rule=rule.text, state=state, sentence=sentence, cases=_ids(unscored))


def _count_rule(summary: Summary, rule: Rule, chosen: tuple[Outcome, ...]) -> RuleResult:
    missing = summary.counts.missing
    if rule.subject is Subject.BUCKET:
        bucket = Bucket(rule.name)
        hits = [o for o in chosen if o.bucket is bucket]
        open_ = [] if bucket.unscored else [o for o in chosen if o.passed is None]
    else:
        ceiling = Ceiling(rule.name)
        hits = [o for o in chosen if ceiling in o.ceilings]
        open_ = [o for o in chosen if o.bucket is Bucket.HARNESS_ERROR and ceiling not in o.ceilings]
    unknown = len(open_) + missing
    state = _state(rule, len(hits), len(hits) + unknown)
    noun = f"{rule.subject.value} {rule.name}"
    if state is State.CANNOT_TELL:
        lost = f", {missing} of them never scored" if missing else ""
        sentence = f"{rule.text}: {noun} has {len(hits)}, but {unknown} trial(s) are unscored{lost}{_named(open_)}."
        return RuleResult(rule=rule.text, state=state, sentence=sentence, cases=_ids(open_))
    named = hits if state is State.FAILED else []
    sentence = f"{rule.text}: {noun} has {len(hits)}{_named(named)}."
    return RuleResult(rule=rule.text, state=state, sentence=sentence, cases=_ids(named))


def _all_pass(summary: Summary) -> RuleResult:
    failing = [o for o in summary.outcomes if o.passed is False]
    if failing:
        cases = len(set(_ids(failing)))
        sentence = f"all_pass: {len(failing)} trial(s) of {cases} case(s) failed{_named(failing)}."
        return RuleResult(rule="all_pass", state=State.FAILED, sentence=sentence, cases=_ids(failing))
    unscored = _unscored(summary.outcomes)
    if unscored or summary.counts.missing or not summary.outcomes:
        lost = len(unscored) + summary.counts.missing
        said = f"{lost} trial(s) are unscored{_named(unscored)}" if lost else "nothing was scored"
        return RuleResult(rule="all_pass", state=State.CANNOT_TELL, sentence=f"all_pass: {said}.", cases=_ids(unscored))
    return RuleResult(
        rule="all_pass", state=State.PASSED, sentence=f"all_pass: all {len(summary.outcomes)} trials passed."
    )


def _no_regressions(summary: Summary, baseline: Summary | None, rule: NoRegressions) -> RuleResult:
    name = "no_regressions" if rule.level is None else f"no_regressions at {rule.level:g}"

    def result(state: State, said: str, cases: Iterable[str] = ()) -> RuleResult:
        return RuleResult(rule=name, state=state, sentence=f"{name}: {said}.", cases=tuple(cases))

    if baseline is None:
        return result(State.CANNOT_TELL, "there is no baseline run")
    change = compare(baseline, summary)
    if not change.same_signature:
        return result(State.CANNOT_TELL, f"{change.warnings[0]}")
    paired = len(change.fixed) + len(change.broken)
    broken = [flip.case_id for flip in change.broken]
    lost = _lost(change)
    named = _named_pairs([(flip.case_id, flip.after) for flip in change.broken])
    moved = f"; the data moved under {len(change.moved)}" if change.moved else ""
    if rule.level is None:
        if broken:
            gone = f"; {len(lost)} more are unscored now ({', '.join(lost[:_NAMED])})" if lost else ""
            said = f"{len(broken)} case(s) passed in {baseline.run_id} and fail now{named}{gone}{moved}"
            return result(State.FAILED, said, broken)
        if lost:
            return result(
                State.CANNOT_TELL,
                f"{len(lost)} case(s) passed before and are unscored now ({', '.join(lost[:_NAMED])})",
                lost,
            )
        return result(State.PASSED, f"no case that passed in {baseline.run_id} fails now{moved}")
    level, fixed, open_ = rule.level, len(change.fixed), _lost(change, passed=False)
    p = mcnemar(fixed, len(broken))

    def worse(more_fixed: int, more_broken: int) -> bool:
        up, down = fixed + more_fixed, len(broken) + more_broken
        return down > up and mcnemar(up, down) < level

    if worse(len(open_), 0):
        return result(State.FAILED, f"{len(broken)} broken against {fixed} fixed, p = {p:.3g}{named}{moved}", broken)
    if worse(0, len(lost)):
        unknown = [*lost, *open_]
        shown = ", ".join(unknown[:_NAMED])
        said = f"{len(broken)} broken against {fixed} fixed, and {len(unknown)} case(s) are unscored now ({shown})"
        return result(State.CANNOT_TELL, said, unknown)
    return result(State.PASSED, f"{len(broken)} broken and {fixed} fixed of {paired} changed cases, p = {p:.3g}{moved}")


def _lost(change: Change, *, passed: bool = True) -> list[str]:
    """Cases that passed in the baseline (or failed there) and have no verdict now."""
    before = {o.key.case_id: o for o in change.before.outcomes if o.key.phrasing == 0 and o.key.repeat == 0}
    now = {o.key.case_id for o in change.after.outcomes if o.key.phrasing == 0 and o.key.repeat == 0}
    planned = set(change.after.per_case.ids)
    unscored = [c for c in change.unscored if before[c].passed is passed]
    gone = [c for c in change.only_before if before[c].passed is passed and c in planned and c not in now]
    return unscored + gone


def _enough(summary: Summary, share: float) -> RuleResult:
    counts = summary.counts
    reached = counts.scored / counts.attempted if counts.attempted else 0.0
    said = f"min_scored {share:g}: {counts.scored} of {counts.attempted} attempted cases were scored"
    enough = reached >= share - _SLACK
    unscored = [] if enough else _unscored(summary.outcomes)
    state = State.PASSED if enough else State.CANNOT_TELL
    return RuleResult(
        rule=f"min_scored {share:g}", state=state, sentence=f"{said}{_named(unscored)}.", cases=_ids(unscored)
    )


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, threshold: value >= threshold - _SLACK,
    "<=": lambda value, threshold: value <= threshold + _SLACK,
    ">": lambda value, threshold: value > threshold + _SLACK,
    "<": lambda value, threshold: value < threshold - _SLACK,
    "==": lambda value, threshold: abs(value - threshold) <= _SLACK,
    "!=": lambda value, threshold: abs(value - threshold) > _SLACK,
}


def _state(rule: Rule, low: float, high: float) -> State:
    """The rule over everything the value could be: `low` to `high`."""
    inside = low - _SLACK <= rule.threshold <= high + _SLACK
    settled = high - low <= _SLACK
    if rule.operator in ("==", "!=") and not settled:
        if inside:
            return State.CANNOT_TELL
        return State.FAILED if rule.operator == "==" else State.PASSED
    ends = [_COMPARE[rule.operator](value, rule.threshold) for value in (low, high)]
    if all(ends):
        return State.PASSED
    return State.CANNOT_TELL if operator.or_(*ends) else State.FAILED


def _within(summary: Summary, part: Slice | None) -> Iterable[Outcome]:
    if part is None:
        return summary.outcomes
    per_case = summary.per_case
    wanted = (part.dimension, part.value)
    members = {
        case_id
        for case_id, case in per_case.cases.items()
        if wanted in slices_of(case, tables=per_case.tables.get(case_id))
    }
    return (outcome for outcome in summary.outcomes if outcome.key.case_id in members)


def _no_slice(summary: Summary, rule: Rule) -> str:
    assert rule.slice is not None
    known = list(summary.slices.get(rule.slice.dimension, {}))
    near = difflib.get_close_matches(rule.slice.value, known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else f" (there are {', '.join(known[:_NAMED])})" if known else ""
    return f"{rule.text}: no case in {rule.slice.dimension} {rule.slice.value!r}{hint}."


def _mean(estimate: Estimate) -> str:
    return "unknown" if estimate.mean is None else f"{estimate.mean:.4g} over {estimate.n} of {estimate.attempted}"


def _unscored(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.passed is None]


def _ids(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(outcome.key.case_id for outcome in outcomes))


def _named(outcomes: Iterable[Outcome]) -> str:
    return _named_pairs([(outcome.key.case_id, outcome.bucket) for outcome in outcomes])


def _named_pairs(pairs: list[tuple[str, Bucket | None]]) -> str:
    unique = list(dict.fromkeys(pairs))
    if not unique:
        return ""
    shown = [f"{case_id} ({bucket.value if bucket else 'passed'})" for case_id, bucket in unique[:_NAMED]]
    more = f" and {len(unique) - _NAMED} more" if len(unique) > _NAMED else ""
    return f": {', '.join(shown)}{more}"
