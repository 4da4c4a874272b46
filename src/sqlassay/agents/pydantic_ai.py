"""What did a pydantic-ai agent do? Message histories, run results, run errors with captured messages, stream events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.messages import (
    CLASS_KEY,
    arguments_of,
    loaded,
    mapping,
    mappings,
    shown,
    text_of,
    text_or_none,
    whole,
)
from sqlassay.agents.openai import typed_text
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.agents.typed_output import TypedOutput, fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Query, Turn

TOOLS: Mapping[str, tuple[str, ...]] = {**WIDELY_USED, "final": ("final_result", "final_result_*")}
"""Widely used tool names, and pydantic-ai's own names for output tools."""

_HISTORIES = ("all_messages", "messages", "captured_messages", "message_history", "new_messages")
_KINDS = ("request", "response")
_USAGE = re.compile(r"\b(input_tokens|output_tokens|requests|tool_calls)=(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PydanticAIReader:
    """Messages of pydantic-ai to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "pydantic_ai"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no messages or events of pydantic-ai.
        """
        found = _found(loaded(_live(payload)))
        messages = _messages(found)
        if messages is None and not found.get("exception"):
            raise ExtractionError("not a pydantic-ai log: no messages with kind `request` or `response`")
        entries, unknown = _entries(messages or [])
        gaps = list(dict.fromkeys(f"parts of unknown kind {kind!r} were left out" for kind in unknown))
        if messages is None:
            gaps.append("all messages lost")
        typed, text = self._result(found, entries)
        exception = found.get("exception")
        transcript = transcript_of(
            entries,
            self.tools,
            ending=Ending(
                answer=text,
                exception=(str(exception), str(found.get("message") or "")) if exception else None,
                interrupt=deferred(found.get("output")),
                typed=typed,
            ),
            prompts_visible=bool(messages),
            gaps=tuple(gaps),
        )
        usage = transcript.usage
        counted = _stated_usage(found.get("usage"))
        if counted and not _history_before(entries):
            usage = replace(usage, model_calls=counted.get("requests", usage.model_calls))
        calls = tuple(call for call in transcript.calls if self.tools.kind(call.tool) != "final")
        declared = transcript.declared_sql
        extra = () if declared is None else (Query(sql=declared, executed=False, tool="final_result"),)
        transcript = replace(transcript, calls=calls, usage=replace(usage, tool_calls=len(calls)))
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}", extra=extra)

    def _result(self, found: Mapping[str, Any], entries: Sequence[Entry]) -> tuple[TypedOutput | None, str | None]:
        """What the run's output declares, and its text where the output is plain text."""
        if "output" in found:
            output = found["output"]
            typed = read_output(output, type_name=text_or_none(found.get("output_type")), names=self.output)
            if typed is None and isinstance(output, str):
                return typed_text(output, self.output), output
            return typed, shown(output) if typed is None else None
        for one in reversed(entries):
            if one.role == "user":
                break
            for request in one.requests if one.role == "agent" else ():
                if self.tools.kind(request.tool) == "final" and request.arguments is not None:
                    if _rejected(request.call_id, entries):
                        return None, None
                    kind = request.tool.removeprefix("final_result").strip("_")
                    return read_output(request.arguments, type_name=kind, names=self.output), None
            if one.role == "agent":
                return typed_text(one.text, self.output), None
        return None, None


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask, final), `sql_arguments`, `dialect`,
    `output` (field names of typed results).

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return PydanticAIReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _live(payload: Any) -> Any:
    """A run result in memory keeps its messages behind methods."""
    histories = {name: getattr(payload, name, None) for name in ("all_messages", "new_messages")}
    if not all(callable(method) for method in histories.values()):
        return payload
    output = getattr(payload, "output", None)
    return {
        "output": output,
        "output_type": type(output).__name__,
        **{name: method() for name, method in histories.items() if callable(method)},
    }


def _found(payload: Any) -> Mapping[str, Any]:
    if isinstance(payload, list):
        events = [item for item in mappings(payload) if isinstance(item.get("event_kind"), str)]
        return {"messages": list(_of_events(events)), **_outcome(events)} if events else {"messages": payload}
    if isinstance(payload, Mapping):
        if payload.get("kind") in _KINDS:
            return {"messages": [payload]}
        inner = mapping(payload.get("_state", payload.get("result")))
        return {**inner, **payload} if inner else payload
    raise ExtractionError("not a pydantic-ai log: expected messages, a run result or stream events")


