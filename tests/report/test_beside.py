"""The page marks exactly the cells that the scorer counts as different, by the settings of the run."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.records.case import IdSetShape, Tolerance
from sqlassay.records.measurement import Measurement, ShapeLabel
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.value import Ceiling
from sqlassay.report.alignment import Deciding, Grid, Mark, grid
from sqlassay.report.beside import CellRule
from sqlassay.report.build import build
from sqlassay.summary.aggregate import summarise
from sqlassay.tables.output import align
from sqlassay.tables.rule import TableRule
from sqlassay.testing.builders import case, relation

NUMBERS = st.sampled_from([0, 1, 1.0, 1.004, 1.008, 1.012, 2.5, 2.51, Decimal("2.505"), None])
ROWS = st.lists(st.tuples(st.sampled_from("ab"), NUMBERS, NUMBERS), min_size=1, max_size=7)
TOLERANCES = st.sampled_from(
    [Tolerance(), Tolerance(mode="exact"), Tolerance(mode="plain", abs="0.01"), Tolerance(mode="rounding")]
)


def evidence(gold: Relation, candidate: Relation, scored: ScoreSettings) -> tuple[dict[str, Any], int]:
    """What the output family writes of two results, and the cells that it counts as right."""
    found = align(gold, candidate, settings=scored)
    pairs = [
        {"reference": gold.names[p.reference], "candidate": candidate.names[p.candidate], "by": p.by.value}
        for p in found.pairs
    ]
    key = None if found.key is None else [gold.names[place] for place in found.key]
    return {"pairs": pairs, "row_key": key}, found.matched_cells


@settings(max_examples=300)
@given(ROWS, ROWS, TOLERANCES)
def test_the_page_and_the_scorer_count_the_same_cells(
    left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], tolerance: Tolerance
) -> None:
    scored = ScoreSettings(tolerance=tolerance)
    gold, candidate = relation("k m n", *left), relation("k m n", *right)
    known, matched = evidence(gold, candidate, scored)
    shown = grid(gold, candidate, evidence=known, rule=CellRule.of(scored))
    assert shown is not None
    width = len(known["pairs"])
    whole = sum(row.mark is Mark.SAME for row in shown.rows) * width
    partial = sum(width - len(row.differing) for row in shown.rows if row.mark is Mark.DIFFERS)
    if known["row_key"] is None or not width:
        # Without a key only whole rows count; the only two rows stand beside each other all the same.
        assert matched == (whole if width else 0)
    elif len(left) == len(right) == 1:
        assert matched in (whole + partial, 0)
    else:
        assert matched == whole + partial


def shown(gold: Relation, candidate: Relation, **how: Any) -> Grid:
    found = grid(gold, candidate, **how)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tolerance", "differing"),
    [
        (Tolerance(), ()),
        (Tolerance(mode="exact"), (0,)),
        (Tolerance(mode="rounding"), (0,)),
        (Tolerance(mode="plain", abs="0.001"), (0,)),
        (Tolerance(mode="plain", abs="0", rel="0.1"), ()),
    ],
)
def test_numbers_are_marked_by_the_tolerance_of_the_run(tolerance: Tolerance, differing: tuple[int, ...]) -> None:
    found = shown(relation("n", (2.567,)), relation("n", (2.571,)), rule=CellRule(tolerance=tolerance))
    assert found.rows[0].differing == differing
    assert found.rows[0].near == (() if differing else (0,))


def test_dates_and_booleans_are_marked_by_the_coercions_of_the_run() -> None:
    gold = relation("d b", (date(2024, 3, 5), True))
    candidate = relation("d b", ("2024-03-05", 1))
    assert shown(gold, candidate, rule=CellRule.of(ScoreSettings())).rows[0].near == (0, 1)
    strict = CellRule.of(ScoreSettings(coerce_dates=False, coerce_booleans=False))
    assert shown(gold, candidate, rule=strict).rows[0].differing == (0, 1)
    stamps = shown(relation("d", (date(2024, 3, 5),)), relation("d", (datetime(2024, 3, 5),)))
    assert stamps.rows[0].mark is Mark.SAME


def test_a_number_in_another_type_is_the_same_number() -> None:
    found = shown(relation("n m", (1, Decimal("2.50"))), relation("n m", (1.0, 2.5)))
    assert (found.rows[0].mark, found.rows[0].near) == (Mark.SAME, ())


def test_columns_stand_beside_each_other_by_the_rule_of_the_run() -> None:
    gold, candidate = relation("a b", (1, 2), (3, 4)), relation("b a", (2, 1), (4, 3))
    known = evidence(gold, candidate, ScoreSettings())[0]

    def pairs(how: Any) -> list[tuple[str | None, str | None, str | None]]:
        found = shown(gold, candidate, evidence=known, rule=CellRule(columns=how))
        return [(c.gold, c.candidate, c.by) for c in found.columns]

    assert [pair[:2] for pair in pairs("any")] == [("a", "a"), ("b", "b")]
    assert pairs("by_name") == [("a", "a", "name"), ("b", "b", "name")]
    assert pairs("by_position") == [("a", "b", "position"), ("b", "a", "position")]
    moved = shown(gold, candidate, evidence=known, rule=CellRule(columns="by_position"))
    assert not any(column.key for column in moved.columns), "the key belongs to pairs that are not shown"
    assert all(row.mark is not Mark.SAME for row in moved.rows)


def test_rows_of_one_key_stand_so_that_most_cells_agree() -> None:
    gold = relation("k m n", *[("a", i, i) for i in range(6)])
    candidate = relation("k m n", *[("a", i, i if i % 2 else -1) for i in reversed(range(6))])
    known = {"pairs": [{"reference": c, "candidate": c} for c in "kmn"], "row_key": ["k"]}
    found = shown(gold, candidate, evidence=known)
    assert [row.differing for row in found.rows] == [(2,), (), (2,), (), (2,), ()]


def test_numbers_that_agree_only_crosswise_are_all_equal() -> None:
    found = shown(relation("n", (1.0,), (1.009,)), relation("n", (1.018,), (1.009,)))
    assert [row.mark for row in found.rows] == [Mark.SAME, Mark.SAME]


def test_an_optional_column_that_is_absent_is_no_fault() -> None:
    found = shown(relation("a b", (1, 2)), relation("a", (1,)), optional=("B",))
    assert [(c.gold, c.by) for c in found.columns] == [("a", "name"), ("b", "optional")]


def test_rows_that_were_not_kept_are_counted() -> None:
    found = shown(relation("a", (1,)), relation("a", (1,)), heights=(70_000, 1))
    assert (found.gold_rows, found.candidate_rows) == (70_000, 1)
    assert found.notes == ("only the first 1 of 70,000 gold rows were kept",)


def test_a_case_brings_its_own_tolerance_and_says_what_counts() -> None:
    cases = {
        "strict": case("strict", tolerance=Tolerance(mode="exact")),
        "loose": case("loose"),
        "ids": case("ids", compare_on=IdSetShape(column="n")),
    }
    lines = [Measurement(case_id=name, shape=ShapeLabel.EXACT, ceilings=(Ceiling.TIE_AT_LIMIT,)) for name in cases]
    manifest = Manifest(
        run_id="r",
        state=RunState.COMPLETE,
        signature="s",
        settings={"score": {"tolerance": {"mode": "plain", "abs": "1", "rel": "0"}}},
    )
    report = build(
        manifest,
        summarise(lines, cases, signature="s", run_id="r"),
        measurements=lines,
        cases=cases,
        results=lambda _: (relation("n", (1.5,)), relation("n", (2.25,))),
    )

    def found(name: str) -> Grid:
        detail = report.detail(TrialKey(case_id=name))
        assert detail is not None
        assert detail.grid is not None
        return detail.grid

    assert (found("strict").rows[0].differing, found("loose").rows[0].differing) == ((0,), ())
    assert found("strict").notes == ("any of the rows that tie at the LIMIT was accepted",)
    assert found("loose").notes == ()
    assert found("ids").notes == ("only n decides; other columns are free",)


def test_the_columns_that_decide_stand_beside_each_other_and_tell_rows_apart() -> None:
    gold = relation("film_id score", *[(k, k / 2) for k in range(4)])
    candidate = relation("title id", ("c", 2), ("x", 9), ("a", 0))
    found = shown(gold, candidate, evidence={"pairs": []}, deciding=Deciding(pairs=(("FILM_ID", "id"),), key=True))
    assert [(c.gold, c.candidate, c.by, c.key) for c in found.columns[:2]] == [
        ("film_id", "id", "the case", True),
        ("score", None, None, False),
    ]
    assert [row.mark.value for row in found.rows] == ["same", "missing", "same", "missing", "extra"]


def test_the_rule_of_a_run_is_that_of_its_verdict() -> None:
    scored = ScoreSettings(tolerance=Tolerance(mode="exact"), columns="by_name", coerce_dates=False)
    rule = CellRule.of(scored)
    verdict = TableRule(tolerance=rule.tolerance, columns=rule.columns, coercions=rule.coercions)
    assert (verdict.tolerance.mode, verdict.columns, verdict.coercions.dates) == ("exact", "by_name", False)
