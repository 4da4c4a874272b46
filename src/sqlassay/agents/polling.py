"""When is a job that the agent started done, and where is it asked about? (setting `poll`)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urljoin

from sqlassay.agents.fields import did_you_mean
from sqlassay.agents.projection import compiled, found_at
from sqlassay.agents.settings import optional_text, seconds
from sqlassay.agents.template import as_text, fill
from sqlassay.errors import ConfigError, ExtractionError

_KNOWN = ("url", "url_from", "every_s", "until", "failed", "method")


class Polling:
    """`{url: "/jobs/{id}", every_s: 1, until: "state == 'done'", failed: "state == 'error'"}`.

    `{id}` in `url` is a field of the first answer; `url_from` is a JMESPath expression that finds the whole address
    in it. `until` and `failed` are JMESPath expressions over each answer; done is asked before failed.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        for key in settings:
            if key not in _KNOWN:
                raise ConfigError(f"agent.poll.{key}: unknown setting{did_you_mean(key, _KNOWN)}")
        self._url = optional_text(settings, "url")
        address = settings.get("url_from")
        self._address = None if address is None else compiled(address, setting="agent.poll.url_from")
        if (self._url is None) == (self._address is None):
            raise ConfigError("agent.poll: set either url or url_from")
        if settings.get("until") is None:
            raise ConfigError("agent.poll.until: needed, a JMESPath expression that is true when the job is done")
        self._until = compiled(settings["until"], setting="agent.poll.until")
        failed = settings.get("failed")
        self._failed = None if failed is None else compiled(failed, setting="agent.poll.failed")
        self.every_s = seconds(settings, "every_s", otherwise=1.0) or 1.0
        self.method = (optional_text(settings, "method") or "GET").upper()

    def url_from(self, document: Any, *, base: str) -> str:
        """Where to ask about the job that `document`, the first answer, describes.

        Raises:
            ExtractionError: the answer does not tell.
        """
        if self._url is not None:
            fields = {str(key): value for key, value in document.items()} if isinstance(document, Mapping) else {}
            address = str(fill(self._url, fields, encode=lambda text: quote(text, safe="")))
            if "{" in address:
                raise ExtractionError(f"the first answer lacks a field of agent.poll.url ({self._url})")
        else:
            address = as_text(found_at(self._address, document))
        if not address:
            raise ExtractionError("the first answer does not tell where to poll (agent.poll.url_from)")
        joined = urljoin(base, address)
        if not joined.startswith(("http://", "https://")):
            raise ExtractionError("the first answer tells an address to poll that is not http:// or https://")
        return joined

    def is_done(self, document: Any) -> bool:
        """Whether `until` holds."""
        return bool(found_at(self._until, document))

    def has_failed(self, document: Any) -> bool:
        """Whether `failed` holds."""
        return self._failed is not None and bool(found_at(self._failed, document))
