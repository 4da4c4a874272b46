"""Two runs paired by case: flips by name, tests, moved data, risen ceilings, unequal settings."""

from __future__ import annotations

import pytest
from scipy import stats

from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.value import Ceiling
from sqlassay.summary.aggregate import summarise
from sqlassay.summary.compare import compare
from sqlassay.summary.model import Summary
from sqlassay.testing.builders import case, measurement

WRONG, ROWS, GOLD = Bucket.WRONG_VALUES, Bucket.TOO_MANY_ROWS, Bucket.GOLD_ERROR


def run(lines: list[Measurement], *, signature: str = "sqlassay 0 | ties:accept | aa") -> Summary:
    cases = {m.case_id: case(m.case_id, category=m.case_id[0]) for m in lines}
    return summarise(lines, cases, signature=signature, run_id="r")


def test_flips_are_named() -> None:
    before = run(
        [measurement(c, bucket=b) for c, b in {"a": WRONG, "b": None, "c": WRONG, "d": None, "e": GOLD}.items()]
    )
    after = run([measurement(c, bucket=b) for c, b in {"a": None, "b": ROWS, "c": ROWS, "e": None, "f": None}.items()])
    change = compare(before, after)
    assert [f.case_id for f in change.fixed] == ["a"]
    assert [(f.case_id, f.before, f.after) for f in change.broken] == [("b", None, ROWS)]
    assert [f.case_id for f in change.flipped] == ["c"]
    assert (change.only_before, change.only_after, change.unscored) == (("d",), ("f",), ("e",))
    assert change.same_signature
    assert change.warnings == ()


def test_mcnemar_decides_on_the_question_itself() -> None:
    fixed = 12
    before = run([measurement(f"a{i}", bucket=WRONG if i < fixed else None) for i in range(40)])
    after = run(
        [measurement(f"a{i}", bucket=WRONG if i == 39 else None) for i in range(40)]
        + [measurement(f"a{i}", repeat=1, bucket=WRONG) for i in range(40)]
    )
    change = compare(before, after)
    headline = next(m for m in change.metrics if m.name == "outcome.pass")
    assert (headline.fixed, headline.broken, headline.test) == (12, 1, "mcnemar")
    assert headline.p == pytest.approx(stats.binomtest(1, 13, 0.5).pvalue)


def test_the_verdict_needs_more_than_luck() -> None:
    base = run([measurement(f"a{i}", bucket=WRONG if i < 10 else None) for i in range(30)])
    better = run([measurement(f"a{i}") for i in range(30)])
    slightly = run([measurement(f"a{i}", bucket=WRONG if i < 8 else None) for i in range(30)])
    assert compare(base, better).verdict == "better"
    assert compare(better, base).verdict == "worse"
    assert compare(base, slightly).verdict == "no difference shown"


def test_moved_data_stands_apart() -> None:
    def line(bucket: Bucket | None, digest: str) -> Measurement:
        return measurement("a", bucket=bucket, evidence={"execution": {"gold_digest": digest}})

    change = compare(run([line(None, "x"), measurement("b")]), run([line(WRONG, "y"), measurement("b")]))
    assert change.moved == ("a",)
    assert change.broken == ()
    assert any("data moved" in warning for warning in change.warnings)
    assert next(m for m in change.metrics if m.name == "outcome.pass").n == 1


def test_unequal_settings_warn_and_are_named() -> None:
    change = compare(run([measurement("a")]), run([measurement("a")], signature="sqlassay 0 | ties:strict | bb"))
    assert not change.same_signature
    assert "ties: accept / strict" in change.warnings[0]


def test_a_ceiling_that_rose_is_named() -> None:
    change = compare(run([measurement("a")]), run([measurement("a", ceilings=[Ceiling.LEAK])]))
    assert change.risen_ceilings == ((Ceiling.LEAK, 0, 1),)


def test_slices_are_adjusted_together() -> None:
    before = run([measurement(f"{s}{i}", bucket=WRONG if s == "x" else None) for s in "xy" for i in range(8)])
    after = run([measurement(f"{s}{i}") for s in "xy" for i in range(8)])
    change = compare(before, after)
    by_value = {row.value: row for row in change.slices if row.dimension == "category"}
    assert by_value["x"].p == pytest.approx(2 / 2**8)
    assert by_value["x"].adjusted == pytest.approx(2 * 2 / 2**8)
    assert by_value["y"].p == 1.0
    assert change.to_dict()["verdict"] == "better"
