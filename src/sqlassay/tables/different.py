"""Are two small results plainly different? The usual wrong answer, told by sums, extremes and sets of whole columns.

Whatever the tolerance, the order or the coercions, rows that match one to one have as many NULLs per column, the same
texts, and numbers whose sum, least and largest lie no further apart than the rule (or a billionth) allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlassay.records.relation import Kind, Relation
from sqlassay.tables.rule import TableRule
from sqlassay.tables.tolerance import agreement

_ROWS: Final = 4000
"""Rows up to which what summing floats loses is below `_LOSS` per row."""
_LOSS: Final = 1e-12
_HUGE: Final = 1e290
_OWN_RULES: Final = (Kind.JSON, Kind.CHAR, Kind.MAP, Kind.ARRAY, Kind.STRUCT)
_TEXT: Final = frozenset({str})
_BINARY: Final = frozenset({int, float, bool})
_DECIMAL: Final = frozenset({int, Decimal, bool})
_NOTHING: Final = type(None)


def plainly_different(reference: Relation, candidate: Relation, rule: TableRule) -> bool:
    """Whether some column of the reference can be none of the candidate's; False leaves the question open.

    >>> from sqlassay.records.relation import Column
    >>> def table(*rows):
    ...     return Relation(columns=(Column(name="a"), Column(name="b")), rows=list(rows))
    >>> gold = table((1, "x"), (2, "y"))
    >>> answers = table((1, "x"), (9, "y")), table(("y", 2), ("x", 1))
    >>> [plainly_different(gold, answer, TableRule()) for answer in answers]
    [True, False]
    """
    width = len(reference.columns)
    if (
        rule.order.cuts
        or reference.arrow is not None
        or candidate.arrow is not None
        or not width == len(candidate.columns) > 0
        or not 0 < len(reference.rows) == len(candidate.rows) <= _ROWS
    ):
        return False
    known = _SIGNS.get(reference)
    if known is None:
        known = _SIGNS[reference] = _signs(reference)
    found = _signs(candidate)
    size = max(sign.size for sign in (*known, *found))
    if size > _HUGE:
        return False
    reach = max(agreement(rule.tolerance).width(size), 1.001e-9 * size) + _LOSS * size
    for mine, its in zip(known, found, strict=True):
        if not mine.may_be(its, reach) and (
            rule.columns == "by_position" or not any(mine.may_be(other, reach) for other in found)
        ):
            return True
    return False


class _Sign:
    """What a column shows at a glance. `kind` is text, number, or nothing where only a closer look can tell."""

    __slots__ = ("count", "kind", "least", "most", "nulls", "size", "texts", "total")

    def __init__(self, cells: Sequence[Any], *, own_rules: bool) -> None:
        self.kind, self.size, self.count = "", 0.0, len(cells)
        types = set(map(type, cells))
        self.nulls = 0
        if _NOTHING in types:
            types.discard(_NOTHING)
            cells = [cell for cell in cells if cell is not None]
            self.nulls = self.count - len(cells)
        if own_rules or not types:
            return
        if types == _TEXT:
            self.kind, self.texts = "text", set(cells)
        elif types <= _BINARY or types <= _DECIMAL:
            self._sum_up(cells)

    def _sum_up(self, cells: Sequence[Any]) -> None:
        try:
            self.least, self.most, self.total = float(min(cells)), float(max(cells)), float(sum(cells))
        except (ArithmeticError, ValueError):
            return
        if self.total == self.total:
            self.kind, self.size = "number", max(abs(self.least), abs(self.most))

    def may_be(self, other: _Sign, reach: float) -> bool:
        """Whether the other column can match this one, when numbers that agree lie within `reach` of each other."""
        if not self.kind or not other.kind:
            return True
        if self.nulls != other.nulls or self.kind != other.kind:
            return False
        if self.kind == "text":
            return self.texts == other.texts
        return (
            abs(self.total - other.total) <= self.count * reach
            and abs(self.least - other.least) <= reach
            and abs(self.most - other.most) <= reach
        )


_SIGNS: WeakKeyDictionary[Relation, list[_Sign]] = WeakKeyDictionary()


def _signs(relation: Relation) -> list[_Sign]:
    columns = zip(relation.columns, zip(*relation.rows, strict=True), strict=True)
    return [_Sign(cells, own_rules=column.kind in _OWN_RULES) for column, cells in columns]
