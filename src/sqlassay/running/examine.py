"""One case and one turn, carried out on the database: what came of the gold SQL and of the agent's SQL?

Gold first, then the candidate, then at most one auxiliary query per gold for hidden sort keys, each once, all in one
read snapshot (specification section 4). A statement that is no single read is refused without being run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlassay.databases.base import Database, Session
from sqlassay.metrics.plain import plain_exact
from sqlassay.metrics.score import exact
from sqlassay.records.case import Case, Ordered
from sqlassay.records.execution import ErrorKind, Execution, NotRun, Rows, SqlError
from sqlassay.records.opinion import Opinion
from sqlassay.records.query import Comprehension, KeySource, StatementKind, Understanding
from sqlassay.records.relation import Schema
from sqlassay.records.settings import Limits, Rule, ScorerVersion, ScoreSettings
from sqlassay.records.trial import Direct, Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Reading, verdict
from sqlassay.running.accounts import reconcile
from sqlassay.sql.extract import statement_in
from sqlassay.sql.parse import LONGEST_TEXT
from sqlassay.sql.safety import inspect
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand
from sqlassay.tables.others import spider_text

Announce = Callable[[str, float], None]
"""Called with the name of a phase (`gold 0`, `candidate`, `auxiliary 0`) and its limit in seconds before it begins."""

READING_LIMIT_S = 120.0
"""For what happens between statements: reading texts is not on the clock of the statement before."""

_CACHED_CELLS = 2_000_000
"""All cells that the gold cache of one worker may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is known of a trial besides case and turn.

    `settled` holds sides that are not to be run, by phase name, with what came of them: a side that was killed, or
    one that a run folder keeps.
    """

    settled: Mapping[str, Execution] = field(default_factory=dict)
    direct: Direct | None = None
    hidden_sql: tuple[str, ...] = ()
    hidden_ids: tuple[str, ...] = ()
    opinions: tuple[Opinion, ...] = ()


class GoldCache:
    """Results of gold queries on data that did not change, so that repeats and other wordings do not run them again.

    The key holds the scorer's version, the gold text, the stamp of the data and the limits; the oldest entries go when
    more than `cells` cells are held.
    """

    def __init__(self, *, cells: int = _CACHED_CELLS) -> None:
        self._cells = cells
        self._held = 0
        self._entries: OrderedDict[tuple[object, ...], Execution] = OrderedDict()

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._held = 0

    def get(self, key: tuple[object, ...]) -> Execution | None:
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, key: tuple[object, ...], execution: Execution) -> None:
        size = _cells_of(execution)
        if not isinstance(execution, Rows) or size > self._cells // 4:
            return
        self._entries[key] = execution
        self._held += size
        while self._held > self._cells:
            self._held -= _cells_of(self._entries.popitem(last=False)[1])


def _cells_of(execution: Execution) -> int:
    return execution.relation.height * execution.relation.width + 16 if isinstance(execution, Rows) else 0


def _silent(phase: str, limit_s: float) -> None:
    """Nobody listens."""


class Examiner:
    """Carries out trials on one database, one after the other."""

    def __init__(
        self,
        database: Database,
        *,
        settings: ScoreSettings,
        limits: Limits,
        announce: Announce = _silent,
        cache: GoldCache | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._limits = limits
        self._announce = announce
        self._cache = cache
        self._index: SchemaIndex | None = None
        self._schema: Schema | None = None
        self._schema_stamp: str | None = None

    def examine(self, case: Case, turn: Turn, given: Given = Given()) -> Trial:
        """Run both sides and say what they read.

        Raises:
            DatabaseUnavailable: the database went away; nothing is known about either side.
        """
        self._announce("reading", READING_LIMIT_S)
        trial = Trial(
            case=case,
            turn=turn,
            schema=self._look_at_schema(),
            direct=given.direct,
            hidden_sql=given.hidden_sql,
            hidden_ids=given.hidden_ids,
            opinions=given.opinions,
        )
        with self._database.session() as session:
            return self._carried_out(trial, session, given)

    def exact(self, case: Case, turn: Turn) -> Reading:
        """`execution.exact` alone: what `examine` and then `score` give, without reading texts where the two results
        settle it. Results of gold queries are kept as the cache says.

        Raises:
            DatabaseUnavailable: the database went away; nothing is known about either side.
        """
        if len(case.gold_sql) != 1 or self._cache is None:
            return exact(self.examine(case, turn), self._settings)
        with self._database.session() as session:
            stamp = session.stamp()
            if stamp is not None and stamp == self._schema_stamp:
                return self._exact(session, stamp, case, turn)
        schema = self._look_at_schema()
        with self._database.session() as session:
            if session.stamp() == stamp:
                self._schema_stamp = stamp
            trial = self._carried_out(Trial(case=case, turn=turn, schema=schema), session, Given())
        return exact(trial, self._settings)

    def _exact(self, session: Session, stamp: str, case: Case, turn: Turn) -> Reading:
        """Within one snapshot, whose schema is the one that was looked at last."""
        ran: dict[str, Execution] = {}
        written = None if turn.candidate_sql is None else statement_in(turn.candidate_sql)
        if written is not None and max(len(written), len(case.gold_sql[0])) <= LONGEST_TEXT:
            gold, candidate = inspect(case.gold_sql[0], self._dialect), inspect(written, self._dialect)
            if gold.allowed and candidate.allowed:
                reference = ran["gold 0"] = self._cached(session, "gold 0", gold.text, stamp)
                answer = ran["candidate"] = self._run(session, "candidate", candidate.text)
                plain = plain_exact(case, (gold.text, candidate.text), (reference, answer), self._settings)
                if plain is not None:
                    return verdict(plain)
        trial = Trial(case=case, turn=turn, schema=self._schema)
        return exact(self._carried_out(trial, session, Given(settled=ran)), self._settings)

    def _look_at_schema(self) -> Schema:
        schema = self._database.schema()
        if self._index is None or schema is not self._schema:
            self._index, self._schema = index(schema), schema
        return schema

    def _carried_out(self, trial: Trial, session: Session, given: Given) -> Trial:
        case, stamp = trial.case, self._stamp(session)
        golds = [self._gold(session, i, sql, given, stamp) for i, sql in enumerate(case.gold_sql)]
        candidate = self._candidate(session, trial.turn, given)
        if isinstance(candidate.execution, Rows):
            golds = [
                replace(side, auxiliary=self._auxiliary(session, i, side, candidate, case, given, stamp))
                for i, side in enumerate(golds)
            ]
        others = self._others(session, golds, candidate, given, stamp)
        return replace(trial, golds=tuple(golds), candidate=candidate, others=others)

    def _others(
        self, session: Session, golds: list[Side], candidate: Side, given: Given, stamp: str | None
    ) -> Mapping[str, tuple[Execution, Execution]]:
        """Both sides as Spider's own script would run them, where its texts differ from those that ran."""
        if Rule.SPIDER not in self._settings.exact_as or len(golds) != 1 or candidate.sql is None:
            return {}
        if max(len(golds[0].sql or ""), len(candidate.sql)) > LONGEST_TEXT:
            return {}
        found = {}
        for variant, keep_distinct in (("spider", False), ("spider_keep_distinct", True)):
            texts = [spider_text(side.sql or "", keep_distinct=keep_distinct) for side in (golds[0], candidate)]
            if texts == [golds[0].sql, candidate.sql]:
                continue
            found[variant] = (
                self._variant(session, f"auxiliary {variant} gold", texts[0], golds[0], given, stamp),
                self._variant(session, f"auxiliary {variant} candidate", texts[1], candidate, given, None),
            )
        return found

    def _variant(
        self, session: Session, phase: str, text: str, side: Side, given: Given, stamp: str | None
    ) -> Execution:
        if text == side.sql:
            return side.execution
        if phase in given.settled:
            return given.settled[phase]
        statement = inspect(text, self._dialect)
        if not statement.allowed:
            return _refused(statement.kind, statement.why)
        return self._cached(session, phase, statement.text, stamp)

    def _stamp(self, session: Session) -> str | None:
        return None if self._cache is None else session.stamp()

    def _gold(self, session: Session, position: int, sql: str, given: Given, stamp: str | None) -> Side:
        phase = f"gold {position}"
        if len(sql) > LONGEST_TEXT:
            return self._side(sql, _too_long(sql))
        statement = inspect(sql, self._dialect)
        if phase in given.settled:
            return self._side(statement.text, given.settled[phase])
        if not statement.allowed:
            return self._side(sql, _refused(statement.kind, statement.why))
        execution = self._cached(session, phase, statement.text, stamp)
        return self._side(statement.text, execution)

    def _candidate(self, session: Session, turn: Turn, given: Given) -> Side:
        written = None if turn.candidate_sql is None else statement_in(turn.candidate_sql)
        if written is None:
            return Side(sql=None)
        if len(written) > LONGEST_TEXT:
            return self._side(written, _too_long(written))
        statement = inspect(written, self._dialect)
        if "candidate" in given.settled:
            return self._side(statement.text, given.settled["candidate"], agent_adds=self._settings.agent_adds)
        if statement.kind is StatementKind.EMPTY:
            return Side(sql=None)
        if not statement.allowed:
            return self._side(written, _refused(statement.kind, statement.why), agent_adds=self._settings.agent_adds)
        return self._side(
            statement.text, self._run(session, "candidate", statement.text), agent_adds=self._settings.agent_adds
        )

    def _auxiliary(
        self,
        session: Session,
        position: int,
        gold: Side,
        candidate: Side,
        case: Case,
        given: Given,
        stamp: str | None,
    ) -> Execution | None:
        phase = f"auxiliary {position}"
        if phase in given.settled:
            return given.settled[phase]
        if not _keys_matter(gold, candidate, case):
            return None
        assert isinstance(gold.comprehension, Understanding)
        hidden = gold.comprehension.order_plan.hidden_sql
        return None if hidden is None else self._cached(session, phase, hidden, stamp)

    def _cached(self, session: Session, phase: str, sql: str, stamp: str | None) -> Execution:
        key = (ScorerVersion, sql, stamp, self._limits)
        if stamp is not None and self._cache is not None:
            found = self._cache.get(key)
            if found is not None:
                return found
        execution = self._run(session, phase, sql)
        if stamp is not None and self._cache is not None:
            self._cache.put(key, execution)
        return execution

    def _run(self, session: Session, phase: str, sql: str) -> Execution:
        self._announce(phase, self._limits.timeout_s)
        try:
            execution = session.execute(sql, limits=self._limits)
        except MemoryError:
            execution = SqlError(kind=ErrorKind.TOO_LARGE, message="the result does not fit into the worker's memory")
        finally:
            self._announce("reading", READING_LIMIT_S)
        if isinstance(execution, Rows) and execution.account is None:
            execution = replace(execution, account=session.account(sql))
        return execution

    def _side(self, sql: str, execution: Execution, *, agent_adds: tuple[Literal["pagination"], ...] = ()) -> Side:
        return read_side(sql, execution, self._index, agent_adds=agent_adds)

    @property
    def _dialect(self) -> str:
        return self._database.capabilities.dialect


