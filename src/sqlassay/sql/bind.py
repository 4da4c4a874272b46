"""Which column does a name mean here? The binding rules, by clause and dialect."""

from __future__ import annotations

from sqlglot import exp

from sqlassay.sql.schema import SchemaIndex
from sqlassay.sql.scope import Collected, Scope, Source, Value


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ROWID = frozenset({"rowid", "oid", "_rowid_"})
_PSEUDO: dict[str, frozenset[str]] = {
    "oracle": _names(
        "NEXTVAL CURRVAL ROWNUM LEVEL ROWID SYSDATE SYSTIMESTAMP USER UID ORA_ROWSCN "
        "CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE"
    ),
    "postgres": _names("ctid xmin xmax cmin cmax tableoid current_user session_user user current_role"),
    "bigquery": _names("_table_suffix _partitiontime _partitiondate _file_name _change_type _change_timestamp"),
    "duckdb": frozenset({"rowid", "filename"}),
    "clickhouse": frozenset({"_part", "_table", "_partition_id", "_path", "_file"}),
    "snowflake": frozenset({"METADATA$FILENAME", "METADATA$FILE_ROW_NUMBER", "METADATA$ACTION", "METADATA$ROW_ID"}),
    "databricks": frozenset({"_metadata"}),
    "tsql": frozenset({"$partition", "$action"}),
}
_CLOCKS = frozenset({"SYSDATE", "SYSTIMESTAMP"})


