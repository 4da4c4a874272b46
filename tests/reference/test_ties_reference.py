"""Ties, LIMIT and OFFSET against every result that the gold query could have given, listed one by one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import pytest

import slow_tables as slow
from sqlassay.records.case import Ordered, Tolerance
from sqlassay.records.query import KeySource, Ordering, OrderPlan, SortKey
from sqlassay.records.relation import Column, Relation
from sqlassay.records.value import Ceiling
from sqlassay.tables.chosen import Group, chosen, possible
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.order import OrderFacts, order_of, settled
from sqlassay.tables.rule import Cut, Links, TableRule
from sqlassay.tables.shapes import Ground, groups, id_set, ranking, scalar
from sqlassay.tables.shelves import scorer
from sqlassay.tables.tolerance import agreement

Row = tuple[Any, ...]


def relation(names: str, rows: Sequence[Row]) -> Relation:
    return Relation(columns=tuple(Column(name=name) for name in names), rows=list(rows))


def orders(rows: Sequence[Row], keys: Sequence[int]) -> Iterator[list[Row]]:
    """Every order that an engine may give the rows, sorted by their keys."""
    tied = [[row for row, key in zip(rows, keys, strict=True) if key == each] for each in sorted(set(keys))]
    for choice in product(*(sorted(set(permutations(group)), key=repr) for group in tied)):
        yield [row for group in choice for row in group]


class Drawn:
    """A random query result with all results that would have been as right, and an answer to it."""

    def __init__(self, chance: random.Random, *, cells: Any) -> None:
        self.keys = sorted(chance.choices(range(3), k=chance.randint(0, 6)))
        rows = [cells(chance, place) for place in range(len(self.keys))]
        limit, offset = chance.choice([None, 1, 2, 3, 4]), chance.choice([0, 0, 1, 2])
        stop = None if limit is None else offset + limit
        every = list(orders(rows, self.keys))
        self.possible = sorted({tuple(order[offset:stop]) for order in every}, key=repr)
        self.gold, answer = list(chance.choice(self.possible)), list(chance.choice(self.possible))
        if answer and chance.random() < 0.5:
            match chance.randrange(4):
                case 0:
                    chance.shuffle(answer)
                case 1:
                    answer[chance.randrange(len(answer))] = chance.choice(rows)
                case 2:
                    answer.append(chance.choice(rows))
                case _:
                    answer.pop()
        self.answer = answer
        self.ordered = chance.choice([Ordered.AUTO, Ordered.NO])
        uncut = [(*row, key) for row, key in zip(chance.choice(every), self.keys, strict=True)]
        key = SortKey(expression="k")
        self.facts: OrderFacts = order_of(
            relation("ab", self.gold),
            ordering=Ordering(keys=(key,), limit=limit, offset=offset or None, limited=bool(stop or offset)),
            plan=OrderPlan(source=KeySource.HIDDEN, hidden_sql="...", key_count=1),
            auxiliary=relation("abk", uncut),
            ordered=self.ordered,
        )

    def ground(self, gold: Relation, width: int = 2) -> Ground:
        return Ground.of(
            gold,
            relation("ab"[:width], [row[:width] for row in self.answer]),
            links=Links(),
            agree=agreement(Tolerance()),
            coercions=Coercions(),
            threshold=Fraction(1, 2),
            pools=[row[:width] for cut in self.facts.order.cuts for row in cut.pool],
        )


def whole(chance: random.Random, place: int) -> Row:
    return (chance.choice([1, 2, 3, 4, 5, None]) if chance.random() < 0.5 else place + 10, chance.choice([1, 2]))


def loose(chance: random.Random, place: int) -> Row:
    del place
    return (chance.choice("aab"), chance.choice([0.0, 0.008, 0.016, 0.024, 1.0, 1.005]))


def ids(rows: Sequence[Row]) -> list[Any]:
    return list(dict.fromkeys(row[0] for row in rows if row[0] is not None))


@pytest.mark.parametrize("seed", range(4))
def test_tables_and_ids_accept_what_the_gold_could_have_given(seed: int) -> None:
    chance, right = random.Random(seed), Counter[str]()
    for _ in range(300):
        drawn = Drawn(chance, cells=whole)
        gold, answer, possible = relation("ab", drawn.gold), drawn.answer, drawn.possible
        as_bag = any(Counter(answer) == Counter(each) for each in possible)
        wanted = {
            "table": as_bag if drawn.ordered is Ordered.NO else tuple(answer) in possible,
            "id_set": any(set(ids(answer)) == set(ids(each)) for each in possible),
            "ranking": any(ids(answer) == ids(each) for each in possible),
        }
        assert Ceiling.TIES_UNKNOWN not in drawn.facts.ceilings
        ground = drawn.ground(gold)
        rule = TableRule(columns="by_position", order=drawn.facts.order)
        found = {
            "table": compare_tables(gold, ground.candidate, rule).exact,
            "id_set": id_set(ground, "a", drawn.facts).exact,
            "ranking": ranking(ground, "a", drawn.facts).exact,
        }
        if drawn.ordered is Ordered.NO:
            del wanted["ranking"], found["ranking"]
        assert found == wanted, (drawn.gold, answer, drawn.facts.order)
        right.update(name for name, holds in wanted.items() if holds)
        if len(drawn.gold) == 1:
            one = drawn.ground(relation("a", [row[:1] for row in drawn.gold]), width=1)
            fits = len(answer) == 1 and any(answer[0][0] == each[0][0] for each in possible)
            assert scalar(one).exact == fits
        filled = drawn.ground(settled(gold, ground.candidate, drawn.facts.order, ["a"]))
        assert groups(filled, ["a"], drawn.facts.order).exact == as_bag, (drawn.gold, answer, drawn.facts.order)
    assert min(right.values()) > 50


@pytest.mark.parametrize("mode", ["plain", "guarded", "exact"])
def test_pools_at_both_ends_keep_apart_also_under_tolerance(mode: Any) -> None:
    chance, two = random.Random(mode), 0
    for _ in range(500):
        drawn = Drawn(chance, cells=loose)
        answer = [(name, round(cell + chance.choice([0, 0, 0.005, -0.008]), 4)) for name, cell in drawn.answer]
        rule = TableRule(columns="by_position", order=drawn.facts.order, tolerance=Tolerance(mode=mode))
        found = compare_tables(relation("ab", drawn.gold), relation("ab", answer), rule)
        rows = any(slow.rows_equal(list(each), answer, range(2), mode) for each in drawn.possible)
        assert found.same_rows == rows, (drawn.gold, answer, drawn.facts.order)
        if drawn.ordered is not Ordered.NO:
            assert found.exact == any(_in_order(each, answer, mode) for each in drawn.possible)
        two += len(drawn.facts.order.cuts) == 2
    assert two > 3


def _in_order(gold: Sequence[Row], answer: Sequence[Row], mode: str) -> bool:
    return len(gold) == len(answer) and all(
        slow.agrees(a, b, mode, loose=True)
        for one, two in zip(gold, answer, strict=True)
        for a, b in zip(one, two, strict=True)
    )


def _best(gold: Sequence[Group], found: Sequence[Group], mode: str) -> tuple[int, int]:
    """Right keys and right totals, the totals of each key assigned in the best way."""
    keys = {key for key, _ in gold} & {key for key, _ in found}
    hits = cells = 0
    for each in keys:
        left, right = ([row for key, row in side if key == each] for side in (gold, found))
        hits += min(len(left), len(right))
        cells += slow.best_assignment(
            left, right, lambda a, b: sum(slow.agrees(x, y, mode, loose=True) for x, y in zip(a, b, strict=True))
        )
    return hits, cells


@pytest.mark.parametrize("mode", ["plain", "guarded", "exact"])
def test_groups_stand_where_the_answer_has_most_of_them_right(mode: Any) -> None:
    chance, agree, verdicts = random.Random(mode), agreement(Tolerance(mode=mode)), Counter[bool]()

    def drawn(most: int, least: int = 0) -> list[Group]:
        rows = chance.randint(least, most)
        return [
            (chance.choice("abc"), (chance.choice([0.0, 0.008, 0.016, 1.0]), chance.choice("xy"))) for _ in range(rows)
        ]

    for _ in range(400):
        fixed, pools = drawn(2), [drawn(4, 2) for _ in range(chance.choice([1, 2, 2]))]
        quotas = [chance.randint(1, len(pool) - 1) for pool in pools]
        starts = [0, quotas[0] + len(fixed)] if len(pools) == 2 else [len(fixed)]
        cuts = [Cut(start=s, stop=s + q, pool=p) for s, q, p in zip(starts, quotas, pools, strict=True)]
        shown = [*([] if len(pools) == 1 else pools[0][: quotas[0]]), *fixed, *pools[-1][: quotas[-1]]]
        gold = [*shown, *(row for pool in pools for row in pool)]
        choices = [
            [*fixed, *(row for rows in choice for row in rows)]
            for choice in product(*(combinations(pool, quota) for pool, quota in zip(pools, quotas, strict=True)))
        ]
        answer = list(chance.choice(choices)) if chance.random() < 0.7 else drawn(5)
        found = [(key, (round(a + chance.choice([0, 0, 0.006, -0.009]), 4), b)) for key, (a, b) in answer]
        best = max(_best(choice, found, mode) for choice in choices)
        flags = [mode != "exact", False]
        holds = possible(cuts, gold, found, tolerant=flags, agree=agree)
        assert holds == (len(found) == len(shown) and best == (len(shown), 2 * len(shown)))
        rows = chosen(cuts, gold, found, scorer(flags, agree))
        assert sorted(gold[place] for place in rows) in [sorted(choice) for choice in choices]
        assert _best([gold[place] for place in rows], found, mode) == best, (cuts, gold, found)
        verdicts[holds] += 1
    assert min(verdicts[True], verdicts[False]) > 20
