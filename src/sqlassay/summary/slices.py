"""Which slices of the run a case belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from sqlassay.records.case import Case

DIMENSIONS = ("category", "difficulty", "tag", "database", "tables")
"""What reports slice by; `tables` is the number of relations that the gold SQL reads."""


def slices_of(case: Case, *, tables: int | None = None) -> Iterator[tuple[str, str]]:
    """The (dimension, value) pairs of a case; a case without a category is in no slice of that dimension.

    >>> case = Case(id="a", question="?", category="filter", tags=("smoke", "fast"))
    >>> list(slices_of(case, tables=2))
    [('category', 'filter'), ('tag', 'smoke'), ('tag', 'fast'), ('tables', '2')]
    """
    if case.category is not None:
        yield "category", case.category
    if case.difficulty is not None:
        yield "difficulty", case.difficulty
    for tag in dict.fromkeys(case.tags):
        yield "tag", tag
    if case.database is not None:
        yield "database", case.database
    if tables is not None:
        yield "tables", str(tables)
