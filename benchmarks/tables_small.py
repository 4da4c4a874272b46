"""Small pairs: how much dearer than `set(a) == set(b)` is a verdict that counts duplicates, types and NULL? And what
does it add to running the candidate?

    python benchmarks/tables_small.py

Ratios of CPU time in one process, the gold's facts cached as in a run; every candidate's cells are objects of its own,
as from another fetch. The peer is the logic of Spider's test suite.
"""

from __future__ import annotations

import pickle
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlassay.databases.connect import connect
from sqlassay.metrics import execution, output
from sqlassay.metrics.base import Family
from sqlassay.records.case import Case, Status
from sqlassay.records.execution import Rows
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import CandidateSource, Turn
from sqlassay.tables.exact import compare_tables
from sqlassay.tables.others import spider_equal

Row = tuple[Any, ...]

_NAMES = "abcde"
_SETTINGS = ScoreSettings()


def cost(action: Callable[[], Any], *, repeat: int = 9, number: int = 60) -> float:
    """Microseconds of CPU for one call, the best of several rounds."""
    return costs([action], repeat=repeat, number=number)[0]


def costs(actions: Iterable[Callable[[], Any]], *, repeat: int = 9, number: int = 60) -> list[float]:
    """The same for several, in turn, so that a busy machine is as busy for one as for the other."""
    actions = list(actions)
    best = [float("inf")] * len(actions)
    for _ in range(repeat):
        for place, action in enumerate(actions):
            start = time.process_time()
            for _ in range(number):
                action()
            best[place] = min(best[place], (time.process_time() - start) / number)
    return [seconds * 1e6 for seconds in best]


