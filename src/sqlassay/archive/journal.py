"""How do lines reach the disk whole, each synced when its case ends, without a sync per line?

One thread writes. Everything that is waiting when it comes round is written and synced together (group commit), so
that a single slow case is on disk at once and a fast run pays one sync for many cases. Within one entry payloads go
before the lines that point at them. A note is written by its caller at once and never synced: it tells of a kill, not
of a power cut. When the disk refuses (full, gone), files are cut back to their last whole
entry and every later entry fails: nothing is torn, and nothing is written after a gap.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from sqlassay.archive.pack import Blob, read_index
from sqlassay.errors import ArchiveError, DiskRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line (without its newline) for the file `name` of the run folder."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A blob for the pack `name` ("raw/payloads", "results/rows"); written only when its content is new."""

    name: str
    blob: Blob


Write = Line | Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    writes: Sequence[Write]
    done: Future[None]


class _Appender:
    """One append-only file; `size` is where its last whole entry ends."""

    def __init__(self, path: Path, *, torn_lines: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        self.size = os.fstat(self._fd).st_size
        if torn_lines:
            self.size = _end_of_last_line(self._fd, self.size)
            os.ftruncate(self._fd, self.size)
        self.written = self.size
        self.pending: list[bytes] = []
        self.planned = self.size

    def plan(self, data: bytes) -> int:
        """Put `data` aside for the next flush; return the offset at which it will lie."""
        at = self.planned
        self.pending.append(data)
        self.planned += len(data)
        return at

    def flush(self) -> None:
        view = memoryview(b"".join(self.pending))
        self.pending.clear()
        os.lseek(self._fd, self.written, os.SEEK_SET)
        while view:
            count = os.write(self._fd, view)
            self.written += count
            view = view[count:]

    def sync(self) -> None:
        getattr(os, "fdatasync", os.fsync)(self._fd)

    def accept(self) -> None:
        self.size = self.written

    def cut_back(self) -> None:
        os.ftruncate(self._fd, self.size)
        self.written = self.planned = self.size
        self.pending.clear()

    def close(self) -> None:
        os.close(self._fd)


def _end_of_last_line(fd: int, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - 65536)
        os.lseek(fd, start, os.SEEK_SET)
        chunk = os.read(fd, end - start)
        newline = chunk.rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


class Journal:
    """The only writer of a run folder's lines and packs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, _Appender] = {}
        self._notes: dict[str, _Appender] = {}
        self._known: dict[str, set[str]] = {}
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._failure: ArchiveError | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="sqlassay-journal", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> ArchiveError | None:
        """Why the disk refused, once it has."""
        return self._failure

    def note(self, name: str, data: bytes) -> None:
        """Hand one line (without its newline) to the system before returning; `name` holds nothing but notes.

        Every call comes from the same thread. A disk that refuses is told by `failure`.
        """
        try:
            if name not in self._notes:
                self._notes[name] = _Appender(self._folder / name, torn_lines=True)
            self._notes[name].plan(data + b"\n")
            self._notes[name].flush()
            self._notes[name].accept()
        except OSError as error:
            self._failure = self._refusal(error)
            self._cut_back(self._notes)

    def submit(self, writes: Sequence[Write]) -> Future[None]:
        """Queue one entry; the future resolves when all of it is on disk.

        The future fails with DiskRefused when the disk does.
        """
        done: Future[None] = Future()
        if self._closed:
            done.set_exception(ArchiveError(f"{self._folder}: the run folder is closed"))
            return done
        self._queue.put(_Entry(writes=writes, done=done))
        return done

    def close(self) -> None:
        """Write what is queued, then let go of the files."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()
            for notes in self._notes.values():
                notes.close()

    def _work(self) -> None:
        open_ = True
        while open_:
            first = self._queue.get()
            batch: list[_Entry] = []
            entry: _Entry | None = first
            while True:
                if entry is None:
                    open_ = False
                    break
                batch.append(entry)
                try:
                    entry = self._queue.get_nowait()
                except queue.Empty:
                    break
            if batch:
                self._commit(batch)
        for appender in self._files.values():
            appender.close()

    def _commit(self, batch: list[_Entry]) -> None:
        failure = self._failure
        if failure is None:
            try:
                self._write(batch)
            except OSError as error:
                failure = self._failure = self._refusal(error)
                self._cut_back(self._files)
        for entry in batch:
            if failure is None:
                entry.done.set_result(None)
            else:
                entry.done.set_exception(failure)

    def _refusal(self, error: OSError) -> DiskRefused:
        return DiskRefused(
            f"{self._folder}: the run folder cannot be written ({error.strerror or error})",
            hint="make room or mend the folder, then continue with --resume; no finished case is lost",
        )

    @staticmethod
    def _cut_back(files: Mapping[str, _Appender]) -> None:
        for appender in files.values():
            try:
                appender.cut_back()
            except OSError:
                continue

    def _write(self, batch: list[_Entry]) -> None:
        packs: dict[str, _Appender] = {}
        lines: dict[str, _Appender] = {}
        for entry in batch:
            for write in entry.writes:
                match write:
                    case Line(name=name, data=data):
                        lines[name] = self._appender(name, torn_lines=True)
                        lines[name].plan(data + b"\n")
                    case Payload(name=name, blob=blob):
                        self._plan_blob(name, blob, packs)
        for group in (packs, lines):
            for appender in group.values():
                appender.flush()
            for appender in group.values():
                appender.sync()
        for appender in (*packs.values(), *lines.values()):
            appender.accept()

    def _plan_blob(self, name: str, blob: Blob, touched: dict[str, _Appender]) -> None:
        pack, index = f"{name}.gz", f"{name}.index"
        if name not in self._known:
            spots = read_index(self._folder / index, self._folder / pack)
            self._known[name] = set(spots)
        touched[pack] = self._appender(pack, torn_lines=False)
        touched[index] = self._appender(index, torn_lines=True)
        if blob.digest not in self._known[name]:
            at = touched[pack].plan(blob.data)
            touched[index].plan(f"{blob.digest} {at} {len(blob.data)}\n".encode("ascii"))
            self._known[name].add(blob.digest)

    def _appender(self, name: str, *, torn_lines: bool) -> _Appender:
        if name not in self._files:
            self._files[name] = _Appender(self._folder / name, torn_lines=torn_lines)
        return self._files[name]
