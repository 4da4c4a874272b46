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
    from sqlassay.gate.verdict import Verdict
    from sqlassay.records.config import GateSettings


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
    if require and config is None:
        demanded = rules(require, all_pass=all_pass, no_regressions=baseline is not None, level=level)
        against = baseline
    else:
        settings = _configured(config, stated=all_pass or baseline is not None)
        demanded = rules_of(settings, extra=require or (), all_pass=all_pass, baseline=baseline, level=level)
        against = baseline or settings.baseline
    verdict = judged(opened, demanded, baseline=against, runs=folder)
    if json:
        from sqlassay.cli.console import print_json

        print_json(verdict.to_dict())
    else:
        show(verdict)
    raise typer.Exit(int(verdict.exit_code))


def _configured(config: Path | None, *, stated: bool) -> GateSettings:
    """The rules of the file; none are needed where the command line states one."""
    from sqlassay.records.config import GateSettings
    from sqlassay.running.configure import load

    if config is None and not Path("sqlassay.yaml").is_file():
        if stated:
            return GateSettings()
        raise UsageError("the gate has no rules", hint="name one with --require, or a file with -c")
    return load(config).gate


def rules_of(
    settings: GateSettings,
    *,
    extra: list[str] | tuple[str, ...] = (),
    all_pass: bool = False,
    baseline: str | None = None,
    level: float | None = None,
) -> GateRules:
    """The rules of a configuration with those of the command line.

    Raises:
        ConfigError: one of them means nothing.
    """
    from sqlassay.gate.rules import rules

    significant = settings.level if settings.no_regressions == "significant" else None
    return rules(
        (*settings.require, *extra),
        all_pass=all_pass or settings.all_pass,
        no_regressions=baseline is not None or settings.no_regressions != "off",
        level=level if level is not None else significant,
    )


def judged(run: Run, rules: GateRules, *, baseline: str | None, runs: Path) -> Verdict:
    """The verdict on a run; `baseline` names the run that it may not fall behind."""
    from sqlassay import api
    from sqlassay.gate.verdict import judge

    before = None if baseline is None else api.open_run(baseline, runs=runs).summary
    return judge(run.summary, rules, baseline=before)


def show(verdict: Verdict) -> None:
    """Print each rule with what it says, then the sentence that decides."""
    from sqlassay.cli.console import stdout

    console = stdout()
    for result in verdict.results:
        console.print(f"{result.state.value.replace('_', ' '):<11}  {result.sentence}")
    console.print(verdict.sentence)
