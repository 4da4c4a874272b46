"""How does any table of questions become cases: which column holds which field?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlassay.datasets import delimited
from sqlassay.datasets.base import raise_all
from sqlassay.datasets.foreign import Imported, Row, counted, find_databases, rows_of
from sqlassay.datasets.marked import Malformed, Marked
from sqlassay.datasets.native import read_case
from sqlassay.datasets.shorthand import ALIASES, FIELDS
from sqlassay.errors import DatasetError, UsageError
from sqlassay.records.case import Case
from sqlassay.records.strict import unknown

_ALIASES: Mapping[str, str] = {**ALIASES, "sql": "gold_sql", "db": "database"}


def parse_mapping(text: str) -> dict[str, str]:
    """`question=Q,gold_sql=The Query` as field to column.

    Raises:
        UsageError: not of this form, a field is unknown or named twice.

    >>> parse_mapping("question=Q, sql=Query")
    {'question': 'Q', 'gold_sql': 'Query'}
    """
    pairs: dict[str, str] = {}
    for part in text.split(","):
        field, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise UsageError(f"--map: {part.strip()!r} is not field=column", hint="write --map question=Q,gold_sql=SQL")
        if field.strip() in pairs:
            raise UsageError(f"--map: field {field.strip()!r} is named twice")
        pairs[field.strip()] = column.strip()
    return _fields(pairs)


def _fields(mapping: Mapping[str, str]) -> dict[str, str]:
    """The mapping with short names of fields spelt out."""
    found: dict[str, str] = {}
    for name, column in mapping.items():
        field = _ALIASES.get(name, name)
        if field not in FIELDS and not field.startswith("expect."):
            raise UsageError("--map: " + unknown("field", name, [*FIELDS, *_ALIASES])[0])
        if field in found:
            raise UsageError(f"--map: field {field!r} is named twice")
        found[field] = column
    return found


def read(file: Path, *, mapping: Mapping[str, str], databases: str | None = None) -> Imported:
    """Cases of a CSV, TSV, JSONL or JSON file whose columns are named otherwise.

    Columns that carry a field's own name serve for it; other columns are left out and named in the notices.
    Without a column for `id`, cases are numbered by row.

    Raises:
        UsageError: a field in `mapping` is unknown.
        DatasetError: the file is malformed, a mapped column is not there, or a case is wrong.
    """
    mapping = _fields(mapping)
    rows = list(rows_of(file))
    columns = list(dict.fromkeys(str(name) for row in rows for name in row.fields))
    for field, column in mapping.items():
        if column not in columns:
            message, hint = unknown("column", column, columns)
            raise DatasetError(f"{message} (mapped to {field})", file=str(file), hint=hint)
    taken = {**{_ALIASES.get(name, name): name for name in columns if _ALIASES.get(name, name) in FIELDS}, **mapping}
    cases: list[Case] = []
    errors: list[DatasetError] = []
    for index, row in enumerate(rows):
        case, wrong = read_case(_marked(row, taken, index, file.stem), file=row.file)
        errors += wrong
        if case is not None:
            cases.append(case)
    raise_all(errors)
    found, missing = find_databases((c.database for c in cases if c.database), root=file.parent, given=databases)
    left = [name for name in columns if name not in taken.values()]
    notices = (
        *counted(len(left), f"columns left out: {', '.join(left)}"),
        *counted(len(missing), f"databases not found: {', '.join(missing)}"),
    )
    return Imported(cases=tuple(cases), databases=found, notices=notices)


def _marked(row: Row, taken: Mapping[str, str], index: int, stem: str) -> Marked:
    given: dict[str, Any] = {field: row.fields[column] for field, column in taken.items() if column in row.fields}
    if all(isinstance(value, str) for value in given.values()):
        try:
            given = delimited.fields(given, line=row.line or 1)
        except Malformed as error:
            raise DatasetError(error.message, file=row.file, line=error.line, hint=error.hint) from None
    given.setdefault("id", f"{stem}_{index + 1:04d}")
    return Marked(value=given, lines={} if row.line is None else {(): row.line})
