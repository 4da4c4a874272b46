"""Hard queries against SQLite's own account: READ events of its authorizer and the origins of output columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from reading_against_engines import SqliteEngine, Truth
from sqlassay.records.query import Understanding, Unresolved
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


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteEngine]:
    path = tmp_path_factory.mktemp("account") / "shop.db"
    with apsw.Connection(str(path)) as made:
        made.execute(SETUP)
    made.close()
    opened = SqliteEngine(path)
    yield opened
    opened.connection.close()


@pytest.fixture(scope="module")
def schema(engine: SqliteEngine) -> SchemaIndex:
    return index(engine.schema())


def account(engine: SqliteEngine, sql: str) -> Truth:
    truth = engine.truth(sql)
    assert truth is not None
    return truth


@pytest.mark.parametrize("sql", QUERIES)
def test_tables_columns_and_origins_are_the_engines(engine: SqliteEngine, schema: SchemaIndex, sql: str) -> None:
    understood = understand(sql, schema)
    assert isinstance(understood, Understanding)
    assert understood.unknown_names == ()
    truth = account(engine, sql)
    assert set(understood.tables) == truth.tables
    assert set(understood.columns_read) == truth.columns
    assert understood.origins == truth.origins


@pytest.mark.parametrize("sql", SET_OPERATIONS)
def test_a_column_of_a_set_operation_has_an_origin_only_if_all_branches_agree(
    engine: SqliteEngine, schema: SchemaIndex, sql: str
) -> None:
    understood = understand(sql, schema)
    assert isinstance(understood, Understanding)
    truth = account(engine, sql)
    assert set(understood.tables) == truth.tables
    assert set(understood.columns_read) == truth.columns
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
def test_a_table_function_is_no_table(engine: SqliteEngine, schema: SchemaIndex, sql: str) -> None:
    understood = understand(sql, schema)
    assert isinstance(understood, Understanding)
    truth = account(engine, sql)
    functions = {"json_each", "pragma_table_info"}
    assert set(understood.tables) == truth.tables - functions
    assert set(understood.columns_read) == {name for name in truth.columns if name.split(".")[0] not in functions}
    assert understood.unknown_names == ()


def test_views_are_named_as_written_and_expanded_on_request(engine: SqliteEngine, schema: SchemaIndex) -> None:
    understood = understand("SELECT name FROM big WHERE amount > 3", schema)
    assert isinstance(understood, Understanding)
    assert understood.tables == ("big",)
    assert understood.base_tables == ("orders", "users")
    assert understood.origins == ("big.name",)
    columns = account(engine, "SELECT name FROM big WHERE amount > 3").columns
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
def test_names_without_meaning_are_told(
    engine: SqliteEngine, schema: SchemaIndex, sql: str, unknown: tuple[str, ...]
) -> None:
    understood = understand(sql, schema)
    assert isinstance(understood, Understanding)
    assert understood.unknown_names == unknown
    assert engine.truth(sql) is None


def test_an_ambiguous_name_is_unresolved(schema: SchemaIndex) -> None:
    understood = understand("SELECT id FROM users, orders", schema)
    assert understood == Unresolved(why="column 'id' is ambiguous: orders, users", tables=("orders", "users"))
