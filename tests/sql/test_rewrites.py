"""Rewriting that keeps meaning leaves all six sets equal; a mutation changes exactly the sets that it should."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlassay.records.query import Pieces, Understanding
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

TABLES = {
    "customers": ("id", "name", "region", "since"),
    "orders": ("id", "customer_id", "amount", "day", "state"),
    "order_lines": ("id", "order_id", "product_id", "qty"),
    "products": ("id", "name", "category", "price"),
}
KEYS = [
    ("customers", "id", "orders", "customer_id"),
    ("orders", "id", "order_lines", "order_id"),
    ("order_lines", "product_id", "products", "id"),
]
DIALECTS = ("sqlite", "duckdb", "postgres", "mysql", "tsql", "oracle", "bigquery", "snowflake", "databricks", "clickhouse")  # fmt: skip  # noqa: E501
SETS = ("tables", "columns", "joins", "filters", "aggregations", "group_by")


def shop(dialect: str) -> SchemaIndex:
    return index(Schema(dialect=dialect, tables=tuple(TableSchema(name=n, columns=c) for n, c in TABLES.items())))


@dataclass(frozen=True, slots=True)
class Query:
    """A query in the abstract: the first `tables` of the chain, filters, aggregates, group keys."""

    tables: tuple[str, ...]
    filters: tuple[tuple[str, str, str], ...]
    aggregates: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]

    @property
    def joins(self) -> list[tuple[str, str, str, str]]:
        return [key for key in KEYS if key[0] in self.tables and key[2] in self.tables]


@dataclass(frozen=True, slots=True)
class Style:
    """How a query is written."""

    aliases: bool
    where: bool
    swapped: bool
    backwards: bool
    upper: bool
    quoted: bool
    wrapped: str
    noise: bool


@st.composite
def queries(draw: st.DrawFn) -> Query:
    first = draw(st.integers(0, 3))
    last = draw(st.integers(first, 3))
    tables = tuple(TABLES)[first : last + 1]
    columns = [f"{table}.{column}" for table in tables for column in TABLES[table]]
    filters = draw(
        st.lists(
            st.tuples(st.sampled_from(columns), st.sampled_from(["=", "<", ">=", "<>"]), st.sampled_from(["1", "'x'"])),
            max_size=3,
            unique_by=lambda item: item[:2],
        )
    )
    functions = st.sampled_from(["SUM", "MIN", "MAX", "AVG"])
    aggregates = draw(st.lists(st.tuples(functions, st.sampled_from(columns)), min_size=1, max_size=3, unique=True))
    keys = draw(st.lists(st.sampled_from(columns), max_size=2, unique=True))
    return Query(tables=tables, filters=tuple(filters), aggregates=tuple(aggregates), keys=tuple(keys))


styles = st.builds(
    Style,
    aliases=st.booleans(),
    where=st.booleans(),
    swapped=st.booleans(),
    backwards=st.booleans(),
    upper=st.booleans(),
    quoted=st.booleans(),
    wrapped=st.sampled_from(["", "subquery", "cte"]),
    noise=st.booleans(),
)
PLAIN = Style(False, False, False, False, False, False, "", False)
_FLIPPED = {"=": "=", "<": ">", ">=": "<=", "<>": "!="}


def write(query: Query, style: Style, dialect: str = "sqlite") -> str:
    alias = {table: f"t{i}" if style.aliases else table for i, table in enumerate(query.tables)}
    left, right = ("`", "`") if dialect in ("mysql", "bigquery", "databricks", "clickhouse") else ('"', '"')

    def name(text: str) -> str:
        if style.quoted:
            stored = text.upper() if dialect in ("oracle", "snowflake") else text
            return f"{left}{stored}{right}"
        return text.upper() if style.upper and dialect not in ("clickhouse",) else text

    def table_name(text: str) -> str:
        return text if dialect == "bigquery" and not style.quoted else name(text)

    def column(text: str) -> str:
        table, field = text.split(".")
        if style.aliases:
            return f"{alias[table]}.{name(field)}"
        return f"{table_name(table) if dialect != 'bigquery' else table}.{name(field)}"

    def condition(one: tuple[str, str, str]) -> str:
        field, sign, literal = one
        if style.swapped:
            return f"({literal} {_FLIPPED[sign]} {column(field)})"
        return f"{column(field)} {sign} {literal}"

    def equation(key: tuple[str, str, str, str]) -> str:
        a, b = column(f"{key[0]}.{key[1]}"), column(f"{key[2]}.{key[3]}")
        return f"{b} = {a}" if style.swapped else f"{a} = {b}"

    def source(table: str) -> str:
        if style.wrapped == "subquery":
            return f"(SELECT * FROM {table_name(table)}) {alias[table]}"
        if style.wrapped == "cte":
            return f"c_{table} {alias[table]}"
        return f"{table_name(table)} {alias[table]}" if style.aliases else table_name(table)

    order = list(reversed(query.tables)) if style.backwards else list(query.tables)
    wheres = [condition(one) for one in (reversed(query.filters) if style.backwards else query.filters)]
    if style.where:
        text = ", ".join(source(table) for table in order)
        wheres = [equation(key) for key in query.joins] + wheres
    else:
        text = source(order[0])
        seen = {order[0]}
        for table in order[1:]:
            on = [
                equation(key) for key in query.joins if {key[0], key[2]} <= seen | {table} and table in (key[0], key[2])
            ]
            seen.add(table)
            text += f" JOIN {source(table)} ON {' AND '.join(on)}"
    selected = [column(key) for key in query.keys]
    selected += [f"{function}({column(argument)})" for function, argument in query.aggregates]
    sql = "SELECT " + ", ".join(selected) + " FROM " + text
    if wheres:
        sql += " WHERE " + " AND ".join(wheres)
    if query.keys:
        sql += " GROUP BY " + ", ".join(column(key) for key in query.keys)
    if style.wrapped == "cte":
        bodies = ", ".join(f"c_{table} AS (SELECT * FROM {table_name(table)})" for table in query.tables)
        sql = f"WITH {bodies} {sql}"
    return sql.replace(" FROM ", "\n  FROM /* from here */ ") + " -- done" if style.noise else sql


def pieces(sql: str, dialect: str = "sqlite") -> Pieces:
    understood = understand(sql, shop(dialect))
    assert isinstance(understood, Understanding), (sql, understood)
    assert understood.unknown_names == (), sql
    return understood.pieces


@settings(max_examples=250, deadline=None)
@given(queries(), styles, st.sampled_from(DIALECTS))
def test_rewriting_leaves_all_six_sets_equal(query: Query, style: Style, dialect: str) -> None:
    assume(not (style.wrapped and style.quoted and dialect in ("bigquery",)))
    if not style.aliases and style.wrapped:
        style = replace(style, aliases=True)
    assert pieces(write(query, style, dialect), dialect) == pieces(write(query, PLAIN, dialect), dialect)


@settings(max_examples=150, deadline=None)
@given(queries(), st.data())
def test_a_mutation_changes_exactly_its_set(query: Query, data: st.DataObject) -> None:
    mutants: dict[str, Query] = {}
    if query.filters:
        mutants["filters"] = replace(query, filters=query.filters[1:])
    if query.keys:
        mutants["group_by"] = replace(query, keys=query.keys[1:])
    function, argument = query.aggregates[0]
    other = data.draw(st.sampled_from([name for name in ("SUM", "MIN", "MAX", "AVG") if name != function]))
    if (other, argument) not in query.aggregates:
        mutants["aggregations"] = replace(query, aggregates=((other, argument), *query.aggregates[1:]))
    at = tuple(TABLES).index(query.tables[-1])
    if at < 3:
        mutants["joins"] = replace(query, tables=(*query.tables, tuple(TABLES)[at + 1]))
    before = pieces(write(query, PLAIN))
    for changed, mutant in mutants.items():
        after = pieces(write(mutant, PLAIN))
        moved = {name for name in SETS if getattr(before, name) != getattr(after, name)}
        allowed = {
            "filters": {"filters"},
            "group_by": {"group_by", "columns"},
            "aggregations": {"aggregations"},
            "joins": {"joins", "tables"},
        }[changed]
        assert changed in moved
        assert moved <= allowed


SAME = [
    ("SELECT name FROM customers WHERE 1 = 1 AND TRUE AND id > 3", "SELECT name FROM customers WHERE id > 3"),
    ("SELECT name FROM customers WHERE id = 2 OR 1 = id", "SELECT name FROM customers WHERE id IN (1, 2)"),
    ("SELECT name FROM customers WHERE id BETWEEN 1 AND 5", "SELECT name FROM customers WHERE id >= 1 AND 5 >= id"),
    ("SELECT name FROM customers WHERE id IN (3)", "SELECT name FROM customers WHERE 3 = id"),
    ("SELECT name FROM customers WHERE id IN (3, 1, 2)", "SELECT name FROM customers WHERE id IN (1, 2, 3, 2)"),
    ("SELECT COUNT(1) FROM customers", "SELECT COUNT(*) FROM customers"),
    ("SELECT name FROM customers WHERE NOT id = 3", "SELECT name FROM customers WHERE id <> 3"),
    ("SELECT name FROM customers WHERE NOT (id > 3)", "SELECT name FROM customers WHERE id <= 3"),
    ("SELECT name FROM customers WHERE id > 1.50", "SELECT name FROM customers WHERE id > 1.5"),
    (
        "SELECT name FROM customers WHERE id > 3 OR region = 'x'",
        "SELECT name FROM customers WHERE region='x' OR 3 < id",
    ),
    ("SELECT name FROM customers WHERE ((id > 3))", "SELECT name FROM customers WHERE id > 3"),
    ("SELECT id FROM orders WHERE day > CAST('2024-01-01' AS DATE)", "SELECT id FROM orders WHERE day > '2024-01-01'"),
    ("SELECT SUM(amount * 2) FROM orders", "SELECT SUM(2 * amount) FROM orders"),
    (
        "SELECT c.name FROM customers c JOIN orders o ON c.id = o.customer_id AND o.amount > 3",
        "SELECT c.name FROM customers c JOIN orders o ON c.id = o.customer_id WHERE o.amount > 3",
    ),
    (
        "SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id",
        "SELECT c.name FROM orders o RIGHT JOIN customers c ON o.customer_id = c.id",
    ),
    (
        "SELECT region, n FROM (SELECT region, COUNT(*) AS n FROM customers GROUP BY region) g WHERE n > 2",
        "SELECT region, COUNT(*) FROM customers GROUP BY region HAVING COUNT(*) > 2",
    ),
    (
        "SELECT id FROM (SELECT id, RANK() OVER (ORDER BY amount DESC) AS r FROM orders) q WHERE r = 1",
        "WITH q AS (SELECT id, RANK() OVER (ORDER BY amount DESC) AS r FROM orders) SELECT id FROM q WHERE 1 = r",
    ),
    (
        "SELECT substr(day, 1, 4) AS y, SUM(amount) FROM orders GROUP BY y",
        "SELECT substr(day, 1, 4), SUM(amount) FROM orders GROUP BY 1",
    ),
    (
        "SELECT o.id FROM orders o, order_lines l WHERE o.id = l.order_id",
        "SELECT o.id FROM orders o CROSS JOIN order_lines l WHERE l.order_id = o.id",
    ),
    ("SELECT name FROM customers WHERE id IS NOT NULL", "SELECT name FROM customers WHERE NOT id IS NULL"),
    ("SELECT IIF(id > 1, 2, 3) FROM customers", "SELECT CASE WHEN 1 < id THEN 2 ELSE 3 END FROM customers"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_one_thing(one: str, other: str) -> None:
    assert pieces(one) == pieces(other)


DIFFERENT = [
    (
        "SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id AND o.amount > 3",
        "SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id WHERE o.amount > 3",
        {"joins", "filters"},
    ),
    (
        "SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id",
        "SELECT c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer_id",
        {"joins"},
    ),
    ("SELECT COUNT(*) FROM orders", "SELECT COUNT(customer_id) FROM orders", {"aggregations", "columns"}),
    ("SELECT COUNT(customer_id) FROM orders", "SELECT COUNT(DISTINCT customer_id) FROM orders", {"aggregations"}),
    ("SELECT name FROM customers WHERE id > 3", "SELECT name FROM customers WHERE id >= 3", {"filters"}),
    (
        "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE amount > 3 AND state = 'x')",
        "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE amount > 3)",
        {"filters"},
    ),
    ("SELECT name FROM customers", "SELECT region FROM customers", {"columns"}),
    ("SELECT 1 FROM orders WHERE amount / 2 > 1", "SELECT 1 FROM orders WHERE amount / 2.0 > 1", {"filters"}),
]


@pytest.mark.parametrize(("one", "other", "moved"), DIFFERENT)
def test_two_different_things(one: str, other: str, moved: set[str]) -> None:
    first, second = pieces(one), pieces(other)
    assert {name for name in SETS if getattr(first, name) != getattr(second, name)} == moved


def test_items_read_as_a_person_would_write_them() -> None:
    found = pieces(
        "SELECT p.category, SUM(l.qty * p.price) FROM products p LEFT JOIN order_lines AS l ON p.id = l.product_id "
        "JOIN orders o ON o.id = l.order_id WHERE 'Sport' = p.category AND o.day BETWEEN '2024-01-01' AND '2024-12-31' "
        "GROUP BY p.category HAVING COUNT(DISTINCT o.customer_id) > 3"
    )
    assert found == Pieces(
        tables=frozenset({"products", "order_lines", "orders"}),
        columns=frozenset({"products.category", "order_lines.qty", "products.price"}),
        joins=frozenset({"left: products.id = order_lines.product_id", "order_lines.order_id = orders.id"}),
        filters=frozenset(
            {
                "products.category = 'Sport'",
                "orders.day >= '2024-01-01'",
                "orders.day <= '2024-12-31'",
                "COUNT(DISTINCT orders.customer_id) > 3",
            }
        ),
        aggregations=frozenset({"SUM(order_lines.qty * products.price)", "COUNT(DISTINCT orders.customer_id)"}),
        group_by=frozenset({"products.category"}),
    )
