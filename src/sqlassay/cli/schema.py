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
    from sqlassay.records import json_schema

    if format is Format.SUMMARY:
        from sqlassay.summary.published import Published

        document = json_schema.schema_of(Published, title="summary")
    else:
        document = json_schema.schema(format.value)
    print(json.dumps(document, indent=2, ensure_ascii=False))
