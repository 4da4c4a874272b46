"""How untrusted text is made safe to look at: control and direction characters shown, length bounded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlassay.records.relation import Interval

CELL_LIMIT = 200
TEXT_LIMIT = 20_000

_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_CONFUSING = re.compile(r"\s*|\s.*|.*\s|[-+]?[0-9.].*|(?i:null|nan|[-+]?inf(?:inity)?|true|false)", re.DOTALL)
_JOINERS = "\u200c\u200d"
"""Needed by several scripts and by emoji; harmless on their own."""


def inert(text: str, *, limit: int = TEXT_LIMIT) -> str:
    """`text` with every control and direction character shown as `⟨U+202E⟩`, cut to `limit` characters with a note.

    >>> inert("a\\x00b\\u202ec")
    'a⟨U+0000⟩b⟨U+202E⟩c'
    >>> inert("x" * 12, limit=10)
    'xxxxxxxxxx… (cut: 12 characters)'
    """
    cut = text[:limit]
    shown = _HOSTILE.sub(_show, cut.replace("\r\n", "\n"))
    return shown if len(text) <= limit else f"{shown}… (cut: {len(text):,} characters)"


def line(text: str, *, limit: int = 300) -> str:
    """`inert` on one line: for names, table cells and terminal lines.

    >>> line("a\\n  b")
    'a b'
    """
    return inert(" ".join(text[: limit * 4].split()) if len(text) > limit * 4 else " ".join(text.split()), limit=limit)


def cell(value: Any, *, limit: int = CELL_LIMIT) -> str | None:
    """One value of a result as a person should see it; None for NULL.

    Text that could be taken for a number, for NULL or for nothing is put in quotes.

    >>> cell(None), cell("12"), cell(12), cell("Rome"), cell(""), cell(1.0), cell(True)
    (None, "'12'", '12', 'Rome', "''", '1.0', 'true')
    """
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            quoted = len(value) <= limit and _CONFUSING.fullmatch(value) is not None
            return f"'{inert(value, limit=limit)}'" if quoted else inert(value, limit=limit)
        case int():
            return inert(_integer(value), limit=limit)
        case float():
            return repr(value)
        case Decimal():
            return inert(str(value), limit=limit)
        case bytes() | bytearray() | memoryview():
            raw = bytes(value[: limit + 1])
            return f"0x{raw[: limit // 2].hex()}" + (
                f"… (cut: {len(value):,} bytes)" if len(value) > limit // 2 else ""
            )
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case Interval(months=months, days=days, microseconds=microseconds):
            return f"{months} months {days} days {microseconds / 1e6:g} s"
        case Mapping():
            return _nested(value, limit=limit)
        case Sequence():
            return _nested(value, limit=limit)
        case _:
            return inert(str(value), limit=limit)


def _integer(value: int) -> str:
    # Python refuses to print integers of more than 4,300 digits.
    return str(value) if value.bit_length() < 10_000 else hex(value)


def _nested(value: Any, *, limit: int) -> str:
    parts: list[str] = []
    _spell(value, parts, room=limit, depth=0)
    return inert("".join(parts), limit=limit)


def _spell(value: Any, parts: list[str], *, room: int, depth: int) -> None:
    if sum(map(len, parts)) > room or depth > 20:
        parts.append("…")
        return
    if isinstance(value, Mapping):
        parts.append("{")
        for index, (key, item) in enumerate(list(value.items())[:room]):
            parts.append(f"{', ' if index else ''}{str(key)[:room]}: ")
            _spell(item, parts, room=room, depth=depth + 1)
            if sum(map(len, parts)) > room:
                break
        parts.append("}")
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        parts.append("[")
        for index, item in enumerate(value[:room]):
            parts.append(", " if index else "")
            _spell(item, parts, room=room, depth=depth + 1)
            if sum(map(len, parts)) > room:
                break
        parts.append("]")
    else:
        parts.append(cell(value, limit=room) or "NULL")


def _show(found: re.Match[str]) -> str:
    character = found.group()
    return character if character in _JOINERS else f"⟨U+{ord(character):04X}⟩"
