"""Which agent does a configuration mean, and which reader does a name mean?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.fields import did_you_mean
from sqlassay.errors import ConfigError

KINDS: Mapping[str, str] = {
    "python": "python",
    "command": "command",
    "http": "http",
    "replay": "replay",
    "langgraph": "langgraph",
    "pydantic_ai": "pydantic_ai_live",
}
"""Agent kind to module; each has `build(settings, *, base_dir) -> Agent`."""

READERS: tuple[str, ...] = (
    "langchain",
    "llama_index",
    "pydantic_ai",
    "openai",
    "openai_agents",
    "claude_agent_sdk",
    "smolagents",
    "vanna",
    "mcp",
    "genie",
    "cortex_analyst",
    "a2a",
    "otel",
)
"""Adapters for `read`; each module has `reader(settings) -> Reader`."""


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """The agent that the `agent:` section of a configuration describes; paths in it are relative to `base_dir`.

    Modules are imported only when their kind is used.

    >>> build({"kind": "replya"}, base_dir=".")
    Traceback (most recent call last):
        ...
    sqlassay.errors.ConfigError: agent.kind: unknown kind 'replya' (did you mean 'replay'?)

    Raises:
        ConfigError: the kind or a setting is unknown, missing or of a wrong type.
        MissingExtra: the kind needs a framework that is not installed.
    """
    kind = settings.get("kind")
    if kind is None:
        raise ConfigError("agent.kind is missing", hint=f"one of {', '.join(KINDS)}")
    module = KINDS.get(str(kind))
    if module is None:
        raise ConfigError(
            f"agent.kind: unknown kind {str(kind)!r}{did_you_mean(str(kind), KINDS)}", hint=f"one of {', '.join(KINDS)}"
        )
    built: Agent = import_module(f"sqlassay.agents.{module}").build(settings, base_dir=base_dir)
    return built


def reader(name: str, settings: Mapping[str, Any] | None = None) -> Reader:
    """The adapter `name`, with the tool names and mappings that a user may have renamed.

    Raises:
        ConfigError: there is no such adapter, or it does not know a setting.
    """
    if name not in READERS:
        raise ConfigError(f"unknown adapter {name!r}{did_you_mean(name, READERS)}", hint=f"one of {', '.join(READERS)}")
    found: Reader = import_module(f"sqlassay.agents.{name}").reader(settings or {})
    return found
