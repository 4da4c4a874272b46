"""Which cases ask for the same thing? Twins have an equivalent gold query: equal after canonicalisation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlassay.records.case import Case
from sqlassay.records.query import Comprehension, Understanding


def twins(cases: Iterable[Case], understandings: Mapping[str, Sequence[Comprehension]]) -> Mapping[str, frozenset[str]]:
    """Case id to the ids of its twins (specification sections 1 and 5.2); a case is not its own twin.

    `understandings` holds, by case id, what each accepted gold query says. Two cases are twins when any of their
    gold queries are equal, on the same database. A query that does not parse is equal to the same text only.

    >>> from sqlassay.records.relation import Schema, TableSchema
    >>> from sqlassay.sql.schema import index
    >>> from sqlassay.sql.understand import understand
    >>> shop = index(Schema(dialect="sqlite", tables=(TableSchema(name="t", columns=("a", "b")),)))
    >>> golds = {"x": "SELECT a FROM t WHERE b = 1 AND a > 2", "y": "select u.a from t u where 2 < u.a and u.b = 1"}
    >>> cases = [Case(id=name, question="?", gold_sql=(sql,)) for name, sql in golds.items()]
    >>> twins(cases, {name: (understand(sql, shop),) for name, sql in golds.items()})["x"]
    frozenset({'y'})
    """
    listed = list(cases)
    found: dict[str, frozenset[str]] = {case.id: frozenset() for case in listed}
    for group in twin_groups(listed, {name: tuple(map(twin_text, read)) for name, read in understandings.items()}):
        for name in group:
            found[name] |= group - {name}
    return found


def twin_text(understood: Comprehension | None) -> str | None:
    """The text that equivalent gold queries have in common; None where the query cannot be told from its own text."""
    known = isinstance(understood, Understanding) and not understood.unknown_names
    return understood.canonical if known and isinstance(understood, Understanding) else None


def twin_groups(cases: Iterable[Case], texts: Mapping[str, Sequence[str | None]]) -> tuple[frozenset[str], ...]:
    """The ids of cases that share a gold query, two or more each, where the `twin_text` of every gold is known already.

    A case that accepts several queries may be in several groups. Says the same as `twins` in as many steps as there
    are golds, however many cases ask for the same thing.
    """
    groups: dict[tuple[str | None, str], set[str]] = defaultdict(set)
    for case in cases:
        read = texts.get(case.id, ())
        for i, sql in enumerate(case.gold_sql):
            known = read[i] if i < len(read) else None
            groups[case.database, " ".join(sql.split()) if known is None else known].add(case.id)
    return tuple(frozenset(group) for group in groups.values() if len(group) > 1)
