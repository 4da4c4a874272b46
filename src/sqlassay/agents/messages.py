"""What do all agent logs have in common: who said what, which tool was called with what, and what came back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sqlassay.errors import Culprit, ExtractionError, Fault, capture
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import Returned, StatusSource, TurnError, Usage

MAX_DEPTH = 80
"""Deeper nesting than this is no message of any framework; what lies below is dropped."""

CLASS_KEY = "__class__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a tool call gave back; `failed` is the framework's own flag, None where it keeps none."""

    content: Any = None
    failed: bool | None = None
    error: str | None = None
    """The error's text where the framework keeps it apart from the content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call; `arguments` None means that they could not be read, `outcome` None that no reply is in the log."""

    tool: str
    arguments: Mapping[str, Any] | None
    call_id: str | None = None
    outcome: Outcome | None = None
    path: tuple[str, ...] = ()
    written: Mapping[str, Any] | None = None
    """The arguments as first written, where a step of the agent replaced them before the call."""
    blocked: bool = False
    """The log itself says that the call was held back (approval pending, denied, over budget)."""
    kind: str | None = None
    """What the tool does (`query`, `check`, ...) where the log itself says so; else its name decides."""
    uncertain: bool = False
    """The call may have been made, never, or many times: the log does not say."""
    duration_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A status that something other than prose gave, and what gave it."""

    status: Status
    source: StatusSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One turn in neutral form: what a reader takes out of a payload, before statements and status are judged."""

    question: str = ""
    history: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    signal: Signal | None = None
    declared_sql: str | None = None
    prompts: tuple[str, ...] = ()
    """System prompts and instructions that the log shows; DDL in them was offered to the agent."""
    prompts_visible: bool = False
    """True where the log shows all instructions, so that DDL outside of it cannot exist."""
    statements_visible: bool = True
    """False where this log never shows what is executed, only what was answered."""
    schema_visible: bool = True
    """False where the schema reached the agent on a way that this log never shows."""
    returned: Returned | None = None
    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    memory: tuple[str, ...] = ()
    usage: Usage = Usage()
    error: TurnError | None = None
    gaps: tuple[str, ...] = ()
    ended: bool = False
    """The log shows how the run ended (an exception, a result message): a call without reply was never made."""


def loaded(payload: Any) -> Any:
    """The payload as plain JSON values: text is parsed (JSON or JSON Lines), framework objects are taken apart.

    >>> loaded('{"a": 1}'), loaded('{"a": 1}\\n{"a": 2}\\n')
    ({'a': 1}, [{'a': 1}, {'a': 2}])
    """
    if isinstance(payload, (bytes, bytearray)):
        payload = bytes(payload).decode("utf-8", errors="replace")
    if isinstance(payload, str):
        return plain(_parsed(payload))
    return plain(payload)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    values = []
    broken = 0
    for line in text.splitlines():
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                broken += 1
    if not values or broken > 1:
        raise ExtractionError("the payload is neither JSON nor JSON Lines")
    return values


def plain(value: Any) -> Any:
    """Framework objects as mappings: `model_dump` where there is one, dataclass fields, else public attributes.

    The class name is kept under `__class__` for objects that are not mappings; an exception becomes
    `{"exception": name, "message": text}`. An object that holds itself is cut at that point.

    >>> plain(ValueError("no"))
    {'exception': 'ValueError', 'message': 'no'}
    """
    return _Plain().of(value, 0)


class _Plain:
    """Takes objects apart, each once, however often and however crosswise they refer to each other."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._alive: list[Any] = []

    def of(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, (str, int, float)):
            return value.value if isinstance(value, Enum) else value
        if depth > MAX_DEPTH:
            return None
        if id(value) in self._done:
            return self._done[id(value)]
        self._done[id(value)] = None
        self._alive.append(value)
        found = self._apart(value, depth)
        self._done[id(value)] = found
        return found

    def _apart(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            return {str(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, Enum):
            return self.of(value.value, depth + 1)
        if isinstance(value, BaseException):
            return {"exception": type(value).__name__, "message": str(value)}
        if isinstance(value, type) or callable(value):
            return getattr(value, "__name__", str(type(value)))
        fields = _fields(value)
        if fields is None:
            return str(value)
        return {CLASS_KEY: type(value).__name__, **{str(key): self.of(item, depth + 1) for key, item in fields.items()}}


def _fields(value: Any) -> Mapping[str, Any] | None:
    """What an object holds; None where it has no fields that could be told."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = capture(dump, culprit=Culprit.US)
        if isinstance(dumped, Mapping) and not isinstance(dumped, Fault):
            return dumped
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    if hasattr(value, "__dict__"):
        return {name: item for name, item in vars(value).items() if not name.startswith("_")}
    return None


def text_of(content: Any) -> str:
    """The text of a message's content: a string, a block, or a list of blocks; blocks that are no text are left out.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1"}, "b"])
    'ab'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if content.get("type") in ("reasoning", "thinking", "refusal", "tool_use", "tool_result"):
            return ""
        text = content.get("text")
        return text if isinstance(text, str) else ""
    if isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        return "".join(text_of(block) for block in content)
    return ""


def shown(value: Any) -> str | None:
    """What a user sees of an output of any type: text as it is, text blocks as their text, other values as JSON.

    >>> shown("a"), shown(59), shown([["France", 1.5]]), shown([{"type": "text", "text": "b"}]), shown(None)
    ('a', '59', '[["France", 1.5]]', 'b', None)
    """
    if value is None or isinstance(value, str):
        return value
    blocks = mappings(value)
    if blocks and len(blocks) == len(value) and all(isinstance(block.get("text"), str) for block in blocks):
        return text_of(blocks)
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key != CLASS_KEY}
    return json.dumps(value, ensure_ascii=False, default=str)


def refusal_of(content: Any) -> str | None:
    """The text of a `refusal` block among a message's content blocks."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        for block in content:
            if isinstance(block, Mapping) and isinstance(block.get("refusal"), str) and block["refusal"]:
                return str(block["refusal"])
    return None


def arguments_of(raw: Any) -> Mapping[str, Any] | None:
    """Tool arguments as a mapping; JSON text is parsed; None where they are no object.

    >>> arguments_of('{"sql": "SELECT 1"}'), arguments_of('{"sql": "SELECT 1'), arguments_of("")
    ({'sql': 'SELECT 1'}, None, {})
    """
    if raw is None or raw == "":
        return {}
    if isinstance(raw, Mapping):
        return raw
    if isinstance(raw, str):
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, Mapping) else None
    return None


def mappings(values: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list, anything else left out; an empty list where there is no list."""
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray)):
        return [value for value in values if isinstance(value, Mapping)]
    return []


def listed(value: Any) -> Sequence[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def text_or_none(value: Any) -> str | None:
    """The value when it is text, else None."""
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """A count as an integer; booleans and anything that is no finite number give None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if value == value and abs(value) < 1e19 else None


def total(values: Iterable[int | None]) -> int | None:
    """The sum of the known values, None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
