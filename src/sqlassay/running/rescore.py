"""Scoring a run again: from what was recorded, without agent or database, or by executing its SQL once more.

What lies in the run folder is enough (specification section 8): turns, both sides of every trial, schemas, cases and
settings. The same scorer gives the same file, byte for byte: lines keep the places that they have.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sqlassay.archive.results import Sides
from sqlassay.archive.run_folder import RunFolder, RunWriter, reopen
from sqlassay.errors import ConfigError
from sqlassay.metrics.score import PASS, score
from sqlassay.records.case import Case
from sqlassay.records.config import Config
from sqlassay.records.execution import NotRun, Rows
from sqlassay.records.measurement import Bucket
from sqlassay.records.relation import Schema
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.settings import Limits, RunSettings, ScorerVersion, ScoreSettings
from sqlassay.records.signature import sign
from sqlassay.records.strict import from_plain
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.wire import write_line
from sqlassay.running.events import Event, RunEnded, RunStarted, TrialEnded
from sqlassay.running.examine import read_side
from sqlassay.running.jobs import Address, Job, Outcome
from sqlassay.running.plan import own_version
from sqlassay.running.run import RunResult
from sqlassay.running.worker import Pool
from sqlassay.sql.schema import SchemaIndex, index

RERUN_NOTICE = "the SQL of this run was executed again (--rerun)"
_AHEAD = 64


def rescore(
    path: Path | str,
    *,
    settings: ScoreSettings | None = None,
    rerun: Config | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> RunResult:
    """Replace the scores of a run by new ones.

    `settings` are other rules of comparison (default: those of the run). `rerun` names the databases on which the
    SQL of both sides is executed again; the run is marked so. A side of which only a part was kept gives
    `not_recorded`.

    Raises:
        ArchiveError: no run there, or another process writes it.
        RecordError: what was recorded cannot be read.
        ConfigError: `rerun` does not configure a database that the run used.
    """
    writer = reopen(path)
    tell = on_event if on_event is not None else _nobody
    with writer:
        folder = RunFolder(writer.path)
        before = _Before.of(writer.manifest, settings)
        cases = {case.id: case for case in folder.cases()}
        keys = folder.turned()
        tell(RunStarted(run_id=writer.manifest.run_id, path=writer.path, planned=len(keys), kept=0))
        tally = _Tally(planned=len(keys), tell=tell)
        if rerun is None:
            writer.replace_scores(_from_record(folder, cases, before.score, tally))
        else:
            writer.replace_scores(_executed_again(writer, folder, cases, before, rerun, tally))
        notices = writer.manifest.notices + (() if rerun is None else (RERUN_NOTICE,))
        versions = {**writer.manifest.versions, "scorer": ScorerVersion, "sqlassay": own_version()}
        writer.change(
            replace(
                writer.manifest,
                signature=before.signature,
                settings={**writer.manifest.settings, "score": before.plain_score},
                versions=versions,
                notices=tuple(dict.fromkeys(notices)),
            )
        )
        state = writer.manifest.state
        tell(RunEnded(run_id=writer.manifest.run_id, path=writer.path, state=state))
        return tally.result(writer, state)


def _nobody(event: Event) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The settings of the run, with the rules of comparison that hold now."""

    score: ScoreSettings
    limits: Limits
    signature: str

    @property
    def plain_score(self) -> object:
        from sqlassay.records.plain import to_plain

        return to_plain(self.score)

    @classmethod
    def of(cls, manifest: Manifest, settings: ScoreSettings | None) -> _Before:
        stored = manifest.settings
        score_settings = settings or from_plain(ScoreSettings, stored.get("score", {}), what="manifest: score")
        limits = from_plain(Limits, stored.get("limits", {}), what="manifest: limits")
        run = from_plain(RunSettings, stored.get("run", {}), what="manifest: run")
        extra = {
            f"database.{name}": str(database.get("url"))
            for name, database in manifest.databases.items()
            if database.get("overridden")
        }
        signature = sign(version=own_version(), score=score_settings, limits=limits, run=run, extra=extra)
        return cls(score=score_settings, limits=limits, signature=signature.line)


class _Tally:
    """Counts as the lines go by."""

    def __init__(self, *, planned: int, tell: Callable[[Event], None]) -> None:
        self._planned = planned
        self._tell = tell
        self._passed: Counter[bool | None] = Counter()
        self._buckets: Counter[str] = Counter()

    def add(self, key: TrialKey, passed: bool | None, bucket: Bucket | None, cause: str | None) -> None:
        self._passed[passed] += 1
        if bucket is not None:
            self._buckets[bucket.value] += 1
        done = sum(self._passed.values())
        self._tell(TrialEnded(key=key, passed=passed, bucket=bucket, cause=cause, done=done, planned=self._planned))

    def result(self, writer: RunWriter, state: RunState) -> RunResult:
        return RunResult(
            run_id=writer.manifest.run_id,
            path=writer.path,
            state=state,
            planned=self._planned,
            scored=self._passed[True] + self._passed[False],
            passed=self._passed[True],
            failed=self._passed[False],
            unscored=self._passed[None],
            buckets=dict(sorted(self._buckets.items())),
        )


