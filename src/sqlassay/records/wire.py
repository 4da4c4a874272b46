"""How records are written and read back strictly: the edge of the house."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from typing import Any, Protocol, runtime_checkable

from sqlassay.errors import RecordError
from sqlassay.records.case import Case
from sqlassay.records.measurement import Measurement
from sqlassay.records.plain import to_plain
from sqlassay.records.run import FORMAT_VERSION, Manifest
from sqlassay.records.strict import from_plain, read_as
from sqlassay.records.turn import Turn
from sqlassay.records.value import Broken, Quantity, Ratio, Reading, Reason, Undefined


@runtime_checkable
class _HasDict(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


_ESCAPED = re.compile("[\ud800-\udfff\u2028\u2029\x85]")
"""Lone surrogates, which UTF-8 cannot hold, and the line ends that are not the end of a JSON line."""


def write_line(record: object) -> str:
    """One JSON line without its newline: the same record gives the same bytes, always.

    Fields stand in the order of the record; text stays readable; a lone surrogate is escaped, so that the line
    can be encoded and read back as it was.

    >>> write_line({"id": "España", "odd": "\\ud800"})
    '{"id": "España", "odd": "\\\\ud800"}'
    """
    plain = record.to_dict() if isinstance(record, _HasDict) else to_plain(record)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def read_line(line: str | bytes) -> Mapping[str, Any]:
    """The mapping on one JSON line.

    Raises:
        RecordError: it is not JSON, or not a mapping.
    """
    try:
        # Said outright, since finding out what a line is written in costs as much as a small line.
        plain = json.loads(line if isinstance(line, str) else line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not a JSON line: {error}") from None
    if not isinstance(plain, Mapping):
        raise RecordError(f"a JSON line should hold a mapping, not {type(plain).__name__}")
    return plain


def read_turn(plain: Mapping[str, Any]) -> Turn:
    """A `turns.jsonl` line back into the turn it was written from.

    Raises:
        RecordError: a field is unknown, missing or of the wrong type; the message names each with its path.

    >>> read_turn({"case_id": "a", "candidate_sql": "SELECT 1"}).candidate_sql
    'SELECT 1'
    """
    return from_plain(Turn, plain, what=_which("turn", plain))


def read_case(plain: Mapping[str, Any]) -> Case:
    """A case as `to_plain` wrote it (run folders keep cases so); hand-written files go through `sqlassay.datasets`.

    Raises:
        RecordError: see `read_turn`.
    """
    return from_plain(Case, plain, what=_which("case", plain))


def read_manifest(plain: Mapping[str, Any]) -> Manifest:
    """`manifest.json` back into the record.

    Raises:
        RecordError: see `read_turn`; also when a newer sqlassay wrote it.
    """
    version = plain.get("format_version", 1)
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise RecordError(
            f"the run has format version {version}, this sqlassay reads up to {FORMAT_VERSION}",
            hint="upgrade sqlassay to read this run",
        )
    return from_plain(Manifest, plain, what=_which("manifest", plain))


def read_measurement(plain: Mapping[str, Any]) -> Measurement:
    """A `scores.jsonl` line back into the measurement: the inverse of `Measurement.to_dict`.

    Raises:
        RecordError: see `read_turn`.

    >>> line = {"case_id": "a", "metrics": {"execution.exact": {"value": 1.0, "hits": 1, "total": 1}}}
    >>> read_measurement(line).metrics["execution.exact"]
    Ratio(hits=1, total=1)
    """
    return from_plain(Measurement, plain, what=_which("score", plain))


def _which(noun: str, plain: Mapping[str, Any]) -> str:
    name = plain.get("case_id", plain.get("run_id", plain.get("id")))
    return noun if name is None else f"{noun} of {name!r}"


def _reading(plain: Mapping[str, Any]) -> tuple[type[Any], Mapping[str, Any]] | None:
    """Which reading a line means, and its fields: a ratio's value follows from its counts."""
    fields = dict(plain)
    if "hits" in fields:
        fields.pop("value", None)
        return Ratio, fields
    if "unit" in fields:
        return Quantity, fields
    for name, field, kind in (("undefined", "reason", Undefined), ("broken", "error", Broken)):
        if name in fields and fields.pop("value", None) is None:
            fields[field] = fields.pop(name)
            return kind, fields
    return None


_REASONS = {reason.value: Undefined(reason=reason) for reason in Reason}
_NUMBERS = (int, float)


@lru_cache(maxsize=4096, typed=True)
def _ratio(hits: float, total: float) -> Ratio | None:
    """The record of two counts, shared by all lines that say the same; None where they are no ratio."""
    return Ratio(hits=hits, total=total) if 0 <= hits <= total < inf and total > 0 else None


def _common_reading(plain: Mapping[str, Any]) -> Reading | None:
    """A ratio or an undefined reading exactly as `Measurement.to_dict` writes it."""
    if len(plain) == 3:
        hits, total = plain.get("hits"), plain.get("total")
        if "value" in plain and type(hits) in _NUMBERS and type(total) in _NUMBERS:
            return _ratio(hits, total)
    elif len(plain) == 2 and "undefined" in plain and plain.get("value", 0) is None:
        reason = plain["undefined"]
        return _REASONS.get(reason) if type(reason) is str else None
    return None


read_as(Reading, _reading, quickly=_common_reading)
