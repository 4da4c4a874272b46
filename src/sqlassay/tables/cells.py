"""When are two values the same value? One normal form per value, equal exactly where the values are.

Specification section 5.0. Everything above this module compares normal forms; only `tables.tolerance` is looser.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlassay.records.relation import Interval, Kind


class Mark:
    """A value that equals only itself and must never meet a number or a text by accident."""

    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        self.label = label

    def __repr__(self) -> str:
        return self.label


NAN: Final = Mark("NaN")
TRUE: Final = Mark("TRUE")
FALSE: Final = Mark("FALSE")
JSON_NULL: Final = Mark("null")
"""A JSON document that says null, where SQL has a value and no NULL."""

_EXACT_FLOATS: Final = 2.0**53
_PLAIN: Final = frozenset({int, str, bytes, type(None), Interval, UUID, date, datetime, time})
"""Types whose values already are their own normal form."""
_NOTHING: Final = type(None)


def normal(value: Any, *, decimals: bool = True) -> Any:
    """The normal form of one cell: hashable, and equal for two cells exactly when the cells are equal.

    `decimals=False` leaves small floats as they are, which is right as long as no decimal can meet them.

    >>> normal(1.0) == normal(1) == normal(Decimal("1.00"))
    True
    >>> normal(0.1) == normal(Decimal("0.1")), normal(True) == normal(1), normal(float("nan")) == normal(None)
    (True, False, False)
    >>> normal([1, {"a": 2.0, "b": None}]) == normal((1.0, {"b": None, "a": 2}))
    True
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        if value != value:
            return NAN
        if -_EXACT_FLOATS < value < _EXACT_FLOATS:
            return Decimal(repr(value)) if decimals else value
        if value in (float("inf"), float("-inf")):
            return value
        return Decimal(f"{int(Decimal(repr(value)))}.0")
    if kind is bool:
        return TRUE if value else FALSE
    if kind is Decimal:
        return NAN if value.is_nan() else value
    return _unusual(value)


def _unusual(value: Any) -> Any:
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Mapping):
        return ("map", frozenset((normal(key), normal(item)) for key, item in value.items()))
    if isinstance(value, timedelta):
        return Interval(days=value.days, microseconds=value.seconds * 1_000_000 + value.microseconds)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return normal(float(value))
    if isinstance(value, Decimal):
        return normal(Decimal(value))
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, datetime, date, time)):
        return value
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(normal(item) for item in value))
    if isinstance(value, Sequence):
        return ("list", tuple(normal(item) for item in value))
    item = getattr(value, "item", None)
    if callable(item):
        return normal(item())
    return _hashable(value)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return ("object", type(value).__name__, repr(value))
    return value


def normal_column(values: Sequence[Any], *, kind: Kind = Kind.DYNAMIC, decimals: bool = True) -> Sequence[Any]:
    """The normal forms of one column, with what its stated kind says about its cells.

    CHAR loses its blank padding, JSON text is read, a MAP given as pairs becomes a mapping.

    >>> normal_column(["ab  ", None], kind=Kind.CHAR)
    ['ab', None]
    >>> normal_column(['{"a": 1}'], kind=Kind.JSON) == normal_column([{"a": 1.0}], kind=Kind.JSON)
    True
    """
    if kind is Kind.CHAR:
        return [value.rstrip(" ") if type(value) is str else normal(value) for value in values]
    if kind is Kind.JSON:
        return [_json(value) for value in values]
    if kind is Kind.MAP:
        return [_shallow(_map(value)) for value in values]
    types = set(map(type, values))
    if types <= _PLAIN:
        return values
    if types <= _PLAIN | {float, bool, Decimal}:
        return [normal(value, decimals=decimals) for value in values]
    return [_shallow(value, decimals=decimals) for value in values]


def _shallow(value: Any, *, decimals: bool = True) -> Any:
    """The normal form; of a value nested too deeply to look into, one that equals only the very same object."""
    try:
        return normal(value, decimals=decimals)
    except RecursionError:
        return ("deep", id(value))


def _json(value: Any) -> Any:
    if type(value) is not str:
        return _shallow(value)
    try:
        read = json.loads(value, parse_float=Decimal)
        return JSON_NULL if read is None else normal(read)
    except (ValueError, RecursionError):
        return value


def _map(value: Any) -> Any:
    pairs = isinstance(value, (list, tuple)) and all(isinstance(item, tuple) and len(item) == 2 for item in value)
    return dict(value) if pairs and all(_is_hashable(item[0]) for item in value) else value


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_number(cell: Any) -> bool:
    """Whether a normal form is a number (NaN and booleans are not)."""
    kind = type(cell)
    return kind is int or kind is float or kind is Decimal


def is_whole(cell: Any) -> bool:
    """Whether a number is of integer type: an int, or a decimal without fraction digits.

    >>> is_whole(5), is_whole(Decimal("5")), is_whole(5.0), is_whole(Decimal("5.0"))
    (True, True, False, False)
    """
    if type(cell) is int:
        return True
    return type(cell) is Decimal and cell.is_finite() and int(cell.as_tuple().exponent) >= 0


def is_integral(cell: Any) -> bool:
    """Whether a number is an integer by its value, of whatever type and size.

    >>> is_integral(2.0), is_integral(Decimal("12345678901234567890123456789012345.5")), is_integral(float("inf"))
    (True, False, False)
    """
    if type(cell) is Decimal:
        return bool(cell == cell.to_integral_value())
    return type(cell) is int or bool(cell.is_integer())


def iso_timestamp(text: str) -> datetime | None:
    """The timestamp that an ISO text of a date or a timestamp means; None for any other text.

    >>> iso_timestamp("2024-03-05"), iso_timestamp("2024-03-05 10:15:00.5"), iso_timestamp("05/03/2024")
    (datetime.datetime(2024, 3, 5, 0, 0), datetime.datetime(2024, 3, 5, 10, 15, 0, 500000), None)
    """
    if not (10 <= len(text) <= 35 and text[4] == "-" and text[7] == "-" and text.isascii()):
        return None
    if len(text) > 10 and (text[10] not in " T" or text.endswith(" ")):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def midnight(cell: date) -> datetime:
    """The naive timestamp at the start of a date."""
    return datetime(cell.year, cell.month, cell.day)


def types_of(cells: Iterable[Any]) -> frozenset[type]:
    """The types that occur in a column of normal forms, NULL left out."""
    return frozenset(set(map(type, cells)) - {_NOTHING})
