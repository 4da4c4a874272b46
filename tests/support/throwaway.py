"""Databases that live as long as tests need them, on servers that other runs use at the same time.

Every run holds a lock on the server, and its databases are named after the lock: a database whose lock is free belongs
to a run that was killed, and the next run drops it.
"""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any
from uuid import uuid4

from sqlassay.databases.addresses import server_address

MakeDatabase = Callable[..., str]
"""Makes a database with the given statements, and returns its URL."""

_OURS = re.compile(r"(sqlassay_test_[0-9a-f]{8})_\d+")


class Server(ABC):
    """A server where this run may make databases."""

    def __init__(self, url: str) -> None:
        self.url, self._run = url, f"sqlassay_test_{uuid4().hex[:8]}"
        self._numbers = itertools.count()
        self._lock(self._run)
        self._drop_what_killed_runs_left()

    @contextmanager
    def databases(self) -> Iterator[MakeDatabase]:
        """Whatever is made inside is dropped at the end."""
        with ExitStack() as stack:

            def make(*statements: str) -> str:
                name = self.create()
                stack.callback(self.drop, name)
                self._fill(name, statements)
                return f"{self.url}/{name}"

            yield make

    def create(self) -> str:
        """Make an empty database that stays until it is dropped; its name."""
        name = f"{self._run}_{next(self._numbers)}"
        self._create(name)
        return name

    def _drop_what_killed_runs_left(self) -> None:
        for name in self.names():
            run = _OURS.fullmatch(name)
            if run is not None and run[1] != self._run and self._lock(run[1]):
                self.drop(name)
                self._unlock(run[1])

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def names(self) -> list[str]: ...

    @abstractmethod
    def _lock(self, name: str) -> bool:
        """Take the lock of a run, until the connection ends at the latest; False where that run is alive."""

    @abstractmethod
    def _unlock(self, name: str) -> None: ...

    @abstractmethod
    def _create(self, name: str) -> None: ...

    @abstractmethod
    def _fill(self, name: str, statements: tuple[str, ...]) -> None: ...

    @abstractmethod
    def drop(self, name: str) -> None:
        """Drop it whoever is connected; what a busy server will not drop in time is left to the next run."""


class Postgres(Server):
    """Raises psycopg.Error where the server cannot be reached."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._driver = psycopg
        self._connection = psycopg.connect(f"{url}/postgres", autocommit=True, connect_timeout=5)
        self._connection.execute("SET statement_timeout = '60s'")
        super().__init__(url)

    def close(self) -> None:
        self._connection.close()

    def names(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT datname FROM pg_database")]

    def _lock(self, name: str) -> bool:
        row = self._connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [name]).fetchone()
        return row is not None and bool(row[0])

    def _unlock(self, name: str) -> None:
        self._connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", [name])

    def _create(self, name: str) -> None:
        # Nobody is ever connected to template0, so nobody is in the way of copying it.
        self._connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())

    def _fill(self, name: str, statements: tuple[str, ...]) -> None:
        with self._driver.connect(f"{self.url}/{name}", autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def drop(self, name: str) -> None:
        with suppress(self._driver.errors.QueryCanceled):
            self._connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())


class MySql(Server):
    """MySQL or MariaDB. Raises pymysql.Error or OSError where the server cannot be reached."""

    def __init__(self, url: str) -> None:
        import pymysql

        self._driver = pymysql
        address = server_address(url, name="tests")
        self._options: dict[str, Any] = {
            "host": address.host,
            "port": address.port,
            "user": address.user,
            "password": address.password or "",
            "autocommit": True,
            "charset": "utf8mb4",
        }
        self._connection = pymysql.connect(**self._options, connect_timeout=5)
        self._ask("SET SESSION lock_wait_timeout = 60")
        super().__init__(url)

    def close(self) -> None:
        self._connection.close()

    def _ask(self, statement: str, *arguments: object) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, arguments)
            return [row[0] for row in cursor.fetchall()]

    def names(self) -> list[str]:
        return self._ask("SHOW DATABASES")

    def _lock(self, name: str) -> bool:
        return self._ask("SELECT GET_LOCK(%s, 0)", name) == [1]

    def _unlock(self, name: str) -> None:
        self._ask("SELECT RELEASE_LOCK(%s)", name)

    def _create(self, name: str) -> None:
        self._ask(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")

    def _fill(self, name: str, statements: tuple[str, ...]) -> None:
        with closing(self._driver.connect(**self._options, database=name)) as connection:
            for statement in statements:
                with connection.cursor() as cursor:
                    cursor.execute(statement)

    def drop(self, name: str) -> None:
        for session in self._ask("SELECT id FROM information_schema.processlist WHERE db = %s", name):
            with suppress(self._driver.Error):
                self._ask("KILL %s", session)
        with suppress(self._driver.err.OperationalError):
            self._ask(f"DROP DATABASE IF EXISTS {name}")


def mysql_writer(url: str) -> Any:
    """A connection to a throwaway MySQL database past the product, for tests that change it meanwhile."""
    import pymysql

    address = server_address(url, name="tests")
    return pymysql.connect(
        host=address.host,
        port=address.port or 3306,
        user=address.user,
        password=address.password or "",
        database=address.database,
        autocommit=True,
    )
