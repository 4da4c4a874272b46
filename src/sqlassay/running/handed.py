"""A table that a caller hands in: Arrow, pandas, polars, a mapping of columns and rows, or one of ours.

Arrow keeps its types. A pandas column with NumPy types marks what is missing by NaN, NaT or None; these become NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlassay.errors import UsageError
from sqlassay.records.relation import Column, Kind, Relation

_ARROW_KINDS: Sequence[tuple[str, Kind]] = (
    ("is_boolean", Kind.BOOLEAN),
    ("is_integer", Kind.INTEGER),
    ("is_decimal", Kind.DECIMAL),
    ("is_floating", Kind.FLOAT),
    ("is_string", Kind.TEXT),
    ("is_large_string", Kind.TEXT),
    ("is_binary", Kind.BYTES),
    ("is_large_binary", Kind.BYTES),
    ("is_fixed_size_binary", Kind.BYTES),
    ("is_date", Kind.DATE),
    ("is_time", Kind.TIME),
    ("is_list", Kind.ARRAY),
    ("is_large_list", Kind.ARRAY),
    ("is_fixed_size_list", Kind.ARRAY),
    ("is_struct", Kind.STRUCT),
    ("is_map", Kind.MAP),
)


def relation_of(table: Any, *, what: str = "table") -> Relation:
    """The table as a relation.

    Raises:
        UsageError: it is nothing of the kind; `what` names it.

    >>> relation_of({"columns": ["a", "a"], "rows": [[1, None]]}).rows
    [(1, None)]
    """
    if isinstance(table, Relation):
        return table
    if isinstance(table, Mapping):
        return _from_mapping(table, what)
    kind = f"{type(table).__module__}.{type(table).__name__}"
    if kind.startswith("pandas.") and hasattr(table, "columns"):
        return _from_pandas(table)
    if kind.startswith("polars."):
        collected = table.collect() if hasattr(table, "collect") else table
        if hasattr(collected, "to_arrow"):
            return _from_arrow(collected.to_arrow())
    if hasattr(table, "num_rows") and hasattr(table, "schema") and hasattr(table, "column"):
        return _from_arrow(table)
    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        return _from_arrow(pyarrow.table(table))
    raise UsageError(
        f"{what}: a {type(table).__name__} is no table",
        hint='hand in Arrow, pandas, polars or {"columns": [...], "rows": [...]}',
    )


def _from_mapping(table: Mapping[str, Any], what: str) -> Relation:
    if set(table) != {"columns", "rows"}:
        raise UsageError(
            f'{what}: a mapping should hold "columns" and "rows", this one holds {sorted(map(str, table))}'
        )
    names = [name if isinstance(name, str) else str(name) for name in table["columns"]]
    rows = []
    for number, row in enumerate(table["rows"], start=1):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Sequence):
            raise UsageError(f"{what}: row {number} should be a list of cells, is {row!r}")
        if len(row) != len(names):
            raise UsageError(f"{what}: row {number} has {len(row)} cells, there are {len(names)} columns")
        rows.append(tuple(row))
    return Relation(columns=tuple(Column(name=name) for name in names), rows=rows)


def _from_arrow(table: Any) -> Relation:
    import pyarrow

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    columns = tuple(
        Column(name=field.name, kind=_arrow_kind(field.type), declared=str(field.type)) for field in table.schema
    )
    values = [table.column(i).to_pylist() for i in range(len(columns))]
    rows = list(zip(*values, strict=True)) if values else [()] * table.num_rows
    return Relation(columns=columns, rows=rows)


def _arrow_kind(kind: Any) -> Kind:
    from pyarrow import types

    if types.is_timestamp(kind):
        return Kind.TIMESTAMP if kind.tz is None else Kind.TIMESTAMPTZ
    if types.is_dictionary(kind):
        return _arrow_kind(kind.value_type)
    return next((found for name, found in _ARROW_KINDS if getattr(types, name)(kind)), Kind.DYNAMIC)


def _from_pandas(frame: Any) -> Relation:
    columns, values = [], []
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        columns.append(Column(name=str(name), kind=_pandas_kind(series.dtype), declared=str(series.dtype)))
        missing = series.isna().tolist()
        values.append([None if gone else _plain(cell) for cell, gone in zip(series.tolist(), missing, strict=True)])
    rows = list(zip(*values, strict=True)) if values else [()] * len(frame)
    return Relation(columns=tuple(columns), rows=rows)


def _pandas_kind(dtype: Any) -> Kind:
    name = str(dtype).lower()
    if name.startswith("datetime64"):
        return Kind.TIMESTAMPTZ if "," in name else Kind.TIMESTAMP
    for start, kind in (("int", Kind.INTEGER), ("uint", Kind.INTEGER), ("bool", Kind.BOOLEAN), ("float", Kind.FLOAT)):
        if name.startswith(start):
            return kind
    return Kind.TEXT if name.startswith("str") else Kind.DYNAMIC


def _plain(cell: Any) -> Any:
    if hasattr(cell, "to_pydatetime"):
        return cell.to_pydatetime(warn=False)
    return cell.item() if type(cell).__module__ == "numpy" and hasattr(cell, "item") else cell
