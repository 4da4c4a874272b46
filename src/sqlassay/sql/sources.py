"""What does one item of a FROM clause offer: a table, a view, a CTE, a subquery, a function, a pivot?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlassay.sql import joins
from sqlassay.sql.combine import renamed
from sqlassay.sql.schema import Relation
from sqlassay.sql.scope import INSTANCE, NO_READS, Outcome, Output, Scope, Source, TableColumns, Value, bounded

if TYPE_CHECKING:
    from sqlassay.sql.render import Renderer
    from sqlassay.sql.resolve import Resolver

_SYSTEM_SCHEMAS = frozenset({"information_schema", "pg_catalog", "sys", "mysql", "performance_schema", "system"})
_SYSTEM_TABLES: dict[str, dict[str, str]] = {
    name: {column: column for column in ("type", "name", "tbl_name", "rootpage", "sql")}
    for name in ("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema")
}
_DUAL = frozenset({"oracle", "mysql"})
_FUNCTION_COLUMNS: dict[str, tuple[str, ...]] = {
    "JSON_EACH": ("key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root"),
    "JSON_TREE": ("key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root"),
    "PRAGMA_TABLE_INFO": ("cid", "name", "type", "notnull", "dflt_value", "pk"),
    "PRAGMA_TABLE_XINFO": ("cid", "name", "type", "notnull", "dflt_value", "pk", "hidden"),
    "PRAGMA_FOREIGN_KEY_LIST": ("id", "seq", "table", "from", "to", "on_update", "on_delete", "match"),
    "PRAGMA_INDEX_LIST": ("seq", "name", "unique", "origin", "partial"),
    "PRAGMA_TABLE_LIST": ("schema", "name", "type", "ncol", "wr", "strict"),
}


def add(resolver: Resolver, node: exp.Expr, scope: Scope, renderer: Renderer, shape: joins.Shape) -> Source:
    """Add the source that `node` is to `scope`; the joins that hang on it follow."""
    source = _source(resolver, node, scope, renderer, shape)
    pivots = node.args.get("pivots")
    if pivots:
        source = _pivoted(resolver, source, pivots, scope)
    if source is not _MERGED:
        scope.sources.append(source)
        shape.add(source.label if source.base is not None else _derived_text(source))
    for join in node.args.get("joins") or ():
        joins.add(resolver, join, scope, renderer, shape)
    for lateral in node.args.get("laterals") or ():
        add(resolver, lateral, scope, renderer, shape)
    if node.args.get("sample") is not None or isinstance(node, exp.TableSample):
        resolver.collected.random = True
    return source


_MERGED = Source(alias=None, label="", columns={})


def _derived_text(source: Source) -> str:
    if isinstance(source.identity, tuple) and source.identity[0] == "query":
        marker = source.label[len(source.label.split(INSTANCE)[0]) :]
        return f"({bounded(source.identity[2])}){marker}"
    return source.label


def _source(resolver: Resolver, node: exp.Expr, scope: Scope, renderer: Renderer, shape: joins.Shape) -> Source:
    alias = node.args.get("alias")
    if isinstance(node, exp.Table):
        if isinstance(node.this, (exp.Func, exp.Anonymous)) or not isinstance(node.this, exp.Identifier):
            if isinstance(node.this, exp.Dot):
                return _function(resolver, node.this.expression, alias, renderer)
            return _function(resolver, node.this, alias, renderer)
        return _table(resolver, node, scope)
    if isinstance(node, exp.Pivot):
        inner = _source(resolver, node.this, scope, renderer, shape)
        return _pivoted(resolver, inner, [node], scope)
    if isinstance(node, exp.Lateral):
        return _lateral(resolver, node, scope, renderer)
    if isinstance(node, (exp.Subquery, exp.Paren)):
        inner = node.this
        if isinstance(inner, (exp.Table, exp.Join)) or (
            isinstance(inner, (exp.Subquery, exp.Paren)) and inner.args.get("joins") and alias is None
        ):
            if alias is None:  # (a JOIN b ON ...): its sources stay visible
                add(resolver, inner, scope, renderer, shape)
                return _MERGED
            return _derived(resolver, resolver.query(inner, None, scope.ctes), alias, scope)
        outer = scope if _sees_siblings(resolver) else scope.parent
        return _derived(resolver, resolver.query(node, outer, scope.ctes), alias, scope)
    if isinstance(node, exp.Query):
        return _derived(resolver, resolver.query(node, scope.parent, scope.ctes), alias, scope)
    if isinstance(node, exp.Values):
        return _derived(resolver, resolver.query(node, scope.parent, scope.ctes), alias, scope)
    if isinstance(node, (exp.TableSample, exp.Final)):
        return _source(resolver, node.this, scope, renderer, shape)
    return _function(resolver, node, alias, renderer)


def _sees_siblings(resolver: Resolver) -> bool:
    return resolver.dialect == "duckdb"


def _table(resolver: Resolver, node: exp.Expr, scope: Scope) -> Source:
    index, binder = resolver.index, resolver.binder
    schema = node.args.get("db")
    written_out = (node.args.get("catalog"), schema, node.this)
    # T-SQL's `shop..orders` leaves the default schema out, whose name is dropped like `shop.dbo.orders`.
    identifiers = [node.this] if schema == "" else [part for part in written_out if isinstance(part, exp.Identifier)]
    alias = node.args.get("alias")
    named = alias.this if alias is not None else None
    key = binder.key(named) if isinstance(named, exp.Identifier) else None
    columns = tuple(binder.key(column) for column in (alias.args.get("columns") or ())) if alias is not None else ()
    if len(identifiers) == 1 and schema is None:
        entry = scope.ctes.find(binder.key(node.this))
        if entry is not None:
            return _cte(resolver, entry, key or entry.name, columns, scope)
    fold = index.naming.relations
    parts = tuple(fold(_local(part.this, resolver.dialect), bool(part.args.get("quoted"))) for part in identifiers)
    own = binder.fold(node.this.this, bool(node.this.args.get("quoted")))
    if parts[-1].lower() == "dual" and resolver.dialect in _DUAL:
        return Source(alias=key or own, label="DUAL", columns={}, open=False)
    relation = index.relation(parts)
    written = index.written(parts) if relation is None else relation.name
    resolver.collected.tables.add(written)
    count = scope.instances(written)
    label = written if count == 0 else f"{written}{INSTANCE}{count + 1}"
    if relation is None:
        return _unlisted(resolver, written, parts, label, key or own)
    resolver.collected.known.add(written)
    if relation.table is not None and relation.table.is_view:
        resolver.collected.views.add(written)
    renames: dict[str, str] | None = None
    if columns:
        stored = list(relation.columns.values())
        renames = {name: stored[i] for i, name in enumerate(columns) if i < len(stored)}
    source = Source(
        alias=key or own,
        label=label,
        columns=TableColumns(relation, label, renames),
        open=relation.open,
        base=written,
        parts=parts,
        relation=relation,
        identity=written,
        renamed=bool(renames),
    )
    if relation.table is not None and not relation.columns:
        source.open = True
    return source


def _local(name: str, dialect: str) -> str:
    """`orders@link` is the table `orders` at the other end of a link (Oracle)."""
    return name.split("@", 1)[0] if dialect == "oracle" and "@" in name else name


def _unlisted(resolver: Resolver, written: str, parts: tuple[str, ...], label: str, alias: str) -> Source:
    """A table that the schema does not list: a system catalogue, one of an unknown schema, or an invention."""
    system = _SYSTEM_TABLES.get(parts[-1].lower()) if resolver.dialect == "sqlite" else None
    if system is not None:
        relation = Relation(name=written, columns=system)
        columns = TableColumns(relation, label)
        return Source(
            alias=alias, label=label, columns=columns, base=written, parts=parts, relation=relation, identity=written
        )
    lowered = [part.lower() for part in parts]
    catalogue = any(part in _SYSTEM_SCHEMAS for part in lowered[:-1]) or lowered[-1].startswith(
        ("pg_", "duckdb_", "sqlite_")
    )
    wildcard = resolver.dialect == "bigquery" and parts[-1].endswith("*")
    unknown = not (catalogue or wildcard or resolver.index.empty)
    if unknown:
        resolver.collected.unknown.add(written)
    return Source(
        alias=alias, label=label, columns={}, open=True, base=written, parts=parts, unknown=unknown, identity=written
    )


def _cte(resolver: Resolver, entry: object, alias: str, columns: tuple[str, ...], scope: Scope) -> Source:
    from sqlassay.sql.scope import Cte

    assert isinstance(entry, Cte)
    return _query_source(renamed(resolver.cte(entry), columns), alias, scope)


def _derived(resolver: Resolver, outcome: Outcome, alias: exp.Expr | None, scope: Scope) -> Source:

    key = None
    columns: tuple[str, ...] = ()
    if alias is not None:
        if isinstance(alias.this, exp.Identifier):
            key = resolver.binder.key(alias.this)
        columns = tuple(resolver.binder.key(column) for column in alias.args.get("columns") or ())
    return _query_source(renamed(outcome, columns), key, scope)


def _query_source(outcome: Outcome, alias: str | None, scope: Scope) -> Source:
    identity = ("query", outcome.tables, outcome.canonical)
    count = scope.instances(identity)
    label = "q" if count == 0 else f"q{INSTANCE}{count + 1}"
    outputs = outcome.outputs
    if count:
        outputs = [
            Output(
                key=output.key,
                name=output.name,
                value=Value(
                    text=f"{output.value.text}{INSTANCE}{count + 1}",
                    origin=output.value.origin,
                    reads=output.value.reads,
                    aggregate=output.value.aggregate,
                    sure=output.value.sure,
                ),
            )
            for output in outputs
        ]
    columns: dict[str, Value] = {}
    for output in outputs:
        columns.setdefault(output.key, output.value)
    return Source(
        alias=alias, label=label, columns=columns, open=outcome.open, identity=identity, outputs=list(outputs)
    )


def _lateral(resolver: Resolver, node: exp.Expr, scope: Scope, renderer: Renderer) -> Source:
    alias = node.args.get("alias")
    inner = node.this
    if isinstance(inner, (exp.Subquery, exp.Select, exp.SetOperation)):
        return _derived(resolver, resolver.query(inner, scope, scope.ctes), alias, scope)
    return _function(resolver, inner, alias, renderer, offset=inner.args.get("offset"))


def _function(
    resolver: Resolver, node: exp.Expr, alias: exp.Expr | None, renderer: Renderer, *, offset: object = None
) -> Source:
    """A function in FROM: what it reads comes from its arguments, and no table is named."""
    binder = resolver.binder
    held = renderer.reads
    renderer.reads = set()
    arguments = node.expressions if isinstance(node, exp.Unnest) else None
    text = f"UNNEST({renderer.many(arguments)})" if arguments is not None else _call_text(node, renderer)
    reads = frozenset(renderer.reads)
    renderer.reads = held | reads
    key = None
    names: list[str] = []
    if alias is not None:
        if isinstance(alias.this, exp.Identifier):
            key = binder.key(alias.this)
        names = [binder.key(column) for column in alias.args.get("columns") or () if isinstance(column, exp.Identifier)]
    shift = offset if offset is not None else node.args.get("offset")
    if isinstance(shift, exp.Identifier):
        names.append(binder.key(shift))
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    listed = _FUNCTION_COLUMNS.get(name)
    if isinstance(node, exp.JSONTable):
        listed = tuple(
            binder.key(column.this)
            for column in node.find_all(exp.JSONColumnDef)
            if isinstance(column.this, exp.Identifier)
        )
    columns: dict[str, Value] = {}
    for i, column in enumerate(names):
        columns[column] = Value(text=text if len(names) == 1 else f"{text}[{i + 1}]", reads=reads)
    if not names and listed is not None:
        columns = {column: Value(text=f"{text}.{column}", reads=reads) for column in listed}
    if key is None and not names and name:
        key = binder.fold(name, False)
    whole = key if key is not None else (names[0] if names else None)
    if resolver.dialect in ("bigquery", "duckdb", "postgres", "snowflake") and key is not None and not names:
        # The alias names the element itself: SELECT it FROM UNNEST(items) AS it.
        columns.setdefault(key, Value(text=text, reads=reads))
    return Source(
        alias=whole, label=text, columns=columns, open=listed is None, reads=reads, identity=text,
    )  # fmt: skip


def _call_text(node: exp.Expr, renderer: Renderer) -> str:
    if isinstance(node, exp.Anonymous):  # read_csv(path, header = true): the left side is a parameter, not a column
        arguments = [
            f"{item.this.name} = {renderer.render(item.expression)}"
            if isinstance(item, (exp.EQ, exp.PropertyEQ, exp.Kwarg))
            and isinstance(item.this, (exp.Column, exp.Var, exp.Identifier))
            else renderer.render(item)
            for item in node.expressions
        ]
        return f"{str(node.this).upper()}({', '.join(arguments)})"
    if isinstance(node, exp.JSONTable):
        return f"JSON_TABLE({renderer.render(node.this)})"
    return renderer.render(node)


def _pivoted(resolver: Resolver, source: Source, pivots: list[exp.Expr], scope: Scope) -> Source:
    """PIVOT and UNPIVOT: what is named inside is read; the columns that come out are open."""
    from sqlassay.sql.render import Renderer as Reader

    inner = Scope(parent=scope.parent, ctes=scope.ctes, sources=[source])
    reader = Reader(resolver, inner)
    reads: set[str] = set(source.reads)
    kept = {key: value for key, _, value in resolver.binder.star(source)}
    alias = source.alias
    texts: list[str] = []
    for pivot in pivots:
        unpivot = bool(pivot.args.get("unpivot"))
        for column in _pivot_columns(pivot, unpivot=unpivot):
            value = reader.value(column)
            reads |= value.reads
            kept.pop(value.origin.rsplit(".", 1)[-1] if value.origin else column.name, None)
        aggregates = [*pivot.expressions, *(pivot.args.get("using") or ())]
        texts += [reader.render(one) for one in aggregates if one.find(exp.AggFunc)]
        named = pivot.args.get("alias")
        if named is not None and isinstance(named.this, exp.Identifier):
            alias = resolver.binder.key(named.this)
    if resolver.collected is not None:
        for value in kept.values():
            reads |= value.reads
            resolver.collected.columns_read |= value.reads
    label = f"PIVOT({source.label}{', ' + ', '.join(texts) if texts else ''})"
    columns = dict(kept)
    tables = (
        (source.base,)
        if source.base is not None
        else (source.identity[1] if isinstance(source.identity, tuple) else ())
    )
    return Source(
        alias=alias, label=label, columns=columns, open=True, reads=frozenset(reads) or NO_READS,
        identity=("pivot", tables, label),
    )  # fmt: skip


def _pivot_columns(pivot: exp.Expr, *, unpivot: bool) -> list[exp.Column]:
    """The input columns that a pivot names; the IN list of a PIVOT holds values, not columns."""
    found: list[exp.Column] = []
    items: list[exp.Expr] = [*pivot.expressions, *(pivot.args.get("using") or ())]
    group = pivot.args.get("group")
    if group is not None:
        items.append(group)
    for part in pivot.args.get("fields") or ():
        if isinstance(part, exp.In):
            if unpivot:
                items += part.expressions
            else:
                items.append(part.this)
        else:
            items.append(part)
    for item in items:
        if isinstance(item, exp.In) and not unpivot:
            item = item.this
        found += list(item.find_all(exp.Column))
    return found
