"""Opening a database: where it may lie, what is wrong with it in words, and no password shown anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.databases import connect
from sqlassay.databases.addresses import redact, server_address
from sqlassay.errors import ConfigError, DatabaseUnavailable
from sqlassay.records.execution import ErrorKind, SqlError
from sqlassay.records.settings import Limits
from sqlassay.testing.databases import SETUP, rows_of, run

PASSWORD = "pl4nted-s3cret"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop & co #1?.db"
    connection = apsw.Connection(str(path))
    connection.execute(";".join(SETUP))
    connection.close()
    return path


def test_a_relative_path_is_relative_to_the_working_directory(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shop.rename(shop.with_name("shop.db"))
    monkeypatch.chdir(plain.parent)
    with closing(connect("sqlite:///shop.db")) as database:
        monkeypatch.chdir("/")
        assert rows_of(run(database, "SELECT COUNT(*) FROM maker")) == [(2,)]


def test_strange_file_names_open(shop: Path) -> None:
    strange = shop.rename(shop.with_name("shop & co #1%20.db"))
    with closing(connect(f"sqlite:///{strange}")) as database:
        assert rows_of(run(database, "SELECT COUNT(*) FROM maker")) == [(2,)]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "in-memory"),
        ("sqlite:///:memory:", "in-memory"),
        ("duckdb:///:memory:", "in-memory"),
        ("sqlite:///no/such/file.db", "does not exist"),
        ("duckdb:///no/such/file.duckdb", "does not exist"),
        ("sqlite:////", "is not a file"),
        ("postgresql://u@127.0.0.1:1/db", "cannot be reached"),
        ("mysql://u@127.0.0.1:1/db", "cannot be reached"),
    ],
)
def test_what_cannot_be_opened_is_said(url: str, says: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=says):
        connect(url, name="films")


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_of_another_kind_is_said(tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is no database at all, but a text that is long enough to look like one\n" * 100)
    with pytest.raises(DatabaseUnavailable, match=r"SQLite database|DuckDB"):
        connect(f"{scheme}:///{path}")


def test_an_unknown_dialect_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="nosuchdialect") as caught:
        connect(f"nosuchdialect://u:{PASSWORD}@host/db")
    assert PASSWORD not in str(caught.value)


def test_a_text_that_is_no_url_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="not a database URL"):
        connect("films.db")


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "sqlalchemy+postgresql+psycopg"])
@pytest.mark.parametrize("password", [PASSWORD, "pl4nted%40s3cret", "pl4nted%2Fs3cret"])
def test_no_message_shows_the_password(scheme: str, password: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        connect(f"{scheme}://nobody:{password}@127.0.0.1:1/db?sslpassword={PASSWORD}")
    shown = f"{caught.value} {caught.value.hint} {caught.value!r}"
    for secret in (PASSWORD, password, password.replace("%40", "@").replace("%2F", "/")):
        assert secret not in shown


@pytest.mark.mysql
def test_a_refused_login_shows_no_password(mysql_database: Callable[..., str]) -> None:
    url = mysql_database().replace("root@", f"root:{PASSWORD}@")
    with pytest.raises(DatabaseUnavailable, match="Access denied") as caught:
        connect(url)
    assert PASSWORD not in f"{caught.value} {caught.value.hint}"


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=4).filter(lambda p: "*" not in p),
    st.sampled_from(["postgresql", "mysql", "snowflake", "mssql+pyodbc"]),
)
def test_redaction_takes_out_any_encoded_password(password: str, scheme: str) -> None:
    from urllib.parse import quote

    encoded = quote(password, safe="")
    url = f"{scheme}://user:{encoded}@host:1234/name?x=1"
    assert redact(url) == f"{scheme}://user:***@host:1234/name?x=1"
    assert server_address(url, name="x").password == password


def test_a_lost_server_is_the_harness_fault(shop: Path) -> None:
    with (
        closing(connect(f"sqlite:///{shop.rename(shop.with_name('s.db'))}")) as database,
        database.session() as session,
    ):
        writer = apsw.Connection(str(shop.with_name("s.db")))
        writer.execute("BEGIN EXCLUSIVE")
        try:
            execution = session.execute("SELECT COUNT(*) FROM item", limits=Limits(timeout_s=0.1))
        finally:
            writer.close()
        assert isinstance(execution, SqlError)
        assert execution.kind is ErrorKind.CONNECTION


@pytest.mark.postgres
def test_a_connection_that_is_cut_is_reported_and_made_again(postgres_database: Callable[..., str]) -> None:
    psycopg = pytest.importorskip("psycopg")
    url = postgres_database(*SETUP)
    with closing(connect(url)) as database:
        with database.session() as session, psycopg.connect(url, autocommit=True) as other:
            session.execute("SELECT 1", limits=Limits())
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'sqlassay' AND datname = current_database()"
            )
            execution = session.execute("SELECT COUNT(*) FROM item", limits=Limits())
            assert isinstance(execution, SqlError)
            assert execution.kind is ErrorKind.CONNECTION
        assert rows_of(run(database, "SELECT COUNT(*) FROM item")) == [(4,)]


COUNT_AS_NOBODY = """
import os, sys
import sqlassay.databases.sqlite
from sqlassay.databases import connect
from sqlassay.testing.databases import rows_of, run
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
database = connect(sys.argv[1])
print(rows_of(run(database, "SELECT COUNT(*) FROM maker")), os.access(os.path.dirname(sys.argv[2]), os.W_OK))
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users as Unix has them")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_database_in_a_folder_that_its_reader_may_not_write_to(mode: str) -> None:
    with tempfile.TemporaryDirectory(prefix="sqlassay-") as folder:
        path = Path(folder) / "shop.db"
        with closing(apsw.Connection(str(path))) as connection:
            connection.pragma("journal_mode", mode)
            connection.execute(";".join(SETUP))
        os.chmod(folder, 0o555)
        try:
            done = subprocess.run(
                [sys.executable, "-c", COUNT_AS_NOBODY, f"sqlite:///{path}", str(path)],
                capture_output=True,
                text=True,
                env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)), PYTHONDONTWRITEBYTECODE="1"),
            )
        finally:
            os.chmod(folder, 0o755)
    assert (done.stdout.strip(), done.returncode) == ("[(2,)] False", 0), done.stderr


