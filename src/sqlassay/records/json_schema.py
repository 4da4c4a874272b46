"""Which form have the files that sqlassay reads and writes? Their JSON Schema, with what every field means.

The only module that imports pydantic, and only when a schema is asked for.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlassay.errors import UsageError
from sqlassay.records.case import Case
from sqlassay.records.config import SHORT, Config
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.run import Manifest
from sqlassay.records.strict import unknown
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ceiling, Reason

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

    >>> from sqlassay.records.value import Ratio
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
    """The forms in which files write a tolerance."""
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
