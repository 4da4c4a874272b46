"""What a person sees while a run goes on: a live bar at a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from sqlassay.running.events import Event, Slowed

_EVERY_S = 10.0
"""Without a terminal: seconds between two lines."""

_WORTH_SAYING_S = 0.1
"""Waits below this, in seconds, are not mentioned."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """A listener for the run's events; everything it says goes to stderr."""
    if quiet:
        yield _silence
        return
    if not sys.stderr.isatty():
        yield _Lines().hear
        return
    bar = _Bar()
    with bar.display:
        yield bar.hear


def _silence(event: Event) -> None:
    """Hear and say nothing."""


class _Counts:
    def __init__(self) -> None:
        self.done = self.right = self.planned = 0
        self.buckets: Counter[str] = Counter()

    def count(self, event: Event) -> bool:
        """Take an event in; true when a trial ended."""
        from sqlassay.running.events import RunStarted, TrialEnded

        match event:
            case RunStarted(planned=planned, kept=kept, passed=passed):
                self.planned, self.done, self.right = planned, kept, passed
            case TrialEnded(passed=passed, bucket=bucket):
                self.done += 1
                self.right += passed is True
                if bucket is not None:
                    self.buckets[bucket.value] += 1
                return True
        return False

    def causes(self, most: int) -> str:
        ranked = sorted(self.buckets.items(), key=lambda item: (-item[1], item[0]))[:most]
        return ", ".join(f"{name} {count}" for name, count in ranked)


class _Slowing:
    """What is said when the agent asks for less: once for each pace and reason, however many questions meet it."""

    def __init__(self) -> None:
        self._said: set[tuple[int, str]] = set()

    def news(self, event: Slowed) -> str | None:
        """The line to print; None where it has been said."""
        if (event.jobs, event.why) in self._said:
            return None
        self._said.add((event.jobs, event.why))
        waiting = f", waiting {event.wait_s:.1f} s" if event.wait_s >= _WORTH_SAYING_S else ""
        return f"slowed to {event.jobs} at a time{waiting}: {event.why}"


class _Lines:
    def __init__(self) -> None:
        self._slowing = _Slowing()
        self._counts, self._began, self._last = _Counts(), time.monotonic(), time.monotonic()

    def hear(self, event: Event) -> None:
        from sqlassay.running.events import RunStarted, Slowed

        match event:
            case RunStarted(run_id=run_id, planned=planned, kept=kept):
                self._say(f"run {run_id}: {planned} questions" + (f", {kept} already scored" if kept else ""))
            case Slowed() if (said := self._slowing.news(event)) is not None:
                self._say(said)
        if self._counts.count(event):
            now = time.monotonic()
            if now - self._last >= _EVERY_S or self._counts.done == self._counts.planned:
                self._last = now
                counts = self._counts
                rate = counts.done / max(now - self._began, 1e-9)
                self._say(f"{counts.done}/{counts.planned} done, {counts.right} right, {rate:.1f}/s {counts.causes(3)}")

    @staticmethod
    def _say(text: str) -> None:
        print(text.rstrip(), file=sys.stderr, flush=True)


class _Bar:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._slowing = _Slowing()
        self._counts, self._began = _Counts(), time.monotonic()
        self.display: Progress = Progress(
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TextColumn("[green]{task.fields[right]} right"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("[red]{task.fields[causes]}"),
            console=Console(stderr=True),
            refresh_per_second=8,
        )
        self._task = self.display.add_task("run", total=None, right=0, rate="", causes="")

    def hear(self, event: Event) -> None:
        from sqlassay.running.events import Slowed

        if isinstance(event, Slowed) and (said := self._slowing.news(event)) is not None:
            self.display.console.print(said, markup=False)
        self._counts.count(event)
        counts = self._counts
        rate = counts.done / max(time.monotonic() - self._began, 1e-9)
        self.display.update(
            self._task,
            total=counts.planned or None,
            completed=counts.done,
            right=counts.right,
            rate=f"{rate:.1f}/s",
            causes=counts.causes(3),
        )