def rows(chance: random.Random, height: int) -> list[Row]:
    return [
        (
            chance.randint(0, height // 2),
            f"name{chance.randint(0, 200)}",
            round(chance.random() * 100, 2),
            f"2024-01-{chance.randint(10, 28)}",
            chance.choice([None, 1, 2, 3]),
        )
        for _ in range(height)
    ]


def fetched(cells: list[Row]) -> list[Row]:
    """The same rows as objects of their own."""
    again: list[Row] = pickle.loads(pickle.dumps(cells))
    return again


def relation(cells: list[Row]) -> Relation:
    return Relation(columns=tuple(Column(name=name, origin=f"t.{name}") for name in _NAMES), rows=cells)


def changed(cells: list[Row]) -> list[Row]:
    """Every twentieth row with another number."""
    return [(*row[:2], row[2] + (5.5 if n % 20 == 0 else 0), *row[3:]) for n, row in enumerate(cells)]


def comparison(height: int, chance: random.Random, *, repeated: int) -> str:
    """One line of the first table: the comparison only, with `repeated` rows that occur twice."""
    left = rows(chance, height - repeated)
    left += left[:repeated]
    same, shuffled = fetched(left), fetched(chance.sample(left, height))
    gold, in_order, other = relation(left), relation(same), relation(shuffled)
    apart = changed(shuffled)
    number = max(3, 6000 // height)
    floor, mixed, one, two = costs(
        (
            lambda: set(left) == set(same),
            lambda: set(left) == set(shuffled),
            lambda: compare_tables(gold, in_order),
            lambda: compare_tables(gold, other),
        ),
        repeat=25,
        number=number,
    )
    suite = cost(lambda: spider_equal(left, shuffled, order_matters=False), number=max(3, number // 20))
    wrong = cost(lambda: compare_tables(gold, relation(apart)), number=max(3, number // 8))
    return (
        f"{height:5} {repeated:9} {floor:8.1f} {one / floor:9.2f} x {two / mixed:8.2f} x {suite / two:12.0f} x"
        f" {wrong:14.0f}"
    )


def trial(gold: Side, cells: list[Row]) -> Trial:
    return Trial(
        case=Case(id="c", question="", gold_sql=("SELECT a, b, c, d, e FROM t",)),
        turn=Turn(status=Status.SUCCESS, candidate_sql="SELECT ...", candidate_source=CandidateSource.DECLARED),
        golds=(gold,),
        candidate=Side(sql="SELECT a, b, c, d, e FROM t", execution=Rows(relation=relation(cells))),
    )


def read(family: Family[Any], trial: Trial) -> None:
    """Everything that a measurement takes from a family."""
    examined = family.examine(trial, _SETTINGS)
    family.readings(examined)
    family.evidence(examined)
    set(family.ceilings(examined))


def families(height: int, chance: random.Random) -> str:
    """One line of the second table: reading the two families that compare results, in microseconds, gold cached."""
    left = rows(chance, height)
    gold = Side(sql="SELECT a, b, c, d, e FROM t", execution=Rows(relation=relation(left)))
    shuffled = chance.sample(left, height)
    line = f"{height:5}"
    for cells in (left, shuffled, changed(shuffled)):
        best = [float("inf"), float("inf")]
        for _ in range(9):
            trials = [trial(gold, fetched(cells)) for _ in range(100)]
            for place, family in enumerate((execution.FAMILY, output.FAMILY)):
                spent = 0.0
                for each in trials:
                    read(execution.FAMILY, each) if place else None
                    start = time.process_time()
                    read(family, each)
                    spent += time.process_time() - start
                best[place] = min(best[place], spent / len(trials) * 1e6)
        line += f" {best[0]:14.0f} {best[1]:7.0f}"
    return line


QUERIES = {
    "10 rows read plainly": "SELECT id, customer, amount, day FROM orders WHERE id BETWEEN 11 AND 20",
    "48 rows read plainly": "SELECT id, customer, amount, day FROM orders WHERE customer = 'customer 7' OR id < 39",
    "200 groups of 2,000 rows": "SELECT customer, COUNT(*), SUM(amount), MAX(day) FROM orders GROUP BY customer",
}


def end_to_end(folder: Path) -> Iterable[str]:
    """The lines of the third table: SQLite through the engine's guards, with and without the verdict."""
    path = folder / "orders.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount REAL, day TEXT)")
        made = [(n, f"customer {n % 200}", n % 997 / 8, f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}") for n in range(2000)]
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", made)
    connection.close()
    database, limits = connect(f"sqlite:///{path}", name="orders"), Limits()
    bare = sqlite3.connect(path)
    with database.session() as session:

        def run(text: str) -> Relation:
            ran = session.execute(text, limits=limits)
            assert isinstance(ran, Rows)
            return ran.relation

        for name, sql in QUERIES.items():
            plain = cost(partial(_fetch, bare, sql), number=100)
            texts = (sql, f"SELECT * FROM ({sql}) ORDER BY 4, 1 DESC", sql.replace("amount", "amount * 1.5"))
            yield f"{name:26} {plain:9.0f} {_added(run, sql, texts)}"
    bare.close()
    database.close()


def _fetch(connection: sqlite3.Connection, sql: str) -> list[Row]:
    return connection.execute(sql).fetchall()


def _added(run: Callable[[str], Relation], sql: str, texts: Sequence[str]) -> str:
    """What a verdict adds to running each of the texts: the gold itself, another order, a wrong answer."""
    gold = run(sql)

    def judged(text: str) -> bool:
        return compare_tables(gold, run(text)).exact

    assert [judged(text) for text in texts] == [True, True, False]
    found = [costs((partial(run, text), partial(judged, text)), repeat=25, number=100) for text in texts]
    shares = "".join(f" {100 * (whole / alone - 1):12.0f} %" for alone, whole in found)
    return f"{found[0][0]:12.0f} {shares} {found[0][1] - found[0][0]:12.1f}"


def main() -> None:
    chance = random.Random(1)
    print(" rows  repeated   set us   in order    shuffled   test suite / ours   a wrong one us")
    for height in (10, 20, 50, 100, 1000):
        for repeated in (0, height // 5):
            print(comparison(height, chance, repeated=repeated))
    print("\nreading a family, us:   equal            shuffled               wrong")
    print(" rows      execution  output      execution  output      execution  output")
    for height in (10, 50):
        print(families(height, chance))
    print("\nSQLite                       bare us  guarded us   + in order  + other order      + wrong   verdict us")
    with tempfile.TemporaryDirectory() as folder:
        for line in end_to_end(Path(folder)):
            print(line)


if __name__ == "__main__":
    main()
