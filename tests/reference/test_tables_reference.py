"""The comparison agrees with a slow and obvious one on random small tables."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import slow_tables as slow
import strategies
from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.output import align
from sqlassay.tables.rule import TableRule

MODES = ("guarded", "plain", "exact")
EXACT_CELLS = strategies.COLUMNS[:3]


def _relation(names: Any, rows: Any) -> Relation:
    return Relation(columns=tuple(Column(name=name) for name in names), rows=list(rows))


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=300, deadline=None)
@given(both=strategies.pairs())
def test_exact(mode: Any, both: Any) -> None:
    left, right = both
    found = compare_tables(left.relation, right.relation, TableRule(tolerance=Tolerance(mode=mode)))
    assert found.exact == slow.exact(left.rows, right.rows, (left.names, right.names), mode)
    if len(left.names) == len(right.names):
        identity = range(len(left.names))
        assert found.by_position == slow.rows_equal(left.rows, right.rows, identity, mode)


@settings(max_examples=300, deadline=None)
@given(both=strategies.pairs(kinds=EXACT_CELLS))
def test_pairs_and_cells_of_exact_values(both: Any) -> None:
    left, right = both
    found = align(left.relation, right.relation)
    made = slow.pairs_by_values(left.rows, right.rows, (left.names, right.names), "guarded")
    assert [(pair.reference, pair.candidate, pair.by.value) for pair in found.pairs] == made
    assert found.matched_cells == slow.matched_cells(left.rows, right.rows, made, "guarded")
    key = slow.row_key(left.rows, right.rows, made, "guarded")
    assert found.key == (None if key is None else tuple(i for i, _, _ in key))


@settings(max_examples=300, deadline=None)
@given(both=strategies.pairs())
def test_pairs_and_cells_of_any_values(both: Any) -> None:
    left, right = both
    found = align(left.relation, right.relation)
    made = slow.pairs_by_values(left.rows, right.rows, (left.names, right.names), "guarded")
    assert [(pair.reference, pair.candidate, pair.by.value) for pair in found.pairs] == made
    for pair in found.pairs:
        columns = [row[pair.reference] for row in left.rows], [row[pair.candidate] for row in right.rows]
        assert (pair.overlap.precision, pair.overlap.recall) == slow.shares(*columns, "guarded")
    order = [(i, j) for i, j, _ in made]
    projected = (
        [tuple(row[i] for i, _ in order) for row in left.rows],
        [tuple(row[j] for _, j in order) for row in right.rows],
    )
    if made and left.rows and slow.rows_equal(*projected, range(len(order)), "guarded"):
        assert found.matched_cells == len(left.rows) * len(made)
    else:
        assert found.matched_cells == slow.matched_cells(left.rows, right.rows, made, "guarded")


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("spread", [0.05, 0.3], ids=["dense", "sparse"])
@pytest.mark.parametrize("mode", ["plain", "guarded"])
def test_tolerance_is_decided_by_a_matching(width: int, spread: float, mode: Any) -> None:
    """Chains of close numbers, in which sorting and greedy walks go wrong, against augmenting paths over all pairs."""
    chance = random.Random(f"{width}{spread}{mode}")
    equal = 0
    for _ in range(150):
        height = chance.randint(2, 9)
        base = 1.0 if mode == "guarded" and chance.random() < 0.5 else 0.0
        left = [tuple(base + round(chance.uniform(0, spread), 3) for _ in range(width)) for _ in range(height)]
        right = [tuple(round(cell + chance.uniform(-0.0105, 0.0105), 3) for cell in row) for row in left]
        chance.shuffle(right)
        names = [str(i) for i in range(width)]
        rule = TableRule(tolerance=Tolerance(mode=mode), columns="by_position")
        found = compare_tables(_relation(names, left), _relation(names, right), rule)
        wanted = slow.rows_equal(left, right, range(width), mode)
        assert found.exact == wanted, (left, right)
        equal += wanted
    assert equal, "the instances never matched, so the test would prove little"


@settings(max_examples=200, deadline=None)
@given(both=strategies.pairs(width=4, height=6), chance=st.randoms(use_true_random=False))
def test_laws(both: Any, chance: Any) -> None:
    left, right = both
    found = compare_tables(left.relation, right.relation)
    assert compare_tables(right.relation, left.relation).exact == found.exact
    shuffled = list(right.rows)
    chance.shuffle(shuffled)
    again = compare_tables(left.relation, _relation(right.names, shuffled))
    assert (again.exact, again.by_position, again.with_extra) == (found.exact, found.by_position, found.with_extra)
    assert found.with_extra or not found.exact
    one, two = align(left.relation, right.relation), align(left.relation, _relation(right.names, shuffled))
    assert (one.pairs, one.key, one.matched_cells) == (two.pairs, two.key, two.matched_cells)
    assert 0 <= one.column_precision <= len(right.names)
    assert 0 <= one.column_recall <= len(left.names)
    assert 0 <= one.matched_cells <= min(len(left.rows), len(right.rows)) * one.width


@settings(max_examples=200, deadline=None)
@given(table=strategies.tables(width=4, height=6), chance=st.randoms(use_true_random=False))
def test_gold_against_itself_and_its_columns_in_another_order(table: Any, chance: Any) -> None:
    found = compare_tables(table.relation, table.relation)
    assert found.exact
    assert found.by_position
    order = list(range(len(table.names)))
    chance.shuffle(order)
    if len({name for name in table.names if name}) == len(table.names):
        rows = [tuple(row[p] for p in order) for row in table.rows]
        assert compare_tables(table.relation, _relation([table.names[p] for p in order], rows)).exact
    both = align(table.relation, table.relation, suggested=found.assignment)
    if table.rows and not both.unpaired:
        assert both.column_precision == both.column_recall == len(table.names)
        assert both.matched_cells == len(table.rows) * len(table.names)


@settings(max_examples=200, deadline=None)
@given(both=strategies.pairs(width=3, height=6))
def test_the_two_families_never_contradict_each_other(both: Any) -> None:
    left, right = both
    found = compare_tables(left.relation, right.relation)
    side = align(left.relation, right.relation, suggested=found.assignment)
    if not left.rows or not right.rows:
        return
    perfect = (
        side.column_precision == len(right.names)
        and side.column_recall == len(left.names)
        and side.matched_cells == len(left.rows) * side.width == len(right.rows) * side.width
    )
    if perfect and side.width:
        assert found.exact or "labels_crossed" in {ceiling.value for ceiling in found.ceilings}
    if found.exact and not side.unpaired:
        assert perfect


@settings(max_examples=150, deadline=None)
@given(both=strategies.pairs(width=3, height=6), extra=st.lists(st.integers(1000, 1010), min_size=12, max_size=12))
def test_a_column_that_pairs_with_nothing_never_raises_precision(both: Any, extra: list[int]) -> None:
    left, right = both
    more = _relation((*right.names, "zz"), [(*row, extra[n]) for n, row in enumerate(right.rows)])
    one, two = align(left.relation, right.relation), align(left.relation, more)
    if any(pair.candidate == len(right.names) for pair in two.pairs):
        return
    assert two.column_precision / (len(right.names) + 1) <= one.column_precision / len(right.names)
    assert two.matched_cells == one.matched_cells


@settings(max_examples=150, deadline=None)
@given(table=strategies.tables(width=3, height=6, kinds=EXACT_CELLS), which=st.integers(0, 5))
def test_a_duplicate_on_a_full_shelf_never_raises_precision(table: Any, which: int) -> None:
    if not table.rows:
        return
    more = _relation(table.names, [*table.rows, table.rows[which % len(table.rows)]])
    one, two = align(table.relation, table.relation), align(table.relation, more)
    if one.width:
        assert two.matched_cells * one.candidate_rows <= one.matched_cells * two.candidate_rows
    assert two.matched_cells == one.matched_cells


@example(rows=[(0.0, 0.0), (0.009, 0.009), (0.018, 0.0)])
@given(rows=st.lists(st.tuples(st.floats(0, 0.05), st.floats(0, 0.05)), min_size=2, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_swap_of_one_column_between_two_rows_is_seen(rows: Any) -> None:
    rows = [(n, f"name {n}", *row) for n, row in enumerate(rows)]
    broken = [(rows[0][0], rows[1][1], *rows[0][2:]), (rows[1][0], rows[0][1], *rows[1][2:]), *rows[2:]]
    names = ["id", "name", "x", "y"]
    assert not compare_tables(_relation(names, rows), _relation(names, broken)).exact
