"""Which of the rows tied across a cut did the candidate choose? For groups, whose keys and totals count apart.

Whether some choice makes all groups right is decided by a matching with a quota for each pool, at any size. Where none
does, the choice with the most right keys, and among those the most right totals, is an assignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from sqlassay.tables.matching import bags_agree, skeleton
from sqlassay.tables.rule import Cut
from sqlassay.tables.tolerance import Agreement

Row = tuple[Any, ...]
Group = tuple[Any, Row]
"""A key and its totals."""

_CELLS: Final = 4_000_000
"""Entries of the assignment's matrix above which the rows that the gold was given stay."""


def possible(
    cuts: Sequence[Cut], gold: Sequence[Group], found: Sequence[Group], *, tolerant: Sequence[bool], agree: Agreement
) -> bool:
    """Whether the gold could have shown exactly these groups. `gold` holds its rows, then those of the pools.

    >>> from sqlassay.records.case import Tolerance
    >>> gold = [("a", (1,)), ("b", (1,)), ("a", (1,)), ("c", (1,)), ("b", (1,)), ("a", (1,))]
    >>> cuts = (Cut(start=0, stop=1, pool=[(), ()]), Cut(start=1, stop=2, pool=[(), ()]))
    >>> answers = ([("c", (1,)), ("a", (1,))], [("a", (1,)), ("b", (1,))], [("c", (1,)), ("c", (1,))])
    >>> [possible(cuts, gold, answer, tolerant=[False], agree=Agreement(Tolerance())) for answer in answers]
    [True, True, False]
    """
    height, fixed, spans = _parts(cuts, len(gold))
    if len(found) != height:
        return False
    rows, answers = ([_split(group, tolerant) for group in side] for side in (gold, found))
    optional = [rows[place] for span in spans for place in span]
    split = (len(spans[0]), cuts[0].stop - cuts[0].start) if len(cuts) == 2 else None
    return bags_agree([rows[place] for place in fixed], answers, agree, optional, split)


def chosen(
    cuts: Sequence[Cut], gold: Sequence[Group], found: Sequence[Group], score: Callable[[Row, Row], int]
) -> list[int]:
    """The places of the gold's rows outside of its cuts, and of each pool as many rows as the gold shows of it."""
    height, fixed, spans = _parts(cuts, len(gold))
    tied = {gold[place][0] for span in spans for place in span}
    answers = [group for group in found if group[0] in tied]
    there = Counter(key for key, _ in answers)
    rivals = [[place for place in span if gold[place][0] in there] for span in spans]
    places = [place for place in fixed if gold[place][0] in there] + [place for span in rivals for place in span]
    quotas = [cut.stop - cut.start for cut in cuts]
    spare = [max(0, len(span) - quota) for span, quota in zip(rivals, quotas, strict=True)]
    if (len(answers) + sum(spare)) * len(places) > _CELLS:
        return list(range(height))
    taken = _assigned([gold[place] for place in places], answers, score, _blocked(places, rivals, spare))
    mine = {places[column] for column in taken}
    shown = list(fixed)
    for span, quota in zip(spans, quotas, strict=True):
        shown += sorted(span, key=lambda place: place not in mine)[:quota]
    return shown


def _parts(cuts: Sequence[Cut], size: int) -> tuple[int, list[int], list[range]]:
    """How many rows the gold has, its places outside of the cuts, and where each pool lies behind them."""
    height = size - sum(len(cut.pool) for cut in cuts)
    inside = {place for cut in cuts for place in range(cut.start, cut.stop)}
    ends = accumulate((len(cut.pool) for cut in cuts), initial=height)
    return height, [place for place in range(height) if place not in inside], [range(*span) for span in pairwise(ends)]


def _split(group: Group, tolerant: Sequence[bool]) -> tuple[Any, Row]:
    key, totals = group
    exact = tuple(skeleton(cell) if loose else cell for cell, loose in zip(totals, tolerant, strict=True))
    return (key, exact), tuple(cell for cell, loose in zip(totals, tolerant, strict=True) if loose)


def _blocked(places: Sequence[int], rivals: Sequence[Sequence[int]], spare: Sequence[int]) -> list[list[int]]:
    """For each row that a pool may not show besides its quota, the columns of that pool: one of them stays empty."""
    column = {place: position for position, place in enumerate(places)}
    return [[column[place] for place in span] for span, count in zip(rivals, spare, strict=True) for _ in range(count)]


def _assigned(
    rows: Sequence[Group], answers: Sequence[Group], score: Callable[[Row, Row], int], blocked: Sequence[Sequence[int]]
) -> list[int]:
    """The rows that answers take when right keys, and then right totals, are most; each blocker keeps one row free."""
    if not rows or not answers:
        return []
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    key_worth = len(answers) * len(answers[0][1]) + 1
    worth = np.zeros((len(answers) + len(blocked), len(rows)))
    for line, (key, totals) in enumerate(answers):
        for column, (other, mine) in enumerate(rows):
            if key == other:
                worth[line, column] = key_worth + score(mine, totals)
    for line, kept in enumerate(blocked, start=len(answers)):
        worth[line, kept] = 2 * key_worth * len(answers)
    pairs = zip(*(ends.tolist() for ends in linear_sum_assignment(worth, maximize=True)), strict=True)
    return [column for line, column in pairs if line < len(answers) and worth[line, column] > 0]