def _turns(folder: RunFolder, cases: Mapping[str, Case]) -> Iterator[tuple[TrialKey, Case, Turn]]:
    for turn in folder.turns_in_order_of_scores():
        case = cases.get(turn.case_id)
        if case is not None:
            yield TrialKey(case_id=turn.case_id, phrasing=turn.phrasing, repeat=turn.repeat), case, turn


def _from_record(
    folder: RunFolder, cases: Mapping[str, Case], settings: ScoreSettings, tally: _Tally
) -> Iterator[bytes]:
    schemas = folder.schemas()
    indexes = {name: index(schema) for name, schema in schemas.items()}
    look_up = folder.sides_by_key()
    for key, case, turn in _turns(folder, cases):
        sides = look_up(key)
        if sides is None:
            trial = Trial(case=case, turn=turn, fault="both sides of this case were never written down")
        else:
            schema = schemas.get(sides.database)
            trial = _trial(case, turn, sides, schema, indexes.get(sides.database), settings)
        measurement = score(trial, settings)
        value = measurement.value(PASS.name)
        tally.add(key, None if value is None else value == 1, measurement.bucket, measurement.cause)
        yield write_line(measurement).encode("utf-8")


def _trial(
    case: Case,
    turn: Turn,
    sides: Sides,
    schema: Schema | None,
    schema_index: SchemaIndex | None,
    settings: ScoreSettings,
) -> Trial:
    def read(side: Side, *, capped: bool = False, agent_adds: tuple[Literal["pagination"], ...] = ()) -> Side:
        if side.sql is None or sides.fault is not None:
            return side
        seen = read_side(side.sql, side.execution, schema_index, agent_adds=agent_adds)
        execution = NotRun(reason="not_recorded") if capped else side.execution
        return replace(seen, execution=execution, auxiliary=side.auxiliary, left_out=side.left_out)

    return Trial(
        case=case,
        turn=turn,
        golds=tuple(read(side) for side in sides.golds),
        # A part of a result decides nothing: the candidate counts as not recorded whichever side was cut.
        candidate=read(
            sides.candidate,
            capped=bool(sides.capped) and isinstance(sides.candidate.execution, Rows),
            agent_adds=settings.agent_adds,
        ),
        schema=schema,
        direct=sides.direct,
        hidden_sql=sides.hidden_sql,
        hidden_ids=sides.hidden_ids,
        opinions=sides.opinions,
        others=sides.others,
        fault=sides.fault,
    )


def _executed_again(
    writer: RunWriter,
    folder: RunFolder,
    cases: Mapping[str, Case],
    before: _Before,
    config: Config,
    tally: _Tally,
) -> Iterator[bytes]:
    look_up = folder.sides_by_key()
    pool = Pool(config.run.workers, limits=before.limits)
    waiting: deque[Future[Outcome]] = deque()
    try:
        for key, case, turn in _turns(folder, cases):
            waiting.append(pool.submit(_job(key, case, turn, look_up(key), before, config)))
            if len(waiting) >= _AHEAD:
                yield _done(waiting.popleft().result(), writer, tally)
        while waiting:
            yield _done(waiting.popleft().result(), writer, tally)
    finally:
        pool.close()


def _job(key: TrialKey, case: Case, turn: Turn, sides: Sides | None, before: _Before, config: Config) -> Job:
    name = sides.database if sides is not None else case.database or next(iter(config.databases), "default")
    database = config.databases.get(name)
    if database is None or database.url is None:
        raise ConfigError(
            f"case {key.case_id!r}: the run used the database {name!r}, which is not configured now",
            hint=f"configured: {', '.join(sorted(config.databases)) or 'none'}",
        )
    return Job(
        case=case,
        turn=turn,
        address=Address(name=name, url=database.url),
        settings=before.score,
        limits=before.limits,
        direct=None if sides is None else sides.direct,
        hidden_sql=() if sides is None else sides.hidden_sql,
        hidden_ids=() if sides is None else sides.hidden_ids,
        opinions=() if sides is None else sides.opinions,
    )


def _done(outcome: Outcome, writer: RunWriter, tally: _Tally) -> bytes:
    if outcome.kept is not None:
        writer.add_sides(outcome.kept).result()
    tally.add(outcome.key, outcome.passed, outcome.bucket, outcome.cause)
    return outcome.line
