"""A hostile query costs one worker process, never a neighbour, the case or the run."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from sqlassay.errors import ConfigError, DatabaseUnavailable
from sqlassay.records.case import Case, Status
from sqlassay.records.execution import ErrorKind, SqlError, TimedOut
from sqlassay.records.measurement import Bucket
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.turn import Turn
from sqlassay.running.jobs import Address, Job
from sqlassay.running.worker import Bench, Closed, Pool, WorkerLost, settle

# One opcode that compares megabytes at each of millions of positions: no interrupt reaches it.
DEAF = "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
GOLD = "SELECT id FROM item"


def job(url: str, candidate: str | None, *, gold: str | tuple[str, ...] = GOLD, timeout_s: float = 0.4) -> Job:
    return Job(
        case=Case(id="a", question="?", gold_sql=(gold,) if isinstance(gold, str) else gold),
        turn=Turn(case_id="a", status=Status.SUCCESS, candidate_sql=candidate),
        address=Address(name="shop", url=url),
        settings=ScoreSettings(),
        limits=Limits(timeout_s=timeout_s, grace_s=0.2),
        whole=True,
    )


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench(grace_s=0.2)
    yield made
    made.close()


def test_a_query_that_ignores_the_interrupt_is_killed(bench: Bench, url: str) -> None:
    bench.carry_out(job(url, GOLD))
    process = bench._worker
    outcome = bench.carry_out(job(url, DEAF))
    assert bench._worker is not process
    assert outcome.bucket is Bucket.SQL_ERROR
    assert outcome.measurement is not None
    assert outcome.measurement.evidence["execution"]["candidate_error"]["kind"] == "timeout"
    assert bench.carry_out(job(url, GOLD)).passed is True


def test_a_query_that_heeds_it_costs_no_worker(bench: Bench, url: str) -> None:
    bench.carry_out(job(url, GOLD))
    process = bench._worker
    outcome = bench.carry_out(job(url, ENDLESS))
    assert outcome.measurement is not None
    assert outcome.measurement.evidence["execution"]["candidate_error"]["kind"] == "timeout"
    assert bench._worker is process


def test_a_deaf_gold_is_the_gold_s_fault_and_another_gold_serves(bench: Bench, url: str) -> None:
    assert bench.carry_out(job(url, GOLD, gold=DEAF)).bucket is Bucket.GOLD_ERROR
    outcome = bench.carry_out(job(url, GOLD, gold=(DEAF, GOLD)))
    assert outcome.passed is True
    assert outcome.measurement is not None
    assert outcome.measurement.evidence["execution"]["gold_index"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize(("sent", "kind"), [(signal.SIGKILL, "too_large"), (signal.SIGSEGV, "other")])
def test_a_worker_that_dies_in_the_candidate(bench: Bench, url: str, sent: signal.Signals, kind: str) -> None:
    bench.carry_out(job(url, GOLD))
    worker = bench._worker
    assert worker is not None
    killer = threading.Timer(0.5, lambda: os.kill(worker._process.pid, sent))
    killer.start()
    outcome = bench.carry_out(job(url, ENDLESS, timeout_s=20))
    killer.join()
    assert outcome.bucket is Bucket.SQL_ERROR
    assert outcome.measurement is not None
    assert outcome.measurement.evidence["execution"]["candidate_error"]["kind"] == kind


def test_memory_is_bounded(bench: Bench, url: str) -> None:
    greedy = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(500000)) FROM n"
    hungry = job(url, greedy, timeout_s=20)
    outcome = bench.carry_out(hungry)
    assert outcome.passed is None or outcome.bucket is Bucket.SQL_ERROR
    assert bench.carry_out(job(url, GOLD)).passed is True


def test_memory_that_an_engine_takes_outside_its_own_account_is_bounded(bench: Bench, tmp_path: Path) -> None:
    """DuckDB's memory limit does not count the 20 GB matrix of this function, and no interrupt reaches it."""
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE item AS SELECT 1 AS id")
    url = f"duckdb:///{file}"
    matrix = "SELECT damerau_levenshtein(repeat('x', 50000), repeat('y', 50000))"
    outcome = bench.carry_out(job(url, matrix, timeout_s=20))
    assert outcome.measurement is not None
    assert outcome.measurement.evidence["execution"]["candidate_error"]["kind"] == "too_large"
    assert bench.carry_out(job(url, GOLD)).passed is True


def test_a_database_that_does_not_open(bench: Bench) -> None:
    for url, error in (("sqlite:///absent.db", DatabaseUnavailable), ("nonsense", ConfigError)):
        with pytest.raises(error):
            bench.describe(Address(name="x", url=url))
        with pytest.raises(error):
            bench.carry_out(job(url, GOLD))


def test_in_a_run_a_lost_database_is_the_harness_s_fault(bench: Bench) -> None:
    outcome = bench.carry_out(replace(job("sqlite:///absent.db", GOLD), whole=False))
    assert outcome.bucket is Bucket.HARNESS_ERROR
    assert b'"undefined": "harness_failed"' in outcome.line


def test_a_fault_of_ours_ends_as_a_line_and_never_as_a_loop(bench: Bench, url: str) -> None:
    # A case whose gold is no text makes the scorer itself fail, with and without its sides.
    absurd = Case(id="a", question="?", gold_sql=(7,))  # type: ignore[arg-type]
    outcome = bench.carry_out(replace(job(url, GOLD), case=absurd, whole=False))
    assert outcome.bucket is Bucket.HARNESS_ERROR
    assert outcome.passed is None
    assert b'"case_id": "a"' in outcome.line
    assert bench.carry_out(job(url, GOLD)).passed is True


@pytest.mark.timeout(60)
def test_a_deaf_query_delays_no_neighbour_and_a_closed_pool_ends_it(url: str) -> None:
    pool = Pool(2, limits=Limits(grace_s=0.2))
    deaf = pool.submit(job(url, DEAF, timeout_s=600))
    assert all(pool.submit(job(url, GOLD)).result().passed for _ in range(10))
    assert not deaf.done()
    running, waiting = pool.submit(job(url, ENDLESS, timeout_s=600)), pool.submit(job(url, GOLD))
    while not running.running():
        time.sleep(0.01)
    pool.close()
    assert isinstance(deaf.exception(), Closed)
    assert isinstance(running.exception(), Closed)
    with pytest.raises((Closed, CancelledError)):
        waiting.result()


def test_what_a_lost_worker_means_for_the_case() -> None:
    start = job("sqlite:///x.db", GOLD)
    killed = settle(start, WorkerLost(phase="candidate", killed=True, limit_s=2.0, code=-9))
    assert killed.settled == {"candidate": TimedOut(limit_s=2.0, killed=True)}
    dead = settle(killed, WorkerLost(phase="gold 0", killed=False, limit_s=2.0, code=-11))
    died = dead.settled["gold 0"]
    assert isinstance(died, SqlError)
    assert died.kind is ErrorKind.OTHER
    assert set(dead.settled) == {"candidate", "gold 0"}
    assert "scoring took too long" in str(
        settle(start, WorkerLost(phase="scoring", killed=True, limit_s=9.0, code=-9)).fault
    )
