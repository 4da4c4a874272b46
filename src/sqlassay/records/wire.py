"""How records are written, read back strictly, and described by JSON Schema: the edge of the house.

The only module that imports pydantic, and only when a schema is asked for.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import inf
from typing import Any, Protocol, TypeVar, runtime_checkable

from sqlassay.errors import RecordError, UsageError
from sqlassay.records.case import Case
from sqlassay.records.config import SHORT, Config
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.plain import to_plain
from sqlassay.records.run import FORMAT_VERSION, Manifest
from sqlassay.records.strict import from_plain, read_as, unknown
from sqlassay.records.turn import Turn
from sqlassay.records.value import Broken, Ceiling, Quantity, Ratio, Reading, Reason, Undefined

T = TypeVar("T")


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


SCHEMAS = ("case", "turn", "score", "manifest", "config")
"""The names `schema` knows; the schema of a summary is made with `schema_of` where summaries are defined."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one published format.

    Raises:
        UsageError: no format of that name.

    >>> schema("turn")["title"]
    'turn'
    """
    builders: Mapping[str, Callable[[], dict[str, Any]]] = {
        "case": _case_schema,
        "turn": lambda: schema_of(Turn, title="turn"),
        "score": _score_schema,
        "manifest": lambda: schema_of(Manifest, title="manifest"),
        "config": _config_schema,
    }
    if name not in builders:
        raise UsageError(*unknown("schema", name, [*SCHEMAS, "summary"])[:1], hint="one of: " + ", ".join(SCHEMAS))
    return builders[name]()


def schema_of(kind: type[Any], *, title: str | None = None) -> dict[str, Any]:
    """The JSON Schema of any frozen dataclass: closed objects, the docstrings of fields as descriptions.

    `title` is the class name in lower case where none is given.

    >>> schema_of(Ratio)["title"], schema_of(Ratio)["required"]
    ('ratio', ['hits', 'total'])
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(kind).json_schema()
    described = {found.__name__: found for found in _classes_under(kind)}
    for name, definition in [(kind.__name__, made), *made.get("$defs", {}).items()]:
        _finish(definition, described.get(name))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": title or kind.__name__.lower()}


def _finish(definition: dict[str, Any], kind: type[Any] | None) -> None:
    if "properties" not in definition:
        return
    definition["additionalProperties"] = False
    docs = {} if kind is None else _field_docs(kind)
    for name, described in definition["properties"].items():
        described.pop("title", None)
        if name in docs:
            described["description"] = docs[name]


def _classes_under(kind: Any, seen: set[Any] | None = None) -> Iterator[type[Any]]:
    """Every dataclass that `kind` is made of, itself first."""
    seen = set() if seen is None else seen
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if kind in seen:
            return
        seen.add(kind)
        yield kind
        for hint in typing.get_type_hints(kind).values():
            yield from _classes_under(hint, seen)
    else:
        for argument in typing.get_args(kind):
            yield from _classes_under(argument, seen)


