"""How are systems' predictions read: JSONL, CSV, JSON by id, or the plain lines that Spider and BIRD publish?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlassay.datasets.base import raise_all
from sqlassay.datasets.foreign import Prediction, lines_of, rows_of
from sqlassay.errors import DatasetError
from sqlassay.records.case import Case
from sqlassay.records.strict import nearest

_BIRD = "\t----- bird -----\t"
_DATABASE = re.compile(r"\s*[\w-]+\s*")
_IDS = ("id", "case_id", "question_id")
_SQLS = ("sql", "candidate_sql", "prediction", "predicted_sql", "pred_sql", "PREDICTED SQL", "generated_query", "SQL")


def read(
    file: Path, *, cases: Sequence[Case] | None = None, mapping: Mapping[str, str] | None = None
) -> tuple[Prediction, ...]:
    """The predictions in a file, in its order.

    Where the file gives no ids (one query a line), it must have exactly one line per case, in case order: then, and
    only then, lines stand for cases. With `cases`, ids that no case has are errors; `mapping` names the columns
    of `id` and `sql`.

    Raises:
        DatasetError: the file is malformed, an id stands twice or is unknown, or lines and cases are not as many.
    """
    found = _read(file, cases, mapping or {})
    raise_all(_wrong_ids(found, file, cases))
    return tuple(prediction for _, prediction in found)


def _read(file: Path, cases: Sequence[Case] | None, mapping: Mapping[str, str]) -> list[tuple[int | None, Prediction]]:
    if file.suffix.lower() in (".txt", ".sql"):
        return _by_line(file, [_one_line(line) for line in lines_of(file)], cases)
    if file.suffix.lower() == ".json":
        keyed = _keyed(file)
        if keyed is not None:
            return _from_keyed(file, keyed, cases)
    rows = list(rows_of(file, under="predictions"))
    ids = (mapping["id"],) if "id" in mapping else _IDS
    sqls = (mapping["sql"],) if "sql" in mapping else _SQLS
    if rows and not any(name in row.fields for row in rows for name in ids):
        if "id" in mapping:
            rows[0].text(*ids)
        return _by_line(file, [row.optional(*sqls) for row in rows], cases)
    found = []
    for row in rows:
        if not any(name in row.fields for name in sqls):
            row.text(*sqls)
        found.append((row.line, Prediction(id=row.text(*ids), sql=row.optional(*sqls))))
    return found


def _one_line(line: str) -> str | None:
    """A published line: the query, perhaps followed by a tab and the database."""
    sql, tab, name = line.rpartition("\t")
    if _BIRD in line:
        sql = line.rpartition(_BIRD)[0]
    elif not tab or not _DATABASE.fullmatch(name):
        sql = line
    return sql.strip() or None


def _keyed(file: Path) -> Mapping[str, Any] | None:
    """BIRD's form: one object of position to query; None when the file is something else."""
    try:
        value = json.loads("\n".join(lines_of(file)))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and value and all(isinstance(item, (str, type(None), int)) for item in value.values()):
        return value
    return None


def _from_keyed(
    file: Path, keyed: Mapping[str, Any], cases: Sequence[Case] | None
) -> list[tuple[int | None, Prediction]]:
    known = {case.id for case in cases or ()}
    texts = {key: _one_line(value) if isinstance(value, str) else None for key, value in keyed.items()}
    if cases is None or known.intersection(texts):
        return [(None, Prediction(id=key, sql=sql)) for key, sql in texts.items()]
    by_number = {case.id.rpartition("_")[2].lstrip("0") or "0": case.id for case in cases}
    if len(by_number) == len(cases) and set(texts) <= set(by_number):
        return [(None, Prediction(id=by_number[key], sql=sql)) for key, sql in texts.items()]
    if all(key.isdigit() for key in texts):
        return _by_line(file, [texts[key] for key in sorted(texts, key=int)], cases)
    return [(None, Prediction(id=key, sql=sql)) for key, sql in texts.items()]


def _by_line(
    file: Path, sqls: Sequence[str | None], cases: Sequence[Case] | None
) -> list[tuple[int | None, Prediction]]:
    if cases is None:
        raise DatasetError(
            "has no ids, so its lines mean nothing by themselves",
            file=os.fspath(file),
            hint="name the cases they answer (--cases), or give every prediction its case's id",
        )
    if len(sqls) != len(cases):
        raise DatasetError(
            f"{len(sqls)} predictions for {len(cases)} cases; without ids they cannot be joined",
            file=os.fspath(file),
            hint="give every prediction its case's id",
        )
    return [
        (line, Prediction(id=case.id, sql=sql))
        for line, (case, sql) in enumerate(zip(cases, sqls, strict=True), start=1)
    ]


def _wrong_ids(
    found: Sequence[tuple[int | None, Prediction]], file: Path, cases: Sequence[Case] | None
) -> list[DatasetError]:
    errors = []
    first: dict[str, int | None] = {}
    known = None if cases is None else {case.id for case in cases}
    for line, prediction in found:
        name = prediction.id
        if name in first:
            where = "" if first[name] is None else f"; first in line {first[name]}"
            errors.append(DatasetError(f"two predictions for one case{where}", file=str(file), line=line, case_id=name))
        first.setdefault(name, line)
        if known is not None and name not in known:
            near = nearest(name, known)
            ask = f"; did you mean {near!r}?" if near else ""
            errors.append(
                DatasetError(
                    f"a prediction for an unknown case{ask}",
                    file=str(file),
                    line=line,
                    case_id=name,
                    hint="remove it, or add the case",
                )
            )
    return errors
