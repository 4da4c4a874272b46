"""Which spans does an OpenTelemetry export hold, and how do they lie in each other?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlassay.agents.messages import MAX_DEPTH, mapping, mappings, whole

_NAMES = ("gen_ai.tool.name", "tool.name", "tool_call.function.name", "gen_ai.agent.name", "traceloop.entity.name")
_LLM_OPERATIONS = frozenset(["chat", "text_completion", "generate_content", "completion"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span with plain attributes. Times are nanoseconds since the epoch, 0 where unknown."""

    span_id: str
    parent_id: str
    trace_id: str
    name: str
    attributes: Mapping[str, Any]
    start: int = 0
    end: int = 0
    failed: bool = False
    message: str = ""
    exception: tuple[str, str] | None = None
    """Type and message of the exception that the span recorded."""
    events: tuple[Mapping[str, Any], ...] = ()

    @property
    def kind(self) -> str:
        """`llm`, `tool`, `agent`, `db` or `other`, by the conventions of GenAI, OpenInference and databases."""
        get = self.attributes.get
        operation = str(get("gen_ai.operation.name") or "")
        stated = str(get("openinference.span.kind") or get("traceloop.span.kind") or "").lower()
        if get("db.query.text") is not None or get("db.statement") is not None:
            return "db"
        if operation == "execute_tool" or stated == "tool":
            return "tool"
        if stated in ("llm",) or operation in _LLM_OPERATIONS or get("llm.request.type") is not None:
            return "llm"
        if operation in ("invoke_agent", "create_agent", "invoke_workflow") or stated in ("agent", "workflow"):
            return "agent"
        return "other"

    @property
    def duration_s(self) -> float | None:
        return (self.end - self.start) / 1e9 if self.end >= self.start > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The spans of the newest trace in the order in which they started.

    `root` is the span without a parent, else the only agent whose parent is not in the export, else None.
    """

    spans: tuple[Span, ...]
    root: Span | None
    by_id: Mapping[str, Span] = field(default_factory=dict)
    left_out: int = 0

    def above(self, span: Span) -> Iterator[Span]:
        """The spans around one, from the inside out."""
        parent = self.by_id.get(span.parent_id)
        for _ in range(MAX_DEPTH * 4):
            if parent is None:
                return
            yield parent
            parent = self.by_id.get(parent.parent_id)

    def path(self, span: Span) -> tuple[str, ...]:
        """The sub-agents (or, without any, the tools) inside which a span lies; the outermost agent is no sub-agent."""
        around = list(self.above(span))
        tools = [one for one in around if one.kind == "tool"]
        if not tools:
            return ()
        inside = around[: around.index(tools[-1])]
        agents = [tool_or_agent_name(one) for one in inside if one.kind == "agent"]
        return tuple(reversed(agents or [tool_or_agent_name(one) for one in tools]))


def tool_or_agent_name(span: Span) -> str:
    """The name of a span's tool or agent, else the span's own name."""
    for key in (
        "gen_ai.tool.name",
        "tool.name",
        "tool_call.function.name",
        "gen_ai.agent.name",
        "traceloop.entity.name",
    ):
        if isinstance(span.attributes.get(key), str):
            return str(span.attributes[key])
    return span.name.removeprefix("execute_tool ").removesuffix(".tool")


def newest_trace(payload: Any) -> Trace | None:
    """The newest trace of an export that has any span of an agent in it; None where there are no spans at all."""
    spans = list(_spans(payload))
    if not spans:
        return None
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    telling = [trace for trace in traces.values() if any(span.kind != "other" for span in trace)]
    chosen = max(telling or list(traces.values()), key=lambda trace: min(span.start for span in trace))
    chosen.sort(key=lambda span: (span.start, -span.end))
    by_id = {span.span_id: span for span in chosen}
    tops = [span for span in chosen if span.parent_id not in by_id]
    agents = [span for span in tops if span.kind == "agent"]
    root = next((span for span in tops if not span.parent_id), agents[0] if len(agents) == 1 else None)
    return Trace(spans=tuple(chosen), root=root, by_id=by_id, left_out=len(telling) - 1 if telling else 0)


def _spans(payload: Any) -> Iterator[Span]:
    """Spans of OTLP JSON, of lines of it, of an SDK's console exporter, or of a plain list."""
    if isinstance(payload, list):
        for one in mappings(payload):
            yield from _spans(one)
    elif isinstance(payload, Mapping):
        for resource in mappings(payload.get("resourceSpans", payload.get("resource_spans"))):
            scopes = resource.get(
                "scopeSpans", resource.get("scope_spans", resource.get("instrumentationLibrarySpans"))
            )
            for scope in mappings(scopes):
                for span in mappings(scope.get("spans")):
                    yield _span(span)
        if isinstance(payload.get("spans"), list):
            yield from _spans(payload["spans"])
        elif "name" in payload and ("attributes" in payload or "spanId" in payload or "context" in payload):
            yield _span(payload)


