"""`sqlassay demo`: the film catalogue, from an empty folder to a report, with nothing else needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import UsageError

_FILES = ("agent.py", "catalogue.py", "planning.py", "retriever.py", "understanding.py")
_TEXTS = ("cases.yaml", "sqlassay.yaml", "README.md")
_START_S = 20.0


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the demo is put.")] = Path("sqlassay-demo"),
    quiet: options.Quiet = False,
) -> None:
    """Build a film catalogue, start a small agent for it, run the cases and write the report."""
    from sqlassay import api
    from sqlassay.cli.progress import progress
    from sqlassay.cli.run import finish

    source = _example()
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*_FILES, *_TEXTS):
        if not (folder / name).exists():
            shutil.copyfile(source / name, folder / name)
    if subprocess.run([sys.executable, "catalogue.py", "films.db"], cwd=folder).returncode:
        raise UsageError("the demo's database was not built", hint=f"try: cd {folder} && python catalogue.py films.db")
    with _agent(folder) as address:
        os.environ["FILMS_AGENT_URL"] = address
        with progress(quiet=quiet) as hear:
            done = api.run(folder / "sqlassay.yaml", on_event=hear)
    finish(done, outputs=[], json=False)


def _example() -> Path:
    """The example as it lies in the installed package, or in the checkout."""
    here = Path(__file__).resolve()
    for place in (here.parents[1] / "_films", here.parents[3] / "examples" / "films"):
        if (place / "agent.py").is_file():
            return place
    raise UsageError("the demo's files are not installed", hint="run it from a checkout of the project")


@contextmanager
def _agent(folder: Path) -> Iterator[str]:
    """Start the agent on a free port, wait for its address, and stop it whatever happens."""
    process = subprocess.Popen(
        [sys.executable, "agent.py", "--database", "films.db", "--cases", "cases.yaml", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        timer = threading.Timer(_START_S, process.kill)
        timer.start()
        address = process.stdout.readline().strip()
        timer.cancel()
        if not address:
            raise UsageError("the demo's agent did not start", hint=f"try: cd {folder} && python agent.py")
        yield address
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
