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
_SECRET_RELATIONS = words("processlist user_privileges innodb_sys_tablespaces")
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
        if token.kind in ("word", "name") and text in _SECRET_SCHEMAS and following.text == ".":
            return f"schema {text} is not allowed"
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
    return None


_LOCKING = frozenset({("for", "update"), ("for", "share"), ("lock", "in"), ("previous", "value")})