def _span(span: Mapping[str, Any]) -> Span:
    context = mapping(span.get("context"))
    status = mapping(span.get("status"))
    code = str(status.get("code", status.get("status_code", "")))
    events = tuple(
        {"name": str(event.get("name") or ""), **attributes_of(event.get("attributes"))}
        for event in mappings(span.get("events"))
    )
    exception = next((event for event in events if event["name"] == "exception"), None)
    return Span(
        span_id=str(span.get("spanId") or span.get("span_id") or context.get("span_id") or id(span)),
        parent_id=str(span.get("parentSpanId") or span.get("parent_span_id") or span.get("parent_id") or ""),
        trace_id=str(span.get("traceId") or span.get("trace_id") or context.get("trace_id") or ""),
        name=str(span.get("name") or ""),
        attributes=attributes_of(span.get("attributes")),
        start=_time(span.get("startTimeUnixNano", span.get("start_time_unix_nano", span.get("start_time")))),
        end=_time(span.get("endTimeUnixNano", span.get("end_time_unix_nano", span.get("end_time")))),
        failed=code in ("2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR"),
        message=str(status.get("message") or status.get("description") or ""),
        exception=None
        if exception is None
        else (str(exception.get("exception.type") or ""), str(exception.get("exception.message") or "")),
        events=events,
    )


def _time(value: Any) -> int:
    if isinstance(value, (int, float)):
        return whole(value) or 0
    if isinstance(value, str):
        if value.isdecimal() and len(value) < 30:
            return int(value)
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1e9)
        except ValueError:
            return 0
    return 0


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes as a plain mapping, from OTLP's list of keys and typed values or from a mapping."""
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    return {str(one.get("key")): _value(one.get("value"), MAX_DEPTH) for one in mappings(value)}


def _value(value: Any, depth: int) -> Any:
    if not isinstance(value, Mapping) or depth == 0:
        return value
    for key, item in value.items():
        if key in ("arrayValue", "array_value"):
            listed = mapping(item).get("values")
            return [_value(one, depth - 1) for one in listed] if isinstance(listed, list) else []
        if key in ("kvlistValue", "kvlist_value"):
            return {
                str(one.get("key")): _value(one.get("value"), depth - 1)
                for one in mappings(mapping(item).get("values"))
            }
        if key in ("intValue", "int_value"):
            written = str(item).removeprefix("-")
            return int(str(item)) if written.isdecimal() and len(written) < 30 else item
        if key in (
            "stringValue",
            "string_value",
            "boolValue",
            "doubleValue",
            "bytesValue",
            "bool_value",
            "double_value",
        ):
            return item
    return None


def parsed(value: Any) -> Any:
    """A value that an attribute keeps as JSON text; text that is no JSON stays text."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def nested(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The list of mappings that flattened keys `prefix.N.a.b` stand for.

    >>> nested({"m.0.role": "user", "m.1.calls.0.id": "x"}, "m")
    [{'role': 'user'}, {'calls': [{'id': 'x'}]}]
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}."):
            at = tree
            parts = key[len(prefix) + 1 :].split(".")
            for part in parts[:-1]:
                below = at.setdefault(part, {})
                if not isinstance(below, dict):
                    break
                at = below
            else:
                at[parts[-1]] = value
    found = _listed(tree)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() and len(key) < 10 for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}


def first(attributes: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first attribute of these that is there."""
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)
