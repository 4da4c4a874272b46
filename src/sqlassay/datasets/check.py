"""Is the gold set itself sound? Every gold query is run, twice, and looked at from all sides (specification 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from sqlassay.datasets.check_gold import GoldCheck
from sqlassay.datasets.check_sets import about_questions, about_twins, about_wordings
from sqlassay.datasets.findings import Code, Finding, Severity, found
from sqlassay.datasets.probes import Prober, Source
from sqlassay.records.case import Case
from sqlassay.records.measurement import Measurement
from sqlassay.records.query import Comprehension, Understanding, Unresolved
from sqlassay.records.relation import Relation
from sqlassay.records.settings import Limits
from sqlassay.records.strict import nearest
from sqlassay.records.value import Ratio
from sqlassay.sql.safety import inspect
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.twins import twins as twins_of
from sqlassay.sql.understand import understand

SelfScore = Callable[[Case], Measurement]
"""Scores a case whose candidate is its own first gold query."""


def check(
    cases: Sequence[Case],
    *,
    databases: Mapping[str, Source],
    limits: Limits = Limits(),
    shuffled: Mapping[str, Source] | None = None,
    score_itself: SelfScore | None = None,
) -> tuple[Finding, ...]:
    """Everything that can be found about a gold set, in the order of the cases.

    `shuffled` holds, by name, the same databases with rows in another order, for engines that can; `score_itself`
    scores each gold against itself.
    """
    findings: list[Finding] = list(about_wordings(cases))
    understandings: dict[str, tuple[Comprehension, ...]] = {}
    results: dict[str, Relation] = {}
    used: dict[str, list[Case]] = {}
    for case in cases:
        name, wrong = database_of(case, databases)
        if wrong is not None and case.gold_sql:
            findings.append(wrong)
        elif name is not None:
            used.setdefault(name, []).append(case)
    for name, members in used.items():
        for warning in databases[name].warnings():
            remedy = "the run goes on all the same, and its report says so too"
            findings.append(found(Code.DATABASE_RIGHTS, f"database {name!r}: {warning}", remedy=remedy))
        other = (shuffled or {}).get(name)
        _check_database(members, databases[name], other, limits, findings, understandings, results)
    if score_itself is not None:
        filled = [case for case in cases if case.id in results and results[case.id].height > 0]
        findings += _against_themselves(filled, score_itself)
    twins = twins_of(cases, understandings)
    findings += about_questions(cases, twins=twins, results=results)
    findings += about_twins(cases, twins=twins)
    order = {case.id: position for position, case in enumerate(cases)}
    return tuple(sorted(findings, key=lambda finding: order.get(finding.case_id or "", -1)))


def database_of(case: Case, databases: Mapping[str, Source]) -> tuple[str | None, Finding | None]:
    """The name of the database a case runs on, or why there is none."""
    if case.database is None:
        if len(databases) == 1:
            return next(iter(databases)), None
        names = ", ".join(databases) or "none"
        remedy = f"name one of: {names}"
        return None, found(Code.NO_DATABASE, "names no database where several are configured", remedy=remedy, case=case)
    if case.database in databases:
        return case.database, None
    if len(databases) == 1 and "default" in databases:
        return "default", None
    near = nearest(case.database, databases)
    remedy = f"did you mean {near!r}?" if near else "configured: " + ", ".join(databases)
    message = f"names the database {case.database!r}, which is not configured"
    return None, found(Code.NO_DATABASE, message, remedy=remedy, case=case)


def _check_database(
    cases: Sequence[Case],
    database: Source,
    shuffled: Source | None,
    limits: Limits,
    findings: list[Finding],
    understandings: dict[str, tuple[Comprehension, ...]],
    results: dict[str, Relation],
) -> None:
    schema = database.schema()
    names: SchemaIndex = index(schema)
    with ExitStack() as stack:
        session = stack.enter_context(database.session())
        other = None if shuffled is None else stack.enter_context(shuffled.session())
        prober = Prober(schema=schema, session=session, limits=limits)
        for case in cases:
            read: list[Comprehension] = []
            for number, sql in enumerate(case.gold_sql):
                statement = inspect(sql, schema.dialect)
                understood = understand(statement.text, names)
                read.append(understood)
                one = GoldCheck(
                    case=case,
                    number=number,
                    statement=statement,
                    understanding=understood if isinstance(understood, Understanding) else None,
                    prober=prober,
                    session=session,
                    limits=limits,
                    shuffled=other,
                )
                made = one.run()
                findings += made
                if isinstance(understood, Unresolved) and not any(f.severity is Severity.ERROR for f in made):
                    message = f"{one.which} runs but could not be understood: {understood.why}"
                    remedy = "metrics that read SQL are undefined here"
                    findings.append(found(Code.UNRESOLVED, message, remedy=remedy, case=case))
                if one.relation is not None and not one.relation.truncated:
                    results.setdefault(case.id, one.relation)
            understandings[case.id] = tuple(read)


def _against_themselves(cases: Sequence[Case], score_itself: SelfScore) -> Iterator[Finding]:
    for case in cases:
        measured = score_itself(case)
        imperfect = [
            name
            for name, reading in measured.metrics.items()
            if isinstance(reading, Ratio) and reading.value < 1 and name.startswith(_PERFECT)
        ]
        if imperfect:
            yield found(
                Code.GOLD_NOT_ITSELF,
                f"the gold query scored against itself is not perfect: {', '.join(imperfect)}",
                remedy="the result is not what `compare_on` can compare, or it changes from run to run",
                case=case,
            )


_PERFECT = ("execution.executable", "execution.exact", "output.", "component.")
