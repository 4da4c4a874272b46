"""One line that names the version and every setting that can change a number."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sqlassay.records.plain import to_plain
from sqlassay.records.settings import Limits, RunSettings, ScorerVersion, ScoreSettings

_OUTSIDE = frozenset({"jobs", "workers", "requests_per_minute", "tokens_per_minute", "grace_s"})
"""Fields of the settings that only change how fast a run goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Version, scorer version and the settings, as a flat mapping in field order."""

    version: str
    fields: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """`sqlassay 0.1.0 | scorer:1 | tolerance.mode:guarded | ... | digest`."""
        return " | ".join([f"sqlassay {self.version}", *(f"{k}:{v}" for k, v in self.fields), self.digest])

    @property
    def digest(self) -> str:
        """Twelve hex digits over version and all fields."""
        return hashlib.sha256(json.dumps([self.version, self.fields]).encode()).hexdigest()[:12]


def sign(
    *,
    version: str,
    score: ScoreSettings,
    limits: Limits,
    run: RunSettings,
    extra: dict[str, str] | None = None,
) -> Signature:
    """Build the signature from every field of the settings; a field added later is in it by itself.

    >>> one = sign(version="0", score=ScoreSettings(), limits=Limits(), run=RunSettings())
    >>> two = sign(version="0", score=ScoreSettings(columns="by_name"), limits=Limits(), run=RunSettings())
    >>> one.digest == two.digest
    False
    """
    fields: list[tuple[str, str]] = [("scorer", ScorerVersion)]
    for prefix, record in (("", score), ("limits.", limits), ("run.", run)):
        fields += _flatten(prefix, record)
    fields += sorted((extra or {}).items())
    return Signature(version=version, fields=tuple(fields))


def _flatten(prefix: str, record: Any) -> list[tuple[str, str]]:
    items: list[tuple[str, str]] = []
    for field in dataclasses.fields(record):
        if field.name in _OUTSIDE:
            continue
        value = getattr(record, field.name)
        if dataclasses.is_dataclass(value):
            items += _flatten(f"{prefix}{field.name}.", value)
        else:
            plain = to_plain(value)
            items.append(
                (
                    f"{prefix}{field.name}",
                    ",".join(map(str, plain)) if isinstance(plain, list) else str(plain),
                )
            )
    return items
