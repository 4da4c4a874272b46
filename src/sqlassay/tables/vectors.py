"""How is a large column compared without Python cells? As canonical 64-bit words, equal where values are.

Each column is encoded once; equality, pairing, key choice and cells then only touch arrays of integers. What cannot
be encoded this way (nested values, wide decimals) raises `NeedsCells`, and the comparison goes on with Python cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sqlassay.records.relation import Kind, Relation
from sqlassay.tables.cells import Mark, iso_timestamp, normal_column

Words = NDArray[np.uint64]
Nature = Literal["number", "text", "date", "timestamp", "timestamptz", "boolean", "bytes", "other"]

_A: Final = np.uint64(0x9E3779B97F4A7C15)
_B: Final = np.uint64(0xBF58476D1CE4E5B9)
_C: Final = np.uint64(0x94D049BB133111EB)
_NULL: Final = np.uint64(0x5851F42D4C957F2D)
_FRACTION: Final = np.uint64(0x2545F4914F6CDD1D)
_EXACT: Final = 2.0**53
_SALTS: Final = {
    nature: np.uint64(0x9FB21C651E98DF25 * (n + 3) & 0xFFFFFFFFFFFFFFFF)
    for n, nature in enumerate(("text", "date", "timestamp", "timestamptz", "boolean", "bytes", "other"))
}


class NeedsCells(Exception):
    """A column cannot be compared as words."""


def mix(values: Words) -> Words:
    """The finaliser of splitmix64: every bit of the input reaches every bit of the output."""
    values = values + _A
    values = (values ^ (values >> np.uint64(30))) * _B
    values = (values ^ (values >> np.uint64(27))) * _C
    return values ^ (values >> np.uint64(31))


@dataclass(kw_only=True)
class Vector:
    """One column as canonical words.

    `numbers` holds the values of a numeric column as floats, NaN at NULL and NaN; `whole` tells that all are of
    integer type, `fractions` that some number is no integer.
    """

    nature: Nature
    words: Words
    nulls: NDArray[np.bool_]
    numbers: NDArray[np.float64] | None = None
    whole: bool = True
    fractions: bool = False
    sample: Any = None
    values: Any = None
    """The distinct values behind the words of a text column, in the order of `value_words`."""
    value_words: Words | None = None

    @cached_property
    def ascending(self) -> Words:
        """The words, sorted: the column as a bag."""
        return np.sort(self.words)

    @cached_property
    def distinct(self) -> Words:
        """The distinct words, ascending."""
        words = self.ascending
        if not len(words):
            return words
        keep = np.empty(len(words), dtype=bool)
        keep[0] = True
        np.not_equal(words[1:], words[:-1], out=keep[1:])
        return words[keep]

    @cached_property
    def finite(self) -> NDArray[np.float64]:
        """Its finite numbers, ascending, as often as they occur."""
        return np.empty(0) if self.numbers is None else np.sort(self.numbers[np.isfinite(self.numbers)])

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """The distinct finite numbers, ascending."""
        if self.numbers is None:
            return np.empty(0)
        return np.unique(self.numbers[np.isfinite(self.numbers)])

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The column coded 0.. by value."""
        return np.searchsorted(self.distinct, self.words)


def vectors_of(relation: Relation, *, polars: bool) -> list[Vector]:
    """Every column of a relation as words; `polars` hashes text there, and must be the same for both sides."""
    return [_vector(relation, position, polars=polars) for position in range(relation.width)]


def _vector(relation: Relation, position: int, *, polars: bool) -> Vector:
    kind = relation.columns[position].kind
    if relation.arrow is not None:
        return _from_arrow(relation.arrow.column(position), kind, polars=polars)
    return _from_cells(relation.column(position), kind)


