"""What does a FROM clause equate and keep: join items, filters of inner joins, and its canonical shape?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql.scope import Scope, Source, Value, ordered, plain

if TYPE_CHECKING:
    from sqlassay.sql.render import Renderer
    from sqlassay.sql.resolve import Resolver


@dataclass(slots=True)
class Shape:
    """The FROM clause in canonical form: what is crossed, then what is joined on outside.

    Conditions of inner joins are kept with the WHERE clause, for that is what they are.
    """

    crossed: list[str] = field(default_factory=list)
    outer: list[tuple[str, list[exp.Expr], list[str]]] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    inner_nodes: list[exp.Expr] = field(default_factory=list)
    waiting: list[Callable[[], None]] = field(default_factory=list)
    """Conditions that are read when all sources stand: SQLite's ON may name a table that is joined later."""

    def settle(self) -> None:
        """Read the conditions that waited."""
        waiting, self.waiting = self.waiting, []
        for read in waiting:
            read()

    @property
    def any(self) -> bool:
        return bool(self.crossed)

    def add(self, text: str) -> None:
        self.crossed.append(text)

    def filters(self, renderer: Renderer) -> list[str]:
        """Conditions of inner joins, as conjuncts of the whole."""
        if not renderer.full:
            return self.inner
        texts = [text for node in self.inner_nodes for text in renderer.condition(node)]
        return texts + [text for text in self.inner if text.startswith("USING ")]

    def attach(self, word: str, conditions: list[exp.Expr], texts: list[str]) -> None:
        """The source added last is joined from outside."""
        target = self.crossed.pop()
        if word in ("RIGHT JOIN", "FULL JOIN"):
            so_far = self.written()
            if self.inner:
                so_far += " WHERE " + " AND ".join(ordered(set(self.inner)))
            self.inner, self.inner_nodes, self.outer = [], [], []
            if word == "RIGHT JOIN":
                self.crossed = [target]
                self.outer = [(f"LEFT JOIN ({so_far})", conditions, texts)]
            else:
                both = ordered((f"({so_far})", target))
                self.crossed = [both[0]]
                self.outer = [(f"FULL JOIN {both[1]}", conditions, texts)]
            return
        self.outer.append((f"{word} {target}", conditions, texts))

    def written(self, renderer: Renderer | None = None) -> str:
        text = ", ".join(ordered(self.crossed))
        for head, nodes, texts in self.outer:
            conditions = texts
            if renderer is not None and nodes:
                conditions = [one for node in nodes for one in renderer.condition(node)]
            text += f" {head}" + (f" ON {' AND '.join(ordered(set(conditions)))}" if conditions else "")
        return text


_KINDS = {"LEFT": "left", "RIGHT": "right", "FULL": "full"}


def add(resolver: Resolver, node: exp.Expr, scope: Scope, renderer: Renderer, shape: Shape) -> None:
    """One JOIN: its source, its merged columns, its conditions."""
    from sqlassay.sql import sources

    before = len(scope.sources)
    crossed = len(shape.crossed)
    sources.add(resolver, node.this, scope, renderer, shape)
    added = scope.sources[before:]
    side = str(node.args.get("side") or "").upper()
    word = str(node.args.get("kind") or "").upper()
    kind = _KINDS.get(side, "")
    if word in ("SEMI", "ANTI"):
        kind = word.lower()
    elif word == "OUTER" and not kind:
        kind = "full" if side == "" and resolver.dialect != "tsql" else "left"
    if isinstance(node.this, exp.Lateral) and node.this.args.get("cross_apply") is False:
        kind = "left"
    if str(node.args.get("method") or "").upper() == "ASOF" and not kind:
        kind = "asof"
    using = [resolver.binder.key(name) for name in node.args.get("using") or () if isinstance(name, exp.Identifier)]
    if str(node.args.get("method") or "").upper() == "NATURAL" or node.args.get("natural"):
        using = _common(scope.sources[:before], added)
    pair_texts = [_merge(resolver, key, scope, before, kind) for key in using]
    on = node.args.get("on")
    texts = [text for text in pair_texts if text]
    nodes = renderer.conjuncts(on)

    def inner() -> None:
        if on is not None:
            shape.inner.extend(conditions(resolver, on, scope, renderer, collect=True))
            shape.inner_nodes.extend(nodes)

    def outer() -> None:
        for conjunct in nodes:
            pair = _pair(resolver, conjunct, scope)
            if pair is not None:
                _outer_item(resolver, kind, pair, added)
            for text in renderer.condition(conjunct):
                texts.append(text)
                if pair is None:
                    resolver.collected.joins.add(f"{'left' if kind == 'right' else kind}: {plain(text)}")

    read = outer if kind else inner
    if not kind:
        shape.inner += texts
    if resolver.dialect == "sqlite" and kind in ("", "left"):
        shape.waiting.append(read)
    else:
        shape.settle()
        read()
    if not kind:
        return
    while len(shape.crossed) > crossed + 1:  # a parenthesised join on the outer side is one thing
        last = shape.crossed.pop()
        shape.crossed[-1] = f"({', '.join(ordered((shape.crossed[-1], last)))})"
    head = {"left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN"}.get(kind, f"{kind.upper()} JOIN")
    if len(shape.crossed) > 1 or shape.outer:
        shape.attach(head, nodes, texts)
    if kind in ("semi", "anti"):
        for source in added:
            source.merged_away.update(source.columns)
            source.alias = None
        del scope.sources[before:]


