"""Which tables, views, columns, keys and rights are there in a MySQL or MariaDB database?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from sqlassay.databases.digests import digest, fingerprinted
from sqlassay.databases.view_text import select_of
from sqlassay.records.relation import ForeignKey, Row, Schema, TableSchema

Ask = Callable[[str], list[Row]]


def read_schema(ask: Ask) -> Schema:
    """Tables and views of the connection's database."""
    default = ask("SELECT DATABASE()")[0][0]
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for table, column, declared in ask(
        "SELECT table_name, column_name, column_type FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name IN (SELECT table_name FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_type <> 'SEQUENCE') ORDER BY table_name, ordinal_position"
    ):
        columns[table].append((column, declared))
    views: dict[str, str | None] = dict(
        ask("SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()")
    )
    primary: dict[str, list[str]] = defaultdict(list)
    foreign: dict[str, dict[str, tuple[list[str], str, list[str]]]] = defaultdict(dict)
    for table, constraint, column, schema, target, theirs in ask(
        "SELECT table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name, "
        "referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() "
        "ORDER BY table_name, constraint_name, ordinal_position"
    ):
        if constraint == "PRIMARY":
            primary[table].append(column)
        elif target is not None:
            named = target if schema == default else f"{schema}.{target}"
            own, _, others = foreign[table].setdefault(constraint, ([], named, []))
            own.append(column)
            others.append(theirs)
    tables = tuple(
        TableSchema(
            name=table,
            columns=tuple(name for name, _ in described),
            types=tuple(declared for _, declared in described),
            primary_key=tuple(primary.get(table, ())),
            foreign_keys=tuple(
                ForeignKey(columns=tuple(own), to_table=target, to_columns=tuple(theirs))
                for own, target, theirs in foreign.get(table, {}).values()
            ),
            is_view=table in views,
            view_sql=select_of(_unqualified(views.get(table), default), "mysql"),
        )
        for table, described in columns.items()
    )
    return fingerprinted(Schema(dialect="mysql", tables=tables, default_schema=default, collated=True))


def stamp_of(ask: Ask) -> str:
    """What changes whenever a table, a column or a view is made, altered or dropped; cheaper than the schema."""
    return str(ask(_STAMP))


_STAMP = (
    "SELECT COUNT(*), "
    "SUM(CRC32(CONCAT_WS('\\0', table_name, ordinal_position, column_name, column_type, column_key))), "
    "(SELECT SUM(CRC32(CONCAT_WS('\\0', table_name, view_definition))) FROM information_schema.views "
    "WHERE table_schema = DATABASE()) FROM information_schema.columns WHERE table_schema = DATABASE()"
)


def _unqualified(sql: str | None, default: str | None) -> str | None:
    """The view's text without the database's own name before every table, which the server adds."""
    return sql.replace(f"`{default}`.", "") if sql and default else sql or None


def fingerprint_of(ask: Ask, schema: Schema) -> str:
    """The schema's digest with each table's row estimate, next number and time of change."""
    return digest(
        (
            schema.fingerprint,
            *ask(
                "SELECT table_name, table_rows, data_length, auto_increment, update_time, create_time "
                "FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name"
            ),
        )
    )


_READING = frozenset({"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES"})


def right_warnings(ask: Ask) -> tuple[str, ...]:
    """What the user may do beyond reading, tables without a snapshot, and the remedy."""
    user, database = ask("SELECT CURRENT_USER(), DATABASE()")[0]
    rights = {
        right
        for (grant,) in ask("SHOW GRANTS")
        if (head := grant.partition(" ON ")[0]).startswith("GRANT ")
        for right in (part.strip() for part in head.removeprefix("GRANT ").split(","))
        if right and not right.startswith("`")
    }
    found: list[str] = []
    more = sorted(rights - _READING)
    if more:
        found.append(
            f"user {user!r} may also {', '.join(more)}; sqlassay runs everything in a read-only transaction all the "
            "same, but a read-only transaction does not stop file functions. A safer user: "
            "CREATE USER 'sqlassay_reader'@'%' IDENTIFIED BY '...'; "
            f"GRANT SELECT, SHOW VIEW ON `{database}`.* TO 'sqlassay_reader'@'%';"
        )
    others = [
        table
        for (table,) in ask(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
            "AND table_type = 'BASE TABLE' AND engine <> 'InnoDB' ORDER BY table_name"
        )
    ]
    if others:
        found.append(f"no snapshot for tables that are not InnoDB: {', '.join(others)}")
    return tuple(found)
