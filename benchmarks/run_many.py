"""Does a long run keep its memory? Many recorded cases on one small database, with the peak of the main process.

python benchmarks/run_many.py [cases]
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from sqlassay.running.configure import from_mapping
from sqlassay.running.events import Event, TrialEnded
from sqlassay.running.run import run


def resident_mb() -> float:
    """What the main process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", type=int, default=10_000)
    cases = parser.parse_args().cases
    base = Path(tempfile.mkdtemp(prefix="sqlassay-bench-"))
    with closing(sqlite3.connect(base / "t.db")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"row {i}") for i in range(500)])
        connection.commit()
    lines = [
        {"id": f"c{i}", "question": "?", "gold_sql": f"SELECT a, b FROM t WHERE a < {i % 400}"} for i in range(cases)
    ]
    (base / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    recorded = [{"id": line["id"], "sql": line["gold_sql"]} for line in lines]
    (base / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in recorded), encoding="utf-8")
    config = from_mapping(
        {"cases": "cases.jsonl", "database": "sqlite:///t.db", "agent": {"kind": "replay", "path": "recorded.jsonl"}},
        base_dir=str(base),
    )
    seen: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.done % max(1, cases // 10) == 0:
            seen.append(resident_mb())

    started = time.perf_counter()
    result = run(config, on_event=listen)
    seconds = time.perf_counter() - started
    print(f"{result.scored} cases in {seconds:.1f} s, {result.scored / seconds:.0f} a second")
    print("resident MB at each tenth: " + " ".join(f"{mb:.0f}" for mb in seen))
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
