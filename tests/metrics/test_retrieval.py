"""Did the agent have the tables: the worked check, names, DDL only, several golds, leaks."""

from __future__ import annotations

import pytest

from sqlassay.metrics import retrieval
from sqlassay.records.case import Case
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Direct, Side, Trial
from sqlassay.records.turn import OfferedTable, Retrieval, Turn
from sqlassay.records.value import Ceiling, Quantity, Ratio, Reading, Reason, Undefined
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

GOLD = """SELECT c.name, SUM(l.qty) FROM orders o JOIN order_lines l ON l.order_id = o.id
JOIN customers c ON c.id = o.customer_id GROUP BY c.name"""


def shop(dialect: str = "sqlite") -> Schema:
    return Schema(
        dialect=dialect,
        tables=(
            TableSchema(name="customers", columns=("id", "name")),
            TableSchema(name="orders", columns=("id", "customer_id")),
            TableSchema(name="order_lines", columns=("order_id", "qty")),
            TableSchema(name="products", columns=("id",)),
            TableSchema(name="staff", columns=("id",)),
            TableSchema(name="sites", columns=("id",)),
        ),
    )


def tables(*names: str) -> tuple[OfferedTable, ...]:
    return tuple(OfferedTable(name=name) for name in names)


def examine(
    golds: tuple[str, ...],
    *,
    offered: tuple[OfferedTable, ...] | None = None,
    complete: bool = True,
    direct: Direct | None = None,
    examples: tuple[str, ...] = (),
    hidden_sql: tuple[str, ...] = (),
    hidden_ids: tuple[str, ...] = (),
    schema: Schema | None = None,
) -> retrieval.Examined:
    schema = schema or shop()
    seen = None
    if offered is not None or examples:
        seen = Retrieval(offered=offered, offered_complete=complete, examples=examples)
    trial = Trial(
        case=Case(id="c", question="?", gold_sql=golds),
        turn=Turn(retrieval=seen),
        golds=tuple(Side(sql=sql, comprehension=understand(sql, index(schema))) for sql in golds),
        direct=direct,
        schema=schema,
        hidden_sql=hidden_sql,
        hidden_ids=hidden_ids,
    )
    return retrieval.FAMILY.examine(trial, ScoreSettings())


def readings(examined: retrieval.Examined) -> dict[str, Reading]:
    return {name.removeprefix("retrieval."): r for name, r in retrieval.FAMILY.readings(examined).items()}


def test_the_worked_check() -> None:
    five = tables("orders", "customers", "products", "staff", "sites")
    found = readings(examine((GOLD,), offered=five, direct=Direct(offered=five)))
    for way in ("direct", "in_turn"):
        assert found[f"{way}.recall"] == Ratio(hits=2, total=3)
        assert found[f"{way}.precision"] == Ratio(hits=2, total=5)
        assert found[f"{way}.spurious"] == Quantity(value=3, unit="count")


def test_both_ways_stay_apart() -> None:
    found = readings(examine((GOLD,), offered=tables("orders"), direct=Direct(offered=tables("customers", "staff"))))
    assert found["in_turn.precision"] == Ratio(hits=1, total=1)
    assert found["direct.precision"] == Ratio(hits=1, total=2)


def test_a_table_without_ddl_was_not_offered() -> None:
    mentioned = (*tables("orders"), OfferedTable(name="customers", has_ddl=False))
    assert readings(examine((GOLD,), offered=mentioned))["in_turn.recall"] == Ratio(hits=1, total=3)


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        ("sqlite", ("MAIN.Orders", '"Order_Lines"', "customers")),
        ("postgres", ("public.orders", "ORDER_LINES", 'public."customers"')),
        ("tsql", ("[dbo].[Orders]", "dbo.order_lines", "CUSTOMERS")),
        ("snowflake", ("PUBLIC.ORDERS", "order_lines", "Customers")),
        ("mysql", ("`orders`", "order_lines", "CUSTOMERS")),
    ],
)
def test_offered_names_are_folded_like_required_ones(dialect: str, names: tuple[str, ...]) -> None:
    found = readings(examine((GOLD,), offered=tables(*names), schema=shop(dialect)))
    assert found["in_turn.recall"] == Ratio(hits=3, total=3)
    assert found["in_turn.precision"] == Ratio(hits=3, total=3)


def test_of_several_golds_the_one_with_the_best_recall_counts() -> None:
    examined = examine((GOLD, "SELECT id FROM staff"), offered=tables("staff", "sites"))
    assert readings(examined)["in_turn.recall"] == Ratio(hits=1, total=1)
    assert retrieval.FAMILY.evidence(examined)["in_turn"]["gold_index"] == 1


def test_unknown_is_undefined_and_never_0() -> None:
    found = readings(examine((GOLD,)))
    assert found["direct.recall"] == Undefined(reason=Reason.NOT_ASKED)
    assert found["in_turn.recall"] == Undefined(reason=Reason.NOT_RECORDED)
    partial = readings(examine((GOLD,), offered=tables("orders"), complete=False))
    assert partial["in_turn.recall"] == Undefined(reason=Reason.OFFERED_INCOMPLETE)
    assert readings(examine((), offered=tables("orders")))["in_turn.recall"] == Undefined(reason=Reason.NOT_APPLICABLE)
    failed = readings(examine((GOLD,), direct=Direct(error="HTTP 500")))
    assert failed["direct.recall"] == Undefined(reason=Reason.HARNESS_FAILED)


def test_nothing_offered_is_recall_0_and_precision_undefined() -> None:
    found = readings(examine((GOLD,), offered=()))
    assert found["in_turn.recall"] == Ratio(hits=0, total=3)
    assert found["in_turn.precision"] == Undefined(reason=Reason.NOTHING_TO_COUNT)
    assert found["in_turn.spurious"] == Quantity(value=0, unit="count")


@pytest.mark.parametrize(
    "example",
    [
        "k7",
        GOLD,
        " ".join(GOLD.split()).lower() + " ;",
        "SELECT x.name, SUM(qty) FROM customers x, orders y JOIN order_lines ON order_id = y.id "
        "WHERE y.customer_id = x.id GROUP BY 1",
        f"Question: how many?\nSQL:\n```sql\n{GOLD}\n```",
        f"Q: how many per customer? A: {GOLD}",
    ],
)
def test_a_hidden_example_that_comes_back_under_any_name_is_a_leak(example: str) -> None:
    examined = examine((GOLD,), examples=("k1", example), hidden_sql=(GOLD,), hidden_ids=("k7",))
    assert list(retrieval.FAMILY.ceilings(examined)) == [Ceiling.LEAK]
    assert retrieval.FAMILY.evidence(examined)["leaked"] == [example]


def test_a_leak_through_the_direct_call_counts_too() -> None:
    examined = examine((GOLD,), direct=Direct(offered=(), examples=(GOLD,)), hidden_sql=(GOLD,))
    assert list(retrieval.FAMILY.ceilings(examined)) == [Ceiling.LEAK]


@pytest.mark.parametrize("example", ["k8", "SELECT name FROM customers", "orders by customers", ""])
def test_other_examples_are_no_leak(example: str) -> None:
    examined = examine((GOLD,), examples=(example,), hidden_sql=(GOLD,), hidden_ids=("k7",))
    assert list(retrieval.FAMILY.ceilings(examined)) == []


def test_every_reading_has_its_card() -> None:
    cards = {card.name for card in retrieval.FAMILY.cards}
    assert cards == set(retrieval.FAMILY.readings(examine((GOLD,))))
