"""Verdicts by shape, with each extra reading worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sqlassay.metrics import execution
from sqlassay.metrics.execution import choose
from sqlassay.records.case import (
    Case,
    GroupsShape,
    IdSetShape,
    Ordered,
    RankingShape,
    ScalarShape,
    Shape,
    Status,
    TableShape,
)
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.query import KeySource, Ordering, OrderPlan, Pieces, SortKey, Understanding
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import Rule, ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn, TurnError, TurnErrorKind
from sqlassay.records.value import Ceiling, Quantity, Ratio, Undefined


def rows(names: str, *cells: tuple[Any, ...]) -> Rows:
    return Rows(relation=Relation(columns=tuple(Column(name=n) for n in names.split()), rows=list(cells)))


def understood(
    origins: tuple[str | None, ...], *, ordering: Ordering = Ordering(), plan: OrderPlan = OrderPlan()
) -> Understanding:
    return Understanding(
        tables=(),
        base_tables=(),
        columns_read=(),
        names=("",) * len(origins),
        origins=origins,
        expressions=(None,) * len(origins),
        aggregates=(False,) * len(origins),
        pieces=Pieces(),
        ordering=ordering,
        order_plan=plan,
        canonical="",
    )


KEYED = (SortKey(expression="k"),)


def trial(
    gold: Execution,
    candidate: Execution,
    *,
    shape: Shape = TableShape(),
    ordering: Ordering = Ordering(),
    before: Rows | None = None,
    ordered: Ordered = Ordered.AUTO,
    origins: tuple[tuple[str | None, ...], tuple[str | None, ...]] | None = None,
) -> Trial:
    """`before` holds the gold's rows without the cut, with one key column at the end."""
    case = Case(id="c", question="q", gold_sql=("gold",), compare_on=shape, ordered=ordered)
    width = gold.relation.width if isinstance(gold, Rows) else 0
    plan = OrderPlan(source=KeySource.HIDDEN, hidden_sql="hidden", key_count=1) if before else OrderPlan()
    facts = understood(origins[0] if origins else (None,) * width, ordering=ordering, plan=plan)
    answered = not isinstance(candidate, NotRun)
    return Trial(
        case=case,
        turn=Turn(case_id="c", status=Status.SUCCESS, candidate_sql="x" if answered else None),
        golds=(Side(sql="gold", execution=gold, comprehension=facts, auxiliary=before),),
        candidate=Side(
            sql="x" if answered else None,
            execution=candidate,
            comprehension=understood(origins[1]) if origins else None,
        ),
    )


def read(given: Trial, settings: ScoreSettings = ScoreSettings()) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for name, reading in execution.FAMILY.readings(execution.FAMILY.examine(given, settings)).items():
        match reading:
            case Ratio() | Quantity():
                found[name.removeprefix("execution.")] = round(reading.value, 3)
            case Undefined(reason=reason):
                found[name.removeprefix("execution.")] = reason.value
    return found


def ceilings(given: Trial) -> set[Ceiling]:
    return set(execution.FAMILY.ceilings(execution.FAMILY.examine(given, ScoreSettings())))


def test_executable() -> None:
    ok = rows("a", (1,))
    assert read(trial(ok, ok))["executable"] == 1
    assert read(trial(ok, SqlError(kind=ErrorKind.FORBIDDEN, message="")))["executable"] == 0
    assert read(trial(ok, TimedOut(limit_s=1)))["executable"] == 0
    assert read(trial(ok, NotRun()))["executable"] == 0
    assert read(trial(ok, SqlError(kind=ErrorKind.CONNECTION, message="")))["executable"] == "harness_failed"


def test_id_set_drops_duplicates_and_nulls_and_says_so() -> None:
    gold = rows("film_id title", (1, "a"), (2, "b"), (2, "b"), (None, "z"))
    given = trial(gold, rows("FILM_ID x", (2, 0), (1, 0), (1, 0)), shape=IdSetShape(column="film_id"))
    assert read(given) == {"executable": 1, "exact": 1, "id_precision": 1, "id_recall": 1}
    evidence = execution.FAMILY.evidence(execution.FAMILY.examine(given, ScoreSettings()))
    assert evidence["dropped"] == {"gold_duplicates": 1, "gold_nulls": 1, "candidate_duplicates": 1}
    other = trial(gold, rows("film_id", (1,), (3,), (4,)), shape=IdSetShape(column="film_id"))
    assert read(other) == {"executable": 1, "exact": 0, "id_precision": 0.333, "id_recall": 0.5}


