"""`sqlassay list`: which runs there are, and how a metric moved over them."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlassay.cli import options

if TYPE_CHECKING:
    from sqlassay.archive.run_folder import RunFolder

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One run of the list; `cases`, `mean` and `n` are None where it has no summary, or no such metric, yet."""

    run_id: str
    state: str
    started_at: str
    cases: int | None
    metric: str
    mean: float | None
    n: int | None
    signature: str


def list_runs(
    runs: options.RunsFolder = None,
    config: options.BesideConfig = None,
    metric: Annotated[str, typer.Option("--metric", help="The metric to follow.")] = "outcome.pass",
    json: options.Json = False,
) -> None:
    """List the runs, oldest first, with the trend of a metric."""
    from sqlassay.archive.run_folder import runs_in
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.cli.runs import runs_folder
    from sqlassay.records.plain import to_plain

    where = runs_folder(runs, config)
    found = [_listed(folder, metric) for folder in runs_in(where)]
    if json:
        print_json(to_plain(found))
    elif found:
        _show(found, metric)
    else:
        stdout().print(f"no runs in {where} yet; make one with: sqlassay run")


def _listed(folder: RunFolder, metric: str) -> Listed:
    manifest, summary = folder.manifest, _stored(folder.path)
    estimate = summary.get("metrics", {}).get(metric, {})
    return Listed(
        run_id=manifest.run_id,
        state=manifest.state.value,
        started_at=manifest.started_at,
        cases=summary.get("counts", {}).get("cases"),
        metric=metric,
        mean=estimate.get("mean"),
        n=estimate.get("n"),
        signature=manifest.signature,
    )


def _show(found: Sequence[Listed], metric: str) -> None:
    from rich.table import Table

    from sqlassay.cli.console import stdout

    console = stdout()
    table = Table("run", "state", "started", "cases", metric, "n", box=None, header_style="bold")
    for each in found:
        mean = None if each.mean is None else f"{each.mean:.3f}"
        cells = (each.run_id, each.state, each.started_at[:19], each.cases, mean, each.n)
        table.add_row(*("–" if cell is None else str(cell) for cell in cells))
    console.print(table)
    means = [each.mean for each in found if each.mean is not None]
    if len(means) > 1:
        console.print(f"{metric}: {sparkline(means)}  {means[0]:.3f} → {means[-1]:.3f}")


def sparkline(values: list[float]) -> str:
    """One bar a value, on the scale 0 to 1 where all values lie in it, else between their extremes.

    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    low, high = (0.0, 1.0) if all(0 <= value <= 1 for value in values) else (min(values), max(values))
    span = (high - low) or 1.0
    return "".join(_BARS[round((value - low) / span * (len(_BARS) - 1))] for value in values)


def _stored(path: Path) -> Mapping[str, Any]:
    """The summary as it was written; a run that never ended has none yet."""
    file = path / "summary.json"
    loaded: Mapping[str, Any] = jsonlib.loads(file.read_bytes()) if file.is_file() else {}
    return loaded
