"""How is an agent asked that answers over HTTP: at once, as a stream of events, or after polling?"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlassay.agents.base import Agent
from sqlassay.agents.documents import SETTINGS, DocumentReader, says_something
from sqlassay.agents.fields import brief, did_you_mean
from sqlassay.agents.polling import Polling
from sqlassay.agents.projection import compiled, found_at
from sqlassay.agents.settings import (
    check_known,
    optional_mapping,
    optional_text,
    required_text,
    seconds,
    whole,
)
from sqlassay.agents.sse import Event, events_in, lines_in
from sqlassay.agents.template import TextTemplate, as_text, check_placeholders, default_body, fields_of, fill, fill_url
from sqlassay.agents.transport import Request, Response, Transport
from sqlassay.errors import AgentFailure, ConfigError, ExtractionError
from sqlassay.records.ask import Ask
from sqlassay.records.environment import Secrets
from sqlassay.records.turn import Turn

KIND = "http"
VERSION = "1"
_KNOWN = SETTINGS | {
    "url",
    "method",
    "headers",
    "params",
    "body",
    "format",
    "stream",
    "poll",
    "retries",
    "backoff_s",
    "max_bytes",
    "verify",
}
_FORMATS = ("auto", "json", "text", "sse", "jsonl")
_STREAM = ("event", "join")
_METHODS = ("GET", "POST", "PUT", "PATCH")


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:  # noqa: ARG001 - nothing here is a path
    """An agent from `url` and, all optional, `method`, `headers`, `params`, `body`, `map`, `format`, `stream`, `poll`.

    `${NAME}` anywhere is filled from the environment and never shown in messages or kept with a turn.

    Raises:
        ConfigError: a setting is wrong, or an environment variable is not set.
    """
    check_known(settings, _KNOWN, kind=KIND)
    secrets = Secrets()
    filled = {
        key: value if key == "map" else secrets.fill(value, where=f"agent.{key}") for key, value in settings.items()
    }
    return HttpAgent(filled, secrets=secrets)


class HttpAgent:
    """Sends the question, and reads the answer by `map`.

    The payload is `{"status", "content_type", "text" or "document", "latency_s", "attempts"}`.
    """

    def __init__(self, settings: Mapping[str, Any], *, secrets: Secrets) -> None:
        self.name = optional_text(settings, "name") or KIND
        self._secrets = secrets
        self._url = required_text(settings, "url", kind=KIND)
        _check_url(self._url)
        self._method = (optional_text(settings, "method") or "POST").upper()
        if self._method not in _METHODS:
            raise ConfigError(f"agent.method: {self._method!r} is not one of {', '.join(_METHODS)}")
        self._headers = {name: str(value) for name, value in optional_mapping(settings, "headers").items()}
        for name, value in self._headers.items():
            if not (name.isascii() and value.isascii() and value.isprintable()):
                raise ConfigError(f"agent.headers.{name}: a header holds printable ASCII only")
        self._params = optional_mapping(settings, "params")
        body = settings.get("body")
        self._template = TextTemplate(body, setting="agent.body") if isinstance(body, str) else None
        self._body = body
        written: dict[str, Any] = {"url": self._url, "params": self._params, "headers": self._headers}
        for setting, part in written.items():
            check_placeholders(part, setting=f"agent.{setting}")
        if self._template is None:
            check_placeholders(body, setting="agent.body")
        self._format = optional_text(settings, "format") or "auto"
        if self._format not in _FORMATS:
            raise ConfigError(f"agent.format: {self._format!r} is not one of {', '.join(_FORMATS)}")
        self._stream = _Stream(optional_mapping(settings, "stream"))
        self._polling = Polling(optional_mapping(settings, "poll")) if settings.get("poll") is not None else None
        self._timeout_s = seconds(settings, "timeout_s", otherwise=None)
        verify = settings.get("verify", True)
        if not isinstance(verify, (bool, str)):
            raise ConfigError(f"agent.verify: expected true, false or a CA file, got {brief(verify)}")
        self._transport = Transport(
            secrets=secrets,
            retries=whole(settings, "retries", otherwise=3),
            backoff_s=seconds(settings, "backoff_s", otherwise=0.5) or 0.5,
            max_bytes=whole(settings, "max_bytes", otherwise=64 * 1024 * 1024, least=1),
            verify=verify,
        )
        self._documents = DocumentReader(settings, kind=KIND)

    async def ask(self, ask: Ask) -> Any:
        """Put the question and wait until the agent is done; see the class for the payload.

        Raises:
            AgentFailure: it failed, or was not done in time.
            AgentUnreachable: it could not be reached after the retries, or does not take the request.
        """
        started = time.monotonic()
        deadline = None if self._timeout_s is None else started + self._timeout_s
        fields = fields_of(ask)
        request = self._request(ask, fields)
        response = await self._transport.send(request, deadline=deadline)
        if self._polling is None:
            return _payload(response, latency_s=response.latency_s)
        return await self._poll(self._polling, request, response, started=started, deadline=deadline)

    def read(self, payload: Any) -> Turn:
        """The turn of an answer.

        Raises:
            ExtractionError: the answer is a web page, or no JSON where JSON is due; the message shows how it begins.
        """
        if not isinstance(payload, Mapping) or not isinstance(payload.get("text"), str):
            raise ExtractionError("not a payload of kind 'http': it has no 'text'")
        latency = payload.get("latency_s")
        return self._documents.read(
            self._document(payload["text"], content_type=str(payload.get("content_type", ""))),
            version=VERSION,
            latency_s=latency if isinstance(latency, float) else None,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    def _request(self, ask: Ask, fields: Mapping[str, Any]) -> Request:
        headers = {name: fill(value, fields, encode=_header_safe) for name, value in self._headers.items()}
        params = {name: as_text(fill(value, fields)) for name, value in self._params.items()}
        body: Any = None
        text: str | None = None
        if self._template is not None:
            text = self._template.render(fields)
            if not any(name.lower() == "content-type" for name in headers):
                headers["Content-Type"] = "application/json"
        elif self._method != "GET":
            body = default_body(ask) if self._body is None else fill(self._body, fields)
        elif not params and "{question}" not in self._url:
            params = {"question": ask.question}
        return Request(
            method=self._method,
            url=fill_url(self._url, fields),
            headers=headers,
            params=params,
            json=body,
            text=text,
            last_event=self._stream.event,
        )

    async def _poll(
        self, polling: Polling, request: Request, first: Response, *, started: float, deadline: float | None
    ) -> Any:
        document = self._json(first.text, content_type=first.content_type)
        response = first
        url = polling.url_from(document, base=request.url)
        headers = dict(request.headers) if _same_origin(url, request.url) else {}
        while not polling.is_done(document):
            if polling.has_failed(document):
                raise AgentFailure(self._secrets.redact(f"the agent's job failed: {_begin(json.dumps(document))}"))
            wait = polling.every_s
            if deadline is not None and time.monotonic() + wait >= deadline:
                raise AgentFailure(f"not done within {time.monotonic() - started:.3g} s", kind="agent_timeout")
            await asyncio.sleep(wait)
            asked = Request(method=polling.method, url=url, headers=headers, params={})
            response = await self._transport.send(asked, deadline=deadline)
            document = self._json(response.text, content_type=response.content_type)
        return _payload(response, latency_s=time.monotonic() - started)

    def _document(self, text: str, *, content_type: str) -> Any:
        kind = self._format
        if kind == "auto":
            kind = _told(content_type, text)
        if kind in ("sse", "jsonl"):
            whole = self._stream.joined(list(events_in(text) if kind == "sse" else lines_in(text)))
            return whole if self._documents.mapped else _most_telling(whole)
        if kind == "text":
            return {"text": text} if self._documents.mapped else text
        return self._json(text, content_type=content_type)

    def _json(self, text: str, *, content_type: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
        if content_type in ("text/html", "application/xhtml+xml") or text.lstrip()[:15].lower().startswith(
            ("<!doctype html", "<html")
        ):
            raise ExtractionError(
                f"the agent answered a web page instead of JSON: {_begin(text)}",
                hint="check agent.url: a proxy, a login page or the wrong path may be answering",
            )
        raise ExtractionError(
            f"the agent's answer is not JSON ({content_type or 'no content type'}): {_begin(text)}",
            hint="set agent.format to text, sse or jsonl where the agent answers so",
        )


class _Stream:
    """How the events of a stream are joined: setting `stream`, `{event: final, join: "choices[0].delta.content"}`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        for key in settings:
            if key not in _STREAM:
                raise ConfigError(f"agent.stream.{key}: unknown setting{did_you_mean(key, _STREAM)}")
        self.event = optional_text(settings, "event")
        join = settings.get("join")
        self._join = None if join is None else compiled(join, setting="agent.stream.join")

    def joined(self, events: list[Event]) -> Any:
        """The data of the last event called `event`, else all of it:
        `{"events": [{"event", "data"}], "last": ..., "text": ...}`, `text` being the joined pieces.
        """
        pieces = [event.data for event in events]
        if self._join is not None:
            pieces = [found_at(self._join, event.data) for event in events if isinstance(event.data, (Mapping, list))]
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        if self.event is not None:
            named = [event.data for event in events if event.name == self.event]
            if not named:
                raise ExtractionError(
                    f"the stream ended without an event {self.event!r}",
                    hint=f"its events: {', '.join(sorted({event.name for event in events})) or 'none'}",
                )
            last = named[-1]
            return {"text": text, **last} if isinstance(last, Mapping) and self._join is not None else last
        documents = [event.data for event in events if isinstance(event.data, Mapping)]
        return {
            "events": [{"event": event.name, "data": event.data} for event in events],
            "last": documents[-1] if documents else None,
            "text": text,
        }


