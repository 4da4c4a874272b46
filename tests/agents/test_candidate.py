"""The answer query of a turn: declared, the only one, linked to the answer, the last successful, or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.agents.candidate import choose_candidate
from sqlassay.records.turn import CandidateSource, Query, Role, Seen, Turn


def ran(sql: str, content: Any = None, **fields: Any) -> Query:
    seen = None if content is None else Seen(content=content)
    return Query(**{"sql": sql, "executed": True, "succeeded": True, "seen": seen, **fields})


TOTAL = "SELECT country, SUM(total) FROM invoice GROUP BY country"
COUNT = "SELECT COUNT(*) FROM customer"


def test_what_the_agent_declares_wins() -> None:
    turn = choose_candidate(Turn(candidate_sql="SELECT 2", queries=(ran("SELECT 1"),)))
    assert (turn.candidate_sql, turn.candidate_source) == ("SELECT 2", CandidateSource.DECLARED)


def test_a_source_that_is_already_known_stays() -> None:
    turn = choose_candidate(Turn(candidate_sql="SELECT 2", candidate_source=CandidateSource.LINKED))
    assert turn.candidate_source is CandidateSource.LINKED


def test_the_only_successful_query_is_the_answer() -> None:
    failed = ran("SELECT nope", succeeded=False, error="no such column")
    turn = choose_candidate(Turn(queries=(failed, ran(TOTAL)), answer="France."))
    assert (turn.candidate_sql, turn.candidate_source) == (TOTAL, CandidateSource.ONLY_ONE)


@pytest.mark.parametrize(
    "query",
    [
        ran("SELECT 1", executed=None),
        ran("SELECT 1", executed=False),
        ran("SELECT 1", succeeded=None),
        ran("SELECT 1", succeeded=False),
        ran("PRAGMA table_info(t)", role=Role.INTROSPECTION),
        ran("SELECT 1", role=Role.CHECK),
        ran("EXPLAIN SELECT 1", role=Role.EXPLAIN),
        ran("DELETE FROM t", role=Role.WRITE),
        ran("   "),
    ],
)
def test_what_is_not_known_to_have_answered_is_never_chosen(query: Query) -> None:
    turn = choose_candidate(Turn(queries=(query,), answer="42"))
    assert (turn.candidate_sql, turn.candidate_source) == (None, CandidateSource.NONE)


@pytest.mark.parametrize(
    ("total", "count"),
    [
        ({"columns": ["c", "s"], "rows": [["France", 667.62]]}, {"columns": ["n"], "rows": [[59]]}),
        ("[('France', 667.62)]", "[(59,)]"),
        ('{"rows": [["France", 667.62]]}', '{"rows": [[59]]}'),
        ("country,spent\nFrance,667.62\n", "COUNT(*)\n59\n"),
        ([{"c": "France", "s": 667.62}], [{"n": 59}]),
    ],
)
def test_a_sanity_count_after_the_answer_is_not_the_answer(total: Any, count: Any) -> None:
    turn = choose_candidate(
        Turn(queries=(ran(TOTAL, total), ran(COUNT, count)), answer="France spent the most: 667.62, of 59 customers.")
    )
    assert (turn.candidate_sql, turn.candidate_source) == (TOTAL, CandidateSource.LINKED)


def test_exploring_values_that_the_answer_mentions_too_is_not_the_answer() -> None:
    explored = ran("SELECT DISTINCT country FROM invoice", [["USA"], ["France"], ["India"]])
    turn = choose_candidate(Turn(queries=(ran(TOTAL, [["France", 667.62]]), explored), answer="France: 667.62"))
    assert turn.candidate_sql == TOTAL


def test_rounded_and_grouped_numbers_of_the_answer_are_recognised() -> None:
    queries = (ran(TOTAL, [[1234567.891]]), ran(COUNT, [[7]]))
    assert choose_candidate(Turn(queries=queries, answer="It is 1,234,567.89.")).candidate_sql == TOTAL
    assert choose_candidate(Turn(queries=queries, answer="Es sind 1.234.567,89.")).candidate_sql == TOTAL


def test_the_query_text_in_the_answer_links_it() -> None:
    turn = choose_candidate(Turn(queries=(ran(TOTAL), ran(COUNT)), answer=f"I ran\n{TOTAL};\nas you asked."))
    assert (turn.candidate_sql, turn.candidate_source) == (TOTAL, CandidateSource.LINKED)


def test_nothing_links_so_the_last_successful_is_taken() -> None:
    turn = choose_candidate(Turn(queries=(ran(TOTAL, [["France"]]), ran(COUNT, [[59]])), answer="Done."))
    assert (turn.candidate_sql, turn.candidate_source) == (COUNT, CandidateSource.LAST_SUCCESSFUL)


def test_two_different_queries_that_fit_equally_link_nothing() -> None:
    one, other = ran("SELECT 59 AS a", [[59]]), ran(COUNT, [[59]])
    turn = choose_candidate(Turn(queries=(one, other), answer="There are 59."))
    assert turn.candidate_source is CandidateSource.LAST_SUCCESSFUL


def test_a_repeated_query_counts_once_and_the_last_is_meant() -> None:
    first, last = ran(TOTAL, [["France", 667.62]]), ran(TOTAL, [["France", 667.62]], call_id="2")
    turn = choose_candidate(Turn(queries=(first, ran(COUNT, [[59]]), last), answer="France, 667.62"))
    assert (turn.candidate_sql, turn.candidate_source) == (TOTAL, CandidateSource.LINKED)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("answer", ["word " * 100_000, " ".join(f"{n}.5" for n in range(20_000, 60_000))])
def test_a_very_long_trace_with_a_very_long_answer_ends(answer: str) -> None:
    rows = [[f"name {n}", n * 1.5] for n in range(500)]
    queries = tuple(ran(f"SELECT {n}", rows) for n in range(5_000))
    turn = choose_candidate(Turn(queries=queries, answer=answer))
    assert turn.candidate_source is CandidateSource.LAST_SUCCESSFUL


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.text(max_size=12), st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))
    ),
    st.one_of(st.none(), st.text(max_size=40)),
    st.one_of(st.none(), st.text(), st.recursive(st.integers() | st.text(), st.lists)),
)
def test_the_choice_never_raises_and_is_always_one_that_ran(
    queries: list[tuple[str, bool | None, bool | None]], answer: str | None, content: Any
) -> None:
    made = tuple(ran(sql, content, executed=ex, succeeded=ok) for sql, ex, ok in queries)
    turn = choose_candidate(Turn(queries=made, answer=answer))
    allowed = {query.sql for query in made if query.executed and query.succeeded and query.sql.strip()}
    assert (turn.candidate_sql in allowed) if allowed else turn.candidate_source is CandidateSource.NONE
