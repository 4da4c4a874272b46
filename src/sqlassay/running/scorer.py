"""Many candidates on one database, one after the other, in this process: for training loops and sweeps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from sqlassay.databases import connect
from sqlassay.databases.addresses import absolute_url
from sqlassay.errors import UsageError
from sqlassay.metrics.score import score
from sqlassay.records.case import Case
from sqlassay.records.measurement import Measurement
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.value import Reading
from sqlassay.running.examine import Examiner, GoldCache
from sqlassay.running.handed import ShapeGiven, ToleranceGiven, case_of, turn_of

_KEPT = 10_000
"""Cases that are kept ready."""


class Scorer:
    """Scores candidates on one database over one warm connection, with the results of gold queries kept.

    The verdicts are those of `score_sql`; the difference is where the queries run. Here they run in this process,
    behind the same read-only guards, time-outs and caps, but nothing outlives a statement that takes the process down
    with it. Let a trainer's worker processes hold one each. Not thread-safe.

    >>> import apsw, tempfile
    >>> path = tempfile.mkdtemp() + "/shop.db"
    >>> shop = apsw.Connection(path)
    >>> _ = shop.execute("CREATE TABLE item (name TEXT, price INT); INSERT INTO item VALUES ('rope', 9), ('lamp', 5)")
    >>> with Scorer(f"sqlite:///{path}") as scorer:
    ...     gold = "SELECT name FROM item WHERE price > 6"
    ...     scorer.exact(gold, "SELECT name FROM item WHERE price = 9"), scorer.exact(gold, "SELECT name FROM item")
    (Ratio(hits=1, total=1), Ratio(hits=0, total=1))
    """

    def __init__(
        self,
        database: str,
        *,
        timeout: float = 30.0,
        settings: ScoreSettings = ScoreSettings(),
        limits: Limits = Limits(),
    ) -> None:
        """Open `database`, a URL. `timeout` is in seconds, for each statement.

        Raises:
            DatabaseUnavailable: it cannot be opened.
        """
        self._settings = settings
        self._database = connect(absolute_url(database, os.getcwd()), name="default")
        self._kept = GoldCache()
        self._examiner = Examiner(
            self._database, settings=settings, limits=replace(limits, timeout_s=timeout), cache=self._kept
        )
        self._cases: dict[Any, Case] = {}

    def exact(
        self,
        gold: str | Sequence[str],
        candidate: str | None,
        *,
        compare_on: ShapeGiven = "table",
        ordered: str = "auto",
        tolerance: ToleranceGiven = None,
        optional_columns: Sequence[str] = (),
    ) -> Reading:
        """The reading `execution.exact` alone: 1 or 0, or why there is none (specification section 5.1).

        Where the two results settle it, neither text is parsed, so that this costs little more than running the
        candidate. The arguments are those of `score_sql`.

        Raises:
            UsageError: an argument means nothing.
            DatabaseUnavailable: the database went away.
        """
        case = self._case(gold, compare_on, ordered, tolerance, optional_columns)
        return self._examiner.exact(case, turn_of(candidate))

    def measure(
        self,
        gold: str | Sequence[str],
        candidate: str | None,
        *,
        compare_on: ShapeGiven = "table",
        ordered: str = "auto",
        tolerance: ToleranceGiven = None,
        optional_columns: Sequence[str] = (),
    ) -> Measurement:
        """Every reading, the cause and the evidence, as `score_sql` gives them.

        Raises:
            UsageError: an argument means nothing.
            DatabaseUnavailable: the database went away.
        """
        case = self._case(gold, compare_on, ordered, tolerance, optional_columns)
        return score(self._examiner.examine(case, turn_of(candidate)), self._settings)

    def forget(self) -> None:
        """Drop the results of gold queries that were kept; the next call runs them again."""
        self._kept.clear()

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _case(
        self,
        gold: str | Sequence[str],
        compare_on: ShapeGiven,
        ordered: str,
        tolerance: ToleranceGiven,
        optional_columns: Sequence[str],
    ) -> Case:
        golds = (gold,) if isinstance(gold, str) else tuple(gold)
        if not golds:
            raise UsageError("a score needs at least one gold query")
        key = (golds, repr(compare_on), ordered, repr(tolerance), tuple(optional_columns))
        found = self._cases.get(key)
        if found is None:
            found = case_of(
                gold_sql=list(golds),
                compare_on=compare_on,
                ordered=ordered,
                tolerance=tolerance,
                optional_columns=list(optional_columns),
            )
            if len(self._cases) >= _KEPT:
                self._cases.clear()
            self._cases[key] = found
        return found
