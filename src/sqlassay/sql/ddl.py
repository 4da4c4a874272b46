"""Which tables does a DDL text describe, with which columns?"""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import exp

from sqlassay.errors import Fault
from sqlassay.records.turn import OfferedTable
from sqlassay.sql.names import canonical_dialect
from sqlassay.sql.parse import trees_of, with_room

_PART = r'(?:"(?:[^"]|"")+"|`[^`]+`|\[[^\]]+\]|[\w$#@]+)'
_CREATE = re.compile(
    r"(?i)\bcreate\s+(?:or\s+replace\s+)?(?:(?:global|local)\s+)?"
    r"(?:(?:temp(?:orary)?|unlogged|external|foreign|virtual|transient|materialized)\s+)*"
    r"(?:table|view)\s+(?:if\s+not\s+exists\s+)?"
    rf"(?P<name>{_PART}(?:\s*\.\s*{_PART})*)"
)
_NO_COLUMN = frozenset(
    {"PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT", "KEY", "INDEX", "EXCLUDE", "PERIOD", "LIKE", "FULLTEXT"}
)
_GOES_ON = re.compile(r"(?i)\s+(?:engine|comment|partition|cluster|with|tablespace|as|inherits|strict|without)\b")
_LONGEST = 4_000_000


def tables_in(text: str, dialect: str | None = None) -> tuple[OfferedTable, ...]:
    """The tables and views that a text creates, each once, in order, with the columns its DDL lists.

    DDL may stand among prose and in any dialect; what the parser does not know is read by its brackets.

    >>> tables_in("CREATE TABLE main.t (a INT PRIMARY KEY, b TEXT, FOREIGN KEY (a) REFERENCES u (x)); -- 3 rows")
    (OfferedTable(name='main.t', has_ddl=True, columns=('a', 'b')),)
    """
    found: dict[str, OfferedTable] = {}
    name = canonical_dialect(dialect or "sqlite")
    text = text[:_LONGEST]
    for match, following in pairwise([*_CREATE.finditer(text), None]):
        assert match is not None
        # Up to the next CREATE at most: brackets that never close would make each statement as long as the text.
        limit = len(text) if following is None else following.start()
        statement = text[match.start() : _end(text, match.end(), limit)]
        table = _parsed(statement, name) or _scanned(text, match, limit)
        known = found.get(table.name)
        if known is None or len(table.columns) > len(known.columns):
            found[table.name] = table
    return tuple(found.values())


def _parsed(statement: str, dialect: str) -> OfferedTable | None:
    trees = with_room(lambda: trees_of(statement, dialect), statement)
    if isinstance(trees, Fault) or len(trees) != 1 or not isinstance(trees[0], exp.Create):
        return None
    target = trees[0].this
    schema = target if isinstance(target, exp.Schema) else None
    table = schema.this if schema is not None else target
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return None
    parts = [part for part in (table.args.get("catalog"), table.args.get("db"), table.this) if part is not None]
    columns: tuple[str, ...] = ()
    if schema is not None:
        listed = [item for item in schema.expressions if isinstance(item, (exp.ColumnDef, exp.Identifier))]
        columns = tuple(item.name for item in listed)
    query = trees[0].args.get("expression")
    if not columns and isinstance(query, exp.Query):
        columns = tuple(name for name in query.named_selects if name and name != "*")
    return OfferedTable(name=".".join(part.name for part in parts), columns=columns)


def _end(text: str, start: int, limit: int) -> int:
    """Where a CREATE statement ends: at its semicolon, or after its column list when prose follows."""
    depth, closed = 0, False
    position = _code(text, start, limit)
    while position < limit:
        character = text[position]
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            closed = closed or depth == 0
            if depth < 0:
                return position
        elif character == ";" and depth == 0:
            return position
        elif closed and character == "\n" and depth == 0:
            goes_on = _GOES_ON.match(text, position, limit)
            if goes_on is None:
                return position
            position = goes_on.end() - 1
        position = _code(text, position + 1, limit)
    return limit


def _code(text: str, position: int, limit: int) -> int:
    """The first place from `position` on that is in no quotes and no comment, `limit` where there is none."""
    while position < limit:
        if text[position] in "'\"`":
            end = text.find(text[position], position + 1, limit)
            position = limit if end < 0 else end + 1
        elif text.startswith("--", position):
            newline = text.find("\n", position, limit)
            position = limit if newline < 0 else newline
        else:
            return position
    return limit


def _scanned(text: str, match: re.Match[str], limit: int) -> OfferedTable:
    name = ".".join(_bare(part) for part in re.findall(_PART, match["name"]))
    opening = text.find("(", match.end(), limit)
    if opening < 0 or text[match.end() : opening].strip():
        return OfferedTable(name=name)
    columns: list[str] = []
    depth, position, item = 0, opening, opening + 1
    while position < limit:
        character = text[position]
        depth += (character == "(") - (character == ")")
        if (character == "," and depth == 1) or depth == 0:
            first = re.match(rf"(?:\s|--[^\n]*\n)*({_PART})", text[item:position])
            if first is not None and first.group(1).upper() not in _NO_COLUMN:
                columns.append(_bare(first.group(1)))
            item = position + 1
            if depth == 0:
                break
        position = _code(text, position + 1, limit)
    return OfferedTable(name=name, columns=tuple(columns))


def _bare(part: str) -> str:
    if part[:1] == '"':
        return part[1:-1].replace('""', '"')
    return part[1:-1] if part[:1] in "`[" else part
