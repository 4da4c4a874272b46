"""What did an agent of the Claude Agent SDK do? SDK messages, stream-json lines and session transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.endings import of_finish_reason
from sqlassay.agents.mcp import TOOLS as MCP_TOOLS
from sqlassay.agents.messages import (
    CLASS_KEY,
    Call,
    Signal,
    Transcript,
    arguments_of,
    listed,
    loaded,
    mapping,
    mappings,
    text_of,
    text_or_none,
    whole,
)
from sqlassay.agents.openai import typed_text
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.agents.typed_output import fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, TurnError, TurnErrorKind

TOOLS: Mapping[str, tuple[str, ...]] = {
    **MCP_TOOLS,
    "ask": (*MCP_TOOLS.get("ask", ()), "AskUserQuestion"),
    "delegate": ("Task", "Agent"),
    "other": (
        *("Read", "Write", "Edit", "MultiEdit", "NotebookRead", "NotebookEdit", "Glob", "Grep", "LS"),
        *("TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "ExitPlanMode", "EnterPlanMode"),
        *("WebSearch", "WebFetch", "ToolSearch", "ListMcpResourcesTool", "ReadMcpResourceTool", "StructuredOutput"),
    ),
}
"""Tool names of known MCP servers, and the SDK's own for asking the user and for sub-agents."""

_CLASSES: Mapping[str, str] = {
    "AssistantMessage": "assistant",
    "UserMessage": "user",
    "ResultMessage": "result",
    "SystemMessage": "system",
    "StreamEvent": "stream_event",
}
_BUDGET = ("error_max_turns", "error_max_budget_usd")
_SHELLS = ("Bash", "bash", "shell")
_CLIENT = re.compile(r"\b(?:sqlite3|psql|mysql|mariadb|duckdb|sqlcmd|snowsql|bq\s+query|clickhouse-client)\b")
_INTERRUPTED = "[Request interrupted by user"
"""What the SDK writes in the user's name when a run is stopped: no question."""

SHELL_SQL = "SQL given to a database client in a shell is not read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeAgentReader:
    """Messages of the Claude Agent SDK to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "claude_agent_sdk"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no messages of this SDK.
        """
        found = loaded(payload)
        exception = mapping(found).get("exception")
        messages = _messages(found)
        if not messages and not exception:
            raise ExtractionError("not a log of the Claude Agent SDK: no assistant, user, system or result messages")
        turn, before = _newest(messages)
        result = next((one for one in reversed(turn) if _kind(one) == "result"), None)
        entries = list(_entries([*before, *turn]))
        ending = self._ending(result, entries)
        if exception:
            ending = replace(ending, exception=(str(exception), str(mapping(found).get("message") or "")))
        transcript = transcript_of(entries, self.tools, ending=ending, gaps=_gaps(messages, result))
        transcript = _counted(_with_denials(transcript, result), result)
        return turn_of(_with_shell(transcript), self.tools, adapter=f"{self.name} {self.version}")

    def _ending(self, result: Mapping[str, Any] | None, entries: Sequence[Entry]) -> Ending:
        if result is None:
            return Ending()
        answer = text_or_none(result.get("result"))
        typed = read_output(result.get("structured_output"), names=self.output)
        if typed is None and answer is not None:
            typed = typed_text(answer, self.output)
        signal, error = _signal(result, entries)
        return Ending(answer=answer, typed=typed, signal=signal, error=error, ended=True)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return ClaudeAgentReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _kind(message: Mapping[str, Any]) -> str | None:
    """The kind of a message: by its class, its type or its role, else by the fields that only this kind has."""
    kind = _CLASSES.get(str(message.get(CLASS_KEY)), message.get("type", message.get("role")))
    if isinstance(kind, str):
        return kind if kind in _CLASSES.values() else None
    if "num_turns" in message and "subtype" in message:
        return "result"
    if "subtype" in message and "data" in message:
        return "system"
    if "content" in message:
        return "assistant" if "model" in message else "user"
    return "stream_event" if "event" in message else None


