"""What do spans of LangChain keep in their values that no convention has an attribute for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlassay.agents.dialogue import Entry
from sqlassay.agents.langchain import question_of
from sqlassay.agents.langchain_messages import entry, is_message
from sqlassay.agents.messages import listed, mapping, mappings
from sqlassay.agents.otel_spans import Span, Trace, parsed

_INTERRUPT = "GraphInterrupt"


def state_of(root: Span | None) -> Mapping[str, Any]:
    """The graph's last state, empty where the root's output is none."""
    output = mapping(parsed(None if root is None else root.attributes.get("output.value")))
    return output if isinstance(output.get("messages"), list) or output.get("__interrupt__") else {}


def entries_of(state: Mapping[str, Any]) -> list[Entry]:
    """The messages of a state."""
    return [entry(message) for message in listed(state.get("messages")) if is_message(message)]


def final_text(state: Mapping[str, Any]) -> str | None:
    """The last message of a state, where it is the agent's and calls no tool: steps may say it without a model."""
    last = next(reversed(entries_of(state)), None)
    return last.text if last is not None and last.role == "agent" and not last.requests and last.text else None


def interrupt_of(trace: Trace) -> str | None:
    """What a graph stopped to ask, None where it did not: in its last state, or as the exception of a step."""
    interrupts = listed(state_of(trace.root).get("__interrupt__"))
    if interrupts:
        return next((text for text in map(question_of, interrupts) if text), "")
    if trace.root is None or trace.root.failed:
        return None
    raised = (span.exception for span in trace.spans if span.exception is not None)
    return next((question_of(text) or "" for name, text in raised if name.rsplit(".", 1)[-1] == _INTERRUPT), None)


def generated(span: Span) -> Entry | None:
    """The model's message as LangChain keeps it in a model's span, with what attributes leave out."""
    output = mapping(parsed(span.attributes.get("output.value")))
    batch: Any = next(iter(listed(output.get("generations"))), None)
    first = next(iter(mappings(batch)), None)
    message = None if first is None else first.get("message")
    return entry(message) if is_message(message) else None
