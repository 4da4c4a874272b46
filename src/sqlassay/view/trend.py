"""The first page of the view: every run, how a metric moved over them, and which two to compare."""

from __future__ import annotations

from sqlassay.report import html
from sqlassay.report.numbers import percent
from sqlassay.view.store import RunLine

_HEIGHT, _WIDTH = 40.0, 100.0


def runs_page(lines: list[RunLine], *, metric: str) -> str:
    """The page with all runs, newest first."""
    template = html.environment().get_template("runs.html.j2")
    means = [(line.run_id, line.metrics[metric]) for line in lines if metric in line.metrics]
    values = [mean for _, mean in means]
    return template.render(
        lines=list(reversed(lines)),
        metric=metric,
        metrics=sorted({name for line in lines for name in line.metrics}),
        points=points(values),
        lowest=min(values, default=0.0),
        highest=max(values, default=0.0),
        scale="0 to 1" if is_share(values) else "from the lowest to the highest",
        means=means,
        percent=percent,
        csp=html.policy("runs", live=True),
    )


def points(values: list[float]) -> str:
    """The points of an SVG polyline over 100 by 40: shares on the scale 0..1, others between their extremes.

    >>> points([0.0, 1.0])
    '0,39 100,1'
    """
    if len(values) < 2:
        return ""
    low, high = (0.0, 1.0) if is_share(values) else (min(values), max(values))
    span = (high - low) or 1.0
    step = _WIDTH / (len(values) - 1)
    spots = ((i * step, _HEIGHT - 1 - (value - low) / span * (_HEIGHT - 2)) for i, value in enumerate(values))
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in spots)


def is_share(values: list[float]) -> bool:
    """Whether all values lie between 0 and 1."""
    return all(0 <= value <= 1 for value in values)
