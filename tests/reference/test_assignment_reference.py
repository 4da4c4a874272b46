"""Columns in any order, proven by origin, left out where optional: against every assignment tried on whole rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest

import slow_tables as slow
from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Column, Relation
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.rule import Facts, Links, TableRule

KINDS: tuple[tuple[Any, ...], ...] = ((0, 1), (0, 1), (1, 2, None), (0.0, 0.008, 0.016, 1.0), ("a", "b"), (7,))
ORIGINS = ("t.a", "t.b", "t.c", None)


def relation(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Relation:
    return Relation(columns=tuple(Column(name=name) for name in names), rows=list(rows))


def kept_together(left: Sequence[str | None], right: Sequence[str | None], order: Mapping[int, int]) -> bool:
    """Whether columns of one origin meet as far as there are enough of them on both sides."""
    for origin in {*left} & {*right} - {None}:
        here = [i for i, other in enumerate(left) if other == origin]
        there = [j for j, other in enumerate(right) if other == origin]
        if len(there) >= len(here) and any(i not in order or right[order[i]] != origin for i in here):
            return False
        if len(here) >= len(there) and any(left[i] != origin for i, j in order.items() if j in there):
            return False
    return True


def possible(
    names: tuple[Sequence[str], Sequence[str]],
    origins: tuple[Sequence[str | None], Sequence[str | None]],
    rows: tuple[Sequence[tuple[Any, ...]], Sequence[tuple[Any, ...]]],
    optional: str | None,
    mode: str,
) -> bool:
    width, given = len(names[0]), len(names[1])
    free = [i for i, name in enumerate(names[0]) if name == optional]
    for dropped in combinations(free, width - given):
        kept = [i for i in range(width) if i not in dropped]
        shown = [names[0][i] for i in kept]
        left = [tuple(row[i] for i in kept) for row in rows[0]]
        for order in permutations(range(given)):
            moved = tuple(kept) != order
            if not kept_together(*origins, dict(zip(kept, order, strict=True))):
                continue
            if not (moved and slow.crossing(shown, names[1], order)) and slow.rows_equal(left, rows[1], order, mode):
                return True
    return False


@pytest.mark.parametrize("seed", range(5))
def test_every_assignment_that_holds_is_found(seed: int) -> None:
    chance, right = random.Random(seed), 0
    for _ in range(400):
        width = chance.randint(1, 4)
        kinds = chance.choices(KINDS, k=width)
        rows = [tuple(map(chance.choice, kinds)) for _ in range(chance.randint(0, 4))]
        names = chance.choices("abcd", k=width)
        origins = chance.choices(ORIGINS, k=width)
        order = chance.sample(range(width), width)
        optional = chance.choice(names) if width > 1 and chance.random() < 0.4 else None
        if optional is not None and chance.random() < 0.7:
            order.remove(names.index(optional))
        answer = [tuple(row[place] for place in order) for row in chance.sample(rows, len(rows))]
        if answer and chance.random() < 0.3:
            row, column = chance.randrange(len(answer)), chance.randrange(len(order))
            cell = chance.choice(kinds[order[column]])
            answer[row] = (*answer[row][:column], cell, *answer[row][column + 1 :])
        other = [names[p] for p in order] if chance.random() < 0.6 else chance.choices("abcd", k=len(order))
        found_in = [origins[p] for p in order] if chance.random() < 0.5 else chance.choices(ORIGINS, k=len(order))
        mode: Any = chance.choice(["guarded", "plain", "exact"])
        rule = TableRule(
            tolerance=Tolerance(mode=mode),
            links=Links(reference=Facts(origins=tuple(origins)), candidate=Facts(origins=tuple(found_in))),
            optional_columns=() if optional is None else (optional,),
        )
        wanted = possible((names, other), (origins, found_in), (rows, answer), optional, mode)
        found = compare_tables(relation(names, rows), relation(other, answer), rule)
        assert found.exact == wanted, (names, origins, rows, other, found_in, answer, mode, optional)
        right += wanted
    assert 100 < right < 390


def test_columns_of_one_name_that_only_tolerance_brings_together_are_told_apart() -> None:
    gold = relation("bbca", [(0.008, 0.0, 1.0, 0), (0.0, 0.016, 0.0, 0)])
    answer = relation("cabb", [(1.0, 0, 0.0, 0.008), (0.0, 0, 0.016, 0.0)])
    links = Links(
        reference=Facts(origins=("t.c", "t.c", None, None)), candidate=Facts(origins=(None, None, "t.c", "t.c"))
    )
    assert compare_tables(gold, answer, TableRule(links=links, tolerance=Tolerance(mode="plain"))).exact


def test_an_optional_column_that_origin_proves_present_must_be_right() -> None:
    gold = relation(["id", "note"], [(1, 7), (2, 7)])
    links = Links(reference=Facts(origins=("t.id", "t.note")), candidate=Facts(origins=("t.note",)))
    rule = TableRule(links=links, optional_columns=("note",))
    assert not compare_tables(gold, relation(["id"], [(1,), (2,)]), rule).exact
