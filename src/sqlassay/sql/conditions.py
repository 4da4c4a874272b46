"""How is a condition written: comparisons, connectors, memberships and their negations in one canonical form?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql.scope import Outcome, Scope, bounded, ordered
from sqlassay.sql.trees import always_true, chain, is_constant, unwrapped

if TYPE_CHECKING:
    from sqlassay.sql.resolve import Resolver

_FLIPPED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "<=>": "<=>"}
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.LT: "<", exp.GTE: ">=", exp.LTE: "<=", exp.NullSafeEQ: "<=>",
}  # fmt: skip
PATTERNS: dict[type[exp.Expr], str] = {
    exp.Like: "LIKE", exp.ILike: "ILIKE", exp.Glob: "GLOB", exp.SimilarTo: "SIMILAR TO", exp.RegexpLike: "REGEXP",
    exp.RegexpILike: "IREGEXP",
}  # fmt: skip


class Conditions:
    """The logical half of a renderer; the other half says how operands are written."""

    resolver: Resolver
    scope: Scope
    full: bool

    def render(self, node: exp.Expr) -> str:
        raise NotImplementedError

    def operand(self, node: exp.Expr) -> str:
        raise NotImplementedError

    def subquery(self, node: exp.Expr) -> str:
        raise NotImplementedError

    def written(self, outcome: Outcome) -> str:
        raise NotImplementedError

    def conjuncts(self, node: exp.Expr | None) -> list[exp.Expr]:
        """The operands of a chain of ANDs, outer parentheses and double negation gone; never recursive on the chain."""
        if node is None:
            return []
        return chain(node, exp.And)

    def conjunct_texts(self, node: exp.Expr | None) -> list[str]:
        texts: list[str] = []
        for conjunct in self.conjuncts(node):
            texts.extend(self.condition(conjunct))
        return texts

    def condition(self, node: exp.Expr) -> list[str]:
        """One conjunct as canonical texts: BETWEEN is two comparisons."""
        if type(node) is exp.Between and not node.args.get("symmetric"):
            low = self.compare(">=", node.this, node.args["low"])
            return [low, self.compare("<=", node.this, node.args["high"])]
        if always_true(node):
            return []
        return [self.render(node)]

    def connector(self, node: exp.Expr) -> str:
        kind, word = (exp.And, " AND ") if isinstance(node, exp.And) else (exp.Or, " OR ")
        texts: set[str] = set()
        for operand in chain(node, kind):
            if isinstance(operand, exp.Between) and kind is exp.And:
                texts.update(self.condition(operand))
            elif isinstance(operand, (exp.And, exp.Or, exp.Between)):
                texts.add(f"({self.render(operand)})")
            else:
                texts.add(self.render(operand))
        if kind is exp.Or:
            texts = self._as_membership(chain(node, kind), texts)
        return word.join(ordered(texts))

    def _as_membership(self, operands: list[exp.Expr], texts: set[str]) -> set[str]:
        """`x = 1 OR x = 2` is `x IN (1, 2)`."""
        found: dict[str, set[str]] = {}
        for operand in operands:
            if type(operand) is exp.EQ:
                for this, other in ((operand.this, operand.expression), (operand.expression, operand.this)):
                    if is_constant(other) and not is_constant(this):
                        found.setdefault(self.operand(this), set()).add(self.operand(other))
                        break
        for left, values in found.items():
            if len(values) > 1:
                texts = texts - {f"{left} = {value}" for value in values}
                texts.add(f"{left} IN ({', '.join(ordered(values))})")
        return texts

    def negation(self, node: exp.Expr) -> str:
        inner = unwrapped(node.this)
        kind = type(inner)
        if kind in COMPARISONS and COMPARISONS[kind] in _NEGATED:
            return self.compare(_NEGATED[COMPARISONS[kind]], inner.this, inner.expression)
        if kind is exp.Not:
            return self.render(unwrapped(inner.this))
        if kind is exp.Is:
            return f"{self.operand(inner.this)} IS NOT {self.render(inner.expression)}"
        if kind is exp.In:
            return self.membership(inner, negated=True)
        if kind is exp.Between:
            low, high = (self.operand(inner.args[name]) for name in ("low", "high"))
            return f"{self.operand(inner.this)} NOT BETWEEN {low} AND {high}"
        if kind in PATTERNS:
            return self.pattern(inner, negated=True)
        if kind is exp.Exists:
            return "NOT " + self.render(inner)
        return f"NOT {self.operand(inner)}"

    def between(self, node: exp.Expr) -> str:
        return " AND ".join(ordered(self.condition(node)))

    def comparison(self, node: exp.Expr) -> str:
        return self.compare(COMPARISONS[type(node)], node.this, node.expression)

    def compare(self, sign: str, left: exp.Expr, right: exp.Expr) -> str:
        a, b = self.operand(left), self.operand(right)
        if self._goes_last(left, a, right, b):
            a, b, sign = b, a, _FLIPPED[sign]
        return f"{a} {sign} {b}"

    def _goes_last(self, left: exp.Expr, a: str, right: exp.Expr, b: str) -> bool:
        fixed_left, fixed_right = is_constant(left) or _is_text(left, a), is_constant(right) or _is_text(right, b)
        if fixed_left != fixed_right:
            return fixed_left
        query_left, query_right = isinstance(unwrapped(left), exp.Query), isinstance(unwrapped(right), exp.Query)
        if query_left != query_right:
            return query_left
        return ordered((a, b))[0] != a

    def membership(self, node: exp.Expr, *, negated: bool = False) -> str:
        this, word = node.this, "NOT IN" if negated else "IN"
        query = node.args.get("query")
        if query is not None:
            return f"{self.operand(this)} {word} {self.subquery(query)}"
        field = node.args.get("field")
        if field is not None:
            table = self.resolver.table_after_in(field, self.scope)
            if table is not None:
                return f"{self.operand(this)} {word} {self.written(table)}"
            return f"{self.operand(this)} {word} {self.render(field)}"
        items = node.expressions
        if len(items) == 1 and not isinstance(unwrapped(items[0]), exp.Query):
            return self.compare("!=" if negated else "=", this, items[0])
        if len(items) == 1:
            return f"{self.operand(this)} {word} {self.subquery(unwrapped(items[0]))}"
        if not items:
            listed = node.args.get("unnest")
            inside = "()" if listed is None else self.render(listed)
            return f"{self.operand(this)} {word} {inside}"
        texts = {self.operand(item) for item in items}
        return f"{self.operand(this)} {word} ({', '.join(ordered(texts))})"

    def pattern(self, node: exp.Expr, *, negated: bool = False) -> str:
        word = PATTERNS[type(node)]
        negated = negated != bool(node.args.get("negate"))
        return f"{self.operand(node.this)} {'NOT ' if negated else ''}{word} {self.operand(node.expression)}"

    def escape(self, node: exp.Expr) -> str:
        return f"{self.render(node.this)} ESCAPE {self.render(node.expression)}"

    def identity(self, node: exp.Expr) -> str:
        right = unwrapped(node.expression)
        if isinstance(right, exp.Not):
            return f"{self.operand(node.this)} IS NOT {self.render(right.this)}"
        return f"{self.operand(node.this)} IS {self.operand(right)}"

    def exists(self, node: exp.Expr) -> str:
        outcome = self.resolver.subquery(unwrapped(node.this), self.scope)
        if self.full:
            return f"EXISTS ({bounded(outcome.canonical)})"
        return f"EXISTS ({', '.join(outcome.tables)})"


def _is_text(node: exp.Expr, rendered: str) -> bool:
    """A name that turned out to be text: SQLite reads a double-quoted word that names no column so."""
    return isinstance(unwrapped(node), exp.Column) and rendered.startswith("'")
