"""The short forms in which people write a case, turned into the fields of the record (specification section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlassay.records.case import Case
from sqlassay.records.strict import Path, Problem, nearest, unknown

FIELDS = tuple(name for name in Case.__dataclass_fields__ if name != "place")
"""The fields of a case file, in the record's order."""

ALIASES = {"golden_sql": "gold_sql"}
SHAPES = ("table", "id_set", "ranking", "scalar", "groups")
_TOLERANCES = ("guarded", "rounding", "exact", "plain")


class Wrong(Exception):
    """A short form that means nothing; `problem` says which."""

    def __init__(self, path: Path, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(path=path, message=message, hint=hint)


def spell_out(raw: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The mapping of a case with every short form written out, and what could not be.

    >>> spell_out({"golden_sql": "SELECT 1", "compare_on": "film_id_set"})[0]
    {'gold_sql': ['SELECT 1'], 'compare_on': {'kind': 'id_set', 'column': 'film_id'}}
    """
    fields: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in raw.items():
        target = ALIASES.get(name, name)
        if target not in FIELDS:
            known = [*FIELDS, *ALIASES]
            problems.append(Problem(path=(name,), message=unknown("field", name, known)[0], hint=_known_fields()))
            continue
        if target in fields:
            problems.append(Problem(path=(name,), message=f"{name!r} and {target!r} are the same field; keep one"))
            continue
        spell = _SPELL.get(target)
        try:
            fields[target] = value if spell is None else spell(value)
        except Wrong as wrong:
            problems.append(wrong.problem)
    _newest(fields)
    return fields, tuple(problems)


def _newest(fields: dict[str, Any]) -> None:
    """A conversation written whole under `turns`, without a `question`, asks with its last message."""
    said = fields.get("turns")
    if "question" not in fields and isinstance(said, list) and said:
        fields["turns"], fields["question"] = said[:-1], said[-1]


def _known_fields() -> str:
    return "known: " + ", ".join(FIELDS)


def shape(value: Any) -> dict[str, Any]:
    """`compare_on` written out.

    >>> shape({"groups": "country"})
    {'kind': 'groups', 'columns': ['country']}
    """
    path: Path = ("compare_on",)
    if value is None:
        return {"kind": "table"}
    if isinstance(value, str):
        if value in ("table", "scalar"):
            return {"kind": value}
        if value in SHAPES:
            given = "[column]" if value == "groups" else "column"
            raise Wrong(path, f"{value!r} needs a column", f"write compare_on: {{{value}: {given}}}")
        if value.endswith("_set"):
            return {"kind": "id_set", "column": value.removesuffix("_set")}
        raise Wrong(path, *_unknown_shape(value))
    if not isinstance(value, Mapping):
        raise Wrong(path, f"should be a shape, is {value!r}", _SHAPE_HINT)
    if "kind" in value:
        return dict(value)
    if len(value) != 1:
        raise Wrong(path, f"should name one shape, names {len(value)}", _SHAPE_HINT)
    [(kind, inner)] = value.items()
    if kind in ("table", "scalar"):
        return {"kind": kind}
    if kind not in SHAPES:
        raise Wrong((*path, str(kind)), *_unknown_shape(str(kind)))
    columns = [inner] if isinstance(inner, str) else inner
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) and c.strip() for c in columns):
        raise Wrong((*path, kind), f"should name a column, is {inner!r}", _SHAPE_HINT)
    if kind == "groups":
        return {"kind": kind, "columns": columns}
    if len(columns) != 1:
        raise Wrong((*path, kind), f"takes one column, has {len(columns)}", _SHAPE_HINT)
    return {"kind": kind, "column": columns[0]}


_SHAPE_HINT = "one of: table, scalar, {id_set: column}, {ranking: column}, {groups: [columns]}"


def _unknown_shape(name: str) -> tuple[str, str]:
    return unknown("shape", name, SHAPES)[0], _SHAPE_HINT


def tolerance(value: Any) -> dict[str, Any] | None:
    """`tolerance` written out: a mapping of amounts is the plain rule (specification section 5.0).

    >>> tolerance({"abs": 0.01})
    {'mode': 'plain', 'abs': '0.01', 'rel': '0'}
    """
    path: Path = ("tolerance",)
    if value is None:
        return None
    if isinstance(value, str):
        if value not in _TOLERANCES[:3]:
            message = unknown("tolerance", value, _TOLERANCES[:3])[0]
            raise Wrong(path, message, _TOLERANCE_HINT)
        return {"mode": value}
    if not isinstance(value, Mapping):
        raise Wrong(path, f"should be a name or {{abs, rel}}, is {value!r}", _TOLERANCE_HINT)
    for name in value:
        if name not in ("mode", "abs", "rel"):
            raise Wrong((*path, str(name)), unknown("field", str(name), ("abs", "rel"))[0], _TOLERANCE_HINT)
    if "mode" in value and value["mode"] not in _TOLERANCES:
        raise Wrong((*path, "mode"), unknown("tolerance", str(value["mode"]), _TOLERANCES)[0], _TOLERANCE_HINT)
    amounts = {name: _amount(value[name], (*path, name)) for name in ("abs", "rel") if value.get(name) is not None}
    if "mode" in value:
        return {"mode": value["mode"], **amounts}
    if not amounts:
        raise Wrong(path, "is empty", _TOLERANCE_HINT)
    return {"mode": "plain", "abs": "0", "rel": "0"} | amounts


_TOLERANCE_HINT = "one of: guarded, rounding, exact, {abs: 0.01}, {abs: 0.01, rel: 0.001}"


def _amount(value: Any, path: Path) -> str:
    if not isinstance(value, bool):
        try:
            number = Decimal(str(value).strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if number.is_finite() and number >= 0:
            return format(number, "f")
    raise Wrong(path, f"should be a number of at least 0, is {value!r}")


def _expect(value: Any) -> dict[str, Any]:
    """Stage expectations that stand directly under `expect` go where they belong."""
    path: Path = ("expect",)
    if value is None:
        return {}
    if isinstance(value, str):
        return {"terminal_status": value}
    if not isinstance(value, Mapping):
        raise Wrong(path, f"should be a mapping, is {value!r}", "write expect: {terminal_status: SUCCESS}")
    stages = value.get("stages") or {}
    if not isinstance(stages, Mapping):
        raise Wrong((*path, "stages"), f"should be a mapping of stage names, is {stages!r}")
    found: dict[str, Any] = {"stages": dict(stages)}
    if "terminal_status" in value:
        found["terminal_status"] = value["terminal_status"]
    for name, inner in value.items():
        if name in ("terminal_status", "stages"):
            continue
        if not isinstance(inner, Mapping):
            near = nearest(str(name), ("terminal_status", "stages"))
            ask = f"; did you mean {near!r}?" if near else ""
            raise Wrong(
                (*path, str(name)),
                f"unknown field {name!r}{ask}",
                "a stage takes a mapping of what it should produce",
            )
        if name in found["stages"]:
            raise Wrong((*path, str(name)), f"stage {name!r} stands under expect and under expect.stages; keep one")
        found["stages"][name] = inner
    return found


def _gold(value: Any) -> Any:
    path: Path = ("gold_sql",)
    empty = "is empty"
    hint = "write the query, or leave the field out and say expect.terminal_status"
    queries = [value] if isinstance(value, str) or value is None else value
    if not isinstance(queries, list):
        raise Wrong(path, f"should be a query or a list of queries, is {value!r}")
    if not queries:
        raise Wrong(path, empty, hint)
    for index, query in enumerate(queries):
        if query is None or (isinstance(query, str) and not query.strip().strip(";").strip()):
            raise Wrong(path if len(queries) == 1 else (*path, index), empty, hint)
    return queries


_SPELL = {"compare_on": shape, "tolerance": tolerance, "expect": _expect, "gold_sql": _gold}
