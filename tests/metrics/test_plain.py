"""A verdict that is plain from two results is the verdict that reading both texts gives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlassay.metrics.plain import plain_exact
from sqlassay.metrics.score import exact
from sqlassay.records.case import Case, Ordered, Status, Tolerance
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import CandidateSource, Turn
from sqlassay.records.value import verdict

CELLS = st.sampled_from([None, 0, 1, 2, True, 1.0, 1.005, 1.01, Decimal("1.00"), float("nan"), "1", "x", "2024-01-01"])
ORIGINS = st.sampled_from(["t.a", "t.b", "u.a", None])
GOLD_TEXTS = st.sampled_from(["SELECT x FROM t", "SELECT x FROM t ORDER BY 1", "SELECT x FROM (SELECT x FROM t)"])


def ran(rows: list[tuple[Any, ...]], names: str, origins: list[str | None] | None) -> Rows:
    known = origins if origins is not None else [None] * len(names)
    columns = tuple(Column(name=name, origin=origin) for name, origin in zip(names, known, strict=True))
    account = Account(origins=None if origins is None else tuple(origins), source="engine")
    return Rows(relation=Relation(columns=columns, rows=rows), account=account)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Rows, Rows]:
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[CELLS] * width), max_size=4))
    other = draw(
        st.one_of(
            st.just(list(rows)),
            st.permutations(rows),
            st.permutations(range(width)).map(lambda order: [tuple(row[i] for i in order) for row in rows]),
            st.lists(st.tuples(*[CELLS] * width), min_size=len(rows), max_size=len(rows)),
            st.lists(st.tuples(*[CELLS] * max(1, width - 1)), max_size=4),
        )
    )
    origins = draw(st.none() | st.lists(ORIGINS, min_size=width, max_size=width))
    wide = len(other[0]) if other else width
    theirs = origins if wide == width and draw(st.booleans()) else draw(st.lists(ORIGINS, min_size=wide, max_size=wide))
    return ran(rows, "abc"[:width], origins), ran(other, draw(st.sampled_from(["abc", "bac", "xyz"]))[:wide], theirs)


@settings(max_examples=600)
@given(
    pairs(),
    GOLD_TEXTS,
    st.sampled_from(Ordered),
    st.sampled_from(["any", "by_position", "by_name"]),
    st.sampled_from([None, Tolerance(mode="exact"), Tolerance(mode="plain", abs="0.01")]),
)
def test_what_is_plain_is_what_a_whole_reading_says(
    both: tuple[Rows, Rows], text: str, ordered: Ordered, columns: Any, tolerance: Tolerance | None
) -> None:
    gold, candidate = both
    case = Case(id="c", question="", gold_sql=(text,), ordered=ordered, tolerance=tolerance)
    rule = ScoreSettings(columns=columns)
    plain = plain_exact(case, (text, "SELECT x FROM t"), both, rule)
    event(f"plain: {plain}")
    if plain is None:
        return
    turn = Turn(status=Status.SUCCESS, candidate_sql="SELECT x FROM t", candidate_source=CandidateSource.DECLARED)
    trial = Trial(
        case=case,
        turn=turn,
        golds=(Side(sql=text, execution=gold),),
        candidate=Side(sql="SELECT x FROM t", execution=candidate),
    )
    assert exact(trial, rule) == verdict(plain)


SAME: tuple[list[tuple[Any, ...]], str, list[str | None]] = ([(1, "x"), (2, "y")], "ab", ["t.a", "t.b"])


@pytest.mark.parametrize(
    ("gold", "candidate", "texts", "plain"),
    [
        (SAME, SAME, ("select a, b from t", "select a, b from t"), True),
        (SAME, ([(2, "y"), (1, "x")], "ab", ["t.a", "t.b"]), ("select a, b from t", "select a, b from t"), True),
        (
            SAME,
            ([(2, "y"), (1, "x")], "ab", ["t.a", "t.b"]),
            ("select a, b from t order by a", "select a, b from t"),
            None,
        ),
        (SAME, ([(1, "x"), (3, "y")], "ab", ["t.a", "t.b"]), ("select a, b from t", "select a, b from t"), False),
        (
            SAME,
            ([(1, "x"), (3, "y")], "ab", ["t.a", "t.b"]),
            ("select a, b from t limit 2", "select a, b from t"),
            None,
        ),
        (SAME, ([(1, "x")], "ab", ["t.a", "t.b"]), ("select a, b from t limit 2", "select a, b from t"), False),
        (SAME, (SAME[0], "ba", ["t.b", "t.a"]), ("select a, b from t", "select b, a from t"), None),
        (SAME, (SAME[0], "ab", None), ("select a, b from t", "select a, b from t"), None),
        (SAME, (SAME[0], "ab", [None, None]), ("select a, b from t", "select a, b from (select 1)"), None),
    ],
)
def test_what_is_plain(gold: Any, candidate: Any, texts: tuple[str, str], plain: bool | None) -> None:
    case = Case(id="c", question="", gold_sql=texts[:1])
    assert plain_exact(case, texts, (ran(*gold), ran(*candidate))) is plain


@pytest.mark.parametrize(
    ("came", "plain"),
    [
        (SqlError(kind=ErrorKind.SYNTAX, message="near FROM"), False),
        (TimedOut(limit_s=1.0), False),
        (SqlError(kind=ErrorKind.CONNECTION, message="gone"), None),
        (NotRun(), None),
    ],
)
def test_a_candidate_that_fails_is_wrong_and_a_lost_connection_is_nobodys_answer(came: Execution, plain: Any) -> None:
    case = Case(id="c", question="", gold_sql=("select a, b from t",))
    assert plain_exact(case, ("select a, b from t", "selec"), (ran(*SAME), came)) is plain
    assert plain_exact(case, ("select a, b from t", "select 1"), (came, ran(*SAME))) is None
