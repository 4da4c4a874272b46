"""How does a value go from one engine into another one's file, and when are two engines' results the same?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from sqlassay.records.relation import Interval, Relation

_I64 = 2**63


def for_sqlite(value: Any) -> Any:
    """A value that SQLite stores without loss: what it has no type for becomes its usual text.

    >>> for_sqlite(Decimal("1.50")), for_sqlite(Decimal("0.10000000000000000001")), for_sqlite(True)
    (1.5, '0.10000000000000000001', 1)
    """
    if value is None or isinstance(value, (float, str, bytes)):
        return value
    if isinstance(value, (bool, int)):
        return int(value) if -_I64 <= value < _I64 else str(value)
    if isinstance(value, Decimal):
        return _number(value)
    return as_text(value)


def _number(value: Decimal) -> float | int | str:
    if not value.is_finite():
        return float(value) if value.is_infinite() else "NaN"
    if value == value.to_integral_value() and abs(value) < _I64:
        return int(value)
    short = float(value)
    return short if Decimal(repr(short)) == value else str(value)


def as_text(value: Any) -> str:
    """Dates in ISO form with a blank before the time, intervals in ISO 8601, structures as JSON."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Interval):
        return f"P{value.months}M{value.days}DT{value.microseconds / 1_000_000:f}S"
    if isinstance(value, (list, tuple, Mapping)):
        return json.dumps(value, default=_plain, ensure_ascii=False, sort_keys=True)
    return str(value)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) and Decimal(repr(float(value))) == value else as_text(value)


def same_rows(source: Relation, fixture: Relation) -> bool:
    """Whether two results hold the same rows, in any order: numbers by value, other types by their usual text.

    Cells of unlike engines are brought to one form: a date and its ISO text, a boolean and 1 or 0 are the same.
    """
    if source.width != fixture.width or source.height != fixture.height:
        return False
    return Counter(map(_row_form, source.tuples())) == Counter(map(_row_form, fixture.tuples()))


def _row_form(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_form(cell) for cell in row)


def _form(value: Any) -> Any:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, (bool, int)):
        return ("n", Decimal(int(value)))
    if isinstance(value, float):
        return ("n", Decimal(f"{value:.12g}")) if value == value and abs(value) != float("inf") else ("n", str(value))
    if isinstance(value, Decimal):
        return ("n", Decimal(f"{value:.12g}")) if value.is_finite() else ("n", str(value).lower())
    if isinstance(value, str):
        return _text_form(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime) and value.time() == time() and value.tzinfo is None:
        return value.date().isoformat()
    return _text_form(as_text(value))


def _text_form(text: str) -> Any:
    """Exact decimals that SQLite keeps as text are numbers; midnight stamps are dates; padding is dropped."""
    stripped = text.rstrip(" ")
    if stripped and (stripped[0].isdigit() or stripped[0] == "-") and "." in stripped:
        try:
            return ("n", Decimal(f"{Decimal(stripped):.12g}"))
        except InvalidOperation:
            return stripped
    return stripped.removesuffix(" 00:00:00") if len(stripped) == 19 else stripped
