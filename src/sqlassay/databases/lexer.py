"""Which words, quoted names and calls does a statement hold, and where does it end, by its engine's own quoting?

The guards of the engines ask this before anything is sent: it is a lexer, not a parser, so that a text that no
parser reads is still looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Kind = Literal["word", "name", "string", "number", "punct"]
Family = Literal["sqlite", "postgres", "duckdb", "mysql", "mysql_ansi"]


def words(text: str) -> frozenset[str]:
    """The blank-separated words of a text.

    >>> sorted(words("copy attach"))
    ['attach', 'copy']
    """
    return frozenset(text.split())


WRITES = frozenset({"insert", "update", "delete", "replace", "merge", "truncate", "upsert"})
_OTHER_COMMANDS = words(
    "abort alter analyze attach begin call change checkpoint close cluster comment commit copy create "
    "deallocate declare describe detach discard do drop end execute explain export fetch flush force grant "
    "handler import install kill listen load lock move notify optimize pragma prepare reassign refresh reindex "
    "release rename repair reset revoke rollback savepoint security set show shutdown start stop summarize "
    "uninstall unlisten unlock update_extensions use vacuum xa desc help binlog cache purge signal resignal clone "
    "backup check checksum"
)
COMMANDS = WRITES | _OTHER_COMMANDS
"""First words of statements that are not reads in any engine."""

READS = frozenset({"select", "values", "table", "from", "pivot", "unpivot"})
"""Words that begin a read in some engine."""


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is decoded for quoted names, lower-cased for words, and left as written for the rest."""

    kind: Kind
    text: str
    start: int
    end: int


_SPACE = r"(?P<space>\s+|\ufeff)"
_WORD = r"(?P<word>[^\W\d][\w$]*)"
_NUMBER = r"(?P<number>\d[\w.]*)"
_REST = r"(?P<punct>.)"
_DASHES = r"(?P<line>--[^\r\n]*)"
_BLOCK = r"(?P<block>/\*(?:.*?\*/|.*\Z))"
_NESTED = r"(?P<nested>/\*)"
_SINGLE = r"(?P<string>[xXbBnN]?'[^']*(?:''[^']*)*(?:'|\Z))"
_ESCAPED_BODY = r"[^'\\]*(?:(?:''|\\.)[^'\\]*)*(?:'|\\?\Z)"
_BACKSLASHED = (
    rf"(?P<string>[xXbBnN]?'{_ESCAPED_BODY}|"
    r"\"[^\"\\]*(?:(?:\"\"|\\.)[^\"\\]*)*(?:\"|\\?\Z))"
)
_ESCAPE = rf"(?P<escape>[eE]'{_ESCAPED_BODY})"
_UNICODE = r"(?P<unicode>[uU]&\"[^\"]*(?:\"\"[^\"]*)*(?:\"|\Z))"
_UNICODE_STRING = r"(?P<unistring>[uU]&'[^']*(?:''[^']*)*(?:'|\Z))"
_DOLLAR = r"(?P<dollar>\$(?P<tag>(?:[^\W\d]\w*)?)\$(?:.*?\$(?P=tag)\$|.*\Z))"
_DOUBLE = r"(?P<double>\"[^\"]*(?:\"\"[^\"]*)*(?:\"|\Z))"
_TICK = r"(?P<tick>`[^`]*(?:``[^`]*)*(?:`|\Z))"
_BRACKET = r"(?P<bracket>\[[^\]]*(?:\]|\Z))"

_PATTERNS: dict[str, re.Pattern[str]] = {
    family: re.compile("|".join(parts), re.DOTALL)
    for family, parts in {
        "sqlite": (_SPACE, _DASHES, _BLOCK, _SINGLE, _DOUBLE, _TICK, _BRACKET, _WORD, _NUMBER, _REST),
        "postgres": (
            *(_SPACE, _DASHES, _NESTED, _ESCAPE, _UNICODE, _UNICODE_STRING, _SINGLE, _DOLLAR, _DOUBLE),
            *(_WORD, _NUMBER, _REST),
        ),
        "duckdb": (_SPACE, _DASHES, _NESTED, _ESCAPE, _SINGLE, _DOLLAR, _DOUBLE, _WORD, _NUMBER, _REST),
        "mysql_ansi": (
            *(_SPACE, r"(?P<line>--(?=[\s\x00-\x1f]|\Z)[^\n]*|\#[^\n]*)", r"(?P<executable>/\*M?!)", _BLOCK),
            *(_SINGLE, _DOUBLE, _TICK, _WORD, _NUMBER, _REST),
        ),
        "mysql": (
            *(
                _SPACE,
                r"(?P<line>--(?=[\s\x00-\x1f]|\Z)[^\n]*|\#[^\n]*)",
                r"(?P<executable>/\*M?!)",
                _BLOCK,
                _BACKSLASHED,
                _TICK,
            ),
            *(_WORD, _NUMBER, _REST),
        ),
    }.items()
}
_UNICODE_ESCAPE = re.compile(r"\\(?:\\|\+([0-9a-fA-F]{6})|([0-9a-fA-F]{4}))")
_NEST = re.compile(r"/\*|\*/")


