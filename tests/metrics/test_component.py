"""Which part of the SQL differs: the worked example, undefined readings, and what the evidence says."""

from __future__ import annotations

import pytest

from sqlassay.metrics import component
from sqlassay.records.case import Case
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ceiling, Quantity, Ratio, Reason, Undefined
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

SHOP = Schema(
    dialect="sqlite",
    tables=(
        TableSchema(name="customers", columns=("id", "name")),
        TableSchema(name="orders", columns=("id", "customer_id", "day", "category", "amount")),
        TableSchema(name="order_lines", columns=("order_id", "product_id", "qty")),
    ),
)
GOLD = """SELECT c.name, SUM(o.amount), COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id
WHERE o.day >= '2024-01-01' AND o.category = 'Sport' GROUP BY c.name"""
CANDIDATE = """SELECT customers.name, SUM(orders.amount) FROM customers
JOIN orders ON orders.customer_id = customers.id JOIN order_lines l ON l.order_id = orders.id
WHERE '2024-01-01' <= orders.day GROUP BY customers.name"""


def side(sql: str | None) -> Side:
    return Side(sql=sql, comprehension=None if sql is None else understand(sql, index(SHOP)))


def examine(gold: str | tuple[str, ...] | None, candidate: str | None, *, chosen: int = 0) -> component.Examined:
    golds = () if gold is None else (gold,) if isinstance(gold, str) else gold
    trial = Trial(
        case=Case(id="c", question="?", gold_sql=golds),
        turn=Turn(),
        golds=tuple(side(sql) for sql in golds),
        chosen=chosen,
        candidate=side(candidate),
        schema=SHOP,
    )
    return component.FAMILY.examine(trial, ScoreSettings())


def values(examined: component.Examined) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, reading in component.FAMILY.readings(examined).items():
        assert not isinstance(reading, Quantity)
        found[name.removeprefix("component.")] = reading.value if isinstance(reading, Ratio) else None
    return found


def test_the_worked_example_moves_four_numbers_and_nothing_else() -> None:
    found = values(examine(GOLD, CANDIDATE))
    assert found.pop("tables.precision") == pytest.approx(2 / 3)
    assert found.pop("joins.precision") == pytest.approx(1 / 2)
    assert found.pop("filters.recall") == pytest.approx(1 / 2)
    assert found.pop("aggregations.recall") == pytest.approx(1 / 2)
    assert found.pop("ordering.precision") is None
    assert found.pop("ordering.recall") is None
    assert set(found.values()) == {1.0}


def test_missing_and_extra_items_are_named_in_the_users_words() -> None:
    evidence = component.FAMILY.evidence(examine(GOLD, CANDIDATE))
    assert evidence["filters"] == {
        "gold": ["orders.category = 'Sport'", "orders.day >= '2024-01-01'"],
        "candidate": ["orders.day >= '2024-01-01'"],
        "missing": ["missing filter: orders.category = 'Sport'"],
        "extra": [],
    }
    assert evidence["tables"]["extra"] == ["extra table: order_lines"]
    assert evidence["joins"]["extra"] == ["extra join: order_lines.order_id = orders.id"]
    assert evidence["aggregations"]["missing"] == ["missing aggregation: COUNT(*)"]


def test_gold_against_gold_is_perfect() -> None:
    found = values(examine(GOLD, GOLD))
    assert {value for name, value in found.items() if not name.startswith("ordering")} == {1.0}


def test_without_candidate_sql_recall_is_0_and_precision_undefined() -> None:
    readings = component.FAMILY.readings(examine(GOLD, None))
    assert readings["component.tables.recall"] == Ratio(hits=0, total=2)
    assert readings["component.tables.precision"] == Undefined(reason=Reason.NO_SQL)


def test_where_neither_query_groups_group_by_is_undefined() -> None:
    readings = component.FAMILY.readings(examine("SELECT id FROM orders", "SELECT id FROM orders"))
    assert readings["component.group_by.precision"] == Undefined(reason=Reason.NOTHING_TO_COUNT)
    assert readings["component.group_by.recall"] == Undefined(reason=Reason.NOTHING_TO_COUNT)


def test_seventeen_cases_nine_without_grouping_give_n_8() -> None:
    grouped = ("SELECT day, COUNT(*) FROM orders GROUP BY day",) * 8
    flat = ("SELECT day FROM orders",) * 9
    readings = [values(examine(sql, sql))["group_by.recall"] for sql in grouped + flat]
    defined = [value for value in readings if value is not None]
    assert len(defined) == 8
    assert sum(defined) / len(defined) == 1.0


@pytest.mark.parametrize(
    ("gold", "candidate", "why"),
    [
        (GOLD, "SELECT name FROM", "candidate:"),
        (GOLD, "SELECT shoe_size FROM customers", "candidate: the schema has no shoe_size"),
        ("SELECT FROM WHERE", GOLD, "gold:"),
        (GOLD, "SELECT id FROM orders, customers", "candidate: column 'id' is ambiguous"),
    ],
)
def test_what_does_not_parse_or_resolve_is_null_for_the_family(gold: str, candidate: str, why: str) -> None:
    examined = examine(gold, candidate)
    readings = component.FAMILY.readings(examined)
    assert set(readings.values()) == {Undefined(reason=Reason.UNRESOLVED)}
    assert list(component.FAMILY.ceilings(examined)) == [Ceiling.UNRESOLVED]
    assert component.FAMILY.evidence(examined)["unresolved"][0].startswith(why)


def test_without_gold_sql_it_does_not_apply() -> None:
    examined = examine(None, "SELECT id FROM orders")
    assert set(component.FAMILY.readings(examined).values()) == {Undefined(reason=Reason.NOT_APPLICABLE)}
    assert list(component.FAMILY.ceilings(examined)) == []


def test_the_chosen_gold_is_the_one_compared() -> None:
    golds = ("SELECT id FROM orders", "SELECT name FROM customers")
    assert values(examine(golds, "SELECT name FROM customers", chosen=1))["tables.recall"] == 1.0
    assert values(examine(golds, "SELECT name FROM customers", chosen=0))["tables.recall"] == 0.0


def test_ordering_stands_beside_the_six() -> None:
    gold = "SELECT id FROM orders ORDER BY amount DESC LIMIT 3"
    assert values(examine(gold, "SELECT id FROM orders ORDER BY amount LIMIT 3"))["ordering.recall"] == 0.5
    assert (
        values(examine(gold, "SELECT o.id AS x FROM orders o ORDER BY o.amount DESC LIMIT 3"))["ordering.precision"]
        == 1.0
    )


def test_every_reading_has_its_card() -> None:
    cards = {card.name for card in component.FAMILY.cards}
    assert cards == set(component.FAMILY.readings(examine(GOLD, CANDIDATE)))
