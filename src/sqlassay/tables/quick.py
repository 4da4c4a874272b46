"""Are two small results plainly the same? The usual right answer, told by one comparison of two lists or two bags.

Python's `==` on cells is not the specification's (it takes True for 1), so it is believed only where it cannot lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlassay.records.relation import Interval, Kind, Relation

_PLAIN: Final = frozenset({str, bytes, type(None), date, datetime, time, UUID, Interval})
_COUNTED: Final = frozenset({int, float, Decimal})
_OWN_RULES: Final = frozenset({Kind.JSON, Kind.CHAR, Kind.MAP, Kind.ARRAY, Kind.STRUCT})
_EXACT: Final = 2**53
_NO_BOOLEANS: Final = frozenset(Kind) - {Kind.DYNAMIC, Kind.BOOLEAN}


@dataclass(slots=True, kw_only=True)
class Trust:
    """Where a reference's cells let `==` be believed: nowhere (None), or unless a boolean stands in `bits` columns.

    `places` are the rows and columns of its ones and zeros, the only cells that a boolean is `==` to.
    """

    bits: tuple[int, ...] | None
    places: tuple[tuple[int, int], ...] = ()
    single: bool
    bag: dict[Any, int] | None = None
    """How often each row occurs, once that was asked for."""


_TRUST: WeakKeyDictionary[Relation, Trust] = WeakKeyDictionary()


def same_list(reference: Relation, candidate: Relation) -> bool:
    """Whether the rows are equal one by one, in order, beyond doubt."""
    mine, theirs = reference.rows, candidate.rows
    if type(mine) is not type(theirs):
        mine, theirs = list(mine), list(theirs)
    if mine != theirs:
        return False
    trust = trust_in(reference)
    if trust.bits is None or any(column.kind in _OWN_RULES for column in candidate.columns):
        return False
    return not any(type(theirs[row][position]) is bool for row, position in trust.places)


def same_bag(reference: Relation, candidate: Relation) -> bool:
    """Whether both hold the same rows equally often, beyond doubt."""
    trust = trust_in(reference)
    if trust.bits is None:
        return False
    try:
        if trust.bag is None:
            trust.bag = dict(Counter(reference.rows))
        return dict(Counter(candidate.rows)) == trust.bag and _believed(trust, candidate)
    except TypeError:
        return False


def trust_in(reference: Relation) -> Trust:
    """What is known of a reference's cells, found once."""
    known = _TRUST.get(reference)
    if known is None:
        known = _TRUST[reference] = _examine(reference)
    return known


def _believed(trust: Trust, candidate: Relation) -> bool:
    if trust.bits is None:
        return False
    for position in trust.bits:
        if candidate.columns[position].kind not in _NO_BOOLEANS and bool in {type(r[position]) for r in candidate.rows}:
            return False
    return not any(column.kind in _OWN_RULES for column in candidate.columns)


def _examine(reference: Relation) -> Trust:
    rows = reference.rows
    single = len(rows) == 1
    if any(column.kind in _OWN_RULES for column in reference.columns):
        return Trust(bits=None, single=single)
    bits: list[int] = []
    places: list[tuple[int, int]] = []
    columns = list(zip(*rows, strict=True))
    for position, cells in enumerate(columns):
        types = set(map(type, cells))
        if types <= _PLAIN:
            continue
        if not types <= _PLAIN | _COUNTED or not _small_enough(cells):
            return Trust(bits=None, single=single)
        found = [(row, position) for row, cell in enumerate(cells) if cell in (0, 1)]
        if found:
            bits.append(position)
            places += found
    if len(columns) == 1 and rows:
        single = single or len(set(columns[0])) == 1
    return Trust(bits=tuple(bits), places=tuple(places), single=single)


def _small_enough(cells: Sequence[Any]) -> bool:
    """Beyond 2**53 a float's exact value is not its shortest decimal."""
    return all(-_EXACT < cell < _EXACT or cell != cell for cell in cells if type(cell) in (int, float))
