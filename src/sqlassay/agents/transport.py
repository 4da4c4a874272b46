"""How does one HTTP request get its answer: retries, redirects, limits, and whose fault it is when it does not?"""

from __future__ import annotations

import asyncio
import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from sqlassay.errors import AgentFailure, AgentUnreachable
from sqlassay.records.environment import Secrets

_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_GATEWAY = frozenset({408, 425, 429, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FOLLOWED = 5
_LONGEST_WAIT_S = 60.0
_CONNECT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it is sent; `json` and `text` are alternative bodies."""

    method: str
    url: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    json: Any = None
    text: str | None = None
    last_event: str | None = None
    """The event after which a stream of events is not read on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back: decoded text, secrets taken out; the seconds that the last attempt took."""

    status: int
    content_type: str
    text: str
    latency_s: float
    attempts: int


class RateLimited(AgentUnreachable):
    """The agent asked to be left alone for a while; `retry_after_s` is how long, None where it does not say."""

    def __init__(self, message: str, *, retry_after_s: float | None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Transport:
    """Sends requests with one client per event loop; never follows a redirect to another host."""

    def __init__(self, *, secrets: Secrets, retries: int, backoff_s: float, max_bytes: int, verify: bool | str) -> None:
        self._secrets = secrets
        self._retries = retries
        self._backoff_s = backoff_s
        self._max_bytes = max_bytes
        self._verify = verify
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._random = random.Random(0)

    async def send(self, request: Request, *, deadline: float | None) -> Response:
        """The answer of the agent; `deadline` on `time.monotonic`'s clock ends waiting and retrying.

        Connection errors and 408, 425, 429 and 5xx are tried again with growing waits, or after what Retry-After says.

        Raises:
            AgentFailure: it answered 500 to the last, or not in time, or endlessly.
            AgentUnreachable: no connection, a gateway's error, a rate limit, or a request that it does not take.
        """
        for attempt in range(1, self._retries + 2):
            last = attempt > self._retries
            started = time.monotonic()
            try:
                status, headers, text = await self._once(request, deadline)
            except httpx.TimeoutException as error:
                if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
                    await self._pause(attempt, last, deadline, f"cannot connect to {self._shown(request)} in time")
                    continue
                raise self._late(started) from None
            except TimeoutError:
                raise self._late(started) from None
            except httpx.UnsupportedProtocol as error:
                raise AgentUnreachable(f"{self._shown(request)}: {error}") from None
            except httpx.TransportError as error:
                why = f"{self._shown(request)} cannot be reached: {type(error).__name__}: {error}"
                await self._pause(attempt, last, deadline, why)
                continue
            if status in _RETRIED:
                await self._again(request, status, headers, text, attempt=attempt, last=last, deadline=deadline)
                continue
            if status >= 400:
                raise self._refused(request, status, text)
            return Response(
                status=status,
                content_type=headers.get("content-type", "").partition(";")[0].strip().lower(),
                text=self._secrets.redact(text),
                latency_s=time.monotonic() - started,
                attempts=attempt,
            )
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _once(self, request: Request, deadline: float | None) -> tuple[int, httpx.Headers, str]:
        left = None if deadline is None else max(0.001, deadline - time.monotonic())
        async with asyncio.timeout(left):
            url, hops = httpx.URL(request.url), 0
            while True:
                async with self._stream(request, url) as response:
                    if response.status_code in _REDIRECTS and "location" in response.headers:
                        url, hops = self._followed(request, url, response), hops + 1
                        if hops > _FOLLOWED:
                            raise AgentUnreachable(f"{self._shown(request)} redirects more than {_FOLLOWED} times")
                        continue
                    return response.status_code, response.headers, await self._text(response, request)

    def _stream(self, request: Request, url: httpx.URL) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(None, connect=_CONNECT_S),
                follow_redirects=False,
                verify=self._verify,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            )
            self._loop = loop
        body: dict[str, Any] = {}
        if request.text is not None:
            body["content"] = request.text.encode()
        elif request.json is not None:
            body["json"] = request.json
        params = dict(request.params) if request.params else None
        return self._client.stream(request.method, url, headers=dict(request.headers), params=params, **body)

    async def _text(self, response: httpx.Response, request: Request) -> str:
        taken = bytearray()
        streams = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        async for chunk in response.aiter_bytes():
            taken += chunk
            if streams and has_ended(taken, since=len(taken) - len(chunk), last_event=request.last_event):
                break
            if len(taken) > self._max_bytes:
                raise AgentFailure(f"{self._shown(request)} answered more than {self._max_bytes} bytes")
        return bytes(taken).decode(response.charset_encoding or "utf-8", "replace")

    def _followed(self, request: Request, url: httpx.URL, response: httpx.Response) -> httpx.URL:
        to = url.join(response.headers["location"])
        upgrade = url.scheme == "http" and to.scheme == "https" and url.host == to.host
        if (to.scheme, to.host, to.port) != (url.scheme, url.host, url.port) and not upgrade:
            raise AgentUnreachable(
                f"{self._shown(request)} redirects to another host ({to.scheme}://{to.netloc.decode()})",
                hint="set agent.url to where the agent really is; headers are never sent to another host",
            )
        if response.status_code in (301, 302, 303) and request.method not in ("GET", "HEAD"):
            raise AgentUnreachable(
                f"{self._shown(request)} answers {request.method} with redirect {response.status_code}"
                f" to {self._secrets.redact(str(to))}",
                hint="set agent.url to that address",
            )
        return to

    async def _again(
        self,
        request: Request,
        status: int,
        headers: httpx.Headers,
        text: str,
        *,
        attempt: int,
        last: bool,
        deadline: float | None,
    ) -> None:
        why = f"{self._shown(request)} answered {status}: {self._excerpt(text)}"
        if last and status not in _GATEWAY:
            raise AgentFailure(why)
        asked = retry_after_s(headers.get("retry-after"))
        try:
            await self._pause(attempt, last, deadline, why, retry_after=asked)
        except AgentUnreachable as error:
            if status == 429:
                raise RateLimited(error.message, retry_after_s=asked) from None
            raise

    async def _pause(
        self, attempt: int, last: bool, deadline: float | None, why: str, *, retry_after: float | None = None
    ) -> None:
        """Wait before the next attempt, or say that there is none."""
        if last:
            tried = "" if attempt == 1 else f" ({attempt} attempts)"
            raise AgentUnreachable(self._secrets.redact(why) + tried)
        growing = self._backoff_s * 2 ** (attempt - 1) * (0.75 + self._random.random() / 2)
        wait = min(growing, _LONGEST_WAIT_S) if retry_after is None else retry_after
        if deadline is not None and time.monotonic() + wait >= deadline:
            raise AgentUnreachable(
                f"{self._secrets.redact(why)} (the next attempt, in {wait:.3g} s, would be too late)"
            )
        await asyncio.sleep(wait)

    def _refused(self, request: Request, status: int, text: str) -> AgentUnreachable:
        hints = {
            401: "the credentials are missing or wrong: check agent.headers",
            403: "the credentials do not allow it: check agent.headers",
            404: "check agent.url",
            405: "check agent.method",
        }
        return AgentUnreachable(
            f"{self._shown(request)} answered {status}: {self._excerpt(text)}",
            hint=hints.get(status, "the agent does not take this request: check agent.body and agent.headers"),
        )

    def _late(self, started: float) -> AgentFailure:
        return AgentFailure(f"no answer within {time.monotonic() - started:.3g} s", kind="agent_timeout")

    def _shown(self, request: Request) -> str:
        url = httpx.URL(request.url)
        bare = f"{url.scheme}://{url.host}{'' if url.port is None else f':{url.port}'}{url.path}"
        return self._secrets.redact(bare)

    def _excerpt(self, text: str) -> str:
        flat = " ".join(text.split())
        return self._secrets.redact(flat if len(flat) <= 200 else flat[:197] + "...") or "no text"


def has_ended(taken: bytearray, *, since: int, last_event: str | None) -> bool:
    """Whether a stream of events has said all, though its server may keep it open: `[DONE]`, or the last event whole.

    `since` is how much of `taken` was looked at before.

    >>> has_ended(bytearray(b"event: end\\ndata: 1\\n\\n"), since=0, last_event="end")
    True
    """
    start = max(0, since - 256)
    if taken.find(b"data: [DONE]", start) >= 0 or taken.find(b"data:[DONE]", start) >= 0:
        return True
    if last_event is None:
        return False
    at = taken.rfind(f"event: {last_event}".encode(), max(0, since - 65_536))
    at = max(at, taken.rfind(f"event:{last_event}".encode(), max(0, since - 65_536)))
    return at >= 0 and (taken.find(b"\n\n", at) >= 0 or taken.find(b"\r\n\r\n", at) >= 0)


def retry_after_s(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number or a date; None when there is none or it is malformed.

    >>> retry_after_s("1.5"), retry_after_s("soon")
    (1.5, None)
    """
    if value is None:
        return None
    try:
        wait = float(value)
    except ValueError:
        try:
            wait = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return min(max(wait, 0.0), 3600.0) if wait == wait else None
