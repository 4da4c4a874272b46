"""How is a retriever called that answers over HTTP?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlassay.errors import ConfigError
from sqlassay.records.environment import Secrets
from sqlassay.records.trial import Direct
from sqlassay.retrievers.base import Retriever, known_settings, read_answer

if TYPE_CHECKING:
    import httpx

_SETTINGS = ("kind", "name", "url", "method", "headers", "map", "hide_url", "dialect", "timeout_s", "body")
_LARGEST = 64 * 1024 * 1024


def build(settings: Mapping[str, Any], *, base_dir: str) -> Retriever:  # noqa: ARG001 - nothing here is a path
    """A retriever from `url` and, all optional, `method`, `headers`, `body`, `map`, `hide_url`, `timeout_s`.

    Sent as JSON: `question`, `hide` (opaque ids), `hide_sql`, `database`, and what `body` adds. `map` names where in
    the answer `offered` and `examples` stand (JMESPath). `${NAME}` is filled from the environment.

    Raises:
        ConfigError: a setting is unknown or wrong, or an environment variable is not set.
    """
    known_settings(settings, _SETTINGS, kind="http")
    secrets = Secrets()
    written = settings.get("url")
    url = secrets.fill(written, where="retriever.url") if isinstance(written, str) else ""
    if not url.lower().startswith(("http://", "https://")):
        raise ConfigError("retriever.url: expected an http or https address")
    headers = {str(name): str(value) for name, value in dict(settings.get("headers") or {}).items()}
    hide_url = settings.get("hide_url")
    return HttpRetriever(
        url,
        headers=secrets.fill(headers, where="retriever.headers"),
        method=str(settings.get("method") or "POST").upper(),
        extra=dict(settings.get("body") or {}),
        paths={str(name): str(path) for name, path in dict(settings.get("map") or {}).items()},
        hide_url=None if hide_url is None else secrets.fill(str(hide_url), where="retriever.hide_url"),
        name=str(settings.get("name") or "http"),
        dialect=settings.get("dialect"),
        timeout_s=settings.get("timeout_s"),
        secrets=secrets,
    )


class HttpRetriever:
    """Posts the question; an address that cannot be reached or answers an error gives an error, not a crash."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
        extra: Mapping[str, Any] | None = None,
        paths: Mapping[str, str] | None = None,
        hide_url: str | None = None,
        name: str = "http",
        dialect: str | None = None,
        timeout_s: float | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        self.name = name
        self._secrets = secrets or Secrets()
        self._url = url
        self._headers = dict(headers or {})
        self._method = method
        self._extra = dict(extra or {})
        self._paths = _compiled(paths or {})
        self._hide_url = hide_url
        self._dialect = dialect
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None

    async def retrieve(
        self,
        question: str,
        *,
        database: str | None = None,
        hide: Sequence[str] = (),
        hide_sql: Sequence[str] = (),
        timeout_s: float = 60.0,
    ) -> Direct:
        """Ask the endpoint; see `Retriever.retrieve`."""
        body = {**self._extra, "question": question, "hide": list(hide), "hide_sql": list(hide_sql)}
        if database is not None:
            body["database"] = database
        limit = timeout_s if self._timeout_s is None else min(float(self._timeout_s), timeout_s)
        started = time.perf_counter()
        answer, error = await self._sent(self._url, body, limit_s=limit)
        elapsed = time.perf_counter() - started
        if error is not None:
            return Direct(error=error, latency_s=elapsed)
        return replace(read_answer(self._mapped(answer), dialect=self._dialect), latency_s=elapsed)

    async def hide(self, *, ids: Sequence[str], sql: Sequence[str]) -> None:
        """Tell `hide_url` what to hide from everybody; nothing where there is none."""
        if self._hide_url is not None:
            await self._sent(self._hide_url, {"hide": list(ids), "hide_sql": list(sql)}, limit_s=60.0)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _mapped(self, answer: Any) -> Any:
        if not self._paths:
            return answer
        return {name: path.search(answer) for name, path in self._paths.items()}

    async def _sent(self, url: str, body: Mapping[str, Any], *, limit_s: float) -> tuple[Any, str | None]:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(follow_redirects=False)
        try:
            if self._method == "GET":
                response = await self._client.get(url, params=_query(body), headers=self._headers, timeout=limit_s)
            else:
                response = await self._client.request(
                    self._method, url, json=body, headers=self._headers, timeout=limit_s
                )
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return None, self._secrets.redact(f"{type(error).__name__}: {error}".rstrip(": "))
        if response.status_code >= 400:
            return None, f"HTTP {response.status_code}"
        if len(response.content) > _LARGEST:
            return None, f"the answer is larger than {_LARGEST:,} bytes"
        try:
            return response.json(), None
        except ValueError:
            return response.text, None


def _query(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if isinstance(value, (str, int, float, list))}


def _compiled(paths: Mapping[str, str]) -> dict[str, Any]:
    if not paths:
        return {}
    import jmespath

    known = {"offered", "examples", "memory", "error"}
    for name in paths:
        if name not in known:
            raise ConfigError(f"retriever.map: unknown field {name!r}", hint=f"known: {', '.join(sorted(known))}")
    try:
        return {name: jmespath.compile(path) for name, path in paths.items()}
    except jmespath.exceptions.JMESPathError as error:
        raise ConfigError(f"retriever.map: {error}") from None
