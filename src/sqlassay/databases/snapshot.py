"""How does a gold set get a database of its own, so that CI needs no production database?

The tables that the gold queries read are copied out of one read snapshot into one SQLite or DuckDB file, whole or as
a sample, and every gold is run on both. A sample starts from evenly spaced rows and the rows that their foreign keys
need; a table is taken whole when a gold that reads it would give another result from the sample. What a gold cannot
do in the fixture's dialect is named in the manifest, never hidden.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlassay.databases.base import Database, Session
from sqlassay.databases.connect import connect
from sqlassay.databases.lexer import Family, names, tokens
from sqlassay.databases.snapshot_files import Copied, fixture_url, quoted, write_duckdb, write_sqlite
from sqlassay.databases.snapshot_sample import sampled
from sqlassay.databases.snapshot_values import same_rows
from sqlassay.errors import ArchiveError, DatabaseUnavailable, UsageError
from sqlassay.records.execution import Execution, Rows, error_of
from sqlassay.records.plain import to_plain
from sqlassay.records.query import Understanding
from sqlassay.records.relation import Relation, Schema, TableSchema
from sqlassay.records.settings import Limits
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

Engine = Literal["sqlite", "duckdb"]
MANIFEST = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A gold query and the case it belongs to."""

    case_id: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTable:
    """A relation in the fixture: `rows` of `of_rows` were taken; `is_view` where the view itself was re-created."""

    name: str
    rows: int
    of_rows: int
    is_view: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One gold on both databases: `equal`, `different`, `fixture_error`, `source_error` or `unread` (its tables are
    unknown); `why` in words."""

    case_id: str
    outcome: Literal["equal", "different", "fixture_error", "source_error", "unread"]
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a snapshot folder holds; `checksum` is the SHA-256 of the fixture file."""

    file: str
    engine: Engine
    source: str
    source_dialect: str
    source_fingerprint: str
    sample: int | None
    tables: tuple[CopiedTable, ...]
    checks: tuple[Check, ...]
    differences: tuple[str, ...]
    checksum: str
    format: int = _FORMAT

    @property
    def all_equal(self) -> bool:
        return all(check.outcome == "equal" for check in self.checks)