def _field_docs(kind: type[Any]) -> Mapping[str, str]:
    """The text that stands under each field of a class in its source."""
    try:
        source = inspect.getsource(sys.modules[kind.__module__])
    except (OSError, KeyError):
        return {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            return {
                field.target.id: inspect.cleandoc(doc.value.value)
                for field, doc in zip(node.body, node.body[1:], strict=False)
                if isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(doc, ast.Expr)
                and isinstance(doc.value, ast.Constant)
                and isinstance(doc.value.value, str)
            }
    return {}


_TEXTS = {"type": "array", "items": {"type": "string"}}
_TEXT_OR_TEXTS = {"anyOf": [{"type": "string"}, _TEXTS]}
_AMOUNT = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^[0-9.eE+-]+$"}]}


def _either(*choices: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"anyOf": list(choices)} | ({"description": description} if description else {})


def _keyed(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": False}


def tolerance_schema() -> dict[str, Any]:
    """The forms in which files write a tolerance (specification section 5.0)."""
    plain = {"type": "object", "properties": {"abs": _AMOUNT, "rel": _AMOUNT}, "additionalProperties": False}
    return _either(
        {"enum": ["guarded", "rounding", "exact"]},
        plain,
        {"type": "object", "properties": {"mode": {}, "abs": _AMOUNT, "rel": _AMOUNT}, "required": ["mode"]},
        description="guarded (default), rounding, exact, or {abs, rel} for the plain rule",
    )


def _case_schema() -> dict[str, Any]:
    """A case as files write it: the record, with the shorthands that readers accept."""
    made = schema_of(Case, title="case")
    properties = made["properties"]
    del properties["place"]
    gold = properties["gold_sql"].get("description", "")
    properties["gold_sql"] = {**copy.deepcopy(_TEXT_OR_TEXTS), "description": gold}
    properties["golden_sql"] = {**copy.deepcopy(_TEXT_OR_TEXTS), "description": "Alias of gold_sql."}
    for name in ("phrasings", "turns", "tags", "claims", "optional_columns"):
        properties[name] = {**properties[name], **copy.deepcopy(_TEXT_OR_TEXTS)}
        properties[name].pop("type", None)
        properties[name].pop("items", None)
    properties["compare_on"] = _either(
        {"type": "string", "pattern": "^(table|scalar|.+_set)$"},
        _keyed("id_set", {"type": "string"}),
        _keyed("ranking", {"type": "string"}),
        _keyed("groups", copy.deepcopy(_TEXT_OR_TEXTS)),
        {"type": "object", "required": ["kind"]},
        description="table (default), scalar, {id_set: column}, {ranking: column}, {groups: [columns]}",
    )
    statuses = made["$defs"]["Status"]["enum"]
    properties["expect"] = {
        "type": "object",
        "properties": {
            "terminal_status": {"enum": [*statuses, None]},
            "stages": {"type": "object", "additionalProperties": {"type": "object"}},
        },
        "additionalProperties": {"type": "object"},
        "description": "terminal_status, and what stages should produce; a stage may also stand directly here",
    }
    properties["tolerance"] = tolerance_schema()
    properties["ordered"] = {"enum": ["auto", "yes", "no", True, False], "default": "auto"}
    return _without_unused(made)


def _score_schema() -> dict[str, Any]:
    number: dict[str, Any] = {"type": "number"}
    null: dict[str, Any] = {"type": "null"}
    kinds: list[dict[str, Any]] = [
        {"value": number, "hits": number, "total": {"type": "number", "exclusiveMinimum": 0}},
        {"value": number, "unit": {"type": "string"}},
        {"value": null, "undefined": {"enum": [reason.value for reason in Reason]}},
        {"value": null, "broken": {"type": "string"}},
    ]
    reading = {
        "anyOf": [
            {"type": "object", "properties": kind, "required": sorted(kind), "additionalProperties": False}
            for kind in kinds
        ]
    }
    count = {"type": "integer", "minimum": 0}
    properties: dict[str, Any] = {
        "case_id": {"type": "string"},
        "phrasing": count,
        "repeat": count,
        "metrics": {"type": "object", "additionalProperties": reading},
        "bucket": {"enum": [*(bucket.value for bucket in Bucket), None]},
        "cause": {"type": ["string", "null"]},
        "shape": {"enum": [*(label.value for label in ShapeLabel), None]},
        "ceilings": {"type": "array", "items": {"enum": [ceiling.value for ceiling in Ceiling]}},
        "first_broken_stage": {"type": ["string", "null"]},
        "evidence": {"type": "object"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "score",
        "description": inspect.cleandoc(Measurement.__doc__ or ""),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _config_schema() -> dict[str, Any]:
    """`sqlassay.yaml` as files write it: the record, with the shorthands that readers accept."""
    made = schema_of(Config, title="config")
    properties = made["properties"]
    for name in ("file", "base_dir", "written", "notices"):
        properties.pop(name, None)
    databases = properties.pop("databases")
    one = {"anyOf": [{"type": "string"}, {"type": "object"}]}
    properties["database"] = {**one, "description": databases.get("description", "")}
    properties["databases"] = {"$ref": "#/properties/database"}
    for name in ("cases", "tag", "category", "case_id", "output"):
        properties[name] = {**copy.deepcopy(_TEXT_OR_TEXTS), "description": properties[name].get("description", "")}
    properties["limit"] = {
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}, {"type": "null"}],
        "description": properties["limit"].get("description", ""),
    }
    for short, key in SHORT.items():
        section, _, name = key.partition(".")
        described = made["$defs"][_SECTIONS[section]]["properties"][name]
        properties[short] = {**described, "description": f"Short for {key}."}
    rules = {"anyOf": [{"type": "string"}, _TEXTS, {"type": "boolean"}, {"$ref": "#/$defs/GateSettings"}]}
    properties["gate"] = {**rules, "description": properties["gate"]["description"] + " A list is rules."}
    no_regressions = made["$defs"]["GateSettings"]["properties"]["no_regressions"]
    no_regressions["enum"] = [*no_regressions["enum"], True, False]
    del no_regressions["type"]
    made.pop("required", None)
    made["$defs"]["ScoreSettings"]["properties"]["tolerance"] = tolerance_schema()
    for definition in made["$defs"].values():
        for described in definition.get("properties", {}).values():
            if described.get("type") == "array":
                items = described.pop("items", {})
                described.pop("type")
                described["anyOf"] = [items, {"type": "array", "items": items}]
    return _without_unused(made)


_SECTIONS = {"run": "RunSettings"}


def _without_unused(made: dict[str, Any]) -> dict[str, Any]:
    """Drop definitions that nothing refers to any more."""
    while True:
        text = json.dumps({key: value for key, value in made.items() if key != "$defs"})
        inner = {name: json.dumps(value) for name, value in made.get("$defs", {}).items()}
        used = {
            name
            for name in inner
            if f'"#/$defs/{name}"' in text
            or any(f'"#/$defs/{name}"' in other for key, other in inner.items() if key != name)
        }
        if len(used) == len(inner):
            return made
        made["$defs"] = {name: value for name, value in made["$defs"].items() if name in used}
