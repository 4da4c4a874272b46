"""What a metric can say about a case: a share, a quantity, that it is undefined, or that it broke."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a metric is undefined: a closed list."""

    GOLD_FAILED = "gold_failed"
    HARNESS_FAILED = "harness_failed"
    NO_SQL = "no_sql"
    NO_PAIRS = "no_pairs"
    EMPTY_RESULT = "empty_result"
    TRUNCATED = "truncated"
    UNRESOLVED = "unresolved"
    NOTHING_TO_COUNT = "nothing_to_count"
    NOT_RECORDED = "not_recorded"
    OFFERED_INCOMPLETE = "offered_incomplete"
    NOT_ASKED = "not_asked"
    NOT_APPLICABLE = "not_applicable"


class Ceiling(StrEnum):
    """What limits a measurement in a case: a closed list."""

    GOLD_ERROR = "gold_error"
    TRUNCATED = "truncated"
    TRUNCATED_SHOWN = "truncated_shown"
    NO_ROW_KEY = "no_row_key"
    LARGE_SHELF = "large_shelf"
    AMBIGUOUS_PAIR = "ambiguous_pair"
    LABELS_CROSSED = "labels_crossed"
    SWAP_UNPROVEN = "swap_unproven"
    UNRESOLVED = "unresolved"
    TIES_UNKNOWN = "ties_unknown"
    TIE_AT_LIMIT = "tie_at_limit"
    DECIDED_BY_TOLERANCE = "decided_by_tolerance"
    BOTH_EMPTY = "both_empty"
    WEAK_EVIDENCE = "weak_evidence"
    NONDETERMINISTIC = "nondeterministic"
    LEAK = "leak"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A share `hits / total` with `0 <= hits <= total` and `total > 0`; counts are kept, not only the quotient.

    `hits` may be fractional (a sum of pair precisions).

    >>> Ratio(hits=2, total=3).value
    0.6666666666666666
    >>> Ratio(hits=0, total=0)
    Traceback (most recent call last):
        ...
    ValueError: a ratio needs a total above 0; use Undefined
    """

    hits: float
    total: float

    def __post_init__(self) -> None:
        if not self.total > 0:
            raise ValueError("a ratio needs a total above 0; use Undefined")
        if not 0 <= self.hits <= self.total:
            raise ValueError(f"hits {self.hits} outside 0..{self.total}")

    @property
    def value(self) -> float:
        return self.hits / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A finite number with a unit: `seconds`, `tokens`, `count`, `usd`, `ratio`."""

    value: float
    unit: str

    def __post_init__(self) -> None:
        if self.value != self.value or self.value in (float("inf"), float("-inf")):
            raise ValueError("a reading is never NaN or infinite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """No denominator: the metric stays out of the mean and is counted under `reason`."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The metric itself failed: our bug, counted as a harness error."""

    error: str


Reading = Ratio | Quantity | Undefined | Broken


def ratio(hits: float, total: float, *, otherwise: Reason) -> Ratio | Undefined:
    """`hits / total`, or undefined for `otherwise` when there is nothing to divide by.

    >>> ratio(1, 2, otherwise=Reason.NOTHING_TO_COUNT)
    Ratio(hits=1, total=2)
    >>> ratio(0, 0, otherwise=Reason.NOTHING_TO_COUNT)
    Undefined(reason=<Reason.NOTHING_TO_COUNT: 'nothing_to_count'>)
    """
    return Ratio(hits=hits, total=total) if total > 0 else Undefined(reason=otherwise)


def verdict(holds: bool) -> Ratio:
    """One yes/no observation as 1/1 or 0/1.

    >>> verdict(True)
    Ratio(hits=1, total=1)
    """
    return _YES if holds else _NO


_YES, _NO = Ratio(hits=1, total=1), Ratio(hits=0, total=1)
