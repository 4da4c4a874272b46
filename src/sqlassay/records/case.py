"""What a case is: a question with what is known to be right about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Status(StrEnum):
    """How a turn ended."""

    SUCCESS = "SUCCESS"
    CLARIFICATION = "CLARIFICATION"
    UNSUPPORTED = "UNSUPPORTED"
    FALLBACK = "FALLBACK"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    ERROR = "ERROR"

    @property
    def is_refusal(self) -> bool:
        """Asking and declining are refusals; errors and exhausted budgets are not.

        >>> Status.FALLBACK.is_refusal, Status.ERROR.is_refusal
        (True, False)
        """
        return self in (Status.CLARIFICATION, Status.UNSUPPORTED, Status.FALLBACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """The whole table counts: same multiset of rows, ordered only when the gold's outermost query is."""

    kind: Literal["table"] = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdSetShape:
    """The set of ids in `column` counts; other columns are free."""

    column: str
    kind: Literal["id_set"] = "id_set"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingShape:
    """The ids in `column` count, in order; the gold must have an outermost ORDER BY."""

    column: str
    kind: Literal["ranking"] = "ranking"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarShape:
    """One number or value counts."""

    kind: Literal["scalar"] = "scalar"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsShape:
    """Group keys in `columns` with the totals in the gold's other columns count."""

    columns: tuple[str, ...]
    kind: Literal["groups"] = "groups"


Shape = TableShape | IdSetShape | RankingShape | ScalarShape | GroupsShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """When two numbers are equal.

    `guarded` (default): |a-b| <= 0.01 and (|a-b| <= 10 % of the larger or one is the other rounded to 2-6 decimals).
    `plain`: |a-b| <= max(abs, rel * max(|a|, |b|)). `rounding`: only the rounding rule. `exact`: equal numbers only.
    """

    mode: Literal["guarded", "plain", "rounding", "exact"] = "guarded"
    abs: str = "0.01"
    """A decimal in text, so that it is exact."""
    rel: str = "0"


class Ordered(StrEnum):
    """Whether order counts: decided by the gold's outermost ORDER BY, always, or never."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What should happen besides the rows: the terminal status, and what stages should produce."""

    terminal_status: Status | None = None
    """None only before defaults are applied: SUCCESS when there is gold SQL."""
    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a case was written, for messages."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with what is known to be right about it."""

    id: str
    question: str
    phrasings: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    """Earlier user messages of a conversation; `question` is the newest and the only one scored."""
    category: str | None = None
    difficulty: str | None = None
    tags: tuple[str, ...] = ()
    database: str | None = None
    gold_sql: tuple[str, ...] = ()
    """Accepted gold queries, in order of preference; empty for a behaviour case."""
    compare_on: Shape = TableShape()
    expect: Expectation = Expectation()
    gold_rows: Sequence[Sequence[Any]] | None = None
    expected_answer: str | None = None
    schema_context: str | None = None
    claims: tuple[str, ...] = ()
    tolerance: Tolerance | None = None
    ordered: Ordered = Ordered.AUTO
    optional_columns: tuple[str, ...] = ()
    control: bool = False
    at: str | None = None
    notes: str | None = None
    place: Place | None = None

    @property
    def expected_status(self) -> Status:
        return self.expect.terminal_status or Status.SUCCESS

    def wording(self, phrasing: int) -> str:
        """The wording put to the agent: 0 is the question itself, k the k-th phrasing."""
        return self.question if phrasing == 0 else self.phrasings[phrasing - 1]