def test_id_set_finds_a_renamed_column_by_origin_then_by_values() -> None:
    gold = rows("film_id", (1,), (2,))
    answer = rows("n id", (2, 1), (1, 2))
    by_origin = trial(gold, answer, shape=IdSetShape(column="film_id"), origins=(("f.id",), (None, "f.id")))
    assert execution.FAMILY.evidence(execution.FAMILY.examine(by_origin, ScoreSettings()))["columns"] == {
        "gold": "film_id",
        "candidate": "id",
    }
    by_values = trial(gold, rows("x", (1,), (2,)), shape=IdSetShape(column="film_id"))
    assert read(by_values)["exact"] == 1
    none = trial(gold, rows("x", ("a",)), shape=IdSetShape(column="film_id"))
    assert read(none) == {"executable": 1, "exact": 0, "id_precision": "no_pairs", "id_recall": 0}


def test_ids_know_no_tolerance() -> None:
    given = trial(rows("id", (1.0,), (2.5,)), rows("id", (1.0,), (2.501,)), shape=IdSetShape(column="id"))
    assert read(given)["exact"] == 0


def test_ranking() -> None:
    gold = rows("id", (3,), (1,), (2,))
    before = rows("id k", (3, 9), (1, 7), (2, 7))
    shape = RankingShape(column="id")
    ordering = Ordering(keys=KEYED)
    swapped = trial(gold, rows("id", (3,), (2,), (1,)), shape=shape, ordering=ordering, before=before)
    assert read(swapped) == {"executable": 1, "exact": 1, "id_precision": 1, "id_recall": 1, "set_exact": 1}
    assert read(swapped, ScoreSettings(ties="strict"))["exact"] == 0
    wrong = trial(gold, rows("id", (1,), (3,), (2,)), shape=shape, ordering=ordering, before=before)
    assert (read(wrong)["exact"], read(wrong)["set_exact"]) == (0, 1)


def test_ranking_accepts_any_id_tied_at_the_cut() -> None:
    gold = rows("id", (3,), (1,))
    before = rows("id k", (3, 9), (1, 7), (2, 7), (8, 1))
    ordering = Ordering(keys=KEYED, limit=2, limited=True)
    shape = RankingShape(column="id")
    tied = trial(gold, rows("id", (3,), (2,)), shape=shape, ordering=ordering, before=before)
    assert (read(tied)["exact"], read(tied)["set_exact"], read(tied)["id_recall"]) == (1, 1, 1)
    assert Ceiling.TIE_AT_LIMIT in ceilings(tied)
    lower = trial(gold, rows("id", (3,), (8,)), shape=shape, ordering=ordering, before=before)
    assert (read(lower)["exact"], read(lower)["set_exact"]) == (0, 0)


@pytest.mark.parametrize(
    ("gold", "candidate", "verdict"),
    [
        (rows("n", (5,)), rows("total label", (5, "x")), 1),
        (rows("n", (5,)), rows("a b", (5, 6)), 0),
        (rows("n", (5.0,)), rows("n", (5.004,)), 1),
        (rows("n", (5,)), rows("n", (5,), (5,)), 0),
        (rows("n", (5,)), rows("n"), 0),
        (rows("who n", ("x", 5)), rows("n", (5,)), 1),
        (rows("n", (None,)), rows("n", (None,)), 1),
        (rows("n", (None,)), rows("n", (0,)), 0),
        (rows("a b", (5, 6)), rows("n", (5,)), "gold_failed"),
        (rows("n", (5,), (6,)), rows("n", (5,)), "gold_failed"),
    ],
)
def test_scalar(gold: Rows, candidate: Rows, verdict: float | str) -> None:
    assert read(trial(gold, candidate, shape=ScalarShape()))["exact"] == verdict


def test_groups() -> None:
    gold = rows("city n total", ("Oslo", 2, 10.0), ("Bergen", 3, 7.5), (None, 1, 1.0))
    shape = GroupsShape(columns=("city",))
    right = rows("extra TOTAL city n", (1, 7.5, "Bergen", 3), (2, 1.0, None, 1), (3, 10.004, "Oslo", 2))
    assert read(trial(gold, right, shape=shape)) == {
        "executable": 1,
        "exact": 1,
        "group_precision": 1,
        "group_recall": 1,
        "total_accuracy": 1,
    }
    wrong = rows("city n total", ("Oslo", 2, 10.0), ("Oslo", 2, 10.0), ("Bergen", 3, 1.0))
    assert read(trial(gold, wrong, shape=shape)) == {
        "executable": 1,
        "exact": 0,
        "group_precision": 0.667,
        "group_recall": 0.667,
        "total_accuracy": 0.75,
    }
    assert read(trial(gold, rows("n", (1,)), shape=shape)) == {
        "executable": 1,
        "exact": 0,
        "group_precision": "no_pairs",
        "group_recall": 0,
        "total_accuracy": "no_pairs",
    }


