"""How does text become tokens and trees, bounded whatever the text is?"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sqlassay.errors import Culprit, Fault, capture
from sqlassay.sql.names import canonical_dialect

T = TypeVar("T")

# sqlglot warns when it falls back to an opaque command; here that is an ordinary outcome with its own answer.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

DEEP_PARENTHESES = 40
"""Texts with more opening parentheses are read on a thread of their own, whose stack is fresh and large."""
LONGEST_TEXT = 1_000_000
"""Characters beyond which a text is neither parsed nor run."""

_STACK_BYTES = 256 * 1024 * 1024
_STACK_LOCK = threading.Lock()


class Unparsable(ValueError):
    """The text is no SQL of this dialect, or too large or deep to be read."""


@cache
def sqlglot_dialect(dialect: str) -> Any:
    """sqlglot's dialect object; SQLite's where the name is unknown."""
    name = canonical_dialect(dialect)
    found = Dialect.get(name)
    return found() if found is not None else Dialect.get_or_raise("sqlite")


def tokens_of(text: str, dialect: str) -> list[Token] | None:
    """The tokens of `text`, None where its quotes or comments do not end."""
    try:
        return list(sqlglot_dialect(dialect).tokenize(text))
    except (SqlglotError, ValueError, RecursionError):
        return None


def trees_of(text: str, dialect: str) -> list[exp.Expr]:
    """One tree per non-empty statement.

    Raises:
        Unparsable: with the parser's first complaint in words.
    """
    if len(text) > LONGEST_TEXT:
        raise Unparsable(f"longer than {LONGEST_TEXT:,} characters")
    try:
        parsed = sqlglot_dialect(dialect).parse(text)
    except RecursionError:
        raise Unparsable("nested too deeply") from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise Unparsable(_first_line(error)) from None
    return [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]


def readable(text: str, dialect: str) -> tuple[list[exp.Expr], str]:
    """One tree per statement, and the text that they were read from: a form the parser does not know is spelt another
    way, in which it means the same.

    Raises:
        Unparsable: with the parser's first complaint in words.
    """
    try:
        return trees_of(text, dialect), text
    except Unparsable:
        other = _with_bracketed_limits(text, dialect)
        if other is None:
            raise
        return trees_of(other, dialect), other


def _with_bracketed_limits(text: str, dialect: str) -> str | None:
    """`LIMIT 2 - n % 2` as `LIMIT (2 - n % 2)`; None where there is nothing to bracket."""
    tokens = tokens_of(text, dialect) if len(text) <= LONGEST_TEXT and "limit" in text.lower() else None
    if tokens is None:
        return None
    edits: list[tuple[int, str]] = []
    for i, token in enumerate(tokens):
        if token.token_type not in (TokenType.LIMIT, TokenType.OFFSET):
            continue
        depth, end = 0, i + 1
        while end < len(tokens):
            kind = tokens[end].token_type
            if depth == 0 and kind in _ENDS_LIMIT:
                break
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            end += 1
        if end - i > 2:
            edits += [(tokens[i + 1].start, "("), (tokens[end - 1].end + 1, ")")]
    if not edits:
        return None
    for position, bracket in sorted(edits, reverse=True):
        text = text[:position] + bracket + text[position:]
    return text


_ENDS_LIMIT = frozenset(
    {TokenType.OFFSET, TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.UNION, TokenType.LIMIT}
)


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


def is_quoted(token: Token) -> bool:
    """A quoted name or a literal: never a keyword."""
    return token.token_type in _QUOTED


_QUOTED = frozenset(
    {
        TokenType.IDENTIFIER,
        TokenType.STRING,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.UNICODE_STRING,
        TokenType.BYTE_STRING,
    }
)


def with_room(action: Callable[[], T], text: str) -> T | Fault:
    """`action()` with stack enough for a deep `text`; what it raises comes back as a fault."""
    if text.count("(") <= DEEP_PARENTHESES:
        return capture(action, culprit=Culprit.AGENT)
    box: list[T | Fault] = []
    with _STACK_LOCK:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(
                target=lambda: box.append(capture(action, culprit=Culprit.AGENT)), name="sqlassay-deep-sql", daemon=True
            )
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    return box[0]
