"""What does one LangChain message say, in whichever of its serialised forms?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlassay.agents.dialogue import Entry, Request
from sqlassay.agents.messages import (
    CLASS_KEY,
    arguments_of,
    mapping,
    mappings,
    refusal_of,
    text_of,
    text_or_none,
    whole,
)

_ROLES: Mapping[str, str] = {
    "human": "user",
    "user": "user",
    "ai": "agent",
    "assistant": "agent",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
    "remove": "remove",
}


_REPLACED = re.compile(
    r"Note: a human reviewer replaced this tool call.{0,2000}?Executed instead: \S{1,200} with arguments (\{.*?\})\."
    r"(?:\n\nTool response:\n?(.*))?\Z",
    re.DOTALL,
)
"""What LangChain's middleware for human reviews puts before a reply: the message keeps the call as it was written."""


def is_message(value: Any) -> bool:
    """Whether a value looks like a message in one of the forms that LangChain writes or accepts."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (
            len(value) == 2 and isinstance(value[0], str) and value[0] in _ROLES and isinstance(value[1], (str, list))
        )
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("data"), Mapping) and isinstance(value.get("type"), str):
        return "content" in value["data"]
    if value.get("lc") and isinstance(value.get("kwargs"), Mapping):
        return "content" in value["kwargs"]
    return "content" in value and (isinstance(value.get("type"), str) or isinstance(value.get("role"), str))


def entry(value: Any, path: tuple[str, ...] = ()) -> Entry:
    """A message from `{type, data}`, `{lc, kwargs}`, a flat dump, the OpenAI form, or a (role, text) pair."""
    if not isinstance(value, Mapping):
        role, content = value
        return Entry(role=_ROLES.get(role, "other"), text=text_of(content), content=content, path=path)
    kind = str(value.get("type") or value.get("role") or "")
    data: Mapping[str, Any] = value
    if isinstance(value.get("data"), Mapping):
        data = value["data"]
    elif isinstance(value.get("kwargs"), Mapping) and value.get("lc"):
        data = value["kwargs"]
        identifier = value.get("id")
        kind = str(data.get("type") or (identifier[-1] if isinstance(identifier, list) and identifier else ""))
    is_chunk = kind.endswith("Chunk") or str(value.get(CLASS_KEY, "")).endswith("Chunk")
    role = _ROLES.get(kind.removesuffix("MessageChunk").removesuffix("Message").lower(), "other")
    if role == "other" and isinstance(data.get("role"), str):
        role = _ROLES.get(data["role"], "other")
    metadata = mapping(data.get("response_metadata"))
    extra = mapping(data.get("additional_kwargs"))
    usage = mapping(data.get("usage_metadata"))
    content, replaced = _executed_instead(data.get("content"))
    status = data.get("status")
    return Entry(
        role=role,
        text=text_of(content),
        content=content,
        requests=tuple(_requests(data, extra)),
        reply_to=text_or_none(data.get("tool_call_id")),
        name=text_or_none(data.get("name")),
        failed=(status == "error") if isinstance(status, str) else None,
        finish_reason=_finish_reason(metadata),
        refusal=text_or_none(extra.get("refusal")) or text_or_none(data.get("refusal")) or refusal_of(content),
        tokens_in=whole(usage.get("input_tokens")),
        tokens_out=whole(usage.get("output_tokens")),
        message_id=text_or_none(data.get("id")),
        replaced=replaced,
        path=path,
        chunks=tuple(mappings(data.get("tool_call_chunks"))) if is_chunk else (),
        is_chunk=is_chunk,
        is_last_chunk=is_chunk and data.get("chunk_position") == "last",
    )


def _executed_instead(content: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """A reply without the notice that a reviewer replaced the call, and the arguments that were used instead."""
    told = _REPLACED.match(content) if isinstance(content, str) else None
    if told is None:
        return content, None
    return told[2], arguments_of(told[1])


def _finish_reason(metadata: Mapping[str, Any]) -> str | None:
    for key in ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason"):
        if isinstance(metadata.get(key), str):
            return str(metadata[key])
    return "refusal" if mapping(metadata.get("stop_details")).get("type") == "refusal" else None


def _requests(data: Mapping[str, Any], extra: Mapping[str, Any]) -> Iterable[Request]:
    calls = mappings(data.get("tool_calls"))
    invalid = mappings(data.get("invalid_tool_calls"))
    if not calls and not invalid:
        calls = mappings(extra.get("tool_calls"))
    if not calls and not invalid and isinstance(extra.get("function_call"), Mapping):
        calls = [extra["function_call"]]
    if not calls and not invalid:
        calls = [block for block in mappings(data.get("content")) if block.get("type") in ("tool_use", "tool_call")]
    for call in calls:
        function = mapping(call.get("function"))
        raw = function.get("arguments", call.get("args", call.get("arguments", call.get("input"))))
        yield Request(
            tool=str(function.get("name") or call.get("name") or ""),
            arguments=arguments_of(raw),
            call_id=text_or_none(call.get("id")),
        )
    for call in invalid:
        yield Request(tool=str(call.get("name") or ""), arguments=None, call_id=text_or_none(call.get("id")))


def joined(entries: Iterable[Entry]) -> list[Entry]:
    """Messages in order, with chunks of one message put together and updated messages in their newest form.

    LangGraph's reducer replaces a message whose id comes again; a `remove` message takes one away. Tool arguments
    of a replaced message are kept as what was written first (`written` below).
    """
    order: dict[str, Entry] = {}
    parts: dict[str, list[Entry]] = {}
    for number, one in enumerate(entries):
        key = one.message_id or f"#{number}"
        if one.role == "remove":
            order.pop(key, None)
        elif one.is_chunk and not _repeats(one, parts.get(key, ())):
            parts.setdefault(key, []).append(one)
            order.setdefault(key, one)
        else:
            order[key] = one
            parts.pop(key, None)
    return [_join(parts[key]) if key in parts else one for key, one in order.items()]


def _repeats(one: Entry, parts: Sequence[Entry]) -> bool:
    """Whether a chunk that is marked as the last is the whole message once more, and not its last piece."""
    if not one.is_last_chunk:
        return False
    told = "".join(part.text for part in parts)
    called = any(part.chunks for part in parts)
    return one.text.startswith(told) and (bool(told) or called or not parts) and (not called or bool(one.requests))


def drafts(entries: Iterable[Entry]) -> dict[str, Mapping[str, Any]]:
    """First-written arguments by message id, for messages with one tool call that a later step replaced."""
    first: dict[str, Mapping[str, Any]] = {}
    for one in entries:
        is_whole = not one.is_chunk or one.is_last_chunk
        if one.role == "agent" and one.message_id and len(one.requests) == 1 and is_whole:
            arguments = one.requests[0].arguments
            if arguments is not None:
                first.setdefault(one.message_id, arguments)
    return first


def _join(parts: Sequence[Entry]) -> Entry:
    calls: dict[Any, dict[str, Any]] = {}
    for part in parts:
        for number, chunk in enumerate(part.chunks):
            index = chunk.get("index")
            call = calls.setdefault(number if index is None else index, {"name": "", "args": [], "id": None})
            call["name"] = call["name"] or str(chunk.get("name") or "")
            call["id"] = call["id"] or text_or_none(chunk.get("id"))
            if isinstance(chunk.get("args"), str):
                call["args"].append(chunk["args"])
            elif isinstance(chunk.get("args"), Mapping):
                call["args"].append(json.dumps(chunk["args"]))
    requests = tuple(
        Request(tool=call["name"], arguments=arguments_of("".join(call["args"])), call_id=call["id"])
        for call in calls.values()
    ) or tuple(request for part in parts for request in part.requests)
    return replace(
        parts[0],
        text="".join(part.text for part in parts),
        content="".join(part.text for part in parts),
        requests=requests,
        finish_reason=next((part.finish_reason for part in reversed(parts) if part.finish_reason), None),
        refusal="".join(part.refusal for part in parts if part.refusal) or None,
        tokens_in=max((part.tokens_in for part in parts if part.tokens_in is not None), default=None),
        tokens_out=max((part.tokens_out for part in parts if part.tokens_out is not None), default=None),
        is_chunk=False,
        is_last_chunk=False,
    )
