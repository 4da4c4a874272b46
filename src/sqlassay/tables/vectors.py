"""What is a large column without Python cells? Canonical 64-bit words, equal where values are, and what they leave out.

Equality, pairing, key choice and cells then only touch arrays of integers; the values behind the words confirm what
words call equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sqlassay.tables.cells import iso_timestamp
from sqlassay.tables.places import Places, Words, distinct

Nature = Literal["number", "text", "date", "timestamp", "timestamptz", "boolean", "bytes", "other"]

_A: Final = np.uint64(0x9E3779B97F4A7C15)
_B: Final = np.uint64(0xBF58476D1CE4E5B9)
_C: Final = np.uint64(0x94D049BB133111EB)
_BLOCK: Final = 1 << 15
"""Words mixed together: few enough to stay in the cache."""


def mix(values: Words) -> Words:
    """The finaliser of splitmix64: every bit of the input reaches every bit of the output."""
    mixed = np.array(values, dtype=np.uint64)
    flat = mixed.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        _mix_here(flat[start : start + _BLOCK])
    return mixed


def _mix_here(part: Words) -> None:
    part += _A
    part ^= part >> np.uint64(30)
    part *= _B
    part ^= part >> np.uint64(27)
    part *= _C
    part ^= part >> np.uint64(31)


def row_words(columns: Sequence[Words], height: int) -> Words:
    """One word per row over columns of mixed words: each times an odd number of its own, summed up and mixed."""
    rows = np.zeros(height, dtype=np.uint64)
    for start in range(0, height, _BLOCK):
        part = rows[start : start + _BLOCK]
        for place, words in enumerate(columns):
            part += words[start : start + _BLOCK] * np.uint64((0x9E3779B97F4A7C15 * (2 * place + 1)) & (2**64 - 1))
        _mix_here(part)
    return rows


@dataclass(kw_only=True, eq=False)
class Vector:
    """One column as canonical words.

    `counted` holds the values of a numeric column, anything at NULL; `whole` tells that all are of integer type,
    `fractions` that some number is no integer. `text` is the column itself where it is text that polars holds; of
    other values that are no numbers `values` are the distinct ones, in the order of `value_words`.
    """

    nature: Nature
    words: Words
    nulls: NDArray[np.bool_]
    counted: NDArray[Any] | None = None
    whole: bool = True
    fractions: bool = False
    sample: Any = None
    text: Any = None
    values: Any = None
    value_words: Words | None = None

    @cached_property
    def has_nulls(self) -> bool:
        return bool(self.nulls.any())

    @property
    def counts(self) -> bool:
        """Whether it is a column of numbers."""
        return self.counted is not None

    @cached_property
    def total(self) -> int:
        """The sum of the words: columns with different sums hold different values."""
        return int(self.words.sum(dtype=np.uint64))

    @cached_property
    def distinct(self) -> Words:
        """The distinct words, ascending."""
        return distinct(np.sort(self.words))

    @cached_property
    def distinct_total(self) -> tuple[int, int]:
        """How many distinct words there are, and their sum: the same where two columns have the same values."""
        return len(self.distinct), int(self.distinct.sum(dtype=np.uint64))

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values of a numeric column as floats, NaN at NULL and NaN."""
        if self.counted is None:
            return None
        floats = self.counted.astype(np.float64, copy=False)
        return np.where(self.nulls, np.nan, floats) if self.has_nulls else floats

    @cached_property
    def finite(self) -> NDArray[np.float64]:
        """Its finite numbers, ascending, as often as they occur."""
        if self.numbers is None:
            return np.empty(0)
        free = np.isfinite(self.numbers)
        return np.sort(self.numbers if bool(free.all()) else self.numbers[free])

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """The distinct finite numbers, ascending."""
        return distinct(self.finite)

    @cached_property
    def dated(self) -> bool:
        """Whether its text may be that of dates or timestamps."""
        return type(self.sample) is not str or iso_timestamp(self.sample) is not None


def numbered(groups: Sequence[int]) -> Vector:
    """A column of the numbers of groups."""
    numbers = np.asarray(groups, dtype=np.int64)
    nulls = np.zeros(len(numbers), dtype=bool)
    return Vector(nature="number", words=mix(numbers.view(np.uint64)), nulls=nulls, counted=numbers)


def same_bag(one: Vector, two: Vector) -> bool:
    """Whether two columns can hold the same values equally often; True means so far as words tell."""
    return len(one.words) == len(two.words) and one.total == two.total


def same_values(one: Vector, two: Vector, here: Places | None, there: Places) -> bool:
    """Whether rows `here` of a column (None: all) are rows `there` of another, by the values behind the words."""

    def same(left: Any, right: Any) -> bool:
        return np.array_equal(left if here is None else left[here], right[there], equal_nan=left.dtype.kind == "f")

    if not same(one.words, two.words):
        return False
    if one.nature != two.nature:
        return bool(one.nulls.all() and two.nulls.all())
    if one.has_nulls != two.has_nulls or (one.has_nulls and not same(one.nulls, two.nulls)):
        return False
    if one.nature == "number":
        return (one.whole and two.whole) or same(one.numbers, two.numbers)
    if one.text is not None and two.text is not None:
        return bool(two.text.gather(there).equals(one.text if here is None else one.text.gather(here)))
    if one.value_words is None or two.value_words is None:
        return one.nature not in ("text", "bytes", "other")
    if not np.array_equal(one.value_words, two.value_words):
        return False
    return bool(one.values.equals(two.values)) if hasattr(one.values, "equals") else bool(one.values == two.values)


def any_may_coerce(left: list[Vector], right: list[Vector]) -> bool:
    """Whether a coercion could apply to some pair of columns, so that words cannot tell."""
    here, there = ({(column.nature, column.nature == "text" and column.dated) for column in s} for s in (left, right))
    return any(_may_coerce(one, two) for one in here for two in there)


def _may_coerce(one: tuple[Nature, bool], two: tuple[Nature, bool]) -> bool:
    natures = {one[0], two[0]}
    if "other" in natures:
        return True
    if len(natures) == 1:
        return False
    if "boolean" in natures:
        return "number" in natures
    if natures & {"date", "timestamp", "timestamptz"}:
        return one[1] or two[1] or natures == {"date", "timestamp"}
    return False
