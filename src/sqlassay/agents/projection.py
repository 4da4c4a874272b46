"""Where in somebody's JSON do the turn's fields stand? (setting `map`, JMESPath)"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from sqlassay.agents.fields import brief, did_you_mean, kind_of
from sqlassay.agents.mapping import KNOWN_KEYS, MappingReader
from sqlassay.errors import ConfigError
from sqlassay.records.turn import Turn

_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_NESTED = frozenset({"returned", "stages", "retrieval", "usage", "error"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One entry of `map`: the turn field (`usage.tokens_in` reaches into one) and the expression that finds it."""

    target: tuple[str, ...]
    expression: str
    compiled: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """What the expressions found, under the turn's names, and the entries for which nothing was there."""

    given: Mapping[str, Any]
    missing: tuple[str, ...]


class Projection:
    """The setting `map`, compiled: turn field to JMESPath expression.

    >>> found = Projection({"candidate_sql": "out.sql", "usage.tokens_in": "meta.tokens"}).apply({"out": {"sql": "S"}})
    >>> found.given, found.missing
    ({'candidate_sql': 'S'}, ("usage.tokens_in: nothing at 'meta.tokens'",))
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self.fields = tuple(_field(str(name), expression) for name, expression in entries.items())

    def __bool__(self) -> bool:
        return bool(self.fields)

    def apply(self, document: Any) -> Projected:
        """Find every field; null that stands there is found, only absence is missing."""
        given: dict[str, Any] = {}
        missing: list[str] = []
        for field in self.fields:
            value = found_at(field.compiled, document)
            if value is None and not _stands(field.expression, document):
                missing.append(f"{'.'.join(field.target)}: nothing at {field.expression!r}")
                continue
            place = given
            for name in field.target[:-1]:
                held = place.get(name, {})
                place[name] = dict(held) if isinstance(held, Mapping) else {"value": held}
                place = place[name]
            place[field.target[-1]] = value
        return Projected(given=given, missing=tuple(missing))


class MappedReader:
    """Reads a document by `map`: what the expressions find, as a mapping with the turn's fields."""

    def __init__(self, projection: Projection, inner: MappingReader) -> None:
        self._projection, self._inner = projection, inner
        self.name, self.version = inner.name, inner.version

    def read(self, payload: Any) -> Turn:
        """The turn, with what `map` did not find as gaps."""
        projected = self._projection.apply(payload)
        turn = self._inner.read(projected.given)
        return replace(turn, gaps=(*turn.gaps, *projected.missing))


def compiled(expression: Any, *, setting: str) -> Any:
    """A JMESPath expression ready to search with.

    Raises:
        ConfigError: it is no text or no JMESPath, with what is wrong and where.
    """
    if not isinstance(expression, str) or not expression.strip():
        raise ConfigError(f"{setting}: expected a JMESPath expression, got {kind_of(expression)}")
    try:
        return jmespath.compile(expression)
    except JMESPathError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{setting}: {expression!r} is not JMESPath: {reason}") from None


def found_at(expression: Any, document: Any) -> Any:
    """What a compiled expression finds; None also where a function in it does not fit the document."""
    try:
        return expression.search(document)
    except (JMESPathError, TypeError, ValueError, AttributeError):
        return None


def _field(name: str, expression: Any) -> Field:
    root, *rest = name.split(".")
    if root not in KNOWN_KEYS or (rest and root not in _NESTED) or any(not part for part in rest):
        raise ConfigError(
            f"agent.map: {brief(name)} is no field of a turn{did_you_mean(root, sorted(KNOWN_KEYS))}",
            hint=f"known fields: {', '.join(sorted(KNOWN_KEYS))}; a dot reaches into {', '.join(sorted(_NESTED))}",
        )
    return Field(
        target=(root, *rest), expression=str(expression), compiled=compiled(expression, setting=f"agent.map.{name}")
    )


def _stands(expression: str, document: Any) -> bool:
    """Whether a plain path leads to a key that exists, whatever its value."""
    if not _PATH.match(expression):
        return False
    for name in expression.split("."):
        if not isinstance(document, Mapping) or name not in document:
            return False
        document = document[name]
    return True
