"""How are Spider's files read: dev.json or a gold file, tables.json beside them, database/<db>/<db>.sqlite?"""

from __future__ import annotations

from pathlib import Path

from sqlassay.datasets.foreign import Imported, Row, counted, find_databases, lines_of, one_file, rows_of
from sqlassay.errors import DatasetError
from sqlassay.records.case import Case, Place

_FILES = ("cases.jsonl", "dev.json", "test.json", "train_spider.json", "dev_gold.sql", "gold.txt", "gold.sql")


def read(source: Path, *, databases: str | None = None, incomplete: bool = False) -> Imported:
    """Cases of a Spider split: a folder, its JSON, a `query<TAB>db` gold file, or JSONL with `id`, `db`, `gold_sql`.

    A case's id is its own, else `spider_<split>_<position>`. Cases marked `db_complete: false` (their database has
    no rows) are left out and counted, unless `incomplete`.

    Raises:
        DatasetError: a file or field is missing or malformed.
    """
    file = one_file(source, *_FILES)
    stem = f"spider_{file.stem.removesuffix('_gold').removeprefix('gold') or 'dev'}"
    rows = list(_gold_lines(file) if file.suffix in (".sql", ".txt") else rows_of(file))
    cases = tuple(
        _case(row, f"{stem}_{index:04d}")
        for index, row in enumerate(rows)
        if incomplete or row.fields.get("db_complete") is not False
    )
    found, missing = find_databases((c.database for c in cases if c.database), root=file.parent, given=databases)
    notices = (
        *counted(len(rows) - len(cases), "cases left out: their database has no rows (db_complete is false)"),
        *counted(len(missing), f"databases not found: {', '.join(missing)}"),
    )
    return Imported(cases=cases, databases=found, notices=notices, exact_as=("spider",))


def _gold_lines(file: Path) -> list[Row]:
    """`query<TAB>database` lines; they hold no question, so the query stands in for it."""
    rows = []
    for number, line in enumerate(lines_of(file), start=1):
        if not line.strip():
            continue
        sql, tab, name = line.rpartition("\t")
        if not tab or not name.strip():
            raise DatasetError("should read query, tab, database", file=str(file), line=number)
        fields = {"question": sql.strip(), "query": sql.strip(), "db_id": name.strip()}
        rows.append(Row(file=str(file), line=number, fields=fields))
    return rows


def _case(row: Row, generated: str) -> Case:
    return Case(
        id=row.optional("id", "spider_id") or generated,
        question=row.text("question"),
        difficulty=row.optional("hardness", "difficulty"),
        database=row.text("db_id", "db"),
        gold_sql=(row.text("query", "gold_sql", "SQL"),),
        place=Place(file=row.file, line=row.line),
    )
