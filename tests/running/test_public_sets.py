"""Public benchmarks the whole way: imported, replayed, run, and their official verdicts met case by case."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlassay import api
from sqlassay.cli.main import run_command
from sqlassay.datasets.foreign import Imported, Prediction
from sqlassay.datasets.import_ import convert, write
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.value import Quantity, Ratio, Reading

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SPIDER = ("c3_chatgpt", "dail_sql_gpt4", "din_sql_codex", "gpt4_few_shot", "supersql_gpt4")
BIRD = ("chatgpt_turbo", "chatgpt_turbo_kg", "dail_questionmask_gpt_4_for_bird", "supersql_gpt4")

pytestmark = [
    pytest.mark.public_data,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the public data sets are not at {DATA}"),
]


def _official(root: Path, system: str) -> Mapping[str, Mapping[str, Any]]:
    lines = (root / "official" / f"{system}.verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


def _value(reading: Reading) -> float | str:
    return reading.value if isinstance(reading, Ratio | Quantity) else str(reading)


def _differences(
    scores: Sequence[Measurement], official: Mapping[str, Mapping[str, Any]], columns: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    found = []
    for score in scores:
        said = official[score.case_id]
        for metric, column in columns.items():
            ours = _value(score.metrics[metric])
            if said[column] is not None and ours != pytest.approx(said[column], abs=1e-6):
                found.append((score.case_id, metric, ours, said[column]))
    return found


def _imported_run(kind: str, root: Path, system: str, folder: Path, **overrides: Any) -> api.Run:
    answers = root / "predictions" / f"{system}.jsonl"
    assert run_command(["import", kind, str(root), "--into", str(folder), "--predictions", str(answers)]) == 0
    return api.run(folder / "sqlassay.yaml", **overrides)


@pytest.mark.parametrize("system", SPIDER)
def test_spider_verdicts_through_import_and_replay(system: str, tmp_path: Path) -> None:
    """A fixed tenth of the cases; docs/design/tables.md has the figures of all."""
    root = DATA / "spider_dev"
    run = _imported_run("spider", root, system, tmp_path, fast=True)
    columns = {"execution.exact@spider": "ex", "execution.exact@spider_keep_distinct": "ex_keep_distinct"}
    assert len(run.scores) > 90
    assert _differences(run.scores, _official(root, system), columns) == []


@pytest.mark.parametrize("system", BIRD)
def test_bird_verdicts_through_import_and_replay(system: str, tmp_path: Path) -> None:
    root = DATA / "bird_superhero"
    run = _imported_run("bird", root, system, tmp_path)
    columns = {"execution.exact@bird": "ex", "execution.soft_f1@bird": "soft_f1"}
    assert len(run.scores) == 129
    assert _differences(run.scores, _official(root, system), columns) == []


@pytest.fixture(scope="module")
def defog(defog_databases: dict[str, str]) -> Imported:
    """Defog's questions for PostgreSQL."""
    found = convert("defog", DATA / "defog" / "cases.jsonl", databases="postgresql://localhost/{db}")
    return replace(found, databases=defog_databases)


def _answered(imported: Imported, folder: Path, answer: Callable[[int, str], str]) -> api.Run:
    answered = [case for case in imported.cases if case.gold_sql]
    predictions = tuple(
        Prediction(id=case.id, sql=answer(number, case.gold_sql[0])) for number, case in enumerate(answered)
    )
    write(replace(imported, cases=tuple(answered), predictions=predictions), folder)
    return api.run(folder / "sqlassay.yaml")


@pytest.mark.postgres
def test_defog_on_postgresql_with_its_golds_as_predictions(defog: Imported, tmp_path: Path) -> None:
    run = _answered(defog, tmp_path, lambda _, gold: gold)
    assert len(run.scores) > 150
    assert Counter(score.bucket for score in run.scores) == {None: len(run.scores)}
    for metric in ("execution.exact", "execution.exact@defog", "execution.subset@defog"):
        assert {_value(score.metrics[metric]) for score in run.scores} == {1.0}
    assert run.summary.self_checks.clean


@pytest.mark.postgres
def test_defog_on_postgresql_with_broken_predictions(defog: Imported, tmp_path: Path) -> None:
    def broken(number: int, gold: str) -> str:
        return f"SELECT * FROM ({gold}) AS t WHERE 1 = 0" if number % 2 else "SELECT missing_column FROM missing_table"

    run = _answered(defog, tmp_path, broken)
    assert not [score.case_id for score in run.scores if score.bucket is None]
    assert {score.bucket for score in run.scores} <= {Bucket.SQL_ERROR, Bucket.TOO_FEW_ROWS}
    failed = [score for score in run.scores if score.bucket is Bucket.SQL_ERROR]
    assert len(failed) == (len(run.scores) + 1) // 2
    assert {score.evidence["execution"]["candidate_error"]["kind"] for score in failed} == {"unknown_table"}
    assert run.summary.self_checks.clean
