"""The run as JUnit XML: wrong is a failure, the harness's or the gold's fault an error, undefined is skipped."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from sqlassay.report.inert import inert, line
from sqlassay.report.model import CaseRow, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\ufffe\uffff]")


def render(report: Report) -> str:
    """One `testcase` per trial, in suites by category."""
    suites: dict[str, list[CaseRow]] = {}
    for row in report.cases:
        suites.setdefault(row.category or "cases", []).append(row)
    signature = _attribute(report.summary.signature, limit=4000)
    total = _tally(list(report.cases))
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites name={_attribute(report.manifest.run_id)} {total}>",
    ]
    for name, rows in suites.items():
        parts.append(f"  <testsuite name={_attribute(name)} {_tally(rows)}>")
        parts.append(f'    <properties><property name="signature" value={signature}/></properties>')
        parts += [_case(row) for row in rows]
        parts.append("  </testsuite>")
    return "\n".join([*parts, "</testsuites>", ""])


def outcome(row: CaseRow) -> str:
    """`passed`, `failure`, `error` or `skipped`."""
    if row.bucket is None:
        return "skipped" if "outcome.pass" in row.undefined else "passed"
    return "error" if row.bucket.unscored else "failure"


def _case(row: CaseRow) -> str:
    name = row.key.case_id
    if row.key.phrasing or row.key.repeat:
        name += f" [wording {row.key.phrasing}, repeat {row.key.repeat}]"
    seconds = row.metrics.get("cost.latency_s", row.metrics.get("cost.latency", 0.0))
    head = f'    <testcase classname={_attribute(row.category or "cases")} name={_attribute(name)} time="{seconds:.3f}"'
    kind = outcome(row)
    if kind == "passed":
        return head + "/>"
    if kind == "skipped":
        return f"{head}><skipped message={_attribute(row.undefined['outcome.pass'])}/></testcase>"
    bucket = "" if row.bucket is None else row.bucket.value
    body = escape(_clean(inert(f"{row.question}\n{row.cause or ''}", limit=4000)))
    return (
        f"{head}><{kind} type={_attribute(bucket)} message={_attribute(row.cause or bucket)}>{body}</{kind}></testcase>"
    )


def _tally(rows: list[CaseRow]) -> str:
    kinds = [outcome(row) for row in rows]
    return (
        f'tests="{len(rows)}" failures="{kinds.count("failure")}" errors="{kinds.count("error")}" '
        f'skipped="{kinds.count("skipped")}"'
    )


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _attribute(text: str, *, limit: int = 300) -> str:
    return quoteattr(_clean(line(text, limit=limit)))
