"""How far do two columns hold the same values? Distinct values of each, and how many agree with some of the other's."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sqlassay.tables.cells import is_number
from sqlassay.tables.encode import ColumnCells, Meeting
from sqlassay.tables.tolerance import Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Distinct values of two columns and how many of each side agree with some value of the other."""

    reference: int
    candidate: int
    reference_hits: int
    candidate_hits: int

    @property
    def precision(self) -> Fraction:
        """Share of the candidate's distinct values found in the reference, 0 when it has none."""
        return Fraction(self.candidate_hits, self.candidate) if self.candidate else Fraction(0)

    @property
    def recall(self) -> Fraction:
        """Share of the reference's distinct values found in the candidate, 0 when it has none."""
        return Fraction(self.reference_hits, self.reference) if self.reference else Fraction(0)

    @property
    def least(self) -> Fraction:
        return min(self.precision, self.recall)

    @property
    def rank(self) -> tuple[float, float]:
        """Minimum and sum of precision and recall, correctly rounded, so that equal shares stay equal."""
        a, b = self.candidate_hits, self.candidate or 1
        c, d = self.reference_hits, self.reference or 1
        return min(a / b, c / d), (a * d + c * b) / (b * d)

    def reaches(self, threshold: Fraction) -> bool:
        """Whether both shares are at least `threshold`."""
        top, bottom = threshold.numerator, threshold.denominator
        return self.candidate_hits * bottom >= top * max(
            self.candidate, 1
        ) and self.reference_hits * bottom >= top * max(self.reference, 1)


def overlap_of(one: ColumnCells, two: ColumnCells, meeting: Meeting, agree: Agreement) -> Overlap:
    """The overlap of a reference column with a candidate column under the way in which they meet."""
    if meeting.form == "plain":
        left, right = one.distinct, two.distinct
    else:
        left, right = frozenset(one.form(meeting.form)), frozenset(two.form(meeting.form))
    common = len(left & right)
    here, there = common, common
    if meeting.tolerant and (common < len(left) or common < len(right)):
        here += _agreeing(one, two, left - right, agree)
        there += _agreeing(two, one, right - left, agree)
    return Overlap(reference=len(left), candidate=len(right), reference_hits=here, candidate_hits=there)


def _agreeing(one: ColumnCells, two: ColumnCells, rest: frozenset[Any], agree: Agreement) -> int:
    """How many of the values `rest` of column `one`, which `two` does not have, agree with some value of `two`."""
    (levels, floats), (others, other_floats) = one.levels, two.levels
    count = start = 0
    flat = agree.flat
    for value, place in zip(levels, floats, strict=True):
        if value not in rest:
            continue
        reach = flat + abs(place) * 1e-12 if flat is not None else agree.width(value)
        start = bisect_left(other_floats, place - reach, start if flat is not None else 0)
        for position in range(start, len(others)):
            if other_floats[position] > place + reach:
                break
            if agree(value, others[position]):
                count += 1
                break
    for value in rest:
        if type(value) is tuple:
            count += any(agree(value, other) for other in two.distinct if type(other) is tuple)
        elif is_number(value) and not abs(value) < 1e300:
            count += any(agree(value, other) for other in two.numbers)
    return count


def may_meet(one: ColumnCells, two: ColumnCells) -> bool:
    """Whether columns without a type in common can have values in common: numbers, coercions, NULL."""
    if not one.types.isdisjoint(two.types) or (None in one.distinct and None in two.distinct):
        return True
    text = frozenset({str}), frozenset({bytes})
    return not ((one.types in text and two.types <= _NEVER_TEXT) or (two.types in text and one.types <= _NEVER_TEXT))


_NEVER_TEXT: Final = frozenset({int, float, Decimal})
