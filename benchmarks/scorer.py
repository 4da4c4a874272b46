"""What does a verdict cost beside running the queries? One process, one warm connection, `sqlassay.Scorer`.

    python benchmarks/scorer.py [--data DIR]

Small synthetic candidates with the gold's result kept, then (with Spider dev at hand) its 972 cases and one recorded
prediction set: the verdict alone beside bare execution and fetching of both sides. Ratios of CPU time, best of several
rounds taken in turn. `bare` is `apsw.Connection.execute(...).fetchall()` without any guard, a compile each time;
`guarded` is the product's own session: read-only, authorizer, time-out, byte count, account of what is read.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import apsw

from sqlassay import Scorer
from sqlassay.databases import connect
from sqlassay.records.settings import Limits

Work = Callable[[], Any]


def in_turn(work: Mapping[str, Work], *, rounds: int, number: int) -> dict[str, float]:
    """Microseconds of CPU for one call of each, the best of several rounds, each round taking all of them in turn."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, action in work.items():
            started = time.process_time()
            for _ in range(number):
                action()
            best[name] = min(best[name], (time.process_time() - started) / number)
    return {name: seconds * 1e6 for name, seconds in best.items()}


def shop(path: Path) -> None:
    chance = random.Random(1)
    rows = [
        (i, f"name{i}", f"city{i % 50}", chance.randint(0, 99), chance.randint(0, 9999) / 100) for i in range(20000)
    ]
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, city TEXT, n INT, x REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)


def small(folder: Path) -> None:
    path = folder / "shop.db"
    shop(path)
    url = f"sqlite:///{path}"
    bare, guarded = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY), connect(url, name="shop")
    print(f"{'candidate':<34}{'bare us':>10}{'guarded us':>12}{'verdict us':>12}{'/ guarded':>11}{'/ bare':>9}")
    with Scorer(url) as scorer:
        for title, sql, number in (
            ("10 rows of a key range", "SELECT id, name, city, n, x FROM t WHERE id BETWEEN 1000 AND 1009", 100),
            ("48 rows of a key range", "SELECT id, name, city, n, x FROM t WHERE id BETWEEN 1000 AND 1047", 100),
            (
                "50 groups of 3,000 rows",
                "SELECT city, COUNT(*), AVG(x), MAX(n) FROM t WHERE id < 3000 GROUP BY city",
                10,
            ),
            ("50 groups of 20,000 rows", "SELECT city, COUNT(*), AVG(x), MAX(n) FROM t GROUP BY city", 3),
        ):

            def run(sql: str = sql) -> None:
                with guarded.session() as session:
                    session.execute(sql, limits=Limits())

            found = in_turn(
                {
                    "bare": lambda sql=sql: bare.execute(sql, can_cache=False).fetchall(),  # type: ignore[misc]
                    "guarded": run,
                    "verdict": lambda sql=sql: scorer.exact(sql, sql + " "),  # type: ignore[misc]
                },
                rounds=15,
                number=number,
            )
            one, two, three = found["bare"], found["guarded"], found["verdict"]
            print(f"{title:<34}{one:>10.1f}{two:>12.1f}{three:>12.1f}{three / two:>10.2f}x{three / one:>8.2f}x")
    guarded.close()


def spider(data: Path) -> None:
    from sqlassay.agents.registry import build
    from sqlassay.agents.replay import ReplayAgent
    from sqlassay.datasets.spider import read

    imported = read(data)
    agent = build({"kind": "replay", "path": str(data / "predictions" / "dail_sql_gpt4.jsonl")}, base_dir=".")
    assert isinstance(agent, ReplayAgent)
    pairs = [
        (case.database or "", case.gold_sql[0], agent.read(agent.recorded(case_id=case.id)).candidate_sql or "")
        for case in imported.cases
    ]
    files = {name: url.removeprefix("sqlite:///") for name, url in imported.databases.items()}
    raw = {name: apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY) for name, path in files.items()}
    databases = {name: connect(url, name=name) for name, url in imported.databases.items()}
    scorers = {name: Scorer(url) for name, url in imported.databases.items()}

    def fetched(name: str, sql: str) -> None:
        try:
            raw[name].execute(sql, can_cache=False).fetchall()
        except apsw.Error:
            return

    def bare(*, golds: bool) -> None:
        for name, gold, candidate in pairs:
            if golds:
                fetched(name, gold)
            fetched(name, candidate)

    def guarded(*, golds: bool) -> None:
        for name, gold, candidate in pairs:
            with databases[name].session() as session:
                if golds:
                    session.execute(gold, limits=Limits())
                session.execute(candidate, limits=Limits())

    def verdicts() -> None:
        for name, gold, candidate in pairs:
            scorers[name].exact(gold, candidate)

    def both_run() -> None:
        for scorer in scorers.values():
            scorer.forget()
        verdicts()

    verdicts()
    both = in_turn(
        {"bare": lambda: bare(golds=True), "guarded": lambda: guarded(golds=True), "verdict": both_run},
        rounds=7,
        number=1,
    )
    kept = in_turn(
        {"bare": lambda: bare(golds=False), "guarded": lambda: guarded(golds=False), "verdict": verdicts},
        rounds=7,
        number=1,
    )
    heads = f"{'bare ms':>10}{'guarded ms':>12}{'verdict ms':>12}{'/ guarded':>11}{'/ bare':>9}"
    print(f"\n{f'Spider dev, {len(pairs)} pairs':<34}{heads}")
    for title, found in (("both sides run", both), ("the gold's result kept", kept)):
        one, two, three = (found[name] / 1000 for name in ("bare", "guarded", "verdict"))
        print(f"{title:<34}{one:>10.1f}{two:>12.1f}{three:>12.1f}{three / two:>10.2f}x{three / one:>8.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SQLASSAY_PUBLIC_DATA", "../shared/data")))
    data = parser.parse_args().data / "spider_dev"
    with tempfile.TemporaryDirectory() as folder:
        small(Path(folder))
    if data.is_dir():
        spider(data.resolve())


if __name__ == "__main__":
    main()
