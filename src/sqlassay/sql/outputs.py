"""What are the output columns of a SELECT: their names, and what each one is?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql.render import Renderer
from sqlassay.sql.scope import LONGEST_INSIDE, Output, Scope, Source, Value, bounded, plain
from sqlassay.sql.trees import unwrapped

if TYPE_CHECKING:
    from sqlassay.sql.resolve import Resolver


@dataclass(frozen=True, slots=True)
class SelectList:
    """Reads select lists for one resolver."""

    resolver: Resolver

    def outputs(self, node: exp.Expr, scope: Scope, renderer: Renderer) -> tuple[list[Output], bool]:
        outputs: list[Output] = []
        opened = False
        for item in node.expressions:
            star = item if isinstance(item, exp.Star) else item.this if is_star(item) else None
            if star is not None:
                source = self._starred(item, scope)
                found, more = self.star(scope, source)
                outputs += self._adjusted(star, found, renderer)
                opened = opened or more
                continue
            named = item.args.get("alias") if isinstance(item, exp.Alias) else None
            inner = item.this if named is not None else item
            if isinstance(item, exp.Columns):
                found, more = self.star(scope, None)
                outputs += _matching(found, item)
                opened = opened or more
                continue
            if isinstance(item, exp.Aliases):
                outputs += self._several(item, renderer)
                continue
            value = _bounded(self._with_whole(inner, renderer))
            outputs.append(self._output(named, inner, value))
        return outputs, opened

    def _with_whole(self, node: exp.Expr, renderer: Renderer) -> Value:
        before = renderer.scope.nested
        renderer.scope.nested = False
        value = renderer.value(node)
        nested = renderer.scope.nested
        renderer.scope.nested = before or nested
        if not nested:
            return value
        whole = Renderer(self.resolver, renderer.scope, full=True).value(node)
        return Value(
            text=value.text, origin=value.origin, reads=value.reads, aggregate=value.aggregate, sure=value.sure,
            full=whole.text,
        )  # fmt: skip

    def _several(self, item: exp.Expr, renderer: Renderer) -> list[Output]:
        value = renderer.value(item.this)
        names = [alias for alias in item.expressions if isinstance(alias, exp.Identifier)]
        several = len(names) > 1
        return [
            Output(
                key=self.resolver.binder.key(name),
                name=name.this,
                value=Value(text=f"{value.text}[{i + 1}]", reads=value.reads) if several else value,
            )
            for i, name in enumerate(names)
        ]

    def _output(self, named: object, inner: exp.Expr, value: Value) -> Output:
        if isinstance(named, exp.Identifier):
            return Output(key=self.resolver.binder.key(named), name=named.this, value=value)
        if isinstance(named, str):
            return Output(key=self.resolver.binder.fold(named, True), name=named, value=value)
        bare = unwrapped(inner)
        if isinstance(bare, exp.Column) and isinstance(bare.this, exp.Identifier):
            return Output(key=self.resolver.binder.key(bare.this), name=bare.this.this, value=value)
        if isinstance(bare, exp.Dot):
            return Output(key=self.resolver.binder.fold(bare.name, False), name=bare.name, value=value)
        if isinstance(bare, exp.Cast) and isinstance(unwrapped(bare.this), exp.Column):
            column = unwrapped(bare.this)
            return Output(key=self.resolver.binder.key(column.this), name=column.name, value=value)
        name = self._engine_name(bare, value)
        return Output(key=self.resolver.binder.fold(name, True) if name else "", name=name, value=value)

    def _engine_name(self, node: exp.Expr, value: Value) -> str:
        """What the engine calls a column without a name, as near as queries may use it."""
        if self.resolver.dialect in ("postgres", "redshift"):
            if isinstance(node, exp.Anonymous):
                return str(node.this).lower()
            if isinstance(node, exp.Case):
                return "case"
            if isinstance(node, exp.Func):
                return node.sql_name().lower()
            return "?column?"
        return plain(value.text) if not isinstance(node, exp.Query) else ""

    def _starred(self, item: exp.Expr, scope: Scope) -> Source | None:
        if not is_star(item):
            return None
        table = item.args.get("table")
        if not isinstance(table, exp.Identifier):
            return None
        source = self.resolver.binder.source(self.resolver.binder.key(table), scope)
        if source is None:
            self.resolver.collected.unknown.add(self.resolver.index.naming.written(self.resolver.binder.key(table)))
            return Source(alias="", label="?", columns={}, open=True)
        return source

    def star(self, scope: Scope, only: Source | None) -> tuple[list[Output], bool]:
        outputs: list[Output] = []
        opened = False
        merged_first = only is None and self.resolver.dialect not in ("sqlite", "duckdb") and scope.merged
        if merged_first:
            for key, value in scope.merged.items():
                outputs.append(Output(key=key, name=self.resolver.index.naming.written(key), value=value))
                self.resolver.collected.columns_read |= value.reads
        for source in scope.sources if only is None else [only]:
            opened = opened or (source.open and source.outputs is None)
            for key, name, value in self.resolver.binder.star(source):
                if only is None and (key in source.merged_away or (merged_first and key in scope.merged)):
                    continue
                shown = scope.merged.get(key, value) if only is None else value
                if source.base is not None:
                    self.resolver.collected.columns_read |= shown.reads
                    self.resolver.collected.known |= shown.reads
                outputs.append(Output(key=key, name=name, value=shown))
        return outputs, opened

    def _adjusted(self, star: exp.Expr, found: list[Output], renderer: Renderer) -> list[Output]:
        """EXCLUDE, REPLACE and RENAME of a star."""
        gone = {self.resolver.binder.fold(item.name, False) for item in _listed(star, "except_", "except", "exclude")}
        replaced = {self.resolver.binder.fold(item.alias, False): item.this for item in _listed(star, "replace")}
        new_names = {self.resolver.binder.fold(item.this.name, False): item.alias for item in _listed(star, "rename")}
        if not (gone or replaced or new_names):
            return found
        outputs: list[Output] = []
        for output in found:
            if output.key in gone:
                continue
            if output.key in replaced:
                output = Output(key=output.key, name=output.name, value=renderer.value(replaced[output.key]))
            if output.key in new_names:
                name = new_names[output.key]
                output = Output(key=self.resolver.binder.fold(name, False), name=name, value=output.value)
            outputs.append(output)
        return outputs


def _matching(outputs: list[Output], node: exp.Expr) -> list[Output]:
    """DuckDB's `COLUMNS('pattern')`; what is no pattern keeps every column."""
    pattern = node.this
    if not isinstance(pattern, exp.Literal) or len(str(pattern.this)) > 200:
        return outputs
    try:
        wanted = re.compile(str(pattern.this))
    except re.error:
        return outputs
    return [output for output in outputs if wanted.search(output.name)]


def _bounded(value: Value) -> Value:
    if len(value.text) <= LONGEST_INSIDE and (value.full is None or len(value.full) <= LONGEST_INSIDE):
        return value
    return replace(value, text=bounded(value.text), full=None if value.full is None else bounded(value.full))


def _listed(star: exp.Expr, *names: str) -> list[exp.Expr]:
    for name in names:
        items = star.args.get(name)
        if items:
            return list(items) if isinstance(items, list) else [items]
    return []


def is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
