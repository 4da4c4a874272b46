"""What every kind of agent offers: `ask` gets a payload, `read` turns a payload into a turn."""

from __future__ import annotations

from typing import Any, Protocol

from sqlassay.records.ask import Ask
from sqlassay.records.turn import Turn


class Reader(Protocol):
    """Payload or trace to turn, and nothing else: no network, no agent framework."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def read(self, payload: Any) -> Turn:
        """Build the turn; `case_id`, `phrasing`, `repeat` and `question` are filled in by the caller.

        Raises:
            ExtractionError: the payload is not of this adapter's kind at all. Anything less is a gap, not an error.
        """
        ...


class Agent(Protocol):
    """A configured agent."""

    name: str

    async def ask(self, ask: Ask) -> Any:
        """Put the question; return the raw payload (JSON-able where the kind allows).

        Raises:
            AgentFailure: the agent crashed or timed out (counts against it).
            AgentUnreachable: it could not be reached after retries (the harness's fault).
        """
        ...

    def read(self, payload: Any) -> Turn: ...

    async def close(self) -> None: ...
