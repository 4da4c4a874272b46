"""One case at a terminal: what `show RUN CASE` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlassay.report.alignment import Grid, GridRow, Mark
from sqlassay.report.highlight import tokens
from sqlassay.report.inert import inert, line
from sqlassay.report.model import CaseDetail
from sqlassay.report.numbers import value_text
from sqlassay.report.words import bare_item

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_STYLES = {
    "keyword": "bold blue",
    "function": "cyan",
    "string": "green",
    "number": "magenta",
    "comment": "dim italic",
    "name": "",
    "": "",
}
_SIGNS = {Mark.SAME: " ", Mark.DIFFERS: "≠", Mark.MISSING: "−", Mark.EXTRA: "+"}


def render(detail: CaseDetail, console: Console) -> None:
    """Print question, verdict, both SQL texts, both tables side by side and the agent's trail."""
    for item in _parts(detail):
        console.print(item)


def sql_text(sql: str) -> Text:
    """A SQL text in colours, safe to print."""
    from rich.text import Text

    text = Text()
    for kind, piece in tokens(inert(sql)):
        text.append(piece, style=_STYLES[kind])
    return text


def _parts(detail: CaseDetail) -> list[RenderableType]:
    from rich.text import Text

    row = detail.row
    parts: list[RenderableType] = [
        Text.assemble((line(row.key.case_id), "bold"), "  ", (_place(detail), "dim")),
        Text(inert(row.question)),
        Text(),
        _verdict(detail),
    ]
    if row.ceilings:
        parts.append(Text(f"Ceilings: {', '.join(ceiling.value for ceiling in row.ceilings)}", style="yellow"))
    for title, sql, error in (
        ("Gold SQL", detail.gold_sql, detail.gold_error),
        ("Candidate SQL", detail.candidate_sql, detail.candidate_error),
    ):
        parts += [Text(), Text(title, style="bold"), sql_text(sql) if sql else Text("(none)", style="dim")]
        if error is not None:
            parts.append(Text(f"{line(error[0])}: {inert(error[1], limit=2000)}", style="red"))
    parts += _components(detail)
    if detail.grid is not None:
        parts += [Text(), *_tables(detail.grid)]
    parts += _trail(detail)
    if detail.turn is not None and detail.turn.answer:
        parts += [Text(), Text("Answer", style="bold"), Text(inert(detail.turn.answer, limit=4000))]
    parts += [Text(), _metrics(detail)]
    return parts


def _place(detail: CaseDetail) -> str:
    row = detail.row
    items = [row.category, row.difficulty, row.database, *row.tags]
    if row.key.phrasing or row.key.repeat:
        items.append(f"wording {row.key.phrasing}, repeat {row.key.repeat}")
    return " · ".join(line(item) for item in items if item)


def _verdict(detail: CaseDetail) -> Text:
    from rich.text import Text

    row = detail.row
    if row.passed is None:
        bucket = row.bucket.value if row.bucket else ""
        return Text.assemble(("UNSCORED ", "bold yellow"), (bucket, "yellow"), f"  {line(row.cause or '')}")
    if row.passed:
        return Text("PASSED", style="bold green")
    bucket = row.bucket.value if row.bucket else ""
    return Text.assemble(("FAILED ", "bold red"), (bucket, "red"), f"  {line(row.cause or '', limit=1000)}")


def _components(detail: CaseDetail) -> list[RenderableType]:
    from rich.text import Text

    found = {} if detail.measurement is None else detail.measurement.evidence.get("component", {})
    lines: list[RenderableType] = []
    for name, sets in found.items():
        if not isinstance(sets, dict):
            continue
        for sign, style, items in (("−", "red", sets.get("missing")), ("+", "yellow", sets.get("extra"))):
            lines += [Text.assemble((f"  {sign} {name}: ", style), line(bare_item(str(item)))) for item in items or ()]
    return [Text(), Text("Differences in the SQL (− missing, + extra)", style="bold"), *lines] if lines else []


def _tables(grid: Grid) -> list[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    alone = grid.gold_rows is None or grid.candidate_rows is None
    table.add_column("")
    left = [index for index, column in enumerate(grid.columns) if column.gold is not None]
    right = [index for index, column in enumerate(grid.columns) if column.candidate is not None]
    for index in left:
        column = grid.columns[index]
        style = "bold" if column.key else ("red" if column.candidate is None and not alone else "")
        table.add_column(Text(f"{column.gold}{' (key)' if column.key else ''}", style=style), overflow="fold")
    table.add_column("│")
    for index in right:
        column = grid.columns[index]
        table.add_column(
            Text(str(column.candidate), style="yellow" if column.gold is None and not alone else ""), overflow="fold"
        )
    for row in grid.rows:
        table.add_row(
            Text(" " if alone else _SIGNS[row.mark]),
            *_cells(row, row.gold, left, "" if alone else "bold red"),
            Text("│", style="dim"),
            *_cells(row, row.candidate, right, "" if alone else "bold yellow"),
        )
    sizes = f"Gold {_rows(grid.gold_rows)}  │  candidate {_rows(grid.candidate_rows)}   (≠ differs, − missing, + extra)"
    notes = [Text(note, style="dim") for note in grid.notes]
    return [Text(sizes, style="bold"), table, *notes]


def _rows(count: int | None) -> str:
    return "(no result)" if count is None else f"{count:,} row{'' if count == 1 else 's'}"


def _cells(row: GridRow, side: tuple[str | None, ...] | None, places: list[int], style: str) -> list[Text]:
    from rich.text import Text

    if side is None:
        return [Text("")] * len(places)
    alone = row.mark in (Mark.MISSING, Mark.EXTRA)
    cells = []
    for place, value in zip(places, side, strict=True):
        marked = alone or place in row.differing
        text = Text("NULL" if value is None else line(value, limit=80), style=style if marked else "")
        if value is None:
            text.stylize("dim")
        cells.append(text)
    return cells


def _trail(detail: CaseDetail) -> list[RenderableType]:
    from rich.text import Text

    if detail.turn is None or len(detail.turn.queries) < 2:
        return []
    parts: list[RenderableType] = [Text(), Text("What the agent sent", style="bold")]
    for number, query in enumerate(detail.turn.queries, start=1):
        state = "failed" if query.succeeded is False else ("not run" if query.executed is False else query.role.value)
        sent = sql_text(line(query.sql, limit=400))
        parts.append(
            Text.assemble((f"{number:>3} ", "dim"), (f"{state:<14}", "red" if state == "failed" else "dim"), sent)
        )
        if query.error:
            parts.append(Text(f"    {line(query.error)}", style="red"))
    return parts


def _metrics(detail: CaseDetail) -> Text:
    from rich.text import Text

    text = Text("Metrics\n", style="bold")
    readings = {} if detail.measurement is None else detail.measurement.metrics
    for name in readings:
        value = detail.row.metrics.get(name)
        unit = getattr(readings[name], "unit", "share")
        said = value_text(value, unit) if value is not None else f"– ({detail.row.undefined.get(name, '')})"
        text.append(f"  {line(name):<34} {said}\n", style="" if value is not None else "dim")
    return text
