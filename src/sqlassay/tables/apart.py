"""Are two results plainly different, whatever their order and whatever is known of their columns?"""

from __future__ import annotations

from sqlassay.records.relation import Relation
from sqlassay.tables.columns import Compatibility
from sqlassay.tables.different import plainly_different
from sqlassay.tables.rows import Plan, bench_of
from sqlassay.tables.rule import TableRule
from sqlassay.tables.tolerance import agreement


def plainly_apart(reference: Relation, candidate: Relation, rule: TableRule) -> bool:
    """Whether shape or values alone rule out that the tables are the same; False leaves the question open.

    Optional columns and rows that a tie may exchange are not thought of: with these nothing is plain.

    >>> from sqlassay.records.relation import Column
    >>> def table(*rows):
    ...     return Relation(columns=tuple(Column(name=name) for name in "ab"[: len(rows[0])]), rows=rows)
    >>> [plainly_apart(table((1, 2)), other, TableRule()) for other in (table((2, 1)), table((1, 3)), table((1,)))]
    [False, True, True]
    """
    if reference.width != candidate.width or reference.height != candidate.height:
        return True
    if plainly_different(reference, candidate, rule):
        return True
    bench = bench_of(
        reference,
        candidate,
        plan=Plan(required=reference.height),
        agree=agreement(rule.tolerance),
        coercions=rule.coercions,
    )
    if rule.columns == "by_position":
        return not all(bench.holds(i, i) for i in range(reference.width))
    return Compatibility(bench, lambda _i, _j: True).matrix(range(reference.width)) is None
