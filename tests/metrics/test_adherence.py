"""Does the candidate SQL name only what the schema has?"""

from __future__ import annotations

import pytest

from sqlassay.metrics import adherence
from sqlassay.records.case import Case
from sqlassay.records.relation import Schema, TableSchema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ratio, Reading, Reason, Undefined
from sqlassay.sql.schema import index
from sqlassay.sql.understand import understand

SHOP = Schema(dialect="sqlite", tables=(TableSchema(name="orders", columns=("id", "amount")),))


def read(sql: str | None) -> Reading:
    side = Side(sql=sql, comprehension=None if sql is None else understand(sql, index(SHOP)))
    trial = Trial(case=Case(id="c", question="?"), turn=Turn(), candidate=side, schema=SHOP)
    return adherence.FAMILY.readings(adherence.FAMILY.examine(trial, ScoreSettings()))[adherence.NAME]


@pytest.mark.parametrize(
    ("sql", "hits", "total"),
    [
        ("SELECT id, amount FROM orders", 3, 3),
        ("SELECT id, colour FROM orders", 2, 3),
        ("SELECT o.id, o.colour, o.amount FROM orders o WHERE o.id > 3", 3, 4),
        ("SELECT colour FROM nowhere", 0, 2),
        ("SELECT *, id FROM orders", 3, 3),
        ("WITH x AS (SELECT id AS k FROM orders) SELECT k FROM x", 2, 2),
    ],
)
def test_the_share_of_names_that_exist(sql: str, hits: int, total: int) -> None:
    assert read(sql) == Ratio(hits=hits, total=total)


def test_when_it_is_undefined() -> None:
    assert read(None) == Undefined(reason=Reason.NO_SQL)
    assert read("SELECT FROM WHERE") == Undefined(reason=Reason.UNRESOLVED)
    assert read("SELECT 1") == Undefined(reason=Reason.NOTHING_TO_COUNT)
