"""Which part of an agent's answer is the SQL? Fences and prose are taken off; the SQL itself is left as written."""

from __future__ import annotations

import re
from difflib import get_close_matches

from sqlglot import exp

from sqlassay.errors import Fault
from sqlassay.sql.parse import trees_of, with_room

_FENCE = re.compile(
    r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[\w+.-]*)[^\n`]*\n(?P<body>.*?)(?:\n[ \t]*(?P=mark)|\Z)", re.DOTALL
)
_INLINE_FENCE = re.compile(
    r"`{3}(?:(?:sqlite|postgresql|postgres|mysql|tsql|sql)\s+)?(?P<body>[^`\n]+)`{3}", re.IGNORECASE
)
_SQL_TAGS = frozenset({"", "sql", "sqlite", "sqlite3", "postgres", "postgresql", "pgsql", "psql", "mysql", "mariadb",
                       "tsql", "duckdb", "oracle", "plsql", "bigquery", "snowflake", "databricks", "spark",
                       "clickhouse", "text", "txt", "plaintext", "code"})  # fmt: skip
_READS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "PIVOT", "UNPIVOT"})
_SHAPES = re.compile(
    r"""(?ix)
    (?: select \b
      | with \s+ (?:recursive\s+)? ["`\[]? \w [^\s(]* \s* (?:\([^)]*\)\s*)? as \s* (?:not\s+)?(?:materialized\s*)? \(
      | values \s* \(
      | insert \s+ (?:or\s+\w+\s+)? (?:into|overwrite) \b
      | replace \s+ into \b
      | update \s+ (?:or\s+\w+\s+)? [\w."`\[\]]+ (?:\s+(?:as\s+)?\w+)? \s+ set \b
      | delete \s+ from \b
      | merge \s+ into \b
      | (?:create|drop|alter|truncate) \s+ (?:or\s+replace\s+)?
          (?:temp(?:orary)?\s+)? (?:unique\s+)? (?:materialized\s+)? (?:table|view|index|schema|database|trigger
          |function|procedure|sequence|role|user|extension)\b
      | (?:pragma|attach|detach|vacuum|reindex|copy|call|exec(?:ute)?|grant|revoke|begin|commit|rollback) \b
          \s* (?: [\w"'`.@;(] | \Z )
      | explain \s+ (?:query\s+plan\s+|analyze\s+|\() * (?:select|with|insert|update|delete) \b
      | (?:declare|set|use|show|describe|summarize|load|install) \s+ [@\w"'`]
      | (?:pivot|unpivot|table) \s+ ["`\[\w]
      | from \s+ ["`\[\w(]
    )"""
)
_LEAD = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|[;(])*", re.DOTALL)
_LABEL = re.compile(
    r"\A\s*(?:sql\s*query|sqlquery|final\s+(?:answer|query|sql)|query|answer|sql)\s*:\s*", re.IGNORECASE
)
_START = re.compile(r"(?im)(?:^|[:`>]|\b(?:is|query|sql))[ \t]*(?=(?:select|with|values|from|insert|update|delete)\b)")
# What the parser takes for a command it takes unread, prose included.
_OPAQUE = (exp.Command, exp.Show, exp.Use, exp.Describe, exp.Set)
_VERBS = ("SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE")
_LITERAL_OR_COMMENT = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL
)


def statement_in(text: str) -> str | None:
    """The SQL inside an agent's answer, None where there is none (specification sections 4 and 8).

    Of several fenced blocks the last that holds SQL counts: models draft first. Text that already is SQL comes back
    unchanged, also where it does not parse; prose that follows its semicolon is cut off.

    >>> statement_in("Sure!\\n```sql\\nSELECT 1\\n```\\nHope it helps.")
    'SELECT 1'
    >>> statement_in("SELECT a FROM t; \\n\\nAnswer: three rows")
    'SELECT a FROM t'
    >>> statement_in("I cannot answer this from the schema.") is None
    True
    """
    if not text or text.isspace():
        return None
    fenced = _fenced(text)
    if fenced is not None:
        return fenced
    label = _LABEL.match(text)
    if label is not None and _looks_like_sql(text[label.end() :]):
        text = text[label.end() :]
    if _looks_like_sql(text):
        return _without_prose(text)
    return _in_prose(text)


