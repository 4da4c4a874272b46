"""`sqlassay view`: the runs as pages on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlassay.cli import options


def view(
    runs: options.RunsFolder = None,
    config: options.BesideConfig = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes any free one.")] = 8765,
    host: Annotated[str, typer.Option("--host", help="Anything but loopback needs --token.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option("--token", envvar="SQLASSAY_VIEW_TOKEN", help="What a reader must present.")
    ] = None,
) -> None:
    """Serve the runs folder as pages, live while a run is going on; stop with Ctrl-C."""
    from sqlassay.cli.runs import runs_folder
    from sqlassay.view.server import serve

    serve(runs_folder(runs, config), host=host, port=port, token=token, announce=_announce)


def _announce(address: str) -> None:
    print(f"view: {address}   (Ctrl-C stops)", flush=True)
