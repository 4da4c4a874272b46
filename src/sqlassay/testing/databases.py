"""Does an engine keep the promises of `sqlassay.databases.base`? A suite that every engine runs, ours and yours.

Subclass `DatabaseConformance` in a test module, give it the two fixtures `database` (open, holding what `SETUP`
makes) and `write` (runs one statement through another connection; returns False where the engine locks writers out),
and pytest does the rest. What the engine cannot do is read from its `capabilities`; those tests are skipped and say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

import pytest

from sqlassay.databases.base import Database
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.settings import Limits

SETUP: tuple[str, ...] = (
    "CREATE TABLE maker (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40))",
    "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, maker_id INTEGER, label VARCHAR(40), price DECIMAL(10, 2), "
    "FOREIGN KEY (maker_id) REFERENCES maker (id))",
    "INSERT INTO maker VALUES (1, 'Bolt & Co'), (2, 'Helm')",
    "INSERT INTO item VALUES (10, 1, 'nut; bolt', 2.50), (11, 1, 'bolt', 12.00), (12, 2, NULL, 7.25), "
    "(13, 2, 'España', NULL)",
    "CREATE VIEW cheap AS SELECT id, label FROM item WHERE price < 10",
)
"""What the database under test must hold, in SQL that most engines read."""

Write = Callable[[str], bool]

_LIMITS = Limits(timeout_s=20.0)


def run(database: Database, sql: str, *, limits: Limits = _LIMITS) -> Execution:
    """Execute one statement in a session of its own."""
    with database.session() as session:
        return session.execute(sql, limits=limits)


def rows_of(execution: Execution) -> list[tuple[object, ...]]:
    """The rows of an execution that must have worked."""
    assert isinstance(execution, Rows), execution
    return list(execution.relation.tuples())


class DatabaseConformance:
    """The suite; override the class variables where an engine's SQL differs."""

    DIALECT: ClassVar[str]
    ENDLESS: ClassVar[str] = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) "
        "SELECT COUNT(*) FROM n a, n b, n c WHERE a.i + b.i + c.i < 0"
    )
    """A statement that would run for hours."""
    MANY: ClassVar[str] = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
        "SELECT a.i, b.i, 'some text' FROM n a, n b"
    )
    """A statement with 810,000 rows."""
    REFUSED: ClassVar[tuple[str, ...]] = (
        "DELETE FROM item",
        "UPDATE item SET price = 0",
        "INSERT INTO maker VALUES (3, 'x')",
        "DROP TABLE item",
        "DROP TABLE nothing_of_this_name",
        "CREATE TABLE other (id INTEGER)",
        "ALTER TABLE maker ADD COLUMN x INTEGER",
        "SELECT 1; DELETE FROM item",
        "COMMIT",
        "BEGIN",
    )
    ERRORS: ClassVar[dict[str, ErrorKind]] = {
        "SELEC id FROM item": ErrorKind.SYNTAX,
        "SELECT id, FROM item": ErrorKind.SYNTAX,
        "SELECT id FROM nothing_of_this_name": ErrorKind.UNKNOWN_TABLE,
        "SELECT weight FROM item": ErrorKind.UNKNOWN_COLUMN,
        "SELECT id FROM item JOIN maker ON item.maker_id = maker.id": ErrorKind.AMBIGUOUS_COLUMN,
        "SELECT id FROM item UNION SELECT id, name FROM maker": ErrorKind.ARITY,
        "SELECT no_such_function_here(id) FROM item": ErrorKind.FUNCTION,
    }
    CHANGE: ClassVar[str] = "INSERT INTO maker VALUES (99, 'later')"
    UNDO: ClassVar[str] = "DELETE FROM maker WHERE id = 99"
    """Takes the change back, so that one database may serve all tests of a class."""

    def test_it_names_itself_and_its_dialect(self, database: Database) -> None:
        assert database.name
        assert database.capabilities.dialect == self.DIALECT
        assert database.schema().dialect == self.DIALECT

    def test_schema_has_columns_keys_and_views(self, database: Database) -> None:
        tables = {table.name.lower(): table for table in database.schema().tables}
        assert {"maker", "item", "cheap"} <= tables.keys()
        item = tables["item"]
        assert tuple(name.lower() for name in item.columns) == ("id", "maker_id", "label", "price")
        assert len(item.types) == len(item.columns)
        assert tuple(name.lower() for name in item.primary_key) == ("id",)
        (key,) = item.foreign_keys
        assert (key.columns, key.to_table.lower(), key.to_columns) == (("maker_id",), "maker", ("id",))
        assert not item.is_view
        assert tables["cheap"].is_view
        view = tables["cheap"].view_sql
        assert view is not None
        assert view.lower().startswith("select")

    def test_schema_is_read_once_and_has_a_fingerprint(self, database: Database) -> None:
        assert database.schema() is database.schema()
        assert database.schema().fingerprint

    def test_rows_arrive_with_names_and_nulls(self, database: Database) -> None:
        execution = run(database, "SELECT id, label FROM item ORDER BY id")
        assert rows_of(execution) == [(10, "nut; bolt"), (11, "bolt"), (12, None), (13, "España")]
        assert isinstance(execution, Rows)
        assert [name.lower() for name in execution.relation.names] == ["id", "label"]
        assert not execution.relation.truncated
        assert execution.duration_s >= 0

    def test_an_empty_result_keeps_its_columns(self, database: Database) -> None:
        execution = run(database, "SELECT id, label FROM item WHERE id < 0")
        assert rows_of(execution) == []
        assert isinstance(execution, Rows)
        assert execution.relation.width == 2

    def test_two_columns_of_one_name_stay_two(self, database: Database) -> None:
        execution = run(database, "SELECT i.id, m.id FROM item i JOIN maker m ON m.id = i.maker_id WHERE i.id = 12")
        assert rows_of(execution) == [(12, 2)]

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT COUNT(*) FROM maker;",
            "SELECT COUNT(*) FROM maker -- all; of them",
            "/* a; b */ SELECT COUNT(*) FROM maker ; ; -- done\n;",
            "WITH m AS (SELECT id FROM maker) SELECT COUNT(*) FROM m",
            "SELECT COUNT(*) FROM maker WHERE name <> 'DELETE; DROP TABLE maker; --'",
            "SELECT n FROM (SELECT COUNT(*) AS n FROM maker) t",
            "(SELECT COUNT(*) FROM maker)",
        ],
    )
    def test_honest_statements_run(self, database: Database, sql: str) -> None:
        if sql.startswith("(") and self.DIALECT == "sqlite":
            pytest.skip("SQLite has no parenthesised statements")
        assert rows_of(run(database, sql)) == [(2,)]

    @pytest.mark.parametrize("sql", ["", "   ", "-- nothing", "/* nothing */", ";"])
    def test_text_without_a_statement_is_not_run(self, database: Database, sql: str) -> None:
        assert run(database, sql) == NotRun()

    def test_each_error_has_its_kind(self, database: Database) -> None:
        kinds = {}
        for sql in self.ERRORS:
            execution = run(database, sql)
            assert isinstance(execution, SqlError), sql
            assert execution.message
            kinds[sql] = execution.kind
        assert kinds == self.ERRORS

    def test_a_session_goes_on_after_an_error(self, database: Database) -> None:
        with database.session() as session:
            assert isinstance(session.execute("SELECT weight FROM item", limits=_LIMITS), SqlError)
            assert rows_of(session.execute("SELECT COUNT(*) FROM item", limits=_LIMITS)) == [(4,)]
            assert isinstance(session.execute("SELECT 'a' FROM nowhere", limits=_LIMITS), SqlError)
            assert rows_of(session.execute("SELECT COUNT(*) FROM item", limits=_LIMITS)) == [(4,)]

    def test_what_is_no_read_is_forbidden_and_changes_nothing(self, database: Database) -> None:
        before = rows_of(run(database, "SELECT * FROM item ORDER BY id"))
        for sql in self.REFUSED:
            execution = run(database, sql)
            assert isinstance(execution, SqlError), sql
            assert execution.kind is ErrorKind.FORBIDDEN, (sql, execution)
            assert rows_of(run(database, "SELECT * FROM item ORDER BY id")) == before

    def test_max_rows_cuts_and_says_so(self, database: Database) -> None:
        cut = run(database, self.MANY, limits=Limits(timeout_s=30, max_rows=700))
        assert len(rows_of(cut)) == 700
        assert isinstance(cut, Rows)
        assert cut.relation.truncated
        whole = run(database, "SELECT id FROM item", limits=Limits(max_rows=4))
        assert len(rows_of(whole)) == 4
        assert isinstance(whole, Rows)
        assert not whole.relation.truncated

    def test_max_bytes_cuts_and_says_so(self, database: Database) -> None:
        cut = run(database, self.MANY, limits=Limits(timeout_s=30, max_bytes=100_000))
        assert isinstance(cut, Rows)
        assert cut.relation.truncated
        assert 0 < cut.relation.height < 100_000

    def test_a_timeout_stops_the_engine_and_harms_no_neighbour(self, database: Database) -> None:
        if not database.capabilities.engine_timeout:
            pytest.skip("this engine declares that it cannot stop a statement")
        with database.session() as session:
            started = time.perf_counter()
            execution = session.execute(self.ENDLESS, limits=Limits(timeout_s=0.3))
            took = time.perf_counter() - started
            assert isinstance(execution, TimedOut), execution
            assert execution.limit_s == 0.3
            assert 0.29 <= took < 1.3
            assert rows_of(session.execute("SELECT COUNT(*) FROM item", limits=_LIMITS)) == [(4,)]

    def test_both_sides_see_one_snapshot(self, database: Database, write: Write) -> None:
        if not database.capabilities.snapshot:
            pytest.skip("this engine declares that it has no snapshot")
        count = "SELECT COUNT(*) FROM maker"
        with database.session() as session:
            before = rows_of(session.execute(count, limits=_LIMITS))
            written = write(self.CHANGE)
            assert rows_of(session.execute(count, limits=_LIMITS)) == before
        if written:
            after = rows_of(run(database, count))
            write(self.UNDO)
            assert after == [(3,)]

    def test_the_fingerprint_repeats(self, database: Database) -> None:
        assert database.fingerprint() == database.fingerprint()

    def test_a_stamp_tells_of_other_data(self, database: Database, write: Write) -> None:
        with database.session() as session:
            before = session.stamp()
            again = session.stamp()
        assert before == again
        if before is None:
            pytest.skip("the sessions of this engine give no stamp")
        if not write(self.CHANGE):
            pytest.skip("nobody can write to this engine's database while it is open")
        with database.session() as session:
            changed = session.stamp()
        write(self.UNDO)
        assert changed != before

    def test_account_names_what_is_read(self, database: Database) -> None:
        if not database.capabilities.accounts:
            pytest.skip("this engine declares that it gives no account")
        with database.session() as session:
            account = session.account("SELECT c.label FROM cheap c JOIN maker m ON m.id = c.id")
            execution = session.execute("SELECT c.label FROM cheap c JOIN maker m ON m.id = c.id", limits=_LIMITS)
        assert account is not None
        assert account.base_tables == ("item", "maker")
        assert isinstance(execution, Rows)
        assert execution.account is not None
        assert execution.account.base_tables == ("item", "maker")

    def test_origins_name_base_columns(self, database: Database) -> None:
        if not database.capabilities.origins:
            pytest.skip("this engine declares that it gives no origins")
        execution = run(
            database, "SELECT m.name AS who, i.price, i.price + 1 FROM item i JOIN maker m ON m.id = i.maker_id"
        )
        assert isinstance(execution, Rows)
        assert [column.origin for column in execution.relation.columns] == ["maker.name", "item.price", None]

    def test_warnings_are_sentences(self, database: Database) -> None:
        assert all(isinstance(warning, str) and warning for warning in database.warnings())
