"""From a run folder to its summary and report: the same numbers for whoever opens it, whenever."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlassay.archive.run_folder import RunFolder
from sqlassay.records.case import Case
from sqlassay.records.measurement import Measurement
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, TrialKey
from sqlassay.records.turn import Turn
from sqlassay.records.wire import read_line, read_measurement, read_turn
from sqlassay.report.build import Sources, assemble, case_row, ended
from sqlassay.report.model import CaseRow, Report
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


def twins_of(
    folder: RunFolder, cases: Mapping[str, Case], *, canonical: Mapping[str, str] | None = None
) -> tuple[frozenset[str], ...]:
    """The ids of cases with equivalent golds, group by group, by the schemas kept in the folder.

    `canonical` has the canonical text of the gold of cases that accept only one, where scoring has already read it;
    the other golds are read here.
    """
    from sqlassay.sql.twins import twin_groups

    known = {} if canonical is None else canonical
    texts: dict[str, tuple[str | None, ...]] = {}
    unread: list[Case] = []
    for case in cases.values():
        if case.id in known and len(case.gold_sql) == 1:
            texts[case.id] = (known[case.id],)
        elif case.gold_sql:
            unread.append(case)
    return twin_groups(cases.values(), texts | _read_golds(folder, unread))


def _read_golds(folder: RunFolder, cases: Sequence[Case]) -> dict[str, tuple[str | None, ...]]:
    """What the golds of each case say, where the schema of its database is known."""
    if not cases:
        return {}
    from sqlassay.sql.schema import index
    from sqlassay.sql.twins import twin_text
    from sqlassay.sql.understand import understand

    indexes = {name: index(schema) for name, schema in folder.schemas().items()}
    only = next(iter(indexes)) if len(indexes) == 1 else None
    named = ((case, case.database if case.database in indexes else only) for case in cases)
    return {
        case.id: tuple(twin_text(understand(sql, indexes[name])) for sql in case.gold_sql)
        for case, name in named
        if name is not None
    }


def summary_of(folder: RunFolder) -> Summary:
    """Sum up a run from its lines on disk (specification section 8: totals are never kept in memory alone)."""
    return _summed(folder, folder.manifest, {case.id: case for case in folder.cases()}, folder.scores())


def _summed(
    folder: RunFolder, manifest: Manifest, cases: Mapping[str, Case], measurements: Iterable[Measurement]
) -> Summary:
    digests = folder.result_digests()
    canonical: dict[str, str] = {}

    def digests_of(key: TrialKey) -> tuple[str | None, str | None]:
        golds, candidate = digests.get(key, ((), None))
        return "+".join(gold for gold in golds if gold) or None, candidate

    def noted() -> Iterator[Measurement]:
        for measurement in measurements:
            text = _gold_read(measurement.evidence)
            if text is not None:
                canonical[measurement.case_id] = text
            yield measurement

    return summarise(
        noted(),
        cases,
        signature=manifest.signature,
        run_id=manifest.run_id,
        twins=lambda: twins_of(folder, cases, canonical=canonical),
        seed=int(manifest.settings.get("run", {}).get("seed", DEFAULT_SEED)),
        attempted=planned_trials(manifest, cases),
        digests=digests_of,
    )


def _gold_read(evidence: Mapping[str, Any]) -> str | None:
    """The canonical text of the gold that was used, where every name in it was found."""
    unresolved = evidence.get("component", {}).get("unresolved") or ()
    if evidence.get("execution", {}).get("gold_error") or any(str(each).startswith("gold") for each in unresolved):
        return None
    text = evidence.get("sql", {}).get("gold_canonical")
    return text if isinstance(text, str) else None


def report_of(folder: RunFolder, summary: Summary | None = None) -> Report:
    """The report of a run, in one pass over its lines.

    What the list of cases shows is kept; everything else of a trial is read again when the trial is opened.
    """
    manifest = folder.manifest
    cases = {case.id: case for case in folder.cases()}
    turns, scores = folder.turn_lines(), folder.score_lines()
    how = {key: ended(read_turn(read_line(line))) for key, line in turns}
    rows: dict[TrialKey, CaseRow] = {}

    def listed() -> Iterator[Measurement]:
        for key, line in scores:
            measurement = read_measurement(read_line(line))
            rows[key] = case_row(measurement, case=cases.get(key.case_id), ended=how.get(key, ended(None)))
            yield measurement

    if summary is None:
        summary = _summed(folder, manifest, cases, listed())
    else:
        deque(listed(), maxlen=0)
    rows_of = folder.rows_by_key()

    turn_line, score_line = lru_cache(maxsize=8)(turns.of), lru_cache(maxsize=8)(scores.of)

    @lru_cache(maxsize=8)
    def measurement_of(key: TrialKey) -> Measurement | None:
        line = score_line(key)
        return None if line is None else read_measurement(read_line(line))

    def turn_of(key: TrialKey) -> Turn | None:
        line = turn_line(key)
        return None if line is None else read_turn(read_line(line))

    def raw_of(key: TrialKey) -> Mapping[str, str]:
        found = {"score": score_line(key), "turn": turn_line(key)}
        return {name: line.decode("utf-8", "replace").rstrip("\n") for name, line in found.items() if line is not None}

    @lru_cache(maxsize=8)
    def results(key: TrialKey) -> tuple[Relation | None, Relation | None]:
        measurement = measurement_of(key)
        evidence: Mapping[str, Any] = {} if measurement is None else measurement.evidence
        return rows_of(key, evidence.get("execution", {}).get("gold_index") or 0)

    sources = Sources(measurement=measurement_of, turn=turn_of, results=results, raw=raw_of)
    return assemble(manifest, summary, rows=rows.values(), cases=cases, sources=sources)


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
