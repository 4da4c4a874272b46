"""How is an expression written once names are resolved: one canonical text for all spellings of the same thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql import functions
from sqlassay.sql.conditions import COMPARISONS, PATTERNS, Conditions
from sqlassay.sql.scope import Outcome, Scope, Source, Value, bounded, ordered
from sqlassay.sql.trees import chain, is_aggregate, number, unwrapped

if TYPE_CHECKING:
    from sqlassay.sql.resolve import Resolver

Writer = Callable[["Renderer", exp.Expr], str]

_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Sub: "-", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "//"}
_COMMUTATIVE: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Mul: "*"}
_COMPOUND = (exp.Binary, exp.Connector, exp.Not, exp.Between, exp.In)


class Renderer(Conditions):
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
            return self.subquery(node)
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
            if text.lower() == "now" and self._read_as_a_time(node):
                self.resolver.collected.clock = True
            return "'" + text.replace("'", "''") + "'"
        return number(text, keep_point=keep_point)

    def _read_as_a_time(self, node: exp.Expr) -> bool:
        """SQLite reads a clock only in a function's argument, PostgreSQL and DuckDB wherever a time is due."""
        if self.resolver.dialect != "sqlite":
            return self.resolver.dialect in ("postgres", "duckdb")
        around = node.find_ancestor(exp.Func, exp.Predicate, exp.Query)
        return isinstance(around, exp.Func) and not isinstance(around, (exp.Predicate, exp.Case, exp.If, exp.Connector))

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

    def comprehension(self, node: exp.Expr) -> str:
        """`[x + 1 FOR x IN list IF x > 2]`: the variable is no column."""
        variable = node.expression
        names = {self.resolver.binder.key(variable)} if isinstance(variable, exp.Identifier) else set()
        iterator = self.render(node.args["iterator"])
        self.scope.sources.append(Source(alias=None, label="x", columns={name: Value(text="x") for name in names}))
        parts = [self.render(unwrapped(node.this)), iterator]
        if node.args.get("condition") is not None:
            parts.append(self.render(unwrapped(node.args["condition"])))
        self.scope.sources.pop()
        return f"COMPREHENSION({', '.join(parts)})"

    def columns(self, node: exp.Expr) -> str:  # noqa: ARG002 - the signature of a writer
        """DuckDB's COLUMNS inside an expression may be any column of the sources."""
        for source in self.scope.sources:
            for _, _, value in self.resolver.binder.star(source):
                self.reads |= value.reads
                if source.base is not None:
                    self.resolver.collected.columns_read |= value.reads
        self.sure = False
        return "COLUMNS"

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

    def subquery(self, node: exp.Expr) -> str:
        outcome = self.resolver.subquery(unwrapped(node), self.scope)
        for output in outcome.outputs:
            self.reads |= output.value.reads
            self.aggregate = self.aggregate or output.value.aggregate
        return self.written(outcome)

    def written(self, outcome: Outcome) -> str:
        if self.full:
            return f"({bounded(outcome.canonical)})"
        texts = ", ".join(output.value.text for output in outcome.outputs)
        if not any(output.value.reads for output in outcome.outputs) and outcome.tables:
            texts += f" FROM {', '.join(outcome.tables)}"
        return f"(SELECT {bounded(texts)})"


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
    exp.Comprehension: Renderer.comprehension,
    exp.Columns: Renderer.columns,
    exp.Identifier: Renderer.name,
    exp.Var: Renderer.name,
    exp.Star: Renderer.star,
    exp.Null: Renderer.null,
    exp.Boolean: Renderer.boolean,
    exp.Alias: Renderer.alias,
    exp.DataType: Renderer.data_type,
    exp.Tuple: Renderer.tuple,
    **dict.fromkeys(COMPARISONS, Renderer.comparison),
    **dict.fromkeys(_ARITHMETIC, Renderer.arithmetic),
    **dict.fromkeys(_COMMUTATIVE, Renderer.commutative),
    **dict.fromkeys(PATTERNS, Renderer.pattern),
}
