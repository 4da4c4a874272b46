"""Pairs of results whose right verdict is known, under the default rule and under others."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.case import Ordered, Tolerance
from sqlassay.records.query import KeySource, Ordering, OrderPlan, SortKey
from sqlassay.records.relation import Column, Kind, Relation
from sqlassay.tables.encode import Coercions
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.order import order_of
from sqlassay.tables.rule import Facts, Links, TableRule

FIXTURES = Path(__file__).parents[1] / "fixtures" / "results" / "verdicts.jsonl"
PLAIN = Tolerance(mode="plain", abs="0.01")


def _cell(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((tag, held),) = value.items()
    match tag:
        case "float":
            return float(held)
        case "decimal":
            return Decimal(held)
        case "timestamp":
            return datetime.fromisoformat(held)
        case "date":
            return date.fromisoformat(held)
        case "time":
            return time.fromisoformat(held)
        case "bytes":
            return bytes.fromhex(held)
        case "list":
            return [_cell(item) for item in held]
        case "map":
            return {_cell(key): _cell(item) for key, item in held}
        case "surrogates":
            return "".join(map(chr, held))
    raise ValueError(tag)


def _relation(plain: dict[str, Any]) -> Relation:
    return Relation(
        columns=tuple(Column(name=name, kind=Kind(kind)) for name, kind in plain["columns"]),
        rows=[tuple(map(_cell, row)) for row in plain["rows"]],
    )


def _facts(plain: dict[str, Any]) -> Facts:
    return Facts(
        origins=tuple(plain.get("origins", ())),
        expressions=tuple(plain.get("expressions", ())),
        aggregates=tuple(plain.get("aggregates", ())),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    line: dict[str, Any]

    def rule(self, *, ordered: Ordered = Ordered.AUTO) -> TableRule:
        order = self.line.get("order", {})
        keys = tuple(SortKey(expression=str(i)) for i in range(order.get("keys", 0)))
        before = order.get("before_the_cut")
        facts = order_of(
            _relation(self.line["reference"]),
            ordering=Ordering(
                keys=keys,
                limit=order.get("limit"),
                offset=order.get("offset"),
                limited=order.get("limited", False),
            ),
            plan=OrderPlan(
                source=KeySource(order.get("source", "none")),
                key_count=order.get("key_count", 0),
                positions=tuple(order.get("positions", ())),
            ),
            auxiliary=None if before is None else _relation(before),
            ordered=ordered,
        )
        links = Links(reference=_facts(self.line["reference"]), candidate=_facts(self.line["candidate"]))
        return TableRule(order=facts.order, links=links)

    def exact(self, rule: TableRule) -> bool:
        return compare_tables(_relation(self.line["reference"]), _relation(self.line["candidate"]), rule).exact


PAIRS = [Pair(json.loads(line)) for line in FIXTURES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.line["id"] for pair in PAIRS])
def test_the_verdict_of_the_default_rule(pair: Pair) -> None:
    assert pair.exact(pair.rule()) == bool(pair.line["exact"]), pair.line["why"]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.line["id"] for pair in PAIRS])
def test_the_verdicts_of_other_rules(pair: Pair) -> None:
    def plain(**changes: Any) -> TableRule:
        ordered = changes.pop("ordered", Ordered.AUTO)
        return replace(
            pair.rule(ordered=ordered),
            tolerance=PLAIN,
            coercions=Coercions(dates=False, booleans=True),
            **{"columns": "by_position", **changes},
        )

    wanted = {
        "plain_by_position": plain(),
        "plain_any_order": plain(ordered=Ordered.NO),
        "plain_any_columns": plain(columns="any"),
    }
    for name, rule in wanted.items():
        if pair.line[name] is not None:
            assert pair.exact(rule) == pair.line[name], (name, pair.line["why"])


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.line["id"] for pair in PAIRS])
def test_gold_against_itself_is_exact(pair: Pair) -> None:
    reference = _relation(pair.line["reference"])
    rule = pair.rule()
    links = Links(reference=rule.links.reference, candidate=rule.links.reference)
    found = compare_tables(reference, reference, replace(rule, links=links))
    assert found.exact
    assert found.by_position
    assert found.with_extra
