"""Which tables, views, columns, keys and rights are there in a PostgreSQL database?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from sqlassay.databases.digests import digest, fingerprinted
from sqlassay.databases.view_text import select_of
from sqlassay.records.relation import ForeignKey, Row, Schema, TableSchema

Ask = Callable[[str], list[Row]]

_USERS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'"
_NAME = "CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END"


def read_schema(ask: Ask) -> Schema:
    """Tables, partitioned and foreign tables, views and materialised views of all schemas of users."""
    default = ask("SELECT current_schema()")[0][0]
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    views: dict[str, str] = {}
    for table, column, declared, view in ask(
        f"SELECT {_NAME}, a.attname, format_type(a.atttypid, a.atttypmod), "
        "CASE WHEN c.relkind IN ('v', 'm') AND a.attnum = 1 THEN pg_get_viewdef(c.oid) END "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        f"WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_USERS} "
        "AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY 1, a.attnum"
    ):
        if column is not None:
            columns[table].append((column, declared))
        else:
            columns[table] = []
        if view is not None:
            views[table] = view
    primary: dict[str, tuple[str, ...]] = {}
    foreign: dict[str, list[ForeignKey]] = defaultdict(list)
    for table, kind, own, target, theirs in ask(_KEYS):
        if kind == "p":
            primary[table] = tuple(own)
        else:
            foreign[table].append(ForeignKey(columns=tuple(own), to_table=target, to_columns=tuple(theirs)))
    tables = tuple(
        TableSchema(
            name=table,
            columns=tuple(name for name, _ in described),
            types=tuple(declared for _, declared in described),
            primary_key=primary.get(table, ()),
            foreign_keys=tuple(foreign.get(table, ())),
            is_view=table in views,
            view_sql=select_of(views.get(table), "postgres"),
        )
        for table, described in columns.items()
    )
    collated = bool(ask(_FOLDING)[0][0])
    return fingerprinted(Schema(dialect="postgres", tables=tables, default_schema=default, collated=collated))


_FOLDING = (
    "SELECT EXISTS (SELECT FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation "
    "JOIN pg_type t ON t.oid = a.atttypid WHERE a.attnum > 0 AND (NOT l.collisdeterministic OR t.typname = 'citext'))"
)


_COLUMN_NAMES = (
    "ARRAY(SELECT a.attname::text FROM unnest(k.{keys}) WITH ORDINALITY u(num, place) "
    "JOIN pg_attribute a ON a.attrelid = k.{relation} AND a.attnum = u.num ORDER BY u.place)"
)
_KEYS = (
    f"SELECT {_NAME}, k.contype::text, {_COLUMN_NAMES.format(keys='conkey', relation='conrelid')}, "
    f"(SELECT {_NAME} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = k.confrelid), "
    f"{_COLUMN_NAMES.format(keys='confkey', relation='confrelid')} "
    "FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    f"WHERE k.contype IN ('p', 'f') AND {_USERS} ORDER BY 1, k.conname"
)


def stamp_of(ask: Ask) -> str:
    """What changes whenever a table, a column or a view is made, altered or dropped; far cheaper than the schema."""
    return str(ask(_STAMP)[0][0])


_STAMP = " || '/' || ".join(
    f"(SELECT count(*) || ' ' || coalesce(sum(hashtext({oid}::text || xmin::text)::int8), 0) FROM {catalogue} "
    f"WHERE {oid} >= 16384)"
    for catalogue, oid in (("pg_class", "oid"), ("pg_attribute", "attrelid"), ("pg_rewrite", "oid"))
)
_STAMP = f"SELECT {_STAMP} || current_schemas(false)::text"
"""Objects of users have numbers from 16384 on; `xmin` is the transaction that wrote the row."""


def fingerprint_of(ask: Ask, schema: Schema) -> str:
    """The schema's digest with the server's counters of changed rows and the tables' storage numbers.

    Counters reach the view with a delay of up to a second or so after a transaction ends.
    """
    return digest(
        (
            schema.fingerprint,
            *ask(
                "SELECT s.schemaname, s.relname, s.n_tup_ins, s.n_tup_upd, s.n_tup_del, c.relfilenode::int8 "
                "FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid ORDER BY 1, 2"
            ),
        )
    )


def right_warnings(ask: Ask) -> tuple[str, ...]:
    """What the user may do beyond reading, and the statements that make a user who may not."""
    superuser, name, database, schema = ask(
        "SELECT current_setting('is_superuser') = 'on', session_user::text, current_database()::text, "
        "coalesce(current_schema()::text, 'public')"
    )[0]
    more: list[str] = []
    if superuser:
        more.append("is a superuser (it can read and write the server's files)")
    else:
        writable = ask(
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE c.relkind IN ('r', 'p') AND {_USERS} AND (has_table_privilege(c.oid, 'INSERT') "
            "OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE') "
            "OR has_table_privilege(c.oid, 'TRUNCATE'))"
        )[0][0]
        if writable:
            more.append(f"may change {writable} table{'s' if writable != 1 else ''}")
        if ask("SELECT has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')")[0][0]:
            more.append(f"may create objects in schema {schema}")
        roles = ask(
            "SELECT rolname::text FROM pg_roles WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', "
            "'pg_execute_server_program', 'pg_signal_backend', 'pg_write_all_data') "
            "AND pg_has_role(oid, 'MEMBER') ORDER BY 1"
        )
        more += [f"is a member of {role}" for (role,) in roles]
    if not more:
        return ()
    return (
        f"user {name!r} {', '.join(more)}; sqlassay runs everything in a read-only transaction all the same. "
        "A safer user: CREATE ROLE sqlassay_reader LOGIN PASSWORD '...'; "
        f'GRANT CONNECT ON DATABASE "{database}" TO sqlassay_reader; '
        f'GRANT USAGE ON SCHEMA "{schema}" TO sqlassay_reader; '
        f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO sqlassay_reader;',
    )
