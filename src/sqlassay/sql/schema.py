"""Which relation and which column does a name mean? Built once per schema; only named tables are looked at."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.names import Naming, canonical_dialect, naming


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One table or view with its columns folded: folded column name to its written form."""

    name: str
    """As evidence writes it: folded, without a default-schema prefix."""
    columns: dict[str, str]
    loose: dict[str, str] = field(default_factory=dict)
    """Lower-case name to folded name, where a schema was written by hand and its case means nothing."""
    table: TableSchema | None = None
    rowid: str | None = None
    """SQLite: the written column that `rowid` means (an INTEGER PRIMARY KEY, else `rowid` itself)."""
    open: bool = False
    """The columns are not known: a name may be any column of it (system catalogues, tables without a schema)."""


class SchemaIndex:
    """Name look-ups in one schema. `key` identifies dialect and content for caches.

    >>> from sqlassay.records.relation import Schema, TableSchema
    >>> shop = index(Schema(dialect="sqlite", tables=(TableSchema(name="Orders", columns=("Id",)),)))
    >>> shop.relation(("main", "ORDERS")).columns
    {'id': 'id'}
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.dialect = canonical_dialect(schema.dialect)
        self.naming: Naming = naming(self.dialect)
        self.key = (self.dialect, schema.fingerprint or _digest(schema))
        self.collated = schema.collated
        self.empty = not schema.tables
        default = schema.default_schema
        self._defaults = set(self.naming.default_schemas)
        if default:
            self._defaults.add(self.naming.relations(default, True))
        self._tables: dict[str, TableSchema] = {}
        self._loose: dict[str, TableSchema] = {}
        # A schema whose columns carry types was read from an engine, so its spelling is the stored one;
        # one written by hand may be in any case.
        by_hand = not any(table.types for table in schema.tables)
        for table in schema.tables:
            name = self.naming.relations(table.name, True)
            self._tables.setdefault(self._strip(name), table)
            if by_hand:
                self._loose.setdefault(self._strip(name).lower(), table)
        self._by_hand = by_hand
        self._relations: dict[str, Relation] = {}

    def _strip(self, name: str) -> str:
        head, dot, rest = name.partition(".")
        return rest if dot and head in self._defaults else name

    def written(self, parts: tuple[str, ...]) -> str:
        """Folded name parts as evidence writes them, a default-schema prefix (and its catalogue) dropped."""
        if len(parts) > 1 and parts[-2] in self._defaults:
            parts = parts[-1:]
        return ".".join(self.naming.written(part) for part in parts)

    def relation(self, parts: tuple[str, ...]) -> Relation | None:
        """The relation that the folded `parts` (catalogue, schema, name) mean; None when the schema has none."""
        written = self.written(parts)
        known = self._relations.get(written)
        if known is not None:
            return known
        table = self._find(parts)
        if table is None:
            return None
        relation = self._open_up(table, written)
        self._relations[written] = relation
        return relation

    def named(self, written: str) -> Relation | None:
        """The relation that evidence calls `written`, once a query has named it."""
        return self._relations.get(written)

    def _find(self, parts: tuple[str, ...]) -> TableSchema | None:
        if len(parts) > 1 and parts[-2] in self._defaults:
            parts = parts[-1:]
        for start in range(len(parts)):
            name = ".".join(parts[start:])
            table = self._tables.get(name)
            if table is None:
                table = self._loose.get(name.lower())
            if table is not None:
                return table
            if start and self.naming.dialect in ("sqlite",):
                break
        return None

    def _open_up(self, table: TableSchema, written: str) -> Relation:
        fold, show = self.naming.columns, self.naming.written
        columns: dict[str, str] = {}
        loose: dict[str, str] = {}
        plain = {name for name in table.columns if fold(name, False) == name}
        for name in table.columns:
            key = fold(name, True)
            if self._by_hand and name not in plain and fold(name, False) not in plain | columns.keys():
                key = fold(name, False)
            columns.setdefault(key, show(key))
            if self._by_hand:
                loose.setdefault(name.lower(), key)
        return Relation(name=written, columns=columns, loose=loose, table=table, rowid=self._rowid(table, columns))

    def _rowid(self, table: TableSchema, columns: dict[str, str]) -> str | None:
        if self.dialect != "sqlite" or table.is_view:
            return None
        if len(table.primary_key) == 1 and table.types:
            key = self.naming.columns(table.primary_key[0], True)
            for name, declared in zip(table.columns, table.types, strict=False):
                if self.naming.columns(name, True) == key and declared.strip().upper() == "INTEGER":
                    return columns[key]
        return "rowid"


@dataclass(slots=True)
class _Recent:
    """The few indexes in use; a run touches a handful of schemas."""

    size: int = 64
    held: OrderedDict[tuple[str, str], SchemaIndex] = field(default_factory=OrderedDict)
    by_identity: dict[int, SchemaIndex] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


_RECENT = _Recent()


def index(schema: Schema) -> SchemaIndex:
    """The index of `schema`, built once per fingerprint and kept while it is among the recently used."""
    with _RECENT.lock:
        same = _RECENT.by_identity.get(id(schema))
        if same is not None and same.schema is schema:
            return same
    key = (canonical_dialect(schema.dialect), schema.fingerprint or _digest(schema))
    with _RECENT.lock:
        found = _RECENT.held.get(key)
        if found is not None:
            _RECENT.held.move_to_end(key)
            return found
    built = SchemaIndex(schema)
    with _RECENT.lock:
        _RECENT.held[key] = built
        _RECENT.by_identity[id(schema)] = built
        while len(_RECENT.held) > _RECENT.size:
            _, dropped = _RECENT.held.popitem(last=False)
            _RECENT.by_identity.pop(id(dropped.schema), None)
    return built


def _digest(schema: Schema) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((schema.dialect, schema.default_schema, schema.collated)).encode("utf-8", "backslashreplace"))
    for table in schema.tables:
        parts = (table.name, table.columns, table.types, table.primary_key, table.view_sql)
        digest.update(repr(parts).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
