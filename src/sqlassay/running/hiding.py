"""Leave-one-out: what must a case not find again in retrieval, and how is the retriever told?

For the time of a case the case and its twins are hidden (specification section 5.2). The agent is handed opaque ids
to pass on; the retriever's own endpoint gets ids and SQL, so that it can hide what it knows under either.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlassay.agents.replay import ReplayAgent
from sqlassay.records.ask import opaque_id
from sqlassay.records.case import Case
from sqlassay.records.run import TrialKey
from sqlassay.records.trial import Direct
from sqlassay.running.jobs import DatabaseFacts
from sqlassay.running.plan import Plan

if TYPE_CHECKING:
    from sqlassay.retrievers.base import Retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """What is hidden for each case. `family` gives a case with its twins; empty where nothing is hidden."""

    family: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)
    retriever: Retriever | None = None
    globally: bool = False

    def ids(self, case: Case) -> tuple[str, ...]:
        """The opaque ids that the agent passes on."""
        return tuple(opaque_id(each.id) for each in self.family.get(case.id, ()))

    def names(self, case: Case) -> tuple[str, ...]:
        """Everything an example of the case or its twins may be called when it comes back: opaque and own ids."""
        return tuple(dict.fromkeys((*self.ids(case), *(each.id for each in self.family.get(case.id, ())))))

    def sql(self, case: Case) -> tuple[str, ...]:
        """The gold texts whose return would be a leak."""
        return tuple(dict.fromkeys(sql for each in self.family.get(case.id, ()) for sql in each.gold_sql))

    def request_id(self, run_id: str, key: TrialKey) -> str:
        """Opaque, and another one for every question of every run."""
        return opaque_id(f"{run_id}/{key}")

    @asynccontextmanager
    async def during(self, case: Case) -> AsyncIterator[None]:
        """While this lasts, the case and its twins are hidden from everybody (`hide: global`)."""
        if not self.globally or self.retriever is None:
            yield
            return
        await self.retriever.hide(ids=self.ids(case), sql=self.sql(case))
        try:
            yield
        finally:
            await self.retriever.hide(ids=(), sql=())

    async def direct(self, case: Case, key: TrialKey, *, timeout_s: float) -> Direct | None:
        """What the retriever answers when the harness itself asks it; None where none is configured."""
        if self.retriever is None:
            return None
        return await self.retriever.retrieve(
            case.wording(key.phrasing),
            database=case.database,
            hide=self.ids(case),
            hide_sql=self.sql(case),
            timeout_s=timeout_s,
        )


def hiding_for(made: Plan, facts: Mapping[str, DatabaseFacts]) -> Hiding:
    """Find the twins of every selected case among all cases. Recorded answers retrieve nothing any more: there it is
    enough to know each case's own gold again, which is also that of its twins."""
    if made.run.hide == "none":
        return Hiding(retriever=made.retriever)
    if made.retriever is None and isinstance(made.agent, ReplayAgent):
        return Hiding(family={case.id: (case,) for case in made.cases})
    twins = _twins(made, facts)
    by_id = {case.id: case for case in made.all_cases}
    family = {
        case.id: (case, *(by_id[twin] for twin in sorted(twins.get(case.id, ())) if twin in by_id))
        for case in made.cases
    }
    return Hiding(family=family, retriever=made.retriever, globally=made.run.hide == "global")


def _twins(made: Plan, facts: Mapping[str, DatabaseFacts]) -> Mapping[str, frozenset[str]]:
    from sqlassay.sql.schema import index
    from sqlassay.sql.twins import twins
    from sqlassay.sql.understand import understand

    indexes = {name: index(each.schema) for name, each in facts.items()}
    understood = {}
    for case in made.all_cases:
        name = case.database if case.database in indexes else next(iter(indexes)) if len(indexes) == 1 else None
        if name is not None:
            understood[case.id] = tuple(understand(sql, indexes[name]) for sql in case.gold_sql)
    return twins(made.all_cases, understood)
