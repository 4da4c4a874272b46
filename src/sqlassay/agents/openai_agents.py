"""What did an agent of the OpenAI Agents SDK do? Run items, results, run errors, stream events and exported traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.messages import (
    MAX_DEPTH,
    arguments_of,
    listed,
    loaded,
    mapping,
    mappings,
    text_or_none,
    total,
    whole,
)
from sqlassay.agents.openai import typed_text
from sqlassay.agents.openai_items import chat_entries, is_item, item_entries
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.agents.typed_output import fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Turn, Usage

TOOLS: Mapping[str, tuple[str, ...]] = {**WIDELY_USED, "other": ("transfer_to_*",)}
"""Widely used tool names, and those of handoffs: the agent that took over writes into the same items."""

REDACTED = "error text redacted by the default failure_error_function"
_REDACTED_TEXT = "An error occurred while running the tool. Please try again."
_ITEM_LISTS = ("to_input_list", "items", "run_data_items", "history")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIAgentsReader:
    """Runs of the OpenAI Agents SDK to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "openai_agents"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds neither run items nor a trace of this SDK.
        """
        found = loaded(payload)
        if isinstance(found, list):
            found = _of_list(mappings(found))
        if not isinstance(found, Mapping):
            raise ExtractionError("not a run of the OpenAI Agents SDK: expected items, a result or a trace")
        spans = _spans(found.get("trace"))
        items = _items(found)
        if items is None and not spans and not found.get("exception"):
            raise ExtractionError("not a run of the OpenAI Agents SDK: no run items, no new_items, no trace")
        entries, gaps = _from_trace(spans) if items is None else (list(item_entries(items)), ())
        entries = _with_spans(entries, spans)
        final = found.get("final_output")
        exception = found.get("exception")
        typed = read_output(final, names=self.output)
        if typed is None and isinstance(final, str):
            typed = typed_text(final, self.output)
        prompts = tuple(_instructions(spans))
        transcript = transcript_of(
            [*(Entry(role="system", text=prompt) for prompt in prompts), *entries],
            self.tools,
            ending=Ending(
                answer=text_or_none(final),
                exception=(str(exception), str(found.get("message") or "")) if exception else None,
                interrupt=_approval(found),
                typed=typed,
            ),
            prompts_visible=bool(prompts),
            gaps=(*gaps, *_redacted(entries)),
        )
        counted = _usage(found, spans)
        usage = replace(
            transcript.usage,
            model_calls=counted.model_calls if counted.model_calls is not None else transcript.usage.model_calls,
            tokens_in=counted.tokens_in,
            tokens_out=counted.tokens_out,
        )
        return turn_of(replace(transcript, usage=usage), self.tools, adapter=f"{self.name} {self.version}")


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return OpenAIAgentsReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _of_list(values: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A bare list: exported trace records, stream events, or items of a session."""
    if any(_span(value) is not None or value.get("object") == "trace" or "trace" in value for value in values[:3]):
        return {"trace": values}
    events = [value["item"] for value in values if isinstance(value.get("item"), Mapping) and "type" in value]
    if events:
        return {"new_items": events}
    if any(is_item(value) for value in values[:3]):
        return {"items": values}
    raise ExtractionError("not a run of the OpenAI Agents SDK: the list holds no items, events or spans")


def _items(found: Mapping[str, Any]) -> list[Any] | None:
    """The run's items, from the input on where the payload has it; None where it holds no items."""
    data = mapping(found.get("run_data"))
    for holder in (found, data):
        for key in _ITEM_LISTS:
            if isinstance(holder.get(key), list):
                return list(holder[key])
    for holder in (found, data):
        new = mappings(holder.get("new_items"))
        if new:
            given = holder.get("input")
            before = [{"role": "user", "content": given}] if isinstance(given, str) else listed(given)
            return [*before, *(item.get("raw_item", item) for item in new)]
    return None


def _approval(found: Mapping[str, Any]) -> str | None:
    """What the run stopped for, where a tool call waits for approval."""
    for one in mappings(found.get("interruptions")):
        raw = mapping(one.get("raw_item")) or one
        return f"approval of {raw.get('name')}"
    return None


def _redacted(entries: Sequence[Entry]) -> tuple[str, ...]:
    lost = any(one.role == "tool" and str(one.content).startswith(_REDACTED_TEXT) for one in entries)
    return (REDACTED,) if lost else ()


