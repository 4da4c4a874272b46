"""Which runs lie in a folder, and what does each say right now? Read when asked for, and again when it grew."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlassay.archive.run_folder import RunFolder, runs_in
from sqlassay.errors import Culprit, Fault, capture
from sqlassay.records.run import RunState, TrialKey
from sqlassay.report import payload
from sqlassay.report.model import CaseRow, Report
from sqlassay.report.stored import report_of

_FRESH_S = 2.0
"""A run that grows is read again at most this often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run in the list; numbers are None until the run has a summary."""

    run_id: str
    state: str
    started_at: str
    cases: int | None = None
    passed: int | None = None
    scored: int | None = None
    clean: bool | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A run as read at one moment; `rows` finds a trial by how the page writes its id."""

    folder: RunFolder
    report: Report
    rows: Mapping[tuple[str, int, int], CaseRow]
    stamp: tuple[int, ...]
    at: float


class Store:
    """The runs of one folder. Safe to use from several threads; keeps the few runs last looked at."""

    def __init__(self, runs: Path, *, keep: int = 3) -> None:
        self.runs = runs
        self._keep = keep
        self._opened: dict[str, Opened] = {}
        self.reading = threading.RLock()
        """Held while results are read: a report's files are read by one thread at a time."""

    def folder(self, run_id: str) -> RunFolder | None:
        """The run of exactly this name in the folder; no path can be made of it."""
        return next((folder for folder in runs_in(self.runs) if folder.path.name == run_id), None)

    def lines(self) -> list[RunLine]:
        """Every run, oldest first."""
        return [_line(folder) for folder in runs_in(self.runs)]

    def open(self, run_id: str) -> Opened | None:
        """The run's report; one that grew since is read again, at most every two seconds."""
        folder = self.folder(run_id)
        if folder is None:
            return None
        with self.reading:
            known = self._opened.get(run_id)
            stamp = _stamp(folder.path)
            if known is not None and (known.stamp == stamp or time.monotonic() - known.at < _FRESH_S):
                return known
            report = report_of(folder)
            rows = {(payload.shown_as("id", r.key.case_id), r.key.phrasing, r.key.repeat): r for r in report.cases}
            opened = Opened(folder=folder, report=report, rows=rows, stamp=stamp, at=time.monotonic())
            self._opened.pop(run_id, None)
            self._opened[run_id] = opened
            while len(self._opened) > self._keep:
                self._opened.pop(next(iter(self._opened)))
            return opened

    def open_newest(self) -> Opened | None:
        """The report of the newest run; None where there is none or it cannot be read."""
        there = runs_in(self.runs)
        opened = capture(lambda: self.open(there[-1].path.name), culprit=Culprit.US) if there else None
        return None if isinstance(opened, Fault) else opened

    def details(self, opened: Opened, key: TrialKey) -> dict[str, Any] | None:
        """One trial as the page shows it; results are read one at a time."""
        with self.reading:
            found = opened.report.detail(key)
        return None if found is None else payload.detail(found)


def scored_lines(folder: RunFolder) -> int:
    """How many score lines are on disk, counted without reading them."""
    path = folder.path / "scores.jsonl"
    if not path.is_file():
        return 0
    count = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            count += chunk.count(b"\n")
    return count


def is_going_on(folder: RunFolder) -> bool:
    return folder.manifest.state is RunState.STARTED


def _stamp(path: Path) -> tuple[int, ...]:
    stamp: list[int] = []
    for name in ("manifest.json", "scores.jsonl", "turns.jsonl"):
        file = path / name
        stat = file.stat() if file.is_file() else None
        stamp += [0, 0] if stat is None else [stat.st_size, stat.st_mtime_ns]
    return tuple(stamp)


def _line(folder: RunFolder) -> RunLine:
    manifest = folder.manifest
    plain: Mapping[str, Any] = {}
    file = folder.path / "summary.json"
    if file.is_file():
        try:
            plain = json.loads(file.read_bytes())
        except ValueError:
            plain = {}
    counts, checks = plain.get("counts", {}), plain.get("self_checks")
    means = {name: found.get("mean") for name, found in plain.get("metrics", {}).items()}
    return RunLine(
        run_id=folder.path.name,
        state=manifest.state.value,
        started_at=manifest.started_at,
        cases=counts.get("cases"),
        passed=counts.get("passed"),
        scored=counts.get("scored"),
        clean=None if checks is None else not any(checks.values()),
        metrics={name: mean for name, mean in means.items() if mean is not None},
    )
