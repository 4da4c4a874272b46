"""`sqlassay check`: is the ruler straight? Lints the cases and their gold queries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import ConfigError


def check(
    config: options.ConfigFile = Path("sqlassay.yaml"),
    limit: options.Limit = None,
    case_id: options.CaseIds = None,
    tag: options.Tags = None,
    category: options.Categories = None,
    database: options.DatabaseUrl = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: options.Json = False,
) -> None:
    """Check the cases: golds run, are not empty, deterministic, right against themselves, and more. Exit 4 if not."""
    from sqlassay.cli.console import print_json
    from sqlassay.datasets import load as load_cases
    from sqlassay.datasets.findings import Severity, exit_code
    from sqlassay.datasets.selection import select
    from sqlassay.records.plain import to_plain
    from sqlassay.report.numbers import plural
    from sqlassay.running.checking import check_configured
    from sqlassay.running.configure import load
    from sqlassay.running.fixtures import snapshots_copied
    from sqlassay.view.doubts import doubted, with_doubts

    settings = load(config, overrides={"database": database})
    if not settings.cases:
        raise ConfigError("no cases are configured", hint="name a file or folder under `cases:`")
    cases = select(
        load_cases([Path(settings.base_dir) / path for path in settings.cases]).cases,
        limit=limit,
        case_ids=case_id or (),
        tags=tag or (),
        categories=category or (),
    )
    with snapshots_copied(settings) as ready:
        findings = check_configured(ready, cases)
    doubts = doubted(Path(settings.base_dir) / settings.runs, cases)
    findings = with_doubts(findings, doubts, cases)
    counts = Counter(finding.severity for finding in findings)
    worst = exit_code(findings)
    if strict and counts[Severity.WARNING] and not worst:
        worst = type(worst).GOLD_BROKEN
    if json:
        print_json({"cases": len(cases), "findings": [to_plain(finding) for finding in findings]})
        raise typer.Exit(int(worst))
    for finding in findings:
        print(finding)
        print(f"    {finding.remedy}")
    tally = ", ".join(plural(counts[severity], severity.value) for severity in Severity)
    print(f"{plural(len(cases), 'case')} checked: {tally}")
    raise typer.Exit(int(worst))
