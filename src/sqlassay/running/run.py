"""A whole run: every question asked, judged and put on disk, whatever happens on the way.

Questions go out on one event loop, at most `jobs` at a time; SQL runs in worker processes; one thread writes. A run
that was stopped at any instant goes on with `resume`: what is on disk is kept, no answered question is asked again.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlassay.agents.replay import ReplayAgent
from sqlassay.archive.run_folder import RunFolder, RunWriter
from sqlassay.errors import AgentUnreachable, ArchiveError, SqlassayError
from sqlassay.records.case import Case
from sqlassay.records.config import Config
from sqlassay.records.run import RunState, TrialKey
from sqlassay.records.trial import Direct
from sqlassay.records.turn import Turn
from sqlassay.running.asking import Answer, put
from sqlassay.running.begin import Kept, begin, describe
from sqlassay.running.events import Event, RunEnded, RunStarted, Slowed, TrialEnded, TurnEnded
from sqlassay.running.hiding import Hiding, hiding_for
from sqlassay.running.jobs import Job, Outcome
from sqlassay.running.loops import on_a_loop
from sqlassay.running.plan import Plan, now, plan
from sqlassay.running.throttle import Pace, Throttle
from sqlassay.running.unmapped import Unmapped
from sqlassay.running.worker import Closed, Pool

if TYPE_CHECKING:
    from sqlassay.judges.base import Judge

_REPLAYED_AT_ONCE = 32
_BACKOFF_S = 1.0
"""After a rate limit that states no wait; doubled each time."""
_UNSAVED = 128
"""Scored trials that may wait for the disk at a time."""

Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended. Counts are of trials (a case times its wordings and repeats); `folder` has everything else."""

    run_id: str
    path: Path
    state: RunState
    planned: int
    scored: int
    passed: int
    failed: int
    unscored: int
    buckets: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    disagreements: int = 0
    """Trials of this process in which engine and parser contradict each other about what a query reads."""

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    @property
    def complete(self) -> bool:
        return self.state is RunState.COMPLETE


def run(
    config: Config,
    *,
    run_id: str | None = None,
    resume: str | bool | None = None,
    on_event: Listener | None = None,
) -> RunResult:
    """Carry out the configured run.

    `resume` names a run (id or folder) to go on with; True takes the newest that is not complete. It uses the cases
    that the run was begun with, and the settings must be those it was begun with.

    Raises:
        ConfigError, DatasetError, NoCasesError: nothing was asked; see `plan`.
        DatabaseUnavailable: a database cannot be opened; nothing was asked.
        ArchiveError: the run folder cannot be written; what was finished is kept.
    """
    resume = config.resume if resume is None else resume
    judging = _judge(config)
    with contextlib.ExitStack() as undo:
        copies = any(database.url is None for database in config.databases.values())
        scratch = undo.enter_context(tempfile.TemporaryDirectory(prefix="sqlassay-")) if copies else None
        pool = Pool(config.run.workers, limits=config.limits)
        undo.callback(pool.close)
        made = plan(config, scratch=None if scratch is None else Path(scratch))
        result = carry_out(made, pool, run_id=run_id, resume=resume or None, on_event=on_event)
    if judging is None or not result.complete:
        return result
    from sqlassay.running.judging import judge

    return judge(result.path, judging, jobs=config.run.jobs)


def _judge(config: Config) -> Judge | None:
    if config.judge is None or config.no_judge:
        return None
    from sqlassay.judges import registry as judges

    return judges.build(config.judge)


def carry_out(
    made: Plan,
    pool: Pool,
    *,
    run_id: str | None = None,
    resume: str | bool | None = None,
    on_event: Listener | None = None,
) -> RunResult:
    """Carry out a plan on a pool of workers; see `run`."""
    facts = describe(made, pool)
    tell = on_event if on_event is not None else _nobody
    writer, made, kept = begin(made, facts, run_id=run_id, resume=resume)
    with writer:
        loop = _Loop(made, pool, writer, kept, tell, hiding_for(made, facts))
        tell(
            RunStarted(
                run_id=writer.manifest.run_id,
                path=writer.path,
                planned=loop.planned,
                kept=len(kept.scored),
                passed=loop.passed,
            )
        )
        state, error, raised = RunState.COMPLETE, None, None
        try:
            on_a_loop(loop.go)
        except (KeyboardInterrupt, asyncio.CancelledError):
            state = RunState.INTERRUPTED
        except SqlassayError as failure:
            state, error, raised = RunState.FAILED, failure.message, failure
        if loop.disagreements:
            _note(writer, f"engine and parser disagree about what is read in {loop.disagreements} trials")
        for notice in loop.unmapped.notices() if state is RunState.COMPLETE else ():
            _note(writer, notice)
        if raised is None:
            writer.finish(state, ended_at=now(), error=error)
        else:
            _finish_if_possible(writer, error)
        tell(RunEnded(run_id=writer.manifest.run_id, path=writer.path, state=state, error=error))
        if raised is not None:
            raise raised
    return loop.result(state, error)