def _outcome(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The run's output, where the stream's last event holds it."""
    result = mapping(events[-1].get("result")) if events[-1]["event_kind"] == "agent_run_result" else {}
    return {"output": result["output"]} if "output" in result else {}


def _messages(found: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    for name in _HISTORIES:
        if isinstance(found.get(name), list):
            messages = [one for one in mappings(found[name]) if one.get("kind") in _KINDS]
            if not messages and found[name]:
                return None
            return messages
    return None


def _entries(messages: Iterable[Mapping[str, Any]]) -> tuple[list[Entry], list[str]]:
    entries: list[Entry] = []
    unknown: list[str] = []
    for message in messages:
        if isinstance(message.get("instructions"), str) and message["instructions"]:
            entries.append(Entry(role="system", text=message["instructions"]))
        parts = mappings(message.get("parts"))
        if message.get("kind") == "request":
            for part in parts:
                entries.extend(_of_request(part, unknown))
        else:
            entries.extend(_of_response(message, parts, unknown))
    return entries, unknown


def _of_request(part: Mapping[str, Any], unknown: list[str]) -> Iterator[Entry]:
    kind, content = part.get("part_kind"), part.get("content")
    if kind == "user-prompt":
        yield Entry(role="user", text=text_of(content) if not isinstance(content, str) else content)
    elif kind == "system-prompt":
        yield Entry(role="system", text=text_of(content))
    elif kind in ("tool-return", "builtin-tool-return"):
        yield _return(part)
    elif kind == "retry-prompt":
        if isinstance(part.get("tool_name"), str):
            yield Entry(
                role="tool",
                reply_to=text_or_none(part.get("tool_call_id")),
                name=part["tool_name"],
                content=_retry(content, part["tool_name"]),
                failed=True,
            )
    elif kind != "retry-feedback":
        unknown.append(str(kind))


def _return(part: Mapping[str, Any]) -> Entry:
    outcome = part.get("outcome")
    cause = mapping(part.get("retry")).get("cause")
    content = part.get("content")
    if outcome == "denied":
        content = f"tool call was denied: {content}"
    elif cause in ("validation", "validation_error", "invalid_arguments"):
        content = _retry(content, str(part.get("tool_name")))
    return Entry(
        role="tool",
        reply_to=text_or_none(part.get("tool_call_id")),
        name=text_or_none(part.get("tool_name")),
        content=content,
        failed=None if outcome is None else outcome != "success",
    )


def _retry(content: Any, tool: str) -> str:
    """What a retry asked for; a list is what the arguments failed to validate on."""
    if isinstance(content, str):
        return content
    details = mappings(content)
    words = "; ".join(str(one.get("msg") or one.get("type") or "") for one in details)
    return f"{len(details)} validation errors for {tool}: {words}"


def _of_response(message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], unknown: list[str]) -> Iterator[Entry]:
    text: list[str] = []
    requests: list[Request] = []
    replies: list[Entry] = []
    for part in parts:
        kind = part.get("part_kind")
        if kind == "text":
            text.append(text_of(part.get("content")))
        elif kind in ("tool-call", "builtin-tool-call"):
            requests.append(
                Request(
                    tool=str(part.get("tool_name") or ""),
                    arguments=arguments_of(part.get("args")),
                    call_id=text_or_none(part.get("tool_call_id")),
                )
            )
        elif kind == "builtin-tool-return":
            replies.append(_return(part))
        elif kind not in ("thinking", "file", "compaction"):
            unknown.append(str(kind))
    usage = mapping(message.get("usage"))
    details = mapping(message.get("provider_details"))
    yield Entry(
        role="agent",
        text="".join(text),
        content="".join(text),
        requests=tuple(requests),
        finish_reason=text_or_none(message.get("finish_reason")) or text_or_none(details.get("finish_reason")),
        tokens_in=whole(usage.get("input_tokens", usage.get("request_tokens"))),
        tokens_out=whole(usage.get("output_tokens", usage.get("response_tokens"))),
    )
    yield from replies


def _rejected(call_id: str | None, entries: Sequence[Entry]) -> bool:
    return any(one.role == "tool" and one.reply_to == call_id and one.failed for one in entries)


def deferred(output: Any) -> str | None:
    """What a run stopped for that handed its tool calls back for approval."""
    if not isinstance(output, Mapping) or not {"calls", "approvals"} <= set(output):
        return None
    for call in (*mappings(output["approvals"]), *mappings(output["calls"])):
        return f"approval of {call.get('tool_name')}"
    return None


def _stated_usage(usage: Any) -> Mapping[str, int]:
    if isinstance(usage, str):
        return {name: int(count) for name, count in _USAGE.findall(usage)}
    found = {name: whole(count) for name, count in mapping(usage).items() if name != CLASS_KEY}
    return {name: count for name, count in found.items() if count is not None}


def _history_before(entries: Sequence[Entry]) -> bool:
    return sum(one.role == "user" for one in entries) > 1


def _of_events(events: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages behind a stream of events: parts put together from their deltas, tool results in between."""
    parts: dict[Any, _Streamed] = {}
    for event in events:
        kind, index = event["event_kind"], event.get("index")
        if kind == "part_start" and isinstance(event.get("part"), Mapping):
            if index in parts:
                yield _response(parts)
            parts[index] = _Streamed(part=event["part"])
        elif kind == "part_delta" and index in parts:
            parts[index].add(mapping(event.get("delta")))
        elif kind in ("function_tool_result", "builtin_tool_result"):
            if parts:
                yield _response(parts)
            result = event.get("result", event.get("part"))
            if isinstance(result, Mapping):
                yield {"kind": "request", "parts": [result]}
    if parts:
        yield _response(parts)


class _Streamed:
    """One part and the pieces that arrived for it."""

    def __init__(self, *, part: Mapping[str, Any]) -> None:
        self._part = part
        self._pieces: dict[str, list[str]] = {"content": [], "tool_name": [], "args": []}

    def add(self, delta: Mapping[str, Any]) -> None:
        for name, pieces in self._pieces.items():
            piece = delta.get(f"{name}_delta")
            if isinstance(piece, str):
                pieces.append(piece)
            elif isinstance(piece, Mapping):
                self._part = {**self._part, name: {**mapping(self._part.get(name)), **piece}}

    def whole(self) -> Mapping[str, Any]:
        joined = {
            name: "".join([text_or_none(self._part.get(name)) or "", *pieces])
            for name, pieces in self._pieces.items()
            if pieces
        }
        return {**self._part, **joined}


def _response(parts: dict[Any, _Streamed]) -> Mapping[str, Any]:
    found = {"kind": "response", "parts": [part.whole() for part in parts.values()]}
    parts.clear()
    return found
