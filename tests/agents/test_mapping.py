"""Text and mappings, as users write them, to the turn record of specification section 3."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.agents.mapping import statuses_from, turn_from
from sqlassay.errors import ConfigError, ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import (
    CandidateSource,
    OfferedTable,
    Query,
    Retrieval,
    Returned,
    Role,
    Seen,
    StatusSource,
    Turn,
    TurnErrorKind,
    Usage,
)


def read(payload: Any, **settings: Any) -> Turn:
    return turn_from(payload, adapter="test 1", **settings)


@pytest.mark.parametrize(
    ("text", "sql", "answer"),
    [
        ("SELECT a FROM t", "SELECT a FROM t", None),
        ("```sql\nSELECT a FROM t\n```", "SELECT a FROM t", None),
        ("There are 5 films.", None, "There are 5 films."),
        ("Call me later", None, "Call me later"),
        ("From what I see, there are 5.", None, "From what I see, there are 5."),
        ("(SELECT 1) UNION SELECT 2", "(SELECT 1) UNION SELECT 2", None),
        ("VALUES (1), (2)", "VALUES (1), (2)", None),
    ],
)
def test_text_alone(text: str, sql: str | None, answer: str | None) -> None:
    turn = read(text)
    assert (turn.candidate_sql, turn.answer) == (sql, answer)
    assert (turn.status, turn.status_source) == (Status.SUCCESS, StatusSource.INFERRED)
    assert turn.candidate_source is (CandidateSource.NONE if sql is None else CandidateSource.DECLARED)


def test_prose_around_sql_stays_as_the_answer() -> None:
    turn = read("Here it is:\n```sql\nSELECT 1\n```\nThat is all.")
    assert turn.candidate_sql == "SELECT 1"
    assert turn.answer is not None
    assert turn.answer.startswith("Here it is")


def test_sql_text_is_not_edited() -> None:
    sql = "  SELECT a -- keep\n FROM t ; "
    assert read({"sql": sql}).candidate_sql == sql


def test_short_names() -> None:
    turn = read({"sql": "SELECT 1", "answer": "One.", "status": "success"})
    assert (turn.candidate_sql, turn.answer, turn.status) == ("SELECT 1", "One.", Status.SUCCESS)
    assert (turn.status_source, turn.candidate_source) == (StatusSource.DECLARED, CandidateSource.DECLARED)
    assert turn.adapter == "test 1"
    assert turn.gaps == ()


def test_a_refusal_in_the_sql_slot_is_no_query() -> None:
    turn = read({"sql": "I cannot answer that from this database."})
    assert turn.candidate_sql is None
    assert turn.answer == "I cannot answer that from this database."
    assert turn.gaps == ("sql: the text holds no SQL",)


def test_an_answer_that_quotes_sql_while_the_sql_slot_is_empty_declares_none() -> None:
    turn = read({"sql": None, "answer": "You could run ```sql\nSELECT 1\n```"})
    assert turn.candidate_sql is None
    assert read({"answer": "```sql\nSELECT 1\n```"}).candidate_sql == "SELECT 1"


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        ("I cannot answer that from this database.", Status.UNSUPPORTED),
        ({"answer": "Do you mean the home or the billing country?"}, Status.CLARIFICATION),
        ({"sql": "I'm sorry, but I can't help with that."}, Status.UNSUPPORTED),
    ],
)
def test_words_of_refusal_count_only_without_sql_and_without_a_status(payload: Any, status: Status) -> None:
    turn = read(payload)
    assert (turn.status, turn.status_source) == (status, StatusSource.TEXT_RULE)
    assert read(payload, text_rules=False).status_source is StatusSource.INFERRED
    fields = payload if isinstance(payload, dict) else {"answer": payload}
    assert read({**fields, "queries": ["SELECT 1"]}).status is Status.SUCCESS
    assert read({**fields, "status": "SUCCESS"}).status_source is StatusSource.DECLARED
    assert read({**fields, "status": "unheard of"}).status_source is StatusSource.INFERRED


@pytest.mark.parametrize("status", list(Status))
def test_every_status_by_name_in_any_case(status: Status) -> None:
    turn = read({"status": status.value.lower()})
    assert (turn.status, turn.status_source) == (status, StatusSource.DECLARED)


def test_an_unknown_status_is_a_gap_and_never_guessed() -> None:
    turn = read({"status": "refused"})
    assert turn.status is None
    assert "'refused' is not one of SUCCESS" in turn.gaps[0]


def test_the_agents_own_status_words() -> None:
    statuses = statuses_from({"Refused": "unsupported"})
    assert read({"status": "refused"}, statuses=statuses).status is Status.UNSUPPORTED
    with pytest.raises(ConfigError, match="did you mean 'SUCCESS'"):
        statuses_from({"ok": "SUCESS"})


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ("boom", TurnErrorKind.AGENT_CRASH, "boom"),
        ({"kind": "agent_timeout", "message": "60 s"}, TurnErrorKind.AGENT_TIMEOUT, "60 s"),
        (True, TurnErrorKind.AGENT_CRASH, "the agent reported an error"),
    ],
)
def test_an_error_without_a_status_is_an_error(error: Any, kind: TurnErrorKind, message: str) -> None:
    turn = read({"error": error})
    assert turn.error is not None
    assert (turn.error.kind, turn.error.message) == (kind, message)
    assert (turn.status, turn.status_source) == (Status.ERROR, StatusSource.FLAG)


@pytest.mark.parametrize("error", [None, False, "", {}])
def test_an_empty_error_is_none(error: Any) -> None:
    turn = read({"error": error, "sql": "SELECT 1"})
    assert (turn.error, turn.status) == (None, Status.SUCCESS)


@pytest.mark.parametrize("payload", [None, {}, {"sql": None, "answer": "", "status": None}, ""])
def test_an_empty_record_has_no_status(payload: Any) -> None:
    turn = read(payload)
    assert (turn.status, turn.candidate_sql, turn.answer, turn.queries) == (None, None, None, ())


@pytest.mark.parametrize("payload", [3, 1.5, [1], [{"sql": "SELECT 1"}], object()])
def test_another_kind_of_payload_cannot_be_read(payload: Any) -> None:
    with pytest.raises(ExtractionError, match="expected text or a mapping"):
        read(payload)


def test_unknown_fields_are_gaps_with_the_nearest_known_one() -> None:
    assert read({"anwser": "x"}).gaps == ("unknown field 'anwser' (did you mean 'answer'?)",)


def test_every_field_of_the_record() -> None:
    turn = read(
        {
            "queries": [
                "SELECT name FROM sqlite_master",
                {
                    "sql": "SELECT 1 LIMIT 5",
                    "sql_written": "SELECT 1",
                    "executed": "yes",
                    "succeeded": 1,
                    "row_count": "1",
                    "seen": {"content": [[1]], "truncated": True, "row_cap": 5},
                    "duration_s": 0.5,
                    "tool": "run",
                    "call_id": 7,
                    "path": ["main", "sub"],
                },
                {"sql": "SELECT x", "error": "no such column"},
            ],
            "returned": {"columns": ["a"], "rows": [[1]], "row_cap": 50, "truncated": False},
            "stages": {"intent": {"kind": "COUNT"}, "plan": {}, "route": "sql", "gone": None},
            "retrieval": {"offered": ["t", {"name": "u", "has_ddl": False, "columns": ["c"]}], "examples": "case_1"},
            "usage": {"tokens_in": "10", "latency_s": 1.5},
            "history": [{"role": "user", "content": "hi"}, "and?"],
            "gaps": ["no spans"],
        }
    )
    introspection, query, failed = turn.queries
    assert introspection.role is Role.INTROSPECTION
    assert query == Query(
        sql="SELECT 1 LIMIT 5",
        sql_written="SELECT 1",
        executed=True,
        succeeded=True,
        row_count=1,
        seen=Seen(content=[[1]], truncated=True, row_cap=5),
        duration_s=0.5,
        tool="run",
        call_id="7",
        path=("main", "sub"),
    )
    assert (failed.executed, failed.succeeded, failed.error) == (None, False, "no such column")
    assert (turn.candidate_sql, turn.candidate_source) == ("SELECT 1 LIMIT 5", CandidateSource.ONLY_ONE)
    assert turn.returned == Returned(columns=("a",), rows=[(1,)], row_cap=50, truncated=False)
    assert turn.stages == {"intent": {"kind": "COUNT"}, "route": {"value": "sql"}}
    assert turn.retrieval == Retrieval(
        offered=(OfferedTable(name="t"), OfferedTable(name="u", has_ddl=False, columns=("c",))), examples=("case_1",)
    )
    assert turn.usage == Usage(tokens_in=10, latency_s=1.5)
    assert [(m.role, m.content) for m in turn.history] == [("user", "hi"), ("user", "and?")]
    assert turn.gaps == ("no spans",)


def test_a_list_of_mappings_is_a_returned_table() -> None:
    returned = read({"returned": [{"a": 1, "b": 2}, {"b": 3}]}).returned
    assert returned == Returned(columns=("a", "b"), rows=[(1, 2), (None, 3)])


def test_offered_ddl_texts_are_read() -> None:
    retrieval = read({"retrieval": ["CREATE TABLE films (id INT, title TEXT)"]}).retrieval
    assert retrieval is not None
    assert retrieval.offered is not None
    assert [(table.name, table.columns) for table in retrieval.offered] == [("films", ("id", "title"))]


def test_fields_of_a_wrong_type_are_gaps() -> None:
    turn = read({"answer": ["x"], "queries": "SELECT 1", "usage": {"tokens_in": -1, "steps": "many"}, "stages": [1]})
    assert turn.answer is None
    assert len(turn.gaps) == 5


def test_a_recorded_turn_comes_back_as_it_was() -> None:
    turn = read({"sql": "SELECT 1", "answer": "1", "status": "SUCCESS", "queries": [{"sql": "SELECT 2"}]})
    assert read(turn.to_dict()) == turn


def test_data_nested_without_end_is_cut_and_can_be_written() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = {"a": [deep]}
    turn = read({"stages": {"plan": deep}, "returned": [[deep]], "queries": [{"sql": "SELECT 1", "seen": [deep]}]})
    assert len(json.dumps(turn.to_dict())) < 5000
    assert sum("nested deeper" in gap for gap in turn.gaps) == 3


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [*(f for f in Turn.__dataclass_fields__), "sql", "id"]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), plain, max_size=8))
def test_no_mapping_raises_and_the_record_can_be_written(payload: dict[str, Any]) -> None:
    turn = read(payload)
    assert isinstance(turn.to_dict(), dict)
    if turn.candidate_sql is None:
        assert turn.candidate_source is CandidateSource.NONE
