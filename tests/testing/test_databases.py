"""The public suite for engines catches an engine that does not keep its promises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from sqlassay.databases import connect
from sqlassay.databases.base import Database, Session
from sqlassay.records.execution import Account, Execution, Rows, SqlError
from sqlassay.records.relation import Relation
from sqlassay.records.settings import Limits
from sqlassay.testing.databases import SETUP, DatabaseConformance


class Suite(DatabaseConformance):
    __test__ = False
    DIALECT = "sqlite"


class Careless:
    """A session that ignores limits and calls every refusal an empty result."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        execution = self._session.execute(sql, limits=Limits(timeout_s=min(5.0, limits.timeout_s)))
        return Rows(relation=Relation(columns=())) if isinstance(execution, SqlError) else execution

    def stamp(self) -> str | None:
        return self._session.stamp()

    def account(self, sql: str) -> Account | None:
        return self._session.account(sql)


class CarelessDatabase:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.name, self.url, self.capabilities = database.name, database.url, database.capabilities
        self.schema, self.fingerprint, self.warnings = database.schema, database.fingerprint, database.warnings
        self.close = database.close

    @contextmanager
    def session(self) -> Iterator[Session]:
        with self._database.session() as session:
            yield Careless(session)


@pytest.fixture
def honest(tmp_path: Path) -> Iterator[Database]:
    connection = apsw.Connection(str(tmp_path / "shop.db"))
    connection.execute(";".join(SETUP))
    connection.close()
    with closing(connect(f"sqlite:///{tmp_path / 'shop.db'}")) as database:
        yield database


@pytest.mark.parametrize(
    "promise",
    [
        "test_what_is_no_read_is_forbidden_and_changes_nothing",
        "test_each_error_has_its_kind",
        "test_max_rows_cuts_and_says_so",
        "test_max_bytes_cuts_and_says_so",
    ],
)
def test_a_broken_promise_is_caught(honest: Database, promise: str) -> None:
    getattr(Suite(), promise)(honest)
    with pytest.raises(AssertionError):
        getattr(Suite(), promise)(CarelessDatabase(honest))
