"""Strict reading: the inverse of plain writing, every problem placed and named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import pytest

from sqlassay.errors import RecordError
from sqlassay.records.case import Case
from sqlassay.records.strict import Loosely, dotted, examine, from_plain, nearest


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    name: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    id: str
    height: int = 0
    tall: bool = False
    colour: Colour | None = None
    mode: Literal["wild", "tame"] = "wild"
    leaves: tuple[Leaf, ...] = ()
    pair: tuple[int, str] = (0, "")
    marks: Mapping[str, int] = field(default_factory=dict)
    cells: Sequence[Sequence[Any]] | None = None
    names: frozenset[str] = frozenset()


WHOLE = {
    "id": "oak",
    "height": 3,
    "tall": True,
    "colour": "blue",
    "mode": "tame",
    "leaves": [{"name": "a", "weight": 2}],
    "pair": [1, "x"],
    "marks": {"a": 1},
    "cells": [[1, None, "x"]],
    "names": ["b", "a"],
}


def test_every_kind_of_field_is_read() -> None:
    assert from_plain(Tree, WHOLE) == Tree(
        id="oak",
        height=3,
        tall=True,
        colour=Colour.BLUE,
        mode="tame",
        leaves=(Leaf(name="a", weight=2),),
        pair=(1, "x"),
        marks={"a": 1},
        cells=[[1, None, "x"]],
        names=frozenset({"a", "b"}),
    )


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"hieght": 1}, "hieght", "unknown field 'hieght'; did you mean 'height'?"),
        ({"id": 7}, "id", "should be text, is 7"),
        ({"height": "3"}, "height", "should be a whole number, is '3'"),
        ({"height": True}, "height", "should be a whole number, is True"),
        ({"tall": 1}, "tall", "should be true or false, is 1"),
        ({"colour": "rde"}, "colour", "'rde' is not one of red, blue; did you mean 'red'?"),
        ({"mode": "tam"}, "mode", "'tam' is not one of wild, tame; did you mean 'tame'?"),
        ({"leaves": {"name": "a"}}, "leaves", "should be a list, is {'name': 'a'}"),
        ({"leaves": [{"name": "a"}, {"weight": 1}]}, "leaves[1].name", "missing field 'name'"),
        ({"leaves": [{"name": "a", "weight": float("nan")}]}, "leaves[0].weight", "should be a finite number, is nan"),
        ({"pair": [1]}, "pair", "should be a list of 2, is [1]"),
        ({"marks": {"a": "x"}}, "marks.a", "should be a whole number, is 'x'"),
        ({"cells": ["ab"]}, "cells[0]", "should be a list, is 'ab'"),
        ({"tall": None}, "tall", "should be true or false, is None"),
    ],
)
def test_a_problem_names_its_field_and_the_way_out(change: dict[str, Any], field: str, message: str) -> None:
    record, problems = examine(Tree, {**WHOLE, **change})
    assert record is None
    assert [(problem.field, problem.message) for problem in problems] == [(field, message)]


def test_all_problems_are_told_at_once() -> None:
    _, problems = examine(Tree, {"height": "x", "leaves": [{}, {"name": 1}], "colur": "red"})
    assert {problem.field for problem in problems} == {"id", "height", "leaves[0].name", "leaves[1].name", "colur"}


def test_a_raised_error_names_the_record_and_counts_the_rest() -> None:
    with pytest.raises(RecordError, match=r"tree: a: unknown field 'a'.*\(and 2 more\)"):
        from_plain(Tree, dict.fromkeys("abcdef", 1), what="tree")


def test_loosely_text_stands_for_numbers_switches_and_single_items() -> None:
    tree, problems = examine(
        Tree,
        {"id": 7, "height": " 3 ", "tall": "yes", "names": "a", "colour": None},
        loosely=Loosely(texts={("id",): "007"}),
    )
    assert problems == ()
    assert tree == Tree(id="007", height=3, tall=True, names=frozenset({"a"}))


def test_loosely_an_empty_field_that_may_be_left_out_is_left_out() -> None:
    case, problems = examine(Case, {"id": "a", "question": "q", "tags": None, "notes": None}, loosely=Loosely())
    assert problems == ()
    assert case is not None
    assert case.tags == ()


def test_a_tagged_union_says_which_kinds_there_are() -> None:
    _, problems = examine(Case, {"id": "a", "question": "q", "compare_on": {"kind": "id_sett", "column": "x"}})
    assert problems[0].field == "compare_on.kind"
    assert problems[0].message == "unknown kind 'id_sett'; did you mean 'id_set'?"


def test_paths_read_as_people_write_them() -> None:
    assert dotted(()) == ""
    assert dotted(("a", 0, 1, "b")) == "a[0][1].b"


def test_nothing_is_near_to_something_else() -> None:
    assert nearest("zzz", ["question", "id"]) is None
    assert nearest("Question", ["question"]) == "question"
