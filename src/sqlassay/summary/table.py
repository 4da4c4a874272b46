"""Per case and metric: the sum of its trials' readings and how many there are, in flat columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlassay.records.value import Quantity, Ratio, Reading, Reason, Undefined

_STEP = 256
_REASONS = tuple(Reason)
_REASON_INDEX = {reason: index for index, reason in enumerate(_REASONS)}
_NOT_APPLICABLE = _REASON_INDEX[Reason.NOT_APPLICABLE]


@dataclass(slots=True, kw_only=True, eq=False)
class MetricColumn:
    """One metric over all cases, by case position."""

    sums: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] = field(default_factory=lambda: array("l"))
    lacking: array[int] = field(default_factory=lambda: array("l"))
    """Trials without a value through the harness's or the gold's fault."""
    reasons: array[int] = field(default_factory=lambda: array("b"))
    """Index of the first reason for which a trial of the case is undefined, -1 for none."""
    unit: str = "share"

    def reach(self, size: int) -> None:
        """Make room for `size` cases, and for more to come."""
        missing = size - len(self.counts)
        if missing > 0:
            missing = max(missing, _STEP)
            self.sums.extend([0.0] * missing)
            self.counts.extend([0] * missing)
            self.lacking.extend([0] * missing)
            self.reasons.extend([-1] * missing)


class CaseTable:
    """Grows by one measurement at a time; memory is bound by cases times metrics."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.columns: dict[str, MetricColumn] = {}
        self._positions: dict[str, int] = {}

    def position(self, case_id: str) -> int:
        """Where a case stands; it is added at the end when new."""
        found = self._positions.get(case_id)
        if found is None:
            found = self._positions[case_id] = len(self.ids)
            self.ids.append(case_id)
        return found

    def add(self, case_id: str, metrics: Mapping[str, Reading], *, unscored: bool) -> bool:
        """Take in the readings of one trial; `unscored` when the harness or the gold was at fault.

        Whether a metric is broken. The loop runs once per trial and metric, so it does nothing twice.
        """
        position = self.position(case_id)
        columns = self.columns
        broken = False
        for name, reading in metrics.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = MetricColumn()
            if position >= len(column.counts):
                column.reach(position + 1)
            if isinstance(reading, Undefined):
                reason = _REASON_INDEX[reading.reason]
                if unscored and reason != _NOT_APPLICABLE:
                    column.lacking[position] += 1
                if column.reasons[position] < 0:
                    column.reasons[position] = reason
            elif isinstance(reading, Ratio):
                column.sums[position] += reading.hits / reading.total
                column.counts[position] += 1
            elif isinstance(reading, Quantity):
                column.sums[position] += reading.value
                column.counts[position] += 1
                column.unit = reading.unit
            else:
                broken = True
                column.lacking[position] += 1
                if column.reasons[position] < 0:
                    column.reasons[position] = _REASON_INDEX[Reason.HARNESS_FAILED]
        return broken

    def lack(self, case_ids: Iterable[tuple[str, int]]) -> None:
        """Count trials that have no score line at all: (case id, how many), once all columns are known."""
        for case_id, count in case_ids:
            position = self.position(case_id)
            for column in self.columns.values():
                column.reach(position + 1)
                if column.reasons[position] != _NOT_APPLICABLE:
                    column.lacking[position] += count
                if column.reasons[position] < 0:
                    column.reasons[position] = _REASON_INDEX[Reason.NOT_ASKED]

    def close(self) -> None:
        """Bring every column to full length; a metric that a case never had is not applicable to it."""
        size = len(self.ids)
        for column in self.columns.values():
            column.reach(size)
            for position in range(size):
                if not column.counts[position] and column.reasons[position] < 0:
                    column.reasons[position] = _NOT_APPLICABLE


def reason_at(index: int) -> Reason:
    """The reason that `MetricColumn.reasons` keeps as a number."""
    return _REASONS[index]
