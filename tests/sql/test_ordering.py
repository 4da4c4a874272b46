"""The outermost order, and hidden sort keys that leave the rows as they are: run on SQLite and DuckDB."""

from __future__ import annotations

import apsw
import duckdb
import pytest

from sqlassay.records.query import KeySource, Ordering, OrderPlan, SortKey, Understanding
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

COLUMNS = ("id", "price", "qty", "kind", "day")
ROWS = [
    (1, 5, 2, "a", "2024-01-01"),
    (2, 3, 7, "b", "2024-01-02"),
    (3, 5, 1, "a", "2024-01-03"),
    (4, 3, 7, None, "2024-01-02"),
    (5, 9, 4, "c", "2024-01-05"),
]
DDL = "CREATE TABLE li(id INT, price INT, qty INT, kind TEXT, day TEXT)"


def shop(dialect: str) -> SchemaIndex:
    return index(Schema(dialect=dialect, tables=(TableSchema(name="li", columns=COLUMNS),)))


def read(sql: str, dialect: str = "sqlite") -> Understanding:
    understood = understand(sql, shop(dialect))
    assert isinstance(understood, Understanding), understood
    return understood


def run_sqlite(sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(":memory:")
    connection.execute(DDL)
    connection.executemany("INSERT INTO li VALUES (?, ?, ?, ?, ?)", ROWS)
    return [tuple(row) for row in connection.execute(sql)]


def run_duckdb(sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(DDL)
        connection.executemany("INSERT INTO li VALUES (?, ?, ?, ?, ?)", ROWS)
        return list(connection.execute(sql).fetchall())


BOTH = [
    "SELECT id FROM li ORDER BY price, id DESC",
    "SELECT id FROM li ORDER BY price * qty DESC, id",
    "SELECT price * qty AS price FROM li ORDER BY price DESC LIMIT 2",
    "SELECT price * qty AS total FROM li ORDER BY li.price DESC, id",
    "SELECT kind, COUNT(*) FROM li GROUP BY kind ORDER BY SUM(price) DESC, kind LIMIT 2",
    "SELECT kind FROM li WHERE price > 3 ORDER BY CASE WHEN kind = 'a' THEN 0 ELSE 1 END, id LIMIT 3 OFFSET 1",
    "WITH x AS (SELECT id, qty FROM li ORDER BY qty LIMIT 4) SELECT id FROM x ORDER BY qty DESC, id",
    "SELECT id -- keys, FROM here\nFROM li ORDER BY (SELECT MAX(l2.qty) FROM li l2 WHERE l2.id = li.id), id",
    "SELECT DISTINCT kind FROM li ORDER BY kind LIMIT 2",
    "SELECT price IS NOT DISTINCT FROM 5 AS five, id FROM li ORDER BY qty, id LIMIT 4",
    "SELECT *, price + 1 AS more FROM li ORDER BY more DESC, id LIMIT 3",
    "SELECT id, ROW_NUMBER() OVER (ORDER BY qty, id) AS n FROM li ORDER BY n DESC LIMIT 2",
    "SELECT id FROM li UNION SELECT qty FROM li ORDER BY 1 DESC LIMIT 3",
]


@pytest.mark.parametrize("sql", BOTH)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_hidden_keys_leave_the_rows_as_they_are(sql: str, dialect: str) -> None:
    run = run_sqlite if dialect == "sqlite" else run_duckdb
    understood = read(sql, dialect)
    plan, ordering = understood.order_plan, understood.ordering
    assert plan.source in (KeySource.HIDDEN, KeySource.OUTPUT)
    gold = run(sql)
    width = len(understood.names)
    assert all(len(row) == width for row in gold)
    if plan.hidden_sql is None:
        assert plan.source is KeySource.OUTPUT
        assert not ordering.limited
        return
    rows = run(plan.hidden_sql)
    start = ordering.offset or 0
    assert [row[:width] for row in rows][start : start + len(gold)] == gold
    if not ordering.limited:
        assert len(rows) == len(gold)
    if plan.source is KeySource.HIDDEN:
        assert all(len(row) == width + plan.key_count for row in rows)
        assert plan.key_count == len(ordering.keys)
    else:
        assert len(plan.positions) == len(ordering.keys)


@pytest.mark.parametrize(
    ("sql", "plan"),
    [
        ("SELECT id FROM li", OrderPlan()),
        ("SELECT id FROM (SELECT id FROM li ORDER BY id)", OrderPlan()),
        ("SELECT id, price FROM li ORDER BY 2, id", OrderPlan(source=KeySource.OUTPUT, positions=(1, 0))),
        ("SELECT price + 1, id FROM li ORDER BY price + 1", OrderPlan(source=KeySource.OUTPUT, positions=(0,))),
        ("SELECT DISTINCT kind FROM li ORDER BY price", OrderPlan(source=KeySource.UNKNOWN)),
        (
            "SELECT DISTINCT kind FROM li ORDER BY length(kind)",
            OrderPlan(
                source=KeySource.HIDDEN,
                hidden_sql="SELECT DISTINCT kind, length(kind) FROM li ORDER BY length(kind)",
                key_count=1,
            ),
        ),
        ("SELECT DISTINCT kind FROM li ORDER BY length(day)", OrderPlan(source=KeySource.UNKNOWN)),
        ("SELECT id FROM li ORDER BY price LIMIT 2 OFFSET abs(-1)", OrderPlan(source=KeySource.UNKNOWN)),
        (
            "SELECT id FROM li ORDER BY kind COLLATE NOCASE DESC",
            OrderPlan(
                source=KeySource.HIDDEN,
                hidden_sql="SELECT id, DENSE_RANK() OVER (ORDER BY kind COLLATE NOCASE) "
                "FROM li ORDER BY kind COLLATE NOCASE DESC",
                key_count=1,
            ),
        ),
        (
            "SELECT id FROM li ORDER BY price",
            OrderPlan(source=KeySource.HIDDEN, hidden_sql="SELECT id, price FROM li ORDER BY price", key_count=1),
        ),
        (
            "SELECT id FROM li ORDER BY price DESC LIMIT 2; -- top",
            OrderPlan(source=KeySource.HIDDEN, hidden_sql="SELECT id, price FROM li ORDER BY price DESC", key_count=1),
        ),
        (
            "SELECT id FROM li UNION SELECT qty FROM li ORDER BY 1 LIMIT 2",
            OrderPlan(
                source=KeySource.OUTPUT,
                positions=(0,),
                hidden_sql="SELECT id FROM li UNION SELECT qty FROM li ORDER BY 1",
            ),
        ),
    ],
)
def test_plans(sql: str, plan: OrderPlan) -> None:
    assert read(sql).order_plan == plan


def test_the_alias_wins_over_the_column_in_order_by() -> None:
    assert read("SELECT price * qty AS price FROM li ORDER BY price DESC").ordering == Ordering(
        keys=(SortKey(expression="li.price * li.qty", descending=True, nulls_first=False),)
    )
    assert read("SELECT price * qty AS total FROM li ORDER BY li.price").ordering.keys[0].expression == "li.price"


@pytest.mark.parametrize(
    ("sql", "dialect", "limit", "offset", "with_ties"),
    [
        ("SELECT id FROM li LIMIT 3", "sqlite", 3, None, False),
        ("SELECT id FROM li LIMIT 5, 10", "mysql", 10, 5, False),
        ("SELECT id FROM li LIMIT 5 OFFSET (1 + 2)", "sqlite", 5, 3, False),
        ("SELECT id FROM li LIMIT 10 OFFSET 5", "mysql", 10, 5, False),
        ("SELECT TOP 3 id FROM li", "tsql", 3, None, False),
        ("SELECT TOP 3 WITH TIES id FROM li ORDER BY price", "tsql", 3, None, True),
        ("SELECT id FROM li ORDER BY id OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY", "tsql", 3, 2, False),
        ("SELECT id FROM li FETCH FIRST 5 ROWS ONLY", "oracle", 5, None, False),
        ("SELECT id FROM li ORDER BY id FETCH FIRST ROW WITH TIES", "postgres", 1, None, True),
    ],
)
def test_limits_of_every_kind(sql: str, dialect: str, limit: int, offset: int | None, with_ties: bool) -> None:
    ordering = read(sql, dialect).ordering
    assert (ordering.limit, ordering.offset, ordering.with_ties) == (limit, offset, with_ties)
    assert ordering.limited


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("SELECT TOP 3 id FROM li ORDER BY price", "SELECT  id, price FROM li ORDER BY price"),
        ("SELECT TOP (3) WITH TIES id FROM li ORDER BY price", "SELECT  id, price FROM li ORDER BY price"),
    ],
)
def test_top_is_taken_out(sql: str, hidden: str) -> None:
    plan = read(sql, "tsql").order_plan
    assert plan.hidden_sql is not None
    assert " ".join(plan.hidden_sql.split()) == " ".join(hidden.split())


def test_from_first_gets_a_select_list() -> None:
    plan = read("FROM li ORDER BY price % 4, id LIMIT 2", "duckdb").order_plan
    assert plan.hidden_sql is not None
    assert [row[:5] for row in run_duckdb(plan.hidden_sql)][:2] == run_duckdb("FROM li ORDER BY price % 4, id LIMIT 2")


def test_order_by_all_sorts_by_every_output_column() -> None:
    assert read("SELECT kind, COUNT(*) FROM li GROUP BY ALL ORDER BY ALL", "duckdb").order_plan.positions == (0, 1)
