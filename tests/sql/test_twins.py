"""Twins are cases with an equivalent gold query; nothing else is."""

from __future__ import annotations

import pytest

from sqlassay.records.case import Case
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.sql.schema import index
from sqlassay.sql.twins import twins
from sqlassay.sql.understand import understand

SHOP = index(
    Schema(
        dialect="sqlite",
        tables=(
            TableSchema(name="emp", columns=("id", "name", "boss", "pay")),
            TableSchema(name="dept", columns=("id", "emp_id", "label")),
        ),
    )
)


def are_twins(one: str, other: str, *, databases: tuple[str | None, str | None] = (None, None)) -> bool:
    cases = [
        Case(id="one", question="?", gold_sql=(one,), database=databases[0]),
        Case(id="other", question="?", gold_sql=(other,), database=databases[1]),
    ]
    found = twins(cases, {case.id: tuple(understand(sql, SHOP) for sql in case.gold_sql) for case in cases})
    assert (found["one"] == {"other"}) is (found["other"] == {"one"})
    return found["one"] == {"other"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT name FROM emp WHERE id = 1 AND pay > 2", "select e.name as n from emp e where 2 < e.pay and 1 = e.id"),
        ("SELECT COUNT(*) FROM emp", "SELECT COUNT(1) FROM main.emp;"),
        (
            "SELECT e.name FROM emp e JOIN dept d ON d.emp_id = e.id AND d.label = 'x'",
            "SELECT emp.name FROM dept, emp WHERE dept.label = 'x' AND emp.id = dept.emp_id",
        ),
        (
            "WITH q AS (SELECT boss, AVG(pay) AS a FROM emp GROUP BY boss) SELECT boss FROM q WHERE a > 3",
            "SELECT z.boss FROM (SELECT boss, AVG(pay) AS k FROM emp GROUP BY 1) z WHERE 3 < z.k",
        ),
        ("SELECT name FROM emp UNION SELECT label FROM dept", "SELECT label FROM dept UNION SELECT name FROM emp"),
        (
            "SELECT name FROM emp WHERE id IN (SELECT emp_id FROM dept WHERE label = 'x')",
            "SELECT name FROM emp WHERE id IN (SELECT d.emp_id FROM dept d WHERE 'x' = d.label)",
        ),
        ("SELECT a FROM nowhere  WHERE  b", "SELECT a FROM nowhere WHERE b"),
        (
            "SELECT e.name FROM emp e JOIN emp m ON e.boss = m.id WHERE m.pay > 5",
            "SELECT e.name FROM emp m JOIN emp e ON m.id = e.boss WHERE m.pay > 5",
        ),
        (
            "SELECT a.name FROM emp a JOIN emp b ON a.boss = b.id JOIN emp c ON b.boss = c.id WHERE c.name = 'emp'",
            "SELECT z.name FROM emp x, emp y, emp z WHERE z.boss = y.id AND y.boss = x.id AND x.name = 'emp'",
        ),
        (
            "SELECT e.name FROM emp e JOIN emp m ON e.boss = m.id LEFT JOIN dept d ON d.emp_id = m.id",
            "SELECT e.name FROM emp m JOIN emp e ON e.boss = m.id LEFT JOIN dept d ON d.emp_id = m.id",
        ),
    ],
)
def test_equivalent_golds_are_twins(one: str, other: str) -> None:
    assert are_twins(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT name FROM emp", "SELECT DISTINCT name FROM emp"),
        ("SELECT name FROM emp", "SELECT name FROM emp ORDER BY pay"),
        ("SELECT name FROM emp ORDER BY pay LIMIT 1", "SELECT name FROM emp ORDER BY pay DESC LIMIT 1"),
        ("SELECT name FROM emp ORDER BY pay LIMIT 1", "SELECT name FROM emp ORDER BY pay LIMIT 2"),
        (
            "SELECT e.name FROM emp e JOIN emp m ON e.boss = m.id",
            "SELECT m.name FROM emp e JOIN emp m ON e.boss = m.id",
        ),
        (
            "SELECT e.name FROM emp e JOIN emp m ON e.boss = m.id WHERE m.pay > 5",
            "SELECT e.name FROM emp m JOIN emp e ON e.boss = m.id WHERE e.pay > 5",
        ),
        (
            "SELECT e.name FROM emp e LEFT JOIN emp m ON e.boss = m.id",
            "SELECT e.name FROM emp m LEFT JOIN emp e ON e.boss = m.id",
        ),
        ("SELECT name FROM emp UNION SELECT label FROM dept", "SELECT name FROM emp UNION ALL SELECT label FROM dept"),
        ("SELECT name FROM emp EXCEPT SELECT label FROM dept", "SELECT label FROM dept EXCEPT SELECT name FROM emp"),
        ("SELECT name, id FROM emp", "SELECT id, name FROM emp"),
        (
            "SELECT name FROM emp WHERE id IN (SELECT emp_id FROM dept WHERE label = 'x')",
            "SELECT name FROM emp WHERE id IN (SELECT emp_id FROM dept WHERE label = 'y')",
        ),
        (
            "SELECT e.name FROM emp e LEFT JOIN dept d ON d.emp_id = e.id AND d.label = 'x'",
            "SELECT e.name FROM emp e LEFT JOIN dept d ON d.emp_id = e.id WHERE d.label = 'x'",
        ),
        ("SELECT pay / 2 FROM emp", "SELECT pay / 2.0 FROM emp"),
    ],
)
def test_different_golds_are_no_twins(one: str, other: str) -> None:
    assert not are_twins(one, other)


def test_cases_of_two_databases_are_no_twins() -> None:
    assert not are_twins("SELECT name FROM emp", "SELECT name FROM emp", databases=("a", "b"))
    assert are_twins("SELECT name FROM emp", "SELECT name FROM emp", databases=("a", "a"))


def test_any_accepted_gold_makes_a_twin_and_no_case_is_its_own() -> None:
    cases = [
        Case(id="x", question="?", gold_sql=("SELECT name FROM emp", "SELECT id FROM emp")),
        Case(id="y", question="?", gold_sql=("SELECT id FROM emp",)),
        Case(id="z", question="?", gold_sql=("SELECT pay FROM emp",)),
        Case(id="w", question="?"),
    ]
    found = twins(cases, {case.id: tuple(understand(sql, SHOP) for sql in case.gold_sql) for case in cases})
    assert found == {"x": {"y"}, "y": {"x"}, "z": frozenset(), "w": frozenset()}
