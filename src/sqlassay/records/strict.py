"""How plain data becomes a record: one strict rule for every frozen dataclass, the inverse of `plain.to_plain`.

Unknown fields are problems that name the nearest known one; all problems are collected, each with its path.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeVar

from sqlassay.errors import RecordError

T = TypeVar("T")
Path = tuple[str | int, ...]

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in plain data: where, what, and the way out."""

    path: Path
    message: str
    hint: str | None = None

    @property
    def field(self) -> str:
        """The path as a person writes it.

        >>> Problem(path=("queries", 2, "sql"), message="missing").field
        'queries[2].sql'
        """
        return dotted(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loosely:
    """Where text may stand for numbers, booleans and one-element lists: files people write by hand.

    `texts` gives, by path, how a bare scalar was written (`007`), so that a text field keeps it.
    """

    texts: Mapping[Path, str] = field(default_factory=dict)


class _Bad:
    """What a reader returns after it noted a problem."""


_BAD = _Bad()


@dataclass(slots=True)
class _Context:
    problems: list[Problem]
    loosely: Loosely | None

    def bad(self, path: Path, message: str, hint: str | None = None) -> _Bad:
        self.problems.append(Problem(path=path, message=message, hint=hint))
        return _BAD


_Read = Callable[[Any, Path, _Context], Any]

_BUILT: dict[Any, _Read] = {}


def dotted(path: Path) -> str:
    """`("a", 0, "b")` as `a[0].b`.

    >>> dotted(("expect", "stages"))
    'expect.stages'
    """
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, None when none is near.

    >>> nearest("qestion", ["question", "id"])
    'question'
    """
    names = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), list(names), n=1, cutoff=0.6)
    return names[near[0]] if near else None


def unknown(what: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """Message and way out for an unknown name.

    >>> unknown("field", "qestion", ["id", "question"])
    ("unknown field 'qestion'; did you mean 'question'?", 'known: id, question')
    """
    names = list(known)
    near = nearest(name, names)
    ask = f"; did you mean {near!r}?" if near else ""
    return f"unknown {what} {name!r}{ask}", "known: " + ", ".join(names)


def examine(kind: type[T], value: Any, *, loosely: Loosely | None = None) -> tuple[T | None, tuple[Problem, ...]]:
    """Read `value` as a `kind`; None with every problem when it is not one.

    >>> from sqlassay.records.case import Tolerance
    >>> examine(Tolerance, {"mode": "plain", "bas": "1"})[1][0].message
    "unknown field 'bas'; did you mean 'abs'?"
    """
    context = _Context(problems=[], loosely=loosely)
    result = _reader(kind)(value, (), context)
    if context.problems:
        return None, tuple(context.problems)
    return typing.cast(T, result), ()


def read_as(
    union: Any,
    choose: Callable[[Mapping[str, Any]], tuple[Any, Mapping[str, Any]] | None],
    *,
    quickly: Callable[[Mapping[str, Any]], Any | None] = lambda _value: None,
) -> None:
    """Say how a union without a `kind` field is told apart: `choose` gives the member and its fields, None if none.

    `quickly` may give the record itself for the forms that are written most; None leaves it to the careful way.
    """

    def read(value: Any, path: Path, context: _Context) -> Any:
        made = quickly(value) if type(value) is dict else None
        if made is not None:
            return made
        chosen = choose(value) if isinstance(value, Mapping) else None
        if chosen is None:
            return context.bad(path, f"is none of the forms known here: {_said(value)}")
        kind, fields = chosen
        return _reader(kind)(fields, path, context)

    _BUILT[union] = read


def from_plain(kind: type[T], value: Any, *, what: str | None = None) -> T:
    """Read `value` as a `kind`.

    Raises:
        RecordError: it is not one; the message names every problem (the first five) with its path.

    >>> from sqlassay.records.value import Ratio
    >>> from_plain(Ratio, {"hits": 1, "total": 2})
    Ratio(hits=1, total=2)
    """
    result, problems = examine(kind, value)
    if problems:
        shown = "; ".join(f"{p.field}: {p.message}" if p.path else p.message for p in problems[:5])
        more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
        raise RecordError(f"{what or kind.__name__}: {shown}{more}", hint=problems[0].hint)
    assert result is not None
    return result


def _reader(kind: Any) -> _Read:
    """The reader of one annotation, built once."""
    known = _BUILT.get(kind)
    if known is None:
        known = _BUILT[kind] = _build(kind)
    return known


def _build(kind: Any) -> _Read:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return lambda value, _path, _context: value
    if kind in _SCALARS:
        return _SCALARS[kind]
    if origin is Literal:
        return _literal(arguments)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _list(arguments[0], tuple)
    if origin is tuple:
        return _fixed(arguments)
    if origin in (list, Sequence):
        return _list(arguments[0], list)
    if origin is frozenset:
        return _list(arguments[0], frozenset)
    if origin in (dict, Mapping):
        return _mapping(arguments[1])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    raise TypeError(f"no reader for {kind!r}")


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(value: Any, path: Path, context: _Context) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return value
    if context.loosely is not None and isinstance(value, (bool, int, float)):
        written = context.loosely.texts.get(path)
        if written is not None:
            return written
    return context.bad(path, f"should be text, is {_said(value)}", "put it in quotes")


def _integer(value: Any, path: Path, context: _Context) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if context.loosely is not None and isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            pass
    return context.bad(path, f"should be a whole number, is {_said(value)}")


def _number(value: Any, path: Path, context: _Context) -> Any:
    if context.loosely is not None and isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value.strip())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if math.isfinite(value):
            return value
        return context.bad(path, f"should be a finite number, is {value}")
    return context.bad(path, f"should be a number, is {_said(value)}")


def _boolean(value: Any, path: Path, context: _Context) -> Any:
    if isinstance(value, bool):
        return value
    if context.loosely is not None and isinstance(value, str) and value.strip().lower() in _YES | _NO:
        return value.strip().lower() in _YES
    return context.bad(path, f"should be true or false, is {_said(value)}")


def _none(value: Any, path: Path, context: _Context) -> Any:
    return None if value is None else context.bad(path, f"should be empty, is {_said(value)}")


_SCALARS: Mapping[Any, _Read] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _boolean,
    type(None): _none,
}


def _choice(choices: Mapping[str, Any]) -> _Read:
    def read(value: Any, path: Path, context: _Context) -> Any:
        if isinstance(value, str) and value in choices:
            return choices[value]
        if context.loosely is not None and isinstance(value, bool):
            written = "yes" if value else "no"
            if written in choices:
                return choices[written]
        near = nearest(value, choices) if isinstance(value, str) else None
        ask = f"; did you mean {near!r}?" if near else ""
        return context.bad(path, f"{_said(value)} is not one of {', '.join(choices)}{ask}")

    return read


def _literal(arguments: tuple[Any, ...]) -> _Read:
    return _choice({str(argument): argument for argument in arguments})


def _enum(kind: type[Enum]) -> _Read:
    return _choice({str(member.value): member for member in kind})


def _union(arguments: tuple[Any, ...]) -> _Read:
    optional = type(None) in arguments
    kinds = [argument for argument in arguments if argument is not type(None)]
    if len(kinds) == 1:
        inner = _reader(kinds[0])

        def read_optional(value: Any, path: Path, context: _Context) -> Any:
            return None if value is None and optional else inner(value, path, context)

        return read_optional
    tagged = {_tag(kind): _reader(kind) for kind in kinds if dataclasses.is_dataclass(kind)}
    if len(tagged) != len(kinds) or None in tagged:
        raise TypeError(f"a union needs a literal `kind` in each member: {kinds}")

    def read_tagged(value: Any, path: Path, context: _Context) -> Any:
        if value is None and optional:
            return None
        if not isinstance(value, Mapping):
            return context.bad(path, f"should be a mapping with a kind, is {_said(value)}")
        tag = value.get("kind")
        chosen = tagged.get(tag) if isinstance(tag, str) else None
        if chosen is None:
            return context.bad((*path, "kind"), *unknown("kind", str(tag), map(str, tagged)))
        return chosen(value, path, context)

    return read_tagged


def _tag(kind: Any) -> str | None:
    annotation = typing.get_type_hints(kind).get("kind")
    arguments = typing.get_args(annotation)
    return str(arguments[0]) if typing.get_origin(annotation) is Literal and len(arguments) == 1 else None


def _list(item: Any, build: Callable[[list[Any]], Any]) -> _Read:
    inner = _reader(item)

    def read(value: Any, path: Path, context: _Context) -> Any:
        if context.loosely is not None and isinstance(value, (str, int, float)):
            single = inner(value, path, context)
            return single if single is _BAD else build([single])
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return context.bad(path, f"should be a list, is {_said(value)}")
        items = [inner(element, (*path, index), context) for index, element in enumerate(value)]
        return _BAD if any(element is _BAD for element in items) else build(items)

    return read


def _fixed(kinds: tuple[Any, ...]) -> _Read:
    readers = [_reader(kind) for kind in kinds]

    def read(value: Any, path: Path, context: _Context) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != len(readers):
            return context.bad(path, f"should be a list of {len(readers)}, is {_said(value)}")
        items = [one(v, (*path, i), context) for i, (one, v) in enumerate(zip(readers, value, strict=True))]
        return _BAD if any(item is _BAD for item in items) else tuple(items)

    return read


def _mapping(item: Any) -> _Read:
    inner = _reader(item)

    def read(value: Any, path: Path, context: _Context) -> Any:
        if not isinstance(value, Mapping):
            return context.bad(path, f"should be a mapping, is {_said(value)}")
        items = {str(key): inner(element, (*path, str(key)), context) for key, element in value.items()}
        return _BAD if any(element is _BAD for element in items.values()) else items

    return read


def _record(kind: Any) -> _Read:
    fields = dataclasses.fields(kind)
    hints = typing.get_type_hints(kind)
    readers = {f.name: _reader(hints[f.name]) for f in fields}
    required = [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    optional = {f.name for f in fields if type(None) not in typing.get_args(hints[f.name])} - set(required)

    def read(value: Any, path: Path, context: _Context) -> Any:
        if not isinstance(value, Mapping):
            return context.bad(path, f"should be a mapping, is {_said(value)}")
        before, given = len(context.problems), {}
        for name, element in value.items():
            reader = readers.get(name)
            if reader is None:
                context.bad((*path, str(name)), *unknown("field", str(name), readers))
            elif element is None and context.loosely is not None and name in optional:
                continue
            else:
                given[name] = reader(element, (*path, name), context)
        for name in required:
            if name not in given:
                context.bad((*path, name), f"missing field {name!r}")
        if len(context.problems) > before:
            return _BAD
        try:
            return kind(**given)
        except ValueError as error:
            return context.bad(path, str(error))

    return read
