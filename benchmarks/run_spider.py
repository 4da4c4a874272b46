"""Where does the time of a whole run go? Spider dev with one recorded prediction set, everything kept on disk.

    python benchmarks/run_spider.py [predictions] [--data DIR] [--jobs N] [--parts]

First the whole run by wall clock, then (`--parts`) the same work in one process, part by part, beside bare execution
and fetching of both sides. The data is not part of the project; `--data` or SQLASSAY_PUBLIC_DATA says where it lies.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTED = time.perf_counter()

from sqlassay.datasets import Dataset  # noqa: E402
from sqlassay.datasets.spider import read  # noqa: E402
from sqlassay.records.config import Config, DatabaseSettings  # noqa: E402
from sqlassay.records.settings import Limits, RunSettings, ScoreSettings  # noqa: E402
from sqlassay.running.events import Event, RunStarted  # noqa: E402
from sqlassay.running.plan import plan  # noqa: E402
from sqlassay.running.run import carry_out  # noqa: E402
from sqlassay.running.worker import Pool  # noqa: E402


class Parts:
    """Seconds by part."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - started

    def show(self, title: str) -> None:
        print(title)
        for name, seconds in self.seconds.items():
            print(f"  {name:<44}{seconds:8.3f} s")
        print(f"  {'together':<44}{sum(self.seconds.values()):8.3f} s")


def whole_run(data: Path, predictions: Path, *, workers: int, exact_as: tuple[str, ...]) -> None:
    parts = Parts()
    parts.seconds["imports of the main process"] = time.perf_counter() - STARTED
    runs = Path(tempfile.mkdtemp(prefix="sqlassay-bench-"))
    with parts.part("start of the workers (they import meanwhile)"):
        pool = Pool(workers, limits=Limits())
    with parts.part("cases, predictions"):
        imported = read(data, incomplete=True)
        complete = read(data)
        config = Config(
            case_id=tuple(case.id for case in complete.cases),
            databases={name: DatabaseSettings(url=path) for name, path in imported.databases.items()},
            agent={"kind": "replay", "path": str(predictions)},
            score=ScoreSettings(exact_as=exact_as),  # type: ignore[arg-type]
            run=RunSettings(workers=workers),
            runs=str(runs),
        )
        made = plan(config, cases=Dataset(cases=tuple(imported.cases)))
    began = time.perf_counter()

    def listen(event: Event) -> None:
        if isinstance(event, RunStarted):
            parts.seconds["schemas, fingerprints, run folder"] = time.perf_counter() - began

    result = carry_out(made, pool, on_event=listen)
    parts.seconds["asking, running, scoring, writing"] = (
        time.perf_counter() - began - parts.seconds["schemas, fingerprints, run folder"]
    )
    with parts.part("end of the workers"):
        pool.close()
    parts.show(f"{len(made.cases)} cases, {workers} workers")
    print(f"  passed {result.passed}, failed {result.failed}, unscored {result.unscored}: {dict(result.buckets)}")
    own, workers_used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  processor time: main {own.ru_utime + own.ru_stime:.2f} s, workers ", end="")
    print(f"{workers_used.ru_utime + workers_used.ru_stime:.2f} s")
    size = sum(file.stat().st_size for file in result.path.rglob("*") if file.is_file())
    print(f"  {size / 1e6:.1f} MB on disk")
    shutil.rmtree(runs)


def one_process(data: Path, predictions: Path, *, exact_as: tuple[str, ...]) -> None:
    from sqlassay.agents.registry import build
    from sqlassay.agents.replay import ReplayAgent
    from sqlassay.archive.results import keep
    from sqlassay.databases import connect
    from sqlassay.metrics.registry import families
    from sqlassay.metrics.score import score
    from sqlassay.records.run import TrialKey
    from sqlassay.records.wire import write_line
    from sqlassay.running.examine import Examiner

    imported = read(data)
    agent = build({"kind": "replay", "path": str(predictions)}, base_dir=".")
    assert isinstance(agent, ReplayAgent)
    settings, limits = ScoreSettings(exact_as=exact_as), Limits()  # type: ignore[arg-type]
    databases = {name: connect(path, name=name) for name, path in imported.databases.items()}
    turns = {case.id: agent.read(agent.recorded(case_id=case.id)) for case in imported.cases}
    parts = Parts()
    for warm in (False, True):
        for case in imported.cases:
            assert case.database is not None
            with parts.part("bare execution and fetching, both sides"), databases[case.database].session() as session:
                session.execute(case.gold_sql[0], limits=limits)
                session.execute(turns[case.id].candidate_sql or "SELECT", limits=limits)
        if not warm:
            parts = Parts()
    parts.show("bare")
    parts = Parts()
    examiners = {name: Examiner(each, settings=settings, limits=limits) for name, each in databases.items()}
    families()
    for case in imported.cases:
        assert case.database is not None
        with parts.part("examine: run both sides, understand both"):
            trial = examiners[case.database].examine(case, turns[case.id])
        for family in families():
            with parts.part(f"  family {family.name} (part of score)"):
                examined = family.examine(trial, settings)
                family.readings(examined)
                family.evidence(examined)
        with parts.part("score"):
            measurement = score(trial, settings)
        with parts.part("score line as JSON"):
            write_line(measurement)
        with parts.part("rows as JSON, compressed"):
            keep(trial, key=TrialKey(case_id=case.id), database=case.database)
    parts.show("one process, part by part")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("predictions", nargs="?", default="dail_sql_gpt4")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SQLASSAY_PUBLIC_DATA", "../shared/data")))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--exact-as", nargs="*", default=[])
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    data = given.data / "spider_dev"
    if not data.is_dir():
        print(f"no Spider dev at {data}", file=sys.stderr)
        return 2
    predictions = (data / "predictions" / f"{given.predictions}.jsonl").resolve()
    whole_run(data.resolve(), predictions, workers=given.workers, exact_as=tuple(given.exact_as))
    if given.parts:
        one_process(data.resolve(), predictions, exact_as=tuple(given.exact_as))
    return 0


if __name__ == "__main__":
    sys.exit(main())
