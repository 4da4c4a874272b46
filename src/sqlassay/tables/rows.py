"""Are the rows equal once it is settled which column stands for which? The one place that confirms an assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from sqlassay.records.relation import Relation
from sqlassay.tables.cells import is_integral, is_number
from sqlassay.tables.encode import Coercions, ColumnCells, Meeting, Table, meet, tables_of
from sqlassay.tables.matching import as_float, bags_agree, skeleton
from sqlassay.tables.overlap import Overlap, may_meet, overlap_of
from sqlassay.tables.tolerance import Agreement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which rows must meet which.

    Reference rows come first the required ones, then the optional ones (a pool of rows tied across a cut).
    `reference_groups` and `candidate_groups` give each row its place in the order; None when order is free.
    `split` is set where two pools lie beside each other and order is free: how many of the optional rows are of the
    first, and how many of those must be taken.
    """

    required: int
    split: tuple[int, int] | None = None
    reference_groups: Sequence[int] | None = None
    candidate_groups: Sequence[int] | None = None

    @property
    def ordered(self) -> bool:
        return self.reference_groups is not None


LARGE: Final = 20_000
"""Rows on a side from which a comparison goes by arrays of words."""


def bench_of(reference: Relation, candidate: Relation, *, plan: Plan, agree: Agreement, coercions: Coercions) -> Bench:
    """A bench that fits the size of both results."""
    if max(reference.height, candidate.height) >= LARGE and reference.width and candidate.width:
        from sqlassay.tables.large import bench_for

        return bench_for(reference, candidate, plan=plan, agree=agree, coercions=coercions)
    left, right = tables_of(reference, candidate)
    return Bench(left, right, plan=plan, agree=agree, coercions=coercions)


_PLAIN: Final = Meeting()


