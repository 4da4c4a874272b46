"""What do the messages of OpenAI's Chat Completions and the items of its Responses say, whole or streamed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlassay.agents.dialogue import Entry, Request
from sqlassay.agents.messages import arguments_of, mapping, mappings, refusal_of, text_of, text_or_none, whole

_ROLES: Mapping[str, str] = {
    "user": "user",
    "assistant": "agent",
    "model": "agent",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}

_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"})
_REPLIES = frozenset({"function_call_output", "custom_tool_call_output"})
_ITEMS = _CALLS | _REPLIES | {"message", "reasoning", "item_reference", "compaction"}


def is_chat_message(value: Any) -> bool:
    """Whether a value is a Chat Completions message: a role, and content, tool calls or a refusal."""
    return (
        isinstance(value, Mapping)
        and text_or_none(value.get("role")) in _ROLES
        and any(key in value for key in ("content", "tool_calls", "function_call", "refusal"))
        and "type" not in value
    )


def is_item(value: Any) -> bool:
    """Whether a value is an item of the Responses API (a plain `{role, content}` is one too)."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _ITEMS or kind.endswith(("_call", "_call_output"))
    return is_chat_message(value)


def chat_entries(messages: Any, *, finish_reason: str | None = None) -> Iterator[Entry]:
    """Chat messages in neutral form; what is no message is left out."""
    for message in mappings(messages):
        content = message.get("content")
        calls = mappings(message.get("tool_calls")) or [mapping(message.get("function_call"))]
        yield Entry(
            role=_ROLES.get(str(message.get("role")), "other"),
            text=text_of(content),
            content=content,
            requests=tuple(_chat_request(call) for call in calls if call),
            reply_to=text_or_none(message.get("tool_call_id")),
            name=text_or_none(message.get("name")),
            refusal=text_or_none(message.get("refusal")) or refusal_of(content),
            finish_reason=text_or_none(message.get("finish_reason")) or finish_reason,
        )


def _chat_request(call: Mapping[str, Any]) -> Request:
    function = mapping(call.get("function")) or mapping(call.get("custom")) or call
    raw = function.get("arguments", function.get("input"))
    custom = isinstance(call.get("custom"), Mapping)
    return Request(
        tool=str(function.get("name") or ""),
        arguments={"input": raw} if custom and isinstance(raw, str) else arguments_of(raw),
        call_id=text_or_none(call.get("id")),
    )


def completion_entry(completion: Mapping[str, Any]) -> Entry | None:
    """The message of a chat completion with its finish reason and tokens; None where it has no choice."""
    choice = next(iter(mappings(completion.get("choices"))), None)
    if choice is None:
        return None
    message = mapping(choice.get("message"))
    found = next(
        chat_entries([{"role": "assistant", **message}], finish_reason=text_or_none(choice.get("finish_reason")))
    )
    usage = mapping(completion.get("usage"))
    return replace(
        found,
        tokens_in=whole(usage.get("prompt_tokens", usage.get("input_tokens"))),
        tokens_out=whole(usage.get("completion_tokens", usage.get("output_tokens"))),
    )


def joined_chunks(chunks: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The chat completion that a stream of chunks adds up to (first choice)."""
    text: list[str] = []
    refusal: list[str] = []
    calls: dict[Any, dict[str, Any]] = {}
    finish: str | None = None
    usage: Any = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in mappings(chunk.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            delta = mapping(choice.get("delta"))
            text.append(text_of(delta.get("content")))
            refusal.append(text_or_none(delta.get("refusal")) or "")
            finish = text_or_none(choice.get("finish_reason")) or finish
            for piece in mappings(delta.get("tool_calls")):
                call = calls.setdefault(piece.get("index", len(calls)), {"id": None, "name": "", "arguments": []})
                function = mapping(piece.get("function"))
                call["id"] = call["id"] or piece.get("id")
                call["name"] = call["name"] or str(function.get("name") or "")
                call["arguments"].append(text_or_none(function.get("arguments")) or "")
    message = {
        "role": "assistant",
        "content": "".join(text),
        "refusal": "".join(refusal) or None,
        "tool_calls": [
            {"id": call["id"], "function": {"name": call["name"], "arguments": "".join(call["arguments"])}}
            for call in calls.values()
        ],
    }
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


def item_entries(items: Iterable[Any]) -> Iterator[Entry]:
    """Items of the Responses API in neutral form; neighbouring items of one model answer become one entry."""
    open_entry: Entry | None = None
    for item in items:
        if not isinstance(item, Mapping) or item.get("type") == "reasoning":
            continue
        pieces = list(_pieces(item))
        for one in pieces:
            if one.role == "agent" and open_entry is not None:
                open_entry = _merged(open_entry, one)
            elif one.role == "agent":
                open_entry = one
            else:
                if open_entry is not None:
                    yield open_entry
                open_entry = None
                yield one
    if open_entry is not None:
        yield open_entry


def _merged(first: Entry, second: Entry) -> Entry:
    return replace(
        first,
        text=first.text + second.text,
        content=first.text + second.text,
        requests=(*first.requests, *second.requests),
        refusal=second.refusal or first.refusal,
    )


def _pieces(item: Mapping[str, Any]) -> Iterator[Entry]:
    kind = text_or_none(item.get("type"))
    call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
    if kind in _CALLS:
        raw = item.get("arguments", item.get("input"))
        arguments = {"input": raw} if kind == "custom_tool_call" and isinstance(raw, str) else arguments_of(raw)
        yield Entry(
            role="agent", requests=(Request(tool=str(item.get("name") or ""), arguments=arguments, call_id=call_id),)
        )
        if kind == "mcp_call" and (item.get("output") is not None or item.get("error")):
            error = item.get("error")
            content = item.get("output") if not error else error if isinstance(error, str) else str(error)
            yield Entry(role="tool", reply_to=call_id, content=content, failed=True if error else None)
    elif kind in _REPLIES:
        yield Entry(role="tool", reply_to=call_id, content=_output(item.get("output")))
    elif kind == "message" or kind is None:
        yield from chat_entries([{key: value for key, value in item.items() if key != "type"}])


def _output(output: Any) -> Any:
    """The text of an output that is a list of content parts, anything else as it is."""
    parts = mappings(output)
    if parts and all(str(part.get("type", "")).endswith("text") for part in parts):
        return text_of(parts)
    return output


def streamed_response(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The response that a stream of Responses events adds up to; unfinished streams give what had arrived."""
    items: dict[Any, Mapping[str, Any]] = {}
    text: list[str] = []
    for event in events:
        kind = str(event.get("type"))
        if kind in ("response.completed", "response.incomplete", "response.failed", "response.done"):
            return mapping(event.get("response"))
        if kind == "response.output_item.done" and isinstance(event.get("item"), Mapping):
            items[event.get("output_index", len(items))] = event["item"]
        elif kind == "response.output_text.delta":
            text.append(text_or_none(event.get("delta")) or "")
    output: list[Any] = list(items.values())
    if text and not any(item.get("type") == "message" for item in items.values()):
        output.append({"role": "assistant", "content": "".join(text)})
    return {"object": "response", "status": "in_progress", "output": output}
