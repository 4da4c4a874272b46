"""How does a judge reach its model? Any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field

import httpx

from sqlassay.errors import SqlassayError

_ATTEMPTS = 3
_PASSING = frozenset({408, 429, 500, 502, 503, 504})


class ModelFailed(SqlassayError):
    """The judge's model could not be reached, or answered nothing. Never the agent's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the model is. The key is sent as a bearer token and shown nowhere."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0


class Chat:
    """Sends prompts at temperature 0 and remembers which, for the hash that is recorded with an opinion."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._prompts: list[str] = []

    async def complete(self, prompt: str) -> str:
        """The model's text.

        Raises:
            ModelFailed: after three attempts, with the status and without the key.
        """
        self._prompts.append(prompt)
        headers = {} if self.endpoint.api_key is None else {"Authorization": f"Bearer {self.endpoint.api_key}"}
        body = {
            "model": self.endpoint.model,
            "temperature": 0,
            "messages": [{"role": "user", "content": prompt}],
        }
        why = ""
        async with httpx.AsyncClient(timeout=self.endpoint.timeout_s, headers=headers) as client:
            for attempt in range(_ATTEMPTS):
                if attempt:
                    await asyncio.sleep(0.2 * 2**attempt)
                try:
                    response = await client.post(f"{self.endpoint.base_url.rstrip('/')}/chat/completions", json=body)
                except httpx.HTTPError as error:
                    why = type(error).__name__
                    continue
                if response.status_code == 200:
                    return _text(response)
                why = f"status {response.status_code}"
                if response.status_code not in _PASSING:
                    break
        raise ModelFailed(f"the judge's model {self.endpoint.model!r} gave no answer: {why}")

    def prompt_hash(self) -> str:
        """Sixteen hex digits over all prompts sent, whatever their order."""
        digest = hashlib.sha256()
        for prompt in sorted(self._prompts):
            digest.update(hashlib.sha256(prompt.encode()).digest())
        return digest.hexdigest()[:16]


def _text(response: httpx.Response) -> str:
    try:
        content = response.json()["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        raise ModelFailed("the judge's model answered in another form than chat completions") from None
    if not isinstance(content, str):
        raise ModelFailed("the judge's model answered no text")
    return content
