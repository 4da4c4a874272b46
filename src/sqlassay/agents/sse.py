"""What did a stream of server-sent events, or of JSON lines, say once it is joined?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: its name (`message` when it has none) and its data, parsed where it is JSON."""

    name: str
    data: Any


def events_in(text: str) -> Iterator[Event]:
    """The events of a `text/event-stream` body; comments, ids and the end mark `[DONE]` are left out.

    Data of several lines is joined by newlines, as the format says. A last event without its blank line counts.

    >>> [event.data for event in events_in('data: {"a": 1}\\n\\n: ping\\n\\nevent: end\\ndata: x\\ndata: y\\n\\n')]
    [{'a': 1}, 'x\\ny']
    """
    name, lines = "message", list[str]()
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if not line:
            if lines:
                data = "\n".join(lines)
                if data.strip() != "[DONE]":
                    yield Event(name=name, data=parsed(data))
            name, lines = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            lines.append(value)
        elif field == "event":
            name = value or "message"


def lines_in(text: str) -> Iterator[Event]:
    """The documents of a JSON-lines body."""
    for line in text.split("\n"):
        if line.strip():
            yield Event(name="message", data=parsed(line))


def parsed(text: str) -> Any:
    """JSON as data, other text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
