"""Inside a worker process: open databases, carry out one trial after the other, say what is being done.

Requests come on standard input and answers go out on standard output, both as length-prefixed pickles between a
parent and its own child. Whatever else prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import replace
from typing import BinaryIO

from sqlassay.archive.results import keep
from sqlassay.databases import connect
from sqlassay.databases.base import Database
from sqlassay.databases.memory import limit_memory
from sqlassay.errors import Culprit, DatabaseUnavailable, Fault, SqlassayError, capture
from sqlassay.metrics.registry import families
from sqlassay.metrics.score import PASS, score
from sqlassay.records.execution import ErrorKind, SqlError
from sqlassay.records.relation import Schema
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.wire import write_line
from sqlassay.running.examine import Examiner, Given, GoldCache
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

OPENING_LIMIT_S = 60.0
SCORING_LIMIT_S = 120.0
_OPEN = 32
"""Databases kept open at a time."""


class Child:
    """Answers requests; holds what is expensive to open."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._databases: OrderedDict[Address, Database] = OrderedDict()
        self._examiners: dict[tuple[Address, ScoreSettings, Limits], Examiner] = {}
        self._cache = GoldCache()
        self._capped = False

    def serve(self, requests: BinaryIO) -> None:
        """Answer until the parent closes the stream."""
        self._say(Ready())
        while (data := read_frame(requests)) is not None:
            request: Request = pickle.loads(data)
            answer = capture(lambda request=request: self._answer(request), culprit=Culprit.US)  # type: ignore[misc]
            self._say(_refusal(answer) if isinstance(answer, Fault) else answer)

    def _answer(self, request: Request) -> Message:
        try:
            return self._describe(request) if isinstance(request, Describe) else self._carry_out(request)
        except SqlassayError as error:
            return Refusal(type=type(error).__name__, message=error.message, hint=error.hint)

    def _say(self, message: Message) -> None:
        write_message(self._answers, message)

    def _announce(self, phase: str, limit_s: float) -> None:
        self._say(Phase(name=phase, limit_s=limit_s))

    def _describe(self, request: Describe) -> DatabaseFacts:
        database = self._database(request.address)
        return DatabaseFacts(
            name=database.name,
            url=database.url,
            capabilities=database.capabilities,
            fingerprint=database.fingerprint(),
            schema=database.schema(),
            warnings=database.warnings(),
        )

    def _database(self, address: Address) -> Database:
        found = self._databases.get(address)
        if found is not None:
            self._databases.move_to_end(address)
            return found
        self._announce("opening", OPENING_LIMIT_S)
        self._databases[address] = connect(address.url, name=address.name)
        while len(self._databases) > _OPEN:
            self._forget(next(iter(self._databases)))
        return self._databases[address]

    def _forget(self, address: Address) -> None:
        database = self._databases.pop(address, None)
        self._examiners = {key: value for key, value in self._examiners.items() if key[0] != address}
        if database is not None:
            try:
                database.close()
            except (SqlassayError, OSError):
                return

    def _examiner(self, job: Job) -> Examiner:
        if not self._capped:
            self._capped = True
            limit_memory(job.limits.memory_bytes)
        database = self._database(job.address)
        key = (job.address, job.settings, job.limits)
        if key not in self._examiners:
            self._examiners[key] = Examiner(
                database,
                settings=job.settings,
                limits=job.limits,
                announce=self._announce,
                cache=self._cache,
            )
        return self._examiners[key]

    def _carry_out(self, job: Job) -> Outcome:
        trial = self._trial(job)
        self._announce("scoring", SCORING_LIMIT_S)
        measurement = score(trial, job.settings)
        passed = measurement.value(PASS.name)
        return Outcome(
            key=job.key,
            passed=None if passed is None else passed == 1,
            bucket=measurement.bucket,
            cause=measurement.cause,
            shape=measurement.shape,
            line=b"" if job.whole else write_line(measurement).encode("utf-8"),
            kept=None if job.whole else keep(trial, key=job.key, database=job.address.name),
            disagreements=len(measurement.evidence.get("sql", {}).get("disagreements", ())),
            measurement=measurement if job.whole else None,
        )

    def _trial(self, job: Job) -> Trial:
        if job.fault is not None:
            return _unrun(job, job.fault)
        given = Given(
            settled=job.settled,
            direct=job.direct,
            hidden_sql=job.hidden_sql,
            hidden_ids=job.hidden_ids,
            opinions=job.opinions,
        )
        try:
            trial = self._examiner(job).examine(job.case, job.turn, given)
            if not _lost(trial):
                return trial
        except DatabaseUnavailable:
            if job.whole:
                raise
        # A connection that went away is opened again, once.
        self._forget(job.address)
        try:
            return self._examiner(job).examine(job.case, job.turn, given)
        except DatabaseUnavailable as error:
            return _unrun(job, error.message)


def _refusal(fault: Fault) -> Refusal:
    """A fault of ours, said in the words of the error; the process goes on."""
    return Refusal(type=fault.type, message=f"{fault.type}: {fault.message}")


def _lost(trial: Trial) -> bool:
    return any(
        isinstance(side.execution, SqlError) and side.execution.kind is ErrorKind.CONNECTION
        for side in (*trial.golds, trial.candidate)
    )


def _unrun(job: Job, fault: str) -> Trial:
    """The record of a trial that the harness could not carry out."""
    empty = Trial(
        case=job.case,
        turn=job.turn,
        schema=Schema(dialect=job.address.url.partition(":")[0].partition("+")[0]),
        direct=job.direct,
        hidden_sql=job.hidden_sql,
        hidden_ids=job.hidden_ids,
        opinions=job.opinions,
        fault=fault,
    )
    return replace(empty, golds=tuple(Side(sql=sql) for sql in job.case.gold_sql))


def _leave_with(parent: int) -> None:
    """End when the parent is gone, also in the middle of a query."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Entry point of a worker process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "getppid") and sys.platform != "win32":
        threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    families()
    try:
        Child(answers).serve(sys.stdin.buffer)
    except BrokenPipeError:
        os._exit(1)
