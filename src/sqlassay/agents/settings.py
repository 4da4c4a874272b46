"""Is an agent's section of the configuration right, and which secrets does it take from the environment?"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from sqlassay.agents.fields import brief, did_you_mean, kind_of
from sqlassay.errors import ConfigError

COMMON = frozenset({"kind", "name", "timeout_s", "statuses", "text_rules", "read", "read_settings", "expect"})
"""Settings of every kind: its name, seconds per question, the agent's status words, whether words of refusal are read,
a framework's reader, and what `doctor` must see."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


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


class Secrets:
    """Fills `${NAME}` from the environment, and takes what it filled in out of every message."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._values: set[str] = set()

    def fill(self, value: Any, *, where: str) -> Any:
        """`value` with every `${NAME}` and `${NAME:-default}` in its texts replaced; mappings and lists are walked.

        Raises:
            ConfigError: the variable is not set and has no default.
        """
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: self._variable(match, where), value)
        if isinstance(value, Mapping):
            return {str(key): self.fill(item, where=f"{where}.{key}") for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.fill(item, where=where) for item in value]
        return value

    def keep(self, value: str) -> None:
        """Take this value out of messages too."""
        if len(value) >= 4:
            self._values.add(value)

    def redact(self, text: str) -> str:
        """`text` with every secret replaced by `***`.

        >>> secrets = Secrets({"TOKEN": "abcdef"})
        >>> secrets.redact("got " + secrets.fill("Bearer ${TOKEN}", where="headers"))
        'got Bearer ***'
        """
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    def _variable(self, match: re.Match[str], where: str) -> str:
        name, default = match.group(1), match.group(2)
        value = self._environment.get(name, default)
        if value is None:
            raise ConfigError(f"{where}: the environment variable {name} is not set", hint=f"export {name}=...")
        if name in self._environment:
            self.keep(value)
        return value
