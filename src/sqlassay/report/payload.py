"""What the page of cases knows: a compact index of all trials, and the details of one, both safe to embed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlassay.records.plain import to_plain
from sqlassay.records.turn import Query, Turn
from sqlassay.report.alignment import Grid, narrowed
from sqlassay.report.inert import cell, inert, line
from sqlassay.report.model import CaseDetail, CaseRow, Report
from sqlassay.report.words import BUCKETS, CEILINGS, REASONS, SHAPES, bare_item

BUDGET = 12_000_000
"""Bytes that the details of all cases may take in one file, so that it stays under 15 MB."""

PAGE = 14_500_000
"""Bytes that a page may take with everything in it."""

_LEAST = 1_000
"""No case fits into less."""

_CROWDED = 4_000
"""Bytes a trial below which the room goes to those that did not pass."""

_RAW = 8_000
_STATEMENTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """How much of a case is embedded; the first level that fits its share of the budget is taken."""

    rows: int
    text: int
    raw: bool = False
    cells: int = 200


_LEVELS = (
    _Level(rows=50, text=20_000, raw=True),
    _Level(rows=50, text=20_000),
    _Level(rows=20, text=8_000),
    _Level(rows=8, text=2_000, cells=60),
    _Level(rows=3, text=600, cells=40),
)


def index(report: Report) -> dict[str, Any]:
    """All trials, each with what the list filters and sorts by."""
    names = [name for name, estimate in report.summary.metrics.items() if estimate.n]
    return {
        "run": line(report.manifest.run_id),
        "metrics": [shown_as("metric", name) for name in names],
        "units": [report.summary.metrics[name].unit for name in names],
        "buckets": {bucket.value: [words.title, words.meaning, words.remedy] for bucket, words in BUCKETS.items()},
        "ceilings": {ceiling.value: meaning for ceiling, meaning in CEILINGS.items()},
        "shapes": {shape.value: meaning for shape, meaning in SHAPES.items()},
        "reasons": {reason.value: meaning for reason, meaning in REASONS.items()},
        "cases": [_entry(row, names) for row in report.cases],
    }


def _entry(row: CaseRow, names: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": shown_as("id", row.key.case_id),
        "p": row.key.phrasing,
        "r": row.key.repeat,
        "q": line(row.question, limit=300),
        "v": row.passed,
        "m": [_short(row.metrics.get(name)) for name in names],
    }
    optional = {
        "cat": _named(row.category),
        "dif": _named(row.difficulty),
        "tag": [shown_as("tag", tag) for tag in row.tags],
        "db": _named(row.database),
        "tab": [shown_as("table", table) for table in row.tables],
        "st": row.status,
        "b": None if row.bucket is None else row.bucket.value,
        "why": line(row.cause or "", limit=400),
        "sh": None if row.shape is None else row.shape.value,
        "ce": [ceiling.value for ceiling in row.ceilings],
        "fs": _named(row.first_broken_stage),
        "dis": row.disagrees,
        "ex": row.expected,
    }
    return entry | {name: value for name, value in optional.items() if value}


def shown_as(field: str, text: str) -> str:
    """How the index writes an id or a name that links filter by; a link must write it the same way."""
    return line(text, limit=200 if field in ("id", "q") else 80)


def _named(text: str | None) -> str | None:
    return None if text is None else shown_as("name", text)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def details(report: Report, *, budget: int = BUDGET) -> Iterator[str]:
    """The details of each trial as JSON, in the order of the index, together within `budget` bytes.

    A failing or unscored trial may take three times the share of a passing one; what one leaves over goes to the
    next; where there is little room for many trials, passing ones get none. A trial without details has an empty
    text: it can be seen with `sqlassay show` or `sqlassay view`.
    """
    crowded = budget < _CROWDED * len(report.cases)
    weights = [3 if not row.passed else 0 if crowded else 1 for row in report.cases]
    left, ahead = float(budget), float(sum(weights))
    fitting = {0: 0, 1: 0, 3: 0}
    for row, weight in zip(report.cases, weights, strict=True):
        allowed = left * weight / ahead if ahead else 0.0
        text = ""
        if allowed >= _LEAST:
            # Cases of a run are alike: what fitted the last one is tried first, and one step more.
            start = max(0, fitting[weight] - 1)
            for level, variant in enumerate(_variants(report, row, start), start=start):
                fitting[weight] = level
                if len(variant) <= allowed:
                    text = variant
                    break
        left -= len(text)
        ahead -= weight
        yield text


def _variants(report: Report, row: CaseRow, start: int) -> Iterator[str]:
    found = report.detail(row.key, rows=_LEVELS[0].rows)
    assert found is not None
    for level in _LEVELS[start:]:
        cut = found if found.grid is None else replace(found, grid=narrowed(found.grid, level.rows))
        yield embeddable(detail(cut, text=level.text, raw=level.raw, cells=level.cells))


def embeddable(plain: Any) -> str:
    """JSON that may stand inside a `<script>` element: ASCII, and nothing in it can end the element.

    >>> embeddable("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def detail(found: CaseDetail, *, text: int = 20_000, raw: bool = True, cells: int = 200) -> dict[str, Any]:
    """One trial as the page shows it; `text` bounds every text, `cells` every cell."""

    def said(value: str | None) -> str | None:
        return None if value is None else inert(value, limit=text)

    case, turn, measurement = found.case, found.turn, found.measurement
    evidence: Mapping[str, Any] = {} if measurement is None else measurement.evidence
    plain: dict[str, Any] = {
        "wordings": [] if case is None else [said(case.question), *map(said, case.phrasings)],
        "golds": [] if case is None else [said(sql) for sql in case.gold_sql],
        "used": said(found.gold_sql),
        "sql": said(found.candidate_sql),
        "source": None if turn is None else turn.candidate_source.value,
        "gold_error": _error(found.gold_error, text),
        "error": _error(found.candidate_error, text),
        "components": _components(evidence.get("component"), text),
        "grid": None if found.grid is None else _grid(found.grid, cells),
        "undefined": dict(found.row.undefined),
        "command": said(found.command),
        "again": said(found.again),
        "expected": None if case is None else case.expected_status.value,
        "notes": None if case is None else said(case.notes),
    }
    if turn is not None:
        plain |= _turn(turn, text)
    plain["stages"] = _stages(found, text)
    plain["retrieval"] = _retrieval(evidence.get("retrieval"), turn, evidence)
    plain["ungrounded"] = _ungrounded(evidence.get("answer"))
    if raw:
        plain["raw"] = _raw(found)
    return {name: value for name, value in plain.items() if value not in (None, [], {}, "")}


def _error(error: tuple[str, str] | None, limit: int) -> list[str] | None:
    return None if error is None else [line(error[0]), inert(error[1], limit=min(limit, 4000))]


def _components(component: Any, limit: int) -> dict[str, Any]:
    if not isinstance(component, Mapping):
        return {}
    sets: dict[str, Any] = {}
    for name, found in component.items():
        if isinstance(found, Mapping) and any(found.get(side) for side in ("gold", "candidate", "missing", "extra")):
            sets[str(name)] = {
                side: [line(bare_item(str(item)), limit=min(limit, 300)) for item in (found.get(side) or ())[:40]]
                for side in ("gold", "candidate", "missing", "extra")
            }
    return sets


def _grid(shown: Grid, limit: int) -> dict[str, Any]:
    def cut(side: tuple[str | None, ...] | None) -> list[str | None] | None:
        return None if side is None else [None if v is None else _shortened(v, limit) for v in side]

    return {
        "cols": [[c.gold, c.candidate, c.by, int(c.key), int(c.numeric)] for c in shown.columns],
        "rows": [
            [row.mark.value, cut(row.gold), cut(row.candidate), list(row.differing), list(row.near)]
            for row in shown.rows
        ],
        "n": [shown.gold_rows, shown.candidate_rows],
        "notes": list(shown.notes),
    }


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit + 40 else f"{text[:limit]}…"


def _turn(turn: Turn, limit: int) -> dict[str, Any]:
    usage = {name: value for name, value in to_plain(turn.usage).items() if value is not None}
    error = None if turn.error is None else [turn.error.kind.value, inert(turn.error.message, limit=min(limit, 4000))]
    return {
        "status": None if turn.status is None else turn.status.value,
        "status_source": turn.status_source.value,
        "answer": None if turn.answer is None else inert(turn.answer, limit=limit),
        "trail": [_statement(query, limit) for query in turn.queries[:_STATEMENTS]],
        "trail_cut": max(0, len(turn.queries) - _STATEMENTS),
        "usage": usage,
        "turn_error": error,
        "gaps": [line(gap) for gap in turn.gaps],
        "adapter": line(turn.adapter),
        "history": [[line(m.role, limit=40), inert(m.content, limit=min(limit, 2000))] for m in turn.history[:20]],
    }


def _statement(query: Query, limit: int) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "sql": inert(query.sql, limit=min(limit, 4000)),
        "written": None
        if query.sql_written in (None, query.sql)
        else inert(query.sql_written or "", limit=min(limit, 4000)),
        "role": query.role.value,
        "ran": query.executed,
        "ok": query.succeeded,
        "error": None if query.error is None else inert(query.error, limit=min(limit, 1000)),
        "rows": query.row_count,
        "s": query.duration_s,
        "tool": None if query.tool is None else line(query.tool, limit=80),
        "path": [line(part, limit=80) for part in query.path],
    }
    if query.seen is not None:
        content = query.seen.content
        shown = content if isinstance(content, str) else cell(content, limit=600)
        statement["seen"] = None if shown is None else inert(shown, limit=min(limit, 600))
        statement["cut"] = query.seen.truncated_by or query.seen.truncated
    return {name: value for name, value in statement.items() if value not in (None, [], "")}


