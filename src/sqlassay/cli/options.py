"""The flags that several commands share, and what they mean; names and meanings stand here once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path,
    typer.Option("--config", "-c", envvar="SQLASSAY_CONFIG", help="The configuration file.", show_default=True),
]
Limit = Annotated[
    str | None, typer.Option("--limit", metavar="N|A-B", help="Only the first N cases, or the A-th to the B-th.")
]
CaseIds = Annotated[list[str] | None, typer.Option("--case-id", metavar="ID", help="Only this case; repeatable.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only cases with this tag; repeatable.")]
Categories = Annotated[list[str] | None, typer.Option("--category", help="Only this category; repeatable.")]
Fast = Annotated[bool, typer.Option("--fast", help="Only a fixed, stratified tenth of the cases.")]
Repeats = Annotated[int | None, typer.Option("--repeats", min=1, help="Ask every question this many times.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Questions in flight at a time.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Longest time for one turn, and for one statement.")
]
NoJudge = Annotated[bool, typer.Option("--no-judge", "--skip-llm", help="Never call a model judge.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write a report; its suffix names the format. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout and nothing else.")]
DatabaseUrl = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="Run on this database instead of the configured one.")
]
BesideConfig = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Look for runs where this file keeps them.")
]
RunsFolder = Annotated[
    Path | None, typer.Option("--runs", metavar="DIR", help="Where runs are kept (default: runs beside the config).")
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder; `latest` is the newest.")]
Failures = Annotated[
    Path | None, typer.Option("--failures", metavar="FILE", help="Failing cases grouped by cause, as JSONL.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
