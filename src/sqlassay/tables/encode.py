"""What is in a column? Both tables as columns of normal forms, with what a pair of columns needs to be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from sqlassay.records.relation import Column, Kind, Relation, Row
from sqlassay.tables.cells import FALSE, TRUE, Mark, iso_timestamp, midnight, normal_column, types_of
from sqlassay.tables.cells import is_number as _is_number
from sqlassay.tables.cells import is_whole as _is_whole

Form = Literal["plain", "stamp", "bits"]

_FLOATS: Final = 1e300
_DATED: Final = frozenset({date, datetime})
_NUMERIC: Final = frozenset({int, float, Decimal})
_TRUTH: Final = frozenset({Mark})
_WHOLE: Final = frozenset({int, str, bytes})


class ColumnCells:
    """One column's normal forms and the facts about them that decide how it meets another column, each found once."""

    def __init__(self, cells: Sequence[Any]) -> None:
        self.cells = cells

    @cached_property
    def counts(self) -> dict[Any, int]:
        """How often each value occurs."""
        return dict(Counter(self.cells))

    @cached_property
    def distinct(self) -> frozenset[Any]:
        """The values that occur."""
        return frozenset(self.counts)

    @cached_property
    def numbers(self) -> list[Any]:
        """Its numbers, ascending."""
        return sorted(filter(_is_number, self.cells)) if self.numeric else []

    @cached_property
    def levels(self) -> tuple[list[Any], list[float]]:
        """Its distinct finite numbers, ascending, as they are and as floats."""
        levels = sorted(cell for cell in self.distinct if _is_number(cell) and abs(cell) < _FLOATS)
        return levels, list(map(float, levels))

    @cached_property
    def largest(self) -> float:
        """The magnitude that no number in it exceeds; infinite where nested values hide numbers."""
        if tuple in self.types:
            return float("inf")
        ends = self.numbers[:1] + self.numbers[-1:]
        return max((abs(float(end)) if abs(end) < 1e300 else float("inf") for end in ends), default=0.0)

    @cached_property
    def types(self) -> frozenset[type]:
        return types_of(self.cells)

    @cached_property
    def numeric(self) -> bool:
        """Whether a number occurs, bare or inside an array, a struct or a map."""
        return bool(self.types & _NUMERIC) or tuple in self.types

    @cached_property
    def only_whole(self) -> bool:
        """Whether every number in it is of integer type (nested values count as not)."""
        if self.types <= _WHOLE:
            return True
        return tuple not in self.types and all(_is_whole(cell) for cell in self.cells if _is_number(cell))

    @cached_property
    def truth(self) -> bool:
        """Whether it holds booleans only."""
        return self.types == _TRUTH and all(cell is TRUE or cell is FALSE for cell in self.cells if cell is not None)

    @cached_property
    def stamps(self) -> Sequence[Any] | None:
        """The cells as timestamps (dates as midnight, ISO text read), None when one of them is no such thing."""
        if not self.types:
            return None
        if self.types <= _DATED:
            return [midnight(cell) if type(cell) is date else cell for cell in self.cells]
        if self.types != {str}:
            return None
        read = [None if cell is None else iso_timestamp(cell) for cell in self.cells]
        return None if any(r is None and c is not None for r, c in zip(read, self.cells, strict=True)) else read

    @cached_property
    def bits(self) -> Sequence[Any] | None:
        """The cells as 1 and 0, None when one of them is neither boolean nor one of these numbers."""
        if self.truth:
            return [None if cell is None else 1 if cell is TRUE else 0 for cell in self.cells]
        if self.types and self.types <= _NUMERIC and all(c is None or c in (0, 1) for c in self.cells):
            return self.cells
        return None

    def form(self, form: Form) -> Sequence[Any]:
        """The cells in the form that a pair of columns agreed on."""
        if form == "plain":
            return self.cells
        cells = self.stamps if form == "stamp" else self.bits
        if cells is None:
            raise ValueError(f"the column has no form {form}")
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """How two columns are compared: the form both take, and whether numbers in them may differ a little."""

    form: Form = "plain"
    tolerant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Coercions:
    """Which coercions are on (specification section 5.0)."""

    dates: bool = True
    booleans: bool = True


