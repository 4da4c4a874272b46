"""Does a query's outermost level have an ORDER BY? Told from its tokens, before any database or dialect is known."""

from __future__ import annotations

import itertools
import re

_TOKEN = re.compile(
    r"""
    --[^\n]*                                # a comment to the end of the line
  | /\*.*?(?:\*/|\Z)                        # a block comment
  | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)  # PostgreSQL's dollar quotes
  | '(?:[^']|'')*(?:'|\Z)
  | "(?:[^"]|"")*(?:"|\Z)
  | `(?:[^`]|``)*(?:`|\Z)
  | \[[^\]\[]*\]                            # a bracketed name, or a subscript
  | (?P<open>\()
  | (?P<close>\))
  | (?P<word>[^\W\d]\w*)
  | (?P<other>[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)


def has_outermost_order(sql: str) -> bool:
    """Whether ORDER BY stands at the outermost level of `sql`: not in a window, a subquery, a CTE or a literal.

    >>> has_outermost_order("SELECT a FROM t ORDER BY a")
    True
    >>> has_outermost_order("SELECT RANK() OVER (ORDER BY a) FROM (SELECT a FROM t ORDER BY a) -- ORDER BY a")
    False
    """
    words: list[tuple[int, str]] = []
    depth = 0
    for match in _TOKEN.finditer(sql):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
        elif match["word"]:
            words.append((depth, match["word"].upper()))
        elif match["other"] and match["other"] != ";":
            words.append((depth, match["other"]))
    if not words:
        return False
    outermost = min(depth for depth, _ in words)
    # Each set of parentheses is its own level: only neighbours of one level can be ORDER and BY.
    level = [word for depth, word in words if depth == outermost]
    return any(first == "ORDER" and second == "BY" for first, second in itertools.pairwise(level))
