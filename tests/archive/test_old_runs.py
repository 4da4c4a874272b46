"""Runs of every past format version stay readable: their lines, their numbers, and every command that takes a run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sqlassay import api
from sqlassay.archive.run_folder import RunFolder
from sqlassay.cli.main import run_command
from sqlassay.records.execution import Rows
from sqlassay.records.run import FORMAT_VERSION, RunState, TrialKey

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
VERSIONS = sorted(path.name for path in RUNS.glob("v*"))
ENDINGS = {
    ("count_orders", 0): None,
    ("count_orders", 1): "wrong_values",
    ("spent", 0): "wrong_values",
    ("top", 0): None,
    ("british", 0): None,
    ("dates", 0): "too_few_rows",
    ("broken", 0): "sql_error",
    ("typo", 0): "gold_error",
    ("crash", 0): "agent_error",
    ("weather", 0): None,
}


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of an old run, in a folder `runs` of the current folder."""
    version = str(request.param)
    path = tmp_path / "runs" / version
    shutil.copytree(RUNS / version, path)
    monkeypatch.chdir(tmp_path)
    return path


def endings(path: Path) -> dict[tuple[str, int], str | None]:
    return {(score.case_id, score.phrasing): score.bucket for score in RunFolder(path).scores()}


def test_there_is_a_run_of_every_version() -> None:
    assert [f"v{number}" for number in range(1, FORMAT_VERSION + 1)] == VERSIONS


def test_everything_in_it_is_read(old: Path) -> None:
    run = RunFolder(old)
    assert run.manifest.state is RunState.COMPLETE
    assert {case.id for case in run.cases()} == {case_id for case_id, _ in ENDINGS}
    assert endings(old) == ENDINGS
    turns = {(turn.case_id, turn.phrasing): turn for turn in run.turns()}
    assert turns.keys() == ENDINGS.keys()
    assert turns["count_orders", 0].answer == "There are 4 orders."
    raw = run.raw(turns["count_orders", 0])
    assert raw is not None
    assert b"There are 4 orders." in raw
    assert [table.name for table in run.schemas()["default"].tables] == ["orders", "customers"]
    sides = run.sides_of(TrialKey(case_id="spent"))
    assert sides is not None
    assert isinstance(sides.candidate.execution, Rows)
    assert sorted(sides.candidate.execution.relation.tuples()) == [("Ada", 10.5), ("Bo", 7.25), ("Cy", 7.25)]


def test_its_numbers_are_summed_up_and_scored_again(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = api.open_run(old).summary.counts
    assert (counts.cases, counts.scored, counts.passed, counts.unscored) == (9, 8, 3, 1)
    assert run_command(["score", old.name, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert endings(old) == ENDINGS
    assert said["metrics"]["outcome.pass"]["mean"] == pytest.approx(3.5 / 8)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "html", "md", "xml", "csv", "parquet"])
def test_it_is_reported_in_every_format(old: Path, suffix: str) -> None:
    assert run_command(["report", old.name, "-o", f"out.{suffix}"]) == 0
    assert Path(f"out.{suffix}").stat().st_size > 500


def test_it_is_shown_listed_judged_and_compared(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list"]) == 0
    assert old.name in capsys.readouterr().out
    assert run_command(["show", old.name, "spent"]) == 0
    assert "MAX(total)" in capsys.readouterr().out
    assert run_command(["compare", old.name, old.name, "--json"]) == 0
    change = json.loads(capsys.readouterr().out)
    assert (change["fixed"], change["broken"], change["verdict"]) == ([], [], "no difference shown")
    assert run_command(["gate", old.name, "--require", "outcome.pass >= 0.9"]) == 1
    assert "spent (wrong_values)" in " ".join(capsys.readouterr().out.split())


def test_a_half_written_last_line_is_dropped(old: Path) -> None:
    for name in ("turns.jsonl", "scores.jsonl"):
        with (old / name).open("ab") as file:
            file.write(b'{"case_id": "weat')
    assert endings(old) == ENDINGS


def test_a_run_of_a_newer_version_says_so(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((old / "manifest.json").read_bytes())
    (old / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}), encoding="utf-8")
    assert run_command(["report", old.name]) != 0
    assert "upgrade sqlassay" in capsys.readouterr().err
