"""What is to be run: cases, agent, databases and settings, made from a configuration before anything is asked."""

from __future__ import annotations

import platform
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlassay.agents import registry
from sqlassay.agents.base import Agent
from sqlassay.agents.replay import ReplayAgent
from sqlassay.datasets import Dataset, load
from sqlassay.datasets.selection import select
from sqlassay.errors import ConfigError, DatasetError
from sqlassay.records.case import Case
from sqlassay.records.config import Config, DatabaseSettings, redact
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.settings import Limits, RunSettings, ScorerVersion, ScoreSettings
from sqlassay.records.signature import Signature, sign
from sqlassay.running.jobs import Address, DatabaseFacts

if TYPE_CHECKING:
    from sqlassay.retrievers.base import Retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a run needs. `cases` are the selected ones, `all_cases` all of the dataset (twins are hidden too)."""

    cases: tuple[Case, ...]
    all_cases: tuple[Case, ...]
    agent: Agent
    databases: Mapping[str, Address]
    score: ScoreSettings = ScoreSettings()
    limits: Limits = Limits()
    run: RunSettings = RunSettings()
    retriever: Retriever | None = None
    runs: Path = Path("runs")
    dataset: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    agent_settings: Mapping[str, Any] = field(default_factory=dict)
    overridden: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def trials(self) -> Iterator[TrialKey]:
        """Every trial: cases in order, each with its wordings, each as often as it is repeated."""
        for case in self.cases:
            yield from self.trials_of(case)

    def trials_of(self, case: Case) -> Iterator[TrialKey]:
        for phrasing in range(1 + (len(case.phrasings) if self.run.phrasings else 0)):
            for repeat in range(self.run.repeats):
                yield TrialKey(case_id=case.id, phrasing=phrasing, repeat=repeat)

    def address(self, case: Case) -> Address:
        """The database of a case.

        Raises:
            DatasetError: the case names none, or one that is not configured.
        """
        if case.database is not None and case.database in self.databases:
            return self.databases[case.database]
        if case.database is None and len(self.databases) == 1:
            return next(iter(self.databases.values()))
        if len(self.databases) == 1 and "default" in self.databases:
            problem = f"names the database {case.database!r}, and only one without a name is configured"
        else:
            problem = f"names {'no database' if case.database is None else f'the database {case.database!r}'}"
        place = case.place
        raise DatasetError(
            problem,
            file=None if place is None else place.file,
            line=None if place is None else place.line,
            case_id=case.id,
            field="database",
            hint=f"configured: {', '.join(sorted(self.databases)) or 'none'}",
        )

    def signature(self) -> Signature:
        """Of every setting that can change a number; a database that was put in another's place is named."""
        extra = {f"database.{name}": str(redact(self.databases[name].url)) for name in self.overridden}
        return sign(version=own_version(), score=self.score, limits=self.limits, run=self.run, extra=extra)


def own_version() -> str:
    """The version of this package; the package itself stands above this chapter, so it is asked by name."""
    return str(import_module("sqlassay").__version__)


def plan(
    config: Config, *, cases: Dataset | None = None, built_agent: Agent | None = None, scratch: Path | None = None
) -> Plan:
    """Load the cases, choose among them, build the agent.

    `scratch` is a folder for throw-away copies of snapshots; whoever gives it removes it after the run.

    Raises:
        ConfigError: something is missing or wrong in the configuration, or a prediction is for no case.
        DatasetError: a case file is wrong, or a case names no configured database.
        NoCasesError: the selection leaves none.
    """
    dataset = cases if cases is not None else _load(config)
    chosen = select(
        dataset.cases,
        limit=config.limit,
        case_ids=config.case_id,
        tags=config.tag,
        categories=config.category,
        fast=config.run.fast,
        seed=config.run.seed,
    )
    agent = built_agent if built_agent is not None else build_agent(config)
    if isinstance(agent, ReplayAgent):
        agent.check_ids([case.id for case in dataset.cases], selected=[case.id for case in chosen])
    made = Plan(
        cases=chosen,
        all_cases=dataset.cases,
        agent=agent,
        databases=_addresses(config, scratch),
        score=config.score,
        limits=config.limits,
        run=config.run,
        retriever=_retriever(config),
        runs=Path(config.base_dir) / config.runs,
        dataset={"fingerprint": dataset.fingerprint, "cases": len(dataset.cases), "files": list(dataset.files)},
        settings=config.redacted(),
        agent_settings=redact(dict(config.agent or {})),
        overridden=tuple(name for name, database in config.databases.items() if database.overridden),
        notices=config.notices,
    )
    for case in chosen:
        made.address(case)
    return made


