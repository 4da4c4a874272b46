"""A run is a folder: how it is begun, added to by one process at a time, continued after a kill, and read for ever.

manifest.json   what was run with what, and its state
cases.jsonl     the cases as they were loaded
asked.jsonl     a line when a question goes out (not synced): what was in flight when a run was killed
turns.jsonl     a line per answered question
scores.jsonl    a line per scored question
raw/            the agents' payloads as they came
results/        both sides of every case
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlassay.archive.journal import Journal, Line, Payload, Write
from sqlassay.archive.lines import TrialLines
from sqlassay.archive.lock import FolderLock
from sqlassay.archive.pack import Blob, PackReader
from sqlassay.archive.results import Kept, Sides, read_shown, read_sides
from sqlassay.errors import ArchiveError, RecordError
from sqlassay.records.case import Case
from sqlassay.records.measurement import Measurement
from sqlassay.records.plain import to_plain
from sqlassay.records.relation import Relation, Schema
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.strict import from_plain
from sqlassay.records.turn import Turn
from sqlassay.records.wire import read_case, read_line, read_manifest, read_measurement, read_turn, write_line

MANIFEST = "manifest.json"
CASES = "cases.jsonl"
ASKED = "asked.jsonl"
TURNS = "turns.jsonl"
SCORES = "scores.jsonl"
SIDES = "results/sides.jsonl"
ROWS = "results/rows"
RAW = "raw/payloads"
SUMMARY = "summary.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


class RunWriter:
    """The one process that adds to a run. Use as a context manager; leaving it writes what is queued."""

    def __init__(self, path: Path, lock: FolderLock, manifest: Manifest) -> None:
        self.path = path
        self._lock = lock
        self._manifest = manifest
        self._journal = Journal(path)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def failure(self) -> ArchiveError | None:
        """Why the disk refused, once it has."""
        return self._journal.failure

    def write_cases(self, cases: Iterable[Case]) -> None:
        """Keep the cases as loaded, so that the run can be scored again whatever becomes of their files."""
        _write_whole(self.path / CASES, "".join(write_line(case) + "\n" for case in cases))

    def write_schemas(self, schemas: Mapping[str, Schema]) -> None:
        """Keep each database's schema, by configured name."""
        plain = {name: to_plain(schema) for name, schema in schemas.items()}
        (self.path / "results").mkdir(exist_ok=True)
        _write_whole(self.path / "results" / "schemas.json", json.dumps(plain, ensure_ascii=False) + "\n")

    def mark_asked(self, key: TrialKey) -> None:
        """Note that a question goes out now; when this returns, no kill can undo the note."""
        self._journal.note(ASKED, _ascii(to_plain(key)))

    def add_turn(self, turn: Turn, *, raw: Blob | None = None) -> Future[None]:
        """Queue a turn and its raw payload; the future resolves when both are on disk."""
        writes: list[Write] = [] if raw is None else [Payload(name=RAW, blob=raw)]
        writes.append(Line(name=TURNS, data=write_line(turn).encode("utf-8")))
        return self._journal.submit(writes)

    def add_score(self, line: bytes, kept: Kept | None) -> Future[None]:
        """Queue a score line with both sides; the future resolves when all of it is on disk."""
        writes: list[Write] = []
        if kept is not None:
            writes += [Payload(name=ROWS, blob=blob) for blob in kept.blobs]
            writes.append(Line(name=SIDES, data=kept.line))
        writes.append(Line(name=SCORES, data=line))
        return self._journal.submit(writes)

    def add_sides(self, kept: Kept) -> Future[None]:
        """Queue both sides of a trial that was executed again; the newest ones count."""
        writes: list[Write] = [Payload(name=ROWS, blob=blob) for blob in kept.blobs]
        return self._journal.submit([*writes, Line(name=SIDES, data=kept.line.rstrip(b"\n"))])

    def replace_scores(self, lines: Iterable[bytes]) -> None:
        """Put other score lines in place of all that are there, at once; add none while they are made."""
        _write_lines(self.path / SCORES, lines)
        self._journal.close()
        self._journal = Journal(self.path)

    def change(self, manifest: Manifest) -> None:
        """Replace the manifest, at once."""
        self._manifest = manifest
        _write_manifest(self.path, manifest)

    def finish(self, state: RunState, *, ended_at: str, error: str | None = None) -> None:
        """Write what is queued and state how the run ended.

        Raises:
            ArchiveError: the disk refused.
        """
        self._journal.close()
        self.change(replace(self._manifest, state=state, ended_at=ended_at, error=error))

    def close(self) -> None:
        self._journal.close()
        self._lock.release()


