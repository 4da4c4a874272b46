"""Is this text exactly one read statement, and which text is sent?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

from sqlglot.tokenizer_core import Token, TokenType

from sqlassay.records.query import Statement, StatementKind
from sqlassay.sql.names import canonical_dialect
from sqlassay.sql.parse import is_quoted, tokens_of

_READ = frozenset({"SELECT", "WITH", "VALUES"})
_READ_IN: dict[str, frozenset[str]] = {
    "duckdb": frozenset({"FROM", "PIVOT", "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER", "TABLE"}),
    "bigquery": frozenset({"FROM"}),
    "databricks": frozenset({"FROM", "TABLE"}),
    "postgres": frozenset({"TABLE"}),
    "mysql": frozenset({"TABLE"}),
    "clickhouse": frozenset({"FROM"}),
}
_VERBS: dict[StatementKind, str] = {
    StatementKind.WRITE: (
        "INSERT UPDATE DELETE MERGE REPLACE UPSERT COPY LOAD IMPORT EXPORT TRUNCATE VACUUM UNLOAD PUT REFRESH"
    ),
    StatementKind.DDL: (
        "CREATE ALTER DROP RENAME COMMENT GRANT REVOKE REINDEX ANALYZE OPTIMIZE CLUSTER SECURITY UNDROP REASSIGN"
    ),
    StatementKind.TRANSACTION: "BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE END ABORT CHECKPOINT LOCK UNLOCK",
    StatementKind.SESSION: (
        "SET RESET USE PRAGMA ATTACH DETACH DECLARE INSTALL UNSET DISCARD LISTEN UNLISTEN NOTIFY FORCE"
    ),
    StatementKind.EXPLAIN: "EXPLAIN DESCRIBE DESC SHOW SUMMARIZE HELP",
    StatementKind.COMMAND: (
        "CALL EXEC EXECUTE DO PREPARE DEALLOCATE HANDLER KILL SHUTDOWN FLUSH PURGE RESTORE BACKUP GET LIST REMOVE "
        "PRINT IF WHILE RAISE RETURN GO FETCH MOVE CLOSE OPEN SYSTEM CACHE UNCACHE ADD CHANGE STOP"
    ),
}
_KINDS = {kind: frozenset(verbs.split(" ")) for kind, verbs in _VERBS.items()}
_WORDS = {StatementKind.DDL: "changes the schema", StatementKind.WRITE: "writes"}
_WORDS |= {StatementKind.TRANSACTION: "controls a transaction", StatementKind.SESSION: "changes the session"}
_WORDS |= {StatementKind.EXPLAIN: "explains or describes", StatementKind.COMMAND: "runs a command"}
_WORDS |= {StatementKind.UNPARSED: "is no statement known here", StatementKind.EMPTY: "holds no statement"}

# Functions that reach outside the database or change something; engines are closed to them as well.
_FORBIDDEN_FUNCTIONS = re.compile(
    r"""(?ix)\A(?:
      load_extension | readfile | writefile | edit | fts3_tokenizer
    | read_(?:csv|csv_auto|parquet|json|json_auto|json_objects|json_objects_auto|ndjson|ndjson_auto
             |ndjson_objects|text|blob|xlsx|avro)
    | sniff_csv | parquet_(?:scan|metadata|schema|file_metadata|kv_metadata) | glob
    | (?:sqlite|postgres|mysql|iceberg|delta)_(?:scan|query|execute|attach) | st_read
    | duckdb_secrets | which_secret | getenv | query | query_table
    | pg_read_file | pg_read_binary_file | pg_ls_\w+ | pg_stat_file | lo_\w+ | dblink\w* | pg_terminate_backend
    | pg_cancel_backend | pg_reload_conf | pg_rotate_logfile | set_config | nextval | setval | pg_notify
    | pg_advisory_\w+ | pg_try_advisory_\w+ | query_to_xml\w* | table_to_xml\w* | database_to_xml\w* | schema_to_xml\w*
    | pg_logical_\w+ | pg_create_\w+ | pg_drop_\w+ | pg_switch_wal | pg_promote
    | load_file | sys_exec | sys_eval | get_lock | release_lock | release_all_locks
    | xp_\w+ | sp_\w+ | openrowset | opendatasource | openquery
    | utl_\w+ | dbms_\w+ | httpuritype
    | url | s3 | file | remote | remotesecure | mysql | postgresql | mongodb | jdbc | odbc | hdfs | executable
    )\Z"""
)
# Names that clash with honest functions elsewhere are refused only in the dialect that means them.
_ONLY_IN: dict[str, str] = {
    **dict.fromkeys(("glob", "query", "query_table", "getenv", "st_read"), "duckdb"),
    **dict.fromkeys(
        ("url", "s3", "file", "remote", "remotesecure", "mysql", "postgresql", "mongodb", "jdbc", "odbc", "hdfs",
         "executable"), "clickhouse"),
    "edit": "sqlite",
}  # fmt: skip
_SECRETS = frozenset({"pg_authid", "pg_shadow", "pg_user_mapping", "pg_user_mappings", "duckdb_secrets"})


@lru_cache(maxsize=4096)
def inspect(text: str, dialect: str) -> Statement:
    """The verdict of the safety rule on `text` (specification section 4); never raises.

    The decision is made on tokens, so that a query our parser does not know still reaches the engine, which then says
    what is wrong with it. Engines enforce read-only as well.

    >>> inspect("SELECT 1; -- done", "sqlite")
    Statement(text='SELECT 1', kind=<StatementKind.READ: 'read'>, count=1, allowed=True, why=None)
    >>> inspect("SELECT 1; DROP TABLE t", "sqlite").allowed
    False
    >>> inspect("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", "postgres").kind.value
    'write'
    """
    name = canonical_dialect(dialect)
    if (plain := _plain_select(text, name)) is not None:
        return Statement(text=plain, kind=StatementKind.READ, count=1, allowed=True)
    tokens = tokens_of(text, name)
    if tokens is None:
        return _untokenised(text, name)
    groups = _statements(tokens)
    if not groups:
        return Statement(text="", kind=StatementKind.EMPTY, count=0, allowed=False, why="holds no statement")
    first = groups[0]
    sent = text[first[0].start : first[-1].end + 1]
    kind, why = _judge(first, name)
    if len(groups) > 1:
        why = f"holds {len(groups)} statements"
    return Statement(text=sent, kind=kind, count=len(groups), allowed=why is None, why=why)


_PLAIN_IN = frozenset({"sqlite", "duckdb", "postgres", "mysql"})
_PLAIN_SELECT = re.compile(
    r"""[ \t\r\n]*+
    (?P<body> [Ss][Ee][Ll][Ee][Cc][Tt]\b
        (?: [A-Za-z0-9_ \t\r\n.,()*=<>!+%|/-]++ | (?<![A-Za-z0-9_]) '[^'\\]*+' | "[^"\\]*+" )++ )
    [; \t\r\n]*+ \Z""",
    re.VERBOSE,
)
_WATCHED = ("--", "/*", "into", "insert", "replace", "delete", "merge", "update", "for", "lock", *sorted(_SECRETS))
# A number ends where letters begin: `1into` is two tokens.
_WATCHED_WORD = re.compile("|".join((r"--|/\*", *(rf"(?<![a-z_]){word}\b" for word in _WATCHED[2:]))))
_CALLED = re.compile(r"[\s\"]*+(\w+)")


def _plain_select(text: str, dialect: str) -> str | None:
    """The text of what is, at a glance, one SELECT without a word that calls for a closer look; else None."""
    found = _PLAIN_SELECT.match(text) if dialect in _PLAIN_IN else None
    if found is None or (dialect == "duckdb" and "'" in text):
        return None
    lowered = text.lower()
    if any(word in lowered for word in _WATCHED) and _WATCHED_WORD.search(lowered):
        return None
    for before in lowered.split("(")[:-1]:
        called = _CALLED.match(before[::-1])
        if called is not None and (called[1][-1].isdigit() or _FORBIDDEN_FUNCTIONS.match(called[1][::-1])):
            return None
    return found["body"].rstrip()


def _statements(tokens: Sequence[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            groups.append([])
        else:
            groups[-1].append(token)
    return [group for group in groups if group]


def _word(token: Token) -> str:
    """The token as a keyword would be written; empty for quoted names and literals."""
    return "" if is_quoted(token) else token.text.upper()


def _judge(tokens: Sequence[Token], dialect: str) -> tuple[StatementKind, str | None]:
    words = [_word(token) for token in tokens]
    start = next((i for i, token in enumerate(tokens) if token.token_type != TokenType.L_PAREN), len(tokens))
    verb = words[start].split(" ")[0] if start < len(tokens) else ""
    kind = _kind(verb, dialect)
    if kind is not StatementKind.READ:
        return kind, f"{verb or 'it'} {_WORDS[kind]}"
    if verb == "WITH":
        main = _verb_after_ctes(tokens, words, start)
        if main and (other := _kind(main, dialect)) in (StatementKind.WRITE, StatementKind.DDL):
            return other, f"{main} {_WORDS[other]}"
    return _inside(tokens, words, dialect)


def _kind(verb: str, dialect: str) -> StatementKind:
    if verb in _READ or verb in _READ_IN.get(dialect, frozenset()):
        return StatementKind.READ
    for kind, verbs in _KINDS.items():
        if verb in verbs:
            return kind
    if verb not in ("FROM", "TABLE") and get_close_matches(verb, ("SELECT", "VALUES"), n=1, cutoff=0.8):
        # A misspelt query: the engine is the one to say so.
        return StatementKind.READ
    return StatementKind.UNPARSED


def _verb_after_ctes(tokens: Sequence[Token], words: Sequence[str], start: int) -> str:
    depth = 0
    for i in range(start, len(tokens)):
        kind = tokens[i].token_type
        if kind == TokenType.L_PAREN:
            depth += 1
        elif kind == TokenType.R_PAREN:
            depth -= 1
            following = words[i + 1] if i + 1 < len(words) else ""
            if depth == 0 and following and following not in (",", "AS", "SEARCH", "CYCLE"):
                return following
    return ""


def _inside(tokens: Sequence[Token], words: Sequence[str], dialect: str) -> tuple[StatementKind, str | None]:
    last = len(tokens) - 1
    for i, token in enumerate(tokens):
        if dialect == "mysql" and any(comment.startswith(("!", "M!")) for comment in token.comments):
            return StatementKind.UNPARSED, "a comment in it is executed by the server"
        word = words[i]
        if not word:
            if token.text.lower() in _SECRETS:
                return StatementKind.READ, f"{token.text} holds secrets"
            if token.token_type == TokenType.IDENTIFIER and i < last and tokens[i + 1].token_type == TokenType.L_PAREN:
                word = token.text.upper()
            else:
                continue
        before = words[i - 1] if i else ""
        after = words[i + 1] if i < last else ""
        if before == ".":
            if after == "(" and _forbidden_function(word, dialect):
                return StatementKind.READ, f"{word.lower()}() is not allowed"
            continue
        if word == "INTO" and not (dialect == "duckdb" and after == "NAME" and "UNPIVOT" in words[:i]):
            return StatementKind.WRITE, "SELECT INTO writes"
        if before == "(" and _writes_at(words, i):
            return StatementKind.WRITE, f"{word} inside it writes"
        if dialect == "tsql" and i and _begins_statement(words, i):
            return StatementKind.COMMAND, f"{word} begins another statement"
        if word == "FOR" and after in ("UPDATE", "SHARE", "NO", "KEY"):
            return StatementKind.WRITE, f"FOR {after} locks rows"
        if word == "LOCK" and after == "IN" and dialect == "mysql":
            return StatementKind.WRITE, "LOCK IN SHARE MODE locks rows"
        if after == "(" and _forbidden_function(word, dialect) and not _names_columns(words, i, dialect):
            return StatementKind.READ, f"{word.lower()}() is not allowed"
        if word.lower() in _SECRETS:
            return StatementKind.READ, f"{word.lower()} holds secrets"
        if dialect == "duckdb" and word in ("FROM", "JOIN") and i < last and before != "DISTINCT":
            following = tokens[i + 1]
            if following.token_type == TokenType.STRING:
                return StatementKind.READ, "it reads a file"
    return StatementKind.READ, None


def _names_columns(words: Sequence[str], i: int, dialect: str) -> bool:
    """Whether `name(...)` at `i` is a common table expression with its columns, `name(a, b) AS (SELECT`: no call."""
    closing = next((j for j in range(i + 2, len(words)) if words[j] in ("(", ")", "")), len(words))
    following = [word for word in words[closing + 1 : closing + 6] if word not in ("NOT", "MATERIALIZED")]
    if words[i - 1] not in ("WITH", "RECURSIVE", ",") or words[closing : closing + 1] != [")"]:
        return False
    return following[:2] == ["AS", "("] and bool(following[2:]) and _kind(following[2], dialect) is StatementKind.READ


def _writes_at(words: Sequence[str], i: int) -> bool:
    word, after = words[i], words[i + 1] if i + 1 < len(words) else ""
    if word == "DELETE":
        return after == "FROM"
    if word in ("INSERT", "REPLACE"):
        return after in ("INTO", "OR", "OVERWRITE")
    if word == "MERGE":
        return after == "INTO"
    if word == "UPDATE":
        return "SET" in words[i + 1 : i + 12]
    return False


_OBJECTS = frozenset(
    {
        "TABLE",
        "VIEW",
        "PROC",
        "PROCEDURE",
        "FUNCTION",
        "INDEX",
        "DATABASE",
        "SCHEMA",
        "USER",
        "LOGIN",
        "TRIGGER",
        "ROLE",
    }
)


def _begins_statement(words: Sequence[str], i: int) -> bool:
    """T-SQL needs no semicolon between statements: `SELECT 1 DROP TABLE t` is two."""
    word, after = words[i], words[i + 1] if i + 1 < len(words) else ""
    if word in ("DROP", "ALTER", "CREATE", "TRUNCATE"):
        return after in _OBJECTS
    if word in ("EXEC", "EXECUTE"):
        return words[i - 1] not in (",", "SELECT", "AS") and after not in ("", ",", "FROM", "=", ")")
    return _writes_at(words, i)


def _forbidden_function(word: str, dialect: str) -> bool:
    name = word.lower()
    return _ONLY_IN.get(name, dialect) == dialect and _FORBIDDEN_FUNCTIONS.match(name) is not None


_LEADING = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|[;(])*", re.DOTALL)


def _untokenised(text: str, dialect: str) -> Statement:
    """A literal or comment does not end: the engine will refuse it; only what begins as a query is shown to it."""
    lead = _LEADING.match(text)
    body = text[lead.end() if lead else 0 :]
    word = re.match(r"\w+", body)
    kind = _kind(word.group().upper() if word else "", dialect)
    if kind is StatementKind.READ and ";" not in body and not re.search(r"(?i)\binto\b|/\*M?!", body):
        return Statement(text=text.strip(), kind=StatementKind.UNPARSED, count=1, allowed=True)
    return Statement(
        text=text.strip(), kind=StatementKind.UNPARSED, count=1, allowed=False, why="a literal or comment does not end"
    )
