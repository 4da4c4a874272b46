"""What do the keys of GROUP BY and ORDER BY mean: a number or an alias stands for an output column, ALL for many?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql.combine import position_of
from sqlassay.sql.render import Renderer
from sqlassay.sql.scope import Outcome, Output, ordered, plain
from sqlassay.sql.trees import unwrapped

if TYPE_CHECKING:
    from sqlassay.sql.resolve import Resolver


class Keys:
    """Reads keys for one resolver.

    `texts` holds sort and group keys by node: their text without direction, whole where there is a difference.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.texts: dict[int, str] = {}
        self._short: dict[int, str] = {}

    def text(self, key: exp.Expr, renderer: Renderer, outputs: list[Output], *, columns_first: bool = False) -> str:
        """One key, with its direction where it has one."""
        directed = key if isinstance(key, exp.Ordered) else None
        bare = unwrapped(directed.this if directed is not None else key)
        position = position_of(bare, outputs, self._resolver.binder, columns_first=columns_first)
        if position is None:
            text = renderer.render(bare)
        else:
            value = outputs[position].value
            text = value.whole if renderer.full else value.text
        self.texts[id(bare)] = text
        if not renderer.full:
            self._short[id(bare)] = text
        return text if directed is None else text + self._direction(directed)

    def groups(self, group: exp.Expr | None, renderer: Renderer, outputs: list[Output], *, collect: bool) -> list[str]:
        """The keys of GROUP BY, grouping sets taken apart, each once and in order."""
        if group is None:
            return []
        texts: list[str] = []
        if group.args.get("all"):
            texts = [output.value.text for output in outputs if not output.value.aggregate]
        for key in group.expressions:
            bare = unwrapped(key)
            if isinstance(bare, exp.Tuple):
                texts += [self.text(one, renderer, outputs) for one in bare.expressions]
            elif isinstance(bare, (exp.Rollup, exp.Cube, exp.GroupingSets)):
                texts += self._set(bare, renderer, outputs)
            else:
                texts.append(self.text(key, renderer, outputs, columns_first=True))
        for name in ("rollup", "cube", "grouping_sets"):
            for item in group.args.get(name) or ():
                texts += self._set(item, renderer, outputs)
        if collect:
            self._resolver.collected.group_by.update(plain(text) for text in texts)
        return ordered(set(texts))

    def order(self, order: exp.Expr | None, renderer: Renderer, outputs: list[Output]) -> str:
        """The clause ORDER BY, empty where there is none."""
        if order is None:
            return ""
        if _is_all(order.expressions):
            return " ORDER BY ALL"
        return " ORDER BY " + ", ".join([self.text(key, renderer, outputs) for key in order.expressions])

    def sorted_by(self, keys: list[exp.Expr], outcome: Outcome) -> list[str]:
        """The canonical sort keys of the outermost query, without direction."""
        if _is_all(keys):
            return [output.value.text for output in outcome.outputs]
        bare = (unwrapped(key.this if isinstance(key, exp.Ordered) else key) for key in keys)
        return [self._short.get(id(key), "") for key in bare]

    def _set(self, node: exp.Expr, renderer: Renderer, outputs: list[Output]) -> list[str]:
        keys: list[exp.Expr] = []
        pending = list(node.expressions) if isinstance(node, exp.Expr) else []
        while pending:
            item = unwrapped(pending.pop(0))
            if isinstance(item, (exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)):
                pending = list(item.expressions) + pending
            else:
                keys.append(item)
        return [self.text(key, renderer, outputs, columns_first=True) for key in keys]

    def _direction(self, key: exp.Expr) -> str:
        descending, nulls = bool(key.args.get("desc")), key.args.get("nulls_first")
        text = " DESC" if descending else ""
        if nulls is not None and bool(nulls) != self._resolver.nulls_first_by_default(descending):
            text += " NULLS FIRST" if nulls else " NULLS LAST"
        return text


def _is_all(keys: list[exp.Expr]) -> bool:
    if len(keys) != 1:
        return False
    key = keys[0].this if isinstance(keys[0], exp.Ordered) else keys[0]
    return isinstance(key, (exp.Column, exp.Var)) and key.name.upper() == "ALL" and not key.args.get("table")
