"""How does a large column become words? Each column is encoded once, from Arrow or from Python cells.

What cannot be encoded this way (nested values, wide decimals) raises `NeedsCells`, and the comparison goes on with
Python cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sqlassay.records.relation import Kind, Relation
from sqlassay.tables.arrow import in_polars
from sqlassay.tables.cells import Mark, normal_column
from sqlassay.tables.places import Words, ascending
from sqlassay.tables.vectors import Nature, Vector, mix

_NULL: Final = np.uint64(0x5851F42D4C957F2D)
_FRACTION: Final = np.uint64(0x2545F4914F6CDD1D)
_EXACT: Final = 2.0**53
_BLOCK: Final = 1 << 15
_SALTS: Final = {
    nature: np.uint64(0x9FB21C651E98DF25 * (n + 3) & 0xFFFFFFFFFFFFFFFF)
    for n, nature in enumerate(("text", "date", "timestamp", "timestamptz", "boolean", "bytes", "other"))
}
_OWN_RULES: Final = (Kind.CHAR, Kind.JSON, Kind.UUID, Kind.INTERVAL)


class NeedsCells(Exception):
    """A column cannot be compared as words."""


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

    if kind in _OWN_RULES:
        raise NeedsCells
    stated, nulls = column.type, np.asarray(column.is_null())
    if at.is_string(stated) or at.is_large_string(stated) or at.is_string_view(stated):
        return _text(column, nulls) if polars else _text_by_values(column, nulls)
    if at.is_integer(stated) and not at.is_uint64(stated):
        return _whole(_filled(column.cast(pa.int64())), nulls)
    if at.is_floating(stated) or (at.is_decimal(stated) and stated.precision <= 15):
        whole = at.is_decimal(stated) and stated.scale <= 0
        return _floats(_filled(column.cast(pa.float64())), nulls, whole=whole)
    if at.is_boolean(stated):
        return _tagged("boolean", _filled(column.cast(pa.int8())), nulls)
    if at.is_date(stated):
        return _tagged("date", _filled(column.cast(pa.date32()).cast(pa.int32())), nulls)
    if at.is_timestamp(stated) and stated.unit != "ns":
        nature: Nature = "timestamp" if stated.tz is None else "timestamptz"
        return _tagged(nature, _filled(column.cast(pa.timestamp("us", tz=stated.tz)).cast(pa.int64())), nulls)
    raise NeedsCells


def _filled(column: Any) -> NDArray[Any]:
    """A numeric Arrow column as one array, 0 at NULL."""
    return np.asarray(column.fill_null(0))


def _text(column: Any, nulls: NDArray[np.bool_]) -> Vector:
    series = in_polars(column).rechunk()
    words = mix(np.asarray(series.hash(seed=7).to_numpy(), dtype=np.uint64) ^ _SALTS["text"])
    np.copyto(words, _NULL, where=nulls)
    return Vector(nature="text", words=words, nulls=nulls, sample=_sample(column), text=series)


def _text_by_values(column: Any, nulls: NDArray[np.bool_]) -> Vector:
    import pyarrow as pa

    encoded = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
    hashes = mix(_hashes(encoded.dictionary.to_pylist()) ^ _SALTS["text"])
    found = hashes if len(hashes) else np.zeros(1, dtype=np.uint64)
    words = found[np.asarray(encoded.indices.fill_null(0))]
    np.copyto(words, _NULL, where=nulls)
    values, value_words = _apart(encoded.dictionary, hashes)
    return Vector(
        nature="text", words=words, nulls=nulls, sample=_sample(column), values=values, value_words=value_words
    )


def _sample(column: Any) -> Any:
    return next((value.as_py() for value in column.slice(0, 64) if value.is_valid), None)


def _apart(values: Any, words: Words) -> tuple[Any, Words]:
    """Distinct values by ascending word; raises where two of them share a word."""
    order, words = ascending(words)
    if bool((words[1:] == words[:-1]).any()):
        raise NeedsCells
    return values.take(order) if hasattr(values, "take") else [values[place] for place in order.tolist()], words


def _hashes(values: Sequence[Any]) -> Words:
    return np.fromiter((hash(value) & 0xFFFFFFFFFFFFFFFF for value in values), dtype=np.uint64, count=len(values))


def _whole(values: NDArray[np.int64], nulls: NDArray[np.bool_]) -> Vector:
    words = mix(values.view(np.uint64))
    np.copyto(words, _NULL, where=nulls)
    return Vector(nature="number", words=words, nulls=nulls, counted=values)


def _floats(values: NDArray[np.float64], nulls: NDArray[np.bool_], *, whole: bool = False) -> Vector:
    """Floats that are integers take the word of the integer, so that 1 and 1.0 are one value."""
    words = np.empty(len(values), dtype=np.uint64)
    fractions = False
    for start in range(0, len(values), _BLOCK):
        block = slice(start, start + _BLOCK)
        words[block], integers = _float_words(values[block])
        fractions = fractions or bool((~integers & ~np.isnan(values[block]) & ~nulls[block]).any())
    np.copyto(words, _NULL, where=nulls)
    return Vector(nature="number", words=words, nulls=nulls, counted=values, whole=whole, fractions=fractions)


def _float_words(values: NDArray[np.float64]) -> tuple[Words, NDArray[np.bool_]]:
    """The words of floats, and which of them are integers."""
    free = np.isfinite(values)
    finite = values if bool(free.all()) else np.where(free, values, 0.0)
    if bool((np.abs(finite) >= _EXACT).any()):
        raise NeedsCells
    truncated = finite.astype(np.int64)
    integers = (truncated == finite) & free
    words = mix(np.where(integers, truncated.view(np.uint64), values.view(np.uint64) ^ _FRACTION))
    if finite is not values:
        np.copyto(words, _SALTS["other"], where=np.isnan(values))
    return words, integers


def _tagged(nature: Nature, values: NDArray[Any], nulls: NDArray[np.bool_]) -> Vector:
    words = mix(mix(values.astype(np.int64).view(np.uint64)) ^ _SALTS[nature])
    np.copyto(words, _NULL, where=nulls)
    return Vector(nature=nature, words=words, nulls=nulls)


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
    hashes = mix(_hashes(list(codes)) ^ salt)
    words = hashes[places]
    np.copyto(words, _NULL, where=nulls)
    sample = next((cell for cell in cells[:64] if cell is not None), None)
    values, value_words = _apart(list(codes), hashes)
    return Vector(nature=nature, words=words, nulls=nulls, sample=sample, values=values, value_words=value_words)
