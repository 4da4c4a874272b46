"""Which tables, views, columns and keys does a SQLite database have?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

from sqlassay.databases.view_text import select_of
from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.relation import ForeignKey, Row, Schema, TableSchema

Ask = Callable[[str], list[Row]]


def read_schema(ask: Ask) -> Schema:
    """Everything in the main database but SQLite's own tables and the shadow tables of virtual ones."""
    shadow = {name for _, name, kind, *_ in ask("PRAGMA main.table_list") if kind == "shadow"}
    listed = [
        (kind, name, sql)
        for kind, name, sql in ask(
            "SELECT type, name, sql FROM main.sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid"
        )
        if not name.lower().startswith("sqlite_") and name not in shadow
    ]
    columns = _columns(ask, [name for kind, name, _ in listed if kind == "table"])
    keys = _foreign_keys(ask)
    primary = {name: tuple(column for column, _, place in _by_key(rows) if place) for name, rows in columns.items()}
    tables = []
    for kind, name, sql in listed:
        rows = columns.get(name) or _columns_of(ask, name)
        tables.append(
            TableSchema(
                name=name,
                columns=tuple(column for column, _, _ in rows),
                types=tuple(declared for _, declared, _ in rows),
                primary_key=primary.get(name, ()),
                foreign_keys=tuple(
                    ForeignKey(columns=own, to_table=target, to_columns=theirs or primary.get(target, ()))
                    for own, target, theirs in keys.get(name, ())
                ),
                is_view=kind == "view",
                view_sql=select_of(sql, "sqlite") if kind == "view" else None,
            )
        )
    collated = any(_COLLATED.search(sql or "") for _, _, sql in listed)
    return Schema(dialect="sqlite", tables=tuple(tables), default_schema="main", collated=collated)


_COLLATED = re.compile(r"\bCOLLATE\b(?!\s+BINARY\b)", re.IGNORECASE)


_Columns = list[tuple[str, str, int]]


def _by_key(rows: _Columns) -> _Columns:
    return sorted(rows, key=lambda row: row[2])


def _columns(ask: Ask, names: list[str]) -> dict[str, _Columns]:
    found: dict[str, _Columns] = defaultdict(list)
    try:
        for table, name, declared, place in ask(
            "SELECT m.name, p.name, p.type, p.pk FROM main.sqlite_schema m, pragma_table_xinfo(m.name, 'main') p "
            "WHERE m.type = 'table' AND p.hidden <> 1 ORDER BY m.rowid, p.cid"
        ):
            found[table].append((name, declared, place))
    except DatabaseUnavailable:
        for table in names:
            found[table] = _columns_of(ask, table)
    return found


def _columns_of(ask: Ask, name: str) -> _Columns:
    """The columns of one relation; none where SQLite itself cannot tell (a view over a dropped table)."""
    quoted = name.replace('"', '""')
    try:
        return [(row[1], row[2], row[5]) for row in ask(f'PRAGMA main.table_xinfo("{quoted}")') if row[6] != 1]
    except DatabaseUnavailable:
        return []


def _foreign_keys(ask: Ask) -> dict[str, list[tuple[tuple[str, ...], str, tuple[str, ...]]]]:
    try:
        rows = ask(
            'SELECT m.name, f.id, f."table", f."from", f."to" '
            "FROM main.sqlite_schema m, pragma_foreign_key_list(m.name, 'main') f "
            "WHERE m.type = 'table' ORDER BY m.rowid, f.id, f.seq"
        )
    except DatabaseUnavailable:
        return {}
    grouped: dict[tuple[str, int, str], list[tuple[str, str | None]]] = defaultdict(list)
    for table, number, target, own, theirs in rows:
        grouped[table, number, target].append((own, theirs))
    found: dict[str, list[tuple[tuple[str, ...], str, tuple[str, ...]]]] = defaultdict(list)
    for (table, _, target), pairs in grouped.items():
        named = tuple(theirs for _, theirs in pairs if theirs is not None)
        found[table].append((tuple(own for own, _ in pairs), target, named if len(named) == len(pairs) else ()))
    return found
