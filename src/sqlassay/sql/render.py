"""How is an expression written once names are resolved: one canonical text for all spellings of the same thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql import functions
from sqlassay.sql.scope import Outcome, Scope, Value, bounded, ordered

if TYPE_CHECKING:
    from sqlassay.sql.resolve import Resolver

Writer = Callable[["Renderer", exp.Expr], str]

_FLIPPED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "<=>": "<=>"}
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.LT: "<", exp.GTE: ">=", exp.LTE: "<=", exp.NullSafeEQ: "<=>",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Sub: "-", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "//"}
_COMMUTATIVE: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Mul: "*"}
_COMPOUND = (exp.Binary, exp.Connector, exp.Not, exp.Between, exp.In)


class Renderer:
    """Writes expressions of one scope; gathers what they read and whether an aggregate stands in them.

    With `full`, subqueries are written whole; else as what they return. `quiet` renders again without collecting.
    """

    def __init__(self, resolver: Resolver, scope: Scope, *, full: bool = False) -> None:
        self.resolver = resolver
        self.scope = scope
        self.full = full
        self.reads: set[str] = set()
        self.aggregate = False
        self.sure = True
        self.inside_wrapper = False

    def value(self, node: exp.Expr) -> Value:
        """The value of an output or argument: a bare column keeps its origin."""
        bare = unwrapped(node)
        if type(bare) is exp.Column and not isinstance(bare.this, exp.Star):
            found = self.resolver.binder.column(bare, self.scope)
            if isinstance(found, Value):
                return found
            return self._aliased(bare, found)
        held = self.reads, self.aggregate, self.sure
        self.reads, self.aggregate, self.sure = set(), False, True
        text = self.render(bare)
        value = Value(text=text, reads=frozenset(self.reads), aggregate=self.aggregate, sure=self.sure)
        self.reads, self.aggregate, self.sure = held
        return value

    def _aliased(self, column: exp.Expr, expression: exp.Expr) -> Value:
        key = self.resolver.binder.key(column.this)
        self.resolver.alias_uses.add(id(column))
        self.scope.resolving.add(key)
        try:
            return self.value(expression)
        finally:
            self.scope.resolving.discard(key)

    def render(self, node: exp.Expr) -> str:
        writer = _WRITERS.get(type(node))
        if writer is not None:
            return writer(self, node)
        if isinstance(node, exp.AggFunc):
            return self._aggregate(node)
        if isinstance(node, exp.Query):
            return self._subquery(node)
        return self._generic(node)

    def operand(self, node: exp.Expr) -> str:
        """An operand, in parentheses where it is compound itself."""
        bare = unwrapped(node)
        text = self.render(bare)
        return f"({text})" if isinstance(bare, _COMPOUND) and not isinstance(bare, exp.Dot) else text

    def many(self, nodes: Sequence[exp.Expr]) -> str:
        return ", ".join(self.render(unwrapped(node)) for node in nodes)

    # Names and literals

    def column(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Column)
        if isinstance(node.this, exp.Star):
            return "*"
        value = self.value(node)
        self.reads |= value.reads
        self.aggregate = self.aggregate or value.aggregate
        self.sure = self.sure and value.sure
        return value.whole if self.full else value.text

    def literal(self, node: exp.Expr, *, keep_point: bool = False) -> str:
        text = str(node.this)
        if node.args.get("is_string"):
            if text.lower() == "now" and self.resolver.dialect in ("sqlite", "postgres", "duckdb"):
                self.resolver.collected.clock = True
            return "'" + text.replace("'", "''") + "'"
        return number(text, keep_point=keep_point)

    # Logic

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
        return word.join(ordered(texts))

    def negation(self, node: exp.Expr) -> str:
        inner = unwrapped(node.this)
        kind = type(inner)
        if kind in _COMPARISONS and _COMPARISONS[kind] in _NEGATED:
            return self.compare(_NEGATED[_COMPARISONS[kind]], inner.this, inner.expression)
        if kind is exp.Not:
            return self.render(unwrapped(inner.this))
        if kind is exp.Is:
            return f"{self.operand(inner.this)} IS NOT {self.render(inner.expression)}"
        if kind is exp.In:
            return self.membership(inner, negated=True)
        if kind is exp.Between:
            low, high = (self.operand(inner.args[name]) for name in ("low", "high"))
            return f"{self.operand(inner.this)} NOT BETWEEN {low} AND {high}"
        if kind in _PATTERNS:
            return self.pattern(inner, negated=True)
        if kind is exp.Exists:
            return "NOT " + self.render(inner)
        return f"NOT {self.operand(inner)}"

    def between(self, node: exp.Expr) -> str:
        return " AND ".join(ordered(self.condition(node)))

    def comparison(self, node: exp.Expr) -> str:
        return self.compare(_COMPARISONS[type(node)], node.this, node.expression)

    def compare(self, sign: str, left: exp.Expr, right: exp.Expr) -> str:
        a, b = self.operand(left), self.operand(right)
        if self._goes_last(left, a, right, b):
            a, b, sign = b, a, _FLIPPED[sign]
        return f"{a} {sign} {b}"

    def _goes_last(self, left: exp.Expr, a: str, right: exp.Expr, b: str) -> bool:
        fixed_left, fixed_right = is_constant(left), is_constant(right)
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
            return f"{self.operand(this)} {word} {self._subquery(query)}"
        field = node.args.get("field")
        if field is not None:
            table = self.resolver.table_after_in(field, self.scope)
            if table is not None:
                return f"{self.operand(this)} {word} {self._written(table)}"
            return f"{self.operand(this)} {word} {self.render(field)}"
        items = node.expressions
        if len(items) == 1 and not isinstance(unwrapped(items[0]), exp.Query):
            return self.compare("!=" if negated else "=", this, items[0])
        if len(items) == 1:
            return f"{self.operand(this)} {word} {self._subquery(unwrapped(items[0]))}"
        if not items:
            listed = node.args.get("unnest")
            inside = "()" if listed is None else self.render(listed)
            return f"{self.operand(this)} {word} {inside}"
        texts = {self.operand(item) for item in items}
        return f"{self.operand(this)} {word} ({', '.join(ordered(texts))})"

    def pattern(self, node: exp.Expr, *, negated: bool = False) -> str:
        word = _PATTERNS[type(node)]
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

    # Arithmetic and text

    def arithmetic(self, node: exp.Expr) -> str:
        left, right = self._arithmetic_operand(node.this), self._arithmetic_operand(node.expression)
        return f"{left} {_ARITHMETIC[type(node)]} {right}"

    def commutative(self, node: exp.Expr) -> str:
        sign = _COMMUTATIVE[type(node)]
        return f" {sign} ".join(ordered(self._arithmetic_operand(operand) for operand in chain(node, type(node))))

    def _arithmetic_operand(self, node: exp.Expr) -> str:
        bare = unwrapped(node)
        if isinstance(bare, exp.Literal):
            return self.literal(bare, keep_point=True)
        return self.operand(bare)

    def concatenation(self, node: exp.Expr) -> str:
        return " || ".join(self.operand(operand) for operand in chain(node, exp.DPipe))

    def negative(self, node: exp.Expr) -> str:
        return "-" + self.operand(node.this)

    def cast(self, node: exp.Expr) -> str:
        this = unwrapped(node.this)
        if isinstance(this, exp.Literal):
            if str(this.this).lower() in ("now", "today", "yesterday", "tomorrow") and this.args.get("is_string"):
                self.resolver.collected.clock = True
            return self.literal(this)
        if isinstance(this, (exp.Null, exp.Boolean)):
            return self.render(this)
        word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
        to = node.args.get("to")
        return f"{word}({self.render(this)} AS {to.sql() if to is not None else ''})"

    def case(self, node: exp.Expr) -> str:
        this, default = node.args.get("this"), node.args.get("default")
        parts = ["CASE"] if this is None else ["CASE", self.operand(this)]
        parts += [
            f"WHEN {self.render(unwrapped(branch.this))} THEN {self.operand(branch.args['true'])}"
            for branch in node.args.get("ifs") or ()
        ]
        if default is not None:
            parts.append(f"ELSE {self.operand(default)}")
        return " ".join([*parts, "END"])

    def condition_if(self, node: exp.Expr) -> str:
        otherwise = node.args.get("false")
        tail = f" ELSE {self.operand(otherwise)}" if otherwise is not None else ""
        return f"CASE WHEN {self.render(unwrapped(node.this))} THEN {self.operand(node.args['true'])}{tail} END"

    # Functions, aggregates, windows

    def _aggregate(self, node: exp.Expr, suffix: str = "", *, listed: bool = True) -> str:
        if isinstance(node, (exp.Max, exp.Min)) and node.expressions:  # SQLite's scalar MAX(a, b)
            return f"{node.sql_name()}({', '.join(ordered(self.operand(n) for n in (node.this, *node.expressions)))})"
        ranking = isinstance(node, functions.RANKING)
        text = self._call(node) + suffix
        if not ranking or suffix:
            self.aggregate = self.aggregate or not ranking
        if listed and not ranking and not self.inside_wrapper and not self.full:
            self.resolver.aggregation(text)
        return text

    def count(self, node: exp.Expr) -> str:
        return self._aggregate(node)

    def _call(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Count):
            this = node.this
            if this is None or isinstance(this, (exp.Star, exp.Literal)):
                return "COUNT(*)"
            if isinstance(this, exp.Column) and isinstance(this.this, exp.Star):
                return "COUNT(*)"
            return f"COUNT({self.many((this, *node.expressions))})"
        return self._generic(node)

    def filtered(self, node: exp.Expr) -> str:
        held, self.inside_wrapper = self.inside_wrapper, True
        call = self.render(node.this)
        where = node.expression
        texts = self.conjunct_texts(where.this if isinstance(where, exp.Where) else where)
        self.inside_wrapper = held
        text = f"{call} FILTER (WHERE {' AND '.join(ordered(texts))})"
        if not held and not self.full:
            self.resolver.aggregation(text)
        return text

    def window(self, node: exp.Expr) -> str:
        held, self.inside_wrapper = self.inside_wrapper, True
        aggregate = self.aggregate
        call = self.render(node.this)
        function = node.this
        while isinstance(function, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
            function = function.this
        ranking = isinstance(function, functions.RANKING) or not is_aggregate(function)
        if ranking:
            self.aggregate = aggregate
        self.inside_wrapper = False
        text = f"{call} OVER ({self._over(node)})"
        self.inside_wrapper = held
        if not ranking and not held and not self.full:
            self.resolver.aggregation(text)
        return text

    def _over(self, node: exp.Expr) -> str:
        parts: list[str] = []
        named = node.args.get("alias")
        base = self.scope.windows.get(self.resolver.binder.key(named)) if isinstance(named, exp.Identifier) else None
        partition = node.args.get("partition_by") or (base.args.get("partition_by") if base is not None else None)
        order = node.args.get("order") or (base.args.get("order") if base is not None else None)
        spec = node.args.get("spec") or (base.args.get("spec") if base is not None else None)
        if partition:
            parts.append("PARTITION BY " + ", ".join(ordered(self.operand(key) for key in partition)))
        if order is not None:
            parts.append("ORDER BY " + ", ".join(self.sort_key(key) for key in order.expressions))
        if spec is not None:
            parts.append(self._frame(spec))
        return " ".join(parts)

    def _frame(self, spec: exp.Expr) -> str:
        words = [str(spec.args.get("kind") or "ROWS").upper()]
        for name in ("start", "end"):
            bound = spec.args.get(name)
            if bound is None:
                continue
            text = self.render(bound) if isinstance(bound, exp.Expr) else str(bound).upper()
            side = spec.args.get(f"{name}_side")
            words.append(f"{text} {str(side).upper()}" if side else text)
        return " ".join(words)

    def sort_key(self, node: exp.Expr) -> str:
        if not isinstance(node, exp.Ordered):
            return self.render(unwrapped(node))
        text = self.render(unwrapped(node.this)) + (" DESC" if node.args.get("desc") else "")
        nulls = node.args.get("nulls_first")
        if nulls is not None and bool(nulls) != self.resolver.nulls_first_by_default(bool(node.args.get("desc"))):
            text += " NULLS FIRST" if nulls else " NULLS LAST"
        return text

    def order(self, node: exp.Expr) -> str:
        """ORDER BY inside an aggregate."""
        keys = ", ".join(self.sort_key(key) for key in node.expressions)
        return f"{self.render(node.this)} ORDER BY {keys}" if node.this is not None else f"ORDER BY {keys}"

    def distinct(self, node: exp.Expr) -> str:
        return "DISTINCT " + self.many(node.expressions)

    def anonymous(self, node: exp.Expr) -> str:
        name = str(node.this.name if isinstance(node.this, exp.Expr) else node.this).upper()
        self._note(name, node.expressions)
        text = f"{name}({self.many(node.expressions)})"
        if name in functions.AGGREGATES:
            self.aggregate = True
            if not self.inside_wrapper and not self.full:
                self.resolver.aggregation(text)
        return text

    def _note(self, name: str, arguments: Sequence[object]) -> None:
        if name in functions.RANDOM:
            self.resolver.collected.random = True
        elif name in functions.CLOCK or (name in functions.CLOCK_WITHOUT_ARGUMENT and not arguments):
            self.resolver.collected.clock = True

    def _generic(self, node: exp.Expr) -> str:
        """Any other node: its name and arguments in declared order."""
        if isinstance(node, functions.CLOCK_NODES):
            self.resolver.collected.clock = True
        elif isinstance(node, functions.RANDOM_NODES):
            self.resolver.collected.random = True
        parts: list[str] = []
        for name in node.arg_types:
            item = node.args.get(name)
            if isinstance(item, exp.Expr):
                parts.append(self.render(unwrapped(item)))
            elif isinstance(item, list):
                parts.extend(self.render(unwrapped(one)) if isinstance(one, exp.Expr) else str(one) for one in item)
            elif isinstance(item, str):
                parts.append(item)
        if isinstance(node, exp.Func):
            call = node.sql_name()
            self._note(call, parts)
            return f"{call}({', '.join(parts)})"
        return f"{type(node).__name__.upper()}({', '.join(parts)})"

    def name(self, node: exp.Expr) -> str:
        return str(node.name)

    def star(self, node: exp.Expr) -> str:  # noqa: ARG002 - the signature of a writer
        return "*"

    def null(self, node: exp.Expr) -> str:  # noqa: ARG002
        return "NULL"

    def boolean(self, node: exp.Expr) -> str:
        return "TRUE" if node.this else "FALSE"

    def alias(self, node: exp.Expr) -> str:
        return self.render(unwrapped(node.this))

    def data_type(self, node: exp.Expr) -> str:
        return str(node.sql())

    def tuple(self, node: exp.Expr) -> str:
        return f"({self.many(node.expressions)})"

    # Subqueries

    def _subquery(self, node: exp.Expr) -> str:
        outcome = self.resolver.subquery(unwrapped(node), self.scope)
        for output in outcome.outputs:
            self.reads |= output.value.reads
            self.aggregate = self.aggregate or output.value.aggregate
        return self._written(outcome)

    def _written(self, outcome: Outcome) -> str:
        if self.full:
            return f"({bounded(outcome.canonical)})"
        texts = ", ".join(output.value.text for output in outcome.outputs)
        if not any(output.value.reads for output in outcome.outputs) and outcome.tables:
            texts += f" FROM {', '.join(outcome.tables)}"
        return f"(SELECT {bounded(texts)})"


def unwrapped(node: exp.Expr) -> exp.Expr:
    """The node without the parentheses around it."""
    while isinstance(node, exp.Paren) or (
        type(node) is exp.Subquery and not node.args.get("alias") and len([a for a in node.args.values() if a]) == 1
    ):
        node = node.this
    return node


def chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one associative operator, from left to right, without recursion."""
    operands: list[exp.Expr] = []
    pending = [unwrapped(node)]
    while pending:
        top = pending.pop()
        if isinstance(top, kind):
            pending.append(unwrapped(top.expression))
            pending.append(unwrapped(top.this))
        else:
            operands.append(top)
    return operands


