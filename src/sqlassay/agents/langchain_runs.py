"""What happened in a tree of LangChain runs (LangSmith run trees) or in a stream of callback events?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlassay.agents.dialogue import Entry
from sqlassay.agents.langchain_messages import entry, is_message
from sqlassay.agents.messages import MAX_DEPTH, arguments_of, mapping, mappings, text_or_none

_INTERRUPTED = ("GraphInterrupt(", "(Interrupt(", "Interrupt(")
"""How errors begin that are no errors: the graph stopped to ask its user."""


def is_run(value: Any) -> bool:
    """Whether a value is a run of a LangSmith run tree."""
    return isinstance(value, Mapping) and isinstance(value.get("run_type"), str) and "inputs" in value


def is_event(value: Any) -> bool:
    """Whether a value is a callback event of `astream_events`."""
    return isinstance(value, Mapping) and str(value.get("event", "")).startswith("on_") and "run_id" in value


def roots(runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Root runs with their children below them; a flat list is put together by `parent_run_id`."""
    if any(run.get("child_runs") for run in runs) or len(runs) == 1:
        return list(runs)
    by_id: dict[str, dict[str, Any]] = {str(run.get("id")): {**run, "child_runs": []} for run in runs}
    top: list[Mapping[str, Any]] = []
    for run in sorted(by_id.values(), key=_order):
        parent = by_id.get(str(run.get("parent_run_id")))
        (top if parent is None or parent is run else parent["child_runs"]).append(run)
    return top


def _order(run: Mapping[str, Any]) -> tuple[str, str]:
    return str(run.get("dotted_order") or ""), str(run.get("start_time") or "")


def entries_of_run(root: Mapping[str, Any]) -> Iterator[Entry]:
    """The messages of a run tree: the question, every model's message and every tool's reply, with their path."""
    inputs = mapping(root.get("inputs"))
    for message in _messages(inputs.get("messages")):
        yield entry(message)
    if not _messages(inputs.get("messages")):
        question = inputs.get("input", inputs.get("question"))
        if isinstance(question, str):
            yield Entry(role="user", text=question)
    yield from _once(_walk(root, (), MAX_DEPTH))


