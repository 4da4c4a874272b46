"""Are the rows equal once it is settled which column stands for which? The one place that confirms an assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.tables.encode import Coercions, Meeting, Table, meet
from sqlassay.tables.matching import bags_agree, skeleton
from sqlassay.tables.tolerance import Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which rows must meet which.

    Reference rows come first the required ones, then the optional ones (a pool of rows tied across a cut).
    `reference_groups` and `candidate_groups` give each row its place in the order; None when order is free.
    """

    required: int
    reference_groups: Sequence[int] | None = None
    candidate_groups: Sequence[int] | None = None

    @property
    def ordered(self) -> bool:
        return self.reference_groups is not None


class Bench:
    """Both tables with the rule to compare them by; meetings of column pairs are decided once."""

    def __init__(
        self, reference: Table, candidate: Table, *, plan: Plan, agree: Agreement, coercions: Coercions
    ) -> None:
        self.reference, self.candidate = reference, candidate
        self.plan, self.agree, self.coercions = plan, agree, coercions
        self._meetings: dict[tuple[int, int], Meeting] = {}

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

    def with_rule(self, agree: Agreement) -> Bench:
        """The same tables under another tolerance."""
        return Bench(self.reference, self.candidate, plan=self.plan, agree=agree, coercions=self.coercions)

    def with_plan(self, plan: Plan) -> Bench:
        """The same tables under another order."""
        return Bench(self.reference, self.candidate, plan=plan, agree=self.agree, coercions=self.coercions)


def rows_equal(bench: Bench, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether a one-to-one matching of whole rows exists under the column pairs `(reference, candidate)`."""
    return rows_identical(bench, pairs) or (
        any(bench.meeting(i, j).tolerant for i, j in pairs) and _rows_agree(bench, pairs)
    )


def rows_identical(bench: Bench, pairs: Sequence[tuple[int, int]]) -> bool:
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
    return _same_bags(list(reference), candidate, plan.required, height)


def _zipped(columns: list[Sequence[Any]], groups: Sequence[int] | None, height: int) -> Iterable[Any]:
    if groups is not None:
        columns = [*columns, groups]
    if not columns:
        return [()] * height
    return columns[0] if len(columns) == 1 else zip(*columns, strict=True)


def _same_bags(reference: list[Any], candidate: Iterable[Any], required: int, height: int) -> bool:
    if not required <= height <= len(reference):
        return False
    needed: dict[Any, int] = {}
    for row in reference[:required]:
        needed[row] = needed.get(row, 0) + 1
    spare: dict[Any, int] = {}
    for row in reference[required:]:
        spare[row] = spare.get(row, 0) + 1
    unmet = required
    for row in candidate:
        left = needed.get(row, 0)
        if left:
            needed[row] = left - 1
            unmet -= 1
        elif spare.get(row, 0):
            spare[row] -= 1
        else:
            return False
    return unmet == 0


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
    return bags_agree(reference[: plan.required], candidate, bench.agree, reference[plan.required :])


def _split(
    columns: list[Sequence[Any]], tolerant: list[bool], groups: Sequence[int] | None, height: int
) -> list[tuple[Any, tuple[Any, ...]]]:
    exact = [column for column, loose in zip(columns, tolerant, strict=True) if not loose]
    loose = [column for column, is_loose in zip(columns, tolerant, strict=True) if is_loose]
    frames = [[skeleton(cell) for cell in column] for column in loose]
    keys = [*exact, *frames, *([] if groups is None else [groups])]
    return list(zip(zip(*keys, strict=True) if keys else [()] * height, zip(*loose, strict=True), strict=True))
