"""How is a schema, or a database file, told from another one cheaply?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.relation import Schema

_HEADER_BYTES = 4096


def digest(parts: Iterable[object]) -> str:
    """A short hexadecimal digest of the parts' representations."""
    state = hashlib.sha256()
    for part in parts:
        state.update(repr(part).encode("utf-8", "surrogatepass"))
        state.update(b"\0")
    return state.hexdigest()[:32]


def fingerprinted(schema: Schema) -> Schema:
    """The schema with the digest of its own content."""
    return replace(schema, fingerprint=digest((schema.dialect, schema.default_schema, schema.collated, *schema.tables)))


def file_digest(path: Path) -> str:
    """A digest of size, time of last change and first page of a file and of its write-ahead log."""
    parts: list[object] = []
    for each in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + ".wal")):
        try:
            status = each.stat()
            with each.open("rb") as file:
                parts.append((status.st_size, status.st_mtime_ns, file.read(_HEADER_BYTES)))
        except OSError:
            parts.append(None)
    return digest(parts)


FileIdentity = tuple[int, int, int, int]


def file_identity(path: Path, *, name: str) -> FileIdentity:
    """Device, inode, size and time of last change: another value means that something else lies at this path.

    Raises:
        DatabaseUnavailable: nothing lies there; `name` is the database's, for the message.
    """
    try:
        status = path.stat()
    except OSError:
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} is gone") from None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
