"""From a run folder to its summary and report: the same numbers for whoever opens it, whenever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from sqlassay.archive.run_folder import RunFolder
from sqlassay.records.case import Case
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, TrialKey
from sqlassay.report.model import Report, build
from sqlassay.summary.aggregate import DEFAULT_SEED, summarise
from sqlassay.summary.model import Summary


def planned_trials(manifest: Manifest, cases: Mapping[str, Case]) -> Iterator[TrialKey]:
    """Every trial that the run set out to do: cases in order, each with its wordings and repeats."""
    run = manifest.settings.get("run", {})
    repeats, wordings = int(run.get("repeats", 1)), bool(run.get("phrasings", True))
    for case in cases.values():
        for phrasing in range(1 + (len(case.phrasings) if wordings else 0)):
            for repeat in range(repeats):
                yield TrialKey(case_id=case.id, phrasing=phrasing, repeat=repeat)


def twins_of(folder: RunFolder, cases: Mapping[str, Case]) -> Mapping[str, frozenset[str]]:
    """Which cases of the run have equivalent golds, by the schemas kept in the folder."""
    from sqlassay.sql.schema import index
    from sqlassay.sql.twins import twins
    from sqlassay.sql.understand import understand

    indexes = {name: index(schema) for name, schema in folder.schemas().items()}
    only = next(iter(indexes)) if len(indexes) == 1 else None
    understood = {}
    for case in cases.values():
        name = case.database if case.database in indexes else only
        if name is not None:
            understood[case.id] = tuple(understand(sql, indexes[name]) for sql in case.gold_sql)
    return twins(tuple(cases.values()), understood)


def summary_of(folder: RunFolder) -> Summary:
    """Sum up a run from its lines on disk (specification section 8: totals are never kept in memory alone)."""
    manifest = folder.manifest
    cases = {case.id: case for case in folder.cases()}
    digests = folder.result_digests()

    def digests_of(key: TrialKey) -> tuple[str | None, str | None]:
        golds, candidate = digests.get(key, ((), None))
        return "+".join(gold for gold in golds if gold) or None, candidate

    return summarise(
        folder.scores(),
        cases,
        signature=manifest.signature,
        run_id=manifest.run_id,
        twins=twins_of(folder, cases),
        seed=int(manifest.settings.get("run", {}).get("seed", DEFAULT_SEED)),
        attempted=planned_trials(manifest, cases),
        digests=digests_of,
    )


def report_of(folder: RunFolder, summary: Summary | None = None) -> Report:
    """The report of a run, with its results read one trial at a time when a case is opened."""
    measurements = list(folder.scores())
    chosen = {
        TrialKey(case_id=m.case_id, phrasing=m.phrasing, repeat=m.repeat): m.evidence.get("execution", {}).get(
            "gold_index"
        )
        for m in measurements
    }
    rows_of = folder.rows_by_key()

    @lru_cache(maxsize=8)
    def results(key: TrialKey) -> tuple[Relation | None, Relation | None]:
        return rows_of(key, chosen.get(key) or 0)

    return build(
        folder.manifest,
        summary if summary is not None else summary_of(folder),
        measurements=measurements,
        turns=folder.turns(),
        cases={case.id: case for case in folder.cases()},
        results=results,
    )


def find_run(name: str, runs: Path) -> RunFolder:
    """The run that a person means by a folder, an id, `latest`, or the beginning of an id that only one has.

    Raises:
        ArchiveError: there is none, or several begin so.
    """
    from sqlassay.archive.run_folder import runs_in
    from sqlassay.errors import ArchiveError

    if (Path(name) / "manifest.json").is_file():
        return RunFolder(name)
    there = runs_in(runs)
    if name == "latest" and there:
        return there[-1]
    if (runs / name / "manifest.json").is_file():
        return RunFolder(runs / name)
    alike = [folder for folder in there if folder.path.name.startswith(name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise ArchiveError(f"several runs begin with {name!r}: {', '.join(folder.path.name for folder in alike)}")
    known = ", ".join(folder.path.name for folder in there[-5:])
    raise ArchiveError(
        f"no run {name!r} in {runs}", hint=f"newest: {known}" if known else "there are no runs yet: sqlassay run"
    )
