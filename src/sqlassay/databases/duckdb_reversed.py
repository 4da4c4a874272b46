"""A DuckDB file written anew with the rows of every table backwards."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import duckdb


def copy_backwards(source: Path, target: Path) -> None:
    """Write `target` from a copy of the file, since one process cannot open a file twice in two ways."""
    whole = target.with_suffix(".whole")
    shutil.copyfile(source, whole)
    log = source.with_name(source.name + ".wal")
    if log.exists():
        shutil.copyfile(log, whole.with_name(whole.name + ".wal"))
    connection = duckdb.connect(str(target))
    try:
        connection.execute(f"ATTACH {_literal(str(whole))} AS source")
        tables = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' AND NOT internal"
        ).fetchall()
        for schema, name in tables:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
            place = f"{_quoted(schema)}.{_quoted(name)}"
            connection.execute(f"CREATE TABLE {place} AS SELECT * FROM source.{place} ORDER BY rowid DESC")
        views = connection.execute(
            "SELECT sql FROM duckdb_views() WHERE database_name = 'source' AND NOT internal ORDER BY view_oid"
        ).fetchall()
        for (sql,) in views:
            with suppress(duckdb.Error):
                connection.execute(sql)
    finally:
        connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