def _messages(found: Any) -> list[Mapping[str, Any]]:
    if isinstance(found, Mapping):
        for key in ("stream_json", "messages", "sdk_messages", "transcript"):
            if isinstance(found.get(key), list):
                return _messages(found[key])
        found = [found]
    return [
        one
        for one in mappings(found)
        if _kind(one) is not None and not one.get("isMeta") and not one.get("isSynthetic")
    ]


def _newest(messages: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """The messages up to the last result, and those of earlier runs: each result ends a turn."""
    ends = [at for at, one in enumerate(messages) if _kind(one) == "result"]
    if ends and ends[-1] == len(messages) - 1:
        ends.pop()
    start = ends[-1] + 1 if ends else 0
    return messages[start:], messages[:start]


def _entries(messages: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    names: dict[str, str] = {}
    whole_messages = any(_kind(one) == "assistant" for one in messages)
    streamed: list[Mapping[str, Any]] = []
    for message in messages:
        kind = _kind(message)
        if kind == "result":
            yield Entry(role="user", text="") if message is not messages[-1] else Entry(role="other")
        elif kind == "stream_event" and not whole_messages:
            streamed.append(mapping(message.get("event")))
        elif kind in ("assistant", "user"):
            yield from _of_message(message, kind, names)
    if streamed:
        yield _joined(streamed)


def _of_message(message: Mapping[str, Any], kind: str, names: dict[str, str]) -> Iterator[Entry]:
    inner = mapping(message.get("message")) or message
    content = inner.get("content")
    parent = text_or_none(message.get("parent_tool_use_id"))
    path = (names.get(parent, parent),) if parent else ("sidechain",) if message.get("isSidechain") else ()
    blocks = mappings(content)
    if kind == "assistant":
        requests = []
        for block in blocks:
            if _block(block) in ("tool_use", "server_tool_use", "mcp_tool_use"):
                arguments = arguments_of(block.get("input"))
                call_id = text_or_none(block.get("id"))
                agent = (arguments or {}).get("subagent_type")
                names[call_id or ""] = agent if isinstance(agent, str) else str(block.get("name") or "")
                requests.append(Request(tool=str(block.get("name") or ""), arguments=arguments, call_id=call_id))
        usage = mapping(inner.get("usage")) or mapping(message.get("usage"))
        text = content if isinstance(content, str) else "".join(_text(block) for block in blocks)
        yield Entry(
            role="agent",
            text=text,
            content=text,
            requests=tuple(requests),
            finish_reason=text_or_none(inner.get("stop_reason")) or text_or_none(message.get("stop_reason")),
            tokens_in=whole(usage.get("input_tokens")),
            tokens_out=whole(usage.get("output_tokens")),
            path=path,
        )
    results = [block for block in blocks if _block(block).endswith("tool_result")]
    for block in results:
        failed = block.get("is_error")
        yield Entry(
            role="tool",
            reply_to=text_or_none(block.get("tool_use_id")),
            content=_result(block.get("content")),
            failed=failed if isinstance(failed, bool) else None,
            path=path,
        )
    if kind == "user" and not results:
        text = text_of(content)
        if text and not text.startswith(_INTERRUPTED):
            yield Entry(role="user", text=text, path=path)


def _block(block: Mapping[str, Any]) -> str:
    named = {
        "ToolUseBlock": "tool_use",
        "ServerToolUseBlock": "tool_use",
        "ToolResultBlock": "tool_result",
        "TextBlock": "text",
    }
    stated = named.get(str(block.get(CLASS_KEY)), block.get("type"))
    if isinstance(stated, str):
        return stated
    if "tool_use_id" in block:
        return "tool_result"
    return "tool_use" if {"id", "name", "input"} <= set(block) else "text" if "text" in block else ""


def _text(block: Mapping[str, Any]) -> str:
    return str(block.get("text") or "") if _block(block) == "text" else ""


def _result(content: Any) -> Any:
    parts = mappings(content)
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts and len(texts) == len(parts) else content


def _joined(events: Sequence[Mapping[str, Any]]) -> Entry:
    """The message that a stream of API events adds up to."""
    text: list[str] = []
    blocks: dict[Any, dict[str, Any]] = {}
    reason: str | None = None
    for event in events:
        block = mapping(event.get("content_block"))
        delta = mapping(event.get("delta"))
        index = event.get("index")
        if block.get("type") == "tool_use":
            blocks[index] = {"id": block.get("id"), "name": block.get("name"), "json": []}
        if isinstance(delta.get("text"), str):
            text.append(delta["text"])
        if isinstance(delta.get("partial_json"), str) and index in blocks:
            blocks[index]["json"].append(delta["partial_json"])
        reason = text_or_none(delta.get("stop_reason")) or reason
    requests = tuple(
        Request(
            tool=str(one["name"] or ""), arguments=arguments_of("".join(one["json"])), call_id=text_or_none(one["id"])
        )
        for one in blocks.values()
    )
    return Entry(role="agent", text="".join(text), content="".join(text), requests=requests, finish_reason=reason)


def _signal(result: Mapping[str, Any], entries: Sequence[Entry]) -> tuple[Signal | None, TurnError | None]:
    subtype = str(result.get("subtype") or "")
    if subtype in _BUDGET or result.get("terminal_reason") in ("max_turns", "max_budget"):
        return Signal(status=Status.BUDGET_EXHAUSTED, source=StatusSource.FLAG), None
    if subtype.startswith("error") or result.get("is_error") is True:
        said = "; ".join(str(one) for one in listed(result.get("errors"))) or text_or_none(result.get("result"))
        error = TurnError(kind=TurnErrorKind.AGENT_CRASH, message=f"{subtype}: {said or ''}".strip(": ")[:2_000])
        return Signal(status=Status.ERROR, source=StatusSource.FLAG), error
    last = next((one for one in reversed(entries) if one.role == "agent" and not one.path), None)
    reason = text_or_none(result.get("stop_reason")) or (None if last is None else last.finish_reason)
    return of_finish_reason(reason), None


def _with_denials(transcript: Transcript, result: Mapping[str, Any] | None) -> Transcript:
    """Calls that the user's permissions held back never reached their tool."""
    denied = {text_or_none(one.get("tool_use_id")) for one in mappings(mapping(result).get("permission_denials"))}
    if not denied:
        return transcript
    calls = tuple(replace(call, blocked=True) if call.call_id in denied else call for call in transcript.calls)
    return replace(transcript, calls=calls)


def _with_shell(transcript: Transcript) -> Transcript:
    """A shell command that starts a database client may run anything: kept as a call with unknown SQL."""
    found: list[Call] = []
    gaps = transcript.gaps
    for call in transcript.calls:
        command = (call.arguments or {}).get("command")
        if call.tool in _SHELLS and isinstance(command, str) and _CLIENT.search(command[:20_000]):
            found.append(replace(call, kind="query", arguments={}, uncertain=True))
            gaps = (*gaps, SHELL_SQL)
        else:
            found.append(call)
    return replace(transcript, calls=tuple(found), gaps=tuple(dict.fromkeys(gaps)))


def _counted(transcript: Transcript, result: Mapping[str, Any] | None) -> Transcript:
    if result is None:
        return transcript
    usage = mapping(result.get("usage"))
    spent = result.get("duration_ms")
    cost = result.get("total_cost_usd")
    return replace(
        transcript,
        usage=replace(
            transcript.usage,
            steps=whole(result.get("num_turns")),
            tokens_in=whole(usage.get("input_tokens")),
            tokens_out=whole(usage.get("output_tokens")),
            cost_usd=float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None,
            latency_s=spent / 1000 if isinstance(spent, (int, float)) and not isinstance(spent, bool) else None,
        ),
    )


def _gaps(messages: Sequence[Mapping[str, Any]], result: Mapping[str, Any] | None) -> tuple[str, ...]:
    started = any(_kind(one) == "system" and one.get("subtype") == "init" for one in messages)
    return ("the log holds no result message",) if started and result is None else ()
