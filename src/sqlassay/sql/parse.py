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
LONGEST_TEXT = 2_000_000
"""Characters beyond which a text is not parsed."""

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
