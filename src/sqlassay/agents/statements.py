"""What was a statement for: data, a look at the schema, a plan, or a write? Decided by its words, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlassay.records.turn import Role

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)          # comments
      | '[^']*(?:''[^']*)*(?:'|\Z)         # text
      | "[^"]*(?:""[^"]*)*(?:"|\Z) | `[^`]*(?:`|\Z) | \[[A-Za-z_][^\]\n]*\]   # quoted names
      | [A-Za-z_][\w$]* | [(),;.] | [^\s]""",
    re.VERBOSE | re.DOTALL,
)

_WRITES = frozenset(
    [
        "insert",
        "update",
        "delete",
        "merge",
        "replace",
        "create",
        "drop",
        "alter",
        "truncate",
        "grant",
        "revoke",
        "copy",
        "vacuum",
        "reindex",
        "analyze",
        "attach",
        "detach",
        "load",
        "install",
        "import",
        "export",
        "call",
        "exec",
        "execute",
        "rename",
        "comment",
        "upsert",
        "lock",
        "begin",
        "commit",
        "rollback",
        "set",
        "use",
    ]
)
_LOOKS = frozenset(["show", "describe", "desc", "pragma"])
_READS = frozenset(["select", "with", "values", "from", "table", "pivot", "unpivot", "summarize"])
_CATALOGUES = frozenset(
    [
        "sqlite_master",
        "sqlite_schema",
        "sqlite_temp_master",
        "sqlite_temp_schema",
        "sqlite_sequence",
        "dba_tables",
        "all_tables",
        "user_tables",
        "all_tab_columns",
        "user_tab_columns",
        "dba_tab_columns",
        "all_tab_cols",
        "all_objects",
        "user_objects",
        "all_constraints",
        "all_cons_columns",
        "user_constraints",
        "user_cons_columns",
        "all_views",
        "user_views",
        "pg_tables",
        "pg_class",
        "pg_attribute",
        "pg_views",
        "pg_namespace",
        "pg_constraint",
        "pg_indexes",
        "pg_index",
        "pg_type",
        "pg_description",
        "pg_stats",
        "pg_stat_user_tables",
        "pg_matviews",
        "duckdb_tables",
        "duckdb_columns",
        "duckdb_views",
        "duckdb_schemas",
        "duckdb_constraints",
        "svv_tables",
        "svv_columns",
        "pg_table_def",
        "show_tables",
        "columns_priv",
    ]
)
_CATALOGUE_SCHEMAS = frozenset(
    ["information_schema", "pg_catalog", "sys", "mysql", "performance_schema", "account_usage"]
)
_AFTER_RELATION = frozenset(
    [
        "where",
        "group",
        "order",
        "having",
        "limit",
        "union",
        "intersect",
        "except",
        "on",
        "using",
        "window",
        "qualify",
        "fetch",
        "offset",
        "for",
        "returning",
        "set",
        "natural",
        "left",
        "right",
        "full",
        "inner",
        "cross",
        "join",
        "lateral",
        "minus",
    ]
)
_MODIFIES = frozenset(["insert", "update", "delete", "merge"])
_LIMIT = 200_000
"""Characters that are looked at; the kind of a longer statement is decided by its beginning."""


def tokens(sql: str) -> Iterator[str]:
    """The tokens of a statement, comments left out, words in lower case, quoted names and text as they stand."""
    for match in _TOKEN.finditer(sql[:_LIMIT]):
        token = match.group()
        if not token.startswith(("--", "/*")):
            yield token.lower() if token[0].isalpha() or token[0] == "_" else token


def role_of(sql: str) -> Role:
    """What a statement sent through a query tool was for (specification section 3).

    The words decide; where the statement is a read, all of its relations must be catalogues for it to be a look
    at the schema. Text that is no SQL at all has role `query`: that is what it was sent as.

    >>> [role_of(s).value for s in ("SELECT 1", "PRAGMA table_info(t)", "EXPLAIN SELECT 1", "DELETE FROM t")]
    ['query', 'introspection', 'explain', 'write']
    >>> role_of("SELECT sql FROM sqlite_master").value, role_of("WITH d AS (DELETE FROM t) SELECT 1").value
    ('introspection', 'write')
    """
    words = list(tokens(sql))
    roles = [_one(part) for part in _parts(words)]
    for role in (Role.WRITE, Role.QUERY, Role.EXPLAIN, Role.INTROSPECTION):
        if role in roles:
            return role
    return Role.QUERY


