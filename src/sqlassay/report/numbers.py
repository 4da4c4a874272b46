"""How is a number written, so that a share, a time and a count cannot be taken for each other?"""

from __future__ import annotations

from sqlassay.report.words import REASONS_SHORT
from sqlassay.summary.model import Estimate


def value_text(value: float | None, unit: str) -> str:
    """A value with its unit.

    >>> value_text(0.8333, "share"), value_text(1234.5, "tokens"), value_text(0.012, "seconds"), value_text(None, "usd")
    ('0.833', '1,234', '12 ms', '–')
    """
    if value is None:
        return "–"
    match unit:
        case "share" | "ratio":
            return f"{value:.3f}" if unit == "share" else f"{value:.3g}x"
        case "seconds":
            return (
                f"{value * 1000:.3g} ms" if abs(value) < 1 else f"{value:,.3g} s" if value < 1000 else f"{value:,.0f} s"
            )
        case "usd":
            return f"${value:,.4f}" if abs(value) < 1 else f"${value:,.2f}"
        case _:
            return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 100 else f"{value:,.0f}"


def interval_text(estimate: Estimate) -> str:
    """The interval as `0.71–0.93`, or nothing.

    >>> interval_text(Estimate(mean=0.8, n=10, attempted=10, interval=(0.49, 0.943)))
    '0.490–0.943'
    """
    if estimate.interval is None:
        return ""
    low, high = estimate.interval
    return f"{value_text(low, estimate.unit)}–{value_text(high, estimate.unit)}"


def left_out_text(estimate: Estimate) -> str:
    """Why cases are not in the mean, in few words, most frequent first.

    >>> from sqlassay.records.value import Reason
    >>> left_out_text(Estimate(mean=None, n=0, attempted=3, undefined={Reason.NO_SQL: 3}))
    '3 no SQL'
    """
    items = sorted(estimate.undefined.items(), key=lambda item: -item[1])
    return ", ".join(f"{count:,} {REASONS_SHORT[reason]}" for reason, count in items)


def percent(value: float) -> str:
    """A share in per cent, never rounded to 0 or 100 unless it is that.

    >>> percent(0.9996), percent(1), percent(0.0001), percent(0.5)
    ('99.9 %', '100 %', '0.1 %', '50 %')
    """
    if value in (0, 1):
        return f"{value * 100:.0f} %"
    shown = min(99.9, max(0.1, round(value * 100, 1)))
    return f"{shown:g} %"


def plural(count: int, noun: str) -> str:
    """`1 case`, `2 cases`.

    >>> plural(1, "case"), plural(1200, "case")
    ('1 case', '1,200 cases')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
