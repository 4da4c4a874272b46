"""The rules of Spider and BIRD reproduce the verdicts that their official scripts gave, case by case."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sqlassay.tables import others

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SYSTEMS = ("c3_chatgpt", "dail_sql_gpt4", "din_sql_codex", "gpt4_few_shot", "supersql_gpt4")
BIRD = ("chatgpt_turbo", "chatgpt_turbo_kg", "dail_questionmask_gpt_4_for_bird", "supersql_gpt4")
PATIENCE_S = 20.0

pytestmark = [
    pytest.mark.public_data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the public data sets are not at {DATA}"),
]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def _connection(path: Path, *, forgiving: bool) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    if forgiving:
        connection.text_factory = lambda raw: raw.decode(errors="ignore")
    timer = threading.Timer(PATIENCE_S, connection.interrupt)
    timer.start()
    try:
        yield connection
    finally:
        timer.cancel()
        connection.close()


def _run(path: Path, sql: str, *, forgiving: bool = True) -> list[tuple[Any, ...]] | None:
    with _connection(path, forgiving=forgiving) as connection:
        try:
            return connection.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning):
            return None


@cache
def _spider(path: Path, text: str) -> list[tuple[Any, ...]] | None:
    return _run(path, text)


@pytest.mark.parametrize("system", SYSTEMS)
def test_spider(system: str) -> None:
    root = DATA / "spider_dev"
    predictions = {line["id"]: line["sql"] for line in _lines(root / "predictions" / f"{system}.jsonl")}
    official = {line["id"]: line for line in _lines(root / "official" / f"{system}.verdicts.jsonl")}
    different = []
    for case in _lines(root / "cases.jsonl"):
        path = (
            next((root / "database" / case["db"]).glob("*.sqlite"), None) or root / "database" / f"{case['db']}.sqlite"
        )
        for name, keep in (("ex", False), ("ex_keep_distinct", True)):
            if official.get(case["id"], {}).get(name) is None or not case["db_complete"]:
                continue
            gold = _spider(path, others.spider_text(case["gold_sql"], keep_distinct=keep))
            found = _spider(path, others.spider_text(predictions[case["id"]], keep_distinct=keep))
            assert gold is not None
            matters = others.spider_order_matters(case["gold_sql"])
            ours = found is not None and others.spider_equal(gold, found, order_matters=matters)
            if int(ours) != official[case["id"]][name]:
                different.append((case["id"], name, official[case["id"]][name]))
    assert different == []


@pytest.mark.parametrize("system", BIRD)
def test_bird(system: str) -> None:
    root = DATA / "bird_superhero"
    predictions = {line["id"]: line["sql"] for line in _lines(root / "predictions" / f"{system}.jsonl")}
    official = {line["id"]: line for line in _lines(root / "official" / f"{system}.verdicts.jsonl")}
    path = next((root / "database").rglob("*.sqlite"))
    different = []
    for case in _lines(root / "cases.jsonl"):
        if case["id"] not in official:
            continue
        gold = _run(path, case["gold_sql"], forgiving=False)
        found = _run(path, predictions[case["id"]], forgiving=False)
        assert gold is not None
        exact = int(found is not None and others.bird_equal(gold, found))
        soft = 0.0 if found is None else others.bird_soft_f1(gold, found)
        said = official[case["id"]]
        if exact != said["ex"] or soft != pytest.approx(said["soft_f1"], abs=1e-6):
            different.append((case["id"], exact, said["ex"], soft, said["soft_f1"]))
    assert different == []