def _once(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Each call's first reply: a tool's own run tells it before the steps around it, or they alone do where no tool was
    reached."""
    answered: set[str | None] = set()
    for one in entries:
        if one.role == "tool" and one.reply_to is not None and one.reply_to in answered:
            continue
        if one.role == "tool":
            answered.add(one.reply_to)
        yield one


def interrupt_of_run(root: Mapping[str, Any]) -> str | None:
    """What a run stopped to ask: the error of the tool or node that did, None where there was none."""
    pending = [root]
    while pending:
        run = pending.pop()
        error = run.get("error")
        if isinstance(error, str) and error.startswith(_INTERRUPTED) and not root.get("error"):
            return error.removeprefix("GraphInterrupt").split("Traceback (most recent", 1)[0]
        pending.extend(mappings(run.get("child_runs")))
    return None


def streamed_state(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The piece of state that an event of the outermost run carries."""
    data = mapping(event.get("data"))
    return {} if _parents(event) else mapping(data.get("chunk")) or mapping(data.get("output"))


def _walk(run: Mapping[str, Any], path: tuple[str, ...], depth: int) -> Iterator[Entry]:
    kind = run.get("run_type")
    outputs = mapping(run.get("outputs"))
    if kind == "llm":
        yield from _prompts(mapping(run.get("inputs")), path)
        yield from _generations(outputs, path)
    below = (*path, str(run.get("name") or "")) if kind == "tool" else path
    if depth:
        for child in sorted(mappings(run.get("child_runs")), key=_order):
            yield from _walk(child, below, depth - 1)
    if kind == "chain":
        yield from (one for one in (entry(m, path) for m in _messages(outputs.get("messages"))) if one.role == "tool")
    if kind == "tool" and not str(run.get("error") or "").startswith(_INTERRUPTED):
        extra = mapping(run.get("extra"))
        yield _tool_reply(
            str(run.get("name") or ""), outputs.get("output", run.get("outputs")), run.get("error"), extra, path
        )


def _tool_reply(name: str, output: Any, error: Any, extra: Mapping[str, Any], path: tuple[str, ...]) -> Entry:
    identifier = text_or_none(extra.get("tool_call_id"))
    if isinstance(error, str) and error:
        return Entry(role="tool", name=name, content=error, text=error, failed=True, reply_to=identifier, path=path)
    messages = _messages(output)
    if messages:
        reply = entry(messages[-1], path)
        if reply.role == "tool":
            return reply
        output = reply.content
    return Entry(role="tool", name=name, content=output, text=str(output or ""), reply_to=identifier, path=path)


def _messages(value: Any) -> list[Any]:
    """Messages in a value: a list of them (also nested once), `{messages}`, a command's update, or one message."""
    if is_message(value):
        return [value]
    if isinstance(value, Mapping):
        for key in ("messages", "update", "output"):
            if value.get(key) is not None:
                return _messages(value[key])
        return []
    if isinstance(value, list):
        found = []
        for item in value:
            if is_message(item):
                found.append(item)
            elif isinstance(item, (list, Mapping)):
                found.extend(_messages(item))
        return found
    return []


def _prompts(inputs: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Entry]:
    for message in _messages(inputs.get("messages")):
        one = entry(message, path)
        if one.role in ("system", "tool"):
            yield one
    prompts = inputs.get("prompts")
    for prompt in prompts if isinstance(prompts, list) else []:
        if isinstance(prompt, str) and prompt.startswith("System: "):
            yield Entry(role="system", text=prompt.removeprefix("System: ").split("\nHuman: ", 1)[0], path=path)


def _generations(outputs: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Entry]:
    generations = outputs.get("generations")
    first = generations[0] if isinstance(generations, list) and generations else []
    for generation in mappings(first if isinstance(first, list) else [first])[:1]:
        message = generation.get("message")
        if is_message(message):
            yield entry(message, path)
        elif isinstance(generation.get("text"), str):
            yield Entry(role="agent", text=generation["text"], content=generation["text"], path=path)


def seconds(run: Mapping[str, Any]) -> float | None:
    """How long a run took."""
    try:
        start = datetime.fromisoformat(str(run.get("start_time")))
        end = datetime.fromisoformat(str(run.get("end_time")))
        return max(0.0, (end - start).total_seconds())
    except (ValueError, TypeError):
        return None


def entries_of_events(events: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """The messages behind a stream of `astream_events`: each model's end and each tool's end, with their path.

    Where no model of LangChain spoke (nodes that write their messages themselves), the outermost run's final state.
    """
    found = list(_once(_of_events(events)))
    if any(one.role == "agent" for one in found):
        return found
    ends = [event for event in events if event.get("event") == "on_chain_end" and not _parents(event)]
    state = _messages(mapping(ends[-1].get("data")).get("output")) if ends else []
    return [entry(message) for message in state] or found


def _of_events(events: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    tools: dict[str, str] = {
        str(event.get("run_id")): str(event.get("name") or "")
        for event in events
        if event.get("event") == "on_tool_start"
    }
    asked = False
    ended = {str(event.get("run_id")) for event in events if event.get("event") == "on_chat_model_end"}
    for event in events:
        kind, data = event.get("event"), mapping(event.get("data"))
        path = tuple(tools[parent] for parent in _parents(event) if parent in tools)
        if kind == "on_chain_start" and not asked and not _parents(event):
            asked = True
            given = data.get("input")
            for message in _messages(given):
                yield entry(message)
        elif kind == "on_chat_model_start":
            for message in _messages(mapping(data.get("input")).get("messages")):
                one = entry(message, path)
                if one.role in ("system", "tool") or (one.role == "user" and not asked):
                    yield one
            asked = True
        elif kind == "on_chat_model_stream" and str(event.get("run_id")) not in ended and is_message(data.get("chunk")):
            yield entry(data["chunk"], path)
        elif kind == "on_chat_model_end" and _messages(data.get("output")):
            yield entry(_messages(data.get("output"))[-1], path)
        elif kind in ("on_tool_end", "on_tool_error") and not str(data.get("error")).startswith(_INTERRUPTED):
            output = data.get("output")
            yield _tool_reply(
                str(event.get("name") or ""), output, data.get("error") and str(data.get("error")), event, path
            )


def _parents(event: Mapping[str, Any]) -> list[str]:
    parents = event.get("parent_ids")
    return [str(parent) for parent in parents] if isinstance(parents, list) else []


def printed_arguments(raw: Any) -> Mapping[str, Any] | None:
    """Arguments as a mapping, also from the printed Python dictionary that older callbacks keep."""
    found = arguments_of(raw)
    if found is None and isinstance(raw, str) and raw.startswith("{") and len(raw) < 400_000:
        try:
            value = ast.literal_eval(raw)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return None
        return value if isinstance(value, Mapping) else None
    return found