def take(
    database: Database,
    golds: Sequence[Gold],
    directory: Path,
    *,
    engine: Engine | None = None,
    sample: int | None = None,
    limits: Limits = Limits(max_rows=5_000_000),
) -> Manifest:
    """Copy what `golds` read into `directory` and verify each gold on both.

    `engine` defaults to SQLite for a SQLite source, else DuckDB. `sample` is the number of rows per table to start
    from (None: whole tables).

    Raises:
        UsageError: no gold, a sample below one row, or a folder that already holds a snapshot.
        DatabaseUnavailable: a table cannot be read within the limits.
    """
    if not golds:
        raise UsageError("a snapshot needs at least one gold query")
    if sample is not None and sample < 1:
        raise UsageError("a sample needs at least one row per table")
    if (directory / MANIFEST).exists():
        raise UsageError(f"{str(directory)!r} already holds a snapshot", hint="remove it or choose another folder")
    directory.mkdir(parents=True, exist_ok=True)
    target: Engine = engine or ("sqlite" if database.capabilities.dialect == "sqlite" else "duckdb")
    schema = database.schema()
    with database.session() as session:
        wanted, unread = _relations(session, schema, golds)
        whole = {name: _read(session, schema.dialect, wanted[name], limits) for name in wanted}
        expected = {gold: session.execute(gold.sql, limits=limits) for gold in golds}
    path = directory / f"snapshot.{'db' if target == 'sqlite' else 'duckdb'}"
    views = _views(schema, golds) if _family(schema.dialect) == target else ()
    kept_whole: set[str] = set() if sample is not None else set(wanted)
    while True:
        copied = sampled(whole, sample or 0, kept_whole)
        without_keys = _write(path, target, copied, views)
        checks = tuple(_checked(path, target, golds, expected, unread, limits))
        failing = {check.case_id for check in checks if check.outcome == "different"}
        more = _tables_of(session_schema=schema, golds=golds, failing=failing, wanted=wanted) - kept_whole
        if not more:
            break
        kept_whole |= more
    manifest = Manifest(
        file=path.name,
        engine=target,
        source=database.url,
        source_dialect=schema.dialect,
        source_fingerprint=database.fingerprint(),
        sample=sample,
        tables=tuple(
            CopiedTable(name=name, rows=len(copied[name].rows), of_rows=len(whole[name].rows))
            for name in sorted(copied)
        )
        + tuple(CopiedTable(name=view.name, rows=0, of_rows=0, is_view=True) for view in views),
        checks=checks,
        differences=_differences(schema, target, wanted.values(), checks)
        + tuple(f"table {name} has no keys in the snapshot: its rows break them" for name in without_keys),
        checksum=_checksum(path),
    )
    text = json.dumps(to_plain(manifest), indent=2, ensure_ascii=False, sort_keys=True)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a snapshot folder.

    Raises:
        ArchiveError: there is none, or it is of another format.
    """
    try:
        plain = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        tables = tuple(CopiedTable(**table) for table in plain.pop("tables"))
        checks = tuple(Check(**check) for check in plain.pop("checks"))
        manifest = Manifest(**{**plain, "tables": tables, "checks": checks, "differences": tuple(plain["differences"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{str(directory)!r} holds no readable snapshot ({error})") from None
    if manifest.format != _FORMAT:
        raise ArchiveError(f"{str(directory)!r} holds a snapshot of format {manifest.format}, not {_FORMAT}")
    return manifest


def throwaway_copy(directory: Path, into: Path) -> str:
    """Copy the fixture into the folder `into` and give its URL; the snapshot itself is never opened.

    Raises:
        ArchiveError: there is no snapshot, or the fixture is not the file that the manifest describes.
    """
    manifest = read_manifest(directory)
    source = directory / manifest.file
    if not source.is_file() or _checksum(source) != manifest.checksum:
        raise ArchiveError(
            f"{str(source)!r} is not the file that {MANIFEST} describes (its checksum differs)",
            hint="take the snapshot again",
        )
    into.mkdir(parents=True, exist_ok=True)
    copy = into / manifest.file
    shutil.copyfile(source, copy)
    return fixture_url(copy, manifest.engine)


def _family(dialect: str) -> Family:
    families: dict[str, Family] = {"sqlite": "sqlite", "duckdb": "duckdb", "mysql": "mysql"}
    return families.get(dialect, "postgres")


def _relations(
    session: Session, schema: Schema, golds: Sequence[Gold]
) -> tuple[Mapping[str, TableSchema], frozenset[str]]:
    """Base tables that the golds read (and views where these say nothing), by lower-case name; unread case ids."""
    known = {table.name.lower(): table for table in schema.tables}
    wanted: dict[str, TableSchema] = {}
    unread: set[str] = set()
    for gold in golds:
        read = _read_by(session, schema, gold.sql)
        if read is None:
            unread.add(gold.case_id)
            continue
        for name in read:
            table = known.get(name.lower())
            if table is not None:
                wanted[name.lower()] = table
    return wanted, frozenset(unread)


def _read_by(session: Session, schema: Schema, sql: str) -> tuple[str, ...] | None:
    """Base tables and, for a fixture of another dialect, views as named: the engine's word first, then the parser's."""
    account = session.account(sql)
    understood = understand(sql, index(schema))
    named = understood.tables if isinstance(understood, Understanding) else ()
    base = account.base_tables if account is not None else None
    if base is None and isinstance(understood, Understanding):
        base = understood.base_tables or understood.tables
    return None if base is None else tuple(sorted({*base, *named}))


def _read(session: Session, dialect: str, table: TableSchema, limits: Limits) -> Copied:
    execution = session.execute(f"SELECT * FROM {quoted(table.name, dialect)}", limits=limits)
    if not isinstance(execution, Rows) or execution.relation.truncated:
        failure = error_of(execution)
        why = failure[1] if failure else f"it has more than {limits.max_rows:,} rows or {limits.max_bytes:,} bytes"
        raise DatabaseUnavailable(f"table {table.name!r} cannot be copied: {why}")
    relation = execution.relation
    return Copied(table=table, columns=relation.columns, rows=list(relation.tuples()))


def _views(schema: Schema, golds: Sequence[Gold]) -> tuple[TableSchema, ...]:
    """Views that a gold, or a view that it names, mentions; in the order of the schema."""
    family = _family(schema.dialect)
    views = {table.name.lower(): table for table in schema.tables if table.is_view and table.view_sql}
    mentioned: set[str] = set()
    texts = [gold.sql for gold in golds]
    while texts:
        new = (set(names(list(tokens(texts.pop(), family)))) & views.keys()) - mentioned
        mentioned |= new
        texts += [views[name].view_sql or "" for name in sorted(new)]
    return tuple(views[name] for name in views if name in mentioned)


def _write(path: Path, engine: Engine, copied: Mapping[str, Copied], views: Sequence[TableSchema]) -> list[str]:
    named = {view.name.lower() for view in views}
    tables = [copied[name] for name in sorted(copied) if name not in named]
    for leftover in (path, path.with_name(path.name + ".wal")):
        leftover.unlink(missing_ok=True)
    if engine == "sqlite":
        write_sqlite(path, tables, views)
        return []
    return write_duckdb(path, tables, views)


def _checked(
    path: Path,
    engine: Engine,
    golds: Sequence[Gold],
    expected: Mapping[Gold, Execution],
    unread: frozenset[str],
    limits: Limits,
) -> Iterable[Check]:
    fixture = connect(fixture_url(path, engine), name="snapshot")
    try:
        for gold in golds:
            if gold.case_id in unread:
                yield Check(case_id=gold.case_id, outcome="unread", why="the tables it reads cannot be told")
                continue
            with fixture.session() as session:
                yield _compared(gold, expected[gold], session.execute(gold.sql, limits=limits))
    finally:
        fixture.close()


def _compared(gold: Gold, source: Execution, fixture: Execution) -> Check:
    if not isinstance(source, Rows):
        failure = error_of(source)
        return Check(case_id=gold.case_id, outcome="source_error", why=failure[1] if failure else "not run")
    if not isinstance(fixture, Rows):
        failure = error_of(fixture)
        return Check(
            case_id=gold.case_id,
            outcome="fixture_error",
            why=f"{failure[0].value}: {failure[1]}" if failure else "not run",
        )
    if same_rows(source.relation, fixture.relation):
        return Check(case_id=gold.case_id, outcome="equal")
    return Check(case_id=gold.case_id, outcome="different", why=_difference(source.relation, fixture.relation))


def _difference(source: Relation, fixture: Relation) -> str:
    if (source.height, source.width) != (fixture.height, fixture.width):
        return (
            f"{source.height} rows of {source.width} columns in the source, "
            f"{fixture.height} of {fixture.width} in the snapshot"
        )
    return f"{source.height} row{'s' if source.height != 1 else ''} on both sides, with other values"


def _tables_of(
    *, session_schema: Schema, golds: Sequence[Gold], failing: set[str], wanted: Mapping[str, TableSchema]
) -> set[str]:
    """The copied tables that the failing golds read, through views too."""
    found: set[str] = set()
    for gold in golds:
        if gold.case_id in failing:
            understood = understand(gold.sql, index(session_schema))
            if isinstance(understood, Understanding):
                found |= {name.lower() for name in (*understood.tables, *(understood.base_tables or wanted))}
            else:
                found |= wanted.keys()
    return found & wanted.keys()


def _differences(
    schema: Schema,
    engine: Engine,
    tables: Iterable[TableSchema],
    checks: Sequence[Check],
) -> tuple[str, ...]:
    found = []
    if _family(schema.dialect) != engine:
        found.append(f"the source speaks {schema.dialect}, the snapshot {engine}: what each gold does is in checks")
        found += [f"view {table.name} is stored as a table" for table in tables if table.is_view]
    errors = [check for check in checks if check.outcome == "fixture_error"]
    found += [f"case {check.case_id} does not run in the snapshot: {check.why}" for check in errors]
    found += [
        f"case {check.case_id} gives another result: {check.why}" for check in checks if check.outcome == "different"
    ]
    return tuple(found)


def _checksum(path: Path) -> str:
    state = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            state.update(block)
    return state.hexdigest()
