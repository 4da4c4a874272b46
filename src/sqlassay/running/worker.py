"""A process that can be killed: how does a hostile query cost one worker and never a neighbour or the run?

A worker says what it begins and how long that may take. When a phase outlives its limit and the grace, the process is
killed and the case goes on in a fresh one with that side as timed out; when it dies by itself (out of memory, a
crash in the engine), with that side as failed. A case is never lost.
"""

from __future__ import annotations

import json
import pickle
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar, cast

from sqlassay.errors import DatabaseUnavailable
from sqlassay.records.execution import ErrorKind, Execution, SqlError, TimedOut
from sqlassay.records.measurement import Bucket, Measurement
from sqlassay.records.settings import Limits
from sqlassay.records.value import Reason, Undefined
from sqlassay.records.wire import write_line
from sqlassay.running.jobs import (
    Address,
    DatabaseFacts,
    Describe,
    Job,
    Message,
    Outcome,
    Phase,
    Ready,
    Refusal,
    Request,
)
from sqlassay.running.pipes import read_frame, write_message

_LOOK_S = 0.05
_SIDES = ("gold", "candidate", "auxiliary")
_START = "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from sqlassay.running.child import main; main()"


T = TypeVar("T")


class Closed(Exception):
    """The bench was closed while a job was on it."""


class WorkerLost(Exception):
    """The process is gone; `phase` is what it was doing, `killed` whether we ended it, `limit_s` its limit."""

    def __init__(self, *, phase: str | None, killed: bool, limit_s: float, code: int | None) -> None:
        super().__init__(f"worker lost in {phase or 'idleness'} (exit {code})")
        self.phase, self.killed, self.limit_s, self.code = phase, killed, limit_s, code


class Worker:
    """One warm worker process. Calls come from one thread at a time."""

    def __init__(self, *, grace_s: float) -> None:
        self._grace_s = grace_s
        self._phase: Phase | None = None
        self._deadline: float | None = None
        self._killed = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=-1,
            start_new_session=True,
        )
        _WATCHDOG.watch(self)

    def call(self, request: Request) -> DatabaseFacts | Outcome | Refusal:
        """Send a request and wait for its answer.

        Raises:
            WorkerLost: the process died or was killed on the way.
        """
        assert self._process.stdin is not None
        self._phase, self._deadline = None, None
        try:
            write_message(self._process.stdin, request)
            while True:
                message = self._read()
                match message:
                    case Ready():
                        continue
                    case Phase(limit_s=limit):
                        self._phase = message
                        self._deadline = time.monotonic() + limit + self._grace_s
                    case _:
                        self._phase, self._deadline = None, None
                        return message
        except (OSError, EOFError) as error:
            self._deadline = None
            self.close()
            phase = self._phase
            raise WorkerLost(
                phase=None if phase is None else phase.name,
                killed=self._killed,
                limit_s=0.0 if phase is None else phase.limit_s,
                code=self._process.returncode,
            ) from error

    def _read(self) -> Message:
        assert self._process.stdout is not None
        data = read_frame(self._process.stdout)
        if data is None:
            raise EOFError
        return cast(Message, pickle.loads(data))

    def look(self, now: float) -> None:
        """Kill the process when its phase has outlived its limit."""
        deadline = self._deadline
        if deadline is not None and now > deadline:
            self._killed = True
            self._process.kill()

    def close(self) -> None:
        """End the process now."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue


class _Watchdog:
    """One thread that looks at every worker's deadline."""

    def __init__(self) -> None:
        self._workers: weakref.WeakSet[Worker] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, worker: Worker) -> None:
        with self._lock:
            self._workers.add(worker)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="sqlassay-watchdog", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            now = time.monotonic()
            with self._lock:
                workers = list(self._workers)
                if not workers:
                    self._thread = None
                    return
            for worker in workers:
                worker.look(now)
            del workers


_WATCHDOG = _Watchdog()