class Binder:
    """Looks names up in scopes; records what was read, known, unknown and ambiguous."""

    def __init__(self, text: str, index: SchemaIndex, collected: Collected) -> None:
        self.text = text
        self.index = index
        self.collected = collected
        self.fold = index.naming.columns
        self.dialect = index.dialect
        self._pseudo = _PSEUDO.get(self.dialect, frozenset())

    def key(self, identifier: exp.Identifier) -> str:
        return self.fold(identifier.this, bool(identifier.args.get("quoted")))

    def column(self, node: exp.Column, scope: Scope) -> Value | exp.Expr:
        """The value that a column reference has, or the aliased expression that it stands for."""
        args = node.args
        name = args["this"]
        if not isinstance(name, exp.Identifier):
            return Value(text=str(name), sure=False)
        table = args.get("table")
        if table is None:
            return self._bare(name, scope)
        return self._qualified(node, name, table, scope)

    def source(self, alias: str, scope: Scope | None, schema: str | None = None) -> Source | None:
        """The source called `alias`, innermost scope first."""
        while scope is not None:
            for source in scope.sources:
                if source.alias == alias and (
                    schema is None or (source.parts and (len(source.parts) < 2 or source.parts[-2] == schema))
                ):
                    return source
            scope = scope.parent
        return None

    def _qualified(self, node: exp.Column, name: exp.Identifier, table: exp.Identifier, scope: Scope) -> Value:
        key, alias = self.key(name), self.key(table)
        schema = node.args.get("db")
        source = self.source(alias, scope)
        if source is None and schema is not None:
            source = self.source(self.key(schema), scope)
            if source is not None:  # alias.column.field of a structured column
                return self._inside(self._of(source, alias, table.this), key)
        if source is None and key in self._pseudo:
            return Value(text=f"{alias}.{key}".lower())
        if source is None:
            outer = node.args.get("catalog") or schema or table
            base = self._find(self.key(outer), scope)
            if isinstance(base, Value):  # column.field of a structured column
                return self._inside(base, key)
            written = f"{self.index.naming.written(alias)}.{self.index.naming.written(key)}"
            self.collected.unknown.add(written)
            return Value(text=written, sure=False)
        return self._of(source, key, name.this)

    def _inside(self, value: Value, key: str) -> Value:
        return Value(text=f"{value.text}.{key}", reads=value.reads, aggregate=value.aggregate, sure=value.sure)

    def _of(self, source: Source, key: str, name: str) -> Value:
        value = source.column(key)
        if value is not None:
            return self._read(value, source)
        if source.relation is not None and source.relation.rowid is not None and key in _ROWID:
            return self._rowid(source)
        if source.open:
            return self._assumed(source, key)
        written = f"{source.base or source.label}.{self.index.naming.written(key)}"
        if key in self._pseudo:
            return Value(text=written, reads=frozenset())
        self.collected.unknown.add(written if source.base else name)
        return Value(text=written, sure=False)

    def _read(self, value: Value, source: Source) -> Value:
        if source.base is not None and value.origin is not None:
            self.collected.columns_read.add(value.origin)
            self.collected.known.add(value.origin)
        return value

    def _rowid(self, source: Source) -> Value:
        assert source.relation is not None
        name = f"{source.base}.{source.relation.rowid}"
        self.collected.columns_read.add(name)
        return Value(text=f"{source.label}.{source.relation.rowid}", origin=name, reads=frozenset((name,)))

    def _assumed(self, source: Source, key: str) -> Value:
        """A column of a source whose columns are not known."""
        written = self.index.naming.written(key)
        if source.base is None:
            return Value(text=f"{source.label}.{written}", reads=source.reads)
        name = f"{source.base}.{written}"
        if source.unknown:
            self.collected.unknown.add(name)
        self.collected.columns_read.add(name)
        return Value(text=f"{source.label}.{written}", origin=name, reads=frozenset((name,)), sure=not source.unknown)

    def _bare(self, name: exp.Identifier, scope: Scope) -> Value | exp.Expr:
        key = self.key(name)
        found = self._find(key, scope)
        if found is not None:
            return found
        at: Scope | None = scope
        while at is not None:
            opened = [source for source in at.sources if source.open]
            if opened and self._quoted_in(name) != "string":
                named = [source for source in opened if source.base is not None and not source.unknown]
                return self._assumed((named or opened)[0], key)
            at = at.parent
        return self._leftover(name, key, scope)

    def _find(self, key: str, scope: Scope) -> Value | exp.Expr | None:
        """Exact matches only: innermost scope first; in each, columns before aliases unless the clause says not."""
        at: Scope | None = scope
        while at is not None:
            if at.alias_first and key in at.aliases and key not in at.resolving:
                return at.aliases[key]
            merged = at.merged.get(key)
            if merged is not None:
                for read in merged.reads:
                    self.collected.columns_read.add(read)
                    self.collected.known.add(read)
                return merged
            matches: list[tuple[Value, Source]] = []
            for source in at.sources:
                value = source.column(key)
                if value is not None:
                    matches.append((value, source))
            if matches:
                if len(matches) > 1 and self.collected.ambiguous is None:
                    places = ", ".join(sorted({source.base or "a subquery" for _, source in matches}))
                    self.collected.ambiguous = f"column {key!r} is ambiguous: {places}"
                return self._read(*matches[0])
            if key in _ROWID:
                for source in at.sources:
                    if source.relation is not None and source.relation.rowid is not None:
                        return self._rowid(source)
            if at.alias_fallback and key in at.aliases and key not in at.resolving:
                return at.aliases[key]
            at = at.parent
        return scope.ctes.scalar(key)

    def _leftover(self, name: exp.Identifier, key: str, scope: Scope) -> Value:
        if key in self._pseudo:
            if key in _CLOCKS:
                self.collected.clock = True
            return Value(text=key)
        if self._quoted_in(name) == "string":
            return Value(text="'" + name.this.replace("'", "''") + "'")
        source = self.source(key, scope)
        if source is not None:  # the whole row of a source
            reads: set[str] = set()
            for output in self.star(source):
                reads |= output[2].reads
            self.collected.columns_read |= reads
            return Value(text=f"{source.label}.*", reads=frozenset(reads))
        written = self.index.naming.written(key)
        self.collected.unknown.add(written)
        return Value(text=written, sure=False)

    def _quoted_in(self, name: exp.Identifier) -> str | None:
        """SQLite reads `"typo"` as a string where no column has that name; other quotes do not fall back."""
        if self.dialect != "sqlite" or not name.args.get("quoted"):
            return None
        start = (name.meta or {}).get("start")
        if start is None or not 0 <= start < len(self.text):
            return None
        return "string" if self.text[start] == '"' else None

    def star(self, source: Source) -> list[tuple[str, str, Value]]:
        """Every column of a source, in order: folded name, written name, value."""
        if source.outputs is not None:
            return [(output.key, output.name, output.value) for output in source.outputs]
        if source.relation is not None and not source.renamed:
            found = []
            for key, written in source.relation.columns.items():
                value = source.columns.get(key)
                if value is not None:
                    found.append((key, written, value))
            return found
        return [(key, key, value) for key, value in source.columns.items()]
