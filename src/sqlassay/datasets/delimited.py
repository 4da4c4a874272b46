"""How a CSV row becomes a case: one column per field, lists and shapes in one cell (specification section 2)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlassay.datasets.marked import Malformed, Marked

LISTS = {"tags": ",;", "optional_columns": ",;", "phrasings": "\n", "turns": "\n", "claims": "\n"}
"""Fields that hold several texts, and what stands between them where the cell is no JSON list."""
STRUCTURES = ("gold_rows", "expect", "compare_on", "tolerance")
_MAX_CELL = 64 * 1024 * 1024


def items(text: str) -> Iterator[Marked]:
    """The rows below the header line, empty cells left out; `expect.terminal_status` is a column of its own.

    >>> next(items("id,question,tags\\na,How many?,smoke;fast\\n")).value
    {'id': 'a', 'question': 'How many?', 'tags': ['smoke', 'fast']}
    """
    return _items(text, ",")


def tab_items(text: str) -> Iterator[Marked]:
    """The same with tabs between the columns."""
    return _items(text, "\t")


def rows(text: str, *, delimiter: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
    """Each row as header to cell, with the line it begins on.

    Raises:
        Malformed: no header, a header that names a column twice, a row of another width.
    """
    before = csv.field_size_limit(_MAX_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        begun = 1
        header: list[str] | None = None
        for row in reader:
            line, begun = begun, reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [cell.strip() for cell in row]
                twice = [name for name in header if header.count(name) > 1]
                if twice:
                    raise Malformed(f"column {twice[0]!r} stands twice in the header", line=line)
                continue
            if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
                raise Malformed(
                    f"{len(row)} cells under {len(header)} columns",
                    line=line,
                    hint="put text that holds a comma in double quotes",
                )
            yield line, dict(zip(header, row, strict=False))
    except csv.Error as error:
        raise Malformed(f"not CSV: {error}", line=reader.line_num) from None
    finally:
        csv.field_size_limit(before)


def _items(text: str, delimiter: str) -> Iterator[Marked]:
    for line, row in rows(text, delimiter=delimiter):
        yield Marked(value=fields(row, line=line), lines={(): line})


def fields(row: Mapping[str, str], *, line: int) -> dict[str, Any]:
    """The fields that the cells of one row say; a cell that `disarmed` made harmless is as it was."""
    value: dict[str, Any] = {}
    for name, cell in row.items():
        if cell.strip():
            _put(value, name, cell[1:] if _DISARMED.match(cell) else cell, line)
    return value


def disarmed(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before `=`, `+`, `-`, `@`.

    >>> disarmed("=1+1"), disarmed("SELECT 1"), disarmed("-- why")
    ("'=1+1", 'SELECT 1', "'-- why")
    """
    return f"'{text}" if _FORMULA.match(text) else text


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_DISARMED = re.compile(r"'+[=+\-@\t\r]")


def _put(value: dict[str, Any], name: str, cell: str, line: int) -> None:
    top, dot, rest = name.partition(".")
    if dot and top == "expect":
        inner = value.setdefault("expect", {})
        if not isinstance(inner, dict):
            raise Malformed(f"columns 'expect' and {name!r} exclude each other", line=line)
        stage, dot, key = rest.removeprefix("stages.").partition(".")
        if dot:
            inner.setdefault(stage, {})[key] = cell
        else:
            inner[stage] = _structure(cell, name, line)
        return
    if name in LISTS:
        value[name] = _list(cell, name, line)
    elif name in STRUCTURES:
        value[name] = _structure(cell, name, line)
    elif name in ("gold_sql", "golden_sql") and cell.lstrip().startswith("["):
        value[name] = _json(cell, name, line)
    else:
        value[name] = cell


def _list(cell: str, name: str, line: int) -> Any:
    if cell.lstrip().startswith("["):
        return _json(cell, name, line)
    separators = LISTS[name]
    for other in separators[1:]:
        cell = cell.replace(other, separators[0])
    return [part.strip() for part in cell.split(separators[0]) if part.strip()]


def _structure(cell: str, name: str, line: int) -> Any:
    text = cell.strip()
    if text[:1] in "[{":
        return _json(text, name, line)
    kind, colon, columns = text.partition(":")
    if name == "compare_on" and colon:
        named = [column.strip() for column in columns.split(",")]
        return {kind.strip(): named if kind.strip() == "groups" else columns.strip()}
    return text


def _json(cell: str, name: str, line: int) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"column {name!r}: not JSON: {error}", line=line) from None
