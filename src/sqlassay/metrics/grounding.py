"""Does a result hold a stated number: as a cell, its row count, a total, or a sum, difference or share of two cells?"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from sqlassay.metrics.figures import Figure, Reading, figures_in
from sqlassay.records.relation import Relation

_CELLS_READ = 2_000_000
_TEXTS_READ = 50_000
_PAIRED = 200
"""Distinct values up to which two cells are combined; with more, nearly every number is some pair's."""


class Ground:
    """The numbers of one result, indexed once."""

    def __init__(self, relation: Relation) -> None:
        self.rows = relation.height
        cells: set[float] = set()
        totals: set[float] = set()
        self._texts: list[str] = []
        dates: set[date] = set()
        most = max(1, _CELLS_READ // max(1, relation.width))
        for position in range(relation.width):
            numbers: list[float] = []
            for cell in relation.column(position)[:most]:
                if isinstance(cell, str):
                    if len(self._texts) < _TEXTS_READ:
                        self._texts.append(cell)
                elif isinstance(cell, date):
                    dates.add(cell)
                elif (number := _number(cell)) is not None:
                    numbers.append(number)
            cells.update(numbers)
            if len(numbers) > 1:
                totals.add(math.fsum(numbers))
        self._cells = sorted(cells)
        self._totals = sorted(totals)
        self._days = {float(part) for day in dates for part in (day.year, day.day)}
        self._few = self._cells if len(self._cells) <= _PAIRED else []

    @cached_property
    def _mentioned(self) -> list[float]:
        """Numbers inside text cells, and years and days of dates; read only when no number cell fits."""
        return sorted(self._days.union(*(_in_text(cell) for cell in dict.fromkeys(self._texts))))

    def holds(self, figure: Figure, *, combine: bool = True) -> str | None:
        """How the result holds the number (`cell`, `row_count`, `total`, and with `combine` also `sum`, `difference`,
        `percentage`); None when it does not."""
        for reading in figure.readings:
            how = self._plain(reading)
            if how is None and combine:
                how = (self._percentage(reading) if figure.percent else None) or self._of_two(reading)
            if how is not None:
                return how
        return None

    def _plain(self, reading: Reading) -> str | None:
        if _any_near(self._cells, reading):
            return "cell"
        if reading.agrees(float(self.rows)):
            return "row_count"
        if _any_near(self._totals, reading):
            return "total"
        return "cell" if _any_near(self._mentioned, reading) else None

    def _of_two(self, reading: Reading) -> str | None:
        if self._by_difference(reading):
            return "difference"
        return "sum" if self._by_sum(reading) else None

    def _by_difference(self, reading: Reading) -> bool:
        size = abs(reading.value)
        return any(
            _first_between(self._few, cell + size - reading.slack, cell + size + reading.slack, but=cell)
            for cell in self._few
        )

    def _by_sum(self, reading: Reading) -> bool:
        return any(
            _first_between(
                self._few, reading.value - cell - reading.slack, reading.value - cell + reading.slack, but=cell
            )
            for cell in self._few
        )

    def _percentage(self, reading: Reading) -> str | None:
        """A share cell written as percent, one cell in percent of another or of a total, or a change in percent."""
        hundredth = Reading(value=reading.value / 100, unit=reading.unit / 100)
        if _any_near(self._cells, hundredth):
            return "cell"
        for base in (*self._few, *(self._totals if self._few else ())):
            if base == 0:
                continue
            slack = reading.slack * abs(base) / 100
            for share in (reading.value, 100 + reading.value, 100 - reading.value):
                part = base * share / 100
                if _first_between(self._few, part - slack, part + slack, but=base):
                    return "percentage"
        return None


def _any_near(values: Sequence[float], reading: Reading) -> bool:
    at = bisect_left(values, reading.value - reading.slack)
    return at < len(values) and values[at] <= reading.value + reading.slack


def _first_between(values: Sequence[float], low: float, high: float, *, but: float) -> bool:
    start, stop = bisect_left(values, low), bisect_right(values, high)
    return stop - start > 1 or (stop - start == 1 and values[start] != but)


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, (int, float, Decimal)):
        return None
    try:
        value = float(cell)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _in_text(cell: str) -> Iterator[float]:
    if len(cell) <= 200 and any(character.isdigit() for character in cell):
        if len(cell) >= 10 and cell[4:5] == "-" and cell[:4].isdigit() and cell[8:10].isdigit():
            yield from (float(cell[:4]), float(cell[8:10]))
        for figure in figures_in(cell):
            yield from (reading.value for reading in figure.readings)
