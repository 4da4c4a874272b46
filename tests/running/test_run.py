"""A whole run: every question asked once, every case scored and on disk, whoever misbehaves."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlassay.archive.run_folder import RunFolder
from sqlassay.databases import connect
from sqlassay.databases.snapshot import Gold, take
from sqlassay.errors import AgentUnreachable, ArchiveError, ConfigError, DatabaseUnavailable, DatasetError
from sqlassay.records.ask import Ask, opaque_id
from sqlassay.records.case import Status
from sqlassay.records.config import Config
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.run import RunState
from sqlassay.records.turn import Turn, TurnErrorKind
from sqlassay.running.events import Event, RunEnded, RunStarted, Slowed, TrialEnded
from sqlassay.running.plan import plan
from sqlassay.running.run import RunResult, carry_out, run
from sqlassay.running.worker import Pool

Configured = Callable[..., Config]
GOLD = "SELECT id FROM item"


@pytest.fixture
def go(pool: Pool) -> Callable[..., RunResult]:
    return lambda config, **options: carry_out(plan(config), pool, **options)


def scores(result: RunResult) -> dict[str, Measurement]:
    return {score.case_id: score for score in RunFolder(result.path).scores()}


def asked(shop: Path) -> list[str]:
    log = shop / "asked.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_every_kind_of_ending_is_one_line(configured: Configured, go: Callable[..., RunResult]) -> None:
    config = configured(
        [
            {"id": "right", "gold_sql": GOLD},
            {"id": "wrong", "gold_sql": GOLD, "question": "SQL SELECT id FROM item WHERE id < 3"},
            {"id": "broken", "gold_sql": GOLD, "question": "SQL SELECT nothing FROM item"},
            {"id": "writes", "gold_sql": GOLD, "question": "SQL DELETE FROM item"},
            {"id": "crash", "gold_sql": GOLD, "question": "crash"},
            {"id": "hang", "gold_sql": GOLD, "question": "hang"},
            {"id": "declined", "gold_sql": GOLD, "question": "decline"},
            {"id": "refused", "question": "decline", "expect": {"terminal_status": "UNSUPPORTED"}},
            {"id": "gold", "gold_sql": "SELECT nothing FROM item"},
        ],
        run={"timeout_s": 1.0, "jobs": 9},
    )
    events: list[Event] = []
    result = go(config, on_event=events.append)
    assert result.complete
    found = {name: score.bucket for name, score in scores(result).items()}
    assert found == {
        "right": None,
        "wrong": Bucket.TOO_FEW_ROWS,
        "broken": Bucket.SQL_ERROR,
        "writes": Bucket.SQL_ERROR,
        "crash": Bucket.AGENT_ERROR,
        "hang": Bucket.AGENT_ERROR,
        "declined": Bucket.DECLINED,
        "refused": None,
        "gold": Bucket.GOLD_ERROR,
    }
    assert (result.planned, result.scored, result.passed, result.failed, result.unscored) == (9, 8, 2, 6, 1)
    assert result.buckets["agent_error"] == 2
    assert isinstance(events[0], RunStarted)
    assert events[-1] == RunEnded(run_id=result.run_id, path=result.path, state=RunState.COMPLETE)
    ended = [event for event in events if isinstance(event, TrialEnded)]
    assert [event.done for event in ended] == list(range(1, 10))
    evidence = scores(result)["writes"].evidence["execution"]
    assert evidence["candidate_error"]["kind"] == "forbidden"
    assert scores(result)["right"].value("execution.exact") == 1
    turns = {turn.case_id: turn for turn in result.folder.turns()}
    assert turns["hang"].error is not None
    assert turns["hang"].error.kind is TurnErrorKind.AGENT_TIMEOUT


def test_a_hanging_agent_delays_nobody(configured: Configured, go: Callable[..., RunResult]) -> None:
    cases = [{"id": "hang", "gold_sql": GOLD, "question": "hang"}]
    cases += [{"id": str(i), "gold_sql": GOLD} for i in range(20)]
    order: list[str] = []
    config = configured(cases, run={"timeout_s": 1.5, "jobs": 2})
    go(config, on_event=lambda event: order.append(event.key.case_id) if isinstance(event, TrialEnded) else None)
    assert order[-1] == "hang"
    assert len(order) == 21


def test_repeats_and_wordings(configured: Configured, go: Callable[..., RunResult], shop: Path) -> None:
    case = {"id": "a", "gold_sql": GOLD, "phrasings": [f"SQL {GOLD} WHERE 1", f"SQL {GOLD} WHERE 0"]}
    result = go(configured([case], run={"repeats": 2}))
    lines = {(s.phrasing, s.repeat): s.value("outcome.pass") for s in result.folder.scores()}
    assert lines == {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1, (2, 0): 0, (2, 1): 0}
    assert sorted(asked(shop)) == sorted([f"SQL {GOLD}", f"SQL {GOLD} WHERE 1", f"SQL {GOLD} WHERE 0"] * 2)
    assert go(configured([case], run={"phrasings": False})).planned == 1


def test_a_conversation_is_put_in_order_and_only_its_end_is_scored(
    configured: Configured, go: Callable[..., RunResult], shop: Path
) -> None:
    case = {"id": "a", "gold_sql": GOLD, "turns": ["decline", "SQL SELECT 7"], "question": "context"}
    result = go(configured([case]))
    assert asked(shop) == ["decline", "SQL SELECT 7", "context"]
    (turn,) = result.folder.turns()
    context = json.loads(turn.answer or "")
    assert [message["role"] for message in context["history"]] == ["user", "assistant", "user", "assistant"]
    assert [message["content"] for message in context["history"]] == ["decline", "no", "SQL SELECT 7", "SELECT 7"]
    assert turn.history[0].content == "decline"
    assert result.planned == 1


def test_the_agent_is_shown_no_gold_and_opaque_ids_only(configured: Configured, go: Callable[..., RunResult]) -> None:
    cases = [
        {"id": "first_case", "gold_sql": "SELECT name FROM item WHERE id = 5", "question": "context 1"},
        {"id": "its_twin", "gold_sql": "select i.name from item i where 5 = i.id", "question": "context 2"},
        {"id": "other", "gold_sql": "SELECT 3", "question": "context 3"},
    ]
    result = go(configured(cases))
    for turn in result.folder.turns():
        shown = turn.answer or ""
        assert not any(word in shown for word in ("SELECT", "select", "first_case", "its_twin", "other"))
        hide = json.loads(shown)["hide"]
        if turn.case_id == "other":
            assert hide == [opaque_id("other")]
        else:
            assert set(hide) == {opaque_id("first_case"), opaque_id("its_twin")}
    assert all(
        opaque_id(case["id"]) not in (t.answer or "")
        for t in go(configured(cases, run={"hide": "none"})).folder.turns()
        for case in cases
    )


def test_one_at_a_time_where_hiding_is_global(configured: Configured, go: Callable[..., RunResult], shop: Path) -> None:
    cases = [{"id": str(i), "gold_sql": GOLD, "question": f"slow 0.05 {GOLD}"} for i in range(4)]
    assert go(configured(cases, run={"hide": "global", "jobs": 4})).passed == 4
    assert [line.split()[0] for line in asked(shop)] == ["slow", "end"] * 4
    (shop / "asked.log").unlink()
    go(configured(cases, run={"jobs": 4}))
    assert [line.split()[0] for line in asked(shop)][:4] == ["slow"] * 4


def test_recorded_answers_are_joined_by_id(configured: Configured, go: Callable[..., RunResult], shop: Path) -> None:
    lines = [{"id": "b", "sql": "SELECT 2"}, {"id": "a", "sql": "Here:\n```sql\nSELECT 1\n```"}]
    (shop / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    agent = {"kind": "replay", "path": "recorded.jsonl"}
    cases = [{"id": "a", "gold_sql": "SELECT 1"}, {"id": "b", "gold_sql": "SELECT 2"}]
    assert go(configured(cases, agent=agent)).passed == 2
    with pytest.raises(ConfigError, match="'b'"):
        go(configured(cases[:1], agent=agent))
    with pytest.raises(ConfigError, match="'c'"):
        go(configured([*cases, {"id": "c", "gold_sql": "SELECT 3"}], agent=agent))


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"database": "sqlite:///absent.db"}, DatabaseUnavailable, "absent.db"),
        ({"agent": None}, ConfigError, "no agent"),
        ({"database": None}, ConfigError, "no database"),
        ({"database": {"one": "sqlite:///shop.db", "two": "sqlite:///shop.db"}}, DatasetError, "database"),
    ],
)
def test_nothing_is_asked_when_something_is_missing(
    configured: Configured,
    go: Callable[..., RunResult],
    shop: Path,
    settings: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        go(configured([{"id": "a", "gold_sql": GOLD}], **settings))
    assert asked(shop) == []
    assert not (shop / "runs").exists()


def test_manifest_says_what_was_run_without_secrets(
    configured: Configured, go: Callable[..., RunResult], shop: Path
) -> None:
    agent = {"kind": "python", "target": "shop_agent:answer", "name": "clerk"}
    result = go(configured([{"id": "a", "gold_sql": GOLD}], agent=agent), run_id="first")
    assert result.path == shop / "runs" / "first"
    manifest = result.folder.manifest
    assert (manifest.run_id, manifest.state, manifest.agent["name"]) == ("first", RunState.COMPLETE, "clerk")
    assert manifest.dataset["cases"] == 1
    assert manifest.databases["default"]["dialect"] == "sqlite"
    assert manifest.signature.startswith("sqlassay ")
    assert manifest.ended_at is not None
    with pytest.raises(ArchiveError, match="exists"):
        go(configured([{"id": "a", "gold_sql": GOLD}], agent=agent), run_id="first")


def test_resume_asks_only_what_has_no_turn(configured: Configured, go: Callable[..., RunResult], shop: Path) -> None:
    config = configured([{"id": str(i), "gold_sql": f"SELECT {i}"} for i in range(6)])
    whole = go(config, run_id="whole")
    text = (whole.path / "turns.jsonl").read_bytes().splitlines(keepends=True)
    kept = {json.loads(line)["case_id"] for line in text[:4]}
    (whole.path / "turns.jsonl").write_bytes(b"".join(text[:4]) + text[4][:20])
    lines = (whole.path / "scores.jsonl").read_bytes().splitlines(keepends=True)
    in_order = [line for line in lines if json.loads(line)["case_id"] in kept]
    (whole.path / "scores.jsonl").write_bytes(b"".join(in_order[:2]) + b'{"case_id"')
    (shop / "asked.log").unlink()
    result = go(config, resume="whole")
    assert len(asked(shop)) == 2
    assert (result.planned, result.passed) == (6, 6)
    assert sorted(score.case_id for score in result.folder.scores()) == [str(i) for i in range(6)]
    again = {turn.case_id for turn in result.folder.turns() if turn.asked_again}
    assert again == {str(i) for i in range(6)} - kept
    (shop / "asked.log").unlink()
    assert go(config, resume="whole").passed == 6
    assert asked(shop) == []
    with pytest.raises(ArchiveError, match="no run to go on with"):
        go(config, resume=True)


def test_other_settings_do_not_go_on_with_a_run(configured: Configured, go: Callable[..., RunResult]) -> None:
    cases = [{"id": "a", "gold_sql": GOLD}]
    go(configured(cases), run_id="r")
    with pytest.raises(ConfigError, match="other settings"):
        go(configured(cases, score={"columns": "by_name"}), resume="r")
    assert go(configured(cases, run={"jobs": 1}), resume="r").passed == 1


def test_an_empty_selection_and_a_run_in_a_notebook(configured: Configured, pool: Pool) -> None:
    import asyncio

    config = configured([{"id": "a", "gold_sql": GOLD}])

    async def cell() -> RunResult:
        return carry_out(plan(config), pool)

    assert asyncio.run(cell()).passed == 1


def test_a_snapshot_is_copied_for_the_run_and_thrown_away(configured: Configured, shop: Path, url: str) -> None:
    database = connect(url)
    take(database, [Gold(case_id="a", sql=GOLD)], shop / "snap")
    database.close()
    config = configured([{"id": "a", "gold_sql": GOLD}], database={"snapshot": "snap"}, run={"workers": 1})
    results = [run(config) for _ in range(2)]
    assert [result.passed for result in results] == [1, 1]
    kept = [result.folder.manifest.databases["default"] for result in results]
    assert kept[0]["fingerprint"] == kept[1]["fingerprint"]
    assert not any(Path(each["url"].partition(":///")[2]).exists() for each in kept)


def test_run_starts_and_ends_its_own_workers(configured: Configured) -> None:
    result = run(configured([{"id": "a", "gold_sql": GOLD}], run={"workers": 1}))
    assert result.passed == 1


def test_what_is_not_the_agent_s_fault_stays_unscored(configured: Configured, go: Callable[..., RunResult]) -> None:
    cases = [{"id": word, "gold_sql": GOLD, "question": word} for word in ("unreachable", "unreadable", "empty")]
    events: list[Event] = []
    result = go(configured([*cases, {"id": "right", "gold_sql": GOLD}]), on_event=events.append)
    found = scores(result)
    assert found["unreachable"].bucket is Bucket.HARNESS_ERROR
    assert found["unreadable"].bucket in (Bucket.EXTRACTOR_EMPTY, Bucket.HARNESS_ERROR)
    assert found["empty"].bucket is Bucket.EXTRACTOR_EMPTY
    for name in ("unreachable", "unreadable", "empty"):
        assert found[name].value("outcome.pass") is None
        assert found[name].value("execution.exact") is None
    assert (result.scored, result.unscored) == (1, 3)
    assert any(isinstance(event, Slowed) and event.jobs == 2 for event in events)


def test_a_map_that_points_at_nothing_is_said_of_the_whole_run(
    configured: Configured, go: Callable[..., RunResult]
) -> None:
    cases = [{"id": "a", "gold_sql": GOLD}, {"id": "b", "gold_sql": GOLD, "question": "decline"}]
    agent = {"kind": "python", "target": "shop_agent:answer"}
    wrong = go(configured(cases, agent={**agent, "map": {"candidate_sql": "query", "status": "status"}}))
    assert scores(wrong)["a"].bucket is Bucket.NO_QUERY_HALLUCINATION
    said = "candidate_sql: nothing at 'query' in 1 of 1 answers that say SUCCESS; is the agent's map right?"
    assert wrong.folder.manifest.notices == (said,)
    right = go(configured(cases, agent={**agent, "map": {"candidate_sql": "sql", "status": "status"}}))
    assert right.folder.manifest.notices == ()


def test_a_disk_that_fills_up_stops_the_run_and_loses_nothing(
    configured: Configured, go: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = os.write, [120_000]

    def filling(fd: int, data: bytes) -> int:
        part = memoryview(data)[: max(0, left[0])]
        if not part:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= len(part)
        return write(fd, part)

    config = configured([{"id": str(i), "gold_sql": f"SELECT {i}"} for i in range(80)])
    with monkeypatch.context() as patched:
        patched.setattr("sqlassay.archive.journal.os.write", filling)
        with pytest.raises(ArchiveError, match="No space left"):
            go(config, run_id="full")
    folder = RunFolder(plan(config).runs / "full")
    assert folder.manifest.state is RunState.FAILED
    assert "No space left" in (folder.manifest.error or "")
    assert 0 < len(folder.scored()) < 80
    before = folder.turned()
    result = go(config, resume=True)
    assert (result.run_id, result.passed) == ("full", 80)
    assert len(list(folder.turns())) == 80
    assert before <= folder.turned()


def test_payloads_of_any_make_are_kept_or_said(configured: Configured, go: Callable[..., RunResult]) -> None:
    cases = [{"id": word, "gold_sql": GOLD, "question": f"{word} {GOLD}"} for word in ("abyss", "odd")]
    result = go(configured([*cases, {"id": "right", "gold_sql": GOLD}]))
    found = scores(result)
    assert set(found) == {"abyss", "odd", "right"}
    assert found["right"].bucket is found["odd"].bucket is None
    turns = {turn.case_id: turn for turn in result.folder.turns()}
    assert set(turns) == set(found)
    assert turns["odd"].answer == "\ud800"


class Busy(AgentUnreachable):
    retry_after_s = 0.05


class BusyAgent:
    """Refuses every question so many times as it says before it answers it."""

    name = "busy"

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def ask(self, ask: Ask) -> str:
        self.asked[ask.question] += 1
        if self.asked[ask.question] <= int(ask.question):
            raise Busy("too many requests")
        return GOLD

    def read(self, payload: str) -> Turn:
        return Turn(status=Status.SUCCESS, candidate_sql=payload)

    async def close(self) -> None:
        """Nothing to close."""


def test_a_rate_limit_slows_the_run_and_costs_no_case(configured: Configured, pool: Pool) -> None:
    cases = [{"id": f"busy {count}", "gold_sql": GOLD, "question": str(count)} for count in (0, 1, 2, 99)]
    config = configured(cases, run={"retries": 2, "jobs": 4})
    agent, events = BusyAgent(), list[Event]()
    result = carry_out(plan(config, built_agent=agent), pool, on_event=events.append)
    assert (result.passed, result.buckets) == (3, {"harness_error": 1})
    assert dict(agent.asked) == {"0": 1, "1": 2, "2": 3, "99": 3}
    slowed = [event for event in events if isinstance(event, Slowed)]
    assert {event.wait_s for event in slowed} == {0.05}
    assert min(event.jobs for event in slowed) == 1
    assert len(list(result.folder.turns())) == 4
