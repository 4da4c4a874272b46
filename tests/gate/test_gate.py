"""Rules as written, and verdicts over everything the unscored cases could have been."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.errors import ConfigError, ExitCode
from sqlassay.gate.rules import GateRules, Subject, parse, rules
from sqlassay.gate.verdict import State, judge
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.run import TrialKey
from sqlassay.records.value import Ceiling, Quantity, Reason, Undefined, verdict
from sqlassay.summary.aggregate import summarise
from sqlassay.summary.model import Summary
from sqlassay.testing.builders import case, measurement

WRONG, GOLD, HARNESS = Bucket.WRONG_VALUES, Bucket.GOLD_ERROR, Bucket.HARNESS_ERROR


def run(*lines: Measurement, signature: str = "sqlassay 0 | aa", missing: tuple[str, ...] = ()) -> Summary:
    ids = [*dict.fromkeys(m.case_id for m in lines), *missing]
    cases = {i: case(i, category="filter" if i.startswith("f") else "join") for i in ids}
    keys = [TrialKey(case_id=i) for i in ids]
    return summarise(lines, cases, signature=signature, run_id="base", attempted=keys if missing else None)


def verdicts(right: int, wrong: int, unscored: int) -> Summary:
    return run(
        *[measurement(f"r{i}") for i in range(right)],
        *[measurement(f"w{i}", bucket=WRONG) for i in range(wrong)],
        *[measurement(f"u{i}", bucket=GOLD) for i in range(unscored)],
    )


@pytest.mark.parametrize(
    ("text", "subject", "name", "operator", "threshold"),
    [
        ("outcome.pass>=.9", Subject.METRIC, "outcome.pass", ">=", 0.9),
        ("outcome.pass = 90%", Subject.METRIC, "outcome.pass", "==", 0.9),
        ("bucket.sql_error == 0", Subject.BUCKET, "sql_error", "==", 0),
        (" ceiling.leak < 3 ", Subject.CEILING, "leak", "<", 3),
    ],
)
def test_rules_as_written(text: str, subject: Subject, name: str, operator: str, threshold: float) -> None:
    rule = parse(text)
    assert (rule.subject, rule.name, rule.operator, rule.threshold) == (subject, name, operator, threshold)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("outcome.pas >= 0.9", "outcome.pass"),
        ("bucket.too_many_row == 0", "too_many_rows"),
        ("ceiling.leek == 0", "leak"),
        ("outcome.pass[categry=x] >= 0.9", "category"),
    ],
)
def test_a_misspelt_name_gets_a_suggestion(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(text)
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    "text", ["outcome.pass", "outcome.pass >= high", "outcome.pass >= nan", "outcome.pass[x] >= 1"]
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ConfigError):
        parse(text)


@given(
    st.integers(0, 6), st.integers(0, 6), st.integers(0, 5), st.sampled_from([">=", "<=", ">", "<", "==", "!="]),
    st.sampled_from([0, 0.25, 0.5, 0.75, 0.9, 1]),
)  # fmt: skip
def test_the_verdict_holds_for_every_outcome_of_the_unscored(
    right: int, wrong: int, unscored: int, operator: str, threshold: float
) -> None:
    if right + wrong + unscored == 0:
        return
    found = judge(verdicts(right, wrong, unscored), rules([f"outcome.pass {operator} {threshold}"])).state

    def holds(value: float) -> bool:
        near = abs(value - threshold) < 1e-9
        more = value > threshold
        return {">=": more or near, "<=": not more or near, ">": more and not near, "<": not more and not near}.get(
            operator, near if operator == "==" else not near
        )

    worlds = [
        holds((right + sum(world)) / (right + wrong + unscored)) for world in itertools.product((0, 1), repeat=unscored)
    ]
    if found is State.PASSED:
        assert all(worlds)
    elif found is State.FAILED:
        assert not any(worlds)
    elif operator in (">=", "<=", ">", "<"):
        assert any(worlds)
        assert not all(worlds)


def test_a_failed_rule_names_cases_and_causes() -> None:
    verdict = judge(verdicts(2, 1, 0), rules(["outcome.pass >= 0.9"]))
    assert verdict.state is State.FAILED
    assert verdict.exit_code is ExitCode.GATE_FAILED
    assert "w0 (wrong_values)" in verdict.sentence


def test_a_failed_rule_names_only_cases_that_its_metric_has_a_value_for() -> None:
    no_gold = measurement(
        "no_gold",
        bucket=Bucket.NO_QUERY_HALLUCINATION,
        metrics={"execution.exact": Undefined(reason=Reason.NOT_APPLICABLE)},
    )
    wrong = measurement("wrong", bucket=WRONG, metrics={"execution.exact": verdict(False)})
    summary = run(no_gold, wrong)
    exact, passed = judge(summary, rules(["execution.exact >= 0.9", "outcome.pass >= 0.9"])).results
    assert (exact.state, exact.cases) == (State.FAILED, ("wrong",))
    assert "no_gold" not in exact.sentence
    assert passed.cases == ("no_gold", "wrong")


def test_one_unscored_case_leaves_the_strict_rule_open_and_the_loose_one_decided() -> None:
    summary = verdicts(9, 0, 1)
    assert judge(summary, rules(["outcome.pass >= 0.9"])).state is State.PASSED
    open_ = judge(summary, rules(["outcome.pass == 1"]))
    assert (open_.state, open_.exit_code) == (State.CANNOT_TELL, ExitCode.INCOMPLETE)
    assert "u0 (gold_error)" in open_.sentence
    assert judge(verdicts(0, 9, 1), rules(["outcome.pass >= 0.5"])).state is State.FAILED


def test_slices() -> None:
    summary = run(measurement("f1"), measurement("f2"), measurement("j1", bucket=WRONG))
    assert judge(summary, rules(["outcome.pass[category=filter] == 1"])).state is State.PASSED
    failed = judge(summary, rules(["outcome.pass[category=join] >= 0.5"]))
    assert failed.results[0].cases == ("j1",)
    unknown = judge(summary, rules(["outcome.pass[category=filtr] >= 0.5"]))
    assert unknown.state is State.CANNOT_TELL
    assert "did you mean filter" in unknown.sentence
    assert judge(summary, rules(["bucket.wrong_values[category=filter] == 0"])).state is State.PASSED


def test_buckets_and_ceilings() -> None:
    summary = run(
        measurement("a", bucket=Bucket.NO_QUERY_HALLUCINATION),
        measurement("b", ceilings=[Ceiling.LEAK]),
        measurement("c"),
    )
    failed = judge(summary, rules(["bucket.no_query_hallucination == 0", "bucket.sql_error == 0"]))
    assert failed.results[0].state is State.FAILED
    assert failed.results[0].cases == ("a",)
    assert failed.results[1].state is State.PASSED
    assert judge(summary, rules(["ceiling.leak == 0"])).results[0].cases == ("b",)


def test_an_unscored_case_could_be_in_any_bucket() -> None:
    summary = run(measurement("a"), measurement("b", bucket=HARNESS))
    assert judge(summary, rules(["bucket.sql_error == 0"])).state is State.CANNOT_TELL
    assert judge(summary, rules(["bucket.sql_error <= 1"])).state is State.PASSED
    assert judge(summary, rules(["bucket.harness_error == 0"])).state is State.FAILED
    assert judge(summary, rules(["ceiling.leak == 0"])).state is State.CANNOT_TELL
    gold_at_fault = run(measurement("a"), measurement("b", bucket=GOLD))
    assert judge(gold_at_fault, rules(["ceiling.leak == 0"])).state is State.PASSED


def test_a_trial_that_was_never_scored_leaves_it_open() -> None:
    summary = run(measurement("a"), missing=("b",))
    assert judge(summary, rules(["bucket.sql_error == 0"])).state is State.CANNOT_TELL
    assert judge(summary, rules(["outcome.pass >= 0.9"])).state is State.CANNOT_TELL
    assert judge(summary, rules(all_pass=True)).state is State.CANNOT_TELL


def test_all_pass_takes_every_sample() -> None:
    assert judge(run(measurement("a"), measurement("a", repeat=1)), rules(all_pass=True)).state is State.PASSED
    one = judge(run(measurement("a"), measurement("a", repeat=1, bucket=WRONG)), rules(["all_pass"]))
    assert one.state is State.FAILED
    assert "a (wrong_values)" in one.sentence


def test_a_quantity_with_unscored_cases_cannot_be_bounded() -> None:
    fast = {"cost.latency_s": Quantity(value=1.0, unit="seconds")}
    known = rules(["outcome.pass >= 0"]).require[0]
    latency = GateRules(
        require=(
            type(known)(text="latency", subject=Subject.METRIC, name="cost.latency_s", operator="<=", threshold=2),
        )
    )
    assert judge(run(measurement("a", metrics=fast)), latency).state is State.PASSED
    with_gap = run(measurement("a", metrics=fast), missing=("b",))
    assert judge(with_gap, latency).state is State.CANNOT_TELL


def test_no_regressions_by_case() -> None:
    before = run(measurement("a"), measurement("b"), measurement("c", bucket=WRONG))
    three = judge(
        run(measurement("a", bucket=WRONG), measurement("b"), measurement("c")),
        rules(no_regressions=True),
        baseline=before,
    )
    assert three.state is State.FAILED
    assert "a (wrong_values)" in three.sentence
    assert (
        judge(
            run(measurement("a"), measurement("b"), measurement("c")), rules(["no_regressions"]), baseline=before
        ).state
        is State.PASSED
    )
    lost = judge(
        run(measurement("a", bucket=HARNESS), measurement("b"), measurement("c")),
        rules(no_regressions=True),
        baseline=before,
    )
    assert lost.state is State.CANNOT_TELL
    assert lost.results[0].cases == ("a",)
    other = run(measurement("a"), measurement("b"), measurement("c"), signature="sqlassay 0 | bb")
    assert judge(other, rules(no_regressions=True), baseline=before).state is State.CANNOT_TELL
    assert judge(before, rules(no_regressions=True)).state is State.CANNOT_TELL


def test_no_regressions_at_a_level() -> None:
    before = run(*[measurement(f"a{i}") for i in range(20)])
    few = run(*[measurement(f"a{i}", bucket=WRONG if i < 3 else None) for i in range(20)])
    many = run(*[measurement(f"a{i}", bucket=WRONG if i < 9 else None) for i in range(20)])
    demand = rules(no_regressions=True, level=0.05)
    assert judge(few, demand, baseline=before).state is State.PASSED
    assert judge(many, demand, baseline=before).state is State.FAILED
    half_lost = run(*[measurement(f"a{i}", bucket=HARNESS if i < 9 else None) for i in range(20)])
    assert judge(half_lost, demand, baseline=before).state is State.CANNOT_TELL


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([True, True, False, None])), min_size=4, max_size=6),
    st.sampled_from([None, 0.05, 0.2, 0.4]),
)
def test_regressions_are_judged_over_every_outcome_of_the_unscored(
    pairs: list[tuple[bool, bool | None]], level: float | None
) -> None:
    before = run(*[measurement(f"c{i}", bucket=None if old else WRONG) for i, (old, _) in enumerate(pairs)])

    def verdict(now: list[bool | None]) -> State:
        buckets = [HARNESS if value is None else None if value else WRONG for value in now]
        after = run(*[measurement(f"c{i}", bucket=bucket) for i, bucket in enumerate(buckets)])
        return judge(after, rules(no_regressions=True, level=level), baseline=before).state

    now = [value for _, value in pairs]
    open_ = [i for i, value in enumerate(now) if value is None]
    could_be = set()
    for guess in itertools.product([True, False], repeat=len(open_)):
        settled = dict(zip(open_, guess, strict=True))
        could_be.add(verdict([settled.get(i, value) for i, value in enumerate(now)]))
    assert verdict(now) is (could_be.pop() if len(could_be) == 1 else State.CANNOT_TELL)


def test_no_rules_pass_nothing() -> None:
    assert judge(verdicts(1, 0, 0), rules()).state is State.CANNOT_TELL


def test_too_few_scored() -> None:
    assert judge(verdicts(5, 0, 5), rules(min_scored=0.9)).state is State.CANNOT_TELL
    assert judge(verdicts(5, 0, 0), rules(min_scored=0.9)).state is State.PASSED
    with pytest.raises(ConfigError):
        rules(min_scored=90)