def _from_arrow(column: Any, kind: Kind, *, polars: bool) -> Vector:
    import pyarrow as pa
    import pyarrow.types as at

    if kind in (Kind.CHAR, Kind.JSON, Kind.UUID, Kind.INTERVAL):
        raise NeedsCells
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    nulls = np.asarray(column.is_null())
    stated = column.type
    if at.is_integer(stated):
        values = np.asarray(column.cast(pa.int64()).fill_null(0)) if not at.is_uint64(stated) else None
        if values is None:
            raise NeedsCells
        return _whole(values, nulls)
    if at.is_floating(stated):
        return _floats(np.asarray(column.cast(pa.float64()).fill_null(0)), nulls)
    if at.is_decimal(stated):
        if stated.precision > 15:
            raise NeedsCells
        floats = _floats(np.asarray(column.cast(pa.float64()).fill_null(0)), nulls)
        floats.whole = stated.scale <= 0
        return floats
    if at.is_boolean(stated):
        return _tagged("boolean", np.asarray(column.fill_null(False).cast(pa.int8())).astype(np.int64), nulls)
    if at.is_date(stated):
        days = column.cast(pa.date32()).cast(pa.int32()).fill_null(0)
        return _tagged("date", np.asarray(days).astype(np.int64), nulls)
    if at.is_timestamp(stated):
        if stated.unit == "ns":
            raise NeedsCells
        nature: Nature = "timestamp" if stated.tz is None else "timestamptz"
        stamps = column.cast(pa.timestamp("us", tz=stated.tz)).cast(pa.int64()).fill_null(0)
        return _tagged(nature, np.asarray(stamps), nulls)
    if at.is_string(stated) or at.is_large_string(stated) or at.is_string_view(stated):
        return _text(column, nulls, polars=polars)
    raise NeedsCells


def _text(column: Any, nulls: NDArray[np.bool_], *, polars: bool) -> Vector:
    import pyarrow as pa

    sample = next((value.as_py() for value in column.slice(0, 64) if value.is_valid), None)
    encoded = column.cast(pa.large_string()).dictionary_encode()
    if polars:
        import polars as pl

        series = pl.from_arrow(encoded.dictionary)
        assert isinstance(series, pl.Series)
        hashes = np.asarray(series.hash(seed=7).to_numpy(), dtype=np.uint64)
    else:
        hashes = _hashes(encoded.dictionary.to_pylist())
    if not len(hashes):
        hashes = np.zeros(1, dtype=np.uint64)
    hashes = mix(hashes ^ _SALTS["text"])
    words = np.where(nulls, _NULL, hashes[np.asarray(encoded.indices.fill_null(0))])
    values, value_words = _apart(encoded.dictionary, hashes[: len(encoded.dictionary)])
    return Vector(nature="text", words=words, nulls=nulls, sample=sample, values=values, value_words=value_words)


def _apart(values: Any, words: Words) -> tuple[Any, Words]:
    """Distinct values by ascending word; raises where two of them share a word."""
    order = np.argsort(words)
    words = words[order]
    if len(words) > 1 and bool((words[1:] == words[:-1]).any()):
        raise NeedsCells
    return values.take(order) if hasattr(values, "take") else [values[place] for place in order.tolist()], words


def same_values(one: Vector, two: Vector, left: NDArray[np.int64], right: NDArray[np.int64]) -> bool:
    """Whether rows `left` of one column and rows `right` of another, equal by their words, are equal as values."""
    if not np.array_equal(one.words[left], two.words[right]):
        return False
    if one.nature != two.nature:
        return bool(one.nulls.all() and two.nulls.all())
    if not np.array_equal(one.nulls[left], two.nulls[right]):
        return False
    if one.nature == "number":
        if one.whole and two.whole:
            return True
        assert one.numbers is not None
        assert two.numbers is not None
        return np.array_equal(one.numbers[left], two.numbers[right], equal_nan=True)
    if one.value_words is None or two.value_words is None:
        return one.nature not in ("text", "bytes", "other")
    if not np.array_equal(one.value_words, two.value_words):
        return False
    return bool(one.values.equals(two.values)) if hasattr(one.values, "equals") else bool(one.values == two.values)


def _hashes(values: Sequence[Any]) -> Words:
    return np.fromiter((hash(value) & 0xFFFFFFFFFFFFFFFF for value in values), dtype=np.uint64, count=len(values))


def _whole(values: NDArray[np.int64], nulls: NDArray[np.bool_]) -> Vector:
    words = np.where(nulls, _NULL, mix(values.view(np.uint64)))
    numbers = np.where(nulls, np.nan, values)
    return Vector(nature="number", words=words, nulls=nulls, numbers=numbers)


