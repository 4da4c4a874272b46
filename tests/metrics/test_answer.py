"""Numbers and claims of a final text, in English and European notation, against the result."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.metrics.answer import CARDS, FAMILY, examine, grounded, missing_of
from sqlassay.metrics.figures import figures_in
from sqlassay.metrics.grounding import Ground
from sqlassay.records.case import Case
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.opinion import Opinion
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ratio, Reading, Reason, Undefined

Steps = Callable[[Callable[[], object]], int]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("667.62", [{667.62}]),
        ("667,62 €", [{667.62}]),
        ("$1,234,567.89", [{1234567.89}]),
        ("1.234.567,89", [{1234567.89}]),
        ("1 234 567,89", [{1234567.89}]),
        ("1\u202f234\u00a0567", [{1234567}]),
        ("1'234'567.5", [{1234567.5}]),
        ("12,34,567", [{1234567}]),
        ("1.234", [{1234, 1.234}]),
        ("1,234", [{1234, 1.234}]),
        ("0.123 and 0,123", [{0.123}, {0.123}]),
        ("12.5% or 12,5 Prozent", [{12.5}, {12.5}]),
        ("-5, −6 and -$7", [{-5}, {-6}, {-7}]),
        ("2010-2015", [{2010}, {2015}]),
        ("5, 6, 7", [{5}, {6}, {7}]),
        ("1,2,3", [{1}, {2}, {3}]),
        ("5k, 3.2M", [{5000, 5}, {3200000, 3.2}]),
        ("2 million; 3 Mio. and 4,5 Mrd.", [{2e6}, {3e6}, {4.5e9}]),
        ("1.5e3", [{1500}]),
        ("(42)", [{42}]),
        ("It is 42.", [{42}]),
        ("5kg", [{5}]),
        ("1. Rock\n2. Jazz 7", [{7}]),
        ("S1, v2, COVID-19, Q3, #1", []),
        ("1st, 2nd and 3rd", []),
        ("on 2024-05-06 10:30, 31.12.2024 and 12/31/24", []),
        ("1.2.3", []),
        ("```sql\nSELECT 7\n``` gives 8", [{8}]),
        ("no numbers here", []),
    ],
)
def test_numbers_in_text(text: str, expected: list[set[float]]) -> None:
    assert [{reading.value for reading in figure.readings} for figure in figures_in(text)] == expected


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,'% -kKmM$€e\u00a0 abc\n", max_size=60))
def test_reading_numbers_never_fails(text: str) -> None:
    for figure in figures_in(text):
        assert all(reading.unit > 0 for reading in figure.readings)


@settings(deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(0, 4))
def test_a_number_is_read_back_in_both_notations(whole: int, places: int) -> None:
    value = whole / 10**places
    english = f"{value:,.{places}f}"
    european = english.translate(str.maketrans(",.", ".,"))
    for written in (english, european):
        (figure,) = figures_in(f"It is {written} in all")
        assert any(abs(reading.value - value) < 1e-9 * max(1, abs(value)) for reading in figure.readings)


def relation(*rows: tuple[Any, ...]) -> Relation:
    return Relation(columns=tuple(Column(name=f"c{i}") for i in range(len(rows[0]) if rows else 1)), rows=rows)


SPENT = relation(("France", 667.62), ("USA", 500.0), ("Peru", Decimal("1000")))


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("667.62", "cell"),
        ("667,6", "cell"),
        ("668", "cell"),
        ("0.67k", "cell"),
        ("667.63", None),
        ("3 countries", "row_count"),
        ("2,167.62", "total"),
        ("167.62 more", "difference"),
        ("1,167.62 together", "sum"),
        ("66.8%", "percentage"),
        ("50 %", "percentage"),
        ("30.8% of all", "percentage"),
        ("33.5% more", "percentage"),
        ("50", None),
        ("12", None),
        ("-667.62", None),
    ],
)
def test_how_a_number_is_grounded(text: str, by: str | None) -> None:
    assert [stated.by for stated in grounded(figures_in(text), Ground(SPENT))] == [by]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.125, "12.5%"),
        (date(2024, 5, 6), "in 2024"),
        ("2024-05-06", "2024"),
        ("Windows 95", "95"),
        (1234567, "1.2 million"),
        (1234567, "about 1,200,000"),
        (1234567, "1.234.567"),
        (0, "0"),
        (10**30, "1e30"),
    ],
)
def test_cells_in_other_words(cell: Any, text: str) -> None:
    assert [stated.by for stated in grounded(figures_in(text), Ground(relation((cell,), ("x",))))] == ["cell"]


@pytest.mark.parametrize("cell", [None, True, float("nan"), float("inf"), "text", b"7"])
def test_what_is_no_number_grounds_none(cell: Any) -> None:
    assert [s.by for s in grounded(figures_in("7"), Ground(relation((cell,))))] == [None]


def trial(
    answer: str | None,
    *,
    question: str = "Who spent the most?",
    execution: Execution = Rows(relation=SPENT),
    claims: tuple[str, ...] = (),
    opinions: tuple[Opinion, ...] = (),
) -> Trial:
    return Trial(
        case=Case(id="a", question=question, claims=claims),
        turn=Turn(answer=answer),
        candidate=Side(sql="SELECT 1", execution=execution),
        opinions=opinions,
    )


def readings(one: Trial) -> dict[str, Reading]:
    return dict(FAMILY.readings(examine(one, ScoreSettings())))


def test_the_share_of_grounded_numbers() -> None:
    found = readings(trial("France spent 667.62 of 2,000.00, which is 33.4%."))
    assert found["answer.grounded_numbers"] == Ratio(hits=1, total=3)
    evidence = FAMILY.evidence(examine(trial("667.62 and 9"), ScoreSettings()))
    assert evidence["numbers"] == [{"text": "667.62", "by": "cell"}, {"text": "9", "by": None}]


def test_the_questions_own_numbers_are_left_out() -> None:
    one = trial("In 2009 the top 5 spent 667.62.", question="Who were the top 5 in 2009?")
    assert readings(one)["answer.grounded_numbers"] == Ratio(hits=1, total=1)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (trial(None), Reason.NOT_RECORDED),
        (trial("  "), Reason.NOT_RECORDED),
        (trial("France."), Reason.NOTHING_TO_COUNT),
        (trial("5", execution=NotRun()), Reason.NO_SQL),
        (trial("5", execution=SqlError(kind=ErrorKind.SYNTAX, message="")), Reason.NO_SQL),
        (trial("9", execution=Rows(relation=Relation(columns=(), rows=[], truncated=True))), Reason.TRUNCATED),
    ],
)
def test_where_there_is_nothing_to_share(one: Trial, reason: Reason) -> None:
    assert readings(one)["answer.grounded_numbers"] == Undefined(reason=reason)


def test_an_empty_result_grounds_its_row_count() -> None:
    empty = Rows(relation=Relation(columns=(Column(name="a"),), rows=[]))
    assert readings(trial("There are 0.", execution=empty))["answer.grounded_numbers"] == Ratio(hits=1, total=1)
    assert readings(trial("There are 4.", execution=empty))["answer.grounded_numbers"] == Ratio(hits=0, total=1)


@pytest.mark.parametrize(
    ("claim", "answer", "missing"),
    [
        ("France", "It was France.", ()),
        ("france", "It was FRANCE.", ()),
        ("France", "It was Francesca.", ("France",)),
        ("667.62", "about 667,6", ()),
        ("668", "667.62", ()),
        ("667.62", "667.7", ("667.62",)),
        ("1,234", "1.234 Euro", ()),
        ("5", "15 or 55", ("5",)),
        ("France spent 667.62", "667.62 by the French", ("France",)),
        ("France spent 667.62", "The top is France: 667.62", ()),
        ('The genre is "Sci-Fi & Fantasy"', "All are sci-fi & fantasy.", ()),
        ("España: 12", "12 from España", ()),
        ("no rows", "There are no rows at all", ()),
        ("no rows", "Nothing.", ("no rows",)),
        ("2.5", "12.55", ("2.5",)),
    ],
)
def test_what_a_claim_lacks(claim: str, answer: str, missing: tuple[str, ...]) -> None:
    assert missing_of(claim, answer) == missing


def test_the_share_of_claims() -> None:
    claims = ("France", "667.62", "Peru")
    assert readings(trial("France, 667.62", claims=claims))["answer.claims"] == Ratio(hits=2, total=3)
    assert readings(trial("France"))["answer.claims"] == Undefined(reason=Reason.NOT_APPLICABLE)
    assert readings(trial(None, claims=claims))["answer.claims"] == Undefined(reason=Reason.NOT_RECORDED)


def test_opinions_are_read_as_they_were_recorded() -> None:
    opinions = (
        Opinion(metric="answer.correctness", score=0.5),
        Opinion(metric="faithfulness", score=None, error="no answer"),
    )
    found = readings(trial("x", opinions=opinions))
    assert found["answer.correctness"] == Ratio(hits=0.5, total=1)
    assert found["answer.faithfulness"] == Undefined(reason=Reason.NOT_RECORDED)
    assert found["answer.contextual_relevance"] == Undefined(reason=Reason.NOT_ASKED)


def test_every_card_is_read() -> None:
    assert set(readings(trial(None))) == {card.name for card in CARDS}


@pytest.mark.parametrize(
    "text",
    ["1 234 " * 20_000, "1," * 50_000, "1." * 50_000, "'" * 100_000, "- " * 50_000 + "1", "1\u00a0111" * 20_000],
)
@pytest.mark.timeout(30)
def test_hostile_texts_do_not_hang(text: str) -> None:
    figures_in(text)


def test_a_large_result_is_indexed_once(steps: Steps) -> None:
    def work(rows: int) -> int:
        ground = Ground(relation(*((f"n{i}", i * 1.5) for i in range(rows))))
        grounded(figures_in("1.5"), ground)
        figures = figures_in(" ".join(str(n * 1.5) for n in range(500)))
        assert all(stated.by == "cell" for stated in grounded(figures, ground))
        return steps(lambda: grounded(figures, ground))

    assert work(20_000) <= 1.05 * work(1_000)


def test_an_answer_full_of_percentages_costs_no_more_for_each(steps: Steps) -> None:
    def work(count: int) -> int:
        figures = figures_in(" ".join(f"{n * 0.317:.3f}%" for n in range(count)))
        return steps(lambda: grounded(figures, Ground(relation(*((n * 7.77,) for n in range(50))))))

    assert work(1_000) < 5.5 * work(200)
