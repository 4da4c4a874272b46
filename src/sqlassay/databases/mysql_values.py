"""How does each MySQL type arrive, with nothing lost, and which base column is under an output column?

Zero dates and durations beyond a day, which Python's types cannot hold, stay text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date, datetime, time
from typing import Any

from sqlassay.databases.json_text import parsed
from sqlassay.databases.sizes import Weight
from sqlassay.records.relation import Column, Kind


def _date(text: str) -> date | str:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _datetime(text: str) -> datetime | str:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _time(text: str) -> time | str:
    try:
        return text if text.startswith("24") else time.fromisoformat(text)
    except ValueError:
        return text


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


def converters() -> dict[Any, Callable[..., Any]]:
    """PyMySQL's converters with ours for dates, times, bits and JSON."""
    from pymysql import converters as driver
    from pymysql.constants import FIELD_TYPE

    ours: dict[Any, Callable[..., Any]] = dict(driver.conversions)
    ours.update(
        {
            FIELD_TYPE.DATE: _date,
            FIELD_TYPE.NEWDATE: _date,
            FIELD_TYPE.DATETIME: _datetime,
            FIELD_TYPE.TIMESTAMP: _datetime,
            FIELD_TYPE.TIME: _time,
            FIELD_TYPE.BIT: _bits,
            FIELD_TYPE.JSON: parsed,
        }
    )
    return ours


_BINARY_CHARSET = 63
_NAMES: dict[int, tuple[Kind, str]] = {
    0: (Kind.DECIMAL, "decimal"),
    1: (Kind.INTEGER, "tinyint"),
    2: (Kind.INTEGER, "smallint"),
    3: (Kind.INTEGER, "int"),
    4: (Kind.FLOAT, "float"),
    5: (Kind.FLOAT, "double"),
    7: (Kind.TIMESTAMP, "timestamp"),
    8: (Kind.INTEGER, "bigint"),
    9: (Kind.INTEGER, "mediumint"),
    10: (Kind.DATE, "date"),
    11: (Kind.TIME, "time"),
    12: (Kind.TIMESTAMP, "datetime"),
    13: (Kind.INTEGER, "year"),
    16: (Kind.INTEGER, "bit"),
    245: (Kind.JSON, "json"),
    246: (Kind.DECIMAL, "decimal"),
    255: (Kind.BYTES, "geometry"),
}
_STRINGS = frozenset({15, 249, 250, 251, 252, 253, 254})
_FIXED_LENGTH = 254
_ENUM, _SET, _UNSIGNED = 256, 2048, 32


def column_of(field: Any, tables: Collection[str]) -> Column:
    """The output column that a field of the row description describes.

    `tables` are the base tables, in lower case, that an origin may name: under a view's column the server gives the
    view's alias, so a statement that names a view passes none.
    """
    kind, declared = _NAMES.get(field.type_code, (Kind.DYNAMIC, ""))
    if field.type_code in _STRINGS:
        if field.charsetnr == _BINARY_CHARSET:
            kind, declared = Kind.BYTES, "binary"
        elif field.flags & (_ENUM | _SET):
            kind, declared = Kind.TEXT, "enum" if field.flags & _ENUM else "set"
        elif field.type_code == _FIXED_LENGTH and field.org_table:
            kind, declared = Kind.CHAR, "char"
        else:
            kind, declared = Kind.TEXT, "text"
    elif kind is Kind.INTEGER and field.flags & _UNSIGNED and declared not in ("bit", "year"):
        declared += " unsigned"
    table = (field.org_table or "").lower()
    origin = f"{table}.{field.org_name.lower()}" if table in tables and field.org_name else None
    return Column(name=field.name, kind=kind, declared=declared or None, origin=origin)


_PLAIN = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})
_TEXT = frozenset({Kind.TEXT, Kind.CHAR, Kind.BYTES})


def weight_of(column: Column) -> Weight:
    """What the kind of a column says about the size of its cells; dates may be text where Python has none.

    >>> weight_of(Column(name="n", kind=Kind.INTEGER))
    <Weight.PLAIN: 1>
    """
    if column.kind in _PLAIN:
        return Weight.PLAIN
    return Weight.TEXT if column.kind in _TEXT else Weight.ANY
