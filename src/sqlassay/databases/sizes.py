"""How many bytes of values have arrived, counted column by column without a loop over plain cells in Python?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, auto
from operator import itemgetter
from typing import Any

from sqlassay.records.relation import Row

_FIXED = 8
_PLAIN = frozenset({type(None), bool, int, float, Decimal, date, datetime, time, timedelta})
_TEXT = frozenset({type(None), str, bytes})


class Weight(Enum):
    """What the type of a column says about the size of its cells."""

    PLAIN = auto()
    """Numbers, dates and the like: nothing beyond eight bytes."""
    TEXT = auto()
    """Texts, bytes and NULL, and nothing else."""
    SCALAR = auto()
    """Each cell by itself (SQLite): a number, a text, bytes or NULL, and nothing nested."""
    ANY = auto()


class ByteCount:
    """Counts eight bytes per cell, and on top the length of text and bytes and what nested values hold.

    `weights`, one per column, spare a look at cells whose type is known; without them every column is looked at.
    Columns are walked in place: turning rows into columns would make an iterator per row.

    >>> count = ByteCount()
    >>> count.add([(1, "abc"), (None, "de")]); count.add([("x" * 100, None)]); count.total
    153
    """

    __slots__ = ("_open", "_width", "total")

    def __init__(self, weights: Sequence[Weight] | None = None) -> None:
        self.total = 0
        self._width = -1
        if weights is not None:
            self._look_at(weights)

    def _look_at(self, weights: Sequence[Weight]) -> None:
        self._width = len(weights)
        self._open = [
            (itemgetter(position), _MEASURES[weight])
            for position, weight in enumerate(weights)
            if weight is not Weight.PLAIN
        ]

    def add(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        if self._width < 0:
            self._look_at([Weight.ANY] * len(rows[0]))
        self.total += _FIXED * len(rows) * self._width
        for cell, measure in self._open:
            self.total += measure(cell, rows)


Cell = Callable[[Row], Any]


def _text_length(cell: Cell, rows: Sequence[Row]) -> int:
    try:
        return sum(map(len, map(cell, rows)))
    except TypeError:
        return sum(map(len, filter(None, map(cell, rows))))


def _scalar_length(cell: Cell, rows: Sequence[Row]) -> int:
    """Nothing has a length but text and bytes, and nothing adds up but numbers: such columns need no look at types."""
    with suppress(TypeError):
        return sum(map(len, map(cell, rows)))
    for numbers in (map(cell, rows), filter(None, map(cell, rows))):
        with suppress(TypeError):
            sum(numbers)
            return 0
    return _beyond_plain(cell, rows)


def _beyond_plain(cell: Cell, rows: Sequence[Row]) -> int:
    types = set(map(type, map(cell, rows)))
    if types <= _PLAIN:
        return 0
    return sum(map(len, filter(None, map(cell, rows)))) if types <= _TEXT else sum(map(_beyond, map(cell, rows)))


def _beyond(cell: Any) -> int:
    """What a cell holds beyond its own eight bytes."""
    if isinstance(cell, (str, bytes)):
        return len(cell)
    if type(cell) in _PLAIN:
        return 0
    if isinstance(cell, dict):
        return sum(_FIXED + _beyond(each) for pair in cell.items() for each in pair)
    if isinstance(cell, (list, tuple)):
        return sum(_FIXED + _beyond(each) for each in cell)
    return _FIXED


_MEASURES = {Weight.TEXT: _text_length, Weight.SCALAR: _scalar_length, Weight.ANY: _beyond_plain}