def _spans(trace: Any) -> list[Mapping[str, Any]]:
    """Exported spans in the order in which they started."""
    found = [span for span in map(_span, mappings(trace)) if span is not None]
    return sorted(found, key=lambda span: str(span.get("started_at") or ""))


def _span(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = value.get("span", value)
    return inner if isinstance(inner, Mapping) and isinstance(inner.get("span_data"), Mapping) else None


def _data(span: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(span.get("span_data"))


def _instructions(spans: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for span in spans:
        if _data(span).get("type") == "generation":
            for one in chat_entries(_data(span).get("input")):
                if one.role == "system":
                    yield one.text


def _from_trace(spans: Sequence[Mapping[str, Any]]) -> tuple[list[Entry], tuple[str, ...]]:
    """A run from its trace alone: the last generation holds the conversation; else only tool calls are known."""
    outer = [span for span in spans if not _above(span, spans_by_id(spans))]
    generations = [span for span in outer if _data(span).get("type") == "generation"]
    if generations:
        data = _data(generations[-1])
        entries = list(chat_entries(data.get("input")))
        entries.extend(chat_entries([{"role": "assistant", **one} for one in mappings(data.get("output"))]))
        return [one for one in entries if one.role != "system"], ()
    entries = [one for span in outer if _data(span).get("type") == "function" for one in _call(span, ())]
    return entries, ("the trace holds neither question nor answer",)


def spans_by_id(spans: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """Spans by their id."""
    return {str(span.get("id")): span for span in spans}


def _above(span: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The tools inside whose calls a span lies, outermost first."""
    names: list[str] = []
    parent = by_id.get(str(span.get("parent_id")))
    for _ in range(MAX_DEPTH):
        if parent is None:
            break
        if _data(parent).get("type") == "function":
            names.append(str(_data(parent).get("name") or ""))
        parent = by_id.get(str(parent.get("parent_id")))
    return tuple(reversed(names))


def _call(span: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Entry]:
    data = _data(span)
    call_id = text_or_none(span.get("id"))
    request = Request(tool=str(data.get("name") or ""), arguments=arguments_of(data.get("input")), call_id=call_id)
    yield Entry(role="agent", requests=(request,), path=path)
    error = mapping(span.get("error"))
    yield Entry(
        role="tool",
        reply_to=call_id,
        content=data.get("output") if data.get("output") is not None else error.get("message"),
        failed=True if error else None,
        path=path,
    )


def _with_spans(entries: list[Entry], spans: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """What only the trace knows: which calls failed, and the calls of agents that were used as tools."""
    by_id = spans_by_id(spans)
    failed: dict[str, list[bool]] = {}
    inner: dict[str, list[Entry]] = {}
    for span in spans:
        if _data(span).get("type") != "function":
            continue
        path = _above(span, by_id)
        if path:
            inner.setdefault(path[0], []).extend(_call(span, path))
        else:
            failed.setdefault(_key(_data(span).get("name"), _data(span).get("output")), []).append(
                bool(mapping(span.get("error")))
            )
    names = {call.call_id: call.tool for one in entries for call in one.requests}
    found: list[Entry] = []
    for one in entries:
        marks = failed.get(_key(names.get(one.reply_to), one.content)) if one.role == "tool" else None
        found.append(replace(one, failed=True) if marks and all(marks) else one)
        for call in one.requests:
            found.extend(inner.pop(call.tool, ()))
    return found


def _key(name: Any, output: Any) -> str:
    return f"{name}\n{output}"


def _usage(found: Mapping[str, Any], spans: Sequence[Mapping[str, Any]]) -> Usage:
    models = [_data(span) for span in spans if _data(span).get("type") in ("generation", "response")]
    usages = [mapping(data.get("usage")) for data in models]
    if not models:
        usages = [mapping(one.get("usage")) for one in mappings(found.get("raw_responses"))]
    if not usages:
        return Usage()
    return Usage(
        model_calls=len(usages),
        tokens_in=total(whole(usage.get("input_tokens", usage.get("prompt_tokens"))) for usage in usages),
        tokens_out=total(whole(usage.get("output_tokens", usage.get("completion_tokens"))) for usage in usages),
    )
