"""The scorer as a function: two tables, or two queries on a database, in; a measurement out.

`score_sql` runs its queries in a warm worker process that is kept for the next call, so that a hostile query dies
with the worker and not with the caller.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlassay.databases.addresses import absolute_url
from sqlassay.errors import UsageError
from sqlassay.metrics.score import score
from sqlassay.records.execution import Rows
from sqlassay.records.measurement import Measurement
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.running.handed import ShapeGiven, ToleranceGiven, case_of, rules_named, turn_of
from sqlassay.running.jobs import Address, Job
from sqlassay.running.worker import Bench
from sqlassay.tables.handed import relation_of

_IDLE = 4
"""Warm workers kept for the next call."""


def compare(
    reference: Any,
    candidate: Any,
    *,
    ordered: bool = False,
    shape: ShapeGiven = "table",
    tolerance: ToleranceGiven = None,
    optional_columns: Sequence[str] = (),
    settings: ScoreSettings = ScoreSettings(),
) -> Measurement:
    """Compare two tables as the results of a gold query and an agent's query would be.

    A table is Arrow, pandas, polars or `{"columns": [...], "rows": [...]}`. `shape` and `tolerance` are written as
    in a case. `ordered` makes the order of the rows count.

    Raises:
        UsageError: a side is no table, or `shape` or `tolerance` means nothing.

    >>> left = {"columns": ["n"], "rows": [[1], [2]]}
    >>> compare(left, {"columns": ["n"], "rows": [[2], [1]]}).value("execution.exact")
    1.0
    """
    case = case_of(
        gold_sql=["reference"],
        compare_on=shape,
        tolerance=tolerance,
        ordered="yes" if ordered else "no",
        optional_columns=list(optional_columns),
    )
    sides = [relation_of(table, what=what) for table, what in ((reference, "reference"), (candidate, "candidate"))]
    trial = Trial(
        case=case,
        turn=turn_of("candidate"),
        golds=(Side(sql="reference", execution=Rows(relation=sides[0])),),
        candidate=Side(sql="candidate", execution=Rows(relation=sides[1])),
    )
    return score(trial, settings)


def score_sql(
    gold: str | Sequence[str],
    candidate: str | None,
    *,
    database: str,
    timeout: float = 30.0,
    exact_as: Sequence[str] = (),
    compare_on: ShapeGiven = "table",
    ordered: str = "auto",
    tolerance: ToleranceGiven = None,
    optional_columns: Sequence[str] = (),
    columns: str | None = None,
    ties: str | None = None,
    question: str = "",
    settings: ScoreSettings = ScoreSettings(),
    limits: Limits = Limits(),
) -> Measurement:
    """Run the gold SQL and the candidate SQL on one snapshot of `database` and measure the candidate.

    `gold` is one accepted query or several. Fences and prose around the candidate are taken off; text without SQL is
    no query. `database` is a URL (`sqlite:///films.db`). `timeout` is in seconds, for each statement.

    Raises:
        UsageError: a setting means nothing.
        DatabaseUnavailable: the database cannot be opened. What a query does wrong is never raised.
    """
    golds = [gold] if isinstance(gold, str) else list(gold)
    if not golds:
        raise UsageError("score_sql needs at least one gold query")
    case = case_of(
        question=question,
        gold_sql=golds,
        compare_on=compare_on,
        ordered=ordered,
        tolerance=tolerance,
        optional_columns=list(optional_columns),
    )
    chosen: dict[str, Any] = {"exact_as": tuple(dict.fromkeys((*settings.exact_as, *rules_named(exact_as))))}
    chosen |= {name: value for name, value in (("columns", columns), ("ties", ties)) if value is not None}
    job = Job(
        case=case,
        turn=turn_of(candidate),
        address=Address(name="default", url=absolute_url(database, os.getcwd())),
        settings=replace(settings, **chosen),
        limits=replace(limits, timeout_s=timeout),
        whole=True,
    )
    bench = _BENCHES.take()
    try:
        outcome = bench.carry_out(job)
    finally:
        _BENCHES.give_back(bench)
    assert outcome.measurement is not None
    return outcome.measurement


def close() -> None:
    """End the workers that `score_sql` keeps warm; the next call starts a new one."""
    _BENCHES.close()


class _Benches:
    """Warm workers that are free: a call takes one, or starts one, and gives it back."""

    def __init__(self) -> None:
        self._free: list[Bench] = []
        self._lock = threading.Lock()

    def take(self) -> Bench:
        with self._lock:
            return self._free.pop() if self._free else Bench(grace_s=Limits().grace_s)

    def give_back(self, bench: Bench) -> None:
        with self._lock:
            if len(self._free) < _IDLE:
                self._free.append(bench)
                return
        bench.close()

    def close(self) -> None:
        with self._lock:
            benches, self._free = self._free, []
        for bench in benches:
            bench.close()


_BENCHES = _Benches()
atexit.register(close)
