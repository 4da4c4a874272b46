"""Does the adapter still recognise the agent? One turn: what was extracted from where, and what never showed up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.fields import brief, did_you_mean
from sqlassay.agents.replay import ReplayAgent
from sqlassay.errors import AdapterBroken, ConfigError
from sqlassay.records.ask import Ask
from sqlassay.records.turn import CandidateSource, StatusSource, Turn

_NODES = 200_000
_CALLED = ("args", "arguments", "input", "tool_call_id", "call_id", "parameters", "kwargs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must be seen in the turn: tool names, and fields of the record (`candidate_sql`, `stages.plan`)."""

    tools: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One field of the turn record: what was extracted (shortened) and from where; None where nothing was."""

    field: str
    value: str | None
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One turn examined. It is healthy when there is no problem; gaps alone are no problem."""

    agent: str
    question: str
    turn: Turn
    found: tuple[Finding, ...]
    missing: tuple[Finding, ...]
    tools_seen: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems

    def lines(self) -> Iterator[str]:
        """What a person reads: extracted fields with their sources, then what is missing, then problems."""
        yield f"adapter {self.turn.adapter or self.agent}, question {brief(self.question)}"
        for finding in self.found:
            yield f"  {finding.field}: {finding.value}  <- {finding.source}"
        if self.missing:
            yield f"  not extracted: {', '.join(finding.field for finding in self.missing)}"
        if self.tools_seen:
            yield f"  tools called: {', '.join(self.tools_seen)}"
        for gap in self.turn.gaps:
            yield f"  gap: {gap}"
        for problem in self.problems:
            yield f"  PROBLEM: {problem}"


async def examine(agent: Agent, ask: Ask, *, expected: Expected = Expected()) -> Examination:
    """Put one question to the agent and examine the turn that comes of it; of a replay, its first recorded line.

    Raises:
        AgentFailure, AgentUnreachable: there was no answer to examine.
        ExtractionError: the adapter cannot read the answer at all.
    """
    payload = agent.first() if isinstance(agent, ReplayAgent) else await agent.ask(ask)
    turn = agent.read(payload)
    return examined(turn, payload, agent=agent.name, question=ask.question, expected=expected)


def examine_payload(reader: Reader, payload: Any, *, expected: Expected = Expected()) -> Examination:
    """Examine what a reader takes out of a saved payload or trace.

    Raises:
        ExtractionError: the reader cannot read it at all.
    """
    turn = reader.read(payload)
    return examined(turn, payload, agent=reader.name, question=turn.question, expected=expected)


def require_healthy(examination: Examination) -> None:
    """Say what is wrong.

    Raises:
        AdapterBroken: an expected tool name or field was never seen, or nothing was extracted (exit code 4).
    """
    if not examination.healthy:
        raise AdapterBroken(
            f"the adapter does not recognise the agent: {'; '.join(examination.problems)}",
            hint="was a tool or field renamed? name it in read_settings.tools or in map",
        )


def examined(turn: Turn, payload: Any, *, agent: str, question: str, expected: Expected) -> Examination:
    """Examine a turn beside the payload that it was read from."""
    fields = [Finding(field=name, value=_shown(value), source=source) for name, value, source in _fields(turn)]
    tools = tuple(dict.fromkeys((*tool_names(payload), *(q.tool for q in turn.queries if q.tool is not None))))
    return Examination(
        agent=agent,
        question=question,
        turn=turn,
        found=tuple(finding for finding in fields if finding.value is not None),
        missing=tuple(finding for finding in fields if finding.value is None),
        tools_seen=tools,
        problems=tuple(_problems(turn, tools, expected)),
    )


def expected_from(settings: Mapping[str, Any]) -> Expected:
    """The expectations in an agent's section: `expect: {tools: [...], fields: [...]}`, and tools named in
    `read_settings.tools.query`.

    >>> expected_from({"expect": {"fields": ["candidate_sql"]}, "read_settings": {"tools": {"query": "ask_db"}}})
    Expected(tools=('ask_db',), fields=('candidate_sql',))

    Raises:
        ConfigError: `expect` is not of that form.
    """
    stated = settings.get("expect")
    stated = {} if stated is None else stated
    if not isinstance(stated, Mapping) or set(stated) - {"tools", "fields"}:
        raise ConfigError("agent.expect: expected a mapping with tools and fields")
    read = settings.get("read_settings")
    tools = read.get("tools") if isinstance(read, Mapping) else None
    named = tools.get("query") if isinstance(tools, Mapping) else None
    return Expected(
        tools=tuple(dict.fromkeys((*_names(stated.get("tools"), "tools"), *_names(named, "tools")))),
        fields=_names(stated.get("fields"), "fields"),
    )