def _most_telling(document: Any) -> Any:
    """Without `map`: the last event that has turn fields, else the joined text."""
    if not isinstance(document, Mapping) or set(document) != {"events", "last", "text"}:
        return document
    for event in reversed(document["events"]):
        if says_something(event["data"]):
            return event["data"]
    return document["text"] or None


def _told(content_type: str, text: str) -> str:
    if content_type == "text/event-stream":
        return "sse"
    if content_type in (
        "application/x-ndjson",
        "application/jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
    ):
        return "jsonl"
    if content_type == "text/plain" and text.lstrip()[:1] not in ("{", "["):
        return "text"
    return "json"


def _payload(response: Response, *, latency_s: float) -> dict[str, Any]:
    return {
        "status": response.status,
        "content_type": response.content_type,
        "text": response.text,
        "latency_s": round(latency_s, 6),
        "attempts": response.attempts,
    }


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"agent.url: {brief(url)} is not an http:// or https:// address")


def _same_origin(one: str, other: str) -> bool:
    a, b = urlsplit(one), urlsplit(other)
    return (a.scheme, a.netloc) == (b.scheme, b.netloc)


def _header_safe(text: str) -> str:
    return "".join(character for character in text if character.isascii() and character.isprintable())


def _begin(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else flat[:117] + "..."
