"""What comes out of reading another project's files: cases, databases, predictions, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlassay.datasets import delimited
from sqlassay.datasets.marked import Malformed, decode, json_items, json_lines
from sqlassay.errors import DatasetError
from sqlassay.records.case import Case
from sqlassay.records.strict import unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One system's answer to one case; an empty `sql` is an answer without a query."""

    id: str
    sql: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import found. `databases` maps the names that cases use to URLs; `notices` are counted, in words."""

    cases: tuple[Case, ...] = ()
    databases: Mapping[str, str] = field(default_factory=dict)
    predictions: tuple[Prediction, ...] = ()
    notices: tuple[str, ...] = ()
    exact_as: tuple[str, ...] = ()
    """The project's own rule, to report beside ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of a file, with its line where the format tells."""

    file: str
    line: int | None
    fields: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """The first of these fields that is there, as text.

        Raises:
            DatasetError: none is there, or it is no text; near names are suggested.
        """
        found = self.optional(*names)
        if found is not None:
            return found
        message, hint = unknown("column", names[0], [str(name) for name in self.fields])
        _, semicolon, suggestion = message.partition(";")
        raise self.wrong(f"no {' or '.join(map(repr, names))}{semicolon}{suggestion}", hint=hint)

    def optional(self, *names: str) -> str | None:
        """The first of these fields that is there and not empty, None when there is none."""
        for name in names:
            value = self.fields.get(name)
            if value is None or value == "":
                continue
            if isinstance(value, (dict, list, bool)):
                raise self.wrong(f"{name}: should be text, is {type(value).__name__}")
            return str(value)
        return None

    def wrong(self, message: str, *, hint: str | None = None) -> DatasetError:
        return DatasetError(message, file=self.file, line=self.line, hint=hint)


_ROW_READERS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


def rows_of(file: str | os.PathLike[str], *, under: str = "cases") -> Iterator[Row]:
    """The records of a JSONL, JSON, CSV or TSV file.

    Raises:
        DatasetError: the file is missing, of another kind, or malformed.
    """
    shown = os.fspath(file)
    suffix = Path(file).suffix.lower()
    try:
        text = decode(Path(file).read_bytes())
        if suffix in (".jsonl", ".ndjson", ".json"):
            for marked in json_lines(text) if suffix != ".json" else json_items(text, under=under):
                if not isinstance(marked.value, dict):
                    raise Malformed(f"should be a mapping, is {type(marked.value).__name__}", line=marked.line())
                yield Row(file=shown, line=marked.line(), fields=marked.value)
        elif suffix in (".csv", ".tsv"):
            for line, cells in delimited.rows(text, delimiter="\t" if suffix == ".tsv" else ","):
                yield Row(file=shown, line=line, fields=cells)
        else:
            raise DatasetError(
                f"unknown kind of file {suffix!r}", file=shown, hint="read from " + ", ".join(_ROW_READERS)
            )
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", file=shown) from None
    except Malformed as error:
        raise DatasetError(error.message, file=shown, line=error.line, hint=error.hint) from None


def lines_of(file: str | os.PathLike[str]) -> list[str]:
    """The lines of a text file, the empty one after the last line end left out.

    Raises:
        DatasetError: it cannot be read.
    """
    try:
        text = decode(Path(file).read_bytes())
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", file=os.fspath(file)) from None
    except Malformed as error:
        raise DatasetError(error.message, file=os.fspath(file), line=error.line, hint=error.hint) from None
    return text.removesuffix("\n").split("\n")


_FOLDERS = ("database", "databases", "dev_databases", "test_database", "train_databases", "")
_SUFFIXES = (".sqlite", ".db", ".sqlite3", ".duckdb")


def find_databases(names: Iterable[str], *, root: Path, given: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """A URL for each database name, and the names that have none.

    `given` is a folder, or a URL with `{db}` in it; without it the usual folders beside the cases are searched for
    `<db>/<db>.sqlite` and `<db>.sqlite`.
    """
    found: dict[str, str] = {}
    missing: list[str] = []
    folders = [root / folder for folder in _FOLDERS] if given is None else [Path(given)]
    for name in sorted(set(names)):
        if given is not None and "://" in given:
            found[name] = given.replace("{db}", name)
            continue
        candidates = (
            folder / inner / f"{name}{suffix}" for folder in folders for inner in (name, "") for suffix in _SUFFIXES
        )
        file = next((candidate for candidate in candidates if candidate.is_file()), None)
        if file is None:
            missing.append(name)
        else:
            engine = "duckdb" if file.suffix == ".duckdb" else "sqlite"
            found[name] = f"{engine}:///{file.resolve()}"
    return found, tuple(missing)


def one_file(source: Path, *names: str) -> Path:
    """`source` itself when it is a file, else the first of `names` in that folder.

    Raises:
        DatasetError: there is none.
    """
    if source.is_file():
        return source
    if not source.is_dir():
        raise DatasetError("no such file or folder", file=str(source))
    for name in names:
        if (source / name).is_file():
            return source / name
    raise DatasetError("holds none of " + ", ".join(names), file=str(source), hint="name the file itself")


def counted(count: int, what: str) -> tuple[str, ...]:
    """A notice where there is something to count.

    >>> counted(0, "cases without rows"), counted(2, "cases without rows")
    ((), ('2 cases without rows',))
    """
    return (f"{count} {what}",) if count else ()
