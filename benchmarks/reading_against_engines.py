"""How often does the parser agree with the engines about what a query reads and returns?

SQLite: all gold queries and predictions of the Spider development set against SQLite's authorizer and column metadata.
PostgreSQL: defog's gold queries against the server's row descriptions and its dependency catalogue.

    python benchmarks/reading_against_engines.py sqlite
    python benchmarks/reading_against_engines.py postgres --server postgresql://postgres@127.0.0.1

Prints agreements and every difference. The data lie in SQLASSAY_PUBLIC_DATA, else beside the checkout.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from sqlassay.records.query import Understanding
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The engine's account; None where it says nothing."""

    tables: frozenset[str]
    columns: frozenset[str]
    origins: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One query on which engine and parser differ, and in what."""

    part: str
    ours: str
    engine: str
    sql: str


@dataclass(slots=True)
class Tally:
    """Agreement over a set of queries."""

    queries: int = 0
    refused: int = 0
    unresolved: list[tuple[str, str]] = field(default_factory=list)
    agreed: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    def check(self, sql: str, schema: SchemaIndex, truth: Truth | None) -> None:
        """Read `sql` and compare with the engine."""
        self.queries += 1
        started = time.perf_counter()
        understood = understand(sql, schema)
        self.seconds += time.perf_counter() - started
        if truth is None:
            self.refused += 1
            return
        if not isinstance(understood, Understanding) or understood.unknown_names:
            why = f"unknown {understood.unknown_names}" if isinstance(understood, Understanding) else understood.why
            self.unresolved.append((why, sql))
            return
        self._compare("tables", frozenset(understood.base_tables or ()), truth.tables, sql)
        self._compare("columns_read", frozenset(understood.columns_read), truth.columns, sql)
        if understood.origins == truth.origins:
            self.agreed["origins"] += 1
        else:
            self.differences.append(
                Difference(part="origins", ours=str(understood.origins), engine=str(truth.origins), sql=sql)
            )

    def _compare(self, part: str, ours: frozenset[str], engine: frozenset[str], sql: str) -> None:
        if ours == engine:
            self.agreed[part] += 1
        else:
            only_ours, only_engine = str(sorted(ours - engine)), str(sorted(engine - ours))
            self.differences.append(Difference(part=part, ours=only_ours, engine=only_engine, sql=sql))


class SqliteEngine:
    """SQLite's own account of a statement, without running it."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)

    def schema(self) -> Schema:
        """Tables and views as SQLite keeps them."""
        listed = list(
            self.connection.execute("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')")
        )
        tables = []
        for name, kind, sql in listed:
            info = list(self.connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)))
            tables.append(
                TableSchema(
                    name=name,
                    columns=tuple(row[0] for row in info),
                    types=tuple(row[1] for row in info),
                    primary_key=tuple(row[0] for row in info if row[2]),
                    is_view=kind == "view",
                    view_sql=sql if kind == "view" else None,
                )
            )
        return Schema(dialect="sqlite", tables=tuple(tables), default_schema="main")

    def truth(self, sql: str) -> Truth | None:
        """READ events of the authorizer and the origins of the output columns; None when SQLite refuses `sql`."""
        tables: set[str] = set()
        columns: set[str] = set()
        origins: list[str | None] = []

        def authorize(action: int, table: str | None, column: str | None, *_: object) -> int:
            if action == apsw.SQLITE_READ and table:
                tables.add(table.lower())
                if column:
                    columns.add(f"{table}.{column}".lower())
            return int(apsw.SQLITE_OK)

        def stop(cursor: apsw.Cursor, *_: object) -> bool:
            origins.extend(
                f"{item[3]}.{item[4]}".lower() if item[3] and item[4] else None for item in cursor.description_full
            )
            return False

        cursor = self.connection.cursor()
        self.connection.authorizer, cursor.exec_trace = authorize, stop
        try:
            cursor.execute(sql, can_cache=False)
        except apsw.ExecTraceAbort:
            return Truth(tables=frozenset(tables), columns=frozenset(columns), origins=tuple(origins))
        except apsw.Error:
            return None
        finally:
            self.connection.authorizer = None
        return None


