"""The report at a terminal."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from sqlassay.report.inert import line
from sqlassay.report.model import FamilyBlock, Report
from sqlassay.report.narrative import ceilings, conditions, first_to_fix, headline, self_checks
from sqlassay.report.numbers import interval_text, left_out_text, value_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_NAMED = 20


def render(report: Report, console: Console, *, metrics: bool = True, show: str | None = None) -> None:
    """Print the report; with `metrics` False only the opening, causes and failing cases.

    `show` is the command that shows a case of this run, without the case's id.
    """
    from rich.text import Text

    for item in _opening(report):
        console.print(item)
    if report.buckets:
        console.print(_buckets(report))
    if metrics:
        for family in report.families:
            if family.measured:
                console.print(_family(family))
        unmeasured = [row.name for family in report.families for row in family.unmeasured]
        if unmeasured:
            console.print(Text(f"Not measured in any case: {', '.join(map(line, unmeasured))}", style="dim"))
            console.print()
    met = ceilings(report)
    if met:
        console.print(Text("Ceilings: what limits these numbers", style="bold"))
        for ceiling, count, meaning in met:
            console.print(Text.assemble((f"  {count:>5,}  {ceiling.value}", "yellow"), f"  {meaning}"))
        console.print()
    for item in _failing(report, show or f"sqlassay show {line(report.manifest.run_id)}"):
        console.print(item)
    console.print(Text(f"signature: {line(report.summary.signature, limit=3000)}", style="dim"), soft_wrap=True)


def _opening(report: Report) -> list[RenderableType]:
    from rich.text import Text

    clean = report.summary.self_checks.clean
    checks = Text("Self-checks: ")
    if clean:
        checks.append("all zero", style="green")
    else:
        parts = [
            f"{check.name} {check.count:,}" + (f" ({', '.join(map(line, check.names))})" if check.names else "")
            for check in self_checks(report)
            if not check.clean
        ]
        checks.append(", ".join(parts), style="bold red")
    lines: list[RenderableType] = [checks, Text()]
    lines.append(Text(f"{line(report.manifest.run_id)}: {headline(report)}", style="bold"))
    lines += [Text(f"  {number}. {text}") for number, text in enumerate(first_to_fix(report), start=1)]
    lines += [Text(f"  ! {line(text, limit=500)}", style="yellow") for text in conditions(report)]
    lines.append(Text())
    return lines


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, expand=False
    )


def _buckets(report: Report) -> RenderableType:
    from rich.text import Text

    table = _table("Causes")
    for name, justify in (("cause", "left"), ("n", "right"), ("", "left"), ("what to do", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    most = max(row.count for row in report.buckets)
    for row in report.buckets:
        bar = "█" * max(1, round(20 * row.count / most))
        style = "dim" if row.bucket.unscored else "red"
        table.add_row(Text(row.bucket.value), f"{row.count:,}", Text(bar, style=style), Text(row.remedy, style="dim"))
    return table


def _family(family: FamilyBlock) -> RenderableType:
    from rich.text import Text

    table = _table(f"{family.name}: {family.question}")
    for name, justify in (
        ("metric", "left"),
        ("mean", "right"),
        ("n", "right"),
        ("95 %", "left"),
        ("left out", "left"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in family.measured:
        estimate = row.estimate
        table.add_row(
            Text(line(row.name.removeprefix(f"{family.name}."), limit=60)),
            value_text(estimate.mean, estimate.unit),
            f"{estimate.n:,}/{estimate.attempted:,}",
            Text(interval_text(estimate), style="dim"),
            Text(left_out_text(estimate), style="dim"),
        )
    return table


def _failing(report: Report, show: str) -> list[RenderableType]:
    from rich.text import Text

    rows = [*report.failing, *report.unscored]
    if not rows:
        return []
    table = _table("Failing and unscored cases")
    for name in ("case", "cause", "question"):
        table.add_column(name, overflow="fold")
    for row in rows[:_NAMED]:
        mark = (
            "" if row.key.phrasing == row.key.repeat == 0 else f" (wording {row.key.phrasing}, repeat {row.key.repeat})"
        )
        said = line(row.cause or "", limit=160)
        table.add_row(
            Text(line(row.key.case_id, limit=80) + mark),
            Text(f"{row.bucket.value if row.bucket else ''}: {said}" if said else ""),
            Text(line(row.question, limit=100), style="dim"),
        )
    items: list[RenderableType] = [table]
    if len(rows) > _NAMED:
        items.append(Text(f"… and {len(rows) - _NAMED:,} more", style="dim"))
    items.append(Text(f"look at one: {show} {quote(line(rows[0].key.case_id))}", overflow="fold"))
    return items
