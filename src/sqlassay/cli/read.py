"""`sqlassay read`: the turn record that an adapter builds from a saved payload or trace."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlassay.errors import ExtractionError, UsageError


def read(
    adapter: Annotated[str, typer.Argument(metavar="ADAPTER", help="langchain, openai, otel, ...")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON or JSONL file; - reads standard input.")],
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the adapter; repeatable.")
    ] = None,
) -> None:
    """Print the turn record of a saved payload or trace as JSON."""
    from sqlassay import api
    from sqlassay.cli.console import print_json

    settings: dict[str, Any] = {}
    for pair in setting or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: write KEY=VALUE")
        settings[key] = value.split(",") if "," in value else value
    print_json(api.read(adapter, _payload(file), settings=settings).to_dict())


def _payload(file: Path) -> Any:
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    text = data.decode("utf-8", "surrogateescape").lstrip("\ufeff")
    try:
        return jsonlib.loads(text)
    except ValueError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [jsonlib.loads(line) for line in lines]
        except ValueError:
            raise ExtractionError(f"{file}: neither JSON nor JSON lines ({whole})") from whole
