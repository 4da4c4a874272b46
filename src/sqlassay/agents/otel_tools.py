"""What did the tools and the databases of a trace do? Tool spans and database spans, put together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlassay.agents.dialogue import Entry, Request
from sqlassay.agents.langchain_messages import entry, is_message
from sqlassay.agents.messages import Call, Outcome, arguments_of, mapping, text_or_none, whole
from sqlassay.agents.otel_spans import Span, Trace, first, parsed, tool_or_agent_name
from sqlassay.agents.statements import looks_like_sql, role_of
from sqlassay.agents.toolbox import Toolbox
from sqlassay.records.turn import Role

_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_call.function.arguments", "tool_arguments", "input.value")
_RESULTS = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")
_PARALLEL = 50
"""So many waiting calls are looked through for the one with a span's arguments."""
_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")


class Waiting:
    """Calls of one tool that no span has answered yet, in the order in which they were made."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, frozenset[str]] = OrderedDict()

    def add(self, call_id: str, arguments: Mapping[str, Any] | None) -> None:
        self._asked[call_id] = _texts(arguments)

    def answer(self, call_id: str | None) -> None:
        self._asked.pop(call_id or "", None)

    def of(self, span: Span) -> str | None:
        """The call that a span without a call id answers: of parallel ones that with its arguments, else the first."""
        given = _texts(_arguments(span))
        likely = islice(self._asked.items(), _PARALLEL)
        same = next((call_id for call_id, texts in likely if texts & given), None)
        return same or next(iter(self._asked), None)


def _texts(arguments: Mapping[str, Any] | None) -> frozenset[str]:
    return frozenset(value.strip() for value in (arguments or {}).values() if isinstance(value, str))


def of_tool(span: Span, path: tuple[str, ...], waiting: Waiting, open_ids: set[str]) -> Iterator[Entry]:
    """A tool's reply, after a request of its own where no model's message shows one."""
    name = tool_or_agent_name(span)
    content = result_of(span)
    call_id = text_or_none(first(span.attributes, _CALL_IDS))
    failed: bool | None = None
    if is_message(content):
        reply = entry(content)
        content, failed = reply.content, reply.failed
        call_id = call_id or reply.reply_to
    call_id = call_id or waiting.of(span) or span.span_id
    if call_id not in open_ids:
        yield Entry(
            role="agent",
            requests=(Request(tool=name, arguments=_arguments(span), call_id=call_id),),
            path=path,
            aside=True,
        )
    if span.failed:
        failed = True
        content = content if content is not None else (span.exception or ("", span.message))[1] or span.message
    yield Entry(
        role="tool", reply_to=call_id, name=name, content=content, failed=failed, replaced=_used(span), path=path
    )


def _used(span: Span) -> Mapping[str, Any] | None:
    """The arguments with which a tool was really called: a step may have changed what the model wrote."""
    raw = first(span.attributes, _ARGUMENTS)
    return {"input": raw} if looks_like_sql(raw) else arguments_of(raw) or None


def _arguments(span: Span) -> Mapping[str, Any] | None:
    raw = first(span.attributes, _ARGUMENTS)
    if raw is None:
        raw = mapping(parsed(span.attributes.get("traceloop.entity.input"))).get("inputs")
    if isinstance(raw, str) and raw[:1] not in ("{", "["):
        return {"input": raw}
    found = arguments_of(raw)
    if found is not None and {"args", "kwargs"} <= set(found):
        args = found["args"] if isinstance(found["args"], list) else []
        return {**{f"arg{number}": value for number, value in enumerate(args)}, **mapping(found["kwargs"])}
    return found


def result_of(span: Span) -> Any:
    """What a tool's span gave back: a LangChain message where it is one, else the attribute's value."""
    content = first(span.attributes, _RESULTS)
    data = parsed(content)
    if is_message(data):
        return data
    if isinstance(data, Mapping) and set(data) == {"output"}:
        return data["output"]
    return content


def with_database(calls: Sequence[Call], trace: Trace, tools: Toolbox) -> tuple[Call, ...]:
    """Statements that database spans show as sent: they take the place of what the tool was given."""
    databases = [span for span in trace.spans if span.kind == "db"]
    if not databases:
        return tuple(calls)
    owner: dict[str, list[Span]] = {}
    alone: list[Span] = []
    ids = _call_ids(trace, calls)
    for span in databases:
        around = next((ids[one.span_id] for one in trace.above(span) if one.span_id in ids), None)
        if around is None:
            alone.append(span)
        else:
            owner.setdefault(around, []).append(span)
    found: list[Call] = []
    for call in calls:
        sent = owner.get(call.call_id or "", [])
        kind = tools.kind(call.tool)
        reads = [span for span in sent if role_of(_sql(span)) is not Role.INTROSPECTION]
        if kind not in ("query", None) or not reads:
            found.extend(_sent(span, call, None) for span in sent)
            found.append(call)
            continue
        outcome = call.outcome if len(reads) == 1 else None
        found.extend(_sent(span, call, outcome if span in reads else None) for span in sent)
    return (*found, *(_sent(span, None, None, path=trace.path(span)) for span in alone))


def _call_ids(trace: Trace, calls: Sequence[Call]) -> Mapping[str, str]:
    """Call ids by the id of the tool span that answered them."""
    known = {call.call_id for call in calls}
    free: dict[str, Waiting] = {}
    for call in calls:
        free.setdefault(call.tool, Waiting()).add(call.call_id or "", call.arguments)
    found: dict[str, str] = {}
    for span in trace.spans:
        if span.kind != "tool":
            continue
        content = result_of(span)
        stated = text_or_none(first(span.attributes, _CALL_IDS))
        stated = stated or (entry(content).reply_to if is_message(content) else None)
        waiting = free.get(tool_or_agent_name(span), Waiting())
        call_id = stated if stated in known else span.span_id if span.span_id in known else waiting.of(span)
        if call_id is not None:
            found[span.span_id] = call_id
            waiting.answer(call_id)
    return found


def _sql(span: Span) -> str:
    return str(first(span.attributes, ("db.query.text", "db.statement")) or "")


def _sent(span: Span, call: Call | None, outcome: Outcome | None, *, path: tuple[str, ...] = ()) -> Call:
    """One statement as it was sent, with the tool's own words as what was written first."""
    failed = span.failed or span.attributes.get("error.type") is not None
    error = (span.exception or ("", span.message))[1] or span.message or text_or_none(span.attributes.get("error.type"))
    rows = whole(span.attributes.get("db.response.returned_rows"))
    if failed:
        outcome = Outcome(content=None, failed=True, error=error or "the database span failed")
    elif outcome is None:
        outcome = Outcome(content=None if rows is None else {"row_count": rows})
    system = first(span.attributes, ("db.system.name", "db.system"))
    return Call(
        tool=call.tool if call is not None else str(system or "database"),
        arguments={"sql": _sql(span)},
        call_id=call.call_id if call is not None else span.span_id,
        outcome=outcome,
        path=call.path if call is not None else path,
        written=call.arguments if call is not None else None,
        kind="query",
        duration_s=span.duration_s,
    )
