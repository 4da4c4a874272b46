"""A run in numbers: denominators, reasons, clusters, repeats and slices on small hand-made runs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sqlassay.records.case import Case, IdSetShape, Status
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.run import TrialKey
from sqlassay.records.value import Broken, Ceiling, Quantity, Ratio, Reason, Undefined, verdict
from sqlassay.summary.aggregate import summarise
from sqlassay.summary.model import Summary
from sqlassay.testing.builders import case, measurement


def summary(
    measurements: list[Measurement],
    *,
    cases: list[Case] | None = None,
    attempted: list[TrialKey] | None = None,
    twins: list[frozenset[str]] | None = None,
) -> Summary:
    known = cases if cases is not None else [case(i) for i in dict.fromkeys(m.case_id for m in measurements)]
    return summarise(
        measurements,
        {c.id: c for c in known},
        signature="sqlassay 0 | abc",
        run_id="r1",
        attempted=attempted,
        twins=twins,
    )


def test_a_mean_carries_its_n_and_what_was_left_out() -> None:
    # 17 cases, 9 of them without grouping: n = 8, not a mean near one half.
    grouped = [measurement(f"g{i}", metrics={"component.group_by.recall": verdict(i < 6)}) for i in range(8)]
    other = [
        measurement(f"o{i}", metrics={"component.group_by.recall": Undefined(reason=Reason.NOTHING_TO_COUNT)})
        for i in range(9)
    ]
    estimate = summary(grouped + other).metrics["component.group_by.recall"]
    assert (estimate.mean, estimate.n, estimate.attempted) == (0.75, 8, 17)
    assert estimate.undefined == {Reason.NOTHING_TO_COUNT: 9}


def test_the_agents_failures_count_and_the_golds_do_not() -> None:
    # 7 right, 5 failed by the agent (two crashed), 2 whose gold does not run: 7/12, never 7/10.
    lines = [measurement(f"r{i}") for i in range(7)]
    lines += [measurement(f"w{i}", bucket=Bucket.WRONG_VALUES) for i in range(3)]
    lines += [measurement(f"c{i}", bucket=Bucket.AGENT_ERROR) for i in range(2)]
    lines += [measurement(f"g{i}", bucket=Bucket.GOLD_ERROR) for i in range(2)]
    found = summary(lines)
    estimate = found.metrics["outcome.pass"]
    assert estimate.mean == pytest.approx(7 / 12)
    assert (estimate.n, estimate.attempted, estimate.unscored) == (12, 14, 2)
    expected = stats.binomtest(7, 12).proportion_ci(method="wilson")
    assert estimate.interval == pytest.approx((expected.low, expected.high))
    assert estimate.method == "wilson"
    assert estimate.bounds == pytest.approx((7 / 14, 9 / 14))
    assert (found.counts.scored, found.counts.unscored, found.counts.passed, found.counts.failed) == (12, 2, 7, 5)
    assert found.buckets[Bucket.AGENT_ERROR] == 2
    assert found.self_checks.clean


def test_trials_without_a_line_are_missing_not_absent() -> None:
    keys = [TrialKey(case_id=c) for c in "abc"]
    found = summary([measurement("a")], cases=[case(c) for c in "abcd"], attempted=keys)
    assert (found.counts.cases, found.counts.attempted, found.counts.scored, found.counts.missing) == (4, 3, 1, 2)
    estimate = found.metrics["execution.exact"]
    assert (estimate.mean, estimate.n, estimate.attempted) == (1.0, 1, 3)
    assert estimate.undefined == {Reason.NOT_ASKED: 2}
    assert estimate.bounds == pytest.approx((1 / 3, 1.0))


def test_a_line_that_comes_twice_counts_once() -> None:
    assert summary([measurement("a"), measurement("a")]).counts.trials == 1


def test_repeats_are_averaged_within_their_case_first() -> None:
    # Case a: right 1 of 4 times; case b: right once. Mean of cases 0.625, not 2/5.
    lines = [measurement("a", repeat=i, bucket=None if i == 0 else Bucket.WRONG_VALUES) for i in range(4)]
    found = summary([*lines, measurement("b")])
    assert found.metrics["outcome.pass"].mean == pytest.approx(0.625)
    assert found.counts.failed == 1
    assert (found.counts.trials, found.counts.trials_passed) == (5, 2)


def test_pass_at_k_and_flips() -> None:
    right = {"a": 1, "b": 4, "c": 0}
    lines = [
        measurement(c, repeat=i, bucket=None if i < k else Bucket.WRONG_VALUES)
        for c, k in right.items()
        for i in range(4)
    ]
    repeats = summary(lines).repeats
    assert repeats is not None
    # By hand, drawing 2 of 4: a has one right (3 of 6 pairs hold it), b always, c never.
    assert repeats.pass_at[1] == pytest.approx((0.5 + 1 + 0) / 3)
    assert repeats.pass_all[1] == pytest.approx((0 + 1 + 0) / 3)
    assert repeats.pass_at[0] == repeats.pass_all[0] == pytest.approx(5 / 12)
    assert repeats.flips == pytest.approx(1 / 3)
    assert (repeats.flipping, repeats.cases, repeats.repeats) == (("a",), 3, 4)


def test_wordings_of_a_case_are_one_case_in_repeats() -> None:
    def line(case_id: str, phrasing: int, repeat: int, right: bool) -> Measurement:
        return measurement(case_id, phrasing=phrasing, repeat=repeat, bucket=None if right else Bucket.WRONG_VALUES)

    # Case a: one wording always right, the other never; case b: flips in its only wording.
    lines = [line("a", w, r, w == 0) for w in range(2) for r in range(2)] + [line("b", 0, r, r == 0) for r in range(2)]
    repeats = summary(lines).repeats
    assert repeats is not None
    assert repeats.pass_at == pytest.approx((0.5, (0.5 + 1) / 2))
    assert repeats.pass_all == pytest.approx((0.5, (0.5 + 0) / 2))
    assert (repeats.flips, repeats.flipping) == (0.5, ("b",))


def test_consistency_over_phrasings_compares_results_where_known() -> None:
    def line(case_id: str, phrasing: int, digest: str | None) -> Measurement:
        return measurement(
            case_id, phrasing=phrasing, bucket=Bucket.WRONG_VALUES, evidence={"execution": {"candidate_digest": digest}}
        )

    both_wrong_apart = [line("a", 0, "x"), line("a", 1, "y"), line("b", 0, "z"), line("b", 1, "z")]
    known = summary(both_wrong_apart).phrasings
    assert known is not None
    assert (known.by, known.consistent, known.inconsistent) == ("result", 0.5, ("a",))
    unknown = summary([line("a", 0, None), line("a", 1, None)]).phrasings
    assert unknown is not None
    assert (unknown.by, unknown.consistent) == ("verdict", 1.0)


def test_clusters_of_twins_widen_the_interval() -> None:
    lines = [measurement(f"c{i}", bucket=None if i % 4 else Bucket.WRONG_VALUES) for i in range(40)]
    alone = summary(lines).metrics["outcome.pass"]
    twins = [frozenset(f"c{i}" for i in range(40) if i % 8 == rest) for rest in range(8)]
    paired = summary(lines, twins=twins).metrics["outcome.pass"]
    assert (alone.method, paired.method) == ("wilson", "bootstrap")
    assert alone.interval is not None
    assert paired.interval is not None
    assert paired.interval[1] - paired.interval[0] > alone.interval[1] - alone.interval[0]


def test_a_bootstrap_that_sees_no_spread_says_so() -> None:
    lines = [measurement("a"), measurement("b"), measurement("c")]
    estimate = summary(lines, twins=[frozenset("ab")]).metrics["outcome.pass"]
    expected = stats.binomtest(2, 2).proportion_ci(method="wilson")
    assert estimate.method == "wilson_clusters"
    assert estimate.interval == pytest.approx((expected.low, expected.high))


@given(st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_nothing(shuffler: random.Random) -> None:
    lines = [
        measurement(
            f"c{i}",
            bucket=None if i % 3 else Bucket.TOO_MANY_ROWS,
            metrics={"output.cells.precision": Ratio(hits=i % 5, total=5), "cost.latency_s": _seconds(i)},
        )
        for i in range(12)
    ]
    before = summary(lines, cases=[case(f"c{i}", category="ab"[i % 2]) for i in range(12)]).to_dict()
    shuffled = list(lines)
    shuffler.shuffle(shuffled)
    assert summary(shuffled, cases=[case(f"c{i}", category="ab"[i % 2]) for i in range(12)]).to_dict() == before


def _seconds(value: float) -> Quantity:
    return Quantity(value=value / 10, unit="seconds")


def test_slices_hold_the_same_numbers_as_a_run_of_their_cases() -> None:
    cases = [case(f"c{i}", category="filter" if i < 4 else "join", tags=("smoke",) if i == 0 else ()) for i in range(9)]
    lines = [
        measurement(
            f"c{i}", bucket=None if i % 2 else Bucket.WRONG_VALUES, evidence={"sql": {"gold_tables": ["t"] * (i % 3)}}
        )
        for i in range(9)
    ]
    found = summary(lines, cases=cases)
    assert set(found.slices) == {"category", "tag", "tables"}
    for value, chosen in {"filter": range(4), "join": range(4, 9)}.items():
        alone = summary([lines[i] for i in chosen], cases=[cases[i] for i in chosen]).metrics["outcome.pass"]
        sliced = found.slices["category"][value]["outcome.pass"]
        assert (sliced.mean, sliced.n, sliced.interval) == (alone.mean, alone.n, alone.interval)
    assert found.slices["tag"]["smoke"]["outcome.pass"].n == 1
    assert {k: v["outcome.pass"].n for k, v in found.slices["tables"].items()} == {"1": 3, "2": 3}


def test_a_broken_metric_is_a_harness_error() -> None:
    found = summary([measurement("a", metrics={"component.joins.recall": Broken(error="boom")}), measurement("b")])
    assert found.self_checks.harness_errors == 1
    estimate = found.metrics["component.joins.recall"]
    assert (estimate.n, estimate.undefined) == (0, {Reason.HARNESS_FAILED: 1, Reason.NOT_APPLICABLE: 1})


def test_stages_never_recorded_fail_the_self_check() -> None:
    missing = Undefined(reason=Reason.NOT_RECORDED)
    lines = [
        measurement("a", metrics={"stages.plan": missing, "stages.sql": verdict(True)}),
        measurement(
            "b",
            bucket=Bucket.WRONG_VALUES,
            first_broken_stage="sql",
            metrics={"stages.plan": missing, "stages.sql": verdict(False)},
        ),
    ]
    found = summary(lines)
    assert found.self_checks.stages_never_recorded == ("plan",)
    assert not found.self_checks.clean
    stages = {
        stage.name: (stage.passed, stage.failed, stage.not_recorded, stage.first_broken) for stage in found.stages
    }
    assert stages == {"plan": (0, 0, 2, 0), "sql": (1, 1, 0, 1)}
    assert found.stage_buckets == {"sql": {Bucket.WRONG_VALUES: 1}}


def _output(cells: float) -> dict[str, Ratio]:
    return {
        "output.columns.precision": Ratio(hits=1, total=1),
        "output.columns.recall": Ratio(hits=1, total=1),
        "output.cells.precision": Ratio(hits=cells, total=1),
        "output.cells.recall": Ratio(hits=cells, total=1),
    }


def test_scorer_disagreements_both_ways() -> None:
    paired = {"output": {"pairs": [{}, {}]}, "sql": {"gold_origins": [None, None]}}
    perfect_but_wrong = measurement("a", bucket=Bucket.WRONG_VALUES, metrics=_output(1))
    only_order = measurement("b", bucket=Bucket.WRONG_ORDER, metrics=_output(1), shape=ShapeLabel.WRONG_ORDER)
    right_but_below = measurement("c", metrics=_output(0.5), evidence=paired)
    right_with_tie = measurement("d", metrics=_output(0.5), evidence=paired, ceilings=[Ceiling.TIE_AT_LIMIT])
    other_shape = measurement("e", bucket=Bucket.WRONG_VALUES, metrics=_output(1))
    cases = [case(c) for c in "abcd"] + [case("e", compare_on=IdSetShape(column="id"))]
    both_empty = measurement("f", metrics=_output(0), evidence=paired, ceilings=[Ceiling.BOTH_EMPTY])
    crossed = measurement("g", bucket=Bucket.WRONG_VALUES, metrics=_output(1), ceilings=[Ceiling.LABELS_CROSSED])
    lines = [perfect_but_wrong, only_order, right_but_below, right_with_tie, other_shape, both_empty, crossed]
    assert summary(lines, cases=cases).self_checks.scorer_disagreements == 2


def test_findings_and_behaviour() -> None:
    def ended(case_id: str, bucket: Bucket | None, expected: str, actual: str | None) -> Measurement:
        return measurement(case_id, bucket=bucket, evidence={"behaviour": {"expected": expected, "actual": actual}})

    lines = [
        ended("a", Bucket.NO_QUERY_HALLUCINATION, "SUCCESS", "SUCCESS"),
        ended("b", Bucket.ASKED_CLARIFICATION, "SUCCESS", "CLARIFICATION"),
        ended("c", None, "CLARIFICATION", "CLARIFICATION"),
        ended("d", Bucket.EXTRACTOR_EMPTY, "SUCCESS", None),
    ]
    found = summary(lines, cases=[case("a"), case("b"), case("c", expected=Status.CLARIFICATION), case("d")])
    assert (found.findings.not_answered_from_query, found.findings.hallucinated) == (2, 1)
    assert {(c.expected, c.actual): c.count for c in found.behaviour} == {
        ("SUCCESS", "SUCCESS"): 1,
        ("SUCCESS", "CLARIFICATION"): 1,
        ("CLARIFICATION", "CLARIFICATION"): 1,
        ("SUCCESS", "NONE"): 1,
    }
    assert found.self_checks.extractor_empty == 1


def test_an_empty_run_is_a_summary_too() -> None:
    found = summary([], cases=[case("a")])
    assert found.metrics == {}
    assert found.counts.attempted == 0
    assert found.to_dict()["ceilings"]["leak"] == 0


def test_summary_json_has_the_published_keys() -> None:
    plain = summary([measurement("a", ceilings=[Ceiling.WEAK_EVIDENCE])], cases=[case("a", category="x")]).to_dict()
    assert plain["metrics"]["execution.exact"]["mean"] == 1.0
    assert plain["metrics"]["execution.exact"]["undefined"] == {}
    assert len(plain["metrics"]["execution.exact"]["interval"]) == 2
    assert plain["ceilings"]["weak_evidence"] == 1
    assert set(plain["buckets"]) == {bucket.value for bucket in Bucket}
    assert plain["slices"]["category"]["x"]["execution.exact"]["n"] == 1
    assert plain["findings"]["not_answered_from_query"] == 0


def test_summary_json_fits_its_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from sqlassay.records.json_schema import schema_of
    from sqlassay.summary.published import Published

    everything = [
        measurement(
            c,
            repeat=repeat,
            phrasing=phrasing,
            bucket=Bucket.WRONG_VALUES if (c, repeat) == ("a", 1) else None,
            ceilings=[Ceiling.LEAK],
            first_broken_stage="plan" if (c, repeat) == ("a", 1) else None,
            metrics={"stages.plan": verdict(c == "b"), "cost.latency_s": _seconds(repeat)},
            evidence={"behaviour": {"expected": "SUCCESS", "actual": "SUCCESS", "status_source": "declared"}},
        )
        for c in "ab"
        for repeat in range(2)
        for phrasing in range(2)
    ]
    for lines in (everything, []):
        plain = summary(lines, cases=[case("a", category="x"), case("b")]).to_dict()
        jsonschema.validate(plain, schema_of(Published, title="summary"))
