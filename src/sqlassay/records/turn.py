"""What an agent did with one question: the only thing that metrics know about agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlassay.records.ask import Message
from sqlassay.records.case import Status


class StatusSource(StrEnum):
    """How the status was known; reports count the last two apart."""

    DECLARED = "declared"
    TYPED = "typed"
    FLAG = "flag"
    EXCEPTION = "exception"
    FINISH_REASON = "finish_reason"
    INFERRED = "inferred"
    TEXT_RULE = "text_rule"


class Role(StrEnum):
    """What a statement was for."""

    QUERY = "query"
    INTROSPECTION = "introspection"
    CHECK = "check"
    EXPLAIN = "explain"
    WRITE = "write"


class CandidateSource(StrEnum):
    """How the answer query was known."""

    DECLARED = "declared"
    LINKED = "linked"
    ONLY_ONE = "only_one"
    LAST_SUCCESSFUL = "last_successful"
    NONE = "none"


class TurnErrorKind(StrEnum):
    AGENT_CRASH = "agent_crash"
    AGENT_TIMEOUT = "agent_timeout"
    TRANSPORT = "transport"
    EXTRACTION = "extraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the agent saw of a statement's result, and whether and by what it was cut."""

    content: Any = None
    truncated: bool | None = None
    truncated_by: str | None = None
    row_cap: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One statement the agent wrote, in the order it was sent."""

    sql: str
    sql_written: str | None = None
    role: Role = Role.QUERY
    executed: bool | None = None
    succeeded: bool | None = None
    error: str | None = None
    row_count: int | None = None
    seen: Seen | None = None
    duration_s: float | None = None
    tool: str | None = None
    call_id: str | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The table shown to the user; `row_cap` where the system cuts it."""

    columns: tuple[str, ...] = ()
    rows: Sequence[Sequence[Any]] | None = None
    row_count: int | None = None
    row_cap: int | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTable:
    """A table the agent was offered; only one whose DDL arrived counts as offered."""

    name: str
    has_ddl: bool = True
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What retrieval handed to the agent in this turn; `offered` None means unknown."""

    offered: tuple[OfferedTable, ...] | None = None
    offered_complete: bool = True
    examples: tuple[str, ...] = ()
    """Case ids or SQL texts handed to the agent as examples."""
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the turn took; None where unknown. Seconds, tokens, US dollars."""

    model_calls: int | None = None
    tool_calls: int | None = None
    steps: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnError:
    kind: TurnErrorKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The normalised record of one question put to the agent."""

    case_id: str = ""
    question: str = ""
    phrasing: int = 0
    repeat: int = 0
    status: Status | None = None
    """None only when the record holds neither a status nor a query nor an answer (`extractor_empty`)."""
    status_source: StatusSource = StatusSource.INFERRED
    history: tuple[Message, ...] = ()
    queries: tuple[Query, ...] = ()
    statements_complete: bool = True
    """False where statements may have been executed that `queries` cannot show: then none is known not to exist."""
    candidate_sql: str | None = None
    candidate_source: CandidateSource = CandidateSource.NONE
    answer: str | None = None
    returned: Returned | None = None
    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    retrieval: Retrieval | None = None
    usage: Usage = Usage()
    error: TurnError | None = None
    gaps: tuple[str, ...] = ()
    adapter: str = ""
    raw_ref: str | None = None
    asked_again: bool = False

    def to_dict(self) -> dict[str, Any]:
        """A `turns.jsonl` line as a plain mapping."""
        from sqlassay.records.plain import to_plain

        plain = to_plain(self)
        assert isinstance(plain, dict)
        return plain
