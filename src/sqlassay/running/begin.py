"""How does a run begin, and how does it go on with what an earlier process left?"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from sqlassay.archive.run_folder import RunFolder, RunWriter, create, reopen, runs_in
from sqlassay.errors import ArchiveError, ConfigError
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.running.jobs import DatabaseFacts
from sqlassay.running.plan import Plan, manifest, new_run_id
from sqlassay.running.worker import Pool


def describe(made: Plan, pool: Pool) -> dict[str, DatabaseFacts]:
    """What the databases of the selected cases are, by configured name.

    Raises:
        DatabaseUnavailable: one cannot be opened.
    """
    used = {made.address(case).name for case in made.cases}
    futures = {name: pool.describe(address) for name, address in made.databases.items() if name in used}
    return {name: future.result() for name, future in futures.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What an earlier process left: trials that are scored, that have a turn, that were asked."""

    scored: frozenset[TrialKey] = frozenset()
    turned: frozenset[TrialKey] = frozenset()
    asked: frozenset[TrialKey] = frozenset()
    folder: RunFolder | None = None


def begin(
    made: Plan, facts: Mapping[str, DatabaseFacts], *, run_id: str | None, resume: str | bool | None
) -> tuple[RunWriter, Plan, Kept]:
    """The writer, the plan to follow, and what is on disk already.

    Raises:
        ArchiveError: the run exists, or there is none to go on with, or the folder cannot be written.
        ConfigError: the run to go on with was begun with other settings.
    """
    if resume:
        return _go_on(made, facts, resume if isinstance(resume, str) else run_id)
    writer = create(made.runs, manifest(made, facts, run_id=run_id or new_run_id()))
    writer.write_cases(made.cases)
    writer.write_schemas({name: each.schema for name, each in facts.items()})
    return writer, made, Kept()


def _go_on(made: Plan, facts: Mapping[str, DatabaseFacts], name: str | None) -> tuple[RunWriter, Plan, Kept]:
    path = find_resumable(made.runs, name)
    writer = reopen(path)
    folder = RunFolder(path)
    before = writer.manifest
    signature = made.signature().line
    if before.signature != signature:
        writer.close()
        raise ConfigError(
            f"run {before.run_id!r} was begun with other settings",
            hint=f"it has {before.signature}\nnow   {signature}\nstart a new run, or put the settings back",
        )
    cases = tuple(folder.cases())
    if not cases:
        writer.write_cases(made.cases)
        cases = made.cases
    if not folder.schemas():
        writer.write_schemas({each: fact.schema for each, fact in facts.items()})
    writer.change(replace(before, state=RunState.STARTED, ended_at=None, error=None, notices=_moved(before, facts)))
    turned = folder.turned()
    scored = _with_turns(writer, folder, turned)
    kept = Kept(scored=frozenset(scored), turned=frozenset(turned), asked=frozenset(folder.asked()), folder=folder)
    return writer, replace(made, cases=cases), kept


def _with_turns(writer: RunWriter, folder: RunFolder, turned: Set[TrialKey]) -> Set[TrialKey]:
    """The trials with a score. A score whose turn was lost goes: its question is asked, and scored, once more."""
    scored = folder.scored()
    if not scored <= turned:
        writer.replace_scores(line.rstrip(b"\n") for key, line in folder.score_lines() if key in turned)
    return scored & turned


def _moved(before: Manifest, facts: Mapping[str, DatabaseFacts]) -> tuple[str, ...]:
    said = list(before.notices)
    for name, each in facts.items():
        known = before.databases.get(name, {}).get("fingerprint")
        if known is not None and known != each.fingerprint:
            said.append(f"database {name}: the data changed between the parts of this run")
    return tuple(dict.fromkeys(said))


def find_resumable(runs: Path, name: str | None) -> Path:
    """The folder of the run to go on with: the named one, else the newest that is not complete.

    Raises:
        ArchiveError: there is none.
    """
    if name is not None:
        named = Path(name)
        return RunFolder(named if (named / "manifest.json").exists() else runs / name).path
    for folder in reversed(runs_in(runs)):
        if folder.manifest.state is not RunState.COMPLETE:
            return folder.path
    raise ArchiveError(f"{runs}: no run to go on with", hint="every run there is complete; leave --resume out")
