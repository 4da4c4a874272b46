"""How does JSON text become Python values with no digit lost?"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any


def _number(text: str) -> float | Decimal:
    """A float where that keeps the number as written, else a decimal."""
    value = float(text)
    try:
        exact = Decimal(text)
        return value if Decimal(repr(value)) == exact else exact
    except InvalidOperation:
        return value


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text; text that is no JSON comes back as it is.

    So does a document that is only a string or null: `"1"` must not become the number, nor null a missing value.

    >>> parsed('{"a": [1, 2.5, 0.10000000000000000001]}')
    {'a': [1, 2.5, Decimal('0.10000000000000000001')]}
    >>> parsed("1"), parsed('"1"'), parsed("null")
    (1, '"1"', 'null')
    """
    try:
        value = json.loads(text, parse_float=_number)
    except (ValueError, RecursionError):
        return text
    if value is None or type(value) is str:
        return text.decode() if isinstance(text, bytes) else text
    return value
