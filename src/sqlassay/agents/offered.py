"""Which tables did the agent get to see in this turn, with their definitions? (specification section 5.2)"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from importlib import import_module, util
from typing import Any

from sqlassay.agents.messages import mapping, mappings
from sqlassay.records.turn import OfferedTable

_LIMIT = 2_000_000
_NAME = r"""(?:"[^"]+"|`[^`]+`|\[[^\]]+\]|[\w$]+)"""
_CREATE = re.compile(
    rf"\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|external\s+|foreign\s+|unlogged\s+|materialized\s+|virtual\s+)*"
    rf"(table|view)\s+(?:if\s+not\s+exists\s+)?((?:{_NAME}\s*\.\s*)*{_NAME})\s*(\()?",
    re.IGNORECASE,
)
_WORDS = re.compile(r"Table '([^'\n]{1,200})' has columns: ([^\n]{0,100000})")
_NO_COLUMN = re.compile(
    r"\s*(?:primary|foreign|unique|check|constraint|key|index|exclude|period|like)\b", re.IGNORECASE
)


def tables_in(text: str, *, dialect: str | None = None) -> tuple[OfferedTable, ...]:
    """The tables whose CREATE statement (or description with columns and types) stands in a text, in order.

    >>> [(t.name, t.columns) for t in tables_in('CREATE TABLE a(x INT, y TEXT, PRIMARY KEY (x))')]
    [('a', ('x', 'y'))]
    """
    if not _CREATE.search(text[:_LIMIT]):
        return tuple(_in_words(text[:_LIMIT]))
    if util.find_spec("sqlassay.sql.ddl") is not None:
        found: Iterable[OfferedTable] = import_module("sqlassay.sql.ddl").tables_in(text[:_LIMIT], dialect)
        tables = tuple(found)
        if tables:
            return tables
    return tuple(_scan(text[:_LIMIT]))


def _in_words(text: str) -> Iterable[OfferedTable]:
    """The form in which LlamaIndex describes tables: `Table 't' has columns: a (INTEGER), b (TEXT), ...`."""
    for match in _WORDS.finditer(text):
        names = re.findall(r"(?:^|,\s)([^\s,()]+)\s\(", match.group(2))
        yield OfferedTable(name=match.group(1), columns=tuple(names))


def _scan(text: str) -> Iterable[OfferedTable]:
    for match in _CREATE.finditer(text):
        columns: tuple[str, ...] = ()
        if match.group(3) and match.group(1).lower() == "table":
            columns = tuple(_columns(text, match.end()))
        yield OfferedTable(name=_unquoted(match.group(2)), columns=columns)


def _columns(text: str, start: int) -> Iterable[str]:
    """The first name of each part of a column list, up to its closing parenthesis."""
    depth, part, parts = 1, start, []
    for at in range(start, min(len(text), start + 100_000)):
        character = text[at]
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == ","):
            parts.append(text[part:at])
            part = at + 1
        if depth == 0:
            break
    for piece in parts:
        name = re.match(rf"\s*({_NAME})", piece)
        if name and not (_NO_COLUMN.match(piece) and piece.strip()[0] not in '"`['):
            yield _unquoted(name.group(1))


def _unquoted(name: str) -> str:
    return ".".join(part.strip().strip('"`[]') for part in re.split(r"\s*\.\s*", name))


def described(content: Any, *, table: str | None) -> tuple[OfferedTable, ...]:
    """Tables that a schema tool described by their columns, as data instead of DDL.

    Understood are `{name, columns: [...]}` objects at any of the usual places, and a bare list of columns when the
    call named the table. Anything else gives nothing: it is not guessed.

    Args:
        content: the reply as data, or as JSON or printed Python text.
        table: the one table that the call asked for.

    >>> described("[{'cid': 0, 'name': 'id', 'type': 'INTEGER'}]", table="t")
    (OfferedTable(name='t', has_ddl=True, columns=('id',)),)
    """
    data = _data(content)
    if isinstance(data, Mapping):
        for key in ("data", "result", "results", "objects", "tables"):
            if isinstance(data.get(key), (list, Mapping)):
                inner = described(data[key], table=table)
                if inner:
                    return inner
        one = _one(data, table=table)
        return () if one is None else (one,)
    rows = mappings(data)
    if not rows:
        return ()
    found = [one for one in (_one(row, table=None) for row in rows) if one is not None]
    if found:
        return tuple(found)
    names = [_column(row) for row in rows]
    if table is not None and all(names) and any("type" in key or key in ("cid", "Field") for key in rows[0]):
        return (OfferedTable(name=table, columns=tuple(name for name in names if name)),)
    return ()


def is_data(content: Any) -> bool:
    """Whether a schema tool's reply can be read as data at all (a list of names is data, cut text is not)."""
    return _data(content) is not None


def _one(data: Mapping[str, Any], *, table: str | None) -> OfferedTable | None:
    basic = {**mapping(data.get("basic")), **data}
    name = basic.get("name") or basic.get("table") or basic.get("table_name") or table
    columns = basic.get("columns")
    if not isinstance(name, str) or not isinstance(columns, list) or not columns:
        return None
    names = [_column(column) if isinstance(column, Mapping) else column for column in columns]
    if not all(isinstance(column, str) and column for column in names):
        return None
    return OfferedTable(name=name, columns=tuple(str(column) for column in names))


def _column(row: Mapping[str, Any]) -> str | None:
    for key in ("column_name", "column", "name", "Field", "COLUMN_NAME"):
        if isinstance(row.get(key), str):
            return str(row[key])
    return None


def _data(content: Any) -> Any:
    if not isinstance(content, str):
        return content
    text = content.strip()
    if not text or len(text) > _LIMIT or text[0] not in "[{":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