class Bench:
    """Both tables with the rule to compare them by; meetings of column pairs are decided once."""

    large = False

    def __init__(
        self, reference: Table, candidate: Table, *, plan: Plan, agree: Agreement, coercions: Coercions
    ) -> None:
        self.reference, self.candidate = reference, candidate
        self.plan, self.agree, self.coercions = plan, agree, coercions
        self._meetings: dict[tuple[int, int], Meeting] = {}
        self._codes: dict[Any, int] = {}
        self._keys: dict[tuple[int, str], list[int]] = {}

    @property
    def optional(self) -> int:
        return self.reference.height - self.plan.required

    def meeting(self, i: int, j: int) -> Meeting:
        known = self._meetings.get((i, j))
        if known is None:
            known = meet(self.reference[i], self.candidate[j], self.coercions)
            if known.tolerant and self.agree.exact:
                known = Meeting(form=known.form)
            self._meetings[(i, j)] = known
        return known

    def _like(self, *, plan: Plan, agree: Agreement) -> Bench:
        return type(self)(self.reference, self.candidate, plan=plan, agree=agree, coercions=self.coercions)

    def with_rule(self, agree: Agreement) -> Bench:
        """The same tables under another tolerance."""
        return self._like(plan=self.plan, agree=agree)

    def with_plan(self, plan: Plan) -> Bench:
        """The same tables under another order."""
        return self._like(plan=plan, agree=self.agree)

    def holds(self, i: int, j: int) -> bool:
        """Whether the values of two columns alone allow them to be the same: equal bags, or close sorted numbers."""
        meeting = self.meeting(i, j)
        one, two = self.reference[i], self.candidate[j]
        left, right = (c.counts if meeting.form == "plain" else dict(Counter(c.form(meeting.form))) for c in (one, two))
        if self.optional:
            return meeting.tolerant or all(left.get(cell, 0) >= count for cell, count in right.items())
        return left == right or (meeting.tolerant and _profiles_agree(one, two, self.agree))

    def identical(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether the rows are equal without tolerance under the column pairs `(reference, candidate)`."""
        return _rows_identical(self, pairs)

    def close(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether a one-to-one matching of whole rows under tolerance exists."""
        return _rows_agree(self, pairs)

    def distinct_count(self, side: int, position: int) -> int:
        """How many values a column of the reference (0) or the candidate (1) has, NULL among them."""
        return len((self.candidate if side else self.reference)[position].distinct)

    def overlap_limits(
        self, left: Sequence[int], right: Sequence[int], threshold: Fraction
    ) -> Iterator[tuple[float, int, int]]:
        """The pairs whose smaller share of common values may reach a threshold, with the most that it can be.

        Reference columns with less than two values are left out.
        """
        top, bottom = threshold.numerator, threshold.denominator
        others = [(j, self.distinct_count(1, j)) for j in right]
        for i in left:
            count = self.distinct_count(0, i)
            if count < 2:
                continue
            for j, other in others:
                if top and not may_meet(self.reference[i], self.candidate[j]):
                    continue
                small, great = (count, other) if count < other else (other, count)
                meeting = self.meeting(i, j)
                if meeting.tolerant or small * bottom >= top * great:
                    yield small / great if meeting == _PLAIN else 1.0, i, j

    def overlap_sample(self, i: int, j: int) -> float:
        """The most that the smaller share of common values can be by a sample of them."""
        return min(self.overlap(i, j).rank)

    def overlap(self, i: int, j: int) -> Overlap:
        """How far two columns hold the same values."""
        return overlap_of(self.reference[i], self.candidate[j], self.meeting(i, j), self.agree)

    def words(self, side: int, position: int, *, nulls: bool) -> NDArray[np.uint64]:
        """A column as numbers that are equal where cells are; with `nulls` only NULL and the rest are told apart."""
        import numpy as np

        cells = (self.candidate if side else self.reference)[position].cells
        if nulls:
            return np.fromiter((cell is None for cell in cells), dtype=np.uint64, count=len(cells))
        codes = self._codes
        return np.fromiter((codes.setdefault(c, len(codes) + 2) for c in cells), dtype=np.uint64, count=len(cells))

    def key_count(self, pairs: Sequence[tuple[int, int]], height: int) -> int:
        """How many different keys the first `height` reference rows have in one column pair or two."""
        columns = [self._coded(i, j) for i, j in pairs]
        if len(columns) == 1:
            return len(set(columns[0][:height]))
        return len(set(zip(columns[0][:height], columns[1][:height], strict=True)))

    def _coded(self, i: int, j: int) -> list[int]:
        """The reference column coded by value."""
        form = self.meeting(i, j).form
        made = self._keys.get((i, form))
        if made is None:
            known: dict[Any, int] = {}
            made = self._keys[i, form] = [known.setdefault(cell, len(known)) for cell in self.reference[i].form(form)]
        return made

    def largest_fraction(self) -> float:
        """The largest magnitude of a number in a table that holds other numbers than integers; 0 when none does."""
        columns = [table[p] for table in (self.reference, self.candidate) for p in range(table.width)]
        if all(column.only_whole or not column.numeric for column in columns):
            return 0.0
        return max(column.largest for column in columns)

    def has_fractions(self, i: int) -> bool:
        """Whether a reference column holds a number that is no integer."""
        column = self.reference[i]
        if not column.numeric or column.types == {int}:
            return False
        return any(is_number(cell) and not is_integral(cell) for cell in column.cells)


def _profiles_agree(one: ColumnCells, two: ColumnCells, agree: Agreement) -> bool:
    left, right = one.numbers, two.numbers
    if len(left) != len(right) or len(one.cells) != len(two.cells):
        return False
    width = agree.width
    for a, b in zip(left, right, strict=True):
        if a != b and abs(as_float(a) - as_float(b)) > max(width(a), width(b)):
            return False
    if len(left) == len(one.cells):
        return True
    return dict(Counter(map(skeleton, one.cells))) == dict(Counter(map(skeleton, two.cells)))


def rows_equal(bench: Bench, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether a one-to-one matching of whole rows exists under the column pairs `(reference, candidate)`."""
    return bench.identical(pairs) or (any(bench.meeting(i, j).tolerant for i, j in pairs) and bench.close(pairs))


def _rows_identical(bench: Bench, pairs: Sequence[tuple[int, int]]) -> bool:
    """The same without tolerance: equal bags of normal forms."""
    plan, height = bench.plan, bench.candidate.height
    left = [bench.reference[i].form(bench.meeting(i, j).form) for i, j in pairs]
    right = [bench.candidate[j].form(bench.meeting(i, j).form) for i, j in pairs]
    if not bench.optional and bench.reference.height != height:
        return False
    if not plan.ordered and not bench.optional and all(a == b for a, b in zip(left, right, strict=True)):
        return True
    reference = _zipped(left, plan.reference_groups, bench.reference.height)
    candidate = _zipped(right, plan.candidate_groups, height)
    if not bench.optional:
        return dict(Counter(reference)) == dict(Counter(candidate))
    return _same_bags(list(reference), candidate, plan, height)


def _zipped(columns: list[Sequence[Any]], groups: Sequence[int] | None, height: int) -> Iterable[Any]:
    if groups is not None:
        columns = [*columns, groups]
    if not columns:
        return [()] * height
    return columns[0] if len(columns) == 1 else zip(*columns, strict=True)


def _same_bags(reference: list[Any], candidate: Iterable[Any], plan: Plan, height: int) -> bool:
    required = plan.required
    if not required <= height <= len(reference):
        return False
    end = required + (plan.split[0] if plan.split else len(reference) - required)
    needed, first, second = (Counter(part) for part in (reference[:required], reference[required:end], reference[end:]))
    there = Counter(candidate)
    if not needed <= there:
        return False
    least = most = 0
    for row, count in there.items():
        over = count - needed[row]
        if over > first[row] + second[row]:
            return False
        least += max(0, over - second[row])
        most += min(first[row], over)
    return plan.split is None or least <= plan.split[1] <= most


def _rows_agree(bench: Bench, pairs: Sequence[tuple[int, int]]) -> bool:
    plan = bench.plan
    if not plan.required <= bench.candidate.height <= bench.reference.height:
        return False
    meetings = [bench.meeting(i, j) for i, j in pairs]
    left = [bench.reference[i].form(m.form) for (i, _), m in zip(pairs, meetings, strict=True)]
    right = [bench.candidate[j].form(m.form) for (_, j), m in zip(pairs, meetings, strict=True)]
    tolerant = [m.tolerant for m in meetings]
    reference = _split(left, tolerant, plan.reference_groups, bench.reference.height)
    candidate = _split(right, tolerant, plan.candidate_groups, bench.candidate.height)
    return bags_agree(reference[: plan.required], candidate, bench.agree, reference[plan.required :], plan.split)


def _split(
    columns: list[Sequence[Any]], tolerant: list[bool], groups: Sequence[int] | None, height: int
) -> list[tuple[Any, tuple[Any, ...]]]:
    exact = [column for column, loose in zip(columns, tolerant, strict=True) if not loose]
    loose = [column for column, is_loose in zip(columns, tolerant, strict=True) if is_loose]
    frames = [[skeleton(cell) for cell in column] for column in loose]
    keys = [*exact, *frames, *([] if groups is None else [groups])]
    return list(zip(zip(*keys, strict=True) if keys else [()] * height, zip(*loose, strict=True), strict=True))
