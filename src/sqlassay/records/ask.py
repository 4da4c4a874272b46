"""What an agent is shown of a case. It has no field for gold, so gold cannot leak."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One earlier message of the conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question put to an agent.

    `request_id` is an opaque id of this question; `hide` are opaque ids that a retriever resolves to the case and
    its twins (leave-one-out); `database` is the configured name, so that one agent can serve several.
    """

    question: str
    request_id: str
    history: tuple[Message, ...] = ()
    hide: tuple[str, ...] = ()
    database: str | None = None
    at: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def opaque_id(case_id: str) -> str:
    """The id under which a case is hidden from retrieval: it says nothing about the case, and an index of
    examples can compute it for its own entries.

    >>> opaque_id("a1")
    'f55ff16f66f43360'
    """
    return hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
