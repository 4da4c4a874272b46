"""What does a query read and return? Every name to its base column, at every scope, in one walk."""

from __future__ import annotations

from sqlglot import exp

from sqlassay.sql import joins, sources
from sqlassay.sql.bind import Binder
from sqlassay.sql.combine import bare_operation, renamed, tables_of, united
from sqlassay.sql.keys import Keys
from sqlassay.sql.outputs import SelectList
from sqlassay.sql.parse import Unparsable, sqlglot_dialect
from sqlassay.sql.render import Renderer
from sqlassay.sql.schema import SchemaIndex
from sqlassay.sql.scope import (
    Collected,
    Cte,
    CteScope,
    Outcome,
    Output,
    Scope,
    Source,
    Value,
    bounded,
    ordered,
    plain,
)

# Where an output alias may be used beside ORDER BY: in WHERE and (not in SQLite) in other items of the select list.
_ALIAS_ANYWHERE = frozenset({"sqlite", "duckdb", "snowflake", "databricks", "redshift", "clickhouse"})
_ALIAS_IN_GROUPS = _ALIAS_ANYWHERE | {"mysql", "postgres", "bigquery", "trino"}
_SELF_RECURSIVE = frozenset({"sqlite", "tsql", "oracle"})


class Resolver:
    """Resolves one statement against one schema; `collected` holds what was found anywhere in it."""

    def __init__(self, text: str, index: SchemaIndex) -> None:
        self.index = index
        self.dialect = index.dialect
        self.collected = Collected()
        self.binder = Binder(text, index, self.collected)
        self.select_list = SelectList(self)
        self.keys = Keys(self)
        self.alias_uses: set[int] = set()
        """Column nodes that turned out to mean an output alias."""
        self.last_outputs: list[Output] = []
        self._outcomes: dict[int, Outcome] = {}
        self._nulls_small = sqlglot_dialect(index.dialect).NULL_ORDERING

    def nulls_first_by_default(self, descending: bool) -> bool:
        if self._nulls_small == "nulls_are_last":
            return False
        return descending if self._nulls_small == "nulls_are_large" else not descending

    def aggregation(self, text: str) -> None:
        self.collected.aggregations.add(plain(text))

    # Queries

    def query(self, node: exp.Expr, parent: Scope | None, ctes: CteScope, anchor: Cte | None = None) -> Outcome:
        """Resolve any query; `parent` is the scope that correlated names may reach."""
        with_ = node.args.get("with_")
        if with_ is not None:
            ctes = self._with(with_, parent, ctes)
        if isinstance(node, exp.Select):
            outcome = self._select(node, parent, ctes)
        elif isinstance(node, exp.SetOperation):
            outcome = self._set_operation(node, parent, ctes, anchor)
        elif isinstance(node, exp.Values):
            outcome = self._values(node, parent, ctes)
        elif isinstance(node, (exp.Subquery, exp.Paren)):
            outcome = self._parenthesised(node, parent, ctes)
        elif isinstance(node, (exp.Table, exp.Pivot)):
            outcome = self._bare_table(node, parent, ctes)
        else:
            raise Unparsable(f"not a query: {type(node).__name__}")
        self._outcomes[id(node)] = outcome
        return outcome

    def subquery(self, node: exp.Expr, scope: Scope) -> Outcome:
        """A query inside an expression of `scope`; resolved once however often it is rendered."""
        found = self._outcomes.get(id(node))
        if found is None:
            scope.nested = True
            found = self.query(node, scope, scope.ctes)
        return found

    def table_after_in(self, field: exp.Expr, scope: Scope) -> Outcome | None:
        """SQLite's `x IN table`."""
        if self.dialect != "sqlite" or not isinstance(field, exp.Column):
            return None
        found = self._outcomes.get(id(field))
        if found is None:
            scope.nested = True
            table = exp.Table(this=field.args["this"].copy(), db=field.args.get("table"))
            found = self._outcomes[id(field)] = self._bare_table(table, scope, scope.ctes)
        return found

    def _with(self, node: exp.Expr, parent: Scope | None, ctes: CteScope) -> CteScope:
        recursive = bool(node.args.get("recursive"))
        everything = CteScope(parent=ctes)
        seen = ctes
        for item in node.expressions:
            alias = item.args.get("alias")
            if alias is None:
                continue
            name = self.binder.key(alias.this)
            if item.args.get("scalar"):
                everything.scalars[name] = item.this
                continue
            columns = tuple(self.binder.key(column) for column in alias.args.get("columns") or ())
            own = recursive or (self.dialect in _SELF_RECURSIVE and isinstance(item.this, exp.SetOperation))
            entry = Cte(name=name, node=item.this, columns=columns, scope=everything if own else seen, parent=parent)
            everything.entries[name] = entry
            seen = CteScope(parent=seen, entries={name: entry})
        return everything

    def cte(self, entry: Cte) -> Outcome:
        """The outcome of a CTE; inside its own recursive part, what its first branch returns."""
        if entry.outcome is not None:
            return entry.outcome
        if entry.busy:
            return entry.partial or Outcome(outputs=[], open=True)
        entry.busy = True
        try:
            outcome = self.query(entry.node, entry.parent, entry.scope, entry)
        finally:
            entry.busy = False
        entry.outcome = renamed(outcome, entry.columns)
        return entry.outcome

    def _parenthesised(self, node: exp.Expr, parent: Scope | None, ctes: CteScope) -> Outcome:
        inner = node.this
        if isinstance(inner, exp.Table):
            return self._bare_table(inner, parent, ctes)
        outcome = self.query(inner, parent, ctes)
        tail = self._tail(node, outcome, parent, ctes)
        return (
            outcome
            if not tail
            else Outcome(
                outputs=outcome.outputs,
                canonical=f"({bounded(outcome.canonical)}){tail}",
                open=outcome.open,
                tables=outcome.tables,
            )
        )

    def _bare_table(self, node: exp.Expr, parent: Scope | None, ctes: CteScope) -> Outcome:
        """`TABLE t`, a parenthesised join, a PIVOT statement: everything of what stands in FROM."""
        scope = Scope(parent=parent, ctes=ctes)
        shape = joins.Shape()
        renderer = Renderer(self, scope)
        sources.add(self, node, scope, renderer, shape)
        shape.settle()
        outputs, opened = self.select_list.star(scope, None)
        tables = tables_of(scope)
        return Outcome(outputs=outputs, canonical="SELECT * FROM " + shape.written(), open=opened, tables=tables)

    def _values(self, node: exp.Expr, parent: Scope | None, ctes: CteScope) -> Outcome:
        renderer = Renderer(self, Scope(parent=parent, ctes=ctes))
        rows: list[str] = []
        width, reads, aggregate = 0, set[str](), False
        for row in node.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            values = [renderer.value(cell) for cell in cells]
            width = max(width, len(values))
            for value in values:
                reads |= value.reads
                aggregate = aggregate or value.aggregate
            rows.append("(" + ", ".join(value.text for value in values) + ")")
        text = "VALUES " + ", ".join(rows)
        single = len(rows) == 1
        outputs = []
        for i in range(width):
            cell = f"{text}[{i + 1}]" if not single else rows[0]
            value = Value(text=cell, reads=frozenset(reads), aggregate=aggregate, sure=False)
            outputs.append(Output(key=self.binder.fold(f"column{i + 1}", False), name=f"column{i + 1}", value=value))
        tail = self._tail(node, Outcome(outputs=outputs), parent, ctes)
        return Outcome(outputs=outputs, canonical=text + tail)

    # Set operations

    def _set_operation(self, node: exp.Expr, parent: Scope | None, ctes: CteScope, anchor: Cte | None) -> Outcome:
        kind, distinct = type(node), bool(node.args.get("distinct"))
        branches: list[exp.Expr] = []
        at: exp.Expr = node
        while True:
            branches.append(at.expression)
            left = at.this
            same = type(left) is kind and bool(left.args.get("distinct")) == distinct and bare_operation(left)
            if not same:
                branches.append(left)
                break
            at = left
        branches.reverse()
        outcomes: list[Outcome] = []
        for branch in branches:
            outcome = self.query(branch, parent, ctes)
            if anchor is not None and not outcomes:
                anchor.partial = renamed(outcome, anchor.columns)
            outcomes.append(outcome)
        outputs = self._united(outcomes, by_name=bool(node.args.get("by_name")))
        texts = [f"({bounded(outcome.canonical)})" for outcome in outcomes]
        word = "UNION" if kind is exp.Union else "INTERSECT" if kind is exp.Intersect else "EXCEPT"
        word += "" if distinct else " ALL"
        if kind is not exp.Except:
            texts = ordered(texts)
        tables = tuple(sorted({table for outcome in outcomes for table in outcome.tables}))
        whole = Outcome(outputs=outputs, open=any(outcome.open for outcome in outcomes), tables=tables)
        whole.canonical = f" {word} ".join(texts) + self._tail(node, whole, parent, ctes)
        return whole

    def _united(self, outcomes: list[Outcome], *, by_name: bool) -> list[Output]:
        first = outcomes[0].outputs
        others = [outcome.by_key() for outcome in outcomes[1:]] if by_name else []
        outputs: list[Output] = []
        for i, output in enumerate(first):
            values = [output.value]
            if by_name:
                values += [found[output.key] for found in others if output.key in found]
            else:
                values += [outcome.outputs[i].value for outcome in outcomes[1:] if i < len(outcome.outputs)]
            outputs.append(Output(key=output.key, name=output.name, value=united(values)))
        return outputs

    def _tail(self, node: exp.Expr, outcome: Outcome, parent: Scope | None, ctes: CteScope) -> str:
        """ORDER BY and LIMIT of a set operation or a parenthesised query, over its output columns."""
        order, limit, offset = (node.args.get(name) for name in ("order", "limit", "offset"))
        if order is None and limit is None and offset is None:
            return ""
        scope = Scope(parent=parent, ctes=ctes)
        scope.sources.append(Source(alias=None, label="", columns=outcome.by_key(), open=outcome.open))
        renderer = Renderer(self, scope)
        return self.keys.order(order, renderer, outcome.outputs) + self._limit_text(renderer, node)

    # SELECT

    def _select(self, node: exp.Expr, parent: Scope | None, ctes: CteScope) -> Outcome:
        scope = Scope(parent=parent, ctes=ctes)
        args = node.args
        renderer = Renderer(self, scope)
        for window in args.get("windows") or ():
            scope.windows[self.binder.key(window.this)] = window
        shape = joins.Shape()
        from_ = args.get("from_")
        if from_ is not None:
            sources.add(self, from_.this, scope, renderer, shape)
        for join in args.get("joins") or ():
            joins.add(self, join, scope, renderer, shape)
        if args.get("sample") is not None:
            self.collected.random = True
        for lateral in args.get("laterals") or ():
            sources.add(self, lateral, scope, renderer, shape)
        shape.settle()
        for item in node.expressions:
            if type(item) is exp.Alias:
                key = self.binder.key(item.args["alias"]) if isinstance(item.args["alias"], exp.Identifier) else ""
                scope.aliases.setdefault(key, item.this)
        scope.alias_fallback = self.dialect in _ALIAS_ANYWHERE and self.dialect != "sqlite"
        outputs, opened = self.select_list.outputs(node, scope, renderer)
        scope.alias_fallback = self.dialect in _ALIAS_ANYWHERE
        parts = self._clauses(node, scope, renderer, shape, outputs)
        if scope.nested or any(s.label.find("\x1f") >= 0 for s in scope.sources):
            parts = self._clauses(node, scope, Renderer(self, scope, full=True), shape, outputs)
        return Outcome(outputs=outputs, canonical=parts, open=opened, tables=tables_of(scope))

    def _clauses(
        self, node: exp.Expr, scope: Scope, renderer: Renderer, shape: joins.Shape, outputs: list[Output]
    ) -> str:
        """The clauses after the select list, collected (or, with a full renderer, only written)."""
        args = node.args
        collect = not renderer.full
        where_texts: list[str] = list(shape.filters(renderer))
        for name in ("prewhere", "where"):
            clause = args.get(name)
            if clause is not None:
                where_texts += joins.conditions(self, clause.this, scope, renderer, collect=collect)
        connect = args.get("connect")
        tail = ""
        if connect is not None:
            start, again = connect.args.get("start"), connect.args.get("connect")
            texts = [renderer.render(part) for part in (start, again) if part is not None]
            tail += " CONNECT BY " + " START WITH ".join(reversed(texts))
        scope.alias_fallback = self.dialect in _ALIAS_IN_GROUPS
        groups = self.keys.groups(args.get("group"), renderer, outputs, collect=collect)
        having = self._filter_texts(args.get("having"), renderer, collect=collect)
        scope.alias_fallback = self.dialect in _ALIAS_ANYWHERE or self.dialect == "bigquery"
        qualify = self._filter_texts(args.get("qualify"), renderer, collect=collect)
        distinct = args.get("distinct")
        word = "SELECT"
        if distinct is not None:
            on = distinct.args.get("on")
            word += " DISTINCT"
            if on is not None:
                keys = on.expressions if isinstance(on, exp.Tuple) else [on]
                word += " ON (" + ", ".join(ordered(self.keys.text(key, renderer, outputs) for key in keys)) + ")"
        order = self.keys.order(args.get("order"), renderer, outputs)
        text = f"{word} " + ", ".join(output.value.whole for output in outputs)
        if shape.any:
            text += " FROM " + shape.written(renderer if renderer.full else None)
        if where_texts:
            text += " WHERE " + " AND ".join(ordered(set(where_texts)))
        if groups:
            text += " GROUP BY " + ", ".join(groups)
        if having:
            text += " HAVING " + " AND ".join(ordered(set(having)))
        if qualify:
            text += " QUALIFY " + " AND ".join(ordered(set(qualify)))
        return text + tail + order + self._limit_text(renderer, node)

    def _filter_texts(self, clause: exp.Expr | None, renderer: Renderer, *, collect: bool) -> list[str]:
        if clause is None:
            return []
        texts = renderer.conjunct_texts(clause.this)
        if collect:
            self.collected.filters.update(plain(text) for text in texts)
        return texts

    def _limit_text(self, renderer: Renderer, node: exp.Expr) -> str:
        text = ""
        limit, offset = node.args.get("limit"), node.args.get("offset")
        if limit is not None:
            count = limit.args.get("count") or limit.args.get("expression")
            text += " LIMIT " + (renderer.render(count) if isinstance(count, exp.Expr) else "1")
            shift = limit.args.get("offset")
            if isinstance(shift, exp.Expr):
                text += " OFFSET " + renderer.render(shift)
            options = limit.args.get("limit_options")
            if options is not None and options.args.get("with_ties"):
                text += " WITH TIES"
            by = limit.args.get("expressions") or node.args.get("limit_by")
            if isinstance(by, list) and by:
                text += " BY " + renderer.many(by)
        if offset is not None and isinstance(offset.expression, exp.Expr):
            text += " OFFSET " + renderer.render(offset.expression)
        return text
