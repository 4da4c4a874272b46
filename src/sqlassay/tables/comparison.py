"""What did comparing two whole tables give? One record, read by verdicts, ceilings and the output family."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlassay.records.value import Ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What comparing two whole tables gave.

    `assignment` is the candidate position per reference column (None for an absent optional one) under which the rows
    are equal; None when they are not. `same_rows` is the verdict with order left out.
    """

    exact: bool
    by_position: bool
    with_extra: bool
    same_rows: bool
    assignment: tuple[int | None, ...] | None = None
    ceilings: frozenset[Ceiling] = frozenset()


DIFFERENT: Final = Comparison(exact=False, by_position=False, with_extra=False, same_rows=False)
"""Results that nothing could make the same, and nothing more to say of it."""


@lru_cache(maxsize=512)
def as_they_stand(width: int, *, empty: bool, single: bool, crossed: bool) -> Comparison:
    """Equal rows, every column in its place. `single` is one row or one value, `crossed` names that changed places.

    >>> as_they_stand(2, empty=False, single=True, crossed=False).ceilings
    frozenset({<Ceiling.WEAK_EVIDENCE: 'weak_evidence'>})
    """
    found = {Ceiling.BOTH_EMPTY: empty, Ceiling.WEAK_EVIDENCE: single, Ceiling.LABELS_CROSSED: crossed}
    return Comparison(
        exact=True,
        by_position=True,
        with_extra=True,
        same_rows=True,
        assignment=tuple(range(width)),
        ceilings=frozenset(ceiling for ceiling, holds in found.items() if holds),
    )
