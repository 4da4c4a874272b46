"""The report as Markdown: for a job summary or a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlassay.report.inert import line
from sqlassay.report.model import Report
from sqlassay.report.narrative import ceilings, conditions, first_to_fix, headline, self_checks
from sqlassay.report.numbers import interval_text, left_out_text, plural, value_text

_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>#+!|~@&:/])")
LIMIT = 60_000
"""Characters; platforms refuse comments above 65,536."""


def escaped(text: str, *, limit: int = 300) -> str:
    """Untrusted text on one line in which nothing is markup, a link, a mention or HTML.

    >>> escaped("a | <b> @team")
    'a \\\\| \\\\<b\\\\> \\\\@team'
    """
    return _ACTIVE.sub(r"\\\1", line(text, limit=limit))


def code(text: str, *, limit: int = 300) -> str:
    """Untrusted text as inline code, whatever backticks it holds.

    >>> code("a`b"), code("a|b")
    ('`` a`b ``', '`a\\\\|b`')
    """
    shown = line(text, limit=limit).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """A Markdown table; cells are taken as they are."""
    rule = ["---:" if index in right else "---" for index in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def render(report: Report, *, cases: int = 30) -> str:
    """The report as Markdown, with at most `cases` failing cases named and cut to what platforms take."""
    parts = [f"## sqlassay: {escaped(report.manifest.run_id)}", f"**{headline(report)}**"]
    checks = self_checks(report)
    if report.summary.self_checks.clean:
        parts.append("Self-checks: all zero.")
    else:
        bad = ", ".join(f"**{check.name} {check.count:,}**" for check in checks if not check.clean)
        parts.append(f"Self-checks: {bad}. Read the numbers below with care.")
    notes = conditions(report)
    if notes:
        parts.append("\n".join(f"> {escaped(note, limit=500)}  " for note in notes))
    todo = first_to_fix(report)
    if todo:
        parts.append("### What to fix first\n\n" + "\n".join(f"{i}. {text}" for i, text in enumerate(todo, start=1)))
    if report.buckets:
        rows = [(code(row.bucket.value), f"{row.count:,}", row.meaning) for row in report.buckets]
        parts.append("### Causes\n\n" + table(("cause", "n", "meaning"), rows, right=frozenset({1})))
    parts.append("### Metrics\n\n" + _metrics(report))
    met = ceilings(report)
    if met:
        rows = [(code(ceiling.value), f"{count:,}", meaning) for ceiling, count, meaning in met]
        parts.append("### Ceilings\n\n" + table(("ceiling", "n", "meaning"), rows, right=frozenset({1})))
    failing = [*report.failing, *report.unscored]
    if failing:
        parts.append("### Cases\n\n" + _cases(report, cases))
    parts.append(f"<sub>{escaped(report.summary.signature, limit=3000)}</sub>")
    text = "\n\n".join(parts) + "\n"
    return text if len(text) <= LIMIT else text[:LIMIT].rsplit("\n", 1)[0] + "\n\n… (cut)\n"


def _metrics(report: Report) -> str:
    rows = [
        (
            code(row.name),
            value_text(row.estimate.mean, row.estimate.unit),
            f"{row.estimate.n:,}/{row.estimate.attempted:,}",
            interval_text(row.estimate),
            left_out_text(row.estimate),
        )
        for family in report.families
        for row in family.measured
    ]
    return table(("metric", "mean", "n", "95 %", "left out"), rows, right=frozenset({1, 2}))


def _cases(report: Report, limit: int) -> str:
    rows = [*report.failing, *report.unscored]
    shown = [
        (
            code(row.key.case_id, limit=80),
            code(row.bucket.value if row.bucket else ""),
            escaped(row.cause or "", limit=160),
            escaped(row.question, limit=120),
        )
        for row in rows[:limit]
    ]
    text = table(("case", "cause", "why", "question"), shown)
    return text if len(rows) <= limit else f"{text}\n\n… and {plural(len(rows) - limit, 'more case')}."
