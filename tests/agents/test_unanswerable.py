"""Questions that no query can answer, and questions that one can, answered and refused: both directions are told apart.

Every unanswerable question of defog's public set, with its own words of refusal in the place of the SQL, beside
answerable ones of the same databases, by replay through a run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import sqlassay
from sqlassay.agents.refusals import status_in, status_in_sql
from sqlassay.datasets import import_
from sqlassay.records.case import Status
from sqlassay.records.measurement import Bucket
from sqlassay.records.turn import StatusSource

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2] / ".." / "shared" / "data")) / "defog"
public = pytest.mark.skipif(not DATA.is_dir(), reason=f"public data sets are not at {DATA}")

ANSWERABLE = 24


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def asked() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    unanswerable = [{**row, "dialect": "sqlite"} for row in rows("unanswerable.jsonl")]
    answerable = [row for row in rows("cases.jsonl") if row["dialect"] == "sqlite" and "{" not in row["gold_sql"]]
    return unanswerable, answerable[:ANSWERABLE]


@public
@pytest.mark.public_data
@pytest.mark.timeout(300)
def test_refusals_both_ways(tmp_path: Path) -> None:
    unanswerable, answerable = asked()
    refusal = unanswerable[0]["gold_sql"]
    answers = [
        *({"id": row["id"], "sql": row["gold_sql"]} for row in unanswerable[0::3]),
        *(
            {"id": row["id"], "answer": "Which one do you mean?", "status": "CLARIFICATION"}
            for row in unanswerable[1::3]
        ),
        *({"id": row["id"], "sql": "SELECT 42 AS answer"} for row in unanswerable[2::3]),
        *({"id": row["id"], "sql": row["gold_sql_alternatives"][0]} for row in answerable[0::2]),
        *({"id": row["id"], "sql": refusal} for row in answerable[1::2]),
    ]
    imported = import_.convert(
        "defog",
        written(tmp_path / "questions.jsonl", unanswerable + answerable),
        databases=str(DATA / "database"),
    )
    import_.write(imported, tmp_path)
    written(tmp_path / "answers.jsonl", answers)
    config = tmp_path / "sqlassay.yaml"
    settings = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump({**settings, "agent": {"kind": "replay", "path": "answers.jsonl"}}))
    done = sqlassay.run(config)

    declined, clarified = len(unanswerable[0::3]), len(unanswerable[1::3])
    over = len(answerable[1::2])
    shares = {name: figures["mean"] for name, figures in done.summary.to_dict()["metrics"].items()}
    assert shares["behaviour.refusal_recall"] == pytest.approx((declined + clarified) / len(unanswerable))
    assert shares["behaviour.refusal_precision"] == pytest.approx(
        (declined + clarified) / (declined + clarified + over)
    )
    assert shares["behaviour.refusal_kind_accuracy"] == pytest.approx(declined / (declined + clarified))
    assert shares["behaviour.over_refusal"] == pytest.approx(over / len(answerable))
    buckets = {score.case_id: score.bucket for score in done.scores}
    wanted = {
        **dict.fromkeys((row["id"] for row in unanswerable[0::3]), None),
        **dict.fromkeys((row["id"] for row in unanswerable[1::3]), Bucket.WRONG_REFUSAL),
        **dict.fromkeys((row["id"] for row in unanswerable[2::3]), Bucket.ANSWERED_UNANSWERABLE),
        **dict.fromkeys((row["id"] for row in answerable[0::2]), None),
        **dict.fromkeys((row["id"] for row in answerable[1::2]), Bucket.DECLINED),
    }
    assert buckets == wanted
    by_words = [turn for turn in done.turns if turn.status_source is StatusSource.TEXT_RULE]
    assert len(by_words) == declined + over


@public
@pytest.mark.public_data
def test_the_words_of_every_refusal_are_understood() -> None:
    assert {status_in_sql(row["gold_sql"]) for row in asked()[0]} == {Status.UNSUPPORTED}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I'm afraid I cannot tell from this data.", Status.UNSUPPORTED),
        ("My apologies, but answering that isn't feasible here.", Status.UNSUPPORTED),
        ("I do not possess the information to say.", Status.UNSUPPORTED),
        ("Alas, we lack the relevant data.", Status.UNSUPPORTED),
        ("12 films lack the necessary data.", None),
        ("Films without data are listed as NULL.", None),
        ("Here is the data needed to answer: Dune.", None),
    ],
)
def test_words_about_missing_data(text: str, status: Status | None) -> None:
    assert status_in(text, ran=False) is status


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT 'I cannot answer that.' AS answer;", Status.UNSUPPORTED),
        ("select 'Do you mean 2020 or 2021?'::text", Status.CLARIFICATION),
        ("SELECT 'Sorry, I can''t help with that.' FROM dual", Status.UNSUPPORTED),
        ("SELECT 'España'", None),
        ("SELECT 'I cannot answer that.' FROM films", None),
        ("SELECT 'I cannot answer that.', COUNT(*) FROM films", None),
    ],
)
def test_a_refusal_in_the_place_of_sql(sql: str, status: Status | None) -> None:
    assert status_in_sql(sql) is status
