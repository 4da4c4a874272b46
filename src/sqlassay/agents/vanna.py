"""What did a Vanna 2 agent do? The stored conversation, and the UI components that were streamed to the user."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.messages import (
    Outcome,
    Signal,
    Transcript,
    arguments_of,
    listed,
    loaded,
    mapping,
    mappings,
    text_or_none,
    whole,
)
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.errors import ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import Query, Returned, Role, StatusSource, Turn, TurnError, TurnErrorKind

TOOLS: Mapping[str, tuple[str, ...]] = {
    "query": ("run_sql",),
    "memory": ("search_saved_correct_tool_uses", "save_question_tool_args", "save_text_memory"),
    "other": ("visualize_data", "list_files", "search_files", "read_file", "write_file", "edit_file"),
}
"""Names of the tools that Vanna ships."""

SILENT = (
    Signal(status=Status.ERROR, source=StatusSource.FLAG),
    TurnError(kind=TurnErrorKind.AGENT_CRASH, message="ended without an answer: the model said nothing"),
)
"""How a turn ends that the status bar calls done and in which nothing was said or called: nothing is stored of it."""

FLAG_UNSEEN = "tool error flag not stored"
PROMPT_UNSEEN = "the system prompt is not in the conversation"
_FOUND = re.compile(r"^\s*Args:\s*(\{.*\})\s*$", re.MULTILINE)
_EXECUTES = re.compile(r"Execute (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class VannaReader:
    """Conversations and UI streams of Vanna 2 to a turn (specification section 3)."""

    tools: Toolbox
    name: str = "vanna"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds neither a conversation nor UI components of Vanna 2.
        """
        found = loaded(payload)
        messages, components = _parts(found)
        exception = mapping(found).get("exception")
        if messages is None and not components and not exception:
            raise ExtractionError("not a Vanna log: no conversation with messages, and no UI components")
        entries = list(_entries(messages or []))
        marks = list(_task_marks(components))
        memory = tuple(_memory(entries, self.tools))
        signal, error = _signal(components)
        text = None if messages is not None else _shown_text(components)
        transcript = transcript_of(
            entries,
            self.tools,
            ending=Ending(
                answer=text,
                exception=(str(exception), str(mapping(found).get("message") or "")) if exception else None,
                signal=signal,
                error=error,
                ended=_is_over(components),
            ),
            gaps=(PROMPT_UNSEEN,) if messages is not None else ("statements are only in the conversation",),
            memory=memory,
        )
        transcript = _with_marks(transcript, marks)
        if messages is not None and _is_over(components) and _is_silent(transcript):
            transcript = replace(transcript, signal=SILENT[0], error=SILENT[1])
        turn = turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")
        return replace(turn, returned=_returned(turn, components))


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, schema, list, memory), `sql_arguments`, `dialect`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return VannaReader(tools=toolbox(settings, TOOLS))


def _parts(found: Any) -> tuple[list[Mapping[str, Any]] | None, list[Mapping[str, Any]]]:
    """The conversation's messages (None where there is none) and the rich UI components."""
    chunks: Any = None
    messages: Any = None
    if isinstance(found, Mapping):
        conversation = mapping(found.get("conversation")) or found
        messages = conversation.get("messages")
        for holder in (found, mapping(found.get("chat_poll_response")), mapping(found.get("response"))):
            chunks = chunks or holder.get("chunks") or holder.get("components")
    elif isinstance(found, list):
        is_talk = any(isinstance(one.get("role"), str) for one in mappings(found)[:3])
        messages, chunks = (found, None) if is_talk else (None, found)
    rich = [mapping(chunk.get("rich", chunk.get("rich_component"))) for chunk in mappings(chunks)]
    talk = None if not isinstance(messages, list) else [one for one in mappings(messages) if "role" in one]
    return talk, [one for one in rich if isinstance(one.get("type"), str)]


def _entries(messages: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    roles = {"user": "user", "assistant": "agent", "tool": "tool", "system": "system"}
    for message in messages:
        content = message.get("content")
        yield Entry(
            role=roles.get(str(message.get("role")), "other"),
            text=content if isinstance(content, str) else "",
            content=content,
            requests=tuple(_requests(message)),
            reply_to=text_or_none(message.get("tool_call_id")),
        )


def _requests(message: Mapping[str, Any]) -> Iterator[Request]:
    for call in mappings(message.get("tool_calls")):
        arguments = arguments_of(call.get("arguments"))
        if arguments is not None and set(arguments) == {"_raw"}:
            arguments = None
        yield Request(tool=str(call.get("name") or ""), arguments=arguments, call_id=text_or_none(call.get("id")))


def _task_marks(components: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool | None]]:
    """Tool executions in order, as the task tracker shows them: the tool and whether it gave back an error."""
    names: dict[str, str] = {}
    marks: dict[str, bool | None] = {}
    for component in components:
        data = mapping(component.get("data"))
        task = mapping(data.get("task"))
        match = _EXECUTES.match(str(task.get("title") or ""))
        if match:
            names[str(task.get("id"))] = match.group(1)
            marks[str(task.get("id"))] = None
        key = str(data.get("task_id"))
        if key in names and isinstance(data.get("detail"), str):
            marks[key] = "error" in data["detail"].lower()
    yield from ((names[key], mark) for key, mark in marks.items())


