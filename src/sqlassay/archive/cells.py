"""How are result cells written as JSON so that every type comes back as it was?"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any
from uuid import UUID

from sqlassay.errors import RecordError
from sqlassay.records.relation import Interval, Row

_NATIVE = frozenset({type(None), bool, int, str})
_TAGGED = frozenset({Decimal, date, datetime, time, timedelta, bytes, UUID, Interval})
_LONG = 1 << 512
"""Integers beyond this are written in hexadecimal: Python refuses very long decimal texts."""


def encode_rows(rows: Sequence[Row]) -> bytes:
    """Rows as one line of ASCII JSON. Types JSON lacks become one-key objects (`{"$d": "1.50"}`).

    Whole tables of plain cells take the fast path through the C encoder; nested cells are walked.

    >>> encode_rows([(1, "a", None), (Decimal("1.50"), b"\\\\x00", float("nan"))])
    b'[[1,"a",null],[{"$d":"1.50"},{"$b":"XHgwMA=="},{"$f":"nan"}]]'
    """
    types = set(map(type, chain.from_iterable(rows)))
    flat = types <= _NATIVE or types <= _NATIVE | _TAGGED
    if flat and not (int in types and any(_is_long(cell) for cell in chain.from_iterable(rows))):
        payload: Any = rows if isinstance(rows, list) else list(rows)
    else:
        payload = [[_encode(cell) for cell in row] for row in rows]
    return json.dumps(payload, default=_tag, separators=(",", ":"), allow_nan=False).encode("ascii")


def decode_rows(data: bytes) -> list[Row]:
    """The rows that `encode_rows` wrote.

    >>> decode_rows(b'[[{"$d":"1.50"},{"$i":[1,2,3]},[1,{"$m":[["a",2]]}]]]')
    [(Decimal('1.50'), Interval(months=1, days=2, microseconds=3), [1, {'a': 2}])]

    Raises:
        RecordError: the text is not such a line.
    """
    try:
        loaded = json.loads(data, object_hook=_untag)
        return [tuple(row) for row in loaded]
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise RecordError(f"stored rows cannot be read: {error}") from error


def _is_long(cell: Any) -> bool:
    return type(cell) is int and not -_LONG < cell < _LONG


def _encode(cell: Any) -> Any:
    kind = type(cell)
    if kind is int:
        return {"$n": hex(cell)} if _is_long(cell) else cell
    if kind in _NATIVE:
        return cell
    if kind is float:
        return cell if math.isfinite(cell) else {"$f": repr(cell)}
    if isinstance(cell, Mapping):
        return {"$m": [[_encode(key), _encode(value)] for key, value in cell.items()]}
    if isinstance(cell, tuple):
        return {"$t": [_encode(item) for item in cell]}
    if isinstance(cell, Sequence) and not isinstance(cell, (str, bytes, bytearray, memoryview)):
        return [_encode(item) for item in cell]
    return _tag(cell)


def _tag(cell: Any) -> Any:
    match cell:
        case Decimal():
            return {"$d": str(cell)}
        case datetime():
            return {"$dt": cell.isoformat()}
        case date():
            return {"$date": cell.isoformat()}
        case time():
            return {"$time": cell.isoformat()}
        case timedelta():
            return {"$td": [cell.days, cell.seconds, cell.microseconds]}
        case bytes() | bytearray() | memoryview():
            return {"$b": base64.b64encode(bytes(cell)).decode("ascii")}
        case UUID():
            return {"$u": str(cell)}
        case Interval():
            return {"$i": [cell.months, cell.days, cell.microseconds]}
        case bool() | int() | str() | float():
            return _encode(_plain_base(cell))
        case _ if hasattr(cell, "item"):
            return _encode(cell.item())
        case _:
            return {"$text": str(cell)}


def _plain_base(cell: bool | int | str | float) -> Any:
    for base in (bool, int, float, str):
        if isinstance(cell, base):
            return base(cell)
    return cell


def _untag(pairs: dict[str, Any]) -> Any:
    if len(pairs) != 1:
        raise ValueError(f"unknown cell {pairs!r}")
    ((tag, value),) = pairs.items()
    match tag:
        case "$d":
            return Decimal(value)
        case "$dt":
            return datetime.fromisoformat(value)
        case "$date":
            return date.fromisoformat(value)
        case "$time":
            return time.fromisoformat(value)
        case "$td":
            days, seconds, microseconds = value
            return timedelta(days=days, seconds=seconds, microseconds=microseconds)
        case "$b":
            return base64.b64decode(value)
        case "$u":
            return UUID(value)
        case "$i":
            months, days, microseconds = value
            return Interval(months=months, days=days, microseconds=microseconds)
        case "$f":
            return float(value)
        case "$n":
            return int(value, 16)
        case "$m":
            return {(tuple(key) if isinstance(key, list) else key): item for key, item in value}
        case "$t":
            return tuple(value)
        case "$text":
            return value
        case _:
            raise ValueError(f"unknown cell tag {tag!r}")