def tool_names(payload: Any) -> tuple[str, ...]:
    """Names that look like tools called, anywhere in a payload, in order: whatever a reader makes of them.

    >>> tool_names({"messages": [{"tool_calls": [{"name": "ask_db", "args": {}}]}]})
    ('ask_db',)
    """
    found: dict[str, None] = {}
    left = _NODES
    stack: list[Any] = [payload]
    while stack and left:
        left -= 1
        node = stack.pop()
        if isinstance(node, Mapping):
            for key in ("tool_name", "gen_ai.tool.name", "tool.name"):
                if isinstance(node.get(key), str):
                    found.setdefault(node[key])
            name = node.get("name")
            if isinstance(name, str) and any(key in node for key in _CALLED):
                found.setdefault(name)
            stack.extend(reversed([value for value in node.values() if isinstance(value, (Mapping, list, tuple))]))
        elif isinstance(node, (list, tuple)):
            stack.extend(reversed([value for value in node if isinstance(value, (Mapping, list, tuple))]))
    return tuple(found)


def _fields(turn: Turn) -> Iterator[tuple[str, Any, str]]:
    yield "status", None if turn.status is None else turn.status.value, _status_source(turn)
    yield "candidate_sql", turn.candidate_sql, f"the answer query is {turn.candidate_source.value}"
    yield "answer", turn.answer, "the final text"
    tools = sorted({query.tool for query in turn.queries if query.tool is not None})
    by = f"tools {', '.join(tools)}" if tools else "statements in the payload or the recorder"
    yield "queries", _counted(turn), by
    yield "returned", turn.returned, "the shown table"
    for name, stage in turn.stages.items():
        yield f"stages.{name}", stage, "the agent's own stages"
    if not turn.stages:
        yield "stages", None, ""
    offered = None if turn.retrieval is None else turn.retrieval.offered
    names = None if offered is None else [table.name for table in offered]
    yield "retrieval.offered", names, "schema look-ups and DDL that the agent saw"
    usage = turn.usage
    for name in ("model_calls", "tool_calls", "steps", "tokens_in", "tokens_out", "cost_usd", "latency_s"):
        yield f"usage.{name}", getattr(usage, name), "usage"
    yield "error", None if turn.error is None else f"{turn.error.kind.value}: {turn.error.message}", "the error field"
    if turn.history:
        yield "history", f"{len(turn.history)} messages", "earlier turns"


def _problems(turn: Turn, tools: Sequence[str], expected: Expected) -> Iterator[str]:
    if turn.status is None and not turn.queries and turn.candidate_sql is None and not turn.answer:
        yield "neither query nor answer nor status was extracted"
    if turn.error is not None:
        yield f"the turn ended in an error ({turn.error.kind.value}): {turn.error.message}"
    used = {query.tool for query in turn.queries}
    for tool in expected.tools:
        if tool not in used and tool not in tools:
            near = did_you_mean(tool, tools)
            yield f"the tool {tool!r} was never called{near}; tools called: {', '.join(tools) or 'none'}"
    for field in expected.fields:
        if not _present(turn, field):
            yield f"the field {field!r} was never seen"
    for gap in turn.gaps:
        if gap.startswith("unrecognised tool ") or (gap.startswith("what '") and not turn.queries):
            yield gap
        if gap.startswith("status: ") or (": nothing at " in gap and not gap.startswith("error")):
            yield gap


def _present(turn: Turn, field: str) -> bool:
    """Whether a field of the record holds something; `sql` is `candidate_sql`."""
    value: Any = turn
    for name in ("candidate_sql" if field == "sql" else field).split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if value is None or value in ((), "", {}):
            return field == "error"
    if field in ("status", "status_source"):
        return turn.status_source is not StatusSource.INFERRED
    return field != "candidate_source" or turn.candidate_source is not CandidateSource.NONE


def _status_source(turn: Turn) -> str:
    return {
        StatusSource.DECLARED: "declared by the agent",
        StatusSource.TYPED: "a typed result",
        StatusSource.FLAG: "a flag",
        StatusSource.EXCEPTION: "an exception",
        StatusSource.FINISH_REASON: "the model's finish reason",
        StatusSource.INFERRED: "inferred: there is SQL or an answer, and no status",
        StatusSource.TEXT_RULE: "a rule on the words of the answer",
    }[turn.status_source]


def _counted(turn: Turn) -> str | None:
    if not turn.queries:
        return None
    ran = sum(query.executed is True for query in turn.queries)
    failed = sum(query.succeeded is False for query in turn.queries)
    return f"{len(turn.queries)} statements, {ran} executed, {failed} failed"


def _shown(value: Any) -> str | None:
    if value is None or value in ("", (), [], {}):
        return None
    text = value if isinstance(value, str) else brief(value)
    flat = " ".join(text.split())
    return flat if len(flat) <= 100 else flat[:97] + "..."


def _names(value: Any, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"agent.expect.{what}: expected a list of names")
