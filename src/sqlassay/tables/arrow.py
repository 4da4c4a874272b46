"""Are two large Arrow results plainly the same? One pass in order, else rows brought together by their hashes.

The hashes only propose which rows belong together; that they are equal is then seen on the values themselves. What is
not plainly the same is left to the other paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from sqlassay.records.relation import Kind, Relation
from sqlassay.tables.places import ascending

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
    import polars as pl

    if any(_sum(mine.column(n)) != _sum(theirs.column(n)) for n in range(mine.num_columns)):
        return False
    left, right = _frame(mine), _frame(theirs)
    here, there = (np.asarray(frame.hash_rows(seed=11).to_numpy()) for frame in (left, right))
    if here.sum(dtype=np.uint64) != there.sum(dtype=np.uint64):
        return False
    partners = np.empty(len(here), dtype=np.uint32 if len(here) < 2**32 else np.uint64)
    partners[ascending(here)[0]] = ascending(there)[0]
    places = pl.Series(partners)
    return all(_same_rows(left[:, n], right[:, n], places) for n in range(left.width))


def _sum(column: Any) -> int | None:
    """The sum of a column's bits where these are one word a value: what two bags with the same values share."""
    import numpy as np
    import pyarrow.types as at

    if column.null_count or not (at.is_int64(column.type) or at.is_float64(column.type)):
        return None
    return int(np.asarray(column).view(np.uint64).sum(dtype=np.uint64))


def _same_rows(one: Any, two: Any, places: Any) -> bool:
    """Whether a column is the rows `places` of another."""
    if one.null_count() != two.null_count():
        return False
    parts = zip(_bare(one), _bare(two), strict=True)
    return all(theirs.gather(places).equals(mine) for mine, theirs in parts)


def _bare(series: Any) -> Iterator[Any]:
    """A column as columns without bitmaps, which are slow to gather: where its NULLs are, and the rest."""
    import polars as pl

    values = series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()
    if series.null_count():
        yield series.is_null().cast(pl.UInt8)
        values = values.fill_null("" if values.dtype == pl.String else 0)
    yield values


def _frame(table: Any) -> Any:
    """A frame over the same memory, its columns named by position."""
    import polars as pl

    return pl.DataFrame({str(place): in_polars(table.column(place)) for place in range(table.num_columns)})


def in_polars(column: Any) -> Any:
    """An Arrow column as a polars series; text by way of its own layout, in a third of the time, where that is safe."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.types as at

    if at.is_string(column.type) and exports_views():
        column = column.cast(pa.string_view())
    elif at.is_string_view(column.type) and not exports_views():
        column = column.cast(pa.large_string())
    return pl.from_arrow(column)


@cache
def exports_views() -> bool:
    """Whether pyarrow hands views of text on to others; before version 25 that ends the process."""
    import pyarrow as pa

    return int(pa.__version__.partition(".")[0]) >= 25
