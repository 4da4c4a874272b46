"""Hard queries against SQLite's own account: READ events of its authorizer and the origins of output columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from sqlassay.records.query import Understanding, Unresolved
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

SETUP = """
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, city TEXT, active INT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id INT, amount REAL, day TEXT, note TEXT);
CREATE TABLE lines(order_id INT, product_id INT, qty INT, price REAL, meta TEXT,
    PRIMARY KEY (order_id, product_id)) WITHOUT ROWID;
CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT, category TEXT);
CREATE TABLE one(x INT);
CREATE TABLE "Odd Table"("the key" INT, "select" TEXT);
CREATE VIEW active_users AS SELECT id, name FROM users WHERE active = 1;
CREATE VIEW big AS SELECT o.*, a.name FROM orders o JOIN active_users a ON a.id = o.user_id;
"""

QUERIES = (Path(__file__).parents[1] / "fixtures" / "sql" / "sqlite_queries.sql").read_text("utf-8").splitlines()

SET_OPERATIONS = """
SELECT id FROM users UNION SELECT user_id FROM orders ORDER BY id
SELECT t.id FROM (SELECT id FROM users INTERSECT SELECT user_id FROM orders) t
SELECT id, name FROM users EXCEPT SELECT id, name FROM products
SELECT x FROM one UNION SELECT 3 UNION ALL SELECT id FROM users
""".strip().splitlines()


class Engine:
    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        for _ in self.connection.execute(SETUP):
            pass
        tables = []
        listed = list(self.connection.execute("SELECT name, type, sql FROM sqlite_master WHERE type <> 'index'"))
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
        self.schema: SchemaIndex = index(Schema(dialect="sqlite", tables=tuple(tables), default_schema="main"))

    def account(self, sql: str) -> tuple[set[str], set[str], tuple[str | None, ...]]:
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
            origins.extend(f"{d[3]}.{d[4]}".lower() if d[3] and d[4] else None for d in cursor.description_full)
            return False

        cursor = self.connection.cursor()
        self.connection.authorizer, cursor.exec_trace = authorize, stop
        try:
            cursor.execute(sql, can_cache=False)
        except apsw.ExecTraceAbort:
            return tables, columns, tuple(origins)
        finally:
            self.connection.authorizer = None
        raise AssertionError("the statement was not stopped")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.connection.close()


@pytest.mark.parametrize("sql", QUERIES)
def test_tables_columns_and_origins_are_the_engines(engine: Engine, sql: str) -> None:
    understood = understand(sql, engine.schema)
    assert isinstance(understood, Understanding)
    assert understood.unknown_names == ()
    tables, columns, origins = engine.account(sql)
    assert set(understood.tables) == tables
    assert set(understood.columns_read) == columns
    assert understood.origins == origins


@pytest.mark.parametrize("sql", SET_OPERATIONS)
def test_a_column_of_a_set_operation_has_an_origin_only_if_all_branches_agree(engine: Engine, sql: str) -> None:
    understood = understand(sql, engine.schema)
    assert isinstance(understood, Understanding)
    tables, columns, _ = engine.account(sql)
    assert set(understood.tables) == tables
    assert set(understood.columns_read) == columns
    assert set(understood.origins) == {None}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT key, value FROM orders o, json_each(o.note) WHERE o.id = 3",
        "SELECT je.value FROM orders, json_each(orders.note) je",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT name FROM pragma_table_info('users')",
    ],
)
def test_a_table_function_is_no_table(engine: Engine, sql: str) -> None:
    understood = understand(sql, engine.schema)
    assert isinstance(understood, Understanding)
    tables, columns, _ = engine.account(sql)
    functions = {"json_each", "pragma_table_info"}
    assert set(understood.tables) == tables - functions
    assert set(understood.columns_read) == {name for name in columns if name.split(".")[0] not in functions}
    assert understood.unknown_names == ()


def test_views_are_named_as_written_and_expanded_on_request(engine: Engine) -> None:
    understood = understand("SELECT name FROM big WHERE amount > 3", engine.schema)
    assert isinstance(understood, Understanding)
    assert understood.tables == ("big",)
    assert understood.base_tables == ("orders", "users")
    assert understood.origins == ("big.name",)
    _, columns, _ = engine.account("SELECT name FROM big WHERE amount > 3")
    assert set(understood.columns_read) == {name for name in columns if name.split(".")[0] in ("orders", "users")}


@pytest.mark.parametrize(
    ("sql", "unknown"),
    [
        ("SELECT nothing FROM users", ("nothing",)),
        ("SELECT u.name FROM users", ("u.name",)),
        ("SELECT users.nothing FROM users", ("users.nothing",)),
        ("SELECT name FROM nowhere", ("nowhere", "nowhere.name")),
        ("SELECT name n, n || 'x' FROM users", ("n",)),
    ],
)
def test_names_without_meaning_are_told(engine: Engine, sql: str, unknown: tuple[str, ...]) -> None:
    understood = understand(sql, engine.schema)
    assert isinstance(understood, Understanding)
    assert understood.unknown_names == unknown
    with pytest.raises(apsw.SQLError):
        engine.account(sql)


def test_an_ambiguous_name_is_unresolved(engine: Engine) -> None:
    understood = understand("SELECT id FROM users, orders", engine.schema)
    assert understood == Unresolved(why="column 'id' is ambiguous: orders, users", tables=("orders", "users"))
