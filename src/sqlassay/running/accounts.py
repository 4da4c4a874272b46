"""The engine says what a statement reads, the parser says so too: which of them holds, and where do they disagree?

Specification section 4: the engine is the first source, the parser the second. An engine's account is taken part by
part: what it leaves open (None) stays the parser's.
"""

from __future__ import annotations

from dataclasses import replace

from sqlassay.records.execution import Account
from sqlassay.records.query import Comprehension, Understanding


def reconcile(
    understood: Comprehension | None, account: Account | None
) -> tuple[Comprehension | None, tuple[str, ...]]:
    """What a query reads by both sources together, and where they contradict each other.

    A query that the parser cannot resolve stays unresolved: the engine knows no pieces.
    """
    if account is None or not isinstance(understood, Understanding):
        return understood, ()
    said: list[str] = []
    tables = _choose("tables", account.tables, understood.tables, said)
    base = _choose("base_tables", account.base_tables, understood.base_tables, said)
    columns = _choose("columns_read", account.columns_read, understood.columns_read, said)
    origins = understood.origins
    if account.origins is not None and len(account.origins) == len(understood.origins):
        origins = tuple(
            _origin(i, engine, parser, said)
            for i, (engine, parser) in enumerate(zip(account.origins, understood.origins, strict=True))
        )
    elif account.origins is not None:
        said.append(f"columns: engine {len(account.origins)}, parser {len(understood.origins)}")
    merged = replace(
        understood,
        tables=understood.tables if tables is None else tables,
        base_tables=base,
        columns_read=understood.columns_read if columns is None else columns,
        origins=origins,
    )
    return merged, tuple(said)


def _choose(
    what: str, engine: tuple[str, ...] | None, parser: tuple[str, ...] | None, said: list[str]
) -> tuple[str, ...] | None:
    if engine is None or parser is None or set(engine) == set(parser):
        return parser if engine is None else engine
    only_engine, only_parser = sorted(set(engine) - set(parser)), sorted(set(parser) - set(engine))
    said.append(f"{what}: only engine {only_engine}, only parser {only_parser}")
    return engine


def _origin(position: int, engine: str | None, parser: str | None, said: list[str]) -> str | None:
    """An engine's None may mean that it cannot see through (a set operation, a subquery it materialised)."""
    if engine is None or engine == parser:
        return parser
    if parser is not None:
        said.append(f"origin of column {position + 1}: engine {engine}, parser {parser}")
    return engine if parser is not None else None
