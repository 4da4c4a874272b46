"""What a run on each engine writes: no password anywhere, and what the engine cannot do in every report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import duckdb
import pytest

from sqlassay.cli.main import run_command
from sqlassay.testing.databases import SETUP

PASSWORD = "pl4nted-s3cret-7f"
CASES = (
    {"id": "count", "question": "How many?", "gold_sql": "SELECT COUNT(*) FROM item"},
    {"id": "wrong", "question": "Which?", "gold_sql": "SELECT label FROM item WHERE id = 10"},
)
TURNS = (
    {"case_id": "count", "sql": "SELECT COUNT(*) FROM item"},
    {"case_id": "wrong", "sql": f"SELECT '{PASSWORD[:4]}' FROM no_such_table"},
)
READER = (
    f"CREATE OR REPLACE USER sqlassay_planted IDENTIFIED BY '{PASSWORD}'",
    "GRANT SELECT, SHOW VIEW ON `sqlassay\\_%`.* TO sqlassay_planted",
)
FORMATS = (".json", ".jsonl", ".html", ".md", ".xml", ".csv")


def everything_written(url: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Every file and every output of a run and of the commands around it, by name."""
    config = {"cases": "cases.jsonl", "database": url, "agent": {"kind": "replay", "path": "turns.jsonl"}}
    Path("sqlassay.yaml").write_text(json.dumps(config), encoding="utf-8")
    for name, lines in (("cases.jsonl", CASES), ("turns.jsonl", TURNS)):
        Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    outputs = [part for suffix in FORMATS for part in ("-o", f"out/report{suffix}")]
    ran = run_command(["run", "--run-id", "one", *outputs])
    for command in ("check", "doctor", "show one wrong", "score one --json", "snapshot out/fixture"):
        run_command(command.split())
    said = capsys.readouterr()
    assert ran == 0, said.err
    files = [path for folder in ("runs", "out") for path in Path(folder).rglob("*") if path.is_file()]
    return {
        "stdout": said.out,
        "stderr": said.err,
        **{str(path): path.read_bytes().decode("utf-8", "replace") for path in files},
    }


def with_password(url: str, user: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{user}:${{PLANTED_PASSWORD}}@{parts.hostname}:{parts.port}{parts.path}"


@pytest.fixture(
    params=[
        "sqlite",
        "duckdb",
        "generic",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("mysql", marks=pytest.mark.mysql),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each engine, with the password in the URL where one can stand."""
    kind = request.param
    if kind == "duckdb":
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            for statement in SETUP:
                connection.execute(statement)
        yield "duckdb:///shop.duckdb"
    elif kind in ("sqlite", "generic"):
        file = apsw.Connection(str(tmp_path / "shop.db"))
        file.execute(";".join(SETUP))
        file.close()
        secret = "sqlite:///shop.db?password=${PLANTED_PASSWORD}"
        yield secret if kind == "sqlite" else f"sqlalchemy+sqlite:///{tmp_path}/shop.db"
    else:
        make: Callable[..., str] = request.getfixturevalue(f"{kind}_database")
        if kind == "postgres":
            yield with_password(make(*SETUP), "postgres")
        else:
            yield with_password(make(*SETUP, *READER), "sqlassay_planted")
            make("DROP USER sqlassay_planted")


def test_no_password_is_written_and_what_an_engine_cannot_do_is(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLANTED_PASSWORD", PASSWORD)
    monkeypatch.chdir(tmp_path)
    written = everything_written(url, capsys)
    assert [name for name, text in written.items() if PASSWORD in text] == []
    assert {f"out/report{suffix}" for suffix in FORMATS} <= written.keys()
    generic = url.startswith("sqlalchemy+")
    for name in ("out/report.html", "out/report.md", "runs/one/manifest.json"):
        assert ("no time-out in the engine" in written[name]) is generic, name
        assert ("no snapshot" in written[name]) is generic, name
