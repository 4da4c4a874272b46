"""Large results: exact equality, tolerance and alignment, as ratios to a floor measured in the same run.

    python benchmarks/tables_large.py [rows] [wide]

CPU seconds, the best of several; the machine's load does not change what is compared with what. With `wide` only the
pairing of many columns is measured.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sqlassay.records.case import Tolerance
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.handed import relation_of
from sqlassay.tables.keys import choose_key
from sqlassay.tables.output import align
from sqlassay.tables.pairing import pair_columns
from sqlassay.tables.rows import Bench, Plan, bench_of
from sqlassay.tables.rule import Facts, Links, TableRule
from sqlassay.tables.tolerance import agreement

HALF = Fraction(1, 2)
SETS_UP_TO = 2_000_000
"""Rows up to which tuples and sets of them are made for comparison."""


def measured(name: str, action: Callable[[], Any], *, repeat: int = 5) -> float:
    """CPU seconds, the best of a few."""
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        found = action()
        best = min(best, time.process_time() - start)
    print(f"{name:58} {best * 1e3:9.1f} ms   {found}", flush=True)
    return best


def ratio(what: str, spent: float, floor: float, aim: str) -> None:
    print(f"    {what}: {spent / max(floor, 1e-9):.2f} x   (aim {aim})", flush=True)


def table(height: int, seed: int = 1) -> Any:
    chance = np.random.default_rng(seed)
    names = np.array([f"name{i}" for i in range(200)], dtype=object)
    days = np.array([f"2024-{m:02d}-{d:02d}" for m in range(1, 13) for d in range(1, 29)], dtype=object)
    return pa.table(
        {
            "key": chance.integers(0, height // 2, height),
            "name": pa.array(names[chance.integers(0, 200, height)], pa.string()),
            "price": np.round(chance.random(height) * 1000, 2),
            "day": pa.array(days[chance.integers(0, 336, height)], pa.string()),
            "count": pa.array(chance.integers(0, 50, height), mask=chance.random(height) < 0.1),
        }
    )


def verdict(left: Any, right: Any, rule: TableRule = TableRule()) -> Callable[[], bool]:
    """The whole verdict, on relations that nothing is known of yet."""
    return lambda: compare_tables(relation_of(left), relation_of(right), rule).exact


def tall(height: int) -> None:
    """Five columns: exact, unequal, under tolerance, and the output family."""
    chance = np.random.default_rng(2)
    repeat = 5 if height <= SETS_UP_TO else 2
    left = table(height)
    right = left.take(pa.array(chance.permutation(height)))
    copy = pa.table({name: pa.concat_arrays([left.column(name).combine_chunks()]) for name in left.column_names})
    print(f"{height:,} rows x 5 columns")
    one_pass = measured("one compare pass (Arrow equals)", lambda: left.equals(copy), repeat=9)
    exact = measured("exact, shuffled, duplicates counted", verdict(left, right), repeat=repeat)
    ratio("exact / compare pass", exact, one_pass, "30")
    print(f"    peak memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    if height <= SETS_UP_TO:
        a, b = (list(zip(*(t.column(i).to_pylist() for i in range(5)), strict=True)) for t in (left, right))
        sets = measured("set(a) == set(b) on tuples", lambda: set(a) == set(b), repeat=2)
        ratio("set(a) == set(b) / exact", sets, exact, "at least 4")
        del a, b
    prices = np.asarray(right.column("price"))
    spoiled = prices.copy()
    spoiled[height // 2] += 1
    other = right.set_column(2, "price", pa.array(spoiled))
    ratio("unequal / exact", measured("exact, one cell differs", verdict(left, other), repeat=2), exact, "none")
    near = right.set_column(2, "price", pa.array(prices + chance.uniform(-0.004, 0.004, height)))
    close(left, near, exact, repeat)
    changed = np.where(chance.random(height) < 0.05, prices + 1.37, prices)
    other = right.set_column(2, "price", pa.array(changed))
    family = measured(
        "whole output family, 1 % of cells changed",
        lambda: align(relation_of(left), relation_of(other)).matched_cells,
        repeat=repeat,
    )
    ratio("output family / exact", family, exact, "8")


def close(left: Any, near: Any, exact: float, repeat: int) -> None:
    """Two float columns that differ by less than the tolerance: keyed rows, then rows in 1,400 groups."""
    rule = TableRule(tolerance=Tolerance(mode="plain"))
    keyed = [t.append_column("tax", pa.array(np.asarray(t.column("price")) * 0.19)) for t in (left, near)]
    spent = measured("tolerance 0.01, two float columns, keyed rows", verdict(*keyed, rule), repeat=repeat)
    ratio("tolerance / exact", spent, exact, "4")
    height = left.num_rows
    chance = np.random.default_rng(4)
    group, one, two = chance.integers(0, 1400, height), chance.random(height) * 1000, chance.random(height) * 1000
    order = chance.permutation(height)
    moved = [(column + chance.uniform(-0.0049, 0.0049, height))[order] for column in (one, two)]
    grouped = pa.table({"g": group, "a": one, "b": two}), pa.table({"g": group[order], "a": moved[0], "b": moved[1]})
    spent = measured("the same in 1,400 groups, no key", verdict(*grouped, rule), repeat=min(repeat, 2))
    ratio("tolerance in groups / exact", spent, exact, "none")


def wide(width: int, height: int) -> None:
    """Column pairing and row key on many columns, against one distinct pass per column."""
    chance = np.random.default_rng(3)
    left = {f"n{n}": chance.integers(0, 10 ** (1 + n % 6), height) for n in range(width)}
    same = {f"d{n}": column for n, column in enumerate(reversed(left.values()))}
    changed = {name: np.where(chance.random(height) < 0.01, -1 - column, column) for name, column in same.items()}
    for what, right in (("same values", same), ("1 % of cells changed", changed)):
        sides = pa.table(left), pa.table(right)

        def bench(sides: Any = sides) -> Bench:
            one, two = (relation_of(side) for side in sides)
            return bench_of(one, two, plan=Plan(required=height), agree=agreement(Tolerance()), coercions=Coercions())

        def distinct(bench: Callable[[], Bench] = bench) -> int:
            made = bench()
            return sum(made.distinct_count(side, position) for side in (0, 1) for position in range(width))

        def pairing(bench: Callable[[], Bench] = bench) -> int:
            return len(pair_columns(bench(), Links(), threshold=HALF))

        print(f"{width} x {width} columns, {height:,} rows, {what}")
        one = measured("one distinct pass per column", distinct, repeat=3)
        ratio("pairing with it / distinct pass", measured("pairing with it", pairing, repeat=3), one, "1.3")


class Counting:
    """A bench that counts how often couples of columns are read to the end, and how many rows of couples in all."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.reference, self.full, self.rows = bench, bench.reference, 0, 0
        self.has_fractions = bench.has_fractions

    def key_count(self, pairs: Any, height: int) -> int:
        if len(pairs) == 2:
            self.full += height == self.reference.height
            self.rows += height
        return self.bench.key_count(pairs, height)


