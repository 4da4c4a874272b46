"""Which words of a SQL text are keywords, strings, numbers, comments or names? For colour only, never for meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<string>'(?:[^']|'')*(?:'|\Z))
  | (?P<name>"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[A-Za-z_][^\]\n]*\])
  | (?P<number>\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)
  | (?P<word>[^\W\d]\w*)
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_KEYWORDS = """
    all and any as asc between by case cast collate cross current_date current_time current_timestamp desc distinct
    else end escape except exists false fetch filter first following for from full group having ilike in inner
    intersect interval into is join last lateral left like limit natural next not null nulls of offset on only or
    order outer over partition pivot preceding qualify range recursive right row rows select similar then ties to
    true unbounded union unnest using values when where window with within
"""
KEYWORDS = frozenset(_KEYWORDS.split())


def tokens(sql: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with its class: `keyword`, `function`, `name`, `string`, `number`, `comment`, or ''.

    The pieces put together are the text, whatever it is.

    >>> [kind for kind, text in tokens("SELECT COUNT(*) FROM t -- all") if text.strip()]
    ['keyword', 'function', '', '', '', 'keyword', 'name', 'comment']
    """
    for found in _TOKEN.finditer(sql):
        kind, text = found.lastgroup or "", found.group()
        if kind == "word":
            if text.lower() in KEYWORDS:
                kind = "keyword"
            else:
                kind = "function" if sql[found.end() : found.end() + 1] == "(" else "name"
        yield ("" if kind in ("space", "other") else kind), text
