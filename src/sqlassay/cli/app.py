"""Which commands there are, in the order in which a newcomer meets them."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlassay import __version__
from sqlassay.cli import (
    check,
    compare,
    demo,
    doctor,
    gate,
    import_,
    init,
    list_,
    read,
    report,
    run,
    schema,
    score,
    show,
    snapshot,
    view,
)

app = typer.Typer(
    name="sqlassay",
    help="Measure whether a text-to-SQL agent is right, where it is wrong and why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sqlassay {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


app.command("init")(init.init)
app.command("demo")(demo.demo)
app.command("check")(check.check)
app.command("doctor")(doctor.doctor)
app.command("run")(run.run)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("show")(show.show)
app.command("list")(list_.list_runs)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("read")(read.read)
app.command("import")(import_.import_cases)
app.command("export")(import_.export_cases)
app.command("view")(view.view)
app.command("snapshot")(snapshot.snapshot)
app.command("schema")(schema.schema)
