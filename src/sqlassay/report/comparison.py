"""Two runs compared, at a terminal, as Markdown and as a page: what changed by name before what changed by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlassay.records.measurement import Bucket
from sqlassay.records.run import TrialKey
from sqlassay.records.value import Ceiling
from sqlassay.report import payload
from sqlassay.report.cards import CardIndex
from sqlassay.report.html import case_link, environment, policy
from sqlassay.report.inert import line
from sqlassay.report.markdown import code, escaped, table
from sqlassay.report.model import CaseDetail, Report
from sqlassay.report.numbers import plural, value_text
from sqlassay.report.words import CEILINGS
from sqlassay.summary.compare import Change, Flip, MetricChange

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_NAMED = 20
_SHOWN = 150
"""Flips whose answers are embedded in the page."""
_COLUMNS = (
    "Before and after are each run's own means; difference, interval and p are over the n cases that both runs scored "
    "on the same data."
)


def verdict_sentence(change: Change) -> str:
    """What the exact test says, with what it could have shown."""
    headline = next((m for m in change.metrics if m.name == "outcome.pass"), None)
    before, after = line(change.before.run_id), line(change.after.run_id)
    if headline is None or headline.difference is None or headline.p is None:
        return f"{before} and {after} have no scored case in common."
    counts = f"{len(change.fixed):,} fixed, {len(change.broken):,} broken of {plural(headline.n, 'paired case')}"
    p = f"exact McNemar p = {headline.p:.3g}"
    match change.verdict:
        case "better":
            return f"{after} is better than {before}: {counts}; {p}."
        case "worse":
            return f"{after} is worse than {before}: {counts}; {p}."
        case _:
            seen = headline.detectable
            could = "" if seen is None else f" A difference below {seen:.1%} could hardly have been seen."
            if seen is not None and seen >= 1:
                could = " So few cases could hardly have shown any."
            return f"No difference shown between {before} and {after}: {counts}; {p}.{could}"


def flips(change: Change) -> tuple[tuple[str, tuple[Flip, ...]], ...]:
    """The lists of changed cases that are not empty: broken first, for they are what to look at."""
    named = (("Broken", change.broken), ("Fixed", change.fixed), ("Fail for another cause", change.flipped))
    return tuple((title, listed) for title, listed in named if listed)


def render_text(change: Change, console: Console) -> None:
    """Print the comparison."""
    for item in _text(change, wide=console.width >= 100):
        console.print(item)


def _text(change: Change, *, wide: bool) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    yield Text(verdict_sentence(change), style="bold")
    for warning in change.warnings:
        yield Text(f"! {line(warning, limit=1000)}", style="yellow")
    for ceiling, old, new in change.risen_ceilings:
        yield Text(f"! ceiling {ceiling.value} rose from {old:,} to {new:,}: {CEILINGS[ceiling]}", style="yellow")
    for title, listed in flips(change):
        yield Text()
        yield Text(f"{title} ({len(listed):,})", style="bold red" if title == "Broken" else "bold")
        for flip in listed[:_NAMED]:
            yield Text(f"  {line(flip.case_id)}: {_cause(flip.before)} → {_cause(flip.after)}")
        if len(listed) > _NAMED:
            yield Text(f"  … and {len(listed) - _NAMED:,} more", style="dim")
    for title, names in others(change):
        yield Text(
            f"{title} ({len(names):,}): {', '.join(line(name, limit=60) for name in names[:_NAMED])}", style="dim"
        )
    yield Text(_COLUMNS, style="dim")
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    rows.add_column("metric", overflow="fold")
    for name in ("before", "after", "difference", *(("95 %",) if wide else ()), "p", "n"):
        rows.add_column(name, justify="right", no_wrap=True)
    for metric in in_order(change):
        cells = metric_cells(metric)
        rows.add_row(Text(line(metric.name)), *(cells if wide else cells[:3] + cells[4:]))
    yield rows
    met = [
        f"{c.value} {change.before.ceilings.get(c, 0):,} → {change.after.ceilings.get(c, 0):,}"
        for c in ceilings_of(change)
    ]
    if met:
        yield Text(f"Ceilings: {', '.join(met)}", style="dim")
    telling = [row for row in change.slices if row.adjusted < 0.05]
    for row in telling:
        yield Text(
            f"Slice {row.dimension} {line(row.value)}: {row.before:.3f} → {row.after:.3f} over {row.n} "
            f"(p = {row.adjusted:.3g} after Holm)"
        )


def others(change: Change) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Cases that stand in no test, by why."""
    named = (
        ("The data moved", change.moved),
        ("Unscored on a side", change.unscored),
        ("Only in the first run", change.only_before),
        ("Only in the second run", change.only_after),
    )
    return tuple((title, names) for title, names in named if names)


def in_order(change: Change) -> list[MetricChange]:
    """The metrics that some case has in both runs, in the order of reports: families as always, then their cards."""
    cards = CardIndex()
    return sorted((m for m in change.metrics if m.n), key=lambda metric: cards.place(metric.name))


def _cause(bucket: Bucket | None) -> str:
    return "passed" if bucket is None else bucket.value


