"""Is an agent's section of the configuration right?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sqlassay.agents.fields import brief, did_you_mean, kind_of
from sqlassay.errors import ConfigError

COMMON = frozenset({"kind", "name", "timeout_s", "statuses", "text_rules", "read", "read_settings", "expect"})
"""Settings of every kind: its name, seconds per question, the agent's status words, whether words of refusal are read,
a framework's reader, and what `doctor` must see."""


def check_known(settings: Mapping[str, Any], known: Iterable[str], *, kind: str) -> None:
    """Refuse settings that this kind does not have.

    Raises:
        ConfigError: naming the setting, the kind and the nearest known setting.
    """
    allowed = sorted({*known, *COMMON})
    for key in settings:
        if key not in allowed:
            raise ConfigError(
                f"agent.{key}: unknown setting for kind {kind!r}{did_you_mean(str(key), allowed)}",
                hint=f"known settings: {', '.join(allowed)}",
            )


def required_text(settings: Mapping[str, Any], key: str, *, kind: str) -> str:
    """A setting that must be there and be text.

    Raises:
        ConfigError: it is missing or something else.
    """
    value = settings.get(key)
    if value is None or value == "":
        raise ConfigError(f"agent.{key}: kind {kind!r} needs it")
    if not isinstance(value, str):
        raise ConfigError(f"agent.{key}: expected text, got {kind_of(value)}")
    return value


def optional_text(settings: Mapping[str, Any], key: str) -> str | None:
    """A setting that may be missing, and is text otherwise."""
    value = settings.get(key)
    if value is None or isinstance(value, str):
        return value
    raise ConfigError(f"agent.{key}: expected text, got {kind_of(value)}")


def optional_mapping(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A setting that may be missing (then empty), and is a mapping otherwise."""
    value = settings.get(key)
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(name): item for name, item in value.items()}
    raise ConfigError(f"agent.{key}: expected a mapping, got {kind_of(value)}")


def seconds(settings: Mapping[str, Any], key: str, *, otherwise: float | None) -> float | None:
    """A time in seconds above 0, `otherwise` when it is not set."""
    value = settings.get(key)
    if value is None:
        return otherwise
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
        return float(value)
    raise ConfigError(f"agent.{key}: expected seconds above 0, got {brief(value)}")


def whole(settings: Mapping[str, Any], key: str, *, otherwise: int, least: int = 0) -> int:
    """A whole number of at least `least`, `otherwise` when it is not set."""
    value = settings.get(key)
    if value is None:
        return otherwise
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise ConfigError(f"agent.{key}: expected a whole number of at least {least}, got {brief(value)}")