def is_constant(node: exp.Expr) -> bool:
    bare = unwrapped(node)
    while isinstance(bare, (exp.Neg, exp.Cast)):
        bare = unwrapped(bare.this)
    return isinstance(bare, (exp.Literal, exp.Boolean, exp.Null, exp.Parameter, exp.Placeholder))


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in functions.AGGREGATES
    return isinstance(node, exp.AggFunc)


def number(text: str, *, keep_point: bool = False) -> str:
    """A numeric literal in its shortest form; with `keep_point` a decimal does not become an integer.

    >>> number("007.50"), number("1e3"), number("2.0"), number("2.0", keep_point=True)
    ('7.5', '1000', '2', '2.0')
    """
    try:
        value = Decimal(text)
    except (InvalidOperation, ValueError):
        return text
    if not value.is_finite() or abs(value.adjusted()) > 40:
        return text
    short = format(value.normalize(), "f")
    if keep_point and "." not in short and any(mark in text for mark in ".eE"):
        short += ".0"
    return short


_PATTERNS: dict[type[exp.Expr], str] = {
    exp.Like: "LIKE", exp.ILike: "ILIKE", exp.Glob: "GLOB", exp.SimilarTo: "SIMILAR TO", exp.RegexpLike: "REGEXP",
    exp.RegexpILike: "IREGEXP",
}  # fmt: skip
_WRITERS: dict[type[exp.Expr], Writer] = {
    exp.Column: Renderer.column,
    exp.Literal: Renderer.literal,
    exp.And: Renderer.connector,
    exp.Or: Renderer.connector,
    exp.Not: Renderer.negation,
    exp.Between: Renderer.between,
    exp.In: Renderer.membership,
    exp.Is: Renderer.identity,
    exp.Escape: Renderer.escape,
    exp.Exists: Renderer.exists,
    exp.DPipe: Renderer.concatenation,
    exp.Neg: Renderer.negative,
    exp.Cast: Renderer.cast,
    exp.TryCast: Renderer.cast,
    exp.Case: Renderer.case,
    exp.If: Renderer.condition_if,
    exp.Count: Renderer.count,
    exp.Filter: Renderer.filtered,
    exp.Window: Renderer.window,
    exp.Ordered: Renderer.sort_key,
    exp.Order: Renderer.order,
    exp.Distinct: Renderer.distinct,
    exp.Anonymous: Renderer.anonymous,
    exp.AnonymousAggFunc: Renderer.anonymous,
    exp.Identifier: Renderer.name,
    exp.Var: Renderer.name,
    exp.Star: Renderer.star,
    exp.Null: Renderer.null,
    exp.Boolean: Renderer.boolean,
    exp.Alias: Renderer.alias,
    exp.DataType: Renderer.data_type,
    exp.Tuple: Renderer.tuple,
    **dict.fromkeys(_COMPARISONS, Renderer.comparison),
    **dict.fromkeys(_ARITHMETIC, Renderer.arithmetic),
    **dict.fromkeys(_COMMUTATIVE, Renderer.commutative),
    **dict.fromkeys(_PATTERNS, Renderer.pattern),
}