def looks_like_sql(text: Any) -> bool:
    """Whether a text begins like a statement: a keyword followed by what such a keyword needs.

    >>> looks_like_sql("SELECT 1"), looks_like_sql("Select a country, please"), looks_like_sql("show me all")
    (True, True, False)
    """
    if not isinstance(text, str):
        return False
    words = []
    for token in tokens(text[:2000]):
        words.append(token)
        if len(words) > 400:
            break
    while words and words[0] in ("(", ";"):
        words.pop(0)
    if len(words) < 2:
        return False
    first = words[0]
    if first == "select":
        return True
    if first == "with":
        return "select" in words
    if first in ("insert", "delete", "replace", "merge"):
        return words[1] in ("into", "from", "or")
    if first == "update":
        return "set" in words
    if first in ("create", "drop", "alter"):
        return any(word in words[1:5] for word in ("table", "view", "index", "schema", "database", "trigger"))
    if first == "explain":
        return any(word in words for word in ("select", "with", "insert", "update", "delete"))
    return first == "pragma"


def _parts(words: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == ";":
            if part:
                yield part
            part = []
        else:
            part.append(word)
    if part:
        yield part


def _one(words: list[str]) -> Role | None:
    start = 0
    while start < len(words) and words[start] == "(":
        start += 1
    if start == len(words):
        return None
    first = words[start]
    if first == "explain":
        return Role.EXPLAIN
    if first in _LOOKS:
        return Role.INTROSPECTION
    if first in _WRITES:
        return Role.WRITE
    if first not in _READS:
        return Role.QUERY
    if _writes_inside(words, start):
        return Role.WRITE
    relations = _relations(words)
    if relations and all(_is_catalogue(relation) for relation in relations):
        return Role.INTROSPECTION
    return Role.QUERY


def _writes_inside(words: list[str], start: int) -> bool:
    """A CTE that writes, the main statement of a WITH that writes, or SELECT ... INTO."""
    if words[start] == "with":
        return any(word in _MODIFIES and at and words[at - 1] in ("(", ")") for at, word in enumerate(words))
    if words[start] == "select":
        depth = 0
        for at in range(start + 1, len(words)):
            word = words[at]
            depth += (word == "(") - (word == ")")
            if depth == 0 and word == "into":
                return True
            if depth == 0 and word == "from":
                return False
    return False


def _relations(words: list[str]) -> list[tuple[str, ...]]:
    """The relations after FROM, JOIN and commas of a FROM list, as dotted names; CTE names left out."""
    ctes = {
        _bare(words[at])
        for at in range(len(words) - 2)
        if words[at + 1] == "as" and words[at + 2] in ("(", "materialized")
    }
    found: list[tuple[str, ...]] = []
    in_from: list[bool] = [False]
    expect = False
    at = 0
    while at < len(words):
        word = words[at]
        if word == "(":
            in_from.append(False)
            expect = False
        elif word == ")":
            if len(in_from) > 1:
                in_from.pop()
            expect = False
        elif word in ("from", "join"):
            in_from[-1] = True
            expect = True
            if at + 1 < len(words) and words[at + 1] in ("lateral", "only"):
                at += 1
        elif word == "," and in_from[-1]:
            expect = True
        elif word in _AFTER_RELATION:
            if word not in ("left", "right", "full", "inner", "cross", "natural", "on", "using", "lateral"):
                in_from[-1] = False
            expect = False
        elif expect and _is_name(word):
            name, at = _dotted(words, at)
            if len(name) > 1 or name[0] not in ctes:
                found.append(name)
            expect = False
            continue
        at += 1
    return found


def _dotted(words: list[str], at: int) -> tuple[tuple[str, ...], int]:
    parts = [_bare(words[at])]
    at += 1
    while at + 1 < len(words) and words[at] == "." and _is_name(words[at + 1]):
        parts.append(_bare(words[at + 1]))
        at += 2
    return tuple(parts), at


def _is_name(word: str) -> bool:
    return word[0] in '"`[_' or word[0].isalpha()


def _bare(word: str) -> str:
    return word.strip('"`[]').lower()


def _is_catalogue(name: tuple[str, ...]) -> bool:
    last = name[-1]
    return (
        last in _CATALOGUES
        or last.startswith(("pragma_", "pg_get_", "duckdb_"))
        or any(part in _CATALOGUE_SCHEMAS for part in name[:-1])
    )