class RunFolder:
    """A run on disk, for reading; a run that is still being written can be read as well."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (self.path / MANIFEST).is_file():
            raise ArchiveError(
                f"{self.path}: no run there (it holds no {MANIFEST})",
                hint="`sqlassay list` shows the runs there are",
            )

    @property
    def manifest(self) -> Manifest:
        """Raises RecordError when it cannot be read."""
        try:
            return read_manifest(json.loads((self.path / MANIFEST).read_bytes()))
        except ValueError as error:
            raise RecordError(f"{self.path / MANIFEST}: {error}") from error

    def cases(self) -> Iterator[Case]:
        return (read_case(read_line(line)) for line in self._lines(CASES))

    def turns(self) -> Iterator[Turn]:
        """In the order in which they came back."""
        return (read_turn(read_line(line)) for line in self._lines(TURNS))

    def scores(self) -> Iterator[Measurement]:
        """In the order in which they were made."""
        return (read_measurement(read_line(line)) for line in self._lines(SCORES))

    def turn_lines(self) -> TrialLines:
        """`turns` unread: line by line, and again by trial."""
        return TrialLines(self.path / TURNS, _key_of)

    def score_lines(self) -> TrialLines:
        """`scores` unread: line by line, and again by trial."""
        return TrialLines(self.path / SCORES, _key_of)

    def schemas(self) -> dict[str, Schema]:
        path = self.path / "results" / "schemas.json"
        if not path.exists():
            return {}
        try:
            return {name: from_plain(Schema, plain) for name, plain in json.loads(path.read_bytes()).items()}
        except ValueError as error:
            raise RecordError(f"{path}: {error}") from error

    def sides(self) -> Iterator[Sides]:
        """Both sides of every trial with all their rows, one at a time; the newest where one was executed again."""
        store = PackReader(self.path, ROWS)
        newest = {_key_of(line): number for number, line in enumerate(self._lines(SIDES))}
        for number, line in enumerate(self._lines(SIDES)):
            if newest[_key_of(line)] == number:
                yield read_sides(line, store)

    def sides_of(self, key: TrialKey) -> Sides | None:
        """Both sides of one trial, the newest where it was executed again; None where none were kept."""
        found = None
        for line in self._lines(SIDES):
            if _key_of(line) == key:
                found = line
        return None if found is None else read_sides(found, PackReader(self.path, ROWS))

    def sides_by_key(self) -> Callable[[TrialKey], Sides | None]:
        """`sides_of` for many trials: the lines are read once, rows only when a trial is looked up."""
        lines = self.side_lines()
        store = PackReader(self.path, ROWS)
        return lambda key: read_sides(lines[key], store) if key in lines else None

    def rows_by_key(self) -> Callable[[TrialKey, int], tuple[Relation | None, Relation | None]]:
        """The kept rows of one gold (by its place) and of the candidate, for many trials; see `sides_by_key`."""
        lines = self.side_lines()
        store = PackReader(self.path, ROWS)
        return lambda key, gold: read_shown(lines[key], store, gold=gold) if key in lines else (None, None)

    def result_digests(self) -> dict[TrialKey, tuple[tuple[str | None, ...], str | None]]:
        """By trial: digests of each gold's rows and of the candidate's, whatever their order; None without rows."""
        found = {}
        for line in self._lines(SIDES):
            plain = read_line(line)
            golds = tuple(side["execution"].get("bag") for side in plain["golds"])
            found[_key_of(line)] = golds, plain["candidate"]["execution"].get("bag")
        return found

    def side_lines(self) -> dict[TrialKey, bytes]:
        """The newest line of `results/sides.jsonl` of every trial."""
        return {_key_of(line): line for line in self._lines(SIDES)}

    def turns_in_order_of_scores(self) -> Iterator[Turn]:
        """Each turn once: in the order of the score lines, then those that have none in the order of asking."""
        lines = {_key_of(line): line for line in self._lines(TURNS)}
        for key in dict.fromkeys([_key_of(line) for line in self._lines(SCORES)] + list(lines)):
            if key in lines:
                yield read_turn(read_line(lines[key]))

    def raw(self, turn: Turn) -> bytes | None:
        """The payload from which a turn was read; None where none was kept."""
        if turn.raw_ref is None:
            return None
        return PackReader(self.path, RAW).read(turn.raw_ref.rpartition("#")[2])

    def asked(self) -> set[TrialKey]:
        return self._keys(ASKED)

    def turned(self) -> set[TrialKey]:
        """Questions whose turn is on disk: they are never asked again."""
        return self._keys(TURNS)

    def scored(self) -> set[TrialKey]:
        return self._keys(SCORES)

    def _keys(self, name: str) -> set[TrialKey]:
        return {_key_of(line) for line in self._lines(name)}

    def _lines(self, name: str) -> Iterator[bytes]:
        """Whole lines only: a last line without its newline is what a kill left."""
        path = self.path / name
        if not path.exists():
            return
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n") and line != b"\n":
                    yield line


def raw_ref(blob: Blob) -> str:
    """What a turn's `raw_ref` says: the pack and the hash of the payload's content."""
    return f"{RAW}.gz#{blob.digest}"


def create(runs: Path | str, manifest: Manifest) -> RunWriter:
    """Begin a run in the folder `runs / manifest.run_id`.

    Raises:
        ArchiveError: the name is no file name, a run of that name exists, or the folder cannot be written.
    """
    if not _NAME.match(manifest.run_id):
        raise ArchiveError(
            f"{manifest.run_id!r} is no name for a run", hint="use letters, digits, dots, dashes and underscores"
        )
    path = Path(runs) / manifest.run_id
    if (path / MANIFEST).exists():
        raise ArchiveError(
            f"{path}: a run of this name exists",
            hint="continue it with --resume, or choose another name with --run-id",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArchiveError(f"{path}: the run folder cannot be made ({error.strerror})") from error
    lock = FolderLock(path)
    lock.acquire()
    with ExitStack() as undo:
        undo.callback(lock.release)
        _write_manifest(path, manifest)
        writer = RunWriter(path, lock, manifest)
        undo.pop_all()
    return writer


def reopen(path: Path | str) -> RunWriter:
    """Go on with a run: lock it and drop a half-written last line.

    Raises:
        ArchiveError: no run there, or another process is writing it.
    """
    folder = RunFolder(path)
    lock = FolderLock(folder.path)
    lock.acquire()
    with ExitStack() as undo:
        undo.callback(lock.release)
        writer = RunWriter(folder.path, lock, folder.manifest)
        undo.pop_all()
    return writer


def runs_in(runs: Path | str) -> list[RunFolder]:
    """Every run in a folder, oldest first."""
    found = [RunFolder(path.parent) for path in Path(runs).glob(f"*/{MANIFEST}")]
    return sorted(found, key=lambda run: (run.manifest.started_at, run.path.name))


_KEY = re.compile(rb'\{"case_id": ?("[^"\\\x80-\xff]*"), ?"phrasing": ?(\d{1,9}), ?"repeat": ?(\d{1,9})[,}]')
"""How most lines begin: the key is read without the rest of the line, which may be long."""


def _key_of(line: bytes) -> TrialKey:
    if found := _KEY.match(line):
        return TrialKey(case_id=found[1][1:-1].decode("ascii"), phrasing=int(found[2]), repeat=int(found[3]))
    plain = read_line(line)
    return TrialKey(case_id=plain["case_id"], phrasing=plain.get("phrasing", 0), repeat=plain.get("repeat", 0))


def _ascii(plain: Any) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode("ascii")


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    _write_whole(folder / MANIFEST, json.dumps(to_plain(manifest), indent=2, ensure_ascii=False) + "\n")


def _write_whole(path: Path, text: str) -> None:
    _replace(path, [text.encode("utf-8", "surrogatepass")])


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    _replace(path, (line + b"\n" for line in lines))


def _replace(path: Path, chunks: Iterable[bytes] | Sequence[bytes]) -> None:
    """Write beside, sync, and put in place: readers see the old file or the new one, never a part."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ArchiveError(
            f"{path}: cannot be written ({error.strerror or error})",
            hint="make room or mend the folder; what was there before is untouched",
        ) from error
