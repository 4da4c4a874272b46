"""Writing a run to a file: the suffix names the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sqlassay.errors import UsageError

if TYPE_CHECKING:
    from sqlassay.api import Run
    from sqlassay.records.run import TrialKey


def _json(run: Run, path: Path) -> None:
    from sqlassay.report.machine import to_json

    write_text(path, to_json(run.report))


def _jsonl(run: Run, path: Path) -> None:
    from sqlassay.report.machine import to_jsonl

    write_text(path, "".join(to_jsonl(run.scores)))


def _html(run: Run, path: Path) -> None:
    from sqlassay.report.html import render

    write_text(path, render(run.report))


def _markdown(run: Run, path: Path) -> None:
    from sqlassay.report.markdown import render

    write_text(path, render(run.report))


def _junit(run: Run, path: Path) -> None:
    from sqlassay.report.junit import render

    write_text(path, render(run.report))


def _csv(run: Run, path: Path) -> None:
    from sqlassay.report.machine import to_csv

    write_text(path, to_csv(run.report))


def _parquet(run: Run, path: Path) -> None:
    from sqlassay.report.machine import to_parquet

    to_parquet(run.report, path)


_WRITERS: Mapping[str, Callable[[Run, Path], None]] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".html": _html,
    ".md": _markdown,
    ".xml": _junit,
    ".csv": _csv,
    ".parquet": _parquet,
}


def check_suffixes(paths: list[Path] | None) -> list[Path]:
    """Refuse, before anything is run, a suffix that no format has or whose format cannot be written here.

    Raises:
        UsageError, MissingExtra: which suffix, and the way out.
    """
    for path in paths or ():
        if path.suffix.lower() not in _WRITERS:
            raise UsageError(
                f"-o {path}: no format has the suffix {path.suffix!r}", hint=f"formats: {' '.join(_WRITERS)}"
            )
        if path.suffix.lower() == ".parquet":
            from sqlassay.report.machine import require_arrow

            require_arrow()
    return list(paths or ())


def write(run: Run, path: Path) -> None:
    """Write the run to `path` in the format that its suffix names; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _WRITERS[path.suffix.lower()](run, path)


def write_failures(run: Run, path: Path, *, only: frozenset[TrialKey] | None = None) -> None:
    """Write the failing cases, or only some of them, grouped by cause, as JSON lines."""
    from sqlassay.report.failures import to_jsonl

    write_text(path, "".join(to_jsonl(run.report, unscored=True, only=only)))


def write_text(path: Path, text: str) -> None:
    """Write a text file; what UTF-8 cannot hold is escaped, folders on the way are made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
