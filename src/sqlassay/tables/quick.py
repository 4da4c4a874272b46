"""Are two results plainly the same? The usual right answer, told by one comparison of two lists or two bags.

Python's `==` on cells is not the specification's: it takes True for 1, and a float for the decimal of all its binary
digits. So it is believed only of reference cells that are plain, and of candidate cells whose type cannot lie there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import inf
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Interval, Kind, Relation, Row
from sqlassay.tables.columns import ColumnTies, names_cross
from sqlassay.tables.comparison import Comparison, as_they_stand
from sqlassay.tables.rows import LARGE
from sqlassay.tables.rule import TableRule
from sqlassay.tables.tolerance import agreement

_Types = frozenset[type]

_PLAIN: Final[_Types] = frozenset({str, bytes, type(None), date, datetime, time, UUID, Interval})
_COUNTED: Final[_Types] = frozenset({int, float, Decimal})
_SOUND: Final = _PLAIN | _COUNTED
_WHOLE: Final = _PLAIN | {int, Decimal}
_OWN_RULES: Final = frozenset({Kind.JSON, Kind.CHAR, Kind.MAP, Kind.ARRAY, Kind.STRUCT})
_BITS: Final = (0, 1)
_FEW: Final = 256
"""Ones and zeros up to which their places are remembered; beyond, whole columns are looked through."""
_SHORT: Final = 64
"""Rows up to which sorting small numbers is cheaper than counting rows."""
_LEAST: Final = 1e-300
_MOST: Final = 2.0**46
"""Between these, a float's shortest decimal and its binary value agree under the guarded rule and within a billionth;
below the upper one, integers and floats of one value have one normal form."""
_FORGIVING: Final = 0.01


def plain_verdict(reference: Relation, candidate: Relation, rule: TableRule) -> Comparison | None:
    """The verdict on results that are equal beyond doubt, columns as they stand; None when it takes a closer look."""
    if reference.arrow is not None or candidate.arrow is not None:
        return _of_arrow(reference, candidate, rule)
    known = known_of(reference)
    if not known.trusted:
        return None
    rows = candidate.rows
    if type(rows) is not list:
        rows = list(rows)
    try:
        if rows == known.rows:
            if not known.sound_in_order(rows):
                return None
        elif rule.order.groups is not None or rule.order.cuts or not known.same_bag(rows) or not known.sound(rows):
            return None
    except (TypeError, ValueError, ArithmeticError):
        return None
    if known.mixed and rule.tolerance.mode != "guarded" and not known.sound_exactly(rows, rule.tolerance):
        return None
    links = rule.links
    if [(column.name, column.kind) for column in candidate.columns] == known.heads and (
        rule.columns != "any" or links.reference.origins == links.candidate.origins
    ):
        return known.verdict
    return _as_they_stand(reference, candidate, rule, single=known.single)


def interchangeable(reference: Relation, candidate: Relation) -> bool:
    """Whether both have the same names, kinds and values beyond doubt, rows in any order: either may stand for both."""
    if reference.arrow is not None or candidate.arrow is not None or reference.height >= LARGE:
        return False
    known = known_of(reference)
    rows = candidate.rows if type(candidate.rows) is list else list(candidate.rows)
    try:
        same = known.trusted and known.same_bag(rows) and known.sound(rows) and _hold(rows, known.mixed)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return same and [(column.name, column.kind) for column in candidate.columns] == known.heads


class Known:
    """What is known of a reference whose rows are Python rows: found once, asked by every candidate.

    `trusted` says whether `==` with its cells can be believed at all. `bits` are the columns that hold ones and zeros
    (a boolean is `==` to those), `places` the rows and columns of these, where they are few. `large` are columns whose
    numbers are too large for floats to meet them, `mixed` those where floats and decimals must not meet unless the
    tolerance forgives it; both with the types that may. `largest` is the magnitude of its largest number, infinite
    where that was not looked for.
    """

    __slots__ = (
        "_bag",
        "_coded",
        "_codes",
        "_set",
        "bits",
        "heads",
        "large",
        "largest",
        "mixed",
        "places",
        "rows",
        "single",
        "trusted",
        "verdict",
    )

    def __init__(self, reference: Relation) -> None:
        self.rows: list[Row] = reference.rows if type(reference.rows) is list else list(reference.rows)
        self.heads = [(column.name, column.kind) for column in reference.columns]
        self.bits: list[int] = []
        self.large: list[tuple[int, _Types]] = []
        self.mixed: list[tuple[int, _Types]] = []
        self.largest = 0.0
        self.places: list[tuple[int, int]] | None = []
        self._set: set[Row] | None = None
        self._bag: dict[Row, int] | None = None
        self._codes: dict[Row, int] | None = None
        self._coded: list[int] = []
        columns: list[Sequence[Any]] = list(zip(*self.rows, strict=True))
        self.trusted = bool(self.heads) and not any(kind in _OWN_RULES for _, kind in self.heads)
        self.trusted = self.trusted and all(self._trust(position, cells) for position, cells in enumerate(columns))
        if not self.trusted:
            self.largest = inf
        self.single = len(self.rows) == 1 or (len(columns) == 1 and self.trusted and len(set(columns[0])) == 1)
        self.verdict = as_they_stand(len(self.heads), empty=not self.rows, single=self.single, crossed=False)

    def _trust(self, position: int, cells: Sequence[Any]) -> bool:
        """Whether `==` with the cells of this column can be believed, and on which conditions."""
        types = set(map(type, cells)) - _PLAIN
        if not types:
            return True
        if not types <= _COUNTED or {float, Decimal} <= types:
            return False
        try:
            values = {cell for cell in cells if type(cell) in _COUNTED}
        except TypeError:  # a signalling NaN
            return False
        if any(value != value for value in values):
            return False
        if not values.isdisjoint(_BITS):
            self._remember_bits(position, cells)
        sizes = [abs(value) for value in values if value]
        if not sizes:
            return True
        if max(sizes) >= _MOST:
            self.largest = inf
            self.large.append((position, _WHOLE))
            return float not in types
        if float in types or Decimal in types:
            self.mixed.append((position, _SOUND - ({Decimal} if float in types else {float})))
        self.largest = max(self.largest, float(max(sizes)))
        return bool(min(sizes) >= _LEAST)

    def _remember_bits(self, position: int, cells: Sequence[Any]) -> None:
        self.bits.append(position)
        if self.places is None:
            return
        self.places += [(row, position) for row, cell in enumerate(cells) if cell in _BITS]
        if len(self.places) > _FEW:
            self.places = None

    def sound_in_order(self, rows: list[Row]) -> bool:
        """Whether rows that are `==` one by one hold types that can be believed."""
        if self.places is None:
            return self.sound(rows)
        for row, position in self.places:
            if type(rows[row][position]) not in _COUNTED:
                return False
        return not self.large or _hold(rows, self.large)

    def sound(self, rows: list[Row]) -> bool:
        """The same of rows that are equal as bags."""
        for position in self.bits:
            if not {type(row[position]) for row in rows} <= _SOUND:
                return False
        return not self.large or _hold(rows, self.large)

    def sound_exactly(self, rows: list[Row], tolerance: Tolerance) -> bool:
        """Whether floats and decimals do not meet, or `tolerance` makes nothing of it."""
        return agreement(tolerance).narrow >= _FORGIVING or _hold(rows, self.mixed)

    def same_bag(self, rows: list[Row]) -> bool:
        """Whether each row occurs as often here as there, by `==`."""
        if len(rows) != len(self.rows):
            return False
        if self._set is None:
            self._set = set(self.rows)
        if len(self._set) == len(rows):
            return set(rows) == self._set
        if len(rows) > _SHORT:
            if self._bag is None:
                self._bag = dict(Counter(self.rows))
            return dict(Counter(rows)) == self._bag
        if self._codes is None:
            self._codes = {row: code for code, row in enumerate(self._set)}
            self._coded = sorted(map(self._codes.__getitem__, self.rows))
        try:
            return sorted(map(self._codes.__getitem__, rows)) == self._coded
        except KeyError:
            return False


_KNOWN: WeakKeyDictionary[Relation, Known] = WeakKeyDictionary()


def known_of(reference: Relation) -> Known:
    """What is known of a reference, found at the first call."""
    known = _KNOWN.get(reference)
    if known is None:
        known = _KNOWN[reference] = Known(reference)
    return known


def _hold(rows: list[Row], columns: Iterable[tuple[int, _Types]]) -> bool:
    """Whether every one of these columns holds only the types that it may."""
    return all({type(row[position]) for row in rows} <= allowed for position, allowed in columns)


def _of_arrow(reference: Relation, candidate: Relation, rule: TableRule) -> Comparison | None:
    both = reference.arrow is not None and candidate.arrow is not None
    width, height = reference.width, reference.height
    if not both or not width or width != candidate.width or height != candidate.height or height < LARGE:
        return None
    from sqlassay.tables.arrow import plainly_same

    if not plainly_same(reference, candidate, ordered=rule.order.groups is not None or bool(rule.order.cuts)):
        return None
    single = width == 1 and len(reference.arrow.column(0).unique()) == 1
    return _as_they_stand(reference, candidate, rule, single=single)


def _as_they_stand(reference: Relation, candidate: Relation, rule: TableRule, *, single: bool) -> Comparison | None:
    """The verdict on equal rows with columns in the order in which they stand, where the rule permits that order."""
    if reference.width != candidate.width or not _identity_permitted(reference, candidate, rule):
        return None
    if reference.arrow is None and any(column.kind in _OWN_RULES for column in candidate.columns):
        return None
    width = reference.width
    crossed = rule.columns != "by_name" and names_cross(reference.names, candidate.names, range(width))
    return as_they_stand(width, empty=not reference.height, single=single, crossed=crossed)


def _identity_permitted(reference: Relation, candidate: Relation, rule: TableRule) -> bool:
    if rule.columns == "by_position":
        return True
    if rule.columns == "by_name":
        return [name.casefold() for name in reference.names] == [name.casefold() for name in candidate.names]
    ties = ColumnTies(rule.links, reference.names, candidate.names)
    return all(ties.permitted(i, i) for i in range(reference.width))
