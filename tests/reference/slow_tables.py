"""Slow, obvious and independent: what the specification says about two tables, written down once more.

Nothing here is shared with the package but its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations
from math import isfinite
from typing import Any

Row = tuple[Any, ...]


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def is_number(value: Any) -> bool:
    """A number that lies on the line: no NaN, no infinity."""
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool):
        return False
    return isinstance(value, int) or isfinite(value)


def exactly(value: Any) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def same_value(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if is_nan(a) or is_nan(b):
        return is_nan(a) and is_nan(b)
    if is_number(a) and is_number(b):
        return exactly(a) == exactly(b)
    return type(a) is type(b) and bool(a == b)


def guarded(a: Fraction, b: Fraction) -> bool:
    gap = abs(a - b)
    if gap > Fraction(1, 100):
        return False
    return gap <= max(abs(a), abs(b)) / 10 or is_rounding(a, b) or is_rounding(b, a)


def is_rounding(short: Fraction, long: Fraction) -> bool:
    for digits in range(2, 7):
        step = Fraction(1, 10**digits)
        if (short / step).denominator == 1 and abs(short - long) <= step / 2:
            return True
    return False


def plain(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) <= Fraction(1, 100)


def never(a: Fraction, b: Fraction) -> bool:
    return a == b


RULES = {"guarded": guarded, "plain": plain, "exact": never}


def only_whole(column: Sequence[Any]) -> bool:
    return all(isinstance(cell, int) for cell in column if is_number(cell))


def agrees(a: Any, b: Any, rule: str, *, loose: bool) -> bool:
    if same_value(a, b):
        return True
    return loose and is_number(a) and is_number(b) and RULES[rule](exactly(a), exactly(b))


def columns_of(rows: Sequence[Row], width: int) -> list[list[Any]]:
    return [[row[position] for row in rows] for position in range(width)]


def perfect_matching(left: Sequence[Any], right: Sequence[Any], fits: Any) -> bool:
    """Kuhn's augmenting paths over all pairs."""
    if len(left) != len(right):
        return False
    partner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, other in enumerate(right):
            if j not in seen and fits(left[i], other):
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = i
                    return True
        return False

    return all(place(i, set()) for i in range(len(left)))


def rows_equal(reference: Sequence[Row], candidate: Sequence[Row], order: Sequence[int], rule: str) -> bool:
    width = len(order)
    left, right = columns_of(reference, width), columns_of(candidate, width)
    loose = [not (only_whole(left[i]) and only_whole(right[j])) for i, j in enumerate(order)]

    def fits(a: Row, b: Row) -> bool:
        return all(agrees(a[i], b[j], rule, loose=loose[i]) for i, j in enumerate(order))

    return perfect_matching(reference, candidate, fits)


def crossing(reference: Sequence[str], candidate: Sequence[str], order: Sequence[int]) -> bool:
    for i, k in combinations(range(len(order)), 2):
        a, b, c, d = reference[i], reference[k], candidate[order[i]], candidate[order[k]]
        if a and b and a != b and c == b and d == a:
            return True
    return False


def exact(
    reference: Sequence[Row], candidate: Sequence[Row], names: tuple[Sequence[str], Sequence[str]], rule: str
) -> bool:
    """`columns: any` without origins: every order of the columns tried on whole rows."""
    width = len(names[0])
    if len(names[1]) != width:
        return False
    identity = tuple(range(width))
    for order in permutations(range(width)):
        if order != identity and crossing(*names, order):
            continue
        if rows_equal(reference, candidate, order, rule):
            return True
    return False