def _note(writer: RunWriter, notice: str) -> None:
    """Say it in the manifest; a folder that cannot be written says nothing any more."""
    with contextlib.suppress(ArchiveError):
        writer.change(replace(writer.manifest, notices=(*writer.manifest.notices, notice)))


def _nobody(event: Event) -> None:
    """Nobody listens."""


def _finish_if_possible(writer: RunWriter, error: str | None) -> None:
    with contextlib.suppress(ArchiveError):
        writer.finish(RunState.FAILED, ended_at=now(), error=error)


class _Loop:
    """One run in progress."""

    def __init__(self, made: Plan, pool: Pool, writer: RunWriter, kept: Kept, tell: Listener, hiding: Hiding) -> None:
        self._plan = made
        self._pool = pool
        self._writer = writer
        self._kept = kept
        self._tell = tell
        self._hiding = hiding
        self._cases = {case.id: case for case in made.cases}
        self.planned = sum(1 for _ in made.trials())
        self.disagreements = 0
        self.unmapped = Unmapped()
        self._done = 0
        self._passed: Counter[bool | None] = Counter()
        self._buckets: Counter[str] = Counter()
        self._replay = isinstance(made.agent, ReplayAgent)
        jobs = (
            _REPLAYED_AT_ONCE if self._replay else min(made.run.jobs, getattr(made.agent, "concurrency", made.run.jobs))
        )
        if made.run.hide == "global" and not self._replay:
            jobs = 1
        self._jobs = jobs
        self._workers = max(1, made.run.workers)
        self._count_kept()

    @property
    def passed(self) -> int:
        """Trials that passed so far."""
        return self._passed[True]

    def _count_kept(self) -> None:
        for score in self._kept.folder.scores() if self._kept.folder is not None else ():
            key = TrialKey(case_id=score.case_id, phrasing=score.phrasing, repeat=score.repeat)
            if key in self._kept.scored:
                value = score.value("outcome.pass")
                self._count(None if value is None else value == 1, score.bucket)

    def result(self, state: RunState, error: str | None) -> RunResult:
        return RunResult(
            run_id=self._writer.manifest.run_id,
            path=self._writer.path,
            state=state,
            planned=self.planned,
            scored=self._passed[True] + self._passed[False],
            passed=self._passed[True],
            failed=self._passed[False],
            unscored=self._passed[None],
            buckets=dict(sorted(self._buckets.items())),
            error=error,
            disagreements=self.disagreements,
        )

    def _count(self, passed: bool | None, bucket: object) -> None:
        self._passed[passed] += 1
        if bucket is not None:
            self._buckets[str(bucket)] += 1

    async def go(self) -> None:
        """Ask and judge everything that is left."""
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGTERM"):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(signal.SIGTERM, task.cancel)
        self._throttle = Throttle(self._jobs)
        self._requests = Pace(self._plan.run.requests_per_minute)
        self._tokens = Pace(self._plan.run.tokens_per_minute)
        self._to_judge: asyncio.Queue[Job | None] = asyncio.Queue(maxsize=self._workers * 4)
        self._unsaved = asyncio.Semaphore(_UNSAVED)
        self._saved = asyncio.Event()
        self._waiting = 0
        left = (key for key in self._plan.trials() if key not in self._kept.turned)
        try:
            async with asyncio.TaskGroup() as group:
                judges = [group.create_task(self._judge()) for _ in range(self._workers * 3)]
                askers = [group.create_task(self._ask(left)) for _ in range(self._jobs)]
                askers.append(group.create_task(self._recover()))
                await asyncio.gather(*askers)
                for _ in judges:
                    await self._to_judge.put(None)
            await self._drain()
            self._check_disk()
        except BaseExceptionGroup as several:
            raise _first(several) from None
        finally:
            await self._drain()
            await self._plan.agent.close()
            if self._plan.retriever is not None:
                await self._plan.retriever.close()

    async def _drain(self) -> None:
        """Wait until the writer has answered for every line; it always does, also when the disk refuses."""
        while self._waiting:
            self._saved.clear()
            await self._saved.wait()

    async def _recover(self) -> None:
        """Judge the turns that an earlier process could only write down."""
        folder = self._kept.folder
        if folder is None:
            return
        for turn in folder.turns():
            key = TrialKey(case_id=turn.case_id, phrasing=turn.phrasing, repeat=turn.repeat)
            case = self._cases.get(turn.case_id)
            if key in self._kept.turned:
                self.unmapped.look(turn)
            # Turns of this process are appended to the same file meanwhile; `_ask` hands those over itself.
            if case is not None and key in self._kept.turned and key not in self._kept.scored:
                await self._to_judge.put(self._job(case, turn, direct=None))

    async def _ask(self, left: Iterator[TrialKey]) -> None:
        for key in left:
            self._check_disk()
            case = self._cases[key.case_id]
            answer, direct = await self._put_patiently(case, key)
            self.unmapped.look(answer.turn)
            usage = answer.turn.usage
            self._tokens.pay(float((usage.tokens_in or 0) + (usage.tokens_out or 0)))
            self._writer.add_turn(answer.turn, raw=answer.raw)
            self._tell(TurnEnded(key=key, latency_s=usage.latency_s))
            await self._to_judge.put(self._job(case, answer.turn, direct=direct))

    async def _put_patiently(self, case: Case, key: TrialKey) -> tuple[Answer, Direct | None]:
        """Put the question at the agent's pace; once more after the wait that a rate limit states."""
        for attempt in range(1 + max(0, self._plan.run.retries)):
            if not self._replay:
                await self._requests.wait()
                await self._tokens.wait(0.0)
            async with self._throttle:
                answer, direct = await self._put(case, key)
            if answer.unreachable is None:
                await self._throttle.praise()
                break
            limited = hasattr(answer.unreachable, "retry_after_s")
            self._slow_down(answer.unreachable, attempt=attempt if limited else None)
            if not limited or attempt == self._plan.run.retries:
                break
        return answer, direct

    def _slow_down(self, refusal: AgentUnreachable, *, attempt: int | None) -> None:
        """Fewer questions in flight; none at all for as long as a rate limit says, or for a growing while."""
        stated = getattr(refusal, "retry_after_s", None)
        wait_s = 0.0 if attempt is None else float(stated if stated is not None else _BACKOFF_S * 2**attempt)
        self._throttle.ease(wait_s=wait_s)
        self._tell(Slowed(jobs=self._throttle.limit, wait_s=wait_s, why=refusal.message))

    async def _put(self, case: Case, key: TrialKey) -> tuple[Answer, Direct | None]:
        hidden = self._hiding.ids(case)
        request_id = self._hiding.request_id(self._writer.manifest.run_id, key)
        self._writer.mark_asked(key)
        async with self._hiding.during(case):
            direct = await self._hiding.direct(case, key, timeout_s=self._plan.run.timeout_s)
            answer = await put(
                self._plan.agent,
                case,
                key,
                timeout_s=self._plan.run.timeout_s,
                request_id=request_id,
                hide=hidden,
                database=case.database,
                asked_again=key in self._kept.asked,
            )
        return answer, direct

    def _job(self, case: Case, turn: Turn, *, direct: Direct | None) -> Job:
        return Job(
            case=case,
            turn=turn,
            address=self._plan.address(case),
            settings=self._plan.score,
            limits=self._plan.limits,
            direct=direct,
            hidden_sql=self._hiding.sql(case),
            hidden_ids=self._hiding.names(case),
        )

    async def _judge(self) -> None:
        loop = asyncio.get_running_loop()
        while (job := await self._to_judge.get()) is not None:
            try:
                outcome = await asyncio.wrap_future(self._pool.submit(job))
            except Closed:
                return
            await self._unsaved.acquire()
            self._waiting += 1
            saving = self._writer.add_score(outcome.line, outcome.kept)
            saving.add_done_callback(
                lambda done, outcome=outcome: loop.call_soon_threadsafe(self._on_saved, done, outcome)  # type: ignore[misc]
            )
            self._check_disk()

    def _on_saved(self, saving: Future[None], outcome: Outcome) -> None:
        self._waiting -= 1
        self._unsaved.release()
        self._saved.set()
        if saving.exception() is not None:
            return
        self._done += 1
        self.disagreements += outcome.disagreements > 0
        self._count(outcome.passed, outcome.bucket)
        self._tell(
            TrialEnded(
                key=outcome.key,
                passed=outcome.passed,
                bucket=outcome.bucket,
                cause=outcome.cause,
                done=self._done + len(self._kept.scored),
                planned=self.planned,
            )
        )

    def _check_disk(self) -> None:
        failure = self._writer.failure
        if failure is not None:
            raise failure


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
