"""Whatever a file holds, reading it ends in cases or in an error that names the file; never in anything else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sqlassay.datasets import loads
from sqlassay.datasets.order import has_outermost_order
from sqlassay.datasets.shorthand import ALIASES, FIELDS
from sqlassay.errors import ConfigError, DatasetError
from sqlassay.running.configure import TOP, from_mapping

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
field_names = st.sampled_from([*FIELDS, *ALIASES, "unknown"])
near_values = st.sampled_from(
    [
        "SELECT 1",
        "yes",
        "id_set",
        {"id_set": "a"},
        {"kind": "groups"},
        {"kind": ["x"]},
        {"terminal_status": "SUCCESS"},
        {"stages": {"a": None}},
        {"plan": {"x": []}},
        {"abs": "1e999"},
        {"abs": 1e300},
        {"mode": "plain", "rel": None},
        [[1], [2]],
        [None],
    ]
)
cases = st.dictionaries(field_names, values | near_values, max_size=8)


def reads(text: str, file: str) -> None:
    message = file
    try:
        loads(text, file=file)
    except DatasetError as error:
        message = error.message
    assert message.startswith(file)


@settings(max_examples=80, deadline=None)
@given(st.lists(cases, max_size=3))
def test_json_of_any_shape(found: list[dict[str, Any]]) -> None:
    text = json.dumps(found)
    reads(text, "cases.json")
    reads(text, "cases.yaml")
    reads("\n".join(json.dumps(one) for one in found), "cases.jsonl")


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("-:[]{}&*!|>'\"%@`#,? \n\tab1.<~"), max_size=40))
@example("? - a\n")
@example("- !!str &a *a\n")
@example("<<: [1]\n")
def test_yaml_of_any_form(text: str) -> None:
    reads(text, "cases.yaml")


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("id,question\n\"';=[{}]ab"), max_size=60))
def test_csv_of_any_form(text: str) -> None:
    reads(text, "cases.csv")
    reads("id,question,compare_on,expect.plan.x,gold_rows,tags\n" + text, "cases.csv")


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from([*TOP, "databases", "jobs", "timeout", "x"]), values, max_size=5))
def test_settings_of_any_shape(found: dict[str, Any]) -> None:
    message = "configuration: "
    try:
        from_mapping(found, environment={})
    except ConfigError as error:
        message = error.message
    assert message.startswith("configuration: ")


@given(st.text(max_size=60))
def test_the_reading_of_order_never_fails(sql: str) -> None:
    assert has_outermost_order(sql) in (True, False)
