"""A run drops the databases of killed runs, and those of no other run."""

from __future__ import annotations

import pytest

from throwaway import Server


@pytest.mark.parametrize(
    "fixture",
    [
        pytest.param("postgres_server", marks=pytest.mark.postgres),
        pytest.param("mysql_server", marks=pytest.mark.mysql),
    ],
)
def test_what_a_killed_run_left_is_dropped_by_the_next(fixture: str, request: pytest.FixtureRequest) -> None:
    alive: Server = request.getfixturevalue(fixture)
    kept = alive.create()
    killed = type(alive)(alive.url)
    left = killed.create()
    type(alive)(alive.url).close()
    assert {kept, left} <= set(alive.names())
    killed.close()
    type(alive)(alive.url).close()
    assert left not in alive.names()
    assert kept in alive.names()
    alive.drop(kept)
    assert kept not in alive.names()
