"""How does each DuckDB type arrive, with nothing lost?

Arrow carries most types as they are. Where it does not (unsigned 128 bit, big numbers, bit strings, times with zone,
unions) the column is cast to text in the engine and read back here; dates and timestamps that Python cannot hold
(infinite, before Christ, with nanoseconds) stay text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import starmap
from typing import Any
from uuid import UUID

from sqlassay.databases.json_text import parsed
from sqlassay.databases.lexer import words
from sqlassay.records.relation import Column, Interval, Kind, Row

Convert = Callable[[Any], list[Any]]
"""From an Arrow array to Python cells."""

_INTEGERS = words("tinyint smallint integer bigint utinyint usmallint uinteger ubigint")
_TEXT_CAST = words("uhugeint bignum varint bit union variant geometry") | {"time with time zone", "time_tz"}
_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_INFINITE_DAY = 2**31 - 1
_INFINITE = 2**63 - 1
_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How one result's columns are named, read from Arrow, and which of them are cast to text in the engine."""

    columns: tuple[Column, ...]
    converts: tuple[Convert, ...]
    plain: tuple[bool, ...]
    """Whether the Arrow column may be handed on as it is."""
    projection: str | None

    def rows(self, table: Any) -> list[Row]:
        """The table as Python tuples."""
        if not self.columns:
            return [()] * int(table.num_rows)
        cells = [convert(table.column(i)) for i, convert in enumerate(self.converts)]
        return list(zip(*cells, strict=True))

    def as_arrow(self, table: Any) -> Any:
        """The table with every column in a form whose `to_pylist` is exact, None when one has none."""
        import pyarrow as pa

        if not all(self.plain):
            return None
        arrays = []
        for column, described in zip(table.columns, self.columns, strict=True):
            exact = _exact_arrow(column, described)
            if exact is None:
                return None
            arrays.append(exact)
        return pa.Table.from_arrays(arrays, names=[column.name for column in self.columns])


def layout_of(names: Sequence[str], types: Sequence[Any]) -> Layout:
    """The layout of a result with these column names and DuckDB types."""
    columns, converts, plain, casts = [], [], [], []
    for i, (name, type_) in enumerate(zip(names, types, strict=True)):
        kind = _kind(type_)
        declared = str(type_)
        exotic = _is_exotic(type_)
        columns.append(Column(name=name, kind=kind, declared=declared))
        converts.append(_from_text(type_.id) if exotic else _convert(type_))
        plain.append(not exotic and kind in _PLAIN_KINDS and type_.id != "timestamp_ns")
        casts.append(f"CAST(#{i + 1} AS VARCHAR) AS c{i}" if exotic else f"#{i + 1} AS c{i}")
    needs_cast = any(cast.startswith("CAST") for cast in casts)
    return Layout(
        columns=tuple(columns),
        converts=tuple(converts),
        plain=tuple(plain),
        projection=", ".join(casts) if needs_cast else None,
    )


_PLAIN_KINDS = frozenset(
    {Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.TEXT, Kind.BOOLEAN, Kind.BYTES, Kind.DATE, Kind.TIMESTAMP}
)

_KINDS = {
    "hugeint": Kind.INTEGER,
    "uhugeint": Kind.INTEGER,
    "bignum": Kind.INTEGER,
    "varint": Kind.INTEGER,
    "decimal": Kind.DECIMAL,
    "float": Kind.FLOAT,
    "double": Kind.FLOAT,
    "boolean": Kind.BOOLEAN,
    "varchar": Kind.TEXT,
    "json": Kind.JSON,
    "enum": Kind.TEXT,
    "bit": Kind.TEXT,
    "blob": Kind.BYTES,
    "uuid": Kind.UUID,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "time_ns": Kind.TIME,
    "time_tz": Kind.TIME,
    "time with time zone": Kind.TIME,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_s": Kind.TIMESTAMP,
    "timestamp_ms": Kind.TIMESTAMP,
    "timestamp_ns": Kind.TIMESTAMP,
    "timestamp with time zone": Kind.TIMESTAMPTZ,
    "timestamp_tz": Kind.TIMESTAMPTZ,
    "interval": Kind.INTERVAL,
    "list": Kind.ARRAY,
    "array": Kind.ARRAY,
    "struct": Kind.STRUCT,
    "map": Kind.MAP,
}