def _with_marks(transcript: Transcript, marks: Sequence[tuple[str, bool | None]]) -> Transcript:
    """Error flags live only in the task tracker; they are believed where its tasks are exactly the turn's calls."""
    if [call.tool for call in transcript.calls] != [tool for tool, _ in marks]:
        return replace(transcript, gaps=(*transcript.gaps, FLAG_UNSEEN))
    calls = tuple(
        call
        if call.outcome is None or failed is None
        else replace(call, outcome=Outcome(content=call.outcome.content, failed=failed))
        for call, (_, failed) in zip(transcript.calls, marks, strict=True)
    )
    return replace(transcript, calls=calls)


def _signal(components: Sequence[Mapping[str, Any]]) -> tuple[Signal | None, TurnError | None]:
    """What the status bar says at the end: a warning is the tool limit, an error is a crash."""
    for component in reversed(components):
        if component.get("type") not in ("status_bar_update", "status_card"):
            continue
        data = mapping(component.get("data"))
        words = (
            f"{data.get('message') or data.get('title') or ''}: {data.get('detail') or data.get('description') or ''}"
        )
        if data.get("status") == "warning" and "limit" in words.lower():
            return Signal(status=Status.BUDGET_EXHAUSTED, source=StatusSource.FLAG), None
        if data.get("status") == "error" and component.get("type") == "status_bar_update":
            error = TurnError(kind=TurnErrorKind.AGENT_CRASH, message=words)
            return Signal(status=Status.ERROR, source=StatusSource.FLAG), error
        if component.get("type") == "status_bar_update":
            return None, None
    return None, None


def _is_over(components: Sequence[Mapping[str, Any]]) -> bool:
    bars = [mapping(one.get("data")).get("status") for one in components if one.get("type") == "status_bar_update"]
    return bool(bars) and bars[-1] != "working"


def _is_silent(transcript: Transcript) -> bool:
    return transcript.signal is None and transcript.answer is None and not transcript.calls


def _shown_text(components: Sequence[Mapping[str, Any]]) -> str | None:
    texts = [mapping(one.get("data")).get("content") for one in components if one.get("type") == "text"]
    return next((text for text in reversed(texts) if isinstance(text, str)), None)


def _memory(entries: Sequence[Entry], tools: Toolbox) -> Iterator[str]:
    """SQL of earlier questions that the memory handed to the agent in its newest turn."""
    start = max((at for at, one in enumerate(entries) if one.role == "user"), default=0)
    asked = {call.call_id for one in entries[start:] for call in one.requests if tools.kind(call.tool) == "memory"}
    for one in entries[start:]:
        if one.role == "tool" and one.reply_to in asked and isinstance(one.content, str):
            for printed in _FOUND.findall(one.content[:400_000]):
                try:
                    arguments = ast.literal_eval(printed)
                except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
                    continue
                yield from tools.sql_in(arguments) if isinstance(arguments, Mapping) else ()


def _returned(turn: Turn, components: Sequence[Mapping[str, Any]]) -> Returned | None:
    """The table that the user saw for the answer query, where the shown tables are as many as the queries with rows."""
    tables = [mapping(one.get("data")) for one in components if one.get("type") in ("dataframe", "table")]
    if not tables:
        return None
    shown = tables[-1]
    with_rows = [query for query in turn.queries if query.succeeded and _has_rows(query)]
    if len(with_rows) == len(tables):
        chosen = [at for at, query in enumerate(with_rows) if query.sql == turn.candidate_sql]
        shown = tables[chosen[-1]] if chosen else shown
    names = tuple(str(name) for name in listed(shown.get("columns")))
    rows = [[row.get(name) for name in names] for row in mappings(shown.get("data", shown.get("rows")))]
    count, cap = whole(shown.get("row_count")), whole(shown.get("max_rows_displayed"))
    cut = None if count is None or cap is None else count > cap
    return Returned(columns=names, rows=rows, row_count=count, row_cap=cap, truncated=cut)


def _has_rows(query: Query) -> bool:
    content = None if query.seen is None else query.seen.content
    reads = query.role in (Role.QUERY, Role.INTROSPECTION)
    return reads and isinstance(content, str) and not content.startswith("Query executed successfully")