def _load(config: Config) -> Dataset:
    if not config.cases:
        raise ConfigError("no cases are configured", hint="name a file or folder under `cases:`")
    return load([Path(config.base_dir) / path for path in config.cases])


def build_agent(config: Config) -> Agent:
    """The configured agent, which ends its questions by itself at the run's limit.

    Raises:
        ConfigError: there is none, or a setting of it is wrong.
    """
    if config.agent is None:
        raise ConfigError("no agent is configured", hint="`agent: {kind: http, url: ...}`; `sqlassay init` asks for it")
    own: dict[str, Any] = {"timeout_s": config.run.timeout_s}
    if config.agent.get("kind") == "http":
        own["retries"] = config.run.retries
    return registry.build({**own, **config.agent}, base_dir=config.base_dir)


def _addresses(config: Config, scratch: Path | None) -> dict[str, Address]:
    if not config.databases:
        raise ConfigError("no database is configured", hint="`database: sqlite:///file.db`")
    return {name: Address(name=name, url=_url(name, each, scratch)) for name, each in config.databases.items()}


def _url(name: str, database: DatabaseSettings, scratch: Path | None) -> str:
    if database.url is not None:
        return database.url
    if database.snapshot is None or scratch is None:
        raise ConfigError(f"database {name!r} has neither a URL nor a snapshot")
    from sqlassay.databases.snapshot import read_manifest, throwaway_copy

    snapshot = Path(database.snapshot)
    url = throwaway_copy(snapshot, scratch / name)
    # The copy is as old as the snapshot, so that its fingerprint is the same in every run.
    file = read_manifest(snapshot).file
    shutil.copystat(snapshot / file, scratch / name / file)
    return url


def _retriever(config: Config) -> Retriever | None:
    if config.retriever is None:
        return None
    from sqlassay.retrievers import registry as retrievers

    return retrievers.build(config.retriever, base_dir=config.base_dir)


def new_run_id() -> str:
    """Sorts by time; the tail keeps two runs of one second apart."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def manifest(plan: Plan, facts: Mapping[str, DatabaseFacts], *, run_id: str) -> Manifest:
    """What `manifest.json` says at the start of a run."""
    signature = plan.signature()
    notices = list(plan.notices)
    for name, each in facts.items():
        notices += [f"database {name}: {warning}" for warning in each.warnings]
        if not each.capabilities.snapshot:
            notices.append(f"database {name}: this engine has no read snapshot; both sides may see different data")
    return Manifest(
        run_id=run_id,
        state=RunState.STARTED,
        signature=signature.line,
        versions={"sqlassay": own_version(), "scorer": ScorerVersion, "python": platform.python_version()},
        settings=plan.settings,
        dataset=plan.dataset,
        databases={name: _described(each, overridden=name in plan.overridden) for name, each in facts.items()},
        agent={"name": plan.agent.name, **plan.agent_settings},
        notices=tuple(dict.fromkeys(notices)),
        started_at=now(),
    )


def _described(facts: DatabaseFacts, *, overridden: bool) -> dict[str, Any]:
    from sqlassay.records.plain import to_plain

    return {
        "url": facts.url,
        "dialect": facts.capabilities.dialect,
        "fingerprint": facts.fingerprint,
        "capabilities": to_plain(facts.capabilities),
        "overridden": overridden,
    }


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
