"""Which judge does the `judge:` section mean?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from sqlassay.errors import ConfigError
from sqlassay.judges.base import METRICS, Judge
from sqlassay.judges.chat import Endpoint
from sqlassay.records.environment import Secrets

_KINDS = ("deepeval",)
_KNOWN = ("kind", "metrics", "model", "base_url", "api_key", "timeout_s")


def build(settings: Mapping[str, Any]) -> Judge:
    """A judge from `model`, `base_url`, `api_key`, `metrics` (default: all three), `timeout_s`; `kind` is `deepeval`.

    Raises:
        ConfigError: a setting is unknown or wrong, or an environment variable is not set.
        MissingExtra: DeepEval is not installed.
    """
    for key in settings:
        if key not in _KNOWN:
            raise ConfigError(
                f"judge.{key}: unknown setting{_near(str(key), _KNOWN)}", hint=f"known: {', '.join(_KNOWN)}"
            )
    kind = str(settings.get("kind", "deepeval"))
    if kind not in _KINDS:
        raise ConfigError(f"judge.kind: unknown kind {kind!r}{_near(kind, _KINDS)}")
    timeout = settings.get("timeout_s", 60.0)
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0 < timeout < math.inf:
        raise ConfigError(f"judge.timeout_s: expected seconds above 0, got {timeout!r}")
    secret = settings.get("api_key")
    endpoint = Endpoint(
        base_url=_text(settings, "base_url"),
        model=_text(settings, "model"),
        api_key=None if secret is None else Secrets().fill(str(secret), where="judge.api_key"),
        timeout_s=float(timeout),
    )
    if not endpoint.base_url.startswith(("http://", "https://")):
        raise ConfigError("judge.base_url: expected an http:// or https:// address")
    made: Judge = import_module(f"sqlassay.judges.{kind}").build(endpoint, metrics=_metrics(settings.get("metrics")))
    return made


def _metrics(value: Any) -> tuple[str, ...]:
    if value is None:
        return METRICS
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)):
        raise ConfigError("judge.metrics: expected a list of metrics")
    found = []
    for name in names:
        full = str(name) if str(name).startswith("answer.") else f"answer.{name}"
        if full not in METRICS:
            raise ConfigError(f"judge.metrics: no judge for {name!r}{_near(full, METRICS)}", hint=", ".join(METRICS))
        found.append(full)
    return tuple(dict.fromkeys(found))


def _text(settings: Mapping[str, Any], key: str) -> str:
    value = settings.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"judge.{key} is missing")
    return str(Secrets().fill(value, where=f"judge.{key}"))


def _near(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""
