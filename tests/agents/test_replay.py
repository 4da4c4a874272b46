"""Recorded predictions and turns, joined to cases by id and never by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.registry import build
from sqlassay.agents.replay import ReplayAgent
from sqlassay.errors import AgentUnreachable, ConfigError
from sqlassay.records.case import Status
from sqlassay.records.turn import CandidateSource, StatusSource


def replay(path: Path, **settings: Any) -> ReplayAgent:
    agent = build({"kind": "replay", "path": path.name, **settings}, base_dir=str(path.parent))
    assert isinstance(agent, ReplayAgent)
    return agent


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", '{"id": "b", "sql": "SELECT 2"}\n\n{"id": "a", "sql": "SELECT \'x,\\ny\'"}\n'),
        ("p.json", '[{"id": "b", "sql": "SELECT 2"}, {"id": "a", "sql": "SELECT \'x,\\ny\'"}]'),
        ("p.json", '{"b": "SELECT 2", "a": {"sql": "SELECT \'x,\\ny\'"}}'),
        ("p.csv", "id,sql\nb,SELECT 2\na,\"SELECT 'x,\ny'\"\n"),
        ("p.csv", "\ufeffid,sql\r\nb,SELECT 2\r\na,\"SELECT 'x,\ny'\"\r\n"),
    ],
)
def test_every_format_joins_by_id(tmp_path: Path, name: str, text: str) -> None:
    agent = replay(written(tmp_path, name, text))
    agent.check_ids(["a", "b"])
    turn = agent.read(agent.recorded(case_id="a"))
    assert turn.candidate_sql == "SELECT 'x,\ny'"
    assert turn.candidate_source is CandidateSource.DECLARED
    assert agent.read(agent.recorded(case_id="b")).candidate_sql == "SELECT 2"


def test_other_fields_and_whole_turns(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "sql": "SELECT 1", "answer": "One.", "usage": {"tokens_in": 5}},
        {"case_id": "b", "status": "CLARIFICATION", "status_source": "text_rule", "queries": [], "answer": "Which?"},
    ]
    agent = replay(written(tmp_path, "t.jsonl", "\n".join(map(json.dumps, lines))))
    one, other = (agent.read(agent.recorded(case_id=case)) for case in ("a", "b"))
    assert (one.answer, one.usage.tokens_in) == ("One.", 5)
    assert (other.status, other.status_source) == (Status.CLARIFICATION, StatusSource.TEXT_RULE)


def test_structured_cells_of_a_csv(tmp_path: Path) -> None:
    agent = replay(
        written(tmp_path, "p.csv", 'id,sql,stages,answer\na,SELECT 1,"{""plan"": {""op"": ""COUNT""}}",[5]\n')
    )
    turn = agent.read(agent.recorded(case_id="a"))
    assert turn.stages == {"plan": {"op": "COUNT"}}
    assert turn.answer == "[5]"


def test_renamed_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "p.csv", "qid,prediction\na,SELECT 1\n")
    agent = replay(path, columns={"qid": "id", "prediction": "sql"})
    assert agent.read(agent.recorded(case_id="a")).candidate_sql == "SELECT 1"
    with pytest.raises(ConfigError, match="no field 'quid'"):
        replay(path, columns={"quid": "id"})


def test_wordings_and_repeats(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "sql": "SELECT 0"},
        {"id": "a", "sql": "SELECT 1", "phrasing": 1},
        {"id": "a", "sql": "SELECT 2", "phrasing": 1, "repeat": 1},
    ]
    agent = replay(written(tmp_path, "p.jsonl", "\n".join(map(json.dumps, lines))))

    def sql(phrasing: int, repeat: int) -> str | None:
        return agent.read(agent.recorded(case_id="a", phrasing=phrasing, repeat=repeat)).candidate_sql

    assert [sql(0, 0), sql(0, 1), sql(1, 0), sql(1, 1), sql(2, 0)] == [
        "SELECT 0", "SELECT 0", "SELECT 1", "SELECT 2", "SELECT 0",
    ]  # fmt: skip


def test_an_id_that_appears_twice_is_named_with_both_places(tmp_path: Path) -> None:
    path = written(tmp_path, "p.jsonl", '{"id": "a", "sql": "1"}\n{"id": "b", "sql": "2"}\n{"id": "a", "sql": "3"}\n')
    with pytest.raises(ConfigError, match=r"id 'a' appears twice \(line 1 and line 3\)"):
        replay(path)


def test_predictions_for_unknown_cases_are_named(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"id": f"x{n}", "sql": "SELECT 1"}) for n in range(8))
    agent = replay(written(tmp_path, "p.jsonl", lines))
    with pytest.raises(
        ConfigError, match=r"predictions 'x1', 'x2', 'x3', 'x4', 'x5' and 2 more \(7 in all\) match no case"
    ):
        agent.check_ids(["x0"])


def test_cases_without_a_prediction_are_named_or_scored_as_empty(tmp_path: Path) -> None:
    path = written(tmp_path, "p.jsonl", '{"id": "a", "sql": "SELECT 1"}')
    strict = replay(path)
    strict.check_ids(["a", "b"], selected=["a"])
    with pytest.raises(ConfigError, match="no prediction for 'b'"):
        strict.check_ids(["a", "b"])
    with pytest.raises(AgentUnreachable, match="no prediction for case 'b'"):
        strict.recorded(case_id="b")
    lax = replay(path, missing="empty")
    lax.check_ids(["a", "b"])
    assert lax.read(lax.recorded(case_id="b")).status is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.jsonl", '{"id": "a", "sql": 1}\n{"id": ', r"p\.jsonl:2: not JSON"),
        ("p.jsonl", '["a", "SELECT 1"]', "line 1: expected a mapping with id and sql, got a list"),
        ("p.jsonl", '{"sql": "SELECT 1"}', "line 1: no id"),
        ("p.jsonl", '{"id": "a", "repeat": "x"}', "repeat 'x' is not a whole number"),
        ("p.json", "3", "expected a list or a mapping of ids, got a number"),
        ("p.csv", "", "empty"),
        ("p.csv", "id,sql\na,SELECT 1,2\n", "line 2: 3 cells, the header has 2"),
        ("p.tsv", "id\n", "neither .jsonl, .json nor .csv"),
    ],
)
def test_a_malformed_file_says_where(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replay(written(tmp_path, name, text))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "\xff"}')
    with pytest.raises(ConfigError, match="not UTF-8"):
        replay(path)
