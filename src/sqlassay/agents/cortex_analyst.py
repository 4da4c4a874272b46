"""What did Snowflake Cortex Analyst answer? Its message response, or the events of its stream.

Built from the published API, not from a live account: unverified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.messages import Signal, Transcript, listed, loaded, mapping, mappings
from sqlassay.agents.statements import role_of
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.errors import ExtractionError
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import Query, StatusSource, Turn, TurnError, TurnErrorKind, Usage

SCHEMA_UNSEEN = "the semantic model is not in the answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CortexAnalystReader:
    """Responses of Cortex Analyst to a turn (specification section 3)."""

    tools: Toolbox
    name: str = "cortex_analyst"
    version: str = "1-unverified"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload is no response of Cortex Analyst.
        """
        found = loaded(payload)
        if isinstance(found, list):
            found = _joined(mappings(found))
        found = mapping(found)
        request = mapping(found.get("request"))
        response = mapping(found.get("response")) or found
        message = mapping(response.get("message"))
        if not mappings(message.get("content")) and not _failed(response):
            raise ExtractionError("not a Cortex Analyst response: no message with content")
        talk = mappings(request.get("messages"))
        content = mappings(message.get("content"))
        statements = [one for one in content if isinstance(one.get("statement"), str)]
        suggestions = [text for one in content for text in listed(one.get("suggestions")) if isinstance(text, str)]
        sql = str(statements[-1]["statement"]) if statements else None
        signal, error = _ending(response, sql, suggestions)
        transcript = Transcript(
            question=_text(mappings(talk[-1].get("content"))) if talk else "",
            history=tuple(_history(talk[:-1])),
            answer=_answer(content, suggestions),
            signal=signal,
            declared_sql=sql,
            memory=tuple(_verified(statements)),
            schema_visible=False,
            usage=Usage(),
            error=error,
            gaps=(SCHEMA_UNSEEN, *_warnings(response)),
        )
        queries = tuple(
            Query(sql=str(one["statement"]), role=role_of(str(one["statement"])), executed=False) for one in statements
        )
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}", extra=queries)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `dialect`.

    Raises:
        ConfigError: a setting is unknown.
    """
    return CortexAnalystReader(tools=toolbox(settings, {}))


def _text(content: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(one["text"]) for one in content if isinstance(one.get("text"), str))


def _answer(content: Sequence[Mapping[str, Any]], suggestions: Sequence[str]) -> str | None:
    text = _text(content)
    if suggestions:
        text = "\n".join([text, *(f"- {one}" for one in suggestions)]).strip()
    return text or None


def _failed(response: Mapping[str, Any]) -> bool:
    return isinstance(response.get("message"), str) and ("code" in response or "error_code" in response)


def _ending(
    response: Mapping[str, Any], sql: str | None, suggestions: Sequence[str]
) -> tuple[Signal | None, TurnError | None]:
    """A failed request, or suggestions without SQL: that is how the analyst asks what was meant."""
    if _failed(response):
        words = f"{response.get('code') or response.get('error_code')}: {response.get('message')}"
        error = TurnError(kind=TurnErrorKind.AGENT_CRASH, message=words[:2_000])
        return Signal(status=Status.ERROR, source=StatusSource.FLAG), error
    if sql is None and suggestions:
        return Signal(status=Status.CLARIFICATION, source=StatusSource.TYPED), None
    return None, None


def _verified(statements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The verified query that the analyst took its statement from: an example that was handed to it."""
    for one in statements:
        used = mapping(mapping(one.get("confidence")).get("verified_query_used"))
        if isinstance(used.get("sql"), str):
            yield used["sql"]


def _warnings(response: Mapping[str, Any]) -> Iterator[str]:
    for one in mappings(response.get("warnings")):
        if isinstance(one.get("message"), str):
            yield f"the analyst warned: {one['message'][:300]}"


def _history(talk: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for one in talk:
        text = _text(mappings(one.get("content")))
        if text:
            yield Message(role="user" if one.get("role") == "user" else "assistant", content=text)


def _joined(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The response that a stream of events adds up to."""
    blocks: dict[Any, dict[str, Any]] = {}
    rest: dict[str, Any] = {}
    for event in events:
        kind = str(event.get("event") or "")
        data = mapping(event.get("data")) or event
        if kind == "error":
            return {"message": str(data.get("message") or "error"), "code": str(data.get("code") or "error")}
        if kind == "message.content.delta" or any(str(key).endswith("_delta") for key in data):
            block = blocks.setdefault(data.get("index"), {"type": data.get("type"), "text": [], "statement": []})
            for name in ("text", "statement"):
                if isinstance(data.get(f"{name}_delta"), str):
                    block[name].append(data[f"{name}_delta"])
            suggested = mapping(data.get("suggestions_delta"))
            if isinstance(suggested.get("suggestion_delta"), str):
                texts = block.setdefault("suggestions", {})
                texts.setdefault(suggested.get("index"), []).append(suggested["suggestion_delta"])
            if isinstance(data.get("confidence"), Mapping):
                block["confidence"] = data["confidence"]
        elif kind in ("warnings", "response_metadata") or "warnings" in data:
            rest.update(data)
    return {"message": {"content": [_block(block) for block in blocks.values()]}, **rest}


def _block(block: Mapping[str, Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = {"type": block.get("type"), "confidence": block.get("confidence")}
    for name in ("text", "statement"):
        if block[name]:
            found[name] = "".join(block[name])
    if isinstance(block.get("suggestions"), Mapping):
        found["suggestions"] = ["".join(pieces) for pieces in block["suggestions"].values()]
    return found
