"""`sqlassay gate`: the only command that decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError

if TYPE_CHECKING:
    from sqlassay.api import Run
    from sqlassay.gate.rules import GateRules
    from sqlassay.records.config import Config, GateSettings


def gate(
    run: options.RunArgument = "latest",
    require: Annotated[
        list[str] | None, typer.Option("--require", metavar="EXPR", help="'execution.exact >= 0.9'; repeatable.")
    ] = None,
    all_pass: Annotated[bool, typer.Option("--all-pass", help="Any failing sample fails.")] = False,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="No case that passed there may fail now.")
    ] = None,
    level: Annotated[
        float | None,
        typer.Option("--level", min=0, max=1, help="With --baseline: only a significant worsening fails."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Take the rules from this file (default: sqlassay.yaml).")
    ] = None,
    runs: options.RunsFolder = None,
    json: options.Json = False,
) -> None:
    """Judge a run by the rules you wrote: exit 0 passed, 1 failed, 3 cannot tell."""
    from sqlassay import api
    from sqlassay.cli.runs import runs_folder
    from sqlassay.gate.rules import rules

    folder = runs_folder(runs)
    opened = api.open_run(run, runs=folder)
    stated = require or all_pass or baseline is not None
    if stated and config is None:
        demanded = rules(require or (), all_pass=all_pass, no_regressions=baseline is not None, level=level)
        against = baseline
    else:
        settings = _configured(config)
        demanded = _rules(settings, extra=require or (), all_pass=all_pass, baseline=baseline, level=level)
        against = baseline or settings.baseline
    raise typer.Exit(_judge(opened, demanded, baseline=against, runs=folder, json=json))


def decide(done: Run, *, settings: Config, json: bool) -> int:
    """Judge a run that has just ended by the rules of its configuration; the exit code."""
    return _judge(done, _rules(settings.gate), baseline=settings.gate.baseline, runs=done.path.parent, json=json)


def _configured(config: Path | None) -> GateSettings:
    from sqlassay.running.configure import load

    if config is None and not Path("sqlassay.yaml").is_file():
        raise UsageError("the gate has no rules", hint="name one with --require, or a file with -c")
    return load(config).gate


def _rules(
    settings: GateSettings,
    *,
    extra: list[str] | tuple[str, ...] = (),
    all_pass: bool = False,
    baseline: str | None = None,
    level: float | None = None,
) -> GateRules:
    from sqlassay.gate.rules import rules

    significant = settings.level if settings.no_regressions == "significant" else None
    return rules(
        (*settings.require, *extra),
        all_pass=all_pass or settings.all_pass,
        no_regressions=baseline is not None or settings.no_regressions != "off",
        level=level if level is not None else significant,
    )


def _judge(run: Run, rules: GateRules, *, baseline: str | None, runs: Path, json: bool) -> int:
    from sqlassay import api
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.gate.verdict import judge

    before = None if baseline is None else api.open_run(baseline, runs=runs).summary
    verdict = judge(run.summary, rules, baseline=before)
    if json:
        print_json(verdict.to_dict())
        return int(verdict.exit_code)
    console = stdout()
    for result in verdict.results:
        console.print(f"{result.state.value.replace('_', ' '):<11}  {result.sentence}")
    console.print(verdict.sentence)
    return int(verdict.exit_code)
