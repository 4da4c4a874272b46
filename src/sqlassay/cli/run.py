"""`sqlassay run`: put the questions, run both queries, score, keep everything, say what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlassay.cli import options, resuming
from sqlassay.errors import ExitCode

if TYPE_CHECKING:
    from sqlassay.api import Run
    from sqlassay.gate.rules import GateRules
    from sqlassay.gate.verdict import Verdict
    from sqlassay.records.config import Config


def run(
    context: typer.Context,
    config: options.ConfigFile = Path("sqlassay.yaml"),
    limit: options.Limit = None,
    case_id: options.CaseIds = None,
    tag: options.Tags = None,
    category: options.Categories = None,
    fast: options.Fast = False,
    repeats: options.Repeats = None,
    jobs: options.Jobs = None,
    timeout: options.Timeout = None,
    database: options.DatabaseUrl = None,
    no_judge: options.NoJudge = False,
    gate: Annotated[bool, typer.Option("--gate", help="Then judge by the configured rules: exit 0, 1 or 3.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run (`--run-id`, or the newest).")] = False,
    run_id: Annotated[str | None, typer.Option("--run-id", metavar="NAME", help="The run's name.")] = None,
    runs: options.RunsFolder = None,
    output: options.Outputs = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the cases through the agent and score them."""
    from sqlassay import api
    from sqlassay.cli.outputs import check_suffixes
    from sqlassay.cli.progress import progress
    from sqlassay.running.configure import load

    check_suffixes(output)
    settings = load(
        config,
        overrides={
            "limit": limit,
            "case_id": case_id or None,
            "tag": tag or None,
            "category": category or None,
            "fast": fast or None,
            "repeats": repeats,
            "jobs": jobs,
            "timeout": timeout,
            "database": database,
            "no_judge": no_judge or None,
            "runs": None if runs is None else str(runs.resolve()),
            "output": [str(path) for path in output] if output else None,
            "json": json or None,
            "resume": resume or None,
        },
    )
    rules = _rules_of(settings) if gate or settings.gate.on_run else None
    name, going_on = _named(settings, resume=resume, run_id=run_id)
    try:
        with progress(quiet=quiet or settings.json) as hear:
            done = api.run(settings, run_id=name, resume=going_on, on_event=hear)
        verdict = None if rules is None or interrupted(done) else _verdict(done, rules, settings)
        finish(done, outputs=[Path(path) for path in settings.output], json=settings.json, verdict=verdict)
    except KeyboardInterrupt:
        raise typer.Exit(resuming.say(context, Path(settings.runs) / name)) from None
    if interrupted(done):
        raise typer.Exit(resuming.say(context, done.path))
    raise typer.Exit(exit_code(done) if verdict is None else int(verdict.exit_code))


def _named(settings: Config, *, resume: bool, run_id: str | None) -> tuple[str, str | None]:
    """The run's name, and the run to go on with, known before it begins so that an early interrupt can name it."""
    if not (resume or settings.resume):
        from sqlassay.running.plan import new_run_id

        return run_id or new_run_id(), None
    if run_id is None:
        from sqlassay.running.begin import find_resumable

        run_id = find_resumable(Path(settings.runs), None).name
    return run_id, run_id


def _rules_of(settings: Config) -> GateRules:
    """The configured rules, read before anything is asked: a misspelt one costs no run.

    Raises:
        ConfigError, ArchiveError: a rule means nothing, or its baseline is not there.
    """
    from sqlassay import api
    from sqlassay.cli.gate import rules_of

    if settings.gate.baseline is not None:
        api.open_run(settings.gate.baseline, runs=settings.runs)
    return rules_of(settings.gate)


def _verdict(done: Run, rules: GateRules, settings: Config) -> Verdict:
    from sqlassay.cli.gate import judged

    return judged(done, rules, baseline=settings.gate.baseline, runs=done.path.parent)


def exit_code(done: Run) -> int:
    """0, or 130 when interrupted, or 3 when a case is unscored through the harness's fault."""
    from sqlassay.records.measurement import Bucket

    if interrupted(done):
        return int(ExitCode.INTERRUPTED)
    ours = (Bucket.HARNESS_ERROR, Bucket.EXTRACTOR_EMPTY)
    return int(ExitCode.INCOMPLETE if any(done.summary.buckets.get(bucket) for bucket in ours) else ExitCode.OK)


def interrupted(done: Run) -> bool:
    """Whether the run was stopped before its end."""
    return done.result is not None and done.result.state.value == "interrupted"


def finish(done: Run, *, outputs: list[Path], json: bool, verdict: Verdict | None = None) -> None:
    """Write the report and what was asked for, then print summary and verdict, or both as one JSON document."""
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.cli.gate import show
    from sqlassay.cli.outputs import write
    from sqlassay.cli.runs import show_command
    from sqlassay.report.text import render

    page = done.path / "report.html"
    write(done, page)
    for path in outputs:
        write(done, path)
    if json:
        print_json(done.summary.to_dict() | ({} if verdict is None else {"gate": verdict.to_dict()}))
        return
    console = stdout()
    render(done.report, console, metrics=False, show=show_command(done.path))
    console.print(f"report: {page}")
    for path in outputs:
        console.print(f"wrote:  {path}")
    if verdict is not None:
        show(verdict)
