"""Which tables, views, columns and keys does a DuckDB file have?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from sqlassay.databases.view_text import select_of
from sqlassay.records.relation import ForeignKey, Schema, TableSchema

Ask = Callable[[str], list[tuple[Any, ...]]]

_HERE = "database_name = current_database() AND NOT internal"


def read_schema(ask: Ask) -> Schema:
    """Everything in the file; names outside schema `main` are dotted."""
    columns: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for schema, table, column, declared in ask(
        f"SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE {_HERE} "
        "ORDER BY schema_name, table_name, column_index"
    ):
        columns[schema, table].append((column, declared))
    primary: dict[tuple[str, str], tuple[str, ...]] = {}
    foreign: dict[tuple[str, str], list[ForeignKey]] = defaultdict(list)
    for schema, table, kind, own, target, theirs in ask(
        "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, "
        "referenced_column_names FROM duckdb_constraints() WHERE database_name = current_database() "
        "AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY ALL"
    ):
        if kind == "PRIMARY KEY":
            primary[schema, table] = tuple(own)
        else:
            foreign[schema, table].append(ForeignKey(columns=tuple(own), to_table=target, to_columns=tuple(theirs)))
    views = {
        (schema, name): sql
        for schema, name, sql in ask(f"SELECT schema_name, view_name, sql FROM duckdb_views() WHERE {_HERE}")
    }
    tables = tuple(
        TableSchema(
            name=table if schema == "main" else f"{schema}.{table}",
            columns=tuple(name for name, _ in described),
            types=tuple(declared for _, declared in described),
            primary_key=primary.get((schema, table), ()),
            foreign_keys=tuple(foreign.get((schema, table), ())),
            is_view=(schema, table) in views,
            view_sql=select_of(views.get((schema, table)), "duckdb"),
        )
        for (schema, table), described in columns.items()
    )
    made = f"SELECT COUNT(*) FROM duckdb_tables() WHERE {_HERE} AND sql ILIKE '% COLLATE %'"
    return Schema(dialect="duckdb", tables=tables, default_schema="main", collated=ask(made)[0][0] > 0)
