"""`sqlassay report`: what a run found, at the terminal or in files."""

from __future__ import annotations

from sqlassay.cli import options


def report(
    run: options.RunArgument = "latest",
    runs: options.RunsFolder = None,
    config: options.BesideConfig = None,
    output: options.Outputs = None,
    failures: options.Failures = None,
    json: options.Json = False,
) -> None:
    """Show a run's summary; with -o write it as HTML, Markdown, JSON, JUnit, CSV or Parquet."""
    from sqlassay import api
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.cli.outputs import check_suffixes, write, write_failures
    from sqlassay.cli.runs import runs_folder, show_command
    from sqlassay.report.text import render

    paths = check_suffixes(output)
    opened = api.open_run(run, runs=runs_folder(runs, config))
    for path in paths:
        write(opened, path)
    if failures is not None:
        write_failures(opened, failures)
    if json:
        print_json(opened.summary.to_dict())
        return
    console = stdout()
    if not paths and failures is None:
        render(opened.report, console, show=show_command(opened.path))
    for path in [*paths, *([failures] if failures is not None else [])]:
        console.print(f"wrote: {path}")
