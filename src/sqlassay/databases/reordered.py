"""The same data with its rows in another order: does a query depend on how rows lie on disk?"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlassay.databases.addresses import file_path
from sqlassay.databases.base import Database

LARGEST = 64 * 1024 * 1024
"""Bytes of a database file above which no copy is made."""


@contextmanager
def reordered(url: str, *, name: str) -> Iterator[Database | None]:
    """A throw-away copy with the rows of every table in the reverse order and no index that would hide it.

    None where there is no such copy: only SQLite files up to `LARGEST` are copied.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    if url.partition("://")[0].partition("+")[0].lower() != "sqlite":
        yield None
        return
    source = file_path(url, name=name)
    if source.stat().st_size > LARGEST:
        yield None
        return
    from sqlassay.databases.sqlite import open_database

    with tempfile.TemporaryDirectory(prefix="sqlassay-") as folder:
        copy = Path(folder) / "reordered.db"
        _copy(source.absolute(), copy)
        opened = open_database(f"sqlite:///{copy}", name=name)
        try:
            yield opened
        finally:
            opened.close()


def _copy(source: Path, target: Path) -> None:
    import apsw

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


def _reverse(connection: object, name: str, sql: str) -> None:
    """One table with its rows backwards; a table with a collation of its own keeps its declaration."""
    import apsw

    assert isinstance(connection, apsw.Connection)
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
