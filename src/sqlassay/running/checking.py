"""Is the configured gold set sound? Opens what is configured and lets `datasets.check` look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from sqlassay.databases.base import Database
from sqlassay.databases.connect import connect
from sqlassay.databases.reordered import reordered
from sqlassay.datasets.check import check, database_of
from sqlassay.datasets.findings import Finding
from sqlassay.metrics.score import score
from sqlassay.records.case import Case, Status
from sqlassay.records.config import Config
from sqlassay.records.measurement import Measurement
from sqlassay.records.turn import CandidateSource, Query, StatusSource, Turn
from sqlassay.running.examine import Examiner


def check_configured(config: Config, cases: Sequence[Case]) -> tuple[Finding, ...]:
    """What is wrong with these cases on the configured databases (specification section 9, `check`).

    Raises:
        ConfigError: a database URL is malformed or its driver is missing.
        DatabaseUnavailable: a database that a case needs cannot be opened.
    """
    urls = {name: each.url for name, each in config.databases.items() if each.url is not None}
    with ExitStack() as stack:
        opened: dict[str, Database] = {}
        others: dict[str, Database] = {}
        used = {database_name(case, urls) for case in cases if case.gold_sql}
        for name, url in urls.items():
            if name not in used and len(urls) > 1:
                continue
            opened[name] = connect(url, name=name)
            stack.callback(opened[name].close)
            other = stack.enter_context(reordered(url, name=name))
            if other is not None:
                others[name] = other
        examiners: dict[str, Examiner] = {}

        def score_itself(case: Case) -> Measurement:
            name, _ = database_of(case, opened)
            assert name is not None
            if name not in examiners:
                examiners[name] = Examiner(opened[name], settings=config.score, limits=config.limits)
            return score(examiners[name].examine(case, _answering(case)), config.score)

        return check(cases, databases=opened, limits=config.limits, shuffled=others, score_itself=score_itself)


def database_name(case: Case, urls: Mapping[str, str]) -> str | None:
    """The configured database that a case runs on, None where none fits."""
    return case.database if case.database in urls else next(iter(urls)) if len(urls) == 1 else None


def _answering(case: Case) -> Turn:
    """The turn of an agent that answers with the case's own first gold query."""
    sql = case.gold_sql[0]
    return Turn(
        case_id=case.id,
        question=case.question,
        status=Status.SUCCESS,
        status_source=StatusSource.DECLARED,
        queries=(Query(sql=sql, executed=True, succeeded=True),),
        candidate_sql=sql,
        candidate_source=CandidateSource.DECLARED,
        adapter="check",
    )
