"""Plain data out of YAML and JSON text, with the line each value stands on, and none of YAML's surprises.

Only what JSON has too is recognised: `yes`, `no`, dates and `007` stay the text they are. Tags, duplicate keys and
runaway aliases are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlassay.records.strict import Loosely, Path

MAX_ALIASED = 100_000
"""Values that one item may repeat through aliases."""


class Malformed(Exception):
    """The text is not YAML or JSON as we read it; `line` counts from 1."""

    def __init__(self, message: str, *, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.hint = message, line, hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A value, the line of each part of it by path, and how bare scalars were written."""

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)
    texts: Mapping[Path, str] = field(default_factory=dict)

    def line(self, path: Path = ()) -> int | None:
        """The line of the part at `path`, or of the nearest part around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    @property
    def loosely(self) -> Loosely:
        return Loosely(texts=self.texts)


def decode(data: bytes) -> str:
    """Bytes of a text file as text: UTF-8, with or without a byte-order mark, any line ends.

    >>> decode(b"\\xef\\xbb\\xbfa\\r\\nb")
    'a\\nb'
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Malformed("the file is UTF-16, not UTF-8", hint="save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Malformed(
            f"not UTF-8: byte 0x{data[error.start]:02x} in this line", line=line, hint="save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def yaml_document(text: str) -> Marked:
    """The one document of a YAML text; an empty text is an empty mapping."""
    documents = list(_nodes(text))
    if not documents:
        return Marked(value={})
    if len(documents) > 1:
        raise Malformed("more than one document", line=documents[1].start_mark.line + 1, hint="remove the `---`")
    return _Building().marked(documents[0])


def yaml_items(text: str, *, under: str) -> Iterator[Marked]:
    """The items of a YAML list, of the list under the key `under`, or one item per document."""
    for document in _nodes(text):
        if document.tag == _NULL:
            continue
        nodes = [document]
        if document.id == "sequence":
            nodes = document.value
        elif document.id == "mapping":
            keys = {key.value: value for key, value in document.value if isinstance(key.value, str)}
            if under in keys and keys[under].id == "sequence":
                extra = [key for key in keys if key != under]
                if extra:
                    raise Malformed(f"unknown key {extra[0]!r} beside {under!r}", line=document.start_mark.line + 1)
                nodes = keys[under].value
        for node in nodes:
            yield _Building().marked(node)


def json_lines(text: str) -> Iterator[Marked]:
    """The values of JSONL, blank lines left out."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Marked(value=_json(line, first_line=number), lines={(): number})


def json_items(text: str, *, under: str) -> Iterator[Marked]:
    """The items of a JSON list, of the list under the key `under`, or the one object that stands there."""
    value = _json(text, first_line=1)
    if isinstance(value, Mapping) and isinstance(value.get(under), list):
        value = value[under]
    if not isinstance(value, list):
        yield Marked(value=value, lines={(): 1})
        return
    if text.lstrip()[:1] != "[":
        for item in value:
            yield Marked(value=item)
        return
    decoder = json.JSONDecoder()
    line, at = 1, text.index("[") + 1
    seen = 0
    for item in value:
        at = _SEPARATORS.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", seen, at)
        seen = at
        yield Marked(value=item, lines={(): line})
        _, at = decoder.raw_decode(text, at)


_SEPARATORS = re.compile(r"[\s,]*")


def _json(text: str, *, first_line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg} at column {error.colno}", line=first_line + error.lineno - 1) from None
    except RecursionError:
        raise Malformed("not JSON we read: nested too deeply", line=first_line) from None
    except (ValueError, Malformed) as error:
        raise Malformed(str(error), line=first_line) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Malformed(f"key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise Malformed(f"{name} is not JSON", hint="write null, or the number as text")


_BARE = (None, "")
"""How PyYAML's two scanners say that a scalar has no quotes."""
_NULL = "tag:yaml.org,2002:null"
_BOOL = "tag:yaml.org,2002:bool"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_STR = "tag:yaml.org,2002:str"
_PLAIN = (
    (_NULL, re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    (_BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    (_INT, re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")),
    (
        _FLOAT,
        re.compile(
            r"^(?:[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?[eE][-+]?[0-9]+"
            r"|[-+]?(?:0|[1-9][0-9]*)\.|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
)


def yaml_resolvers(others: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """PyYAML's table of plain scalars with ours added: a writer quotes text that any reader would take for more."""
    table = {first: list(pairs) for first, pairs in others.items()}
    for tag, pattern, letters in _PLAIN:
        for first in letters:
            table.setdefault(first, []).append((tag, pattern))
    return table


def _loader() -> Any:
    """PyYAML's safe loader, in C where it can be, with the plain scalars of `_PLAIN` and no others."""
    global _LOADER
    if _LOADER is None:
        import yaml

        class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
            yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's name

        for tag, pattern, first in _PLAIN:
            Loader.add_implicit_resolver(tag, pattern, first)
        _LOADER = Loader
    return _LOADER


_LOADER: Any = None


def _nodes(text: str) -> Iterator[Any]:
    import yaml

    loader = None
    try:
        loader = _loader()(text)
        while loader.check_node():
            yield loader.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "malformed"
        there = "" if mark is None else "".join(text.split("\n")[mark.line : mark.line + 1])
        tabbed = "\t" in there[: len(there) - len(there.lstrip())]
        hint = "indent with blanks, not with tabs" if tabbed else None
        if hint is None and "mapping values are not allowed" in what:
            hint = "put text that holds a colon in quotes, or use a block: field: |"
        last = text.rstrip().count("\n") + 1
        at_line = None if mark is None else min(mark.line + 1, last)
        raise Malformed(f"not YAML: {what}", line=at_line, hint=hint) from None
    except yaml.YAMLError as error:
        at = getattr(error, "position", None)
        line = text.count("\n", 0, at) + 1 if isinstance(at, int) else None
        raise Malformed(f"not YAML: {str(error).splitlines()[0]}", line=line) from None
    except RecursionError:
        raise Malformed("not YAML we read: nested too deeply") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Building:
    """Turns one node into a `Marked`."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        self.open: set[int] = set()
        self.seen: set[int] = set()
        self.repeated = 0

    def marked(self, node: Any) -> Marked:
        self.lines[()] = node.start_mark.line + 1
        try:
            value = self.value(node, ())
        except RecursionError:
            raise Malformed("nested too deeply", line=node.start_mark.line + 1) from None
        return Marked(value=value, lines=self.lines, texts=self.texts)

    def value(self, node: Any, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.repeated += id(node) in self.seen
        self.seen.add(id(node))
        if self.repeated > MAX_ALIASED:
            raise Malformed("aliases expand to too much", line=line)
        if node.id == "scalar":
            return self.scalar(node, path, line)
        if node.tag not in ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
            raise Malformed(f"the tag {_short(node.tag)} is not allowed", line=line, hint="remove the tag")
        if id(node) in self.open:
            raise Malformed("an alias holds itself", line=line)
        self.open.add(id(node))
        try:
            return self.sequence(node, path) if node.id == "sequence" else self.mapping(node, path)
        finally:
            self.open.discard(id(node))

    def sequence(self, node: Any, path: Path) -> list[Any]:
        items = []
        for index, item in enumerate(node.value):
            self.lines[(*path, index)] = item.start_mark.line + 1
            items.append(self.value(item, (*path, index)))
        return items

    def mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[Any] = []
        for key, item in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise Malformed("a key should be text", line=line)
            if key.value == "<<" and key.style in _BARE:
                merged += item.value if item.id == "sequence" else [item]
                continue
            if key.value in found:
                raise Malformed(f"key {key.value!r} stands twice in one mapping", line=line, hint="remove one")
            self.lines[(*path, key.value)] = line
            found[key.value] = self.value(item, (*path, key.value))
        for source in merged:
            if source.id != "mapping":
                raise Malformed("`<<` takes a mapping", line=source.start_mark.line + 1)
            for name, value in self.mapping(source, (*path, "<<")).items():
                found.setdefault(name, value)
        return found

    def scalar(self, node: Any, path: Path, line: int) -> Any:
        written = node.value
        if node.tag == _STR:
            return written
        if node.style in _BARE:
            self.texts[path] = written
        try:
            match node.tag:
                case "tag:yaml.org,2002:null":
                    return None
                case "tag:yaml.org,2002:bool":
                    return {"true": True, "false": False}[written.lower()]
                case "tag:yaml.org,2002:int":
                    return int(written)
                case "tag:yaml.org,2002:float":
                    return float(re.sub(r"^([-+]?)\.(inf|nan)$", r"\1\2", written.lower()))
        except (ValueError, KeyError):
            raise Malformed(f"{written[:40]!r} is not what its tag says", line=line) from None
        raise Malformed(f"the tag {_short(node.tag)} is not allowed", line=line, hint="remove the tag")


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")