def _fenced(text: str) -> str | None:
    if "```" not in text and "~~~" not in text:
        return None
    found: str | None = None
    for block in _FENCE.finditer(text):
        body = block["body"]
        tag = block["tag"].lower()
        if (tag in _SQL_TAGS and _looks_like_sql(body)) or (
            tag in _SQL_TAGS and tag.endswith(("sql", "sqlite")) and body.strip()
        ):
            found = body
    if found is None:
        for inline in _INLINE_FENCE.finditer(text):
            if _looks_like_sql(inline["body"]):
                found = inline["body"]
    return None if found is None else _without_prose(found.strip())


def _looks_like_sql(text: str) -> bool:
    body = text[_lead(text) :]
    if not body:
        return False
    word = re.match(r"\w+", body)
    if word is None:
        return False
    verb = word.group().upper()
    if _SHAPES.match(body):
        if verb in ("SELECT", "FROM", "TABLE", "SHOW", "USE", "SET", "LOAD", "CALL", "DESCRIBE", "COPY", "BEGIN"):
            return not _is_sentence(body, verb)
        return True
    misspelt = get_close_matches(verb, _VERBS, n=1, cutoff=0.8)
    return (
        bool(misspelt) and bool(re.search(r"(?i)\bfrom\b|\binto\b|\bset\b|\(", body)) and not _is_sentence(body, verb)
    )


def _lead(text: str) -> int:
    matched = _LEAD.match(text)
    return matched.end() if matched else 0


def _is_sentence(body: str, verb: str) -> bool:
    """`Select the option you like.` starts as SQL does; it is prose when nothing in it is SQL's own."""
    bare = _LITERAL_OR_COMMENT.sub(" ", body)
    if verb == "SELECT" and (re.search(r"(?i)\bfrom\b", bare) or len(bare.split()) <= 2):
        return bool(re.search(r"[a-z]\.\s*\Z", bare)) and not re.search(r"[,*=<>()]|(?i:\bwhere\b)", bare)
    if re.search(r"[*=<>();]", bare) or re.search(r"\d", bare):
        return False
    words = bare.split()
    return len(words) > 4 and not _parses(body)


def _parses(text: str) -> bool:
    outcome = with_room(lambda: trees_of(text, "duckdb"), text)
    return not isinstance(outcome, Fault) and bool(outcome) and not isinstance(outcome[0], _OPAQUE)


def _end_of_statement(text: str) -> int | None:
    """Position of the first semicolon outside literals, quoted names and comments."""
    position = 0
    while True:
        semicolon = text.find(";", position)
        if semicolon < 0:
            return None
        literal = _LITERAL_OR_COMMENT.search(text, position)
        if literal is None or literal.start() > semicolon:
            return semicolon
        position = literal.end()


def _without_prose(text: str) -> str:
    end = _end_of_statement(text)
    if end is None:
        return _without_postscript(text)
    rest = text[end + 1 :]
    if _lead(rest) == len(rest) or _looks_like_sql(rest):
        return text
    return text[:end].strip()


def _without_postscript(text: str) -> str:
    """SQL without a semicolon, then a blank line, then prose: the prose goes where only it hinders the parser."""
    cut = re.search(r"\n[ \t]*\n", text)
    if cut is None or _parses(text):
        return text
    head = text[: cut.start()]
    return head.strip() if _parses(head) and not _looks_like_sql(text[cut.end() :]) else text


def _in_prose(text: str) -> str | None:
    for start in reversed([match.end() for match in _START.finditer(text)]):
        body = text[start:]
        end = _end_of_statement(body)
        pieces = [body[:end]] if end is not None else []
        pieces += [body.split("`")[0], re.split(r"\n[ \t]*\n", body)[0], body.splitlines()[0], body]
        for piece in pieces:
            candidate = piece.strip().rstrip("`").strip()
            if _looks_like_sql(candidate) and _parses(candidate) and _reads_like_query(candidate):
                return candidate
    return None


def _reads_like_query(text: str) -> bool:
    verb = text.split(None, 1)[0].upper()
    if verb in ("SELECT", "FROM"):
        bare = _LITERAL_OR_COMMENT.sub("'x'", text)
        return bool(re.search(r"(?i)\bfrom\b|[(*=']|\d", bare)) and not re.search(r"[a-z]\.\s*\Z", bare)
    return True
