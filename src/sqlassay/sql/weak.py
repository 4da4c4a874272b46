"""Which tables does a text name that the parser does not understand? What stands after FROM and JOIN, by its tokens."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from sqlassay.sql.parse import LONGEST_TEXT, is_quoted, tokens_of
from sqlassay.sql.schema import SchemaIndex

_NAME = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_STOP = frozenset({"SELECT", "LATERAL", "UNNEST", "VALUES", "TABLE", "ONLY", "DISTINCT"})


def tables_named(text: str, index: SchemaIndex) -> tuple[str, ...] | None:
    """Relations named after FROM or JOIN, CTE names left out; None where no tokens can be made of it.

    >>> from sqlassay.records.relation import Schema
    >>> from sqlassay.sql.schema import index
    >>> tables_named("SELECT a FROM sales s MODEL DIMENSION BY (x)", index(Schema(dialect="oracle")))
    ('sales',)
    """
    tokens = tokens_of(text, index.dialect) if len(text) <= LONGEST_TEXT else None
    if tokens is None:
        return None
    ctes = {
        index.naming.columns(token.text, token.token_type == TokenType.IDENTIFIER)
        for token, following, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if token.token_type in _NAME and following.text.upper() == "AS" and after.token_type == TokenType.L_PAREN
    }
    found: set[str] = set()
    depth_of_call: list[bool] = []
    listing = False
    i = 0
    while i < len(tokens):
        token = tokens[i]
        kind, word = token.token_type, "" if is_quoted(token) else token.text.upper()
        if kind == TokenType.L_PAREN:
            before = tokens[i - 1] if i else None
            depth_of_call.append(before is not None and before.token_type == TokenType.VAR)
            listing = False
        elif kind == TokenType.R_PAREN and depth_of_call:
            depth_of_call.pop()
            listing = False
        elif word in ("FROM", "JOIN") or (listing and word == ","):
            in_call = bool(depth_of_call) and depth_of_call[-1] and word == "FROM"
            parts, end = _dotted(tokens, i + 1)
            called = end < len(tokens) and tokens[end].token_type == TokenType.L_PAREN
            if parts and not in_call and not called and not _is_distinct_from(tokens, i):
                listing = True
                names = tuple(
                    index.naming.relations(part.text, part.token_type == TokenType.IDENTIFIER) for part in parts
                )
                own = index.naming.columns(parts[-1].text, parts[-1].token_type == TokenType.IDENTIFIER)
                if not (len(parts) == 1 and own in ctes) and names[-1].lower() != "dual":
                    relation = index.relation(names)
                    found.add(index.written(names) if relation is None else relation.name)
                i = end - 1
        elif word in ("WHERE", "GROUP BY", "ORDER BY", "SELECT", "ON", "HAVING", "UNION", "LIMIT"):
            listing = False
        i += 1
    return tuple(sorted(found))


def _dotted(tokens: list[Token], start: int) -> tuple[list[Token], int]:
    parts: list[Token] = []
    at = start
    while at < len(tokens):
        token = tokens[at]
        if is_quoted(token) and token.token_type != TokenType.IDENTIFIER:
            break
        if not (token.text[:1].isalpha() or token.text[:1] == "_" or token.token_type == TokenType.IDENTIFIER):
            break
        if not parts and token.text.upper() in _STOP and token.token_type != TokenType.IDENTIFIER:
            break
        parts.append(token)
        at += 1
        if at < len(tokens) and tokens[at].token_type == TokenType.DOT:
            at += 1
            continue
        break
    return parts, at


def _is_distinct_from(tokens: list[Token], i: int) -> bool:
    return i >= 2 and tokens[i - 1].text.upper() == "DISTINCT" and tokens[i - 2].text.upper() in ("IS", "NOT")
