"""On how many of Spider dev's gold queries do DuckDB and PostgreSQL agree with SQLite, and which are the rest?

    python benchmarks/spider_on_engines.py --server postgresql://postgres@127.0.0.1 [--list FILE.md]

Every database is loaded table by table: numbers as numbers, everything else as text, names in lower case for PostgreSQL
(which folds what is not quoted). The SQL is run as it is written, so that what differs is the dialect and not a
translation. The data lie in SQLASSAY_PUBLIC_DATA, else beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlassay.databases import connect
from sqlassay.databases.snapshot_files import Copied, write_duckdb
from sqlassay.databases.snapshot_values import same_rows
from sqlassay.errors import MissingExtra, SqlassayError
from sqlassay.records.execution import Execution, Rows, error_of
from sqlassay.records.relation import Row
from sqlassay.records.settings import Limits

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
LIMITS = Limits(timeout_s=60)
PREFIX = "sqlassay_spider_"
HEAD = """# Spider dev on other engines

Made by `benchmarks/spider_on_engines.py`: the 972 gold queries on databases that have rows, run as they are written
on the same rows in SQLite and in the engine named. The numbers are the queries' positions in Spider's dev file. Numbers
are kept as numbers, all else as text; what differs is the dialect, or a choice that the gold leaves open.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A gold query of Spider dev: its position in the file, its database, its text."""

    index: int
    database: str
    sql: str


def golds() -> Mapping[str, list[Gold]]:
    """The gold queries on databases that have rows, by database."""
    found: dict[str, list[Gold]] = defaultdict(list)
    with (DATA / "spider_dev" / "cases.jsonl").open(encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            if case["db_complete"]:
                found[case["db"]].append(Gold(index=case["index"], database=case["db"], sql=case["gold_sql"]))
    return found


def sqlite_url(name: str) -> str:
    folder = DATA / "spider_dev" / "database" / name
    return f"sqlite:///{next(iter(sorted(folder.rglob('*.sqlite')))).absolute()}"


def tables_of(url: str) -> list[Copied]:
    """All base tables with their rows; without keys, because rows of Spider break them."""
    copied = []
    with closing(connect(url)) as database, database.session() as session:
        for table in database.schema().tables:
            if table.is_view:
                continue
            execution = session.execute(f'SELECT * FROM "{table.name}"', limits=LIMITS)
            assert isinstance(execution, Rows), execution
            relation = execution.relation
            copied.append(Copied(table=table, columns=relation.columns, rows=list(relation.tuples())))
    return copied


def results(url: str, queries: Sequence[Gold]) -> list[Execution]:
    found = []
    with closing(connect(url)) as database:
        for gold in queries:
            with database.session() as session:
                found.append(session.execute(gold.sql, limits=LIMITS))
    return found


def postgres_type(cells: Sequence[object]) -> str:
    types = {type(cell) for cell in cells} - {type(None)}
    if types == {int}:
        return "bigint"
    return "double precision" if types and types <= {int, float} else "text"


def as_cell(value: object, type_: str) -> object:
    return value if value is None or type_ != "text" or isinstance(value, str) else str(value)


@contextmanager
def on_postgres(server: str, name: str, tables: Sequence[Copied]) -> Iterator[str]:
    """A database with the tables for as long as the block lasts; texts are ordered by bytes, as in SQLite."""
    import psycopg

    own = PREFIX + name.lower()
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {own} WITH (FORCE)".encode())
        admin.execute(f"CREATE DATABASE {own} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'".encode())
        try:
            with psycopg.connect(f"{server}/{own}") as connection:
                for copied in tables:
                    fill(connection, copied)
            yield f"{server}/{own}"
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {own} WITH (FORCE)".encode())


def fill(connection: object, copied: Copied) -> None:
    import psycopg

    assert isinstance(connection, psycopg.Connection)
    columns = [column.lower() for column in copied.table.columns]
    types = [postgres_type([row[i] for row in copied.rows]) for i in range(len(columns))]
    name = '"' + copied.table.name.lower() + '"'
    declared = ", ".join(f'"{column}" {type_}' for column, type_ in zip(columns, types, strict=True))
    connection.execute(f"CREATE TABLE {name} ({declared})".encode())
    with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
        row: Row
        for row in copied.rows:
            copy.write_row([as_cell(cell, type_) for cell, type_ in zip(row, types, strict=True)])


def verdict(gold: Gold, source: Execution, other: Execution) -> str:
    """Why the results are not the same; empty where they are."""
    assert isinstance(source, Rows), (gold, source)
    if not isinstance(other, Rows):
        kind, message = error_of(other) or (None, "not run")
        return f"{kind.value if kind else 'other'}: {reason(message)}"
    if same_rows(source.relation, other.relation):
        return ""
    lowered = gold.sql.lower()
    if " limit " in lowered and source.relation.height == other.relation.height:
        return "other rows at a tie that LIMIT cuts"
    if " like " in lowered:
        return "LIKE minds the case"
    return "other values"


def reason(message: str) -> str:
    """The kind of a message: names and texts in it taken out."""
    first = message.strip().splitlines()[0]
    for words, meaning in (
        ("must appear in the GROUP BY", "a column outside GROUP BY"),
        ("GROUP BY clause", "a column outside GROUP BY"),
        ("avg(", "the mean of a column of texts"),
        ("must have an alias", "grammar"),
        ("operator does not exist", "text compared with a number"),
        ("Cannot compare", "text compared with a number"),
        ("does not exist", "a text in double quotes, or a name that is not there"),
        ("not found", "a text in double quotes, or a name that is not there"),
        ("Could not convert", "text compared with a number"),
        ("invalid input syntax", "text compared with a number"),
        ("syntax error", "grammar"),
    ):
        if words in first:
            return meaning
    return first[:90]


def report(engine: str, found: Mapping[str, list[int]]) -> str:
    total = sum(map(len, found.values()))
    lines = [f"## {engine}", "", f"{len(found.get('', []))} of {total} give equal results."]
    for why, indexes in sorted(found.items(), key=lambda item: -len(item[1])):
        if why:
            listed = ", ".join(map(str, sorted(indexes)))
            lines += ["", *textwrap.wrap(f"**{why}** ({len(indexes)}): {listed}", 118)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", help="URL of a PostgreSQL server where databases may be created")
    parser.add_argument("--list", type=Path, help="write the lists into this file as well")
    arguments = parser.parse_args()
    outcomes: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for name, queries in sorted(golds().items()):
        tables = tables_of(sqlite_url(name))
        sources = results(sqlite_url(name), queries)
        others: dict[str, list[Execution]] = {}
        with tempfile.TemporaryDirectory() as folder, suppress(MissingExtra):
            path = Path(folder) / "spider.duckdb"
            write_duckdb(path, tables, ())
            others["DuckDB"] = results(f"duckdb:///{path}", queries)
        if arguments.server:
            with on_postgres(arguments.server, name, tables) as url, suppress(SqlassayError):
                others["PostgreSQL"] = results(url, queries)
        for engine, executions in others.items():
            for gold, source, other in zip(queries, sources, executions, strict=True):
                outcomes[engine][verdict(gold, source, other)].append(gold.index)
        print(f"{name}: {len(queries)} queries", flush=True)
    text = HEAD + "\n".join(report(engine, found) for engine, found in outcomes.items())
    print(text)
    if arguments.list:
        arguments.list.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
