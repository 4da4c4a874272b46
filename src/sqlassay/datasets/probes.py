"""What can be asked of a database about a gold query: a result to compare, a value to look for, the values near it."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Protocol

from sqlassay.records.execution import Execution, Rows
from sqlassay.records.relation import Relation, Schema, TableSchema
from sqlassay.records.settings import Limits

MAX_VALUES = 5000
"""Distinct values of a column that are looked through for a near one."""


class Session(Protocol):
    """What `check` needs of a database session."""

    def execute(self, sql: str, *, limits: Limits) -> Execution: ...


class Source(Protocol):
    """What `check` needs of a database."""

    @property
    def name(self) -> str: ...

    def schema(self) -> Schema: ...

    def warnings(self) -> tuple[str, ...]: ...

    def session(self) -> AbstractContextManager[Session]: ...


Key = tuple[str, Any]


def key_of(cell: Any) -> Key:
    """A value as something that can be counted, alike for what is equal here: 1, 1.0, true and Decimal('1.00').

    Floats count to 12 digits, so that a sum in another order is the same sum.

    >>> key_of(1) == key_of(Decimal("1.00")) == key_of(1.0), key_of("1") == key_of(1)
    (True, False)
    """
    match cell:
        case None:
            return ("null", None)
        case bool() | int():
            return ("number", Decimal(int(cell)))
        case float():
            return ("number", Decimal(f"{cell:.12g}") if math.isfinite(cell) else str(cell))
        case Decimal():
            return ("number", cell.normalize() if cell.is_finite() else str(cell))
        case datetime():
            return ("text", cell.isoformat(" "))
        case date() | time():
            return ("text", cell.isoformat())
        case str() | bytes():
            return ("text" if isinstance(cell, str) else "bytes", cell)
        case Mapping():
            return ("map", tuple(sorted((str(name), key_of(item)) for name, item in cell.items())))
        case Sequence():
            return ("list", tuple(key_of(item) for item in cell))
        case _:
            return ("other", str(cell))


def row_keys(rows: Sequence[Sequence[Any]]) -> list[tuple[Key, ...]]:
    return [tuple(key_of(cell) for cell in row) for row in rows]


def same_rows(one: Sequence[Sequence[Any]], two: Sequence[Sequence[Any]]) -> bool:
    """Whether both hold the same rows, in any order, duplicates counted."""
    return len(one) == len(two) and Counter(row_keys(one)) == Counter(row_keys(two))


def numeric_text(values: Sequence[Any]) -> bool:
    """Whether these are numbers written as text whose order as text is not their order.

    One in ten may be something else, and words for nothing (`null`, `N/A`) do not count.

    >>> numeric_text(["9", "10", "null"]), numeric_text(["10", "20"]), numeric_text(["a", "10"])
    (True, False, False)
    """
    texts = [value for value in values if value is not None]
    if not all(isinstance(value, str) for value in texts):
        return False
    meant = [text for text in texts if text.strip().casefold() not in _NOTHING]
    numbers = {text: Decimal(text.strip()) for text in meant if _NUMBER.fullmatch(text)}
    if len(numbers) < 2 or len(numbers) < 0.9 * len(meant):
        return False
    return [numbers[text] for text in sorted(numbers)] != sorted(numbers.values())


_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*")
_NOTHING = frozenset({"", "null", "none", "nil", "na", "n/a", "nan", "-", "?", "unknown"})


def near_value(wanted: str, values: Sequence[Any]) -> str | None:
    """The value that was probably meant: equal but for case, accents and blanks, else the most alike.

    >>> near_value("Spain", ["Francia", "España", "Italia"]), near_value("Owner", ["OWNER", "DISPONENT"])
    ('España', 'OWNER')
    """
    texts = {_folded(value): value for value in values if isinstance(value, str)}
    folded = _folded(wanted)
    if folded in texts:
        return texts[folded]
    near = difflib.get_close_matches(folded, list(texts), n=1, cutoff=0.6)
    return texts[near[0]] if near else None


def _folded(text: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(bare.casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A value that a condition compares a column with; `text` False for a number."""

    table: str
    column: str
    value: str
    text: bool = True


_NAME = r'(?:"(?:[^"]|"")+"|[^\W\d][\w$]*)'
_COLUMN = rf"(?P<column>{_NAME}(?:\.{_NAME}){{1,3}})"
_LITERAL = r"(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?(?![\w.]))"
_EQUAL = re.compile(rf"(?<![\w.\")]){_COLUMN} = (?P<literal>{_LITERAL})(?! *[-+*/|])")
_LITERAL_FIRST = re.compile(rf"(?<![-+*/|] )(?P<literal>{_LITERAL}) = {_COLUMN}(?![\w.(])")
_IN = re.compile(rf"(?<![\w.\")]){_COLUMN} IN \((?P<literals>{_LITERAL}(?:, {_LITERAL})*)\)")


