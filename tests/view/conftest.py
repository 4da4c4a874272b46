"""A folder of two real runs, and one that is going on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlassay.archive.results import keep
from sqlassay.archive.run_folder import RunWriter, create
from sqlassay.records.execution import Rows
from sqlassay.records.measurement import Bucket
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.trial import Side, Trial
from sqlassay.testing.builders import case, measurement, relation, turn
from sqlassay.view.server import Server, make_server

IDS = ("a1", "b2", "c/3 <b>")


def _add(run: RunWriter, case_id: str, bucket: Bucket | None = None) -> None:
    """One asked and scored case with both results."""
    gold = Side(sql="SELECT 1", execution=Rows(relation=relation("n", (1,), (2,))))
    candidate = Side(sql="SELECT 2", execution=Rows(relation=relation("n", (1,), (2,) if bucket is None else (3,))))
    trial = Trial(case=case(case_id), turn=turn(case_id), golds=(gold,), candidate=candidate)
    score = json.dumps(measurement(case_id, bucket=bucket).to_dict()).encode()
    run.add_turn(turn(case_id)).result()
    run.add_score(score, keep(trial, key=TrialKey(case_id=case_id), database="default")).result()


def _begin(runs: Path, name: str) -> RunWriter:
    manifest = Manifest(
        run_id=name, state=RunState.STARTED, signature="sqlassay 0 | aa", started_at=f"2026-11-30 {name}"
    )
    run = create(runs, manifest)
    run.write_cases([case(case_id) for case_id in IDS])
    return run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for name, wrong in (("first", {"a1", "b2"}), ("second", {"b2"})):
        with _begin(folder, name) as run:
            for case_id in IDS:
                _add(run, case_id, Bucket.WRONG_VALUES if case_id in wrong else None)
            run.finish(RunState.COMPLETE, ended_at="2026-11-30")
    return folder


@pytest.fixture
def begin() -> Callable[[Path, str], RunWriter]:
    return _begin


@pytest.fixture
def add() -> Callable[..., None]:
    return _add


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def started(runs: Path, **options: object) -> Server:
        server = make_server(runs, **options)  # type: ignore[arg-type]
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()
