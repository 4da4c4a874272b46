"""Are two large Arrow results plainly the same? One pass in order, else rows brought together by their hashes.

The hashes only propose which rows belong together; that they are equal is then seen on the values themselves. What is
not plainly the same is left to the other paths.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from sqlassay.records.relation import Kind, Relation

_OWN_RULES: Final = frozenset({Kind.CHAR, Kind.JSON, Kind.UUID, Kind.INTERVAL, Kind.MAP, Kind.ARRAY, Kind.STRUCT})


@cache
def has_polars() -> bool:
    """Whether polars, an optional part, is installed."""
    return find_spec("polars") is not None


def plainly_same(reference: Relation, candidate: Relation, *, ordered: bool) -> bool:
    """Whether the rows are equal beyond doubt, column by column; in order when `ordered`."""
    mine, theirs = reference.arrow, candidate.arrow
    if mine is None or theirs is None or mine.num_rows != theirs.num_rows or mine.num_columns != theirs.num_columns:
        return False
    if not all(_comparable(a, b) for a, b in zip(mine.schema, theirs.schema, strict=True)):
        return False
    if any(column.kind in _OWN_RULES for side in (reference, candidate) for column in side.columns):
        return False
    if all(mine.column(place).equals(theirs.column(place)) for place in range(mine.num_columns)):
        return True
    return not ordered and has_polars() and _same_bag(mine, theirs)


def _comparable(one: Any, two: Any) -> bool:
    """Whether two fields are of one type, whose own equality is that of the specification."""
    import pyarrow.types as at

    texts = (at.is_string, at.is_large_string)
    numbers = (at.is_integer, at.is_float64, at.is_decimal128)
    times = (at.is_date, at.is_timestamp)
    return one.type == two.type and any(test(one.type) for test in (*texts, *numbers, *times, at.is_boolean))


def _same_bag(mine: Any, theirs: Any) -> bool:
    import numpy as np

    left, right = _frame(mine), _frame(theirs)
    here, there = (np.asarray(frame.hash_rows(seed=11).to_numpy()) for frame in (left, right))
    if here.sum(dtype=np.uint64) != there.sum(dtype=np.uint64):
        return False
    one, two = np.argsort(here), np.argsort(there)
    if not np.array_equal(here[one], there[two]):
        return False
    places = np.empty_like(one)
    places[one] = two
    return all(right[:, n].gather(places).equals(left[:, n], null_equal=True) for n in range(left.width))


def _frame(table: Any) -> Any:
    """A frame over the same memory, its columns named by position."""
    import polars as pl

    return pl.DataFrame({str(place): pl.from_arrow(table.column(place)) for place in range(table.num_columns)})