def distinct(column: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for cell in column:
        if not any(same_value(cell, other) for other in found):
            found.append(cell)
    return found


def shares(left: Sequence[Any], right: Sequence[Any], rule: str) -> tuple[Fraction, Fraction]:
    """Pair precision and recall of a candidate column (right) against a reference column (left)."""
    loose = not (only_whole(left) and only_whole(right))
    here, there = distinct(left), distinct(right)

    def hits(some: list[Any], others: list[Any]) -> int:
        return sum(any(agrees(a, b, rule, loose=loose) for b in others) for a in some)

    precision = Fraction(hits(there, here), len(there)) if there else Fraction(0)
    recall = Fraction(hits(here, there), len(here)) if here else Fraction(0)
    return precision, recall


def pairs_by_values(
    reference: Sequence[Row], candidate: Sequence[Row], names: tuple[Sequence[str], Sequence[str]], rule: str
) -> list[tuple[int, int, str]]:
    left, right = columns_of(reference, len(names[0])), columns_of(candidate, len(names[1]))
    options = []
    for i, column in enumerate(left):
        for j, other in enumerate(right):
            precision, recall = shares(column, other, rule)
            if len(distinct(column)) >= 2 and min(precision, recall) >= Fraction(1, 2):
                same = names[0][i] != "" and names[0][i] == names[1][j]
                options.append((-min(precision, recall), -precision - recall, not same, i != j, i, j))
    made: list[tuple[int, int, str]] = []
    for *_, i, j in sorted(options):
        if all(i != k and j != m for k, m, _ in made):
            made.append((i, j, "values"))
    made += constant_pairs(left, right, names, made, rule)
    return sorted(made)


def constant_pairs(
    left: list[list[Any]],
    right: list[list[Any]],
    names: tuple[Sequence[str], Sequence[str]],
    made: list[tuple[int, int, str]],
    rule: str,
) -> list[tuple[int, int, str]]:
    here = [i for i, c in enumerate(left) if len(distinct(c)) == 1 and all(i != k for k, _, _ in made)]
    there = [j for j, c in enumerate(right) if len(distinct(c)) == 1 and all(j != m for _, m, _ in made)]

    def same(i: int, j: int) -> bool:
        loose = not (only_whole(left[i]) and only_whole(right[j]))
        return agrees(left[i][0], right[j][0], rule, loose=loose)

    found: list[tuple[int, int, str]] = []
    for i in here:
        for j in there:
            free = i not in [k for k, _, _ in found] and j not in [m for _, m, _ in found]
            if free and names[0][i] != "" and names[0][i] == names[1][j] and same(i, j):
                found.append((i, j, "constant"))
    here = [i for i in here if i not in [k for k, _, _ in found]]
    there = [j for j in there if j not in [m for _, m, _ in found]]
    for i in here:
        mine = [j for j in there if same(i, j)]
        if len(mine) == 1 and [k for k in here if same(k, mine[0])] == [i]:
            found.append((i, mine[0], "constant"))
    return found


def row_key(reference: Sequence[Row], candidate: Sequence[Row], made: Sequence[tuple[int, int, str]], rule: str) -> Any:
    """The pairs that make the row key, None when their selectivity is below one half."""
    usable = [pair for pair in made if pair[2] != "constant"]
    height = len(reference)
    if not height:
        return None

    def overlap(pair: tuple[int, int, str]) -> tuple[Fraction, Fraction]:
        return shares([row[pair[0]] for row in reference], [row[pair[1]] for row in candidate], rule)

    def fit(pair: tuple[int, int, str]) -> bool:
        cells = [row[pair[0]] for row in reference]
        if any(is_number(cell) and exactly(cell).denominator != 1 for cell in cells):
            return False
        return max(overlap(pair)) >= Fraction(1, 2)

    for group in ([pair for pair in usable if fit(pair)], usable):
        options = [*combinations(group, 1), *combinations(group, 2)]
        ranked = sorted(
            options,
            key=lambda option: (
                -distinct_rows([tuple(row[i] for i, _, _ in option) for row in reference]),
                -min(min(overlap(pair)) for pair in option),
                len(option),
                [i for i, _, _ in option],
            ),
        )
        if ranked:
            best = ranked[0]
            keys = distinct_rows([tuple(row[i] for i, _, _ in best) for row in reference])
            if Fraction(keys, height) >= Fraction(1, 2):
                return best
    return None


def distinct_rows(rows: Sequence[Row]) -> int:
    found: list[Row] = []
    for row in rows:
        if not any(all(map(same_value, row, other)) for other in found):
            found.append(row)
    return len(found)


def matched_cells(
    reference: Sequence[Row], candidate: Sequence[Row], made: Sequence[tuple[int, int, str]], rule: str
) -> int:
    """Cells that agree: shelf by shelf, every way to hand out the rows tried."""
    if not made or not reference or not candidate:
        return 0
    key = row_key(reference, candidate, made, rule)
    loose = {
        (i, j): not (only_whole([row[i] for row in reference]) and only_whole([row[j] for row in candidate]))
        for i, j, _ in made
    }

    def score(a: Row, b: Row, exactly_in: Sequence[tuple[int, int, str]] = ()) -> int:
        return sum(agrees(a[i], b[j], rule, loose=loose[i, j] and (i, j, how) not in exactly_in) for i, j, how in made)

    if key is None:
        return most(reference, candidate, lambda a, b: score(a, b) == len(made)) * len(made)
    total, left = 0, list(reference)
    while left:
        first = left[0]
        shelf = [row for row in left if all(same_value(row[i], first[i]) for i, _, _ in key)]
        left = [row for row in left if row not in shelf or not all(same_value(row[i], first[i]) for i, _, _ in key)]
        answers = [row for row in candidate if all(same_value(row[j], first[i]) for i, j, _ in key)]
        total += best_assignment(shelf, answers, lambda a, b: score(a, b, key))
    return total


def best_assignment(left: Sequence[Row], right: Sequence[Row], score: Any) -> int:
    if len(left) > len(right):
        return best_assignment(right, left, lambda a, b: score(b, a))
    return max(
        sum(int(score(a, right[j])) for a, j in zip(left, places, strict=True))
        for places in permutations(range(len(right)), len(left))
    )


def most(left: Sequence[Row], right: Sequence[Row], fits: Any) -> int:
    partner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, other in enumerate(right):
            if j not in seen and fits(left[i], other):
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(left)))
