"""How are defog's question files read: several accepted queries after `;`, and `{a, b}` for any of these columns?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from sqlassay.datasets.foreign import Imported, Row, counted, find_databases, one_file, rows_of
from sqlassay.records.case import Case, Expectation, Place, Status

MAX_GOLDS = 64
"""Accepted queries of one case; the rest of a larger choice is left out and counted."""

_FILES = ("cases.jsonl", "questions_gen_postgres.csv", "questions_gen_sqlite.csv", "instruct_basic_postgres.csv")
_LITERALS = r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"
_PARTS = re.compile(rf"(?P<literal>{_LITERALS})|(?P<braces>\{{[^{{}}]*\}})|(?P<end>;)", re.DOTALL)
_APOLOGY = re.compile(r"\s*SELECT\s+'(?:[^'\s]|'')+(?:\s+(?:[^'\s]|'')+){2,}'(?:\s+AS\s+\w+)?\s*", re.IGNORECASE)
"""A query that says a sentence and reads nothing."""


def read(source: Path, *, databases: str | None = None, evidence: bool = False) -> Imported:
    """Cases of one of defog's question files (CSV with `query`, or JSONL with `gold_sql`).

    Every accepted query becomes one of the case's gold queries. A query that only says a sentence means that the
    question cannot be answered: the case then expects UNSUPPORTED. Rows whose `dialect` is not that of the databases
    (SQLite files, or PostgreSQL where `databases` is such a URL) are left out and counted, unless all are.
    Instructions go to `notes`; with `evidence` they are put to the agent too.

    Raises:
        DatasetError: a file or field is missing or malformed.
    """
    file = one_file(source, *_FILES)
    every = list(rows_of(file))
    wanted = "postgres" if (databases or "").startswith("postgres") else "sqlite"
    rows = [row for row in every if row.optional("dialect") in (None, wanted)] or every
    read_cases = [_case(row, f"defog_{file.stem}_{index:03d}", evidence) for index, row in enumerate(rows)]
    cases = tuple(case for case, _ in read_cases)
    names = (case.database for case in cases if case.database)
    found, missing = find_databases(names, root=file.parent, given=databases)
    notices = (
        *counted(len(every) - len(rows), f"cases left out: their SQL is not for {wanted}"),
        *counted(len(missing), f"databases not found: {', '.join(missing)}"),
        *counted(sum(left for _, left in read_cases), f"accepted queries left out beyond {MAX_GOLDS} a case"),
    )
    return Imported(cases=cases, databases=found, notices=notices, exact_as=("defog",))


def _case(row: Row, generated: str, evidence: bool) -> tuple[Case, int]:
    question = row.text("question")
    hint = row.optional("instructions")
    listed = row.fields.get("gold_sql_alternatives")
    query = ";".join(map(str, listed)) if isinstance(listed, list) and listed else row.text("query", "gold_sql")
    golds, left = accepted(query)
    refuses = all(_APOLOGY.fullmatch(gold) for gold in golds)
    case = Case(
        id=row.optional("id") or generated,
        question=f"{question}\n{hint}" if evidence and hint else question,
        category=row.optional("query_category", "category"),
        database=row.text("db_name", "db", "db_id"),
        gold_sql=() if refuses else golds,
        expect=Expectation(terminal_status=Status.UNSUPPORTED if refuses else Status.SUCCESS),
        notes=hint,
        place=Place(file=row.file, line=row.line),
    )
    return case, left


def accepted(query: str) -> tuple[tuple[str, ...], int]:
    """Every query that a defog gold accepts, and how many were left out beyond `MAX_GOLDS`.

    `;` separates alternatives. `{a, b}` stands for any non-empty choice of these columns, the whole choice first;
    an empty `{}` after it (GROUP BY) repeats what was chosen. Braces and semicolons in literals are literal.

    >>> accepted("SELECT {a, b} FROM t GROUP BY {}")[0]
    ('SELECT a, b FROM t GROUP BY a, b', 'SELECT a FROM t GROUP BY a', 'SELECT b FROM t GROUP BY b')
    """
    found: dict[str, None] = {}
    total = 0
    for alternative in _alternatives(query):
        count, expanded = _expand(alternative)
        total += count
        for one in itertools.islice(expanded, MAX_GOLDS):
            found.setdefault(" ".join(one.split()) if "\n" not in one else one.strip())
    kept = tuple(found)[:MAX_GOLDS]
    return kept, max(0, total - MAX_GOLDS)


def _alternatives(query: str) -> Iterator[str]:
    start = 0
    for match in _PARTS.finditer(query):
        if match["end"]:
            if query[start : match.start()].strip():
                yield query[start : match.start()].strip()
            start = match.end()
    if query[start:].strip():
        yield query[start:].strip()


def _expand(sql: str) -> tuple[int, Iterator[str]]:
    """How many queries one alternative stands for, and these queries one by one."""
    pieces: list[str] = []
    choices: list[list[str]] = []
    start = 0
    for match in _PARTS.finditer(sql):
        if match["braces"]:
            pieces.append(sql[start : match.start()])
            columns = _columns(match["braces"][1:-1])
            choices.append(_subsets(columns) if columns else [])
            start = match.end()
    tail = sql[start:]
    count = 1
    for options in choices:
        count *= max(1, len(options))

    def queries() -> Iterator[str]:
        for chosen in itertools.product(*(options for options in choices if options)):
            remaining, last, text = iter(chosen), "", ""
            for piece, options in zip(pieces, choices, strict=True):
                if options:
                    last = next(remaining)
                text += piece + last
            yield text + tail

    return count, queries()


def _columns(inside: str) -> list[str]:
    """The columns of one choice: commas inside parentheses do not separate."""
    columns, depth, current = [], 0, ""
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            columns.append(current.strip())
            current = ""
        else:
            current += letter
    return [column for column in (*columns, current.strip()) if column]


def _subsets(columns: list[str]) -> list[str]:
    """Every non-empty choice, larger ones first, at most `MAX_GOLDS` of them."""
    sizes = range(len(columns), 0, -1)
    chosen = itertools.chain.from_iterable(itertools.combinations(columns, size) for size in sizes)
    return [", ".join(choice) for choice in itertools.islice(chosen, MAX_GOLDS)]
