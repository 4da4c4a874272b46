"""How does a table that a caller hands in become a relation? Arrow, pandas, polars, or plain columns and rows; nothing
is imported that the caller has not brought along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlassay.errors import MissingExtra, UsageError
from sqlassay.records.relation import Column, Interval, Kind, Relation

KEEP_ARROW: Final = 20_000
"""Rows from which an Arrow table stays Arrow; below, Python rows are faster to compare."""


def relation_of(table: Any, *, what: str = "table") -> Relation:
    """A relation from an Arrow table, a pandas or polars frame, or `{"columns": [...], "rows": [...]}`.

    Columns may be names or `Column`s. In a pandas frame NaN, NaT and NA mean NULL, since pandas has no other NULL.

    Raises:
        UsageError: the object is no table, or a row is no list of as many cells as there are columns; `what` names it.

    >>> relation_of({"columns": ["id", "n"], "rows": [[1, 2.5], (2, None)]}).rows
    [(1, 2.5), (2, None)]
    """
    if isinstance(table, Relation):
        return table
    if isinstance(table, Mapping):
        return _from_mapping(table, what)
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "iloc"):
        return _from_pandas(table)
    if type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "collect"):
        table = table.collect()
    if hasattr(table, "__arrow_c_stream__"):
        return _from_arrow(table)
    raise UsageError(
        f"{what}: a {type(table).__name__} is no table",
        hint='hand in Arrow, pandas, polars or {"columns": [...], "rows": [...]}',
    )


def _from_mapping(table: Mapping[str, Any], what: str) -> Relation:
    if set(table) != {"columns", "rows"}:
        raise UsageError(
            f'{what}: a mapping should hold "columns" and "rows", this one holds {sorted(map(str, table))}'
        )
    columns = tuple(column if isinstance(column, Column) else Column(name=str(column)) for column in table["columns"])
    rows = []
    for number, row in enumerate(table["rows"], start=1):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Sequence):
            raise UsageError(f"{what}: row {number} should be a list of cells, is {row!r}")
        if len(row) != len(columns):
            raise UsageError(f"{what}: row {number} has {len(row)} cells, there are {len(columns)} columns")
        rows.append(tuple(row))
    return Relation(columns=columns, rows=rows)


def _from_pandas(frame: Any) -> Relation:
    width = int(frame.shape[1])
    columns = tuple(
        Column(name=str(name), kind=_pandas_kind(dtype), declared=str(dtype))
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
    )
    cells = [_pandas_cells(frame.iloc[:, position]) for position in range(width)]
    rows: Sequence[tuple[Any, ...]] = list(zip(*cells, strict=True)) if width else [()] * int(frame.shape[0])
    return Relation(columns=columns, rows=rows)


def _pandas_cells(series: Any) -> list[Any]:
    missing = series.isna().tolist()
    return [None if gone else _python(value) for value, gone in zip(series.tolist(), missing, strict=True)]


def _pandas_kind(dtype: Any) -> Kind:
    name = str(dtype).lower()
    if name.startswith("datetime64"):
        return Kind.TIMESTAMPTZ if "," in name else Kind.TIMESTAMP
    for start, kind in (("int", Kind.INTEGER), ("uint", Kind.INTEGER), ("bool", Kind.BOOLEAN), ("float", Kind.FLOAT)):
        if name.startswith(start):
            return kind
    return Kind.TEXT if name.startswith("str") else Kind.DYNAMIC


def _python(value: Any) -> Any:
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    if hasattr(value, "to_pytimedelta"):
        return value.to_pytimedelta()
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return value


def _from_arrow(source: Any) -> Relation:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading an Arrow table", needs="arrow") from None
    table = pa.table(source)
    fields = [_micro(table.field(i), table.column(i)) for i in range(table.num_columns)]
    columns = tuple(
        Column(name=table.field(i).name, kind=_kind(column.type), declared=str(table.field(i).type))
        for i, column in enumerate(fields)
    )
    if table.num_rows >= KEEP_ARROW:
        names = [str(i) for i in range(len(fields))]
        return Relation(columns=columns, arrow=pa.Table.from_arrays(fields, names=names))
    cells = [_arrow_cells(column) for column in fields]
    rows: Sequence[tuple[Any, ...]] = list(zip(*cells, strict=True)) if cells else [()] * int(table.num_rows)
    return Relation(columns=columns, rows=rows)


def _micro(field: Any, column: Any) -> Any:
    """Nanosecond timestamps in microseconds where nothing is lost; dictionaries decoded."""
    import pyarrow as pa

    if pa.types.is_dictionary(field.type):
        return column.cast(field.type.value_type)
    if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
        try:
            return column.cast(pa.timestamp("us", tz=field.type.tz))
        except pa.ArrowInvalid:
            return column
    return column


def _arrow_cells(column: Any) -> list[Any]:
    cells = column.to_pylist()
    if any(isinstance(cell, (datetime, timedelta)) and type(cell).__module__.startswith("pandas") for cell in cells):
        return [_python(cell) for cell in cells]
    if type(next((cell for cell in cells if cell is not None), None)).__name__ == "MonthDayNano":
        return [
            None
            if cell is None
            else Interval(months=cell.months, days=cell.days, microseconds=cell.nanoseconds // 1000)
            for cell in cells
        ]
    return list(cells)


def _kind(arrow_type: Any) -> Kind:
    import pyarrow.types as at

    tests = (
        (at.is_boolean, Kind.BOOLEAN),
        (at.is_integer, Kind.INTEGER),
        (at.is_floating, Kind.FLOAT),
        (at.is_decimal, Kind.DECIMAL),
        (at.is_string, Kind.TEXT),
        (at.is_large_string, Kind.TEXT),
        (at.is_string_view, Kind.TEXT),
        (at.is_binary, Kind.BYTES),
        (at.is_large_binary, Kind.BYTES),
        (at.is_fixed_size_binary, Kind.BYTES),
        (at.is_date, Kind.DATE),
        (at.is_time, Kind.TIME),
        (at.is_interval, Kind.INTERVAL),
        (at.is_duration, Kind.INTERVAL),
        (at.is_map, Kind.MAP),
        (at.is_struct, Kind.STRUCT),
        (at.is_nested, Kind.ARRAY),
    )
    if at.is_timestamp(arrow_type):
        return Kind.TIMESTAMP if arrow_type.tz is None else Kind.TIMESTAMPTZ
    return next((kind for test, kind in tests if test(arrow_type)), Kind.DYNAMIC)
