"""What all tests share: a browser, servers to make databases on, a measure of work, and how hypothesis is used."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

import sqlassay

POSTGRES = os.environ.get("SQLASSAY_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
MYSQL = os.environ.get("SQLASSAY_TEST_MYSQL", "mysql://root@127.0.0.1:3306")
REQUIRED = os.environ.get("SQLASSAY_REQUIRE_SERVICES") == "1"

# No test fails for want of speed, since a busy machine is no fault; a build draws the same examples every time.
settings.register_profile(
    "sqlassay", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("sqlassay")

MakeDatabase = Callable[..., str]
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


def _absent(what: str, error: Exception) -> None:
    message = f"{what} cannot be reached: {str(error).strip().splitlines()[0] if str(error) else type(error).__name__}"
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def postgres_database() -> Iterator[MakeDatabase]:
    """Makes databases on the PostgreSQL server from statements; each URL lives until the module's tests end."""
    psycopg = pytest.importorskip("psycopg")
    try:
        server = psycopg.connect(POSTGRES + "/postgres", autocommit=True, connect_timeout=5)
    except psycopg.Error as error:
        _absent("PostgreSQL", error)
    made: list[str] = []

    def make(*statements: str) -> str:
        name = f"sqlassay_{uuid4().hex[:12]}"
        server.execute(f"CREATE DATABASE {name}")
        made.append(name)
        with psycopg.connect(f"{POSTGRES}/{name}", autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        return f"{POSTGRES}/{name}"

    yield make
    for name in made:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    server.close()


@pytest.fixture(scope="module")
def mysql_database() -> Iterator[MakeDatabase]:
    """Makes databases on the MySQL or MariaDB server from statements; each URL lives until the module's tests end."""
    pymysql = pytest.importorskip("pymysql")
    from sqlassay.databases.addresses import server_address

    address = server_address(MYSQL, name="tests")
    options = {"host": address.host, "port": address.port, "user": address.user, "password": address.password or ""}
    try:
        server = pymysql.connect(**options, autocommit=True, connect_timeout=5, charset="utf8mb4")
    except (pymysql.Error, OSError) as error:
        _absent("MySQL", error)
    made: list[str] = []

    def make(*statements: str) -> str:
        name = f"sqlassay_{uuid4().hex[:12]}"
        with server.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
            made.append(name)
            cursor.execute(f"USE {name}")
            for statement in statements:
                cursor.execute(statement)
        return f"{MYSQL}/{name}"

    yield make
    with server.cursor() as cursor:
        for name in made:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
    server.close()
