"""A SQLite file written anew with the rows of every table backwards, and without the indexes that would hide it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import apsw


def copy_backwards(source: Path, target: Path) -> None:
    """Write `target`; what SQLite itself keeps (`sqlite_...`) and virtual tables are left out."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(str(target), flags=flags)
    try:
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        connection.execute("ATTACH ? AS source", (f"file:{quote(str(source))}?mode=ro",))
        found = connection.execute("SELECT type, name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL")
        objects = [(str(row[0]), str(row[1]), str(row[2])) for row in found]
        with connection:
            for kind, name, sql in objects:
                if kind == "table" and not name.startswith("sqlite_") and not _VIRTUAL.match(sql):
                    _reverse(connection, name, sql)
        for kind, _, sql in objects:
            if kind == "view":
                with suppress(apsw.Error):
                    connection.execute(sql)
    finally:
        connection.close()


_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL", re.IGNORECASE)
_COLLATED = re.compile(r"\bCOLLATE\b", re.IGNORECASE)


def _reverse(connection: apsw.Connection, name: str, sql: str) -> None:
    """One table with its rows backwards; a table with a collation of its own keeps its declaration."""
    quoted = '"' + name.replace('"', '""') + '"'
    if _COLLATED.search(sql):
        connection.execute(sql)
        head = f"INSERT INTO main.{quoted} SELECT * FROM source.{quoted}"
    else:
        head = f"CREATE TABLE main.{quoted} AS SELECT * FROM source.{quoted}"
    try:
        connection.execute(f"{head} ORDER BY rowid DESC")
    except apsw.SQLError:
        with suppress(apsw.Error):
            connection.execute(f"{head} ORDER BY 1 DESC")