def read_side(
    sql: str, execution: Execution, schema: SchemaIndex | None, *, agent_adds: tuple[Literal["pagination"], ...] = ()
) -> Side:
    """A side with what its text says: the engine's account first, the parser second.

    `agent_adds` is for the candidate alone: nothing is cleaned off a gold (specification section 5.4).
    """
    understood: Comprehension | None = None
    if schema is not None and not isinstance(execution, NotRun):
        understood = understand(sql, schema, agent_adds=agent_adds)
    account = execution.account if isinstance(execution, Rows) else None
    comprehension, disagreements = reconcile(understood, account)
    return Side(sql=sql, execution=execution, comprehension=comprehension, disagreements=disagreements)


def _refused(kind: StatementKind, why: str | None) -> Execution:
    return SqlError(kind=ErrorKind.FORBIDDEN, message=why or f"a {kind.value} statement is not run")


def _too_long(sql: str) -> Execution:
    """Such a text is neither looked through nor sent: its length alone would take a minute of every reader."""
    return SqlError(
        kind=ErrorKind.TOO_LARGE,
        message=f"the statement holds {len(sql):,} characters; at most {LONGEST_TEXT:,} are run",
    )


def _keys_matter(gold: Side, candidate: Side, case: Case) -> bool:
    """Whether the gold's sort keys are needed: to know its ties, or to see a tie across its cut.

    They are fetched also where the rows happen to be equal in order: a tie at the limit is a condition of the case.
    """
    understood = gold.comprehension
    if not isinstance(gold.execution, Rows) or not isinstance(candidate.execution, Rows):
        return False
    if not isinstance(understood, Understanding):
        return False
    if understood.ordering.limited:
        return understood.order_plan.source in (KeySource.HIDDEN, KeySource.OUTPUT)
    ordered = case.ordered is not Ordered.NO and case.compare_on.kind in ("table", "ranking")
    return ordered and understood.order_plan.source is KeySource.HIDDEN
