"""Which engine a URL means."""

from __future__ import annotations

from importlib import import_module

from sqlassay.databases.addresses import redact
from sqlassay.databases.base import Database
from sqlassay.errors import ConfigError, MissingExtra

_ENGINES = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}


def connect(url: str, *, name: str = "default") -> Database:
    """Open the database that `url` names, as SQLAlchemy writes URLs; drivers are imported only when used.

    Raises:
        ConfigError: the text is no URL.
        MissingExtra: the engine's driver is not installed.
        DatabaseUnavailable: the file does not exist or the server cannot be reached.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise ConfigError(
            f"database {name!r}: {redact(url)!r} is not a database URL",
            hint="write sqlite:///file.db, duckdb:///file.duckdb, postgresql://user@host/db or mysql://user@host/db",
        )
    engine = _ENGINES.get(scheme.partition("+")[0].lower(), "sqlalchemy")
    try:
        module = import_module(f"sqlassay.databases.{engine}")
    except ModuleNotFoundError as error:
        raise MissingExtra(f"{scheme}:// ({error.name})", needs=engine) from None
    opened: Database = module.open_database(url, name=name)
    return opened