def test_groups_accept_any_group_tied_at_the_cut() -> None:
    gold = rows("city n", ("Oslo", 9), ("Bergen", 5))
    before = rows("city n k", ("Oslo", 9, 9), ("Bergen", 5, 5), ("Bodo", 5, 5), ("Hamar", 1, 1))
    ordering = Ordering(keys=KEYED, limit=2, limited=True)
    shape = GroupsShape(columns=("city",))
    tied = trial(gold, rows("n city", (5, "Bodo"), (9, "Oslo")), shape=shape, ordering=ordering, before=before)
    assert read(tied)["exact"] == 1
    assert Ceiling.TIE_AT_LIMIT in ceilings(tied)
    lower = trial(gold, rows("n city", (1, "Hamar"), (9, "Oslo")), shape=shape, ordering=ordering, before=before)
    assert (read(lower)["exact"], read(lower)["group_recall"]) == (0, 0.5)


def test_ties_by_hidden_keys() -> None:
    gold, before = rows("name", ("a",), ("b",), ("c",)), rows("name k", ("a", 1), ("b", 1), ("c", 2))
    ordering = Ordering(keys=KEYED)
    assert read(trial(gold, rows("name", ("b",), ("a",), ("c",)), ordering=ordering, before=before))["exact"] == 1
    assert read(trial(gold, rows("name", ("c",), ("a",), ("b",)), ordering=ordering, before=before))["exact"] == 0
    unknown = trial(gold, rows("name", ("b",), ("a",), ("c",)), ordering=ordering)
    assert read(unknown)["exact"] == 0
    assert Ceiling.TIES_UNKNOWN in ceilings(unknown)
    free = trial(gold, rows("name", ("c",), ("a",), ("b",)), ordering=ordering, before=before, ordered=Ordered.NO)
    assert read(free)["exact"] == 1


