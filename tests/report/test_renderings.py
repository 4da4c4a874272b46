"""Each rendering of the one report: what it must hold, and that nothing in it can be started."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from sqlassay.records.measurement import Bucket
from sqlassay.records.run import TrialKey
from sqlassay.records.value import Ceiling, Reason
from sqlassay.report import case as case_page
from sqlassay.report import comparison, failures, junit, machine, markdown, text
from sqlassay.report.model import Report
from sqlassay.report.narrative import first_to_fix, headline
from sqlassay.report.words import BUCKETS, CEILINGS, FAMILIES, REASONS, REASONS_SHORT
from sqlassay.summary.compare import compare


def terminal(width: int = 120) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=False)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_bucket_ceiling_and_reason_has_words() -> None:
    assert set(BUCKETS) == set(Bucket)
    assert set(CEILINGS) == set(Ceiling)
    assert set(REASONS) == set(REASONS_SHORT) == set(Reason)


def test_families_stand_in_the_published_order(report: Report) -> None:
    names = [family.name for family in report.families]
    assert names == [name for name in FAMILIES if name in names]
    assert {"outcome", "execution", "output", "component", "stages", "cost"} <= set(names)


def test_the_terminal_names_causes_and_cases(report: Report) -> None:
    console = terminal()
    text.render(report, console)
    said = printed(console)
    for row in report.buckets:
        assert row.bucket.value in said
    assert headline(report) in said
    assert "Self-checks: all zero" in said
    assert report.failing[0].key.case_id in said


def test_the_opening_starts_with_retrieval_when_tables_are_missing(report: Report) -> None:
    first = first_to_fix(report)[0]
    assert "retrieval" in first.text
    short = {row.key for row in report.cases if row.metrics["retrieval.in_turn.recall"] < 1}
    assert set(first.cases) == short
    assert first.filter["metric"] == "retrieval.in_turn.recall"


def test_json_is_the_summary(report: Report) -> None:
    assert json.loads(machine.to_json(report)) == json.loads(json.dumps(report.summary.to_dict()))


def test_csv_has_a_line_per_trial_and_no_formula(report: Report, hostile_report: Report) -> None:
    for one in (report, hostile_report):
        lines = list(csv.DictReader(io.StringIO(machine.to_csv(one))))
        assert len(lines) == len(one.cases)
        for cells in lines:
            for value in cells.values():
                assert (
                    not value.lstrip().startswith(("=", "+", "-", "@")) or value.lstrip("-").replace(".", "").isdigit()
                )
                assert "\x00" not in value


def test_parquet_holds_the_same_rows(report: Report, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    machine.to_parquet(report, tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    assert table.num_rows == len(report.cases)
    assert table.column("passed").to_pylist() == [row.passed for row in report.cases]
    exact = [row.metrics.get("execution.exact") for row in report.cases]
    assert table.column("execution.exact").to_pylist() == exact


def test_junit_tells_wrong_from_unscored(report: Report) -> None:
    root = ET.fromstring(junit.render(report))
    kinds = Counter(child.tag for child in root.iter() if child.tag in ("failure", "error", "skipped"))
    assert kinds["failure"] == len(report.failing)
    assert kinds["error"] == len(report.unscored)
    assert int(root.attrib["tests"]) == len(report.cases)
    suites = root.findall("testsuite")
    assert sum(int(suite.attrib["failures"]) for suite in suites) == kinds["failure"]


def test_hostile_text_stays_text_in_xml_markdown_and_terminal(hostile_report: Report) -> None:
    root = ET.fromstring(junit.render(hostile_report))
    assert len(list(root.iter("testcase"))) == len(hostile_report.cases)
    said = markdown.render(hostile_report)
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", said))
    assert re.findall(r"<[^>]*>?", outside) == ["<sub>", "</sub>"]
    assert "](" not in outside
    assert "@team" not in outside
    assert "\x1b" not in said
    console = terminal()
    text.render(hostile_report, console)
    for row in hostile_report.cases:
        detail = hostile_report.detail(row.key)
        assert detail is not None
        case_page.render(detail, console)
    shown = printed(console)
    assert "\x1b" not in shown
    assert "\x00" not in shown
    assert "\u202e" not in shown


def test_markdown_tables_keep_their_width(hostile_report: Report, report: Report) -> None:
    for one in (hostile_report, report):
        width = 0
        for line in markdown.render(one).splitlines():
            if not line.startswith("| "):
                width = 0
                continue
            cells = line.replace("\\|", "").count("|")
            width = width or cells
            assert cells == width, line


def test_markdown_fits_a_comment(make_report: object) -> None:
    assert callable(make_report)
    assert len(markdown.render(make_report(800))) < 65_536


def test_failures_are_grouped_by_cause(report: Report) -> None:
    lines = [json.loads(line) for line in failures.to_jsonl(report)]
    assert len(lines) == len(report.failing)
    buckets = [line["bucket"] for line in lines]
    assert buckets == sorted(buckets, key=buckets.index)
    first = lines[0]
    assert first["gold_sql"].startswith("SELECT")
    assert first["remedy"]
    assert first["differing_rows"]["rows"]
    only = frozenset({TrialKey(case_id=lines[0]["case_id"])})
    assert len(list(failures.to_jsonl(report, only=only))) == 1
    assert len(list(failures.to_jsonl(report, unscored=True))) == len(report.failing) + len(report.unscored)


def test_one_case_shows_both_tables(report: Report) -> None:
    console = terminal(160)
    detail = report.detail(report.failing[0].key)
    assert detail is not None
    case_page.render(detail, console)
    said = printed(console)
    for part in (
        "FAILED",
        "Gold SQL",
        "Candidate SQL",
        "Película 7",
        "¡Ay!",
        "no such column: filmid",
        "−",
        "film_id (key)",
    ):
        assert part in said


def test_a_comparison_names_flips_first(make_report: object) -> None:
    assert callable(make_report)
    before, after = make_report(40, seed=1), make_report(40, seed=2)
    change = compare(before.summary, after.summary)
    console = terminal()
    comparison.render_text(change, console)
    said = printed(console)
    for flip in (*change.broken, *change.fixed, *change.flipped)[:10]:
        assert flip.case_id in said
        assert flip.case_id in comparison.render_markdown(change)
    assert said.index("metric") > said.index((*change.broken, *change.fixed, *change.flipped)[0].case_id)
    page = comparison.render_html(change, before, after)
    assert comparison.verdict_sentence(change) in page
    assert len(page) < 5_000_000


def test_the_first_look_is_what_to_fix_and_the_signature_is_one_line_at_the_end(report: Report) -> None:
    console = terminal()
    text.render(report, console, show=".venv/bin/sqlassay show out/one")
    lines = printed(console).rstrip().splitlines()
    assert lines[-1] == f"signature: {report.summary.signature}"
    assert lines[0].startswith("Self-checks")
    assert headline(report) in " ".join(lines[:4])
    assert any(line.startswith("look at one: .venv/bin/sqlassay show out/one ") for line in lines)


def test_an_empty_run_renders_everywhere(make_report: object) -> None:
    from sqlassay.report import html

    assert callable(make_report)
    empty = make_report(0)
    console = terminal()
    text.render(empty, console)
    assert "No case was attempted" in printed(console)
    assert "No case was attempted" in markdown.render(empty)
    assert ET.fromstring(junit.render(empty)).attrib["tests"] == "0"
    assert "No case was attempted" in html.render(empty)
    assert machine.to_csv(empty).count("\n") == 1
