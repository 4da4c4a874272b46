"""Where in a file does the line of each trial stand? Read through once, then one line at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from sqlassay.errors import RecordError
from sqlassay.records.run import TrialKey


class TrialLines:
    """The whole lines of a file that has one line per trial.

    Going through them notes where each stands, so that the line of one trial can be read again without keeping all
    of them. The newest line of a trial counts.
    """

    def __init__(self, path: Path, key_of: Callable[[bytes], TrialKey]) -> None:
        self.path = path
        self._key_of = key_of
        self._places: dict[TrialKey, int] = {}
        self._read: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[tuple[TrialKey, bytes]]:
        """Every line with its trial; a last line without its newline is what a kill left, and no line."""
        place = 0
        stamp = self._stamp()
        if stamp is None:
            return
        with self.path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n") and line != b"\n":
                    key = self._key_of(line)
                    self._places[key] = place
                    yield key, line
                place += len(line)
        self._read = stamp

    def of(self, key: TrialKey) -> bytes | None:
        """The line of one trial, also where the file grew or was replaced since; None where it has none."""
        found = self._at(key)
        if found is None and self._read != self._stamp():
            self._places.clear()
            for _ in self:
                """Only the places are wanted."""
            found = self._at(key)
        return found

    def _at(self, key: TrialKey) -> bytes | None:
        place = self._places.get(key)
        if place is None or not self.path.exists():
            return None
        with self.path.open("rb") as file:
            file.seek(place)
            line = file.readline()
        try:
            return line if line.endswith(b"\n") and self._key_of(line) == key else None
        except (RecordError, KeyError):
            return None

    def _stamp(self) -> tuple[int, int] | None:
        stat = self.path.stat() if self.path.exists() else None
        return None if stat is None else (stat.st_size, stat.st_mtime_ns)
