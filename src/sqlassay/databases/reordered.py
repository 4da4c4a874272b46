"""The same data with its rows in another order: does a query depend on how rows lie on disk?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from sqlassay.databases.addresses import file_path
from sqlassay.databases.base import Database
from sqlassay.databases.connect import connect

LARGEST = 64 * 1024 * 1024
"""Bytes of a database file above which no copy is made."""

_COPYING = {"sqlite": "sqlassay.databases.sqlite_reversed", "duckdb": "sqlassay.databases.duckdb_reversed"}


@contextmanager
def reordered(url: str, *, name: str) -> Iterator[Database | None]:
    """A throw-away copy with the rows of every table in the reverse order.

    None where there is no such copy: only SQLite and DuckDB files up to `LARGEST` are copied.

    Raises:
        MissingExtra: the engine's driver is not installed.
        DatabaseUnavailable: the database cannot be opened.
    """
    scheme = url.partition("://")[0].partition("+")[0].lower()
    source = file_path(url, name=name) if scheme in _COPYING else None
    if source is None or source.stat().st_size > LARGEST:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="sqlassay-") as folder:
        copy = Path(folder) / "reordered.db"
        import_module(_COPYING[scheme]).copy_backwards(source.absolute(), copy)
        opened = connect(f"{scheme}:///{copy}", name=name)
        try:
            yield opened
        finally:
            opened.close()
