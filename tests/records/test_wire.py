"""What is written is read back as it was, and agrees with its published schema."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.errors import RecordError, UsageError
from sqlassay.records import json_schema, wire
from sqlassay.records.ask import Message
from sqlassay.records.case import Case, Expectation, GroupsShape, IdSetShape, Status, Tolerance
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.plain import to_plain
from sqlassay.records.run import Manifest, RunState
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
    TurnError,
    TurnErrorKind,
    Usage,
)
from sqlassay.records.value import Broken, Ceiling, Quantity, Ratio, Reading, Reason, Undefined

any_text = st.text(st.characters(), max_size=8)
maybe_text = st.none() | any_text
count = st.integers(0, 5)
seconds = st.floats(0, 1e6, allow_nan=False)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
queries = st.builds(
    Query,
    sql=any_text,
    sql_written=maybe_text,
    role=st.sampled_from(Role),
    executed=st.none() | st.booleans(),
    succeeded=st.none() | st.booleans(),
    error=maybe_text,
    row_count=st.none() | count,
    seen=st.none()
    | st.builds(Seen, content=json_values, truncated=st.none() | st.booleans(), row_cap=st.none() | count),
    duration_s=st.none() | seconds,
    path=st.lists(any_text, max_size=2).map(tuple),
)
turns = st.builds(
    Turn,
    case_id=any_text,
    question=any_text,
    phrasing=count,
    repeat=count,
    status=st.none() | st.sampled_from(Status),
    status_source=st.sampled_from(StatusSource),
    history=st.lists(st.builds(Message, role=any_text, content=any_text), max_size=2).map(tuple),
    queries=st.lists(queries, max_size=2).map(tuple),
    candidate_sql=maybe_text,
    candidate_source=st.sampled_from(CandidateSource),
    answer=maybe_text,
    returned=st.none() | st.builds(Returned, columns=st.just(("a",)), rows=st.none() | st.lists(st.lists(json_values))),
    stages=st.dictionaries(any_text, st.dictionaries(any_text, json_values, max_size=2), max_size=2),
    retrieval=st.none()
    | st.builds(Retrieval, offered=st.none() | st.lists(st.builds(OfferedTable, name=any_text), max_size=2).map(tuple)),
    usage=st.builds(Usage, tokens_in=st.none() | count, cost_usd=st.none() | seconds),
    error=st.none() | st.builds(TurnError, kind=st.sampled_from(TurnErrorKind), message=any_text),
    gaps=st.lists(any_text, max_size=2).map(tuple),
    asked_again=st.booleans(),
)
readings: st.SearchStrategy[Reading] = st.one_of(
    st.tuples(count, st.integers(5, 9)).map(lambda pair: Ratio(hits=pair[0], total=pair[1])),
    seconds.map(lambda value: Quantity(value=value, unit="seconds")),
    st.sampled_from(Reason).map(lambda reason: Undefined(reason=reason)),
    any_text.map(lambda error: Broken(error=error)),
)
measurements = st.builds(
    Measurement,
    case_id=any_text,
    phrasing=count,
    repeat=count,
    metrics=st.dictionaries(any_text, readings, max_size=4),
    bucket=st.none() | st.sampled_from(Bucket),
    cause=maybe_text,
    shape=st.none() | st.sampled_from(ShapeLabel),
    ceilings=st.lists(st.sampled_from(Ceiling), max_size=2).map(tuple),
    first_broken_stage=maybe_text,
    evidence=st.dictionaries(any_text, st.dictionaries(any_text, json_values, max_size=2), max_size=2),
)

TURN_SCHEMA = jsonschema.Draft202012Validator(json_schema.schema("turn"))
SCORE_SCHEMA = jsonschema.Draft202012Validator(json_schema.schema("score"))


@settings(max_examples=50, deadline=None)
@given(turns)
def test_a_turn_survives_its_line(turn: Turn) -> None:
    line = wire.write_line(turn)
    plain = json.loads(line.encode())
    read = wire.read_turn(plain)
    assert read == turn
    assert wire.write_line(read) == line
    TURN_SCHEMA.validate(plain)


@given(measurements)
def test_a_measurement_survives_its_line(measurement: Measurement) -> None:
    line = wire.write_line(measurement)
    plain = json.loads(line.encode())
    read = wire.read_measurement(plain)
    assert read == measurement
    assert wire.write_line(read) == line
    SCORE_SCHEMA.validate(plain)


@given(json_values)
def test_one_line_stays_one_line(value: Any) -> None:
    line = wire.write_line({"value": value})
    assert len(line.splitlines()) == 1
    assert json.loads(line.encode()) == {"value": value}


def test_text_stays_readable_and_only_what_must_be_is_escaped() -> None:
    assert wire.write_line({"label": "España\u2028\ud83d"}) == '{"label": "España\\u2028\\ud83d"}'


def test_a_case_and_a_manifest_survive() -> None:
    case = Case(
        id="a",
        question="q",
        gold_sql=("SELECT 1", "SELECT 2"),
        compare_on=GroupsShape(columns=("a", "b")),
        tolerance=Tolerance(mode="plain", abs="0.5"),
        expect=Expectation(terminal_status=Status.SUCCESS, stages={"plan": {"type": "FILTER"}}),
        gold_rows=[[1, "x"]],
    )
    assert wire.read_case(json.loads(wire.write_line(case))) == case
    manifest = Manifest(run_id="r", state=RunState.STARTED, signature="s", settings={"run": {"jobs": 2}})
    plain = json.loads(wire.write_line(manifest))
    assert wire.read_manifest(plain) == manifest
    jsonschema.validate(plain, json_schema.schema("manifest"))


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"case_id": "a", "statsu": "SUCCESS"}, "turn of 'a': statsu: unknown field 'statsu'; did you mean 'status'?"),
        ({"case_id": "a", "status": "OK"}, "turn of 'a': status: 'OK' is not one of SUCCESS"),
        ({"queries": [{"role": "query"}]}, r"turn: queries\[0\].sql: missing field 'sql'"),
    ],
)
def test_a_strange_turn_is_refused(plain: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        wire.read_turn(plain)


@pytest.mark.parametrize(
    "reading",
    [{}, {"value": 1}, {"hits": 3, "total": 2}, {"value": 1, "undefined": "no_sql"}, {"undefined": "because"}, 0.5],
)
def test_a_strange_reading_is_refused_with_its_name(reading: Any) -> None:
    with pytest.raises(RecordError, match=r"score of 'a': metrics\.execution\.exact"):
        wire.read_measurement({"case_id": "a", "metrics": {"execution.exact": reading}})


def test_a_run_of_a_newer_format_is_refused_in_words() -> None:
    with pytest.raises(RecordError, match="format version 99"):
        wire.read_manifest({"run_id": "r", "state": "complete", "signature": "s", "format_version": 99})


@pytest.mark.parametrize("line", ["", "[1]", "{", '{"a": }', "[" * 100_000])
def test_a_line_that_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(RecordError):
        wire.read_line(line)


@pytest.mark.parametrize("name", json_schema.SCHEMAS)
def test_every_schema_is_a_schema_and_describes_itself(name: str) -> None:
    made = json_schema.schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["title"] == name
    assert made["description"]
    assert json.loads(json.dumps(made)) == made


def test_an_unknown_schema_suggests_a_near_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'case'"):
        json_schema.schema("cases")


@pytest.mark.parametrize(
    "case",
    [
        {"id": "a", "question": "q", "golden_sql": "SELECT 1", "compare_on": "film_id_set", "ordered": True},
        {"id": "a", "question": "q", "gold_sql": ["x"], "compare_on": {"groups": "c"}, "tolerance": {"abs": 0.01}},
        {"id": "a", "question": "q", "expect": {"terminal_status": "FALLBACK", "plan": {"a": 1}}, "tags": "smoke"},
    ],
)
def test_the_case_schema_takes_the_short_forms(case: dict[str, Any]) -> None:
    jsonschema.validate(case, json_schema.schema("case"))


@pytest.mark.parametrize(
    "case", [{"id": "a"}, {"id": "a", "question": "q", "qestion": "q"}, {"id": 1, "question": "q"}]
)
def test_the_case_schema_refuses_what_the_reader_refuses(case: dict[str, Any]) -> None:
    assert not jsonschema.Draft202012Validator(json_schema.schema("case")).is_valid(case)


def test_every_key_of_the_configuration_is_documented() -> None:
    made = json_schema.schema("config")
    undocumented = [
        name for name, key in made["properties"].items() if not key.get("description") and "$ref" not in key
    ]
    assert undocumented == []
    for definition in ("ScoreSettings", "RunSettings", "Limits", "GateSettings"):
        for name, key in made["$defs"][definition]["properties"].items():
            assert key.get("description"), f"{definition}.{name}"


def test_plain_cases_validate_but_for_their_place() -> None:
    plain = to_plain(Case(id="a", question="q", compare_on=IdSetShape(column="x")))
    del plain["place"]
    plain["tolerance"] = "guarded"
    jsonschema.validate(plain, json_schema.schema("case"))


def test_reading_and_writing_do_without_pydantic() -> None:
    code = (
        "import sys; from sqlassay.records import wire;"
        "wire.read_turn({'case_id': 'a'}); wire.write_line({}); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


strange = st.dictionaries(
    st.sampled_from(
        ["case_id", "metrics", "status", "queries", "evidence", "run_id", "format_version", "retrieval", "x"]
    ),
    json_values
    | st.dictionaries(
        any_text, st.dictionaries(st.sampled_from(["value", "hits", "total", "unit", "broken"]), json_values)
    ),
    max_size=5,
)


@settings(max_examples=50, deadline=None)
@given(strange)
def test_a_strange_record_is_refused_and_nothing_else_happens(plain: dict[str, Any]) -> None:
    for read in (wire.read_turn, wire.read_measurement, wire.read_manifest, wire.read_case):
        with contextlib.suppress(RecordError):
            read(plain)
