"""The report as one self-contained page: no request to any host, nothing in it that the run's content could start."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sqlassay.records.run import TrialKey
from sqlassay.report import narrative, payload
from sqlassay.report.inert import inert, line
from sqlassay.report.model import MetricRow, Report
from sqlassay.report.numbers import interval_text, left_out_text, percent, plural, value_text
from sqlassay.report.words import FAMILY_HEADS, SHAPES
from sqlassay.summary.agreement import Agreement
from sqlassay.summary.model import Estimate

if TYPE_CHECKING:
    import jinja2

_HERE = Path(__file__).parent / "templates"
_SCRIPTS = {
    "report": ("base.js", "marks.js", "results.js", "cases.js", "case.js", "page.js"),
    "compare": ("base.js", "marks.js", "results.js"),
    "runs": ("base.js",),
}


def render(report: Report, *, budget: int = payload.BUDGET) -> str:
    """The whole page, with the details of every case that fit into `budget` bytes."""
    return "".join(pieces(report, budget=budget))


def pieces(
    report: Report,
    *,
    budget: int = payload.BUDGET,
    live: str | None = None,
    agreement: Agreement | None = None,
    going_on: bool = False,
) -> Iterator[str]:
    """The page in pieces, for writing it without holding all of it.

    `live` is the address under which a server answers for this run; the page then asks it for details instead of
    holding them, and for news while the run is `going_on`. `agreement` is what people said about the verdicts.
    """
    template = environment().get_template("report.html.j2")
    shown = context(report)
    details: Iterator[str] = iter(())
    if live is None:
        room = payload.PAGE - len(shown["index"]) - len(script("report")) - len(asset("page.css"))
        details = payload.details(report, budget=max(0, min(budget, room - 300_000)))
    yield from template.generate(
        **shown,
        live=live,
        agreement=agreement,
        going_on=going_on,
        details=details,
        csp=policy("report", live=live is not None),
    )


def policy(page: str, *, live: bool) -> str:
    """The Content-Security-Policy of a page (`report`, `compare`, `runs`): only its own script and style, by hash.

    A `live` page may ask its own server; the list of runs may also send its forms there.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script(page))}'",
            f"style-src '{_hash(asset('page.css'))}'",
            "img-src data:",
            f"connect-src {chr(39)}{'self' if live else 'none'}{chr(39)}",
            "base-uri 'none'",
            f"form-action {chr(39)}{'self' if live and page == 'runs' else 'none'}{chr(39)}",
        ]
    )


@cache
def asset(name: str) -> str:
    """A style sheet or a part of a script of ours, as text."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def script(page: str) -> str:
    """The whole script of a page, its parts put together in a scope of their own."""
    parts = "\n".join(asset(name) for name in _SCRIPTS[page])
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def environment() -> jinja2.Environment:
    """Templates with autoescape on, and the words of numbers as filters."""
    import jinja2
    from markupsafe import Markup, escape

    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "number": lambda estimate: value_text(estimate.mean, estimate.unit),
        "value": value_text,
        "interval": interval_text,
        "left_out": left_out_text,
        "percent": percent,
        "line": line,
        "inert": inert,
        "heat": heat_class,
        "prose": lambda text: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))),
        "embed": lambda plain: Markup(payload.embeddable(plain)),
    }
    env.globals |= {
        "plural": plural,
        "style": Markup(asset("page.css")),
        "script": lambda page: Markup(script(page)),
        "raw": Markup,
        "cases_link": cases_link,
        "case_link": case_link,
        "metric_link": metric_link,
        "ci": interval_bar,
    }
    return env


def cases_link(**filters: str) -> str:
    """A link to the list of cases under a filter.

    >>> cases_link(bucket="sql_error")
    '#cases?bucket=sql_error'
    """
    return f"#cases?{urlencode({name: payload.shown_as(name, value) for name, value in filters.items()})}"


def case_link(key: TrialKey) -> str:
    """A link to the page of one case.

    >>> case_link(TrialKey(case_id="a b"))
    '#case?id=a+b&p=0&r=0'
    """
    parts = {"id": payload.shown_as("id", key.case_id), "p": key.phrasing, "r": key.repeat}
    return f"#case?{urlencode(parts)}"


def interval_bar(estimate: Estimate) -> dict[str, float] | None:
    """Where to draw a share and its interval on a scale of 0..100; None for anything but a share."""
    if estimate.unit != "share" or estimate.mean is None:
        return None
    low, high = estimate.interval or (estimate.mean, estimate.mean)
    mean, low, high = (min(1.0, max(0.0, value)) * 100 for value in (estimate.mean, low, high))
    return {"mean": round(mean, 2), "low": round(low, 2), "span": round(max(0.0, high - low), 2)}


def heat_class(estimate: Estimate | None) -> str:
    """`h0` (nothing to worry about) to `h9`; the number is always written beside the colour.

    >>> heat_class(Estimate(mean=1.0, n=1, attempted=1)), heat_class(Estimate(mean=0.0, n=1, attempted=1))
    ('h0', 'h9')
    """
    if estimate is None or estimate.mean is None:
        return "hn"
    return f"h{min(9, max(0, int((1 - estimate.mean) * 9.999)))}"


def metric_link(row: MetricRow, **filters: str) -> str:
    """A link to the cases under some filters, those that pull the metric's mean the wrong way first."""
    return cases_link(**filters, metric=row.name, sort="metric:desc" if row.better == "lower" else "metric:asc")


def tiles(report: Report) -> list[tuple[str, tuple[MetricRow, ...]]]:
    """Each family with the few metrics that say most about it, in the order of reports."""
    found = []
    for family in report.families:
        measured = {row.name: row for row in family.measured}
        telling = [measured[name] for name in FAMILY_HEADS.get(family.name, ()) if name in measured]
        found.append((family.name, tuple(telling or family.measured)[:3]))
    return found


def context(report: Report) -> dict[str, Any]:
    """What the template reads."""
    from markupsafe import Markup

    summary = report.summary
    return {
        "report": report,
        "summary": summary,
        "manifest": report.manifest,
        "headline": narrative.headline(report),
        "first": narrative.first_to_fix(report),
        "checks": narrative.self_checks(report),
        "conditions": narrative.conditions(report),
        "ceilings": narrative.ceilings(report),
        "most": max((row.count for row in report.buckets), default=1),
        "tiles": tiles(report),
        "expected": sorted({c.expected for c in summary.behaviour}),
        "actual": sorted({c.actual for c in summary.behaviour}),
        "confusion": {(c.expected, c.actual): c.count for c in summary.behaviour},
        "shape_words": SHAPES,
        "index": Markup(payload.embeddable(payload.index(report))),
        "spreads": [
            (row.title, summary.spreads[row.name], max(summary.spreads[row.name].histogram))
            for family in report.families
            for row in family.measured
            if family.name == "cost" and row.name in summary.spreads
            if summary.spreads[row.name].low < summary.spreads[row.name].high
        ],
    }
