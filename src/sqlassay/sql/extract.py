"""Which part of an agent's answer is the SQL? Fences and prose are taken off; the SQL itself is left as written."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches

from sqlglot import exp

from sqlassay.errors import Fault
from sqlassay.sql.parse import trees_of, with_room

_FENCE = re.compile(
    r"(?P<mark>`{3,8}|~{3,8})[ \t]*(?P<tag>[\w+.-]*)[^\n`]*\n(?P<body>.*?)(?:\n[ \t]*(?P=mark)|\Z)", re.DOTALL
)
_INLINE_FENCE = re.compile(
    r"`{3}(?:(?:sqlite|postgresql|postgres|mysql|tsql|sql)\s+)?(?P<body>[^`\n]+)`{3}", re.IGNORECASE
)
LONGEST_PROSE = 100_000
"""Characters of prose in which a query is looked for; a longer text that begins as SQL is taken as it is."""
MOST_STARTS = 40
_TAGS = ("sql", "sql_query", "query", "answer")
_FIELDS = ("sql", "query", "sql_query", "SQL", "answer")
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
      | merge \s+ (?: into \b | [\w."`\[\]]+ (?:\s+(?:as\s+)?\w+)? \s+ using \b )
      | (?:create|drop|alter|truncate) \s+ (?:or\s+replace\s+)?
          (?:(?:temp(?:orary)?|unique|materialized|unlogged|virtual|global|local|foreign|recursive|persistent) \s+)*
          (?:table|view|index|schema|database|trigger|function|procedure|sequence|role|user|extension
          |macro|type|domain|rule|policy|secret|aggregate|operator|publication|subscription|server|tablespace|system
          )\b
      | (?:pragma|attach|detach|vacuum|reindex|copy|call|exec(?:ute)?|grant|revoke|begin|commit|rollback) \b
          \s* (?: [\w"'`.@;(] | \Z )
      | (?:analy[sz]e|checkpoint|abort|end|discard|unlisten|reset|savepoint|release|deallocate|listen|notify|cluster
          |truncate|delete|close|flush|kill)
          (?: \s+ (?: \* | ["`\[]? \w+ ["`\]]? (?: \. ["`\[]? \w+ ["`\]]? )* ) )? \s* (?: ; | -- | /\* | \Z | ,\s*' )
      | (?:fetch|move) \s+ (?:\w+\s+){0,3} (?:from|in) \s+ \w+ \s* (?: ; | \Z )
      | (?:release\s+savepoint|export\s+database|import\s+database|import\s+foreign|refresh\s+materialized
          |start\s+transaction|security\s+label|comment\s+on|lock\s+tables?|unlock\s+tables|rename\s+table
          |optimi[sz]e\s+table) \b
      | do \s* \$
      | prepare \s+ [\w"`]+ \s* (?:\([^)]*\)\s*)? (?:as|from) \b
      | explain \s+ (?:query\s+plan\s+|analyze\s+|\() * (?:select|with|insert|update|delete) \b
      | (?:declare|set|use|show|describe|summarize|load|install) \s+ [@\w"'`]
      | (?:pivot|unpivot|table) \s+ ["`\[\w]
      | from \s+ (?: ["`\[\w(] | '[^'\n]*' )
    )"""
)
_LEAD = re.compile(r"(?:\s|\ufeff|--[^\n]*(?:\n|\Z)|/\*.*?\*/|[;(])*", re.DOTALL)
_LABEL = re.compile(
    r"\A\s*(?:sql\s*query|sqlquery|final\s+(?:answer|query|sql)|query|answer|sql)\s*:\s*", re.IGNORECASE
)
_START = re.compile(
    r"(?im)(?:(?:^|[:`>]|\b(?:is|query|sql))[ \t]*(?=(?:select|with|values|from|insert|update|delete)\b)"
    r"|[.!?)][ \t]+(?-i:(?=(?:SELECT|WITH)\b)))"
)
# Verbs that everyday sentences begin with too: what has to follow for them to be SQL.
_AFTER_VERB = {
    "CALL": re.compile(r"(?i)call\s+[\w.\"`\[\]]+\s*\("),
    "GRANT": re.compile(r"(?i)grant\b.*\bto\b", re.DOTALL),
    "REVOKE": re.compile(r"(?i)revoke\b.*\bfrom\b", re.DOTALL),
    "SHOW": re.compile(
        r"(?i)show\s+(?:\w+\s*;?\s*\Z|(?:full\s+|extended\s+|all\s+)*"
        r"(?:tables?|databases|schemas|columns|fields|create|index(?:es)?|keys|variables|status|functions|views|grants"
        r"|global|session|processlist)\b)"
    ),
    "TABLE": re.compile(
        r"(?i)table\s+(?:\"[^\"]+\"|`[^`]+`|[\w.]+)\s*(?:\Z|;|--|/\*|(?:order|limit|offset|union|except|intersect)\b)"
    ),
}
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
    text = text.lstrip("\ufeff")
    if not text or text.isspace():
        return None
    marked = _marked(text)
    if marked is not None:
        return marked
    fenced = _fenced(text)
    if fenced is not None:
        return fenced
    if len(text) > LONGEST_PROSE:
        return text if _looks_like_sql(text[:LONGEST_PROSE]) else _in_prose(text[-LONGEST_PROSE:])
    text = _unquoted(text)
    label = _LABEL.match(text)
    if label is not None and _looks_like_sql(text[label.end() :]):
        text = text[label.end() :]
    if _looks_like_sql(text):
        return _without_prose(text)
    return _in_prose(text)


