"""Small pairs: how much dearer than `set(a) == set(b)` is a verdict that counts duplicates, types and NULL?

    python benchmarks/tables_small.py

Ratios of CPU time in one process, the gold's facts cached as in a run. The peer is the logic of Spider's test suite.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from sqlassay.records.relation import Column, Relation
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.others import spider_equal
from sqlassay.tables.output import align


def cost(action: Callable[[], Any], *, repeat: int = 9, number: int = 60) -> float:
    """Microseconds of CPU for one call, the best of several rounds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(number):
            action()
        best = min(best, (time.process_time() - start) / number)
    return best * 1e6


def rows(chance: random.Random, height: int) -> list[tuple[Any, ...]]:
    return [
        (
            chance.randint(0, height // 2),
            f"name{chance.randint(0, 200)}",
            round(chance.random() * 100, 2),
            f"2024-01-{chance.randint(10, 28)}",
            chance.choice([None, 1, 2, 3]),
        )
        for _ in range(height)
    ]


def measured(height: int, chance: random.Random) -> str:
    """One line of the table."""
    columns = tuple(Column(name=name) for name in "abcde")
    number = max(3, 3000 // height)
    left = rows(chance, height)
    same = [(*row,) for row in left]
    shuffled = chance.sample(left, height)
    changed = [(*row[:2], row[2] + (5.5 if n % 20 == 0 else 0), *row[3:]) for n, row in enumerate(shuffled)]
    gold = Relation(columns=columns, rows=left)

    def verdict(cells: list[tuple[Any, ...]]) -> Any:
        return compare_tables(gold, Relation(columns=columns, rows=cells))

    floor = cost(lambda: set(left) == set(same), number=number)
    mixed = cost(lambda: set(left) == set(shuffled), number=number)
    in_order = cost(lambda: verdict(same), number=number)
    other = cost(lambda: verdict(shuffled), number=number)
    suite = cost(lambda: spider_equal(left, shuffled, order_matters=False), number=max(3, number // 10))
    wrong = cost(lambda: verdict(changed), number=max(3, number // 4))
    output = cost(lambda: align(gold, Relation(columns=columns, rows=changed)), number=max(3, number // 10))
    return (
        f"{height:5} {floor:8.1f} {in_order / floor:8.2f} x {other / mixed:8.2f} x {suite / other:15.1f} x"
        f" {wrong:14.0f} {output:16.0f}"
    )


def main() -> None:
    chance = random.Random(1)
    print("rows    set us   in order   shuffled   test suite / ours   a wrong one us   output family us")
    for height in (10, 50, 100, 1000):
        print(measured(height, chance))


if __name__ == "__main__":
    main()