def meet(a: ColumnCells, b: ColumnCells, coercions: Coercions = Coercions()) -> Meeting:
    """Decide per column pair, never cell by cell, how the two are compared (specification section 5.0).

    >>> meet(ColumnCells([date(2024, 3, 5)]), ColumnCells(["2024-03-05"])).form
    'stamp'
    >>> meet(ColumnCells([1, 2]), ColumnCells([1, 3])).tolerant, meet(ColumnCells([1]), ColumnCells([1.5])).tolerant
    (False, True)
    """
    if coercions.dates and a.types != b.types:
        a_dated, b_dated = _dated(a), _dated(b)
        if (a_dated and b.stamps is not None) or (b_dated and a.stamps is not None):
            return Meeting(form="stamp")
    if coercions.booleans and a.truth != b.truth and a.bits is not None and b.bits is not None:
        return Meeting(form="bits")
    if a.numeric and b.numeric:
        return Meeting(tolerant=not (a.only_whole and b.only_whole))
    return Meeting()


def _dated(column: ColumnCells) -> bool:
    return bool(column.types) and column.types <= _DATED


class Table:
    """A relation held as columns of normal forms, each made when it is first looked at."""

    def __init__(self, columns: tuple[Column, ...], rows: Sequence[Row], *, decimals: bool, arrow: Any = None) -> None:
        self.columns = columns
        self.names = tuple(column.name for column in columns)
        self.rows = rows
        self.arrow = arrow
        self._decimals = decimals
        self._made: dict[int, ColumnCells] = {}
        self._turned: list[Sequence[Any]] | None = None

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def height(self) -> int:
        return len(self.rows) if self.arrow is None else int(self.arrow.num_rows)

    def __getitem__(self, position: int) -> ColumnCells:
        made = self._made.get(position)
        if made is None:
            kind = self.columns[position].kind
            made = ColumnCells(normal_column(self._raw(position), kind=kind, decimals=self._decimals))
            self._made[position] = made
        return made

    def _raw(self, position: int) -> Sequence[Any]:
        if self.arrow is not None:
            return list(self.arrow.column(position).to_pylist())
        if self._turned is None:
            self._turned = list(zip(*self.rows, strict=True)) if self.rows else [()] * self.width
        return self._turned[position]


def tables_of(
    reference: Relation, candidate: Relation, *, extra_rows: Sequence[Row] = (), keep: Sequence[Row] | None = None
) -> tuple[Table, Table]:
    """Both relations in one common normal form.

    `keep` replaces the reference's rows and `extra_rows` follow them: how the rows tied across a cut come in.
    """
    decimals = _meets_decimals(reference) or _meets_decimals(candidate)
    if keep is None and not extra_rows:
        left = _table(reference, decimals)
    else:
        rows = [*(reference.tuples() if keep is None else keep), *extra_rows]
        left = Table(reference.columns, rows, decimals=decimals)
    return left, _table(candidate, decimals)


_MADE: WeakKeyDictionary[Relation, dict[bool, Table]] = WeakKeyDictionary()
"""Tables already read, as long as their relation lives: a gold result meets many candidates, both families each."""


def _table(relation: Relation, decimals: bool) -> Table:
    made = _MADE.get(relation)
    if made is None:
        made = _MADE[relation] = {}
    table = made.get(decimals)
    if table is None:
        table = Table(relation.columns, relation.rows, decimals=decimals, arrow=relation.arrow)
        made[decimals] = table
    return table


def _meets_decimals(relation: Relation) -> bool:
    """Whether a decimal can occur; only then floats have to become decimals too."""
    known = _DECIMALS.get(relation)
    if known is None:
        known = _DECIMALS[relation] = any(_has_decimals(relation, p) for p in range(relation.width))
    return known


_DECIMALS: WeakKeyDictionary[Relation, bool] = WeakKeyDictionary()
_NO_DECIMAL: Final = frozenset({int, float, str, bytes, bool, type(None), date, datetime, time})
_WITHOUT: Final = frozenset(Kind) - {Kind.DECIMAL, Kind.DYNAMIC, Kind.JSON, Kind.ARRAY, Kind.STRUCT, Kind.MAP}


def _has_decimals(relation: Relation, position: int) -> bool:
    kind = relation.columns[position].kind
    if kind in _WITHOUT:
        return False
    if kind is not Kind.DYNAMIC or relation.arrow is not None:
        return True
    return not {type(row[position]) for row in relation.rows} <= _NO_DECIMAL
