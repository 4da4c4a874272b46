"""How does the document that an agent behind HTTP or a command answered become a turn?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlassay.agents.base import Reader
from sqlassay.agents.mapping import KNOWN_KEYS
from sqlassay.agents.python import result_reader
from sqlassay.agents.settings import optional_mapping
from sqlassay.records.turn import Turn

SETTINGS = frozenset({"map"})


class DocumentReader:
    """Reads a document by `map`, by a framework's adapter (`read`), or as it stands."""

    def __init__(self, settings: Mapping[str, Any], *, kind: str) -> None:
        self.mapped = bool(optional_mapping(settings, "map"))
        self._reader: Reader = result_reader(settings, kind=kind)
        self._adapter = kind

    def read(self, document: Any, *, version: str, latency_s: float | None = None) -> Turn:
        """The turn, with the measured latency where the agent tells none.

        Raises:
            ExtractionError: the document is neither text nor a mapping, and no `map` reaches into it.
        """
        turn = self._reader.read(document)
        if self._reader.name == "python":
            turn = replace(turn, adapter=f"{self._adapter} {version}")
        if turn.usage.latency_s is None and latency_s is not None:
            turn = replace(turn, usage=replace(turn.usage, latency_s=latency_s))
        return turn


def says_something(document: Any) -> bool:
    """Whether a mapping has a field that a turn knows."""
    return isinstance(document, Mapping) and any(key in KNOWN_KEYS for key in document)