def spider_queries(root: Path) -> Iterator[tuple[str, str, str]]:
    """(set, database, query) of the gold and of every prediction set, on the databases that have rows."""
    cases = [json.loads(line) for line in (root / "cases.jsonl").read_text("utf-8").splitlines()]
    databases = {case["id"]: case["db"] for case in cases if case["db_complete"]}
    for case in cases:
        if case["db_complete"]:
            yield "gold", case["db"], case["gold_sql"]
    for path in sorted((root / "predictions").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["id"] in databases and row["sql"]:
                yield path.stem, databases[row["id"]], row["sql"]


def against_sqlite(root: Path = DATA / "spider_dev") -> dict[str, Tally]:
    """Tallies by set of queries."""
    engines: dict[str, tuple[SqliteEngine, SchemaIndex]] = {}
    tallies: dict[str, Tally] = {}
    for name, database, sql in spider_queries(root):
        if database not in engines:
            engine = SqliteEngine(root / "database" / database / f"{database}.sqlite")
            engines[database] = engine, index(engine.schema())
        engine, schema = engines[database]
        tallies.setdefault(name, Tally()).check(sql, schema, engine.truth(sql))
    return tallies


_CHOICE = re.compile(r"\{([^{}]*)\}")


def defog_variants(gold: str) -> list[str]:
    """`{a, b}` stands for any non-empty subset and `{}` for the same again: all, the first and the last are read."""
    found = _CHOICE.search(gold)
    if found is None:
        return [gold]
    names = re.split(r",(?![^()]*\))", found.group(1))
    written = []
    for kept in (names, names[:1], names[-1:]):
        chosen = ", ".join(kept)
        bare = ", ".join(re.sub(r"(?i)\s+as\s+\w+\s*$", "", name) for name in kept)
        first = gold[: found.start()] + chosen + gold[found.end() :]
        written += defog_variants(first.replace("{}", bare))
    return list(dict.fromkeys(written))


def load_dumps(server: str, root: Path) -> dict[str, str]:
    """URLs by name, of one database per dump, made where it is missing; needs `psql` and the right to create them."""
    import psycopg

    urls = {}
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        there = {row[0] for row in admin.execute("SELECT datname FROM pg_database")}
        for dump in sorted((root / "postgres_dumps").glob("*.sql")):
            name = f"sqlassay_defog_{dump.stem}"
            urls[dump.stem] = f"{server}/{name}"
            if name not in there:
                admin.execute(f'CREATE DATABASE "{name}"')
                subprocess.run(
                    ["psql", "-q", "-v", "ON_ERROR_STOP=0", "-d", urls[dump.stem], "-f", str(dump)],
                    check=True, capture_output=True,
                )  # fmt: skip
    return urls


_COLUMNS = """SELECT c.oid, n.nspname, c.relname, c.relkind, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relkind IN ('r', 'v', 'm', 'p')
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.oid, a.attnum"""
_READ = """SELECT DISTINCT d.refobjid, d.refobjsubid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
WHERE r.ev_class = 'sqlassay_probe'::regclass AND d.refclassid = 'pg_class'::regclass
AND d.refobjid <> r.ev_class"""


class PostgresEngine:
    """PostgreSQL's own account: row descriptions, and what a temporary view of the query depends on."""

    def __init__(self, url: str) -> None:
        import psycopg

        self.connection = psycopg.connect(url)
        self.names: dict[int, str] = {}
        self.columns: dict[tuple[int, int], str] = {}
        tables: dict[str, list[tuple[str, str]]] = {}
        for oid, schema, table, _, number, column, kind in self.connection.execute(_COLUMNS):
            name = table if schema == "public" else f"{schema}.{table}"
            self.names[oid] = name
            self.columns[oid, number] = f"{name}.{column}"
            tables.setdefault(name, []).append((column, kind))
        self.connection.rollback()
        self.schema = Schema(
            dialect="postgres",
            tables=tuple(
                TableSchema(name=name, columns=tuple(c for c, _ in listed), types=tuple(t for _, t in listed))
                for name, listed in tables.items()
            ),
            default_schema="public",
        )

    def truth(self, sql: str) -> Truth | None:
        """None when PostgreSQL refuses the query."""
        import psycopg

        body = sql.strip().rstrip(";")
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(f"SELECT * FROM ({body}) AS probe LIMIT 0".encode())
                result = cursor.pgresult
                assert result is not None
                # The row description of the query itself, not of the probe around it.
                cursor.execute(body.encode())
                result = cursor.pgresult
                assert result is not None
                origins = tuple(
                    self.columns.get((result.ftable(i), result.ftablecol(i))) for i in range(result.nfields)
                )
                cursor.execute(f"CREATE TEMP VIEW sqlassay_probe AS SELECT 1 AS one FROM ({body}) AS probe".encode())
                rows = cursor.execute(_READ).fetchall()
        except psycopg.Error:
            return None
        finally:
            self.connection.rollback()
        read = {self.columns[row] for row in rows if row in self.columns}
        return Truth(
            tables=frozenset(self.names[oid] for oid, _ in rows if oid in self.names),
            columns=frozenset(read),
            origins=origins,
        )


def against_postgres(databases: Mapping[str, str], root: Path = DATA / "defog") -> dict[str, Tally]:
    """One tally over every gold query of defog; `databases` holds the URL of each of its databases by name."""
    engines = {name: PostgresEngine(url) for name, url in databases.items()}
    tally = Tally()
    with contextlib.ExitStack() as stack:
        for engine in engines.values():
            stack.callback(engine.connection.close)
        _read_golds(tally, engines, root)
    return {"gold": tally}


def _read_golds(tally: Tally, engines: Mapping[str, PostgresEngine], root: Path) -> None:
    for line in (root / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        if case["dialect"] != "postgres":
            continue
        engine = engines[case["db"]]
        golds = list(itertools.chain.from_iterable(map(defog_variants, case["gold_sql_alternatives"])))
        for gold in golds:
            tally.check(gold, index(engine.schema), engine.truth(gold))


def main() -> None:
    """Print the tallies and what differs."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engine", choices=("sqlite", "postgres"))
    arguments.add_argument("--server", default="postgresql://postgres@127.0.0.1")
    chosen = arguments.parse_args()
    if chosen.engine == "sqlite":
        tallies = against_sqlite()
    else:
        tallies = against_postgres(load_dumps(chosen.server, DATA / "defog"))
    for name, tally in tallies.items():
        agreed = ", ".join(f"{part} {count}" for part, count in sorted(tally.agreed.items()))
        rate = 1000 * tally.seconds / max(tally.queries, 1)
        print(
            f"{name}: {tally.queries} queries, {tally.refused} refused by the engine, "
            f"{len(tally.unresolved)} unresolved; agreed: {agreed}; {rate:.2f} ms a query"
        )
        for why, sql in tally.unresolved:
            print(f"  unresolved ({why}): {sql}")
        for each in tally.differences:
            print(f"  {each.part}: ours {each.ours}, engine {each.engine}: {each.sql}")


if __name__ == "__main__":
    main()
