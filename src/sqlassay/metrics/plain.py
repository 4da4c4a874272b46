"""Is the exact verdict plain from two results, before either text is read?

What reading the texts adds (sort keys, ties at a LIMIT, expressions) can only matter where this says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlassay.metrics.verdicts import coercions_of
from sqlassay.records.case import Case, Ordered, TableShape
from sqlassay.records.execution import ErrorKind, Execution, Rows, error_of
from sqlassay.records.settings import ScoreSettings
from sqlassay.tables.apart import plainly_apart
from sqlassay.tables.columns import ColumnTies
from sqlassay.tables.quick import plain_verdict
from sqlassay.tables.rule import Facts, Links, Order, TableRule

_ORDERS_OR_CUTS = ("order", "limit", "fetch", "top", "offset", "rownum")
"""A text without any of these neither orders its rows nor cuts them off, in any dialect."""


def plain_exact(
    case: Case, texts: tuple[str, str], ran: tuple[Execution, Execution], settings: ScoreSettings = ScoreSettings()
) -> bool | None:
    """`execution.exact` of a case with one gold query where what came of both settles it; None where it does not.

    `texts` and `ran` are those of the gold and of the candidate. Where this says something,
    `sqlassay.metrics.score.score` says the same (specification section 5.1).
    """
    gold, candidate = ran
    if not isinstance(gold, Rows):
        return None
    if not isinstance(candidate, Rows):
        failed = error_of(candidate)
        return None if failed is None or failed[0] is ErrorKind.CONNECTION else False
    reference, answer = gold.relation, candidate.relation
    if not isinstance(case.compare_on, TableShape) or case.optional_columns or settings.columns == "by_name":
        return None
    if reference.truncated or answer.truncated or not reference.width:
        return None
    if reference.width != answer.width or reference.height != answer.height:
        return False
    lowered = [text.lower() for text in texts]
    uncut = not any(word in lowered[0] for word in _ORDERS_OR_CUTS)
    bag = uncut and case.ordered is not Ordered.YES
    rule = TableRule(
        tolerance=case.tolerance or settings.tolerance,
        columns=settings.columns,
        order=Order(groups=None if bag else range(reference.height)),
        coercions=coercions_of(settings),
    )
    if plain_verdict(reference, answer, rule) is not None:
        return True if settings.columns == "by_position" or _stay_in_place(lowered, (gold, candidate)) else None
    return False if uncut and plainly_apart(reference, answer, rule) else None


def _stay_in_place(lowered: Sequence[str], ran: tuple[Rows, Rows]) -> bool:
    """Whether no reading of the texts can prove that a column belongs to another one than the one in its place.

    A parser may know more origins than the engine only where a query has another one in it; and then, where all
    origins are told apart and at most one is missing, there is no second column that it could belong to.
    """
    width = ran[0].relation.width
    if width == 1:
        return True
    here, there = (None if side.account is None else side.account.origins for side in ran)
    if here is None or there is None or not len(here) == len(there) == width:
        return False
    if all(text.count("select") == 1 and "collate" not in text for text in lowered):
        if here == there:
            return True
        names = tuple(side.relation.names for side in ran)
        ties = ColumnTies(Links(reference=Facts(origins=here), candidate=Facts(origins=there)), *names)
        return all(ties.permitted(i, i) for i in range(width))
    known = [origin for origin in here if origin is not None]
    return here == there and len(set(known)) == len(known) >= width - 1
