"""What did a LangChain or LangGraph agent do? Messages, state, streams, classic agents, run trees and events."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.langchain_messages import drafts, entry, is_message, joined
from sqlassay.agents.langchain_runs import (
    entries_of_events,
    entries_of_run,
    interrupt_of_run,
    is_event,
    is_run,
    printed_arguments,
    roots,
    seconds,
    streamed_state,
)
from sqlassay.agents.messages import Call, Transcript, listed, loaded, mapping, mappings, text_or_none, total
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.agents.typed_output import fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Query, Turn

TOOLS: Mapping[str, tuple[str, ...]] = {
    "query": ("sql_db_query",),
    "check": ("sql_db_query_checker",),
    "schema": ("sql_db_schema",),
    "list": ("sql_db_list_tables",),
    "ask": ("ask_user", "ask_human", "human", "human_assistance", "request_clarification"),
    "other": (
        *("write_todos", "ls", "read_file", "write_file", "edit_file", "glob", "grep"),
        *("transfer_to_*", "transfer_back_to_*", "_Exception", "invalid_tool"),
    ),
}
"""Tool names of `SQLDatabaseToolkit`, names under which agents ask their user, hand over to one another, or note that
what the model wrote could not be read."""

_PRINTED_INTERRUPT = re.compile(r"[\[(]*Interrupt\(value=(.*?), (?:id|resumable|ns|when|interrupt_id)=", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What the shapes of payloads have in common, once their messages are found."""

    entries: list[Entry]
    answer: str | None = None
    exception: tuple[str, str] | None = None
    interrupts: tuple[Any, ...] = ()
    structured: Any = None
    latency_s: float | None = None
    prompts_visible: bool = False
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LangChainReader:
    """Messages of LangChain to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "langchain"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no messages, runs or events of LangChain.
        """
        found = _read(loaded(payload))
        transcript = _transcript(found, self.tools, self.output)
        given = [call for call in transcript.calls if gives_structure(call, self.tools)]
        sql = transcript.declared_sql
        extra = () if sql is None or not given else (Query(sql=sql, executed=False, tool=given[-1].tool),)
        calls = tuple(call for call in transcript.calls if not gives_structure(call, self.tools))
        transcript = replace(transcript, calls=calls)
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}", extra=extra)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, schema, list, ask), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return LangChainReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _read(payload: Any) -> _Read:
    if isinstance(payload, Mapping):
        return _read_mapping(payload)
    if isinstance(payload, list) and payload:
        return _read_list(payload)
    if payload == []:
        return _Read(entries=[], gaps=("the payload holds no messages",))
    raise ExtractionError("not a LangChain payload: expected messages, a state, a stream, runs or events")


def _read_mapping(payload: Mapping[str, Any]) -> _Read:
    if is_run(payload):
        return _read_list([payload])
    if "intermediate_steps" in payload:
        return _read_classic(payload)
    state = mapping(payload.get("values")) or payload
    exception = payload.get("exception")
    if isinstance(state.get("messages"), list):
        return _Read(
            entries=[entry(message) for message in state["messages"] if is_message(message)],
            interrupts=tuple(_interrupts(payload)),
            structured=state.get("structured_response"),
            exception=(str(exception), str(payload.get("message") or "")) if exception else None,
            gaps=_unknown_messages(state["messages"]),
        )
    if exception:
        return _Read(
            entries=[], exception=(str(exception), str(payload.get("message") or "")), gaps=("all messages lost",)
        )
    if is_message(payload):
        return _Read(entries=[entry(payload)])
    entries = list(_update(payload, ()))
    interrupts = tuple(_interrupts(payload))
    if entries or interrupts:
        return _Read(entries=entries, interrupts=interrupts)
    raise ExtractionError("not a LangChain payload: no messages, no intermediate_steps, no runs")


def _unknown_messages(messages: Sequence[Any]) -> tuple[str, ...]:
    lost = sum(not is_message(message) for message in messages)
    kinds = sorted({entry(m).role for m in messages if is_message(m)} & {"other"})
    gaps = [f"{lost} entries among the messages are no messages"] if lost else []
    return tuple(gaps + (["messages of an unknown type were left out"] if kinds else []))


def _interrupts(payload: Mapping[str, Any]) -> Iterator[Any]:
    for key in ("__interrupt__", "interrupts", "interrupt"):
        value = payload.get(key)
        if value:
            yield from value if isinstance(value, list) else [value]
    for task in mappings(payload.get("tasks")):
        yield from listed(task.get("interrupts"))