class Bench:
    """Place for one worker that is replaced when it is lost."""

    def __init__(self, *, grace_s: float) -> None:
        self._grace_s = grace_s
        self._worker: Worker | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process without waiting for it."""
        if self._closed:
            raise Closed
        if self._worker is None:
            self._worker = Worker(grace_s=self._grace_s)

    def describe(self, address: Address) -> DatabaseFacts:
        """What the database is.

        Raises:
            DatabaseUnavailable: it cannot be opened.
        """
        for _ in range(2):
            try:
                answer = self._call(Describe(address=address))
            except WorkerLost:
                continue
            if isinstance(answer, DatabaseFacts):
                return answer
            assert isinstance(answer, Refusal)
            raise refusal_error(answer)
        raise DatabaseUnavailable(f"database {address.name!r}: it could not be opened in a worker process")

    def carry_out(self, job: Job) -> Outcome:
        """Score one trial, whatever becomes of the workers on the way.

        Raises:
            DatabaseUnavailable: only for jobs that ask for the whole measurement.
        """
        idle_losses = 0
        while True:
            try:
                answer = self._call(job)
            except WorkerLost as lost:
                if lost.phase is None or lost.phase == "opening":
                    idle_losses += 1
                    if idle_losses > 1:
                        job = replace(job, fault=f"the worker process ended while {lost.phase or 'starting'}")
                    if idle_losses > 3:
                        raise DatabaseUnavailable("worker processes end as soon as they start") from lost
                    continue
                if job.fault is not None and not job.whole:
                    return unscored(job, str(lost))
                job = settle(job, lost)
                continue
            if isinstance(answer, Outcome):
                return answer
            assert isinstance(answer, Refusal)
            if job.whole:
                raise refusal_error(answer)
            if job.fault is not None:
                return unscored(job, answer.message)
            job = replace(job, fault=answer.message)

    def _call(self, request: Request) -> DatabaseFacts | Outcome | Refusal:
        self.warm()
        assert self._worker is not None
        try:
            return self._worker.call(request)
        except WorkerLost:
            self._worker = None
            if self._closed:
                raise Closed from None
            raise

    def close(self) -> None:
        """End the process now and start no other."""
        self._closed = True
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def settle(job: Job, lost: WorkerLost) -> Job:
    """The same job with the side at which the worker was lost as timed out, or failed."""
    assert lost.phase is not None
    if lost.phase.split()[0] not in _SIDES:
        said = "took too long" if lost.killed else f"ended the worker process (exit {lost.code})"
        return replace(job, fault=f"{lost.phase} {said}")
    execution: Execution
    if lost.killed:
        execution = TimedOut(limit_s=lost.limit_s, killed=True)
    elif lost.code == -9:
        execution = SqlError(kind=ErrorKind.TOO_LARGE, message="the worker process was ended for want of memory")
    else:
        execution = SqlError(kind=ErrorKind.OTHER, message=f"the statement ended its worker process (exit {lost.code})")
    return replace(job, settled={**job.settled, lost.phase: execution})


def unscored(job: Job, why: str) -> Outcome:
    """The record of a trial for which even the record of its fault could not be made in a worker."""
    said = f"The harness could not carry the case out: {job.fault}; {why}"
    measurement = Measurement(
        case_id=job.key.case_id,
        phrasing=job.key.phrasing,
        repeat=job.key.repeat,
        metrics={"outcome.pass": Undefined(reason=Reason.HARNESS_FAILED)},
        bucket=Bucket.HARNESS_ERROR,
        cause=said,
    )
    return Outcome(
        key=job.key,
        passed=None,
        bucket=Bucket.HARNESS_ERROR,
        cause=said,
        shape=None,
        line=write_line(measurement).encode("utf-8"),
        kept=None,
    )


def refusal_error(refusal: Refusal) -> Exception:
    """The worker's refusal as the exception it was there."""
    from sqlassay import errors

    kind = getattr(errors, refusal.type, errors.DatabaseUnavailable)
    if kind is errors.MissingExtra or not issubclass(kind, errors.SqlassayError):
        kind = errors.ConfigError
    error: Exception = kind(refusal.message, hint=refusal.hint)
    return error


class Pool:
    """Several workers that take jobs from one queue; each has a thread here that waits for it."""

    def __init__(self, size: int, *, limits: Limits) -> None:
        size = max(1, size)
        self._benches = [Bench(grace_s=limits.grace_s) for _ in range(size)]
        self._free: queue.SimpleQueue[Bench] = queue.SimpleQueue()
        for bench in self._benches:
            bench.warm()
            self._free.put(bench)
        self._threads = ThreadPoolExecutor(max_workers=size, thread_name_prefix="sqlassay-worker")

    def describe(self, address: Address) -> Future[DatabaseFacts]:
        """See `Bench.describe`."""
        return self._threads.submit(self._on_bench, lambda bench: bench.describe(address))

    def submit(self, job: Job) -> Future[Outcome]:
        """See `Bench.carry_out`; jobs begin in the order in which they come."""
        return self._threads.submit(self._on_bench, lambda bench: bench.carry_out(job))

    def close(self) -> None:
        """End all workers now; what was not done is cancelled or fails with `Closed`."""
        for bench in self._benches:
            bench.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _on_bench(self, use: Callable[[Bench], T]) -> T:
        bench = self._free.get()
        try:
            return use(bench)
        finally:
            self._free.put(bench)
