"""Which kinds of retriever are there?"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from sqlassay.errors import ConfigError
from sqlassay.retrievers.base import Retriever

KINDS = ("http", "python")


def build(settings: Mapping[str, Any], *, base_dir: str) -> Retriever:
    """The retriever that `settings` (the `retriever` section of the configuration) describe.

    Raises:
        ConfigError: no such kind, or a setting of it is wrong.
    """
    kind = settings.get("kind")
    if kind is None:
        kind = "http" if "url" in settings else "python" if "target" in settings else None
    if kind not in KINDS:
        near = get_close_matches(str(kind), KINDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(KINDS)}"
        raise ConfigError(f"retriever.kind: {kind!r} is not known", hint=hint)
    module = import_module(f"sqlassay.retrievers.{kind}")
    built: Retriever = module.build(settings, base_dir=base_dir)
    return built