def constants_in(items: Sequence[str]) -> tuple[Constant, ...]:
    """The constants that columns are compared with by `=` or IN, out of canonical conditions.

    >>> constants_in(["films.country = 'Spain'"])
    (Constant(table='films', column='country', value='Spain', text=True),)
    """
    found: dict[Constant, None] = {}
    for item in items:
        pairs = [(m["column"], m["literal"]) for m in (*_EQUAL.finditer(item), *_LITERAL_FIRST.finditer(item))]
        for match in _IN.finditer(item):
            pairs += [(match["column"], literal) for literal in re.findall(_LITERAL, match["literals"])]
        for column, literal in pairs:
            names = [_bare(name) for name in re.findall(_NAME, column)]
            text = literal.startswith("'")
            value = literal[1:-1].replace("''", "'") if text else literal
            found.setdefault(Constant(table=".".join(names[:-1]), column=names[-1], value=value, text=text))
    return tuple(found)


def _bare(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


@dataclass(slots=True)
class Prober:
    """Small questions of our own to one database, each asked once."""

    schema: Schema
    session: Session
    limits: Limits
    _values: dict[tuple[str, str], tuple[Any, ...] | None] = field(default_factory=dict)
    _unique: dict[tuple[str, str], bool | None] = field(default_factory=dict)
    _counts: dict[Constant, int | None] = field(default_factory=dict)

    def table(self, name: str) -> TableSchema | None:
        """The relation of that folded name."""
        wanted = name.casefold()
        return next((table for table in self.schema.tables if table.name.casefold() == wanted), None)

    def linking(self, one: str, two: str) -> frozenset[str]:
        """Tables with a foreign key to each of the two, by folded name."""
        wanted = {one.casefold(), two.casefold()}
        return frozenset(
            table.name.casefold()
            for table in self.schema.tables
            if wanted <= {key.to_table.casefold() for key in table.foreign_keys}
        )

    def rows_with(self, constant: Constant) -> int | None:
        """How many rows have the constant in its column; None where the question cannot be asked."""
        if constant not in self._counts:
            place = self._place(constant.table, constant.column)
            rows = None
            if place is not None:
                table, column = place
                literal = self._literal(constant.value) if constant.text else constant.value
                rows = self._ask(f"SELECT COUNT(*) FROM {table} WHERE {column} = {literal}")
            self._counts[constant] = None if rows is None else int(rows.tuples()[0][0])
        return self._counts[constant]

    def values(self, table: str, column: str) -> tuple[Any, ...] | None:
        """Distinct values of a column, at most `MAX_VALUES`; None where they cannot be had."""
        key = (table, column)
        if key not in self._values:
            place = self._place(table, column)
            rows = None if place is None else self._ask(f"SELECT DISTINCT {place[1]} FROM {place[0]}")
            self._values[key] = None if rows is None else tuple(rows.column(0))
        return self._values[key]

    def unique(self, table: str, column: str) -> bool | None:
        """Whether no value of a column comes twice; None where the question cannot be asked."""
        key = (table, column)
        if key not in self._unique:
            place = self._place(table, column)
            rows = (
                None
                if place is None
                else self._ask(f"SELECT COUNT({place[1]}), COUNT(DISTINCT {place[1]}) FROM {place[0]}")
            )
            self._unique[key] = None if rows is None else rows.column(0) == rows.column(1)
        return self._unique[key]

    def _place(self, table: str, column: str) -> tuple[str, str] | None:
        found = self.table(table)
        if found is None:
            return None
        name = next((name for name in found.columns if name.casefold() == column.casefold()), None)
        if name is None:
            return None
        return ".".join(self._quoted(part) for part in found.name.split(".")), self._quoted(name)

    def _quoted(self, name: str) -> str:
        match self.schema.dialect:
            case "mysql" | "bigquery" | "databricks":
                return "`" + name.replace("`", "``") + "`"
            case "tsql":
                return "[" + name.replace("]", "]]") + "]"
        return '"' + name.replace('"', '""') + '"'

    def _literal(self, text: str) -> str:
        if self.schema.dialect in ("mysql", "bigquery", "databricks", "clickhouse", "snowflake"):
            text = text.replace("\\", "\\\\")
        return "'" + text.replace("'", "''") + "'"

    def _ask(self, sql: str) -> Relation | None:
        limits = replace(self.limits, timeout_s=min(5.0, self.limits.timeout_s), max_rows=MAX_VALUES)
        match self.session.execute(sql, limits=limits):
            case Rows(relation=relation):
                return relation
            case _:
                return None
