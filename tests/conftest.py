"""What all tests share: a browser, servers to make databases on, a measure of work, and how hypothesis is used."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

import sqlassay
from throwaway import MakeDatabase, MySql, Postgres, Server

POSTGRES = os.environ.get("SQLASSAY_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
MYSQL = os.environ.get("SQLASSAY_TEST_MYSQL", "mysql://root@127.0.0.1:3306")
PUBLIC_DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA") or Path(__file__).parents[2] / "shared" / "data")
REQUIRED = os.environ.get("SQLASSAY_REQUIRE_SERVICES") == "1"

# No test fails for want of speed, since a busy machine is no fault; a build draws the same examples every time.
settings.register_profile(
    "sqlassay", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("sqlassay")

Steps = Callable[[Callable[[], object]], int]
_PACKAGE = str(Path(sqlassay.__file__).parent)


@pytest.fixture
def steps() -> Steps:
    """Counts the lines of the package that an action executes: how work grows, told alike by idle and busy machines."""

    def count(action: Callable[[], object]) -> int:
        counted = 0

        def line(_frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal counted
            counted += event == "line"
            return line

        def entered(frame: FrameType, _event: str, _argument: Any) -> Any:
            return line if frame.f_code.co_filename.startswith(_PACKAGE) else None

        before = sys.gettrace()
        sys.settrace(entered)
        try:
            action()
        finally:
            sys.settrace(before)
        return counted

    return count


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    path = os.environ.get("SQLASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None and not REQUIRED:
        pytest.skip("Chromium is not installed (apt-get install chromium, or set SQLASSAY_CHROMIUM)")
    playwright = pytest.importorskip("playwright.sync_api")
    quiet = ("quic", "background-networking", "component-update", "sync", "gpu")
    flags = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def barriers() -> Callable[[Any], list[str]]:
    """What axe-core finds on a page that keeps people out, all its rules included."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def find(page: Any) -> list[str]:
        return [
            f"{broken['id']} ({broken['impact']}): {node['html'][:200]}"
            for broken in axe.run(page).response["violations"]
            for node in broken["nodes"]
        ]

    return find


def _absent(what: str, error: Exception) -> NoReturn:
    message = f"{what} cannot be reached: {str(error).strip().splitlines()[0] if str(error) else type(error).__name__}"
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    psycopg = pytest.importorskip("psycopg")
    try:
        server = Postgres(POSTGRES)
    except psycopg.Error as error:
        _absent("PostgreSQL", error)
    with closing(server):
        yield server


@pytest.fixture(scope="session")
def mysql_server() -> Iterator[Server]:
    pymysql = pytest.importorskip("pymysql")
    try:
        server = MySql(MYSQL)
    except (pymysql.Error, OSError) as error:
        _absent("MySQL", error)
    with closing(server):
        yield server


@pytest.fixture(scope="module")
def postgres_database(postgres_server: Server) -> Iterator[MakeDatabase]:
    """Makes databases on the PostgreSQL server from statements; each URL lives until the module's tests end."""
    with postgres_server.databases() as make:
        yield make


@pytest.fixture(scope="module")
def mysql_database(mysql_server: Server) -> Iterator[MakeDatabase]:
    """Makes databases on the MySQL or MariaDB server from statements; each URL lives until the module's tests end."""
    with mysql_server.databases() as make:
        yield make


@pytest.fixture(scope="module")
def defog_databases(postgres_database: MakeDatabase) -> dict[str, str]:
    """Defog's databases on the PostgreSQL server, each loaded from its dump: their URLs by name."""
    dumps = sorted((PUBLIC_DATA / "defog" / "postgres_dumps").glob("*.sql"))
    return {dump.stem: postgres_database(dump.read_text(encoding="utf-8")) for dump in dumps}
