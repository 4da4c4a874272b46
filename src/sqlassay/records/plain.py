"""How a record becomes plain JSON: one rule for every frozen dataclass."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

_READY = frozenset({type(None), bool, int, str})


def to_plain(value: Any) -> Any:
    """Records to mappings in field order, enums to their values, tuples and sets to lists.

    Cells that JSON has no form for become text (decimals, dates, bytes as hex, NaN): this is for reading,
    not for storing results, which keep their types.

    >>> from sqlassay.records.value import Ratio
    >>> to_plain({"a": Ratio(hits=1, total=2), "b": (1, None)})
    {'a': {'hits': 1, 'total': 2}, 'b': [1, None]}
    """
    kind = type(value)
    if kind in _READY:
        return value
    if kind is dict:
        return {str(key): to_plain(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [to_plain(item) for item in value]
    if isinstance(value, (bool, int)) and not isinstance(value, Enum):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((to_plain(item) for item in value), key=str)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "0x" + bytes(value).hex()
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    if isinstance(value, (Decimal, UUID)):
        return str(value)
    if isinstance(value, (date, time, datetime)):
        return value.isoformat()
    return str(value)
