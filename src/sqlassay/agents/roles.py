"""What was a statement for? (specification section 3: role)"""

from __future__ import annotations

import re

from sqlassay.records.turn import Role

_NOISE = re.compile(r"\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/|[(;]", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_CATALOGUE = re.compile(
    r"\b(?:sqlite_(?:temp_)?(?:master|schema)|information_schema|pg_catalog|pg_(?:tables|class|attribute|views|"
    r"namespace|indexes|constraint|description|type)|pragma_\w+|duckdb_(?:tables|columns|schemas|views|constraints|"
    r"indexes)|syscolumns|sysobjects|sys\.(?:tables|columns|objects|schemas)|all_tab_columns|all_tables|user_tables)\b",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'(?:[^']|'')*'")
_FROM = re.compile(r"\b(?:from|join)\s+([\w.\"`\[\]]+)", re.IGNORECASE)
_WRITING_CTE = re.compile(r"\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into)\b", re.IGNORECASE)

_READS = frozenset({"select", "with", "values", "table", "from", "pivot", "unpivot"})
_WRITES = frozenset(
    {"insert", "update", "delete", "merge", "replace", "upsert", "create", "drop", "alter", "truncate", "rename"}
    | {"grant", "revoke", "copy", "attach", "detach", "vacuum", "reindex", "call", "exec", "execute", "load", "install"}
)
_LOOKS = frozenset({"show", "describe", "desc", "pragma", "list"})


def role_of(sql: str) -> Role:
    """The role that the text itself tells: a schema look-up, an EXPLAIN, a write, else a query.

    A query that reads catalogue relations only is introspection. `check` is never told by the text: only the adapter
    knows that a tool merely looked at a statement.

    >>> [role_of(sql).value for sql in ("SELECT 1", "PRAGMA table_info(t)", "EXPLAIN SELECT 1", "DELETE FROM t")]
    ['query', 'introspection', 'explain', 'write']
    >>> role_of("SELECT name FROM sqlite_master WHERE type = 'table'").value
    'introspection'
    """
    first = _first_word(sql)
    if first == "explain":
        return Role.EXPLAIN
    if first in _LOOKS:
        return Role.INTROSPECTION
    if first in _READS:
        return _role_of_read(sql, first)
    return Role.WRITE if first in _WRITES else Role.QUERY


def _role_of_read(sql: str, first: str) -> Role:
    bare = _LITERAL.sub("''", sql[:100_000])
    if first == "with" and _WRITING_CTE.search(bare):
        return Role.WRITE
    relations = _FROM.findall(bare)
    if relations and all(_CATALOGUE.search(name) for name in relations):
        return Role.INTROSPECTION
    return Role.QUERY


def _first_word(sql: str) -> str:
    at = 0
    while (noise := _NOISE.match(sql, at)) is not None:
        at = noise.end()
    word = _WORD.match(sql, at)
    return "" if word is None else word.group().lower()
