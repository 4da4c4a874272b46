"""The commands on a small shop: from an empty folder to a verdict, and what each says when something is wrong."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyarrow import parquet

from sqlassay.cli.main import run_command
from sqlassay.view import reviews
from sqlassay.view.reviews import Review, Said

CASES = """
- id: count_orders
  question: How many orders are there?
  category: count
  gold_sql: SELECT COUNT(*) FROM orders
  compare_on: scalar
- id: totals
  question: What did each customer spend?
  category: breakdown
  gold_sql: SELECT customer, SUM(total) AS spent FROM orders GROUP BY customer
- id: weather
  question: What will the weather be?
  category: behaviour
  expect: {terminal_status: UNSUPPORTED}
"""
AGENT = """
ANSWERS = {
    "How many orders are there?": {"sql": "SELECT COUNT(*) FROM orders"},
    "What did each customer spend?": {"sql": "SELECT customer, MAX(total) FROM orders GROUP BY customer"},
    "What will the weather be?": {"status": "UNSUPPORTED", "answer": "Not in this data."},
}


def answer(question):
    return ANSWERS[question]
"""
CONFIG = """
cases: cases.yaml
database: sqlite:///shop.db
agent: {kind: python, target: "shop_agent:answer"}
gate: {require: ["outcome.pass >= 0.9"]}
"""


def _fill(folder: Path) -> None:
    database = sqlite3.connect(folder / "shop.db")
    database.executescript(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL);"
        "INSERT INTO orders VALUES (1, 'Ada', 10.5), (2, 'Ada', 4), (3, 'Bo', 7.25);"
    )
    database.close()
    (folder / "cases.yaml").write_text(CASES, encoding="utf-8")
    (folder / "shop_agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "sqlassay.yaml").write_text(CONFIG, encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database, an agent that is right twice and wrong once, cases and a configuration."""
    _fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop after run `one`, made once for all tests that only look at a run."""
    folder = tmp_path_factory.mktemp("finished")
    _fill(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run_command(["run", "--run-id", "one", "-q"]) == 0
    return folder


@pytest.fixture
def ran(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shop of one's own in which run `one` is over."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_scores_keeps_and_reports(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--run-id", "one", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["metrics"]["outcome.pass"]["mean"] == pytest.approx(2 / 3)
    assert summary["buckets"]["wrong_values"] == 1
    assert not any(summary["self_checks"].values())
    assert (shop / "runs" / "one" / "report.html").stat().st_size > 10_000
    assert json.loads((shop / "runs" / "one" / "summary.json").read_text()) == summary


@pytest.mark.usefixtures("shop")
def test_gate_decides_and_names_case_and_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--run-id", "one", "--gate", "-q"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "totals (wrong_values)" in said
    assert run_command(["gate", "one", "--require", "outcome.pass >= 0.5"]) == 0
    assert run_command(["gate", "one", "--all-pass"]) == 1
    assert run_command(["gate", "one", "--require", "outcome.pas >= 0.5"]) == 2
    assert "outcome.pass" in capsys.readouterr().err


def test_a_misspelt_rule_or_a_missing_baseline_costs_no_run(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "sqlassay.yaml").write_text(CONFIG.replace("outcome.pass", "outcome.pas"), encoding="utf-8")
    assert run_command(["run", "--gate", "-q"]) == 2
    assert "outcome.pass" in capsys.readouterr().err
    (shop / "sqlassay.yaml").write_text(CONFIG.replace("gate: {", "gate: {baseline: nightly, "), encoding="utf-8")
    assert run_command(["run", "--gate", "-q"]) != 0
    assert "nightly" in capsys.readouterr().err
    assert not (shop / "runs").exists()


@pytest.mark.usefixtures("shop")
def test_run_and_verdict_are_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--gate", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["gate"]["state"] == "failed"
    assert said["gate"]["rules"][0]["cases"] == ["totals"]
    assert said["counts"]["cases"] == 3


def test_a_baseline_on_the_command_line_joins_the_rules_of_the_file(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(["run", "--run-id", "one", "-q"])
    assert run_command(["gate", "one", "--baseline", "one"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "outcome.pass >= 0.9" in said
    assert "no case that passed in one fails now" in said
    (shop / "sqlassay.yaml").rename(shop / "other.yaml")
    assert run_command(["gate", "one", "--baseline", "one"]) == 0
    assert run_command(["gate", "one"]) == 2


@pytest.mark.usefixtures("ran")
def test_show_has_both_queries_and_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["show", "one", "totals"]) == 0
    said = capsys.readouterr().out
    for part in ("SUM(total)", "MAX(total)", "wrong_values", "14.5", "10.5"):
        assert part in said
    assert run_command(["show", "one", "total"]) == 2
    said = capsys.readouterr().err
    assert "no score of a case 'total'" in said
    assert "did you mean totals" in said
    assert run_command(["show", "one", "totals", "--repeat", "1"]) == 2
    said = capsys.readouterr().err
    assert "no score of case 'totals' at phrasing 0, repeat 1" in said
    assert "there is --phrasing 0 --repeat 0" in said


def test_score_again_gives_the_same_bytes_without_agent_and_database(ran: Path) -> None:
    before = {name: (ran / "runs" / "one" / name).read_bytes() for name in ("scores.jsonl", "summary.json")}
    (ran / "shop.db").unlink()
    (ran / "shop_agent.py").unlink()
    assert run_command(["score", "one", "-q"]) == 0
    after = {name: (ran / "runs" / "one" / name).read_bytes() for name in before}
    assert after == before


def test_report_writes_every_format(ran: Path) -> None:
    suffixes = ["json", "jsonl", "html", "md", "xml", "csv", "parquet"]
    files = [ran / "out" / f"report.{suffix}" for suffix in suffixes]
    assert run_command(["report", "one", *(part for file in files for part in ("-o", str(file)))]) == 0
    texts = {file.suffix[1:]: file.read_text(encoding="utf-8") for file in files[:-1]}
    assert json.loads(texts["json"])["buckets"]["wrong_values"] == 1
    assert [json.loads(line)["case_id"] for line in texts["jsonl"].splitlines()] == [
        "count_orders",
        "totals",
        "weather",
    ]
    assert "wrong_values" in texts["html"]
    assert "wrong_values" in texts["md"]
    suites = ElementTree.fromstring(texts["xml"])
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == ["totals"]
    assert {row["case_id"]: row["bucket"] for row in csv.DictReader(io.StringIO(texts["csv"]))}[
        "totals"
    ] == "wrong_values"
    assert parquet.read_table(files[-1]).column("bucket").to_pylist().count("wrong_values") == 1


def test_compare_names_what_broke(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worse = AGENT.replace("SELECT COUNT(*) FROM orders", "SELECT MAX(id) + 1 FROM orders")
    (ran / "shop_agent.py").write_text(worse, encoding="utf-8")
    sys.modules.pop("shop_agent", None)
    run_command(["run", "--run-id", "two", "-q"])
    capsys.readouterr()
    assert run_command(["compare", "one", "two", "--json"]) == 0
    change = json.loads(capsys.readouterr().out)
    assert [flip["case_id"] for flip in change["broken"]] == ["count_orders"]
    assert change["fixed"] == []
    assert run_command(["gate", "two", "--baseline", "one"]) == 1
    assert "count_orders" in capsys.readouterr().out


def test_check_passes_sound_cases_and_finds_a_broken_gold(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check"]) == 0
    (shop / "cases.yaml").write_text(CASES.replace("SUM(total)", "SUM(totl)"), encoding="utf-8")
    capsys.readouterr()
    assert run_command(["check"]) == 4
    said = capsys.readouterr().out
    assert "cases.yaml:7" in said
    assert "gold_fails" in said


def test_check_lists_the_golds_that_people_doubt_until_they_are_changed(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(["run", "--run-id", "one", "-q"])

    def say(verdict: Said, who: str, at: str, note: str = "") -> None:
        reviews.append(shop / "runs" / "one", Review(case_id="totals", verdict=verdict, who=who, at=at, note=note))

    def doubts() -> list[str]:
        capsys.readouterr()
        assert run_command(["check", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["findings"]
        return [finding["message"] for finding in found if finding["code"] == "gold_doubted"]

    assert doubts() == []
    say(Said.GOLD_WRONG, "Ana", "2026-11-30T10:00:00+00:00", "refunds \x1b[31m count twice")
    say(Said.WRONG, "Bo", "2026-11-30T10:01:00+00:00")
    [message] = doubts()
    assert "Ana: refunds ⟨U+001B⟩[31m count twice" in message
    assert "Bo" not in message
    assert run_command(["check", "--strict"]) == 4
    say(Said.RIGHT, "Ana", "2026-11-30T10:02:00+00:00")
    assert doubts() == []
    say(Said.GOLD_WRONG, "Bo", "2026-11-30T10:03:00+00:00")
    assert len(doubts()) == 1
    (shop / "cases.yaml").write_text(CASES.replace("SUM(total)", "SUM(total + 0)"), encoding="utf-8")
    assert doubts() == []


@pytest.mark.usefixtures("ran")
def test_list_shows_the_trend(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["run", "--run-id", "two", "-q"])
    capsys.readouterr()
    assert run_command(["list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)
    assert [(run["run_id"], run["state"], run["cases"]) for run in runs] == [
        ("one", "complete", 3),
        ("two", "complete", 3),
    ]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"sqlassay.yaml": CONFIG.replace("shop.db", "shp.db")}, 3, "shp.db"),
        ({"sqlassay.yaml": CONFIG.replace("cases: ", "casse: ")}, 2, "cases"),
        ({"sqlassay.yaml": CONFIG.replace("answer}", "anwser}").replace(':answer"', ':anwser"')}, 2, "anwser"),
        ({"cases.yaml": CASES + "- id: totals\n  question: Twice?\n  gold_sql: SELECT 1\n"}, 2, "totals"),
        ({"cases.yaml": CASES.replace("  question: How", "\tquestion: How")}, 2, "cases.yaml"),
        ({"cases.yaml": CASES.replace("gold_sql: SELECT COUNT(*) FROM orders", "gold_sql: ''")}, 2, "count_orders"),
        ({"cases.yaml": CASES.replace("category: count", "catgory: count")}, 2, "category"),
    ],
)
def test_bad_input_is_a_clear_error(
    shop: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str], code: int, said: str
) -> None:
    for name, text in change.items():
        (shop / name).write_text(text, encoding="utf-8")
    assert run_command(["run", "-q"]) == code
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("shop")
def test_no_case_selected_is_exit_5() -> None:
    assert run_command(["run", "--limit", "7-9", "-q"]) == 5


def test_an_unknown_output_format_is_refused_before_anything_runs(shop: Path) -> None:
    assert run_command(["run", "-o", "report.pdf", "-q"]) == 2
    assert not (shop / "runs").exists()


@pytest.mark.usefixtures("shop")
def test_init_writes_a_configuration_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["init", "fresh", "--database", "shop.db"]) == 0
    assert run_command(["run", "-c", "fresh/sqlassay.yaml", "--json"]) == 0
    out = capsys.readouterr().out
    summary = json.loads(out[out.index("{") :])
    assert summary["metrics"]["execution.executable"]["mean"] == 1.0
    assert run_command(["init", "fresh", "--database", "shop.db"]) == 2


@pytest.mark.parametrize(
    "table", ["order items", "order", "Straße", "a: b #c", 'so "called"', "it's", "2024", "x\\y", "s.t"]
)
def test_init_copes_with_any_name(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("my_agent", None)
    database = sqlite3.connect(tmp_path / "a shop: #1.db")
    quoted = table.replace('"', '""')
    database.executescript(f'CREATE TABLE "{quoted}" (n); INSERT INTO "{quoted}" VALUES (7); CREATE VIEW a AS SELECT 1')
    database.close()
    assert run_command(["init", "--database", "a shop: #1.db"]) == 0
    assert run_command(["check"]) == 0
    capsys.readouterr()
    assert run_command(["run", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["metrics"]["execution.executable"]["mean"] == 1.0


@pytest.mark.parametrize("name", ["case", "turn", "score", "summary", "manifest", "config"])
def test_schemas_are_valid(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema

    assert run_command(["schema", name]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_a_snapshot_runs_without_the_database_and_gives_the_same_verdicts(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["snapshot", "fixture"]) == 0
    assert "2 of 2 golds" in capsys.readouterr().out
    run_command(["run", "--run-id", "live", "-q"])
    (shop / "shop.db").unlink()
    config = CONFIG.replace("database: sqlite:///shop.db", "database: {snapshot: fixture}")
    (shop / "sqlassay.yaml").write_text(config, encoding="utf-8")
    assert run_command(["run", "--run-id", "copy", "-q"]) == 0
    summaries = [json.loads((shop / "runs" / name / "summary.json").read_text()) for name in ("live", "copy")]
    assert summaries[0]["buckets"] == summaries[1]["buckets"]
    assert summaries[1]["metrics"]["outcome.pass"]["n"] == 3


def test_read_prints_a_turn_and_refuses_what_is_no_trace(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": "I cannot say."},
    ]
    (shop / "log.json").write_text(json.dumps(messages), encoding="utf-8")
    assert run_command(["read", "openai", "log.json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "I cannot say."
    (shop / "page.html").write_text("<html>", encoding="utf-8")
    assert run_command(["read", "openai", "page.html"]) != 0
    assert "page.html" in capsys.readouterr().err
    assert run_command(["read", "openia", "log.json"]) == 2
    assert "openai" in capsys.readouterr().err


def test_doctor_shows_what_was_extracted(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "candidate_sql" in said
    assert "SELECT COUNT(*) FROM orders" in said
    (shop / "shop_agent.py").write_text("def answer(question):\n    return {}\n", encoding="utf-8")
    sys.modules.pop("shop_agent", None)
    assert run_command(["doctor"]) == 4


def test_reading_commands_find_runs_where_a_configuration_keeps_them(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "sqlassay.yaml").write_text(CONFIG + "runs: kept\n", encoding="utf-8")
    assert run_command(["run", "--run-id", "one", "-q"]) == 0
    elsewhere = shop / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = ["-c", str(shop / "sqlassay.yaml")]
    assert run_command(["report", "one", "--json", *config]) == 0
    assert run_command(["show", "one", "totals", *config]) == 0
    assert run_command(["compare", "one", "one", *config]) == 0
    capsys.readouterr()
    assert run_command(["list", "--json", *config]) == 0
    assert [run["run_id"] for run in json.loads(capsys.readouterr().out)] == ["one"]
    assert run_command(["report", "one", "-c", "nowhere.yaml"]) == 2


def test_doctor_says_that_an_agent_gives_no_answer(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = "import asyncio\n\n\nasync def answer(question):\n    await asyncio.sleep(60)\n"
    (shop / "slow_agent.py").write_text(slow, encoding="utf-8")
    config = CONFIG.replace("shop_agent", "slow_agent") + "run: {timeout_s: 0.2}\n"
    (shop / "sqlassay.yaml").write_text(config, encoding="utf-8")
    assert run_command(["doctor"]) in (3, 4)
    assert "0.2 s" in capsys.readouterr().err
