"""A retriever behind HTTP, asked by a run: what each case may not find again, and what came back all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.ask import opaque_id
from sqlassay.records.config import Config
from sqlassay.records.measurement import Measurement
from sqlassay.running.plan import plan
from sqlassay.running.run import RunResult, carry_out
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
FIVE = "SELECT name FROM item WHERE id = 5"
FIVE_AGAIN = "select i.name from item i where 5 = i.id"
COUNT = "SELECT COUNT(*) FROM item"
CASES = [
    {"id": "five", "gold_sql": FIVE},
    {"id": "twin", "gold_sql": FIVE_AGAIN},
    {"id": "count", "gold_sql": COUNT},
]
DDL = "CREATE TABLE item (id INTEGER, name TEXT, price REAL); CREATE TABLE stock (item_id INTEGER)"


class Store:
    """Examples by id, of which those whose id or text is named under `hide` and `hide_sql` are kept back."""

    def __init__(self) -> None:
        self.examples: dict[str, str] = {}
        self.asked: list[dict[str, Any]] = []

    def retrieve(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        kept = [sql for name, sql in self.examples.items() if name not in body["hide"] and sql not in body["hide_sql"]]
        return {"offered": DDL, "examples": kept}


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def go(pool: Pool) -> Callable[..., RunResult]:
    return lambda config: carry_out(plan(config), pool)


@pytest.fixture
def asked(
    configured: Configured, go: Callable[..., RunResult], store: Store, endpoint: Callable[..., str]
) -> Callable[[], dict[str, Measurement]]:
    def run() -> dict[str, Measurement]:
        retriever = {"kind": "http", "url": endpoint(store.retrieve)}
        result = go(configured(CASES, retriever=retriever))
        return {score.case_id: score for score in result.folder.scores()}

    return run


def test_case_and_twin_are_hidden_by_id_and_by_text(asked: Callable[[], dict[str, Measurement]], store: Store) -> None:
    store.examples = {opaque_id("five"): "an example known by its id only", "x1": FIVE, "x2": FIVE_AGAIN, "x3": COUNT}
    scores = asked()
    assert not any(score.ceilings and "leak" in score.ceilings for score in scores.values())
    hidden = {tuple(sorted(body["hide_sql"])): set(body["hide"]) for body in store.asked}
    both = {opaque_id("five"), opaque_id("twin")}
    assert hidden == {tuple(sorted((FIVE, FIVE_AGAIN))): both, (COUNT,): {opaque_id("count")}}
    assert scores["five"].value("retrieval.direct.recall") == 1
    assert scores["five"].value("retrieval.direct.precision") == 0.5
    assert scores["five"].value("retrieval.direct.spurious") == 1
    assert scores["five"].value("retrieval.in_turn.recall") is None


def test_an_example_that_says_the_same_under_another_id_is_a_leak(
    asked: Callable[[], dict[str, Measurement]], store: Store
) -> None:
    store.examples = {"copy": "SELECT x.name FROM item AS x WHERE x.id IN (5)"}
    ceilings = {case: [one.value for one in score.ceilings if one.value == "leak"] for case, score in asked().items()}
    assert ceilings == {"five": ["leak"], "twin": ["leak"], "count": []}


@pytest.mark.parametrize("example", ["five", FIVE_AGAIN, f"Q: which?\n```sql\n{FIVE}\n```"])
def test_recorded_answers_show_leaks_too(
    configured: Configured, go: Callable[..., RunResult], shop: Path, example: str
) -> None:
    line = {"id": "five", "sql": FIVE, "retrieval": {"offered": None, "examples": [COUNT], "memory": [example]}}
    (shop / "recorded.jsonl").write_text(json.dumps(line))
    result = go(configured(CASES[:1], agent={"kind": "replay", "path": "recorded.jsonl"}))
    (score,) = result.folder.scores()
    assert "leak" in [one.value for one in score.ceilings]
