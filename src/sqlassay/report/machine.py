"""The report for other programs: JSON, JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlassay.errors import MissingExtra
from sqlassay.records.measurement import Measurement
from sqlassay.report.model import CaseRow, Report

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FIXED = (
    "case_id",
    "phrasing",
    "repeat",
    "question",
    "category",
    "difficulty",
    "tags",
    "database",
    "status",
    "passed",
    "bucket",
    "cause",
    "shape",
    "ceilings",
    "first_broken_stage",
)


def to_json(report: Report) -> str:
    """`summary.json`: every number of the run."""
    return json.dumps(report.summary.to_dict(), indent=2, ensure_ascii=False) + "\n"


def to_jsonl(measurements: Iterator[Measurement] | list[Measurement]) -> Iterator[str]:
    """Score lines as in `scores.jsonl`, one at a time."""
    for measurement in measurements:
        yield json.dumps(measurement.to_dict(), ensure_ascii=True) + "\n"


def rows(report: Report) -> Iterator[dict[str, Any]]:
    """One flat mapping per trial: what it is, what became of it, and every metric (None where undefined)."""
    names = sorted(report.summary.metrics)
    for row in report.cases:
        yield {**_fixed(row), **{name: row.metrics.get(name) for name in names}}


def to_csv(report: Report) -> str:
    """One line per trial, safe to open in a spreadsheet: no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=[*_FIXED, *sorted(report.summary.metrics)], lineterminator="\n")
    writer.writeheader()
    for row in rows(report):
        writer.writerow({name: harmless(value) for name, value in row.items()})
    return out.getvalue()


def harmless(value: Any) -> Any:
    """A CSV cell in which a spreadsheet sees text, never a formula; NUL is taken out.

    >>> harmless("=HYPERLINK(1)"), harmless(-0.5), harmless("a"), harmless("  @x")
    ("'=HYPERLINK(1)", -0.5, 'a', "'  @x")
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\x00", "")
    return f"'{text}" if text.lstrip(" \n\v\f\ufeff").startswith(_FORMULA) else text


def to_parquet(report: Report, path: Path) -> None:
    """One row per trial as Parquet.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    require_arrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    listed = list(rows(report))
    text, whole = pa.string(), pa.int64()
    kinds = dict.fromkeys(_FIXED, text) | {"phrasing": whole, "repeat": whole, "passed": pa.bool_()}
    fields = [pa.field(name, kinds.get(name, pa.float64())) for name in [*_FIXED, *sorted(report.summary.metrics)]]
    table = pa.table(
        {field.name: pa.array([_storable(row[field.name]) for row in listed], field.type) for field in fields},
        schema=pa.schema(fields, metadata={"signature": report.summary.signature, "run_id": report.summary.run_id}),
    )
    pq.write_table(table, path)


def require_arrow() -> None:
    """See that Parquet can be written here.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", needs="arrow")


def _storable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _fixed(row: CaseRow) -> dict[str, Any]:
    return {
        "case_id": row.key.case_id,
        "phrasing": row.key.phrasing,
        "repeat": row.key.repeat,
        "question": row.question,
        "category": row.category,
        "difficulty": row.difficulty,
        "tags": " ".join(row.tags),
        "database": row.database,
        "status": row.status,
        "passed": row.passed,
        "bucket": None if row.bucket is None else row.bucket.value,
        "cause": row.cause,
        "shape": None if row.shape is None else row.shape.value,
        "ceilings": " ".join(ceiling.value for ceiling in row.ceilings),
        "first_broken_stage": row.first_broken_stage,
    }