def _kind(type_: Any) -> Kind:
    if str(type_) == "JSON":
        return Kind.JSON
    return Kind.INTEGER if type_.id in _INTEGERS else _KINDS.get(type_.id, Kind.DYNAMIC)


def _children(type_: Any) -> list[tuple[str, Any]]:
    if type_.id not in ("list", "array", "struct", "map", "union"):
        return []
    return [(name, child) for name, child in type_.children if not isinstance(child, int)]


def _is_exotic(type_: Any) -> bool:
    if type_.id in _TEXT_CAST:
        return True
    return any(_is_exotic(child) for _, child in _children(type_))


def _from_text(type_id: str) -> Convert:
    if type_id in ("uhugeint", "bignum", "varint"):
        return lambda array: [None if text is None else int(text) for text in array.to_pylist()]
    if type_id in ("time with time zone", "time_tz"):
        return lambda array: [None if text is None else _zoned_time(text) for text in array.to_pylist()]
    return lambda array: list(array.to_pylist())


def _zoned_time(text: str) -> time | str:
    try:
        return time.fromisoformat(text)
    except ValueError:
        return text


def _convert(type_: Any) -> Convert:
    kind_id = type_.id
    if _kind(type_) is Kind.JSON:
        return _each(parsed)
    match kind_id:
        case "hugeint":
            return _each(int)
        case "uuid":
            return _each(UUID)
        case "interval":
            return _each(_interval)
        case "date":
            return _dates
        case "timestamp" | "timestamp_s" | "timestamp_ms" | "timestamp_ns":
            return lambda array: _timestamps(array, aware=False)
        case "timestamp with time zone" | "timestamp_tz":
            return lambda array: _timestamps(array, aware=True)
        case "time":
            return lambda array: _times(array, per_us=1)
        case "time_ns":
            return lambda array: _times(array, per_us=1000)
        case "list" | "array":
            return _lists(_convert(_children(type_)[0][1]))
        case "struct":
            return _structs([(name, _convert(child)) for name, child in _children(type_)])
        case "map":
            children = _children(type_)
            return _maps(_convert(children[0][1]), _convert(children[1][1]))
        case _:
            return lambda array: list(array.to_pylist())


def _each(convert: Callable[[Any], Any]) -> Convert:
    return lambda array: [None if value is None else convert(value) for value in array.to_pylist()]


