"""`sqlassay snapshot`: an isolated copy of what the golds read, so that CI needs no production database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sqlassay.cli import options
from sqlassay.errors import ConfigError, ExitCode


def snapshot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the snapshot is written.")],
    config: options.ConfigFile = Path("sqlassay.yaml"),
    database: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Which configured database, where there are several.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="sqlite|duckdb", help="Default: sqlite for SQLite, else duckdb.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, metavar="ROWS", help="Rows per table to start from; what golds touch stays."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Copy the tables that the golds read and verify each gold on both; exit 4 when one differs."""
    from sqlassay.cli.console import print_json
    from sqlassay.databases import connect
    from sqlassay.databases.snapshot import Gold, take
    from sqlassay.datasets import load as load_cases
    from sqlassay.records.plain import to_plain
    from sqlassay.running.checking import database_name
    from sqlassay.running.configure import load

    settings = load(config)
    urls = {name: each.url for name, each in settings.databases.items() if each.url is not None}
    name = database or (next(iter(urls)) if len(urls) == 1 else None)
    if name is None or name not in urls:
        raise ConfigError("which database?", hint=f"--name {'|'.join(urls) or '(none is configured)'}")
    cases = load_cases([Path(settings.base_dir) / path for path in settings.cases]).cases
    golds = [
        Gold(case_id=case.id, sql=sql)
        for case in cases
        if case.gold_sql and database_name(case, urls) == name
        for sql in case.gold_sql
    ]
    source = connect(urls[name], name=name)
    try:
        manifest = take(source, golds, folder, engine=_engine(engine), sample=sample)
    finally:
        source.close()
    if json:
        print_json(to_plain(manifest))
    else:
        for table in manifest.tables:
            print(f"{table.name}: {table.rows:,} of {table.of_rows:,} rows")
        for check in manifest.checks:
            if check.outcome != "equal":
                print(
                    f"case {check.case_id!r}: {check.outcome.replace('_', ' ')}{f': {check.why}' if check.why else ''}"
                )
        for difference in manifest.differences:
            print(f"note: {difference}")
        equal = sum(check.outcome == "equal" for check in manifest.checks)
        print(f"{folder / manifest.file}: {equal} of {len(manifest.checks)} golds give equal results on both")
        print(f"use it with: database: {{snapshot: {folder}}}")
    raise typer.Exit(int(ExitCode.OK if manifest.all_equal else ExitCode.GOLD_BROKEN))


def _engine(name: str | None) -> Literal["sqlite", "duckdb"] | None:
    match name:
        case None:
            return None
        case "sqlite":
            return "sqlite"
        case "duckdb":
            return "duckdb"
        case _:
            raise ConfigError(f"--engine {name}: choose sqlite or duckdb")
