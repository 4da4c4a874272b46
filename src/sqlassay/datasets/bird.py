"""How are BIRD's files read: dev.json with question_id, evidence and difficulty, dev_databases/<db>/<db>.sqlite?"""

from __future__ import annotations

from pathlib import Path

from sqlassay.datasets.foreign import Imported, Row, counted, find_databases, one_file, rows_of
from sqlassay.records.case import Case, Place

_FILES = ("cases.jsonl", "dev.json", "mini_dev_sqlite.json", "mini_dev_postgresql.json", "train.json")


def read(source: Path, *, databases: str | None = None, evidence: bool = False) -> Imported:
    """Cases of a BIRD split: a folder, its JSON, or JSONL with `id`, `db`, `question`, `gold_sql`.

    A case's id is its own, else `bird_<split>_<question_id>`. BIRD's evidence (a hint about the data) goes to `notes`;
    with `evidence` it is put to the agent too, under the question.

    Raises:
        DatasetError: a file or field is missing or malformed.
    """
    file = one_file(source, *_FILES)
    rows = list(rows_of(file))
    stem = f"bird_{file.stem if file.stem != 'cases' else 'dev'}"
    cases = tuple(_case(row, f"{stem}_{_number(row, index)}", evidence) for index, row in enumerate(rows))
    found, missing = find_databases((c.database for c in cases if c.database), root=file.parent, given=databases)
    hinted = sum(case.notes is not None for case in cases)
    notices = (
        *counted(len(missing), f"databases not found: {', '.join(missing)}"),
        *(() if evidence else counted(hinted, "cases have evidence, kept in notes and not shown to the agent")),
    )
    return Imported(cases=cases, databases=found, notices=notices, exact_as=("bird",))


def _number(row: Row, index: int) -> str:
    return row.optional("question_id") or str(index)


def _case(row: Row, generated: str, evidence: bool) -> Case:
    question, hint = row.text("question"), row.optional("evidence")
    return Case(
        id=row.optional("id") or generated,
        question=f"{question}\n{hint}" if evidence and hint else question,
        difficulty=row.optional("difficulty", "hardness"),
        database=row.text("db_id", "db"),
        gold_sql=(row.text("SQL", "gold_sql", "query", "sql"),),
        notes=hint,
        place=Place(file=row.file, line=row.line),
    )
