"""Which functions and catalogues may a statement not name in PostgreSQL, though a read-only transaction lets them be?

A superuser reads the server's files, stops its sessions and moves its sequences in a read-only transaction, and
functions such as `query_to_xml` run SQL from text that no lexer sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlassay.databases.lexer import Token, calls, names, words

_DENIED_CALLS = words(
    "set_config nextval setval lastval currval pg_notify pg_terminate_backend pg_cancel_backend pg_reload_conf "
    "pg_rotate_logfile pg_rotate_logfile_old pg_switch_wal pg_promote pg_export_snapshot txid_current "
    "pg_current_xact_id pg_stat_file pg_hba_file_rules pg_ident_file_mappings pg_show_all_file_settings "
    "pg_current_logfile pg_logfile_rotate pg_import_system_collations pg_nextoid pg_stop_making_pinned_objects "
    "pg_log_backend_memory_contexts pg_get_backend_memory_contexts pg_signal_backend pg_wal_replay_pause "
    "pg_wal_replay_resume pg_extension_config_dump pg_stop_backup pg_start_backup pg_database_refresh "
    "loread lowrite query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema "
    "table_to_xml table_to_xmlschema table_to_xml_and_xmlschema schema_to_xml schema_to_xmlschema "
    "schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema ts_stat "
    "ts_rewrite crosstab crosstab2 crosstab3 crosstab4 crosstabn connectby xpath_table xslt_process "
    "pg_file_read pg_file_write pg_file_rename pg_file_unlink pg_file_length pg_logdir_ls pg_execute_sql "
    "pg_get_keywords_unsafe currtid currtid2 binary_upgrade_create_empty_extension pg_config "
    "pg_stat_get_activity pg_stat_get_wal_receiver pg_stat_get_wal_senders pg_stat_statements pg_prepared_statement "
    "pg_cursor"
)
_DENIED_PREFIXES = (
    *("pg_read_", "pg_ls_", "lo_", "dblink", "pg_advisory_", "pg_try_advisory_", "pg_logical_", "pg_create_"),
    *("pg_drop_", "pg_replication_", "pg_stat_reset", "pg_backup_", "pg_wal_", "pg_walfile_", "pg_copy_", "pg_sync_"),
    *("pg_file_", "pg_stat_statements_reset", "pg_replace_", "binary_upgrade_", "pg_stat_clear", "pg_prewarm"),
    *("autoprewarm_", "postgres_fdw_", "pg_buffercache_evict", "pg_restore_", "pg_clear_", "brin_summarize"),
    *("brin_desummarize", "gin_clean", "pg_truncate_", "heap_force_", "pg_stat_get_backend_"),
)
_SECRET_RELATIONS = words(
    "pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_hba_file_rules pg_ident_file_mappings pg_file_settings "
    "pg_largeobject pg_subscription pg_stat_activity pg_db_role_setting pg_stat_statements pg_stat_replication "
    "pg_stat_wal_receiver pg_prepared_statements pg_cursors user_mapping_options _pg_user_mappings"
)


_MOST_CTES = 100
"""The planner copies each into those that read it and looks at no time-out meanwhile: 100 in a chain take 0.1 s, 300
take 5 s, 1,000 take minutes on a server process that nothing stops."""


def too_large(found: Sequence[Token]) -> str | None:
    """Why the planner could not be stopped, None where it can.

    >>> from sqlassay.databases.lexer import tokens
    >>> chain = ", ".join(f"c{i} AS (SELECT 1)" for i in range(200))
    >>> too_large(list(tokens(f"WITH {chain} SELECT 1", "postgres")))
    '200 common table expressions; at most 100 are run'
    """
    count = sum(
        1
        for token, following in pairwise(found)
        if token.kind == "word" and token.text in ("as", "materialized")
        if following.kind == "punct" and following.text == "("
    )
    return f"{count} common table expressions; at most {_MOST_CTES} are run" if count > _MOST_CTES else None


def forbidden(found: Sequence[Token]) -> str | None:
    r"""Why the statement may not run, None where nothing speaks against it.

    >>> from sqlassay.databases.lexer import tokens
    >>> forbidden(list(tokens(r'SELECT U&"pg\005fread_file"(1)', "postgres")))
    'function pg_read_file is not allowed'
    """
    for called in calls(found):
        if called in _DENIED_CALLS or called.startswith(_DENIED_PREFIXES):
            return f"function {called} is not allowed"
    for name in names(found):
        if name in _SECRET_RELATIONS:
            return f"{name} is not allowed"
    return None
