"""`sqlassay import` and `sqlassay export`: cases in from public benchmarks and out to other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError


def import_cases(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="spider, bird, defog, predictions or columns.")],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The project's folder or file.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Where to write.")] = Path(),
    databases: Annotated[
        str | None, typer.Option("--databases", metavar="DIR|URL", help="A folder, or a URL with {db} in it.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="FILE", help="Answers to replay, joined by id.")
    ] = None,
    cases: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="With KIND predictions: the cases they answer.")
    ] = None,
    map: Annotated[
        list[str] | None, typer.Option("--map", metavar="FIELD=COLUMN", help="With KIND columns; repeatable.")
    ] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Put a benchmark's hints under the question.")] = False,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Keep cases whose database has no rows.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Write cases.jsonl instead of cases.yaml.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Import cases, databases and predictions of a public benchmark, or of any CSV or JSONL by column names."""
    from sqlassay.datasets.import_ import convert, write
    from sqlassay.report.numbers import plural

    found = convert(
        kind,
        source,
        databases=databases,
        cases=cases,
        answers=predictions,
        mapping=_mapping(map),
        evidence=evidence,
        incomplete=incomplete,
    )
    for path in write(found, into, suffix=".jsonl" if jsonl else ".yaml", force=force):
        print(f"wrote {path}")
    counted = {"case": found.cases, "database": found.databases, "prediction": found.predictions}
    print(", ".join(plural(len(each), noun) for noun, each in counted.items()))
    for notice in found.notices:
        print(f"note: {notice}")


def export_cases(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="cases.yaml, .jsonl or .csv; .parquet for a run.")],
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Export this run's scores instead of the cases.")
    ] = None,
    config: options.ConfigFile = Path("sqlassay.yaml"),
    runs: options.RunsFolder = None,
) -> None:
    """Write the configured cases, or a run's scores, as another format."""
    if run is not None or target.suffix == ".parquet":
        from sqlassay import api
        from sqlassay.cli.outputs import check_suffixes
        from sqlassay.cli.outputs import write as write_run
        from sqlassay.cli.runs import runs_folder

        check_suffixes([target])
        write_run(api.open_run(run or "latest", runs=runs_folder(runs)), target)
    else:
        from sqlassay.datasets import load as load_cases
        from sqlassay.datasets.export import write
        from sqlassay.running.configure import load

        settings = load(config)
        write(load_cases([Path(settings.base_dir) / path for path in settings.cases]).cases, target)
    print(f"wrote {target}")


def _mapping(pairs: list[str] | None) -> dict[str, str]:
    mapping = {}
    for pair in ",".join(pairs or ()).split(",") if pairs else ():
        field, equals, column = pair.partition("=")
        if not equals:
            raise UsageError(f"--map {pair}: write FIELD=COLUMN")
        mapping[field.strip()] = column.strip()
    return mapping