def _unquoted(text: str) -> str:
    """The inside of a text that is one quoted string, where that is SQL."""
    bare = text.strip()
    inner = bare[1:-1]
    if len(bare) > 2 and bare[0] == bare[-1] and bare[0] in "'\"" and bare[0] not in inner and _looks_like_sql(inner):
        return inner
    return text


def _marked(text: str) -> str | None:
    """SQL in `<sql>` tags, or under a field of a JSON object."""
    if "<" not in text and "{" not in text:
        return None
    lowered = text.lower()
    for tag in _TAGS:
        end = lowered.rfind(f"</{tag}>")
        start = lowered.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
        body = text[start + len(tag) + 2 : end]
        if start >= 0 and _looks_like_sql(body):
            return _without_prose(body.strip())
    start = text.find("{")
    if start < 0 or text[:start].strip(" \t\r\n`~").lower() not in ("", "json"):
        return None
    try:
        read, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    held = [read.get(name) for name in _FIELDS] if isinstance(read, dict) else []
    return next((one for one in held if isinstance(one, str) and _looks_like_sql(one)), None)


def _fenced(text: str) -> str | None:
    if "```" not in text and "~~~" not in text:
        return None
    found: str | None = None
    for block in _FENCE.finditer(text):
        body, tag = block["body"], block["tag"].lower()
        if tag not in _SQL_TAGS or not body.strip("`~ \t\r\n"):
            continue
        if tag.endswith(("sql", "sqlite")) or _looks_like_sql(body):
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
        if verb in _AFTER_VERB and not _AFTER_VERB[verb].match(body):
            return False
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
    if re.search(r"[a-z][.!?]\s*\Z", bare):
        return True
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
    """SQL without a semicolon, then prose or a stray fence: they go where only they hinder the parser."""
    text = re.sub(r"\n[ \t]*(?:`{3,}|~{3,})\s*\Z", "", text)
    if "\n" not in text.strip() or _parses(text):
        return text
    lines = text.rstrip().splitlines()
    for kept in range(len(lines) - 1, max(0, len(lines) - 13), -1):
        head, tail = "\n".join(lines[:kept]), "\n".join(lines[kept:])
        if _is_prose(tail) and _parses(head):
            return head.strip()
    return text


def _is_prose(text: str) -> bool:
    words = text.split()
    return len(words) >= 3 and not _looks_like_sql(text) and bool(re.match(r"\s*[\"'*(]*[A-Z][a-z']+\b", text))


def _in_prose(text: str) -> str | None:
    """The last query that stands in prose; a query's own clauses are not taken for queries."""
    found: str | None = None
    end = 0
    for match in list(_START.finditer(text))[-MOST_STARTS:]:
        if match.end() < end:
            continue
        candidate = _query_at(text[match.end() :])
        if candidate is not None:
            found = candidate
            end = match.end() + len(candidate)
    return found


def _query_at(body: str) -> str | None:
    body = body[:LONGEST_PROSE]
    stop = _end_of_statement(body)
    pieces = [body[:stop]] if stop is not None else []
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