def test_a_tie_cut_by_offset_and_limit() -> None:
    gold = rows("name", ("b",), ("c",))
    before = rows("name k", ("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 3))
    ordering = Ordering(keys=KEYED, limit=2, offset=1, limited=True)

    def verdict(*names: str) -> float | str:
        return read(trial(gold, rows("name", *[(n,) for n in names]), ordering=ordering, before=before))["exact"]

    assert [verdict("a", "d"), verdict("b", "d"), verdict("c", "b"), verdict("a", "b"), verdict("b", "e")] == [
        1,
        1,
        0,
        0,
        0,
    ]


def test_limit_without_order_is_a_ceiling() -> None:
    given = trial(rows("a", (1,)), rows("a", (1,)), ordering=Ordering(limit=1, limited=True))
    assert Ceiling.NONDETERMINISTIC in ceilings(given)


def test_ceilings_of_columns() -> None:
    fx = rows("ccy buy sell", ("eur", 1.1, 1.2), ("gbp", 1.3, 1.45))
    crossed = trial(fx, rows("ccy buy sell", ("eur", 1.2, 1.1), ("gbp", 1.45, 1.3)))
    assert read(crossed)["exact"] == 0
    assert Ceiling.LABELS_CROSSED in ceilings(crossed)
    unproven = trial(fx, rows("a b c", ("eur", 1.2, 1.1), ("gbp", 1.45, 1.3)))
    assert (read(unproven)["exact"], read(unproven)["exact_by_position"]) == (1, 0)
    assert Ceiling.SWAP_UNPROVEN in ceilings(unproven)
    proven = trial(fx, rows("ccy sell buy", ("eur", 1.2, 1.1), ("gbp", 1.45, 1.3)))
    assert read(proven)["exact"] == 1
    assert ceilings(proven) == set()
    renamed = trial(rows("b a", ("x", 1), ("y", 2)), rows("a b", ("x", 1), ("y", 2)))
    assert (read(renamed)["exact"], ceilings(renamed)) == (1, {Ceiling.LABELS_CROSSED})


def test_columns_proven_the_same_by_origin_stay_paired() -> None:
    games = rows("home away", (1, 2), (2, 1))
    swapped = trial(games, games, origins=(("g.home", "g.away"), ("g.away", "g.home")))
    assert read(swapped)["exact"] == 0 or read(swapped)["exact_by_position"] == 1
    one = rows("home away", (1, 2))
    other = trial(one, rows("x y", (1, 2)), origins=(("g.home", "g.away"), ("g.away", "g.home")))
    assert (read(other)["exact"], read(other)["exact_by_position"]) == (0, 1)


def test_extra_columns_keep_rows_whole() -> None:
    gold = rows("a b", (1, "x"), (2, "y"))
    assert read(trial(gold, rows("z a b", (0, 1, "x"), (0, 2, "y")))) == {
        "executable": 1,
        "exact": 0,
        "exact_by_position": 0,
        "exact_with_extra": 1,
    }
    assert read(trial(gold, rows("z a b", (0, 1, "y"), (0, 2, "x"))))["exact_with_extra"] == 0


def test_tolerance_decided() -> None:
    given = trial(rows("a", (1.234,), (5.0,)), rows("a", (1.23,), (5.0,)))
    assert read(given)["exact"] == 1
    assert Ceiling.DECIDED_BY_TOLERANCE in ceilings(given)
    large = trial(rows("a", (1e12,), (5.5,)), rows("a", (1e12 + 1.0,), (5.5,)))
    assert read(large)["exact"] == 0
    assert Ceiling.DECIDED_BY_TOLERANCE in ceilings(large)


def test_weak_evidence_and_both_empty() -> None:
    assert ceilings(trial(rows("a", (3,)), rows("a", (3,)))) == {Ceiling.WEAK_EVIDENCE}
    assert ceilings(trial(rows("a"), rows("b"))) == {Ceiling.BOTH_EMPTY}
    assert read(trial(rows("a"), rows("b c")))["exact"] == 0


def _several(*golds: Execution) -> Trial:
    given = trial(golds[0], rows("a b", (1, "x"), (2, "y")))
    sides = tuple(Side(sql=f"gold {i}", execution=gold) for i, gold in enumerate(golds))
    return replace(given, case=replace(given.case, gold_sql=tuple(side.sql or "" for side in sides)), golds=sides)


def test_several_golds() -> None:
    broken = SqlError(kind=ErrorKind.SYNTAX, message="")
    far, near, right = rows("a", (9,)), rows("a b", (1, "x"), (2, "z")), rows("b a", ("x", 1), ("y", 2))
    assert choose(_several(broken, far, right), ScoreSettings()) == 2
    assert choose(_several(far, near), ScoreSettings()) == 1
    assert choose(_several(near, near), ScoreSettings()) == 0
    assert read(_several(broken, far, right))["exact"] == 1
    evidence = execution.FAMILY.evidence(execution.FAMILY.examine(_several(far, near), ScoreSettings()))
    assert evidence["gold_index"] == 1
    assert read(_several(broken, broken))["exact"] == "gold_failed"


def test_rules_of_others_stand_beside_ours() -> None:
    settings = ScoreSettings(exact_as=tuple(Rule))
    found = read(trial(rows("a", (1,), (1,), (2,)), rows("a", (2,), (1,))), settings)
    assert found["exact"] == 0
    assert found["exact@bird"] == 1
    assert found["exact@spider"] == found["exact@spider_keep_distinct"] == 0
    assert found["exact@defog"] == 1
    assert found["soft_f1@bird"] == 0.0
    failed = read(trial(rows("a", (1,)), SqlError(kind=ErrorKind.SYNTAX, message="")), settings)
    assert {failed[name] for name in failed if "@" in name} == {0.0}


def test_spider_without_distinct_needs_its_own_runs() -> None:
    settings = ScoreSettings(exact_as=(Rule.SPIDER,))
    given = trial(rows("a", (1,)), rows("a", (1,)))
    distinct = replace(given, golds=(replace(given.golds[0], sql="SELECT DISTINCT a FROM t"),))
    assert read(distinct, settings)["exact@spider"] == "not_recorded"
    assert read(distinct, settings)["exact@spider_keep_distinct"] == 1
    ran = replace(distinct, others={"spider": (rows("a", (1,), (1,)), rows("a", (1,)))})
    assert read(ran, settings)["exact@spider"] == 0


def test_an_empty_prediction_is_wrong_by_every_public_rule_and_unscored_by_ours() -> None:
    settings = ScoreSettings(exact_as=tuple(Rule))
    given = trial(rows("a", (1,)), NotRun())
    blank = replace(given, turn=Turn(case_id="c", status=None), fault="nothing was found in the answer")
    gold = replace(given.golds[0], sql="SELECT DISTINCT a FROM t")
    found = read(replace(blank, golds=(gold,)), settings)
    assert found["exact"] == "harness_failed"
    assert {found[name] for name in found if "@" in name} == {0.0}
    assert read(replace(given, golds=(gold,)), settings)["exact@spider"] == 0
    lost = replace(blank, turn=replace(blank.turn, error=TurnError(kind=TurnErrorKind.TRANSPORT, message="")))
    assert read(lost, settings)["exact@bird"] == "harness_failed"
    failed = replace(blank, golds=(replace(gold, execution=SqlError(kind=ErrorKind.SYNTAX, message="")),))
    assert read(failed, settings)["exact@bird"] == "harness_failed"
    without = replace(blank, golds=(), case=replace(blank.case, gold_sql=()))
    assert read(without, settings)["exact@bird"] == "not_applicable"