def _interval(value: Any) -> Interval:
    return Interval(months=value.months, days=value.days, microseconds=value.nanoseconds // 1000)


def _dates(array: Any) -> list[Any]:
    import pyarrow as pa

    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        return [None if day is None else _date(day) for day in array.cast(pa.int32()).to_pylist()]


def _date(day: int) -> date | str:
    if abs(day) == _INFINITE_DAY:
        return "infinity" if day > 0 else "-infinity"
    ordinal = day + _EPOCH_DAY
    if 1 <= ordinal <= date.max.toordinal():
        return date.fromordinal(ordinal)
    year, month, month_day = _civil(day)
    return _year_text(year, f"{month:02}-{month_day:02}")


def _civil(day: int) -> tuple[int, int, int]:
    """Year (0 is 1 BC), month and day of a day counted from 1970, in the proleptic Gregorian calendar."""
    shifted = day + 719_468
    era, day_of_era = divmod(shifted, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_index = (5 * day_of_year + 2) // 153
    month = month_index + 3 if month_index < 10 else month_index - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * month_index + 2) // 5 + 1


def _year_text(year: int, rest: str) -> str:
    return f"{year:04}-{rest}" if year > 0 else f"{1 - year:04}-{rest} BC"


_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


def _timestamps(array: Any, *, aware: bool) -> list[Any]:
    import pyarrow as pa

    per_second = _PER_SECOND[array.type.unit]
    return [
        None if ticks is None else _timestamp(ticks, per_second, aware) for ticks in array.cast(pa.int64()).to_pylist()
    ]


def _timestamp(ticks: int, per_second: int, aware: bool) -> datetime | str:
    if abs(ticks) >= _INFINITE:
        return "infinity" if ticks > 0 else "-infinity"
    nanoseconds = ticks * (1_000_000_000 // per_second)
    microseconds, rest = divmod(nanoseconds, 1000)
    if rest == 0:
        try:
            return (_EPOCH_UTC if aware else _EPOCH) + timedelta(microseconds=microseconds)
        except OverflowError:
            pass
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    day, second = divmod(seconds, 86_400)
    year, month, month_day = _civil(day)
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    digits = f".{fraction:09}".rstrip("0").rstrip(".")
    return _year_text(year, f"{month:02}-{month_day:02} {clock}{digits}{'+00' if aware else ''}")


def _times(array: Any, *, per_us: int) -> list[Any]:
    import pyarrow as pa

    return [None if ticks is None else _time(ticks, per_us) for ticks in array.cast(pa.int64()).to_pylist()]


def _time(ticks: int, per_us: int) -> time | str:
    microseconds, rest = divmod(ticks, per_us)
    if microseconds == _DAY_US:
        return "24:00:00"
    seconds, fraction = divmod(microseconds, 1_000_000)
    if rest == 0:
        return time(seconds // 3600, seconds // 60 % 60, seconds % 60, fraction)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}{rest:03}"


def _lists(convert: Convert) -> Convert:
    def lists(array: Any) -> list[Any]:
        found: list[Any] = []
        for chunk in getattr(array, "chunks", [array]):
            found += [convert(scalar.values) if scalar.is_valid else None for scalar in chunk]
        return found

    return lists


def _structs(fields: Sequence[tuple[str, Convert]]) -> Convert:
    names = [name for name, _ in fields]

    def structs(array: Any) -> list[Any]:
        found: list[Any] = []
        for chunk in getattr(array, "chunks", [array]):
            cells = [convert(chunk.field(i)) for i, (_, convert) in enumerate(fields)]
            rows = zip(*cells, strict=True) if cells else ()
            made = [dict(zip(names, row, strict=True)) for row in rows]
            found += [cell if valid else None for cell, valid in zip(made, chunk.is_valid().to_pylist(), strict=True)]
        return found

    return structs


def _maps(key: Convert, value: Convert) -> Convert:
    def maps(array: Any) -> list[Any]:
        found: list[Any] = []
        for chunk in getattr(array, "chunks", [array]):
            for scalar in chunk:
                if not scalar.is_valid:
                    found.append(None)
                    continue
                entries = scalar.values
                pairs = list(zip(key(entries.field(0)), value(entries.field(1)), strict=True))
                found.append(_mapping(pairs))
        return found

    return maps


def _mapping(pairs: list[tuple[Any, Any]]) -> Any:
    try:
        return dict(pairs)
    except TypeError:
        return list(starmap(lambda key, value: [key, value], pairs))


def _exact_arrow(column: Any, described: Column) -> Any:
    """A column that Python reads exactly and cheaply from Arrow, None where it does not exist."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = column.type
    if pa.types.is_dictionary(type_):
        return column.cast(type_.value_type)
    if described.kind is Kind.INTEGER and pa.types.is_decimal(type_):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    if described.kind in (Kind.DATE, Kind.TIMESTAMP):
        bounds = pc.min_max(column)
        try:
            bounds.as_py()
        except (OverflowError, ValueError):
            return None
    return column
