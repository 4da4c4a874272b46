"""One case as examined: the sole input of every metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlassay.records.case import Case
from sqlassay.records.execution import Execution, NotRun
from sqlassay.records.opinion import Opinion
from sqlassay.records.query import Comprehension
from sqlassay.records.relation import Schema
from sqlassay.records.turn import OfferedTable, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One query with what came of running it and what it says.

    `sql` is the text that was executed, None when there was none. `auxiliary` is the execution of
    `comprehension.order_plan.hidden_sql`, for gold sides that need it.
    """

    sql: str | None
    execution: Execution = NotRun()
    comprehension: Comprehension | None = None
    auxiliary: Execution | None = None
    disagreements: tuple[str, ...] = ()
    """Where the engine's own account and the parser contradict each other, in words."""
    left_out: int = 0
    """Rows that the query gave and `execution` lacks, because a record keeps large results in part only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """What the retriever answered when the harness itself called it with the question."""

    offered: tuple[OfferedTable, ...] | None = None
    examples: tuple[str, ...] = ()
    error: str | None = None
    latency_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Case, turn, both sides, opinions and schema; `golds` has one side per accepted gold query, in case order."""

    case: Case
    turn: Turn
    golds: Sequence[Side] = ()
    candidate: Side = Side(sql=None)
    schema: Schema | None = None
    direct: Direct | None = None
    hidden_sql: tuple[str, ...] = ()
    """Gold texts of the case and its twins that leave-one-out hid: what a leak would show."""
    hidden_ids: tuple[str, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    chosen: int = 0
    """Position in `golds` of the gold query that every family uses."""
    others: Mapping[str, tuple[Execution, Execution]] = field(default_factory=dict)
    """Gold and candidate as another benchmark's rule runs them, by variant (`spider`: without DISTINCT)."""
    fault: str | None = None
    """Set when the harness could not carry the trial out (connection lost, agent unreachable)."""