def _read_list(payload: list[Any]) -> _Read:
    if all(is_message(item) for item in payload[:3]):
        return _Read(
            entries=[entry(message) for message in payload if is_message(message)], gaps=_unknown_messages(payload)
        )
    if is_run(payload[0]):
        return _read_runs([run for run in payload if is_run(run)])
    if any(is_event(item) for item in payload[:3]):
        events = [item for item in payload if is_event(item)]
        return _Read(
            entries=entries_of_events(events),
            prompts_visible=True,
            interrupts=tuple(one for event in events for one in _interrupts(streamed_state(event))),
        )
    if all(isinstance(item, Mapping) and isinstance(item.get("messages"), list) for item in payload):
        last = payload[-1]
        return _read_mapping(last)
    return _read_stream(payload)


def _read_runs(runs: Sequence[Mapping[str, Any]]) -> _Read:
    top = roots(runs)
    root = top[-1]
    asked = interrupt_of_run(root)
    error = root.get("error")
    outputs = mapping(root.get("outputs"))
    exception = None
    if isinstance(error, str) and error:
        head = error.split("(", 1)[0].split(":", 1)[0].strip()
        exception = (head if head.isidentifier() else "Exception", error[:500])
    return _Read(
        entries=list(entries_of_run(root)),
        answer=text_or_none(outputs.get("output")),
        exception=exception,
        structured=outputs.get("structured_response"),
        interrupts=tuple(_interrupts(outputs)) or ((asked,) if asked is not None else ()),
        latency_s=seconds(root),
        prompts_visible=True,
        gaps=("earlier root runs of the trace were left out",) if len(top) > 1 else (),
    )


def _read_stream(payload: list[Any]) -> _Read:
    """Chunks of `stream()`: updates, values, messages or several modes, with or without namespaces."""
    entries: list[Entry] = []
    interrupts: list[Any] = []
    known = 0
    for item in payload:
        path, mode, chunk = _chunk(item)
        chunk = _of_debug(chunk)
        if mode == "values" and isinstance(mapping(chunk).get("messages"), list):
            entries = [one for one in entries if one.path] if not path else entries
            entries.extend(entry(message, path) for message in mapping(chunk)["messages"] if is_message(message))
            known += 1
        elif isinstance(chunk, list) and len(chunk) == 2 and is_message(chunk[0]) and not isinstance(chunk[1], str):
            entries.append(entry(chunk[0], path or _checkpoint_path(mapping(chunk[1]))))
            known += 1
        elif isinstance(chunk, Mapping):
            found = list(_update(chunk, path))
            entries.extend(found)
            interrupts.extend(_interrupts(chunk))
            known += bool(found) or any(key in chunk for key in ("__interrupt__", "updates", "values"))
        elif is_message(chunk):
            entries.append(entry(chunk, path))
            known += 1
    if not known:
        raise ExtractionError("not a LangChain payload: the list holds no messages, updates, runs or events")
    return _Read(entries=entries, interrupts=tuple(interrupts))


def _chunk(item: Any) -> tuple[tuple[str, ...], str | None, Any]:
    """The namespace, mode and content of one streamed chunk, in the forms of LangGraph's releases."""
    if isinstance(item, Mapping):
        if "namespace" in item and ("nodes" in item or "data" in item):
            return _path(item.get("namespace")), text_or_none(item.get("mode")), item.get("nodes", item.get("data"))
        if "ns" in item and "data" in item:
            return _path(item.get("ns")), text_or_none(item.get("type")), item["data"]
        return (), None, item
    if isinstance(item, list) and len(item) == 3 and isinstance(item[1], str):
        return _path(item[0]), item[1], item[2]
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and not is_message(item):
        return (), item[0], item[1]
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], list) and not is_message(item[0]):
        return _path(item[0]), None, item[1]
    return (), None, item


def _of_debug(item: Any) -> Any:
    """A chunk of the mode `debug` as the chunk of the mode that says the same: what a step wrote."""
    if not isinstance(item, Mapping) or item.get("type") not in ("task", "task_result", "checkpoint"):
        return item
    payload = mapping(item.get("payload"))
    if item["type"] == "task":
        return mapping(payload.get("input")) if item.get("step") in (0, 1) else {}
    return {"values": payload["values"]} if "values" in payload else {str(payload.get("name")): payload.get("result")}


