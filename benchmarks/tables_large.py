"""Large results: exact equality, tolerance and alignment, as ratios to a compare pass and to `set(a) == set(b)`.

    python benchmarks/tables_large.py [rows]

CPU seconds; the machine's load does not change what is compared with what.
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
from sqlassay.records.relation import Relation
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.handed import relation_of
from sqlassay.tables.keys import choose_key
from sqlassay.tables.output import align
from sqlassay.tables.pairing import pair_columns
from sqlassay.tables.rows import Plan, bench_of
from sqlassay.tables.rule import Facts, Links, TableRule
from sqlassay.tables.tolerance import agreement

LINES: list[tuple[str, float]] = []


def measured(name: str, action: Callable[[], Any], *, repeat: int = 3) -> float:
    """CPU seconds, the best of a few."""
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        found = action()
        best = min(best, time.process_time() - start)
    print(f"{name:46} {best:8.3f} s   {found}", flush=True)
    LINES.append((name, best))
    return best


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


def main(height: int) -> None:
    chance = np.random.default_rng(2)
    left = table(height)
    right = left.take(pa.array(chance.permutation(height)))
    copy = pa.table({name: pa.concat_arrays([left.column(name).combine_chunks()]) for name in left.column_names})

    def fresh(arrow: Any) -> Relation:
        return relation_of(arrow)

    print(f"{height:,} rows x 5 columns")
    one_pass = measured("one compare pass (Arrow equals)", lambda: left.equals(copy))
    exact = measured("exact, shuffled, duplicates counted", lambda: compare_tables(fresh(left), fresh(right)).exact)
    if height <= 2_000_000:
        a, b = (list(zip(*(t.column(i).to_pylist() for i in range(5)), strict=True)) for t in (left, right))
        sets = measured("set(a) == set(b) on tuples", lambda: set(a) == set(b), repeat=2)
        print(f"  exact: {sets / exact:.1f} x faster than sets, {exact / max(one_pass, 1e-9):.0f} compare passes")
    prices = np.asarray(right.column("price"))
    near = right.set_column(2, "price", pa.array(prices + chance.uniform(-0.004, 0.004, height)))
    two = [t.append_column("tax", pa.array(np.asarray(t.column("price")) * 0.19)) for t in (left, near)]
    rule = TableRule(tolerance=Tolerance(mode="plain"))
    close = measured("tolerance, two float columns", lambda: compare_tables(fresh(two[0]), fresh(two[1]), rule).exact)
    print(f"  tolerance: {close / exact:.1f} x exact")
    changed = np.where(chance.random(height) < 0.05, prices + 1.37, prices)
    other = right.set_column(2, "price", pa.array(changed))
    family = measured(
        "whole output family, 1 % of cells changed", lambda: align(fresh(left), fresh(other)).matched_cells
    )
    print(f"  output family: {family / exact:.1f} x exact")
    wide(height // 10)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def wide(height: int) -> None:
    """Column pairing and row key on 20 columns."""
    chance = np.random.default_rng(3)
    columns = {f"c{n}": chance.integers(0, 10 ** (1 + n % 6), height) for n in range(20)}
    left = pa.table(columns)
    names = list(columns)
    right = pa.table({f"d{n}": left.column(name) for n, name in enumerate(reversed(names))})
    tolerance, coercions = agreement(Tolerance()), Coercions()

    def bench() -> Any:
        sides = (relation_of(left), relation_of(right))
        return bench_of(*sides, plan=Plan(required=height), agree=tolerance, coercions=coercions)

    def distinct() -> int:
        made = bench()
        return sum(made.distinct_count(side, position) for side in (0, 1) for position in range(20))

    one = measured(f"20 x 20 columns, {height:,} rows: distinct pass", distinct)

    def pairing() -> int:
        return len(pair_columns(bench(), Links(), threshold=Fraction(1, 2)))

    both = measured("  pairing with it", pairing)
    print(f"  pairing: {both / one:.2f} x the distinct pass")
    made = bench()
    pairs = pair_columns(made, Links(), threshold=Fraction(1, 2))
    measured("  row key", lambda: len(choose_key(made, pairs, Facts(), floor=Fraction(1, 2)) or ()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