def conditions(resolver: Resolver, node: exp.Expr, scope: Scope, renderer: Renderer, *, collect: bool) -> list[str]:
    """The conjuncts of WHERE or of an inner ON: pairs of equated columns are joins, the rest are filters."""
    texts: list[str] = []
    for conjunct in renderer.conjuncts(node):
        written = renderer.condition(conjunct)
        texts += written
        if not collect:
            continue
        pair = _pair(resolver, conjunct, scope)
        if pair is None:
            resolver.collected.filters.update(plain(text) for text in written)
        else:
            marker = _oracle_outer(conjunct)
            if marker is not None:
                _outer_item(resolver, marker, pair, [])
            else:
                resolver.collected.joins.add(" = ".join(sorted(plain(value.text) for value, _ in pair)))
    return texts


def _oracle_outer(node: exp.Expr) -> str | None:
    """`a = b(+)`: the side with the mark is the optional one."""
    left, right = node.this, node.expression
    if isinstance(left, exp.Expr) and left.args.get("join_mark"):
        return "right"
    if isinstance(right, exp.Expr) and right.args.get("join_mark"):
        return "left"
    return None


Pair = tuple[tuple[Value, Source | None], tuple[Value, Source | None]]


def _pair(resolver: Resolver, node: exp.Expr, scope: Scope) -> Pair | None:
    """The two columns that a conjunct equates, None unless they come from two different sources."""
    from sqlassay.sql.trees import unwrapped

    if not isinstance(node, exp.EQ):
        return None
    left, right = unwrapped(node.this), unwrapped(node.expression)
    if type(left) is not exp.Column or type(right) is not exp.Column:
        return None
    ends: list[tuple[Value, Source | None]] = []
    for column in (left, right):
        value = resolver.binder.column(column, scope)
        if not isinstance(value, Value) or not value.reads:
            return None
        ends.append((value, _owner(resolver, column, scope)))
    if ends[0][1] is not None and ends[0][1] is ends[1][1]:
        return None
    return ends[0], ends[1]


def _owner(resolver: Resolver, column: exp.Column, scope: Scope) -> Source | None:
    table = column.args.get("table")
    if table is not None:
        return resolver.binder.source(resolver.binder.key(table), scope)
    key = resolver.binder.key(column.this)
    at: Scope | None = scope
    while at is not None:
        for source in at.sources:
            if source.column(key) is not None:
                return source
        at = at.parent
    return None


def _outer_item(resolver: Resolver, kind: str, pair: Pair, added: list[Source]) -> None:
    """`left: kept.x = optional.y`; a right join is a left join seen from the other side."""
    (first, first_source), (second, second_source) = pair
    texts = [plain(first.text), plain(second.text)]
    if kind == "full":
        texts.sort()
    elif added:
        first_added = any(first_source is source for source in added)
        second_added = any(second_source is source for source in added)
        if first_added and not second_added:
            texts.reverse()
        if kind == "right":
            texts.reverse()
    elif kind == "right":
        texts.reverse()
    name = "left" if kind == "right" else kind
    resolver.collected.joins.add(f"{name}: {texts[0]} = {texts[1]}")


def _common(left: list[Source], right: list[Source]) -> list[str]:
    """The columns that a NATURAL JOIN equates, in the left side's order."""
    right_keys = {key for source in right for key in _keys(source)}
    found: list[str] = []
    for source in left:
        for key in _keys(source):
            if key in right_keys and key not in found and key not in source.merged_away:
                found.append(key)
    return found


def _keys(source: Source) -> list[str]:
    if source.relation is not None:
        return list(source.relation.columns)
    if source.outputs is not None:
        return [output.key for output in source.outputs]
    return list(source.columns)


def _merge(resolver: Resolver, key: str, scope: Scope, before: int, kind: str) -> str | None:
    """Equate the column `key` of both sides and show it once; returns the equation as text."""
    left = scope.merged.get(key)
    if left is None:
        left = next((value for source in scope.sources[:before] if (value := source.column(key))), None)
    right_source = next((source for source in scope.sources[before:] if source.column(key)), None)
    if left is None:
        opened = next((source for source in scope.sources[:before] if source.open), None)
        left = None if opened is None else Value(text=f"{opened.label}.{key}", reads=opened.reads)
    if right_source is None:
        opened = next((source for source in scope.sources[before:] if source.open), None)
        if opened is None or left is None:
            resolver.collected.unknown.add(resolver.index.naming.written(key))
            return None
        right: Value | None = Value(text=f"{opened.label}.{key}", reads=opened.reads)
    else:
        right = right_source.column(key)
        right_source.merged_away.add(key)
    if left is None or right is None:
        resolver.collected.unknown.add(resolver.index.naming.written(key))
        return None
    for source in scope.sources:
        if source.base is not None and source.column(key) is not None:
            resolver.collected.known.add(f"{source.base}.{key}")
    if resolver.dialect != "sqlite":
        # SQLite's own account leaves out columns that only USING or NATURAL compares.
        resolver.collected.columns_read |= left.reads | right.reads
    texts = [plain(left.text), plain(right.text)]
    if kind == "full":
        scope.merged[key] = Value(
            text=f"COALESCE({', '.join(ordered((left.text, right.text)))})", reads=left.reads | right.reads
        )
        resolver.collected.joins.add("full: " + " = ".join(sorted(texts)))
    elif kind == "right":
        scope.merged[key] = right
        resolver.collected.joins.add(f"left: {texts[1]} = {texts[0]}")
    else:
        scope.merged[key] = left
        item = " = ".join(sorted(texts)) if not kind else f"{kind}: {texts[0]} = {texts[1]}"
        resolver.collected.joins.add(item)
    return " = ".join(ordered((left.text, right.text)))