def metric_cells(metric: MetricChange) -> tuple[str, str, str, str, str, str]:
    """Before, after, difference, interval, p and n as text."""
    unit = metric.after.unit
    difference = "–" if metric.difference is None else _signed(metric.difference, unit)
    interval = "" if metric.interval is None else " to ".join(_signed(bound, unit) for bound in metric.interval)
    return (
        value_text(metric.before.mean, unit),
        value_text(metric.after.mean, unit),
        difference,
        interval,
        "" if metric.p is None else f"{metric.p:.3g}",
        f"{metric.n:,}",
    )


def _signed(value: float, unit: str) -> str:
    """A difference in the unit of its metric, always with a sign.

    >>> _signed(-0.25, "share"), _signed(0.0285, "seconds"), _signed(0.0, "share")
    ('-0.250', '+28.5 ms', '+0.000')
    """
    return ("-" if value < 0 else "+") + value_text(abs(value), unit)


def render_markdown(change: Change) -> str:
    """The comparison as Markdown."""
    parts = [f"## sqlassay: {code(change.before.run_id)} → {code(change.after.run_id)}"]
    parts.append(f"**{escaped(verdict_sentence(change), limit=600)}**")
    notes = [escaped(warning, limit=1000) for warning in change.warnings]
    notes += [
        f"Ceiling {code(ceiling.value)} rose from {old:,} to {new:,}: {CEILINGS[ceiling]}."
        for ceiling, old, new in change.risen_ceilings
    ]
    if notes:
        parts.append("\n".join(f"> {note}  " for note in notes))
    for title, listed in flips(change):
        rows = [(code(f.case_id, limit=80), code(_cause(f.before)), code(_cause(f.after))) for f in listed[:_NAMED]]
        more = f"\n\n… and {len(listed) - _NAMED:,} more." if len(listed) > _NAMED else ""
        parts.append(f"### {title} ({len(listed):,})\n\n{table(('case', 'before', 'after'), rows)}{more}")
    for title, names in others(change):
        parts.append(f"{title} ({len(names):,}): {', '.join(code(name, limit=80) for name in names[:_NAMED])}")
    parts.append(_COLUMNS)
    rows_of = [(code(metric.name), *metric_cells(metric)) for metric in in_order(change)]
    header = ("metric", "before", "after", "difference", "95 %", "p", "n")
    parts.append("### Metrics\n\n" + table(header, rows_of, right=frozenset(range(1, 7))))
    met = ceilings_of(change)
    if met:
        counts = [
            (
                code(c.value),
                f"{change.before.ceilings.get(c, 0):,}",
                f"{change.after.ceilings.get(c, 0):,}",
                CEILINGS[c],
            )
            for c in met
        ]
        columns = ("ceiling", "before", "after", "meaning")
        parts.append("### Ceilings\n\n" + table(columns, counts, right=frozenset({1, 2})))
    return "\n\n".join(parts) + "\n"


def ceilings_of(change: Change) -> list[Ceiling]:
    """The ceilings that either run met."""
    return [c for c in CEILINGS if change.before.ceilings.get(c, 0) or change.after.ceilings.get(c, 0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One run's answer to a flipped case, as the page shows it."""

    run: str
    passed: bool | None
    cause: str
    sql: str | None
    error: str | None
    grid: Any


def render_html(change: Change, before: Report, after: Report, *, live: str | None = None) -> str:
    """The comparison as one self-contained page, with both answers of the first flipped cases.

    `live` is the address under which a server has the pages of the runs; each answer then links to its case there.
    """
    groups = []
    room = _SHOWN
    for title, listed in flips(change):
        cases = [(flip, _both(flip, before, after) if number < room else None) for number, flip in enumerate(listed)]
        room = max(0, room - len(listed))
        groups.append((title, cases))
    template = environment().get_template("compare.html.j2")
    return template.render(
        change=change,
        sentence=verdict_sentence(change),
        groups=groups,
        others=others(change),
        metrics=in_order(change),
        columns_said=_COLUMNS,
        cells=metric_cells,
        live=live,
        meanings=CEILINGS,
        ceilings=ceilings_of(change),
        csp=policy("compare", live=live is not None),
    )


def _both(flip: Flip, before: Report, after: Report) -> dict[str, Any] | None:
    key = TrialKey(case_id=flip.case_id)
    first, second = before.detail(key, rows=20), after.detail(key, rows=20)
    if first is None or second is None:
        return None
    return {
        "question": line(second.row.question),
        "link": case_link(key),
        "gold": payload.detail(second, text=4000, raw=False).get("used"),
        "sides": [_side(first, before), _side(second, after)],
    }


def _side(found: CaseDetail, report: Report) -> _Side:
    plain = payload.detail(found, text=4000, raw=False, cells=80)
    error = plain.get("error")
    return _Side(
        run=line(report.manifest.run_id),
        passed=found.row.passed,
        cause=line(found.row.cause or "", limit=400),
        sql=plain.get("sql"),
        error=None if not error else ": ".join(error),
        grid=plain.get("grid"),
    )


def named(flips: Sequence[Flip]) -> frozenset[TrialKey]:
    """The trials that flips stand for: what `--failures` writes after a comparison."""
    return frozenset(TrialKey(case_id=flip.case_id) for flip in flips)
