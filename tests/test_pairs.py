"""Pairs of queries whose verdict and facts are known, through the library's front door on real engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlassay
from sqlassay.records.settings import ScoreSettings
from throwaway import MakeDatabase, Server

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "fixtures" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """URLs of the database files already built, by engine and set-up text."""
    return {"folder": str(tmp_path_factory.mktemp("pairs"))}


@pytest.fixture
def postgres_database(postgres_server: Server) -> Iterator[MakeDatabase]:
    """Dropped right after its pair: dropping many that were made together costs the server long checkpoints."""
    with postgres_server.databases() as make:
        yield make


def _url(pair: dict[str, Any], databases: dict[str, str], request: pytest.FixtureRequest) -> str:
    if pair["engine"] == "postgres":
        made: str = request.getfixturevalue("postgres_database")(pair["setup"])
        return made
    key = f"{pair['engine']}:{pair['setup']}"
    if key not in databases:
        path = Path(databases["folder"]) / f"{len(databases)}.db"
        match pair["engine"]:
            case "sqlite":
                import apsw

                with apsw.Connection(str(path)) as sqlite:
                    sqlite.execute(pair["setup"])
                sqlite.close()
                databases[key] = f"sqlite:///{path}"
            case _:
                import duckdb

                with duckdb.connect(str(path)) as duck:
                    duck.execute(pair["setup"])
                databases[key] = f"duckdb:///{path}"
    return databases[key]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_verdict_errors_and_facts(
    pair: dict[str, Any], databases: dict[str, str], request: pytest.FixtureRequest
) -> None:
    url = _url(pair, databases, request)
    score = sqlassay.score_sql(pair["gold"], pair["candidate"], database=url, timeout=pair.get("timeout_s", 30))
    execution, sql = score.evidence["execution"], score.evidence.get("sql", {})
    if "exact" in pair:
        assert score.value("execution.exact") in pair["exact"], pair["because"]
    assert _kind(execution["candidate_error"]) in pair.get("candidate_error", [None])
    assert _kind(execution["gold_error"]) in pair.get("gold_error", [None])
    for fact, accepted in pair["facts"].items():
        found = execution[fact] if fact.endswith("_rows") else sql.get(fact)
        assert _folded(found, fact) in [_folded(each, fact) for each in accepted], fact


def _kind(error: dict[str, str] | None) -> str | None:
    return None if error is None else error["kind"]


def _folded(fact: Any, name: str) -> Any:
    """Names compare in lower case; only origins are in the order of the columns."""
    if not isinstance(fact, list):
        return fact
    lowered = [item.lower() if isinstance(item, str) else item for item in fact]
    return lowered if name.endswith("_origins") else sorted(lowered)


@pytest.mark.parametrize(
    ("pair", "convention"),
    [
        pytest.param(pair, convention, id=f"{pair['name']} {' '.join(map(str, convention['settings'].values()))}")
        for pair in PAIRS
        for convention in pair.get("under", ())
    ],
)
def test_verdict_under_another_convention(
    pair: dict[str, Any], convention: dict[str, Any], databases: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Columns by position, plain or no tolerance, ties position by position: the verdicts that those rules give."""
    score = sqlassay.score_sql(
        pair["gold"],
        pair["candidate"],
        database=_url(pair, databases, request),
        timeout=pair.get("timeout_s", 30),
        **convention["settings"],
    )
    assert score.value("execution.exact") == convention["exact"], pair["because"]


CONVENTIONS = [
    pytest.param(pair, settings, id=f"{pair['name']} {' '.join(map(str, settings.values()))}".strip())
    for pair in PAIRS
    if pair["engine"] != "postgres"
    for settings in ({}, *(convention["settings"] for convention in pair.get("under", ())))
]


@pytest.mark.parametrize(("pair", "settings"), CONVENTIONS)
def test_the_verdict_alone_is_the_verdict_of_the_whole_measurement(
    pair: dict[str, Any], settings: dict[str, Any], databases: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Asked twice: the first call looks at the schema, the second may settle it from the results."""
    how: dict[str, Any] = {
        name: settings[name] for name in ("tolerance", "ordered", "compare_on", "optional_columns") if name in settings
    }
    rules: dict[str, Any] = {name: settings[name] for name in ("columns", "ties") if name in settings}
    assert {**how, **rules} == settings
    limit = min(5.0, pair.get("timeout_s", 30))
    url = _url(pair, databases, request)
    with sqlassay.Scorer(url, timeout=limit, settings=ScoreSettings(**rules)) as scorer:
        first = scorer.exact(pair["gold"], pair["candidate"], **how)
        second = scorer.exact(pair["gold"], pair["candidate"], **how)
        whole = scorer.measure(pair["gold"], pair["candidate"], **how).metrics["execution.exact"]
    assert first == second == whole