def tokens(sql: str, family: Family) -> Iterator[Token]:
    """The tokens of a text without blanks and comments; never fails, unterminated quotes end with the text.

    >>> [token.text for token in tokens('SELECT "a b" -- x', "sqlite")]
    ['select', 'a b']
    """
    pattern = _PATTERNS[family]
    position, end = 0, len(sql)
    while position < end:
        match = pattern.match(sql, position)
        assert match is not None, "the last alternative takes any character"
        kind, text, start = match.lastgroup or "punct", match.group(), position
        position = match.end()
        if kind == "nested":
            position = _end_of_nested(sql, position)
        elif kind == "word":
            yield Token("word", text.lower(), start, position)
        elif kind in ("punct", "executable"):
            yield Token("punct", text, start, position)
        elif kind == "double":
            yield Token("name", text[1:].removesuffix('"').replace('""', '"'), start, position)
        elif kind == "tick":
            yield Token("name", text[1:].removesuffix("`").replace("``", "`"), start, position)
        elif kind == "bracket":
            yield Token("name", text[1:].removesuffix("]"), start, position)
        elif kind == "unicode":
            yield Token("name", _decoded(text[3:].removesuffix('"').replace('""', '"')), start, position)
        elif kind == "number":
            yield Token("number", text, start, position)
        elif kind not in ("space", "line", "block"):
            yield Token("string", text, start, position)


def _end_of_nested(sql: str, position: int) -> int:
    depth = 1
    for match in _NEST.finditer(sql, position):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(sql)


def _decoded(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return "\\" if code is None else chr(min(int(code, 16), 0x10FFFF))

    return _UNICODE_ESCAPE.sub(character, text)


def statement_count(found: Sequence[Token]) -> int:
    """How many statements the tokens hold; empty ones between semicolons do not count.

    >>> statement_count(list(tokens("select ';'; ; -- end", "sqlite")))
    1
    """
    count, inside = 0, False
    for token in found:
        if token.kind == "punct" and token.text == ";":
            inside = False
        elif not inside:
            inside = True
            count += 1
    return count


def only_statement(sql: str, found: Sequence[Token]) -> str:
    """The text up to the semicolon that ends its only statement: what follows is not sent.

    >>> only_statement("select ';' ; -- x", list(tokens("select ';' ; -- x", "mysql")))
    "select ';' "
    """
    begun = False
    for token in found:
        if token.kind == "punct" and token.text == ";":
            if begun:
                return sql[: token.start]
        else:
            begun = True
    return sql


def verb(found: Sequence[Token]) -> str:
    """The word that says what the statement does: after WITH, the one that follows the common table expressions.

    >>> verb(list(tokens("WITH a AS (SELECT 1) DELETE FROM t", "sqlite")))
    'delete'
    """
    depth = 0
    common = False
    for token in found:
        if token.kind == "punct":
            if common:
                depth += (token.text == "(") - (token.text == ")")
            continue
        if token.kind != "word":
            if not common:
                return ""
            continue
        if not common:
            if token.text != "with":
                return token.text
            common = True
        elif depth <= 0 and (token.text in READS or token.text in WRITES):
            return token.text
    return "with" if common else ""


def unsendable(sql: str) -> str | None:
    """Why a text cannot reach an engine whole: lone surrogates have no UTF-8, and C interfaces end at a NUL.

    >>> unsendable("select 'a\\0b'")
    'the text holds a NUL character'
    """
    if "\0" in sql:
        return "the text holds a NUL character"
    if not sql.isascii() and _SURROGATE.search(sql):
        return "the text holds a lone surrogate"
    return None


_SURROGATE = re.compile("[\ud800-\udfff]")


def refusal(found: Sequence[Token]) -> str | None:
    """Why a text is plainly no single read statement, None where nothing speaks against it.

    >>> refusal(list(tokens("DROP TABLE t", "sqlite")))
    'DROP is not a read'
    """
    if statement_count(found) > 1:
        return "more than one statement"
    first = verb(found)
    return f"{first.upper()} is not a read" if first in COMMANDS else None


def calls(found: Sequence[Token]) -> Iterator[str]:
    """Names that stand directly before an opening parenthesis, lower-cased, but for a first common table expression's.

    >>> list(calls(list(tokens('with q(a) as (select 1) select "Pg_Sleep" /* x */ (1)', "postgres"))))
    ['as', 'pg_sleep']
    """
    before = ""
    for token, following in pairwise(found):
        opens = following.text == "(" and following.kind == "punct"
        if opens and token.kind in ("word", "name") and before not in ("with", "recursive"):
            yield token.text.lower()
        before = token.text if token.kind == "word" else ""


def names(found: Sequence[Token]) -> Iterator[str]:
    """Every word and quoted name, lower-cased."""
    for token in found:
        if token.kind in ("word", "name"):
            yield token.text.lower()
