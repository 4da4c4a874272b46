"""How does what a user's function or framework returned become plain data that can be kept and read again?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from sqlassay.errors import Culprit, Fault, capture

_DEPTH = 60


def plain(value: Any) -> Any:
    """JSON-able data: records, pydantic models, messages of LangChain, enums, dates and numbers of any kind.

    What has no plain form becomes its `repr`; nothing raises, nothing is followed deeper than 60 levels, and an object
    is taken apart once, however often and however crosswise others refer to it (inside itself it is null).

    >>> plain({"at": date(2026, 1, 2), "n": Decimal("1.50"), "x": {1}})
    {'at': '2026-01-02', 'n': 1.5, 'x': [1]}
    """
    return _plain(value, 0, {})


def _plain(value: Any, depth: int, done: dict[int, tuple[Any, Any]]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, depth + 1, done)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if depth >= _DEPTH:
        return "..."
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (date, time, datetime)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if id(value) not in done:
        done[id(value)] = (value, None)
        done[id(value)] = (value, _apart(value, depth, done))
    return done[id(value)][1]


def _apart(value: Any, depth: int, done: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1, done) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item, depth + 1, done) for item in value]
    dumped = capture(lambda: _dumped(value), culprit=Culprit.AGENT)
    if not isinstance(dumped, Fault) and dumped is not value:
        return _plain(dumped, depth + 1, done)
    shown = capture(lambda: repr(value), culprit=Culprit.AGENT)
    return f"<{type(value).__qualname__}>" if isinstance(shown, Fault) else shown


def _dumped(value: Any) -> Any:
    """The object's own plain form, by the conventions in use; the object itself when it has none."""
    kind = type(value)
    if hasattr(value, "model_dump") and not isinstance(value, type):
        if any(base.__name__ == "BaseMessage" for base in kind.__mro__):
            return {"type": value.type, "data": value.model_dump()}
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist") and kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        return value.tolist()
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return value.to_dict(orient="records") if kind.__module__.startswith("pandas") else value.to_dict()
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Iterable) and hasattr(value, "__len__"):
        return list(value)
    return value


def _decimal(value: Decimal) -> int | float | str:
    """A JSON number where that says the same, else the decimal's text."""
    if not value.is_finite() or abs(value.adjusted()) > 300:
        return str(value)
    if value == value.to_integral_value() and value.adjusted() < 40:
        return int(value)
    short = float(value)
    return short if Decimal(repr(short)) == value else str(value)
