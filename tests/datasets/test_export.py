"""What is written as cases reads back as the same cases, in every format."""

from __future__ import annotations

import csv
import dataclasses
import io
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.datasets import loads
from sqlassay.datasets.export import text, written
from sqlassay.errors import UsageError
from sqlassay.records.case import (
    Case,
    Expectation,
    GroupsShape,
    IdSetShape,
    Ordered,
    ScalarShape,
    Status,
    TableShape,
    Tolerance,
)
from sqlassay.records.json_schema import schema

# Text that any of the formats can hold: no surrogates, no control characters, no line ends but \n.
letters = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029\x85\ufeff")
said = st.text(letters | st.just("\n"), max_size=20)
words = said.filter(lambda value: value.strip() != "" and value == value.strip())
tricky = st.sampled_from(
    ["yes", "no", "null", "~", "007", "1e3", "0x1F", "2020-01-01", "12:30", "=1+1", "-x", "@a", "'=b", "a: b", "# c"]
)
names = words | tricky
lists = st.lists(names, max_size=3).map(tuple)
cells = st.none() | st.booleans() | st.integers(-5, 5) | tricky | st.floats(-1e3, 1e3).map(lambda v: round(v, 3))
shapes: st.SearchStrategy[Any] = st.one_of(
    st.just(TableShape()),
    st.just(ScalarShape()),
    names.map(lambda column: IdSetShape(column=column)),
    st.lists(names, min_size=1, max_size=2).map(lambda columns: GroupsShape(columns=tuple(columns))),
)
stages = st.dictionaries(st.sampled_from(["plan", "semantic"]), st.dictionaries(names, cells, max_size=2), max_size=2)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    gold = draw(st.lists(names, max_size=2).map(tuple))
    gold = tuple(sql for sql in gold if sql.strip("; \n"))
    status = Status.SUCCESS if gold else draw(st.sampled_from(Status))
    return Case(
        id=draw(names),
        question=draw(names),
        phrasings=draw(lists),
        turns=draw(lists),
        category=draw(st.none() | names),
        tags=draw(lists),
        gold_sql=gold,
        compare_on=draw(shapes),
        expect=Expectation(terminal_status=status, stages=draw(stages)),
        gold_rows=draw(st.none() | st.lists(st.tuples(cells, cells).map(list), max_size=2)) if gold else None,
        tolerance=draw(
            st.sampled_from(
                [None, Tolerance(), Tolerance(mode="exact"), Tolerance(mode="plain", abs="0.5", rel="0")],
            )
        ),
        ordered=draw(st.sampled_from(Ordered)),
        control=draw(st.booleans()),
        notes=draw(st.none() | names),
    )


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([".yaml", ".jsonl", ".csv"]))
def test_a_case_survives_its_file(case: Case, suffix: str) -> None:
    [read] = loads(text([case], suffix=suffix), file=f"cases{suffix}")
    assert dataclasses.replace(read, place=None) == case


@settings(max_examples=40, deadline=None)
@given(cases())
def test_a_written_case_fits_the_published_schema(case: Case) -> None:
    SCHEMA.validate(written(case))


SCHEMA = jsonschema.Draft202012Validator(schema("case"))


def test_no_cell_of_a_csv_is_a_formula() -> None:
    evil = Case(id="a", question="=HYPERLINK(1)", notes="@x", gold_sql=("-- a comment\nSELECT 1",), category="+1")
    table = list(csv.reader(io.StringIO(text([evil], suffix=".csv"))))
    assert not any(cell[:1] in tuple("=+-@\t\r") for row in table for cell in row if cell)


def test_queries_of_several_lines_are_written_as_blocks() -> None:
    case = Case(id="a", question="q", gold_sql=("SELECT 1\nFROM t",), compare_on=IdSetShape(column="x"))
    assert text([case], suffix=".yaml") == (
        "- id: a\n  question: q\n  gold_sql: |-\n    SELECT 1\n    FROM t\n  compare_on:\n    id_set: x\n"
    )


def test_another_suffix_is_refused() -> None:
    with pytest.raises(UsageError, match=r"not written as '\.xlsx'"):
        text([], suffix=".xlsx")
