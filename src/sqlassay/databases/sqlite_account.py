"""What does SQLite say that a statement reads, and where does each output column come from?

The authorizer reports every column while the statement is compiled, with the view or common table expression in
which it stands. Column metadata names a base column under each output column; it also does so for the first branch
of a set operation and for a scalar subquery, where a column has no single origin, so these are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlassay.databases.lexer import Token, tokens
from sqlassay.records.execution import Account
from sqlassay.records.relation import Schema

_Event = tuple[str, str, str | None]
Events = list[_Event]
"""(table, column, view or common table expression), one per authorizer call."""

_SET_OPERATIONS = frozenset({"union", "intersect", "except", "values"})
_DOUBTFUL = (*_SET_OPERATIONS, "(select", "(with")
_SPLIT = re.compile(r"\(\s|--|/\*")
_BEFORE_AN_ITEM = frozenset({",", "select", "distinct", "all", "("})


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Lower-case names of the base tables of a schema, and of its views with their text."""

    tables: frozenset[str]
    views: Mapping[str, str]


def relations_of(schema: Schema) -> Relations:
    """The names that an account needs, made once per schema."""
    return Relations(
        tables=frozenset(table.name.lower() for table in schema.tables if not table.is_view),
        views={table.name.lower(): table.view_sql or "" for table in schema.tables if table.is_view},
    )


def account_of(events: Events, relations: Relations, sql: str, description: Sequence[Sequence[Any]]) -> Account:
    """The account in lower-case names, as SQLite folds them."""
    known, views = relations.tables, relations.views
    seen = {
        (table.lower(), column.lower(), None if inside is None else inside.lower()) for table, column, inside in events
    }
    read = {table for table, _, _ in seen}
    base = {table for table in read if table in known or table.startswith("sqlite_")}
    used_views: set[str] = set()
    if views:
        used_views = {name for table, _, inside in seen for name in (table, inside) if name and name in views}
    columns = {f"{table}.{column}" for table, column, _ in seen if column and table in base}
    return Account(
        tables=_sorted(_named(seen, base, used_views, views, sql)),
        base_tables=_sorted(base),
        columns_read=_sorted(columns),
        origins=_origins(seen, base, used_views, sql, description),
        source="sqlite authorizer",
    )


def _sorted(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(sorted(names))


def _named(
    seen: Set[_Event],
    base: set[str],
    used_views: set[str],
    views: Mapping[str, str],
    sql: str,
) -> set[str] | None:
    """Relations as the statement names them; None where views are nested, or named like something else."""
    if not used_views:
        return base
    found = list(tokens(sql, "sqlite"))
    words = {token.text.lower() for token in found if token.kind in ("word", "name")}
    for view in used_views:
        inside = views[view].lower()
        if view not in words or "with" in inside or any(other in inside for other in views if other != view):
            return None
    if _defines_any(found, used_views):
        return None
    under = {table for table, _, inside in seen if inside in used_views}
    direct = {
        table
        for table, column, inside in seen
        if table in base and inside not in used_views and (column or table not in under)
    }
    return used_views | direct


def _defines_any(found: Sequence[Token], names: set[str]) -> bool:
    """Whether a common table expression has one of the names."""
    for token, following in pairwise(found):
        if token.text.lower() in names and following.kind == "word" and following.text == "as":
            return True
        if token.text.lower() in names and following.text == "(":
            return True
    return False


def _origins(
    seen: Set[_Event],
    base: set[str],
    used_views: set[str],
    sql: str,
    description: Sequence[Sequence[Any]],
) -> tuple[str | None, ...] | None:
    """One origin per output column, or None where the metadata does not say what an origin is here."""
    if _may_hold_several(sql.lower()) and not _has_single_origins(tokens(sql, "sqlite")):
        return None
    under_views = {table for table, _, inside in seen if inside is not None} if used_views else set()
    origins: list[str | None] = []
    for _name, _declared, _database, table, column in description:
        name = (table or "").lower()
        if name in under_views:
            return None
        origins.append(f"{name}.{column.lower()}" if name in base else None)
    return tuple(origins)


def _may_hold_several(lowered: str) -> bool:
    """False where it is plain that the text has neither a set operation nor a scalar subquery."""
    return any(word in lowered for word in _DOUBTFUL) or _SPLIT.search(lowered) is not None


def _has_single_origins(found: Iterable[Token]) -> bool:
    before = ""
    previous = ""
    for token in found:
        if token.kind == "word":
            if token.text in _SET_OPERATIONS:
                return False
            if token.text in ("select", "with") and previous == "(" and before in _BEFORE_AN_ITEM:
                return False
        before, previous = previous, token.text if token.kind in ("word", "punct") else ""
    return True
