"""One trial on a fake database: what runs, in which order, how often, and what is never run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest

from sqlassay.databases.base import Capabilities
from sqlassay.records.case import Case, Ordered, ScalarShape, Shape, TableShape
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.query import Understanding, Unresolved
from sqlassay.records.relation import Column, Relation, Schema, TableSchema
from sqlassay.records.settings import Limits, Rule, ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.turn import Turn
from sqlassay.running.accounts import reconcile
from sqlassay.running.examine import Examiner, Given, GoldCache

SCHEMA = Schema(dialect="sqlite", tables=(TableSchema(name="t", columns=("a", "b"), types=("INT", "INT")),))


class FakeSession:
    def __init__(self, database: FakeDatabase) -> None:
        self._database = database

    def execute(self, sql: str, *, limits: Limits) -> Execution:
        assert limits.timeout_s == 3
        self._database.ran.append(sql)
        answer = self._database.answers.get(sql)
        if isinstance(answer, BaseException):
            raise answer
        return answer if answer is not None else rows((1,), (2,))

    def stamp(self) -> str:
        return self._database.stamp

    def account(self, sql: str) -> Account | None:
        assert sql in self._database.ran, "asked about what ran"
        return Account(tables=("t",), source="fake")


class FakeDatabase:
    name, url = "fake", "fake://"
    capabilities = Capabilities(
        dialect="sqlite", snapshot=True, engine_timeout=True, read_only=True, accounts=True, origins=True
    )

    def __init__(self, **answers: Execution | BaseException) -> None:
        self.answers: Mapping[str, Execution | BaseException] = {
            key.replace("__", " "): value for key, value in answers.items()
        }
        self.ran: list[str] = []
        self.sessions = 0
        self.stamp = "one"

    def schema(self) -> Schema:
        return SCHEMA

    def fingerprint(self) -> str:
        return self.stamp

    def warnings(self) -> tuple[str, ...]:
        return ()

    @contextmanager
    def session(self) -> Iterator[FakeSession]:
        self.sessions += 1
        yield FakeSession(self)

    def close(self) -> None:
        """Nothing to close."""


def rows(*values: tuple[object, ...]) -> Rows:
    width = len(values[0]) if values else 1
    return Rows(relation=Relation(columns=(Column(name="a"),) * width, rows=list(values)))


def examine(
    database: FakeDatabase,
    candidate: str | None,
    *gold: str,
    given: Given = Given(),
    settings: ScoreSettings = ScoreSettings(),
    cache: GoldCache | None = None,
    shape: Shape = TableShape(),
    ordered: Ordered = Ordered.AUTO,
    phases: list[str] | None = None,
) -> Trial:
    said = phases if phases is not None else []
    examiner = Examiner(
        database,
        settings=settings,
        limits=Limits(timeout_s=3),
        announce=lambda phase, limit_s: said.append(f"{phase} {limit_s:g}"),
        cache=cache,
    )
    case = Case(id="a", question="?", gold_sql=gold, compare_on=shape, ordered=ordered)
    return examiner.examine(case, Turn(candidate_sql=candidate), given)


def test_gold_first_each_once_in_one_snapshot() -> None:
    database, phases = FakeDatabase(), list[str]()
    trial = examine(database, "SELECT a FROM t", "SELECT b FROM t", "SELECT 1", phases=phases)
    assert database.ran == ["SELECT b FROM t", "SELECT 1", "SELECT a FROM t"]
    assert database.sessions == 1
    reading = "reading 120"
    assert phases == [reading, "gold 0 3", reading, "gold 1 3", reading, "candidate 3", reading]
    assert [side.sql for side in trial.golds] == ["SELECT b FROM t", "SELECT 1"]
    assert isinstance(trial.candidate.comprehension, Understanding)
    assert trial.candidate.comprehension.origins == ("t.a",)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("```sql\nSELECT a FROM t\n```", "SELECT a FROM t"),
        ("Here you go:\n```\nSELECT a FROM t;\n```\nEnjoy!", "SELECT a FROM t"),
        ("SELECT a FROM t; -- all of it", "SELECT a FROM t"),
        ("SELECT 'a;b' FROM t;;", "SELECT 'a;b' FROM t"),
    ],
)
def test_exactly_the_statement_is_sent(written: str, sent: str) -> None:
    database = FakeDatabase()
    assert examine(database, written, "SELECT 1").candidate.sql == sent
    assert database.ran == ["SELECT 1", sent]


@pytest.mark.parametrize(
    "hostile",
    [
        "DELETE FROM t",
        "SELECT 1; DROP TABLE t",
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
        "ATTACH 'x.db' AS x",
        "PRAGMA query_only = 0",
        "SELECT load_extension('x')",
    ],
)
def test_what_is_no_single_read_is_refused_and_not_run(hostile: str) -> None:
    database = FakeDatabase()
    trial = examine(database, hostile, "SELECT 1")
    assert isinstance(trial.candidate.execution, SqlError)
    assert trial.candidate.execution.kind is ErrorKind.FORBIDDEN
    assert database.ran == ["SELECT 1"]
    refused = examine(database, "SELECT 1", hostile).golds[0].execution
    assert isinstance(refused, SqlError)
    assert refused.kind is ErrorKind.FORBIDDEN


@pytest.mark.parametrize("text", [None, "", "  ", "I cannot answer that.", "-- nothing"])
def test_text_without_sql_is_no_query(text: str | None) -> None:
    trial = examine(FakeDatabase(), text, "SELECT 1")
    assert trial.candidate.sql is None
    assert trial.candidate.execution == NotRun()


def test_settled_sides_are_not_run_again() -> None:
    database = FakeDatabase()
    killed = TimedOut(limit_s=3, killed=True)
    trial = examine(database, "SELECT a FROM t", "SELECT 1", given=Given(settled={"candidate": killed}))
    assert trial.candidate.execution is killed
    assert database.ran == ["SELECT 1"]


def test_hidden_keys_are_fetched_only_where_order_and_rows_are_there() -> None:
    gold = "SELECT a FROM t ORDER BY b"
    database = FakeDatabase()
    trial = examine(database, "SELECT a FROM t", gold)
    assert trial.golds[0].auxiliary is not None
    assert len(database.ran) == 3
    assert isinstance(trial.golds[0].comprehension, Understanding)
    assert database.ran[2] == trial.golds[0].comprehension.order_plan.hidden_sql
    for candidate, options in (
        (None, {}),
        ("SELECT nothing", {"failing": True}),
        ("SELECT a FROM t", {"ordered": Ordered.NO}),
        ("SELECT a FROM t", {"shape": ScalarShape()}),
    ):
        failing = options.pop("failing", False)
        answers = {"SELECT__nothing": SqlError(kind=ErrorKind.UNKNOWN_COLUMN, message="")} if failing else {}
        database = FakeDatabase(**answers)
        assert examine(database, candidate, gold, **options).golds[0].auxiliary is None
        assert len(database.ran) == 2 - (candidate is None)


def test_a_tie_at_the_limit_is_looked_for_whatever_the_case_says() -> None:
    database = FakeDatabase()
    trial = examine(database, "SELECT a FROM t", "SELECT a FROM t ORDER BY b LIMIT 2", ordered=Ordered.NO)
    assert trial.golds[0].auxiliary is not None
    assert "LIMIT" not in database.ran[-1]


def test_gold_results_are_reused_until_the_data_changes() -> None:
    cache, database = GoldCache(), FakeDatabase()
    for _ in range(3):
        examine(database, "SELECT a FROM t", "SELECT 1", cache=cache)
    assert database.ran.count("SELECT 1") == 1
    assert database.ran.count("SELECT a FROM t") == 3
    database.stamp = "two"
    examine(database, "SELECT a FROM t", "SELECT 1", cache=cache)
    assert database.ran.count("SELECT 1") == 2


def test_a_failed_gold_is_tried_again() -> None:
    cache = GoldCache()
    database = FakeDatabase(SELECT__1=TimedOut(limit_s=3))
    examine(database, None, "SELECT 1", cache=cache)
    examine(database, None, "SELECT 1", cache=cache)
    assert database.ran == ["SELECT 1"] * 2


def test_the_cache_forgets_the_oldest() -> None:
    cache = GoldCache(cells=1000)
    wide = rows(*[(i,) for i in range(200)])
    for number in range(8):
        cache.put((number,), wide)
    assert cache.get((7,)) is wide
    assert cache.get((0,)) is None
    cache.put(("huge",), rows(*[(i,) for i in range(600)]))
    assert cache.get(("huge",)) is None


def test_want_of_memory_is_the_statement_s_error() -> None:
    trial = examine(FakeDatabase(SELECT__2=MemoryError()), "SELECT 2", "SELECT 1")
    assert isinstance(trial.candidate.execution, SqlError)
    assert trial.candidate.execution.kind is ErrorKind.TOO_LARGE


def test_spider_s_own_texts_run_only_when_asked_and_different() -> None:
    settings = ScoreSettings(exact_as=(Rule.SPIDER,))
    database = FakeDatabase()
    assert examine(database, "SELECT a FROM t", "SELECT 1", settings=settings).others == {}
    trial = examine(database, "SELECT DISTINCT a FROM t", "SELECT 1", settings=settings)
    assert set(trial.others) == {"spider"}
    assert trial.others["spider"][0] is trial.golds[0].execution
    assert database.ran[-1] == "SELECT  a FROM t"
    assert examine(database, "SELECT DISTINCT a FROM t", "SELECT 1").others == {}


def test_the_engine_comes_first_and_disagreement_is_said() -> None:
    understood = examine(FakeDatabase(), None, "SELECT a FROM t").golds[0].comprehension
    assert isinstance(understood, Understanding)
    same = Account(tables=("t",), columns_read=("t.a",), origins=("t.a",))
    assert reconcile(understood, same) == (understood, ())
    assert reconcile(understood, Account()) == (understood, ())
    other = Account(tables=("t", "v"), base_tables=("t", "w"), columns_read=("t.a", "t.b"), origins=("t.b",))
    merged, said = reconcile(understood, other)
    assert isinstance(merged, Understanding)
    assert (merged.tables, merged.columns_read, merged.origins) == (("t", "v"), ("t.a", "t.b"), ("t.b",))
    assert len(said) == 4
    blind = replace(same, origins=(None,))
    assert reconcile(understood, blind) == (understood, ())
    assert reconcile(None, same) == (None, ())


@pytest.mark.parametrize("filler", [" ", "(", "--x\n", ";", "OR 1 "])
def test_a_text_of_megabytes_is_not_run(filler: str) -> None:
    database = FakeDatabase()
    examiner = Examiner(database, settings=ScoreSettings(exact_as=(Rule.SPIDER,)), limits=Limits(timeout_s=3))
    case = Case(id="1", question="?", gold_sql=("SELECT a FROM t",))
    trial = examiner.examine(case, Turn(case_id="1", candidate_sql="SELECT a " + filler * 400_000 + "x" * 1_000_000))
    assert isinstance(trial.candidate.execution, SqlError)
    assert trial.candidate.execution.kind is ErrorKind.TOO_LARGE
    assert isinstance(trial.candidate.comprehension, Unresolved)
    assert trial.candidate.comprehension.tables is None, "no reader cuts it into tokens"
    assert database.ran == ["SELECT a FROM t"]
