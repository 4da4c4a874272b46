"""How does text that is not valid UTF-8 come out of SQLite with nothing lost?

The driver decodes text strictly. Only when a result fails on that, the same statement is read once more through a
wrapper that hands text over as bytes; ill-formed bytes then become lone surrogates (`surrogateescape`).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlassay.databases.lexer import Token
from sqlassay.records.relation import Row


def bytes_of_text(sql: str, found: Sequence[Token], *, width: int) -> str:
    """A statement with, for each of `width` columns, the value (text as bytes) and whether it was text."""
    last = next(token for token in reversed(found) if token.text != ";" or token.kind != "punct")
    names = ", ".join(f"c{i}" for i in range(width))
    values = ", ".join(
        f"CASE WHEN typeof(c{i}) = 'text' THEN CAST(c{i} AS BLOB) ELSE c{i} END, typeof(c{i}) = 'text'"
        for i in range(width)
    )
    return f"WITH whole({names}) AS ({sql[: last.end]}\n) SELECT {values} FROM whole"


def restored(rows: Sequence[Row]) -> list[Row]:
    """The rows of `bytes_of_text` as the original statement meant them.

    >>> restored([(b"caf\\xe9", 1, b"raw", 0)])
    [('caf\\udce9', b'raw')]
    """
    return [
        tuple(
            value.decode("utf-8", "surrogateescape") if is_text else value
            for value, is_text in zip(row[::2], row[1::2], strict=True)
        )
        for row in rows
    ]
