"""How are many small payloads kept in one file, each once, found by the hash of its content?

A pack is a file of gzip members one after the other (`zcat` reads it whole) and an index beside it with a line
`hash offset length` per member. A member without an index line, or a line beyond the end of the file, is what a
killed process left: it is ignored and overwritten.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlassay.errors import RecordError


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A payload ready to be appended: the hash of its content (32 hex digits of SHA-256) and its gzip member."""

    digest: str
    data: bytes


def make_blob(content: bytes) -> Blob:
    """Hash and compress `content`; equal contents give equal blobs.

    >>> make_blob(b"x" * 1000).digest == make_blob(b"x" * 1000).digest
    True
    """
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    return Blob(digest=digest_of(content), data=compressor.compress(content) + compressor.flush())


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a member lies in its pack."""

    offset: int
    length: int


def read_index(index: Path, pack: Path) -> dict[str, Spot]:
    """Every whole member by digest; none where there is no index yet."""
    if not index.exists():
        return {}
    size = pack.stat().st_size if pack.exists() else 0
    return {digest: spot for digest, spot in _lines(index) if spot.offset + spot.length <= size}


def _lines(index: Path) -> Iterator[tuple[str, Spot]]:
    text = index.read_bytes()
    for line in text[: text.rfind(b"\n") + 1].splitlines():
        parts = line.split()
        if len(parts) == 3 and len(parts[0]) == 32:
            try:
                yield parts[0].decode("ascii"), Spot(offset=int(parts[1]), length=int(parts[2]))
            except ValueError:
                continue


class PackReader:
    """Random access to one pack."""

    def __init__(self, folder: Path, name: str) -> None:
        self._pack = folder / f"{name}.gz"
        self._spots = read_index(folder / f"{name}.index", self._pack)

    def __contains__(self, digest: str) -> bool:
        return digest in self._spots

    def read(self, digest: str) -> bytes:
        """The content under `digest`.

        Raises:
            RecordError: there is none, or what is there has another hash.
        """
        spot = self._spots.get(digest)
        if spot is None:
            raise RecordError(f"{self._pack}: nothing is stored under {digest}")
        try:
            with self._pack.open("rb") as file:
                file.seek(spot.offset)
                content = gzip.decompress(file.read(spot.length))
        except (OSError, EOFError, zlib.error) as error:
            raise RecordError(f"{self._pack}: {digest} cannot be read: {error}") from error
        if digest_of(content) != digest:
            raise RecordError(f"{self._pack}: the content under {digest} is damaged")
        return content
