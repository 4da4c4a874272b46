"""Shelves: handing out rows so that matched cells are most, against a score matrix made by list comprehension.

python benchmarks/tables_shelves.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sqlassay.records.case import Tolerance
from sqlassay.tables.encode import Coercions
from sqlassay.tables.handed import relation_of
from sqlassay.tables.large import LargeBench
from sqlassay.tables.large_cells import matched_cells
from sqlassay.tables.pairing import By, Pair
from sqlassay.tables.rows import Plan, bench_of
from sqlassay.tables.shelves import tally
from sqlassay.tables.tolerance import agreement

Row = tuple[Any, ...]


def cost(action: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        found = action()
        best = min(best, time.process_time() - start)
    return best, found


def shelf(chance: random.Random, height: int, wrong: float) -> tuple[list[Row], list[Row]]:
    left = [tuple(chance.randint(0, 50) for _ in range(5)) for _ in range(height)]
    right = [tuple(cell + 100 if chance.random() < wrong else cell for cell in row) for row in left]
    chance.shuffle(right)
    return left, right


def ours(
    left: Sequence[Row], right: Sequence[Row], keys: tuple[Sequence[Any], Sequence[Any]], limit: int = 5000
) -> Any:
    return tally(left, right, keys=keys, tolerant=[False] * 5, agree=agreement(Tolerance()), limit=limit)


def by_comprehension(left: Sequence[Row], right: Sequence[Row]) -> int:
    from scipy.optimize import linear_sum_assignment

    scores = [[sum(a == b for a, b in zip(one, two, strict=True)) for two in right] for one in left]
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return sum(scores[i][j] for i, j in zip(rows, columns, strict=True))


def on_words(height: int) -> None:
    """Shelves of two rows in a large result, whose columns are words already."""
    chance = np.random.default_rng(2)
    left = pa.table({"key": np.arange(height) // 2, **{f"n{n}": chance.integers(0, 50, height) for n in range(4)}})
    spoiled = {n: np.where(chance.random(height) < 0.2, 99, left.column(n)) for n in left.column_names[1:]}
    right = pa.table({"key": left.column("key"), **spoiled}).take(pa.array(chance.permutation(height)))
    one, two = relation_of(left), relation_of(right)
    bench = bench_of(one, two, plan=Plan(required=height), agree=agreement(Tolerance()), coercions=Coercions())
    assert isinstance(bench, LargeBench)
    pairs = [Pair(reference=n, candidate=n, by=By.ORIGIN, overlap=bench.overlap(n, n)) for n in range(5)]
    spent, _ = cost(lambda: matched_cells(bench, pairs, (pairs[0],), limit=5000), repeat=5)
    print(f"{height // 2:,} shelves of 2, from words: {spent * 1e3:.0f} ms")


def main() -> None:
    chance = random.Random(1)
    by_comprehension(*shelf(chance, 2, 0.5))
    for height, wrong in ((100, 0.2), (1000, 0.6), (1000, 0.2), (1000, 0.04)):
        left, right = shelf(chance, height, wrong)
        keys = ([0] * height, [0] * height)
        mine, found = cost(lambda left=left, right=right, keys=keys: ours(left, right, keys).cells, repeat=5)  # type: ignore[misc]
        theirs, other = cost(lambda left=left, right=right: by_comprehension(left, right), repeat=1)  # type: ignore[misc]
        assert found == other
        print(f"one shelf of {height}, {wrong:.0%} cells wrong: {mine * 1e3:.1f} ms, {theirs / mine:.0f} x (aim 100)")
    left, right = shelf(chance, 100_000, 0.2)
    keys = ([n // 2 for n in range(100_000)],) * 2
    spent, _ = cost(lambda: ours(left, right, keys).cells)
    print(f"50,000 shelves of 2, from Python cells: {spent * 1e3:.0f} ms")
    on_words(100_000)
    keys = ([0] * 100_000,) * 2
    spent, found = cost(lambda: ours(left, right, keys), repeat=1)
    print(f"one shelf of 100,000, by the bound: {spent:.2f} s, counted as large: {found.large}")


if __name__ == "__main__":
    main()