def row_key(height: int) -> None:
    """A row key on 20 columns, two of which together are unique."""
    chance = np.random.default_rng(5)
    columns = {f"n{n}": chance.integers(0, 10 ** (1 + n % 5), height) for n in range(18)}
    for place, made in ((3, np.arange(height) // 50), (17, np.arange(height) % 50)):
        columns = dict([*list(columns.items())[:place], (f"key{place}", made), *list(columns.items())[place:]])
    order = chance.permutation(height)
    arrow = pa.table({name: column[order] for name, column in columns.items()})
    side = relation_of(arrow)
    made = bench_of(side, side, plan=Plan(required=height), agree=agreement(Tolerance()), coercions=Coercions())
    pairs = [pair for pair in pair_columns(made, Links(), threshold=HALF) if pair.reference == pair.candidate]
    counted: Any = Counting(made)
    key = choose_key(counted, pairs, Facts(), floor=HALF) or ()
    print(f"row key on {len(pairs)} columns, {height:,} rows: {[arrow.column_names[pair.reference] for pair in key]}")
    print(
        f"    full scans of couples: {counted.full} (aim 5); rows read in all: {counted.rows / height:.1f} x the height"
    )
    measured("row key", lambda: len(choose_key(made, pairs, Facts(), floor=HALF) or ()))


def main(height: int, *, only_wide: bool) -> None:
    if not only_wide:
        tall(height)
    if height <= SETS_UP_TO:
        wide(20, height)
        wide(100, height // 10)
        row_key(height // 10)
        row_key(height)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, only_wide="wide" in sys.argv[2:])
