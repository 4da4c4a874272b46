"""When do two spellings name the same thing? Each dialect's own folding rule, and how a folded name is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

Fold = Callable[[str, bool], str]
"""`fold(name, quoted)` gives the spelling under which the engine looks the name up."""

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The naming rules of one dialect.

    `relations` folds tables, schemas; `columns` folds columns, aliases and CTEs. `upper`: unquoted names fold up.
    `default_schemas`: prefixes that say nothing.
    """

    dialect: str
    relations: Fold
    columns: Fold
    upper: bool = False
    default_schemas: frozenset[str] = frozenset()

    def written(self, folded: str) -> str:
        """A folded name as evidence shows it: lower case where case means nothing, quotes where it would be lost.

        >>> naming("oracle").written("EMP"), naming("oracle").written("emp"), naming("postgres").written("Emp")
        ('emp', '"emp"', 'Emp')
        """
        if not self.upper:
            return folded
        if folded == folded.upper():
            return folded.lower()
        return f'"{folded}"' if folded == folded.lower() else folded


def _exact(name: str, quoted: bool) -> str:  # noqa: ARG001 - the signature of a fold
    return name


def _insensitive(name: str, quoted: bool) -> str:  # noqa: ARG001
    return name.lower()


def _insensitive_ascii(name: str, quoted: bool) -> str:  # noqa: ARG001
    return name.lower() if name.isascii() else name.translate(_ASCII_LOWER)


def _down(name: str, quoted: bool) -> str:
    return name if quoted else name.lower()


def _up(name: str, quoted: bool) -> str:
    return name if quoted else name.upper()


_FOLDS: dict[str, tuple[Fold, Fold]] = {
    "sqlite": (_insensitive_ascii, _insensitive_ascii),
    "postgres": (_down, _down),
    "redshift": (_down, _down),
    "oracle": (_up, _up),
    "snowflake": (_up, _up),
    "bigquery": (_exact, _insensitive),
    "clickhouse": (_exact, _exact),
}
_DEFAULT_SCHEMAS: dict[str, frozenset[str]] = {
    "sqlite": frozenset({"main", "temp"}),
    "duckdb": frozenset({"main"}),
    "postgres": frozenset({"public"}),
    "redshift": frozenset({"public"}),
    "tsql": frozenset({"dbo"}),
    "snowflake": frozenset({"PUBLIC"}),
    "databricks": frozenset({"default"}),
    "clickhouse": frozenset({"default"}),
}
_SYNONYMS = {
    "": "sqlite",
    "sqlite3": "sqlite",
    "postgresql": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "mariadb": "mysql",
    "spark": "databricks",
    "spark2": "databricks",
}


def canonical_dialect(dialect: str) -> str:
    """sqlglot's name for a dialect, whatever the user calls it.

    >>> canonical_dialect("PostgreSQL"), canonical_dialect("mariadb"), canonical_dialect("duckdb")
    ('postgres', 'mysql', 'duckdb')
    """
    name = dialect.strip().lower()
    return _SYNONYMS.get(name, name)


@cache
def naming(dialect: str) -> Naming:
    """The naming rules of `dialect`; names are case-insensitive where nothing else is known of it.

    >>> naming("postgres").columns("Id", False), naming("postgres").columns("Id", True)
    ('id', 'Id')
    """
    name = canonical_dialect(dialect)
    relations, columns = _FOLDS.get(name, (_insensitive, _insensitive))
    return Naming(
        dialect=name,
        relations=relations,
        columns=columns,
        upper=relations is _up,
        default_schemas=_DEFAULT_SCHEMAS.get(name, frozenset()),
    )