def test_processes_share_a_duckdb_file(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in SETUP:
            connection.execute(statement)
    code = (
        "import sys; from sqlassay.databases import connect; from sqlassay.testing.databases import rows_of, run; "
        "database = connect(sys.argv[1]); print(rows_of(run(database, 'SELECT COUNT(*) FROM item')), flush=True); "
        "sys.stdin.read()"
    )
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", code, f"duckdb:///{path}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [reader.stdout.readline() if reader.stdout else "" for reader in readers]
    with closing(connect(f"duckdb:///{path}")) as database:
        assert rows_of(run(database, "SELECT COUNT(*) FROM item")) == [(4,)]
    for reader in readers:
        reader.communicate("")
    assert said == ["[(4,)]\n", "[(4,)]\n"]


def test_a_write_ahead_log_that_was_not_merged_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    writer = apsw.Connection(str(path))
    writer.pragma("journal_mode", "wal")
    writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    with closing(connect(f"sqlite:///{path}")) as database:
        assert rows_of(run(database, "SELECT a FROM t")) == [(1,)]
        before = database.fingerprint()
        writer.execute("INSERT INTO t VALUES (2)")
        assert database.fingerprint() != before
        assert rows_of(run(database, "SELECT a FROM t")) == [(1,), (2,)]
    writer.close()


def test_full_text_tables_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "fts.db"
    writer = apsw.Connection(str(path))
    writer.execute("CREATE VIRTUAL TABLE d USING fts5(body); INSERT INTO d VALUES ('a cat'), ('a dog')")
    writer.execute("CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); INSERT INTO r VALUES (1, 0, 2)")
    writer.close()
    with closing(connect(f"sqlite:///{path}")) as database:
        assert rows_of(run(database, "SELECT body FROM d WHERE d MATCH 'cat'")) == [("a cat",)]
        assert rows_of(run(database, "SELECT id FROM r WHERE x0 < 1")) == [(1,)]
        assert [table.name for table in database.schema().tables] == ["d", "r"]


def test_a_worker_keeps_within_its_memory(shop: Path) -> None:
    path = shop.rename(shop.with_name("m.db"))
    code = (
        "import sys\n"
        "from sqlassay.databases import connect\n"
        "from sqlassay.databases.memory import limit_memory\n"
        "from sqlassay.records.settings import Limits\n"
        "database = connect(sys.argv[1])\n"
        "assert limit_memory(256 * 1024 * 1024)\n"
        "with database.session() as session:\n"
        "    big = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(9000000) FROM n'\n"
        "    print(session.execute(big, limits=Limits(timeout_s=20, max_bytes=10**12)).kind.value)\n"
        "    print(session.execute('SELECT COUNT(*) FROM item', limits=Limits()).relation.tuples())\n"
    )
    done = subprocess.run([sys.executable, "-c", code, f"sqlite:///{path}"], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["too_large", "[(4,)]"], done.stderr


def test_drivers_are_imported_only_when_used(shop: Path) -> None:
    path = shop.rename(shop.with_name("i.db"))
    code = (
        "import sys\n"
        "from sqlassay.databases import connect\n"
        "connect(sys.argv[1]).schema()\n"
        "print([m for m in ('duckdb', 'psycopg', 'pymysql', 'sqlalchemy', 'pyarrow', 'numpy') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, f"sqlite:///{path}"], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("url", "driver", "extra"),
    [
        ("duckdb:///f.duckdb", "duckdb", "duckdb"),
        ("postgresql://me@localhost/db", "psycopg", "postgres"),
        ("mysql://me@localhost/db", "pymysql", "mysql"),
        ("oracle://me@localhost/db", "sqlalchemy", "sqlalchemy"),
    ],
)
def test_an_engine_without_its_driver_says_what_to_install(url: str, driver: str, extra: str) -> None:
    code = (
        "import sys\n"
        "sys.modules[sys.argv[2]] = None\n"
        "from sqlassay.databases import connect\n"
        "from sqlassay.errors import MissingExtra\n"
        "try:\n"
        "    connect(sys.argv[1])\n"
        "except MissingExtra as error:\n"
        "    print(error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, url, driver], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == f"pip install 'sqlassay[{extra}]'", done.stderr
