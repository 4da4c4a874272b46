"""What may a statement not say in MySQL and MariaDB, though a read-only transaction lets it be?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlassay.databases.lexer import Token, calls, names, words

_DENIED_CALLS = words(
    "load_file get_lock release_lock release_all_locks is_free_lock is_used_lock master_pos_wait source_pos_wait "
    "master_gtid_wait wait_for_executed_gtid_set wait_until_sql_thread_after_gtids nextval setval lastval sys_exec "
    "sys_eval sys_get sys_set lib_mysqludf_sys_info asynchronous_connection_failover_add_source "
    "group_replication_set_as_primary keyring_key_fetch keyring_key_generate keyring_key_store keyring_key_remove "
    "service_get_read_locks service_get_write_locks service_release_locks version_tokens_set audit_log_read "
    "ps_thread_id load_data mysql_firewall_flush_status"
)
_SECRET_RELATIONS = words(
    "processlist user_privileges innodb_sys_tablespaces innodb_trx innodb_locks innodb_lock_waits metadata_lock_info"
)
_SECRET_SCHEMAS = words("mysql performance_schema sys")


def forbidden(found: Sequence[Token]) -> str | None:
    """Why the statement may not run, None where nothing speaks against it.

    >>> from sqlassay.databases.lexer import tokens
    >>> forbidden(list(tokens("SELECT 1 /*!INTO OUTFILE '/tmp/x'*/", "mysql")))
    'executable comments are not allowed'
    """
    for called in calls(found):
        if called in _DENIED_CALLS:
            return f"function {called} is not allowed"
    for token, following in pairwise([*found, Token("punct", "", 0, 0)]):
        text = token.text.lower()
        if token.kind == "punct" and text.startswith("/*"):
            return "executable comments are not allowed"
        if token.kind != "word" or following.kind != "word":
            if token.kind == "word" and text == "into":
                return "SELECT INTO is not a read"
            continue
        if text == "into":
            return "SELECT INTO is not a read"
        if (text, following.text) in _LOCKING or (text == "next" and following.text == "value"):
            return f"{text.upper()} {following.text.upper()} is not a read"
    for name in names(found):
        if name in _SECRET_RELATIONS:
            return f"{name} is not allowed"
    return _secret_schema(found)


def _secret_schema(found: Sequence[Token]) -> str | None:
    """Whether a table or a function of a schema that holds secrets is named; an alias of that name holds columns only.

    A table stands in a FROM clause, which lasts until another clause of its level begins.
    """
    clauses = [""]
    two_before = before = ""
    for position, token in enumerate(found):
        if token.kind == "punct" and token.text == "(":
            clauses.append(clauses[-1] if before in _BEFORE_TABLES else "")
        elif token.kind == "punct" and token.text == ")":
            clauses = clauses[:-1] or [""]
        elif token.kind == "word" and token.text in _CLAUSES and before not in _NO_CLAUSE_AFTER:
            clauses[-1] = token.text
        elif token.kind in ("word", "name") and token.text.lower() in _SECRET_SCHEMAS:
            following = [each.text for each in found[position + 1 : position + 4]]
            in_from = clauses[-1] == "from" and (before in _BEFORE_TABLES or two_before == "{")
            if following[:1] == ["."] and (in_from or before == "table" or following[2:] == ["("]):
                return f"schema {token.text.lower()} is not allowed"
        two_before, before = before, token.text if token.kind in ("word", "punct") else ""
    return None


def variables(found: Sequence[Token]) -> tuple[str, ...]:
    """The user variables that a statement names, as they are written after the sign.

    >>> from sqlassay.databases.lexer import tokens
    >>> variables(list(tokens("SELECT @n := @n + 1, @@version, @a.b, @`c d`", "mysql")))
    ('`c d`', 'a.b', 'n')
    """
    named = set()
    signs = [i for i, token in enumerate(found) if token.kind == "punct" and token.text == "@"]
    for sign in signs:
        name, end = "", found[sign].end
        for token in found[sign + 1 :]:
            if token.start != end or (token.kind == "punct" and token.text != "."):
                break
            name += "`" + token.text.replace("`", "``") + "`" if token.kind == "name" else token.text
            end = token.end
        if name and sign - 1 not in signs:
            named.add(name)
    return tuple(sorted(named))


_LOCKING = frozenset({("for", "update"), ("for", "share"), ("lock", "in"), ("previous", "value")})
_BEFORE_TABLES = words("from join straight_join , (")
_CLAUSES = words("select from where group having order limit union except intersect")
_NO_CLAUSE_AFTER = words(". @ for")
"""A column or a variable may have any name, and an index hint says `FOR ORDER BY`."""