def _path(namespace: Any) -> tuple[str, ...]:
    parts = (
        namespace if isinstance(namespace, list) else [namespace] if isinstance(namespace, str) and namespace else []
    )
    return tuple(str(part).split(":", 1)[0] for part in parts)


def _checkpoint_path(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    parts = str(metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns") or "").split("|")
    return tuple(part.split(":", 1)[0] for part in parts[:-1])


def _update(chunk: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Entry]:
    for node, update in chunk.items():
        if node.startswith("__"):
            continue
        updates = update if isinstance(update, list) and not all(is_message(one) for one in update) else [update]
        for one in updates:
            messages = one.get("messages") if isinstance(one, Mapping) and not is_message(one) else one
            for message in messages if isinstance(messages, list) and not is_message(messages) else [messages]:
                if is_message(message):
                    yield entry(message, path)


def _read_classic(payload: Mapping[str, Any]) -> _Read:
    """The result of an `AgentExecutor`: pairs of an action and what came back."""
    entries: list[Entry] = []
    question = text_or_none(payload.get("input")) or text_or_none(payload.get("question"))
    entries.extend(entry(message) for message in listed(payload.get("chat_history")) if is_message(message))
    entries.append(Entry(role="user", text=question or ""))
    steps = payload.get("intermediate_steps")
    seen: set[str] = set()
    for number, step in enumerate(steps if isinstance(steps, list) else []):
        if not isinstance(step, list) or len(step) != 2 or not isinstance(step[0], Mapping):
            continue
        action = mapping(step[0].get("kwargs")) or step[0]
        raw = action.get("tool_input")
        arguments = raw if isinstance(raw, Mapping) else printed_arguments(raw) or {"query": str(raw or "")}
        call_id = text_or_none(action.get("tool_call_id")) or f"step_{number + 1}"
        log = [entry(message) for message in listed(action.get("message_log")) if is_message(message)]
        counted = [one for one in log if one.message_id is None or one.message_id not in seen]
        seen.update(one.message_id for one in counted if one.message_id)
        entries.append(
            Entry(
                role="agent",
                requests=(Request(tool=str(action.get("tool") or ""), arguments=arguments, call_id=call_id),),
                tokens_in=total(one.tokens_in for one in counted),
                tokens_out=total(one.tokens_out for one in counted),
            )
        )
        entries.append(Entry(role="tool", content=step[1], text=str(step[1]), reply_to=call_id))
    output = text_or_none(payload.get("output"))
    if output is not None:
        entries.append(Entry(role="agent", text=output))
    return _Read(entries=entries)


def _transcript(found: _Read, tools: Toolbox, names: Mapping[str, tuple[str, ...]]) -> Transcript:
    interrupt = None
    if found.interrupts:
        interrupt = next((text for text in map(question_of, found.interrupts) if text), "")
    entries = joined(found.entries)
    transcript = transcript_of(
        entries,
        tools,
        ending=Ending(
            answer=found.answer,
            exception=found.exception,
            interrupt=interrupt,
            typed=read_output(found.structured, names=names),
        ),
        written=drafts(found.entries),
        prompts_visible=found.prompts_visible,
        gaps=found.gaps,
    )
    return replace(transcript, usage=replace(transcript.usage, latency_s=found.latency_s))


def gives_structure(call: Call, tools: Toolbox) -> bool:
    """Whether a call is how the model hands over its structured answer: LangChain answers it itself."""
    said = None if call.outcome is None else text_or_none(call.outcome.content)
    return tools.kind(call.tool) is None and said is not None and said.startswith("Returning structured response")


def _printed_question(text: str) -> str | None:
    """The words of an interrupt that was written to the log as Python prints it."""
    printed = _PRINTED_INTERRUPT.match(text) if len(text) < 100_000 else None
    if printed is None:
        return None
    try:
        value = ast.literal_eval(printed[1])
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return question_of({"value": value})


def question_of(interrupt: Any) -> str | None:
    """The words of an interrupt; one that asks to approve tool calls is described by its first request."""
    value = interrupt.get("value", interrupt) if isinstance(interrupt, Mapping) else interrupt
    if isinstance(value, str):
        return _printed_question(value) or value
    if isinstance(value, list):
        return next((text for text in map(question_of, value) if text), None)
    for key in ("question", "query", "message", "description", "prompt", "text"):
        if isinstance(mapping(value).get(key), str):
            return str(value[key])
    for request in mappings(mapping(value).get("action_requests")):
        return text_or_none(request.get("description")) or f"approval of {request.get('name')}"
    return None
