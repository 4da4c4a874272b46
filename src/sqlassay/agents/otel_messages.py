"""Which messages do the attributes of a model's span hold? GenAI, OpenInference and OpenLLMetry conventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlassay.agents.dialogue import Entry, Request
from sqlassay.agents.messages import arguments_of, mapping, mappings, text_of, text_or_none, whole
from sqlassay.agents.otel_langchain import generated
from sqlassay.agents.otel_spans import Span, first, nested, parsed

_ROLES: Mapping[str, str] = {
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "tool-response": "tool",
    "function": "tool",
}
_TOKENS_IN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_TOKENS_OUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")


def said(span: Span, path: tuple[str, ...]) -> Entry | None:
    """What the model answered in this span, None where the span does not hold its content."""
    found = list(_messages(span, "output"))
    if not found:
        return None
    reasons = span.attributes.get("gen_ai.response.finish_reasons")
    reason = first(span.attributes, ("llm.finish_reason", "gen_ai.completion.0.finish_reason"))
    if isinstance(reasons, list) and reasons:
        reason = reasons[0]
    last = found[-1]
    if not any(one.text or one.requests or one.refusal for one in found):
        last = generated(span) or last
    return Entry(
        role="agent",
        text="".join(one.text for one in found),
        content="".join(one.text for one in found),
        requests=tuple(request for one in found for request in one.requests) or last.requests,
        refusal=last.refusal,
        finish_reason=text_or_none(reason) or last.finish_reason,
        tokens_in=whole(first(span.attributes, _TOKENS_IN)),
        tokens_out=whole(first(span.attributes, _TOKENS_OUT)),
        path=path,
    )


def heard(span: Span) -> Iterator[Entry]:
    """The messages that the model was given in this span."""
    instructions = parsed(span.attributes.get("gen_ai.system_instructions"))
    text = _parts_text(instructions) if isinstance(instructions, list) else text_or_none(instructions)
    if text:
        yield Entry(role="system", text=text)
    yield from _messages(span, "input")


def _messages(span: Span, side: str) -> Iterator[Entry]:
    attributes = span.attributes
    listed = parsed(attributes.get(f"gen_ai.{side}.messages"))
    if isinstance(listed, list):
        yield from (one for message in mappings(listed) for one in _of_parts(message))
        return
    flat = nested(attributes, f"llm.{side}_messages")
    if flat:
        yield from (one for message in flat for one in _of_openinference(mapping(message.get("message")) or message))
        return
    flat = nested(attributes, "gen_ai.completion" if side == "output" else "gen_ai.prompt")
    if flat:
        yield from (one for message in flat for one in _of_openllmetry(message, side))
        return
    yield from _of_events(span, side)


def _of_parts(message: Mapping[str, Any]) -> Iterator[Entry]:
    """A message of the GenAI conventions: a role and parts; replies to tools are parts of one message."""
    role = _ROLES.get(str(message.get("role")), "other")
    parts = mappings(message.get("parts"))
    requests = tuple(
        Request(
            tool=str(part.get("name") or ""),
            arguments=arguments_of(part.get("arguments")),
            call_id=text_or_none(part.get("id")),
        )
        for part in parts
        if part.get("type") == "tool_call"
    )
    replies = [part for part in parts if part.get("type") == "tool_call_response"]
    for part in replies:
        content = part.get("result", part.get("response", part.get("content")))
        yield Entry(
            role="tool", reply_to=text_or_none(part.get("id")), name=text_or_none(part.get("name")), content=content
        )
    text = _parts_text(parts)
    if text or requests or not replies:
        yield Entry(
            role=role,
            text=text,
            content=text,
            requests=requests,
            finish_reason=text_or_none(message.get("finish_reason")),
            refusal=next((str(part["content"]) for part in parts if part.get("type") == "refusal"), None),
        )


def _parts_text(parts: Iterable[Any]) -> str:
    return "".join(
        str(part.get("content") or part.get("text") or "")
        for part in mappings(list(parts))
        if part.get("type", "text") == "text"
    )


def _of_openinference(message: Mapping[str, Any]) -> Iterator[Entry]:
    content = message.get("content")
    if not isinstance(content, str):
        blocks = [mapping(one.get("message_content")) for one in mappings(message.get("contents"))]
        content = "".join(str(block.get("text") or "") for block in blocks)
    calls = [mapping(one.get("tool_call")) for one in mappings(message.get("tool_calls"))]
    yield Entry(
        role=_ROLES.get(str(message.get("role")), "other"),
        text=content,
        content=content,
        requests=tuple(
            Request(
                tool=str(mapping(call.get("function")).get("name") or ""),
                arguments=arguments_of(mapping(call.get("function")).get("arguments")),
                call_id=text_or_none(call.get("id")),
            )
            for call in calls
        ),
        reply_to=text_or_none(message.get("tool_call_id")),
        name=text_or_none(message.get("name")),
    )


def _of_openllmetry(message: Mapping[str, Any], side: str) -> Iterator[Entry]:
    content = parsed(message.get("content"))
    default = "assistant" if side == "output" else "user"
    yield Entry(
        role=_ROLES.get(str(message.get("role") or default), "other"),
        text=text_of(content) if not isinstance(content, str) else content,
        content=content,
        requests=tuple(
            Request(
                tool=str(call.get("name") or ""),
                arguments=arguments_of(call.get("arguments")),
                call_id=text_or_none(call.get("id")),
            )
            for call in mappings(message.get("tool_calls"))
        ),
        reply_to=text_or_none(message.get("tool_call_id")),
        finish_reason=text_or_none(message.get("finish_reason")),
    )


def _of_events(span: Span, side: str) -> Iterator[Entry]:
    """Messages as events of the span (`gen_ai.user.message`, `gen_ai.choice`), or as LangChain's own output."""
    listed = parsed(span.attributes.get("events"))
    events = [*span.events, *mappings(listed)]
    for event in events:
        name = str(event.get("event.name") or event.get("name") or "")
        if side == "output" and name == "gen_ai.choice":
            yield from _of_openai(mapping(parsed(event.get("message"))) or event, "assistant")
        elif side == "input" and name.startswith("gen_ai.") and name.endswith(".message"):
            yield from _of_openai(event, name.split(".")[1])
    message = generated(span) if side == "output" and not events else None
    if message is not None:
        yield message


def _of_openai(message: Mapping[str, Any], role: str) -> Iterator[Entry]:
    content = parsed(message.get("content"))
    calls = mappings(parsed(message.get("tool_calls")))
    yield Entry(
        role=_ROLES.get(str(message.get("role") or role), "other"),
        text=text_of(content) if not isinstance(content, str) else content,
        content=content,
        requests=tuple(
            Request(
                tool=str(mapping(call.get("function")).get("name") or ""),
                arguments=arguments_of(mapping(call.get("function")).get("arguments")),
                call_id=text_or_none(call.get("id")),
            )
            for call in calls
        ),
        reply_to=text_or_none(message.get("id")) if role == "tool" else None,
        finish_reason=text_or_none(message.get("finish_reason")),
    )
