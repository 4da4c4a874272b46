"""What the agent may look at for a question: table definitions and worked examples, by shared words."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path

TABLE_WORDS = {
    "films": "film title year runtime country language budget box office revenue release longest newest oldest",
    "people": "director directed actor starring wrote who person people",
    "credits": "director directed actor starring wrote who credit",
    "ratings": "rating rated score above votes critics audience",
    "v_genres": "genre documentary drama comedy sci-fi crime animation animated horror romance music wildlife",
    "v_film_genres": "genre documentary drama comedy sci-fi crime animation animated horror romance music wildlife",
}


def opaque(case_id: str) -> str:
    """The id under which sqlassay asks to hide an example."""
    return hashlib.sha256(case_id.encode()).hexdigest()[:16]


def _stems(text: str) -> set[str]:
    return {re.sub(r"(ies|es|y|s|d|ed|ing)$", "", word) for word in re.findall(r"[\w-]{3,}", text.lower())}


class Retriever:
    """Finds tables and examples for a question; an example that is to be hidden is never served."""

    def __init__(self, database: Path, examples: list[tuple[str, str, str]]) -> None:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')")
            self.ddl = dict(rows.fetchall())
        self.examples = examples

    def tables(self, question: str) -> list[dict[str, str]]:
        words = _stems(question)
        found = [name for name, hints in TABLE_WORDS.items() if words & _stems(hints)]
        return [{"name": name, "ddl": self.ddl[name]} for name in dict.fromkeys(["films", *found])]

    def similar(self, question: str, *, hide: set[str], hide_sql: set[str] = frozenset()) -> list[dict[str, str]]:
        words = _stems(question)
        scored = [
            (len(words & _stems(text)) / len(words | _stems(text)), case_id, text, sql)
            for case_id, text, sql in self.examples
            if opaque(case_id) not in hide and case_id not in hide and sql not in hide_sql
        ]
        best = sorted(scored, key=lambda item: (-item[0], item[1]))[:3]
        return [{"id": case_id, "question": text, "sql": sql} for score, case_id, text, sql in best if score > 0.3]