def _stages(found: CaseDetail, limit: int) -> list[list[str | None]]:
    recorded = {} if found.turn is None else found.turn.stages
    expected = {} if found.case is None else found.case.expect.stages
    rows: list[list[str | None]] = []
    for name in dict.fromkeys([*recorded, *expected]):
        value = found.row.metrics.get(f"stages.{name}")
        state = "not checked" if name not in expected else "not recorded" if name not in recorded else None
        if value is not None:
            state = "pass" if value == 1 else "fail"
        rows.append(
            [
                line(name, limit=80),
                state or "not checked",
                _said(expected.get(name), limit),
                _said(recorded.get(name), limit),
            ]
        )
    return rows


def _said(value: Any, limit: int) -> str | None:
    return (
        None
        if value is None
        else inert(json.dumps(to_plain(value), ensure_ascii=False, indent=1), limit=min(limit, 2000))
    )


def _retrieval(retrieval: Any, turn: Turn | None, evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    required = [line(str(name)) for name in (evidence.get("sql") or {}).get("gold_tables") or ()]
    if isinstance(retrieval, Mapping) and retrieval:
        return {"required": required, "measured": _names(retrieval)}
    if turn is None or turn.retrieval is None or turn.retrieval.offered is None:
        return None
    offered = [line(table.name) for table in turn.retrieval.offered[:200] if table.has_ddl]
    return {"required": required, "measured": {"in_turn": {"offered": offered}}}


def _names(retrieval: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for way, found in retrieval.items():
        if isinstance(found, Mapping):
            lists = {
                str(k): [line(str(i), limit=120) for i in v[:200]]
                for k, v in found.items()
                if isinstance(v, (list, tuple)) and k != "required"
            }
            if lists:
                named[str(way)] = lists
        elif isinstance(found, (list, tuple)):
            named.setdefault("all", {})[str(way)] = [line(str(item), limit=120) for item in found[:200]]
    return named


def _ungrounded(answer: Any) -> list[str]:
    if not isinstance(answer, Mapping):
        return []
    numbers = answer.get("numbers")
    if not isinstance(numbers, (list, tuple)):
        return []
    lost = [number for number in numbers if isinstance(number, Mapping) and number.get("by") is None]
    return [line(str(number.get("text", "")), limit=60) for number in lost[:100]]


def _raw(found: CaseDetail) -> dict[str, str]:
    if found.raw:
        return {name: inert(text, limit=_RAW) for name, text in found.raw.items()}
    records = {"score": found.measurement, "turn": found.turn}
    return {
        name: inert(json.dumps(record.to_dict(), ensure_ascii=False, default=str), limit=_RAW)
        for name, record in records.items()
        if record is not None
    }
