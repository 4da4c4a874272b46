"""The same data with its rows met in another order: does a query depend on how rows lie on disk?"""

from __future__ import annotations

from sqlassay.databases.base import Database


def reordered(url: str, *, name: str) -> Database | None:
    """A second, read-only view of the database that scans backwards where no ORDER BY says otherwise.

    None where the engine has no such switch; only SQLite has one.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    if url.partition("://")[0].partition("+")[0].lower() != "sqlite":
        return None
    from sqlassay.databases.sqlite import open_database

    opened = open_database(url, name=name)
    opened._ask("PRAGMA reverse_unordered_selects = ON")
    return opened