def _floats(values: NDArray[np.float64], nulls: NDArray[np.bool_]) -> Vector:
    """Floats that are integers take the word of the integer, so that 1 and 1.0 are one value."""
    missing = np.isnan(values)
    finite = np.where(np.isfinite(values), values, 0.0)
    if bool((np.abs(finite) >= _EXACT).any()):
        raise NeedsCells
    values = values + 0.0
    whole = (finite == np.rint(finite)) & np.isfinite(values)
    bits = values.view(np.uint64)
    words = np.where(whole, mix(finite.astype(np.int64).view(np.uint64)), mix(bits ^ _FRACTION))
    words[missing] = _SALTS["other"]
    words[nulls] = _NULL
    return Vector(
        nature="number",
        words=words,
        nulls=nulls,
        numbers=np.where(nulls, np.nan, values),
        whole=False,
        fractions=bool((~whole & ~missing & ~nulls).any()),
    )


def _tagged(nature: Nature, values: NDArray[np.int64], nulls: NDArray[np.bool_]) -> Vector:
    words = mix(mix(values.view(np.uint64)) ^ _SALTS[nature])
    return Vector(nature=nature, words=np.where(nulls, _NULL, words), nulls=nulls)


def _from_cells(cells: Sequence[Any], kind: Kind) -> Vector:
    types = set(map(type, cells)) - {type(None)}
    nulls = np.fromiter((cell is None for cell in cells), dtype=bool, count=len(cells))
    if kind not in (Kind.CHAR, Kind.JSON, Kind.MAP):
        if types == {int}:
            try:
                return _whole(np.array([0 if c is None else c for c in cells], dtype=np.int64), nulls)
            except OverflowError:
                raise NeedsCells from None
        if types == {float}:
            return _floats(np.array([0.0 if c is None else c for c in cells], dtype=np.float64), nulls)
        if types == {int, float}:
            if any(abs(c) >= _EXACT for c in cells if type(c) is int):
                raise NeedsCells
            return _floats(np.array([0.0 if c is None else c for c in cells], dtype=np.float64), nulls)
    if types & {int, float, Decimal, list, dict, tuple, set, bool}:
        raise NeedsCells
    return _coded(normal_column(cells, kind=kind), types, nulls)


def _coded(cells: Sequence[Any], types: set[type], nulls: NDArray[np.bool_]) -> Vector:
    natures: dict[type, Nature] = {str: "text", bytes: "bytes", date: "date"}
    nature = natures.get(next(iter(types)), "other") if len(types) == 1 else "other"
    if types == {datetime}:
        aware = {cell.tzinfo is not None for cell in cells if cell is not None}
        nature = "other" if len(aware) > 1 else "timestamptz" if True in aware else "timestamp"
    if Mark in set(map(type, cells)):
        raise NeedsCells
    codes: dict[Any, int] = {}
    places = np.fromiter((codes.setdefault(c, len(codes)) for c in cells), dtype=np.int64, count=len(cells))
    salt = _SALTS[nature] if nature != "other" else _SALTS["text"]
    hashes = mix(_hashes(list(codes)) ^ salt) if codes else np.zeros(1, dtype=np.uint64)
    words = np.where(nulls, _NULL, hashes[places]) if len(cells) else np.zeros(0, dtype=np.uint64)
    sample = next((cell for cell in cells[:64] if cell is not None), None)
    values, value_words = _apart(list(codes), hashes[: len(codes)])
    return Vector(nature=nature, words=words, nulls=nulls, sample=sample, values=values, value_words=value_words)


def may_coerce(one: Vector, two: Vector) -> bool:
    """Whether a coercion could apply to the pair, so that words cannot tell."""
    natures = {one.nature, two.nature}
    if len(natures) == 1 and "other" not in natures:
        return False
    if "other" in natures:
        return True
    if "boolean" in natures:
        return "number" in natures
    if natures & {"date", "timestamp", "timestamptz"}:
        text = one if one.nature == "text" else two if two.nature == "text" else None
        if text is not None:
            return type(text.sample) is not str or iso_timestamp(text.sample) is not None
        return natures == {"date", "timestamp"}
    return False
