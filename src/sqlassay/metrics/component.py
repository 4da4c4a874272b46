"""Which part of the SQL differs? Six sets of gold and candidate, and their ordering beside them (specification 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.query import Ordering, Pieces, Understanding
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.value import Ceiling, Reading, Reason, Undefined, ratio

SETS: Mapping[str, str] = {
    "tables": "table",
    "columns": "column",
    "joins": "join",
    "filters": "filter",
    "aggregations": "aggregation",
    "group_by": "group by",
}
"""The six sets, and what one item of each is called."""
ORDERING = "ordering"

_UNDEFINED: Mapping[Reason, str] = {
    Reason.NOT_APPLICABLE: "the case has no gold SQL",
    Reason.UNRESOLVED: "a query does not parse, or a name in it has no meaning in the schema",
    Reason.NO_SQL: "there is no candidate SQL (precision)",
    Reason.NOTHING_TO_COUNT: "the side that would be the denominator has no such item",
    Reason.HARNESS_FAILED: "the case was not carried out",
}
_QUESTIONS: Mapping[str, str] = {
    "tables": "Does it read the right tables and views?",
    "columns": "Does its select list read the right columns?",
    "joins": "Does it join on the right pairs of columns?",
    "filters": "Does it keep the right rows?",
    "aggregations": "Does it compute the right aggregates?",
    "group_by": "Does it group by the right keys?",
    ORDERING: "Does it sort and cut as the gold does?",
}


def _cards() -> Iterable[Card]:
    for name, question in _QUESTIONS.items():
        title = name.replace("_", " ")
        for side, of in (("precision", "candidate"), ("recall", "gold")):
            yield Card(
                name=f"component.{name}.{side}",
                title=f"{title.capitalize()} {side}",
                question=question,
                formula=f"|gold and candidate {title}| / |{of} {title}|, items in canonical form",
                undefined=_UNDEFINED,
                source="specification section 5.4",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One set of both sides; `None` on the candidate's side where there is no candidate SQL."""

    gold: frozenset[str]
    candidate: frozenset[str] | None

    @property
    def shared(self) -> int:
        return 0 if self.candidate is None else len(self.gold & self.candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The sets of both sides, or why there are none."""

    differences: Mapping[str, Difference]
    undefined: Reason | None = None
    why: Sequence[str] = ()


def examine(trial: Trial, settings: ScoreSettings) -> Examined:  # noqa: ARG001 - the candidate was cleaned when read
    """Compare the chosen gold's sets with the candidate's."""
    if not trial.golds:
        return Examined(differences={}, undefined=Reason.NOT_APPLICABLE)
    gold = trial.golds[min(trial.chosen, len(trial.golds) - 1)]
    if trial.fault is not None and gold.comprehension is None:
        return Examined(differences={}, undefined=Reason.HARNESS_FAILED)
    problem = unresolved(gold, "gold")
    if trial.candidate.sql is not None:
        problem = [*problem, *unresolved(trial.candidate, "candidate")]
    if problem or not isinstance(gold.comprehension, Understanding):
        return Examined(differences={}, undefined=Reason.UNRESOLVED, why=problem)
    wanted = gold.comprehension
    found = trial.candidate.comprehension if trial.candidate.sql is not None else None
    pieces = found.pieces if isinstance(found, Understanding) else None
    differences = {name: _difference(name, wanted.pieces, pieces) for name in SETS}
    differences[ORDERING] = Difference(
        gold=ordering_items(wanted.ordering),
        candidate=ordering_items(found.ordering) if isinstance(found, Understanding) else None,
    )
    return Examined(differences=differences)


def _difference(name: str, gold: Pieces, candidate: Pieces | None) -> Difference:
    return Difference(gold=getattr(gold, name), candidate=None if candidate is None else getattr(candidate, name))


def unresolved(side: Side, who: str) -> list[str]:
    """Why a side's query has no meaning, in words; empty when it is understood whole."""
    understood = side.comprehension
    if understood is None:
        return [f"{who}: not read"]
    if not isinstance(understood, Understanding):
        return [f"{who}: {understood.why}"]
    if understood.unknown_names:
        return [f"{who}: the schema has no {', '.join(understood.unknown_names)}"]
    return []


def ordering_items(ordering: Ordering) -> frozenset[str]:
    """Sort keys with their place and direction, and the cut, as items.

    >>> from sqlassay.records.query import SortKey
    >>> sorted(ordering_items(Ordering(keys=(SortKey(expression="t.a", descending=True),), limit=3, limited=True)))
    ['1. t.a DESC', 'LIMIT 3']
    """
    items = {f"{i}. {key.expression}{' DESC' if key.descending else ''}" for i, key in enumerate(ordering.keys, 1)}
    if ordering.limit is not None:
        items.add(f"LIMIT {ordering.limit}{' WITH TIES' if ordering.with_ties else ''}")
    elif ordering.limited and not ordering.offset:
        items.add("LIMIT")
    if ordering.offset:
        items.add(f"OFFSET {ordering.offset}")
    return frozenset(items)


def precision(difference: Difference) -> Reading:
    """Which share of what the candidate does is in the gold? 0..1; undefined without candidate SQL or items.

    >>> precision(Difference(gold=frozenset({"a"}), candidate=frozenset({"a", "b"})))
    Ratio(hits=1, total=2)
    """
    if difference.candidate is None:
        return Undefined(reason=Reason.NO_SQL if difference.gold else Reason.NOTHING_TO_COUNT)
    return ratio(difference.shared, len(difference.candidate), otherwise=Reason.NOTHING_TO_COUNT)


def recall(difference: Difference) -> Reading:
    """Which share of what the gold does is in the candidate? 0..1; 0 without candidate SQL.

    >>> recall(Difference(gold=frozenset({"a"}), candidate=None))
    Ratio(hits=0, total=1)
    """
    return ratio(difference.shared, len(difference.gold), otherwise=Reason.NOTHING_TO_COUNT)


def readings(examined: Examined) -> Mapping[str, Reading]:
    """All readings of the family."""
    found: dict[str, Reading] = {}
    for name in _QUESTIONS:
        difference = examined.differences.get(name)
        for side, read in (("precision", precision), ("recall", recall)):
            if difference is None:
                found[f"component.{name}.{side}"] = Undefined(reason=examined.undefined or Reason.UNRESOLVED)
            else:
                found[f"component.{name}.{side}"] = read(difference)
    return found


def evidence(examined: Examined) -> Mapping[str, Any]:
    """Per set `{gold, candidate, missing, extra}`, each null where unknown; the differences in the user's words."""
    found: dict[str, Any] = {
        name: dict.fromkeys(("gold", "candidate", "missing", "extra"))
        for name in _QUESTIONS
        if name not in examined.differences
    }
    for name, difference in examined.differences.items():
        word = SETS.get(name, "ordering")
        candidate = difference.candidate or frozenset()
        found[name] = {
            "gold": sorted(difference.gold),
            "candidate": None if difference.candidate is None else sorted(candidate),
            "missing": [f"missing {word}: {item}" for item in sorted(difference.gold - candidate)],
            "extra": [f"extra {word}: {item}" for item in sorted(candidate - difference.gold)],
        }
    if examined.why:
        found["unresolved"] = list(examined.why)
    return found


def ceilings(examined: Examined) -> Iterable[Ceiling]:
    """`unresolved` where a query could not be read."""
    if examined.undefined is Reason.UNRESOLVED:
        yield Ceiling.UNRESOLVED


FAMILY: Family[Examined] = Family(
    name="component",
    cards=tuple(_cards()),
    examine=examine,
    readings=readings,
    evidence=evidence,
    ceilings=ceilings,
)
