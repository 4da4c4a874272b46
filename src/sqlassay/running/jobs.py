"""What a worker process is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlassay.archive.results import Kept
from sqlassay.databases.base import Capabilities
from sqlassay.records.case import Case
from sqlassay.records.execution import Execution
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.opinion import Opinion
from sqlassay.records.relation import Schema
from sqlassay.records.run import TrialKey
from sqlassay.records.settings import Limits, ScoreSettings
from sqlassay.records.trial import Direct
from sqlassay.records.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A configured database: its name and its URL with the password in it."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe:
    """Open the database and say what it is."""

    address: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """What a run keeps of a database."""

    name: str
    url: str
    """Without its password."""
    capabilities: Capabilities
    fingerprint: str
    schema: Schema
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Carry out and score one trial.

    `settled` are sides that are not run (by phase: `gold 0`, `candidate`, `auxiliary 0`), `fault` says that the
    harness failed before and only the record is to be made. `whole` asks for the measurement itself.
    """

    case: Case
    turn: Turn
    address: Address
    settings: ScoreSettings
    limits: Limits
    direct: Direct | None = None
    hidden_sql: tuple[str, ...] = ()
    hidden_ids: tuple[str, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    settled: Mapping[str, Execution] = field(default_factory=dict)
    fault: str | None = None
    whole: bool = False

    @property
    def key(self) -> TrialKey:
        return TrialKey(case_id=self.case.id, phrasing=self.turn.phrasing, repeat=self.turn.repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """The worker begins something that may take `limit_s`; the parent kills it when it outlives that by the grace."""

    name: str
    limit_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One scored trial: its line and what to keep, ready to be written, and the little that progress shows."""

    key: TrialKey
    passed: bool | None
    bucket: Bucket | None
    cause: str | None
    shape: ShapeLabel | None
    line: bytes
    kept: Kept | None
    disagreements: int = 0
    measurement: Measurement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The worker could not do what was asked (a database that does not open): type of the error and its words."""

    type: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Everything is imported; the next job starts at once."""


Request = Describe | Job
Message = Ready | Phase | DatabaseFacts | Outcome | Refusal
