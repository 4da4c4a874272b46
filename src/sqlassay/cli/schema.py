"""`sqlassay schema`: the published JSON Schema of a format."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """The formats that have a published schema."""

    CASE = "case"
    TURN = "turn"
    SCORE = "score"
    SUMMARY = "summary"
    MANIFEST = "manifest"
    CONFIG = "config"


def schema(format: Annotated[Format, typer.Argument(help="Which format.")]) -> None:
    """Print the JSON Schema of a format (for `config`: every key, with what it does)."""
    from sqlassay.records import wire

    if format is Format.SUMMARY:
        from sqlassay.summary.published import Published

        document = wire.schema_of(Published, title="summary")
    else:
        document = wire.schema(format.value)
    print(json.dumps(document, indent=2, ensure_ascii=False))
