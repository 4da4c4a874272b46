"""Did the agent have the tables? Once when the harness asks the retriever, once by what the agent saw (section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.records.query import Understanding
from sqlassay.records.relation import Schema
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import OfferedTable
from sqlassay.records.value import Ceiling, Quantity, Reading, Reason, Undefined, ratio
from sqlassay.sql.schema import SchemaIndex, index
from sqlassay.sql.understand import understand

WAYS: Mapping[str, str] = {
    "direct": "when the harness itself called the retriever with the question",
    "in_turn": "by what the agent saw in this turn",
}

_UNDEFINED: Mapping[Reason, str] = {
    Reason.NOT_APPLICABLE: "the case has no gold SQL",
    Reason.NOT_ASKED: "no retriever is configured (direct)",
    Reason.NOT_RECORDED: "what was offered is not known",
    Reason.OFFERED_INCOMPLETE: "the adapter cannot see all that was offered",
    Reason.UNRESOLVED: "it cannot be told which tables the gold SQL reads",
    Reason.NOTHING_TO_COUNT: "the gold reads no table, or none was offered",
    Reason.HARNESS_FAILED: "the retriever could not be reached",
}
_MEASURES: Mapping[str, tuple[str, str, str, str, str]] = {
    "recall": ("Which share of the required tables was offered?", "|required and offered| / |required|", "share",
               "0..1", "higher"),
    "precision": ("Which share of the offered tables was required?", "|required and offered| / |offered|", "share",
                  "0..1", "higher"),
    "spurious": ("How many tables were offered without need?", "|offered - required|", "count", "0..", "lower"),
}  # fmt: skip


def _cards() -> Iterable[Card]:
    for way, when in WAYS.items():
        for measure, (question, formula, unit, span, better) in _MEASURES.items():
            yield Card(
                name=f"retrieval.{way}.{measure}",
                title=f"Retrieval {measure} ({way.replace('_', ' ')})",
                question=question,
                formula=f"{formula}, {when}; offered are tables whose DDL was returned",
                unit=unit,
                range=span,
                better=better,
                undefined=_UNDEFINED,
                source="specification section 5.2",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one way of looking found, against the gold that fits it best; or why nothing can be said."""

    required: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()
    gold: int | None = None
    undefined: Reason | None = None

    @property
    def shared(self) -> int:
        return len(self.required & self.offered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """Both ways apart, and the hidden examples that came back."""

    offers: Mapping[str, Offer]
    leaked: tuple[str, ...] = ()
    error: str | None = None


def examine(trial: Trial, settings: ScoreSettings) -> Examined:  # noqa: ARG001 - no setting changes it
    """Compare what was offered with what each accepted gold requires, and look for hidden examples."""
    names = _Names(trial.schema)
    direct = trial.direct
    offers = {
        "direct": _direct(trial, names),
        "in_turn": _in_turn(trial, names),
    }
    shown: list[str] = []
    if trial.turn.retrieval is not None:
        shown += [*trial.turn.retrieval.examples, *trial.turn.retrieval.memory]
    if direct is not None:
        shown += direct.examples
    leaked = leaks(shown, hidden_sql=trial.hidden_sql, hidden_ids=trial.hidden_ids, schema=trial.schema)
    return Examined(offers=offers, leaked=leaked, error=None if direct is None else direct.error)


def _direct(trial: Trial, names: _Names) -> Offer:
    if not trial.golds:
        return Offer(undefined=Reason.NOT_APPLICABLE)
    if trial.direct is None:
        return Offer(undefined=Reason.NOT_ASKED)
    if trial.direct.error is not None:
        return Offer(undefined=Reason.HARNESS_FAILED)
    if trial.direct.offered is None:
        return Offer(undefined=Reason.NOT_RECORDED)
    return _best(trial.golds, trial.direct.offered, names)


def _in_turn(trial: Trial, names: _Names) -> Offer:
    if not trial.golds:
        return Offer(undefined=Reason.NOT_APPLICABLE)
    retrieval = trial.turn.retrieval
    if retrieval is None or retrieval.offered is None:
        return Offer(undefined=Reason.NOT_RECORDED)
    if not retrieval.offered_complete:
        return Offer(undefined=Reason.OFFERED_INCOMPLETE)
    return _best(trial.golds, retrieval.offered, names)


def _best(golds: Sequence[Side], tables: Sequence[OfferedTable], names: _Names) -> Offer:
    """The gold with the best recall; among equals the first."""
    offered = frozenset(names.folded(table.name) for table in tables if table.has_ddl)
    best: Offer | None = None
    best_recall = -1.0
    for i, gold in enumerate(golds):
        required = required_by(gold)
        if required is None:
            continue
        matched = names.matched(required, offered)
        offer = Offer(required=required, offered=matched, gold=i)
        recall = offer.shared / len(required) if required else 0.0
        if recall > best_recall:
            best, best_recall = offer, recall
    return best if best is not None else Offer(undefined=Reason.UNRESOLVED)


def required_by(gold: Side) -> frozenset[str] | None:
    """The relations that a gold query reads, as named; None where that cannot be told."""
    understood = gold.comprehension
    if isinstance(understood, Understanding):
        return frozenset(understood.tables)
    if understood is None or not understood.tables:
        return None
    return frozenset(understood.tables)


class _Names:
    """Offered names in the spelling of required ones: folded by dialect, default-schema prefixes gone."""

    def __init__(self, schema: Schema | None) -> None:
        self._index: SchemaIndex = index(schema if schema is not None else Schema(dialect="sqlite"))

    def folded(self, name: str) -> str:
        parts = _parts(name)
        fold = self._index.naming.relations
        folded = tuple(fold(part, quoted) for part, quoted in parts)
        relation = self._index.relation(folded)
        if relation is None and not any(quoted for _, quoted in parts):
            # Retrievers often print names as the catalogue stores them, without the quotes.
            stored = tuple(fold(part, True) for part, _ in parts)
            relation = self._index.relation(stored)
        return self._index.written(folded) if relation is None else relation.name

    def matched(self, required: frozenset[str], offered: frozenset[str]) -> frozenset[str]:
        """Offered names with a longer or shorter prefix than a required one count as that one."""
        left = offered - required
        wanted = required - offered
        found = set(offered & required)
        for name in sorted(left):
            same = [one for one in wanted if one.endswith(f".{name}") or name.endswith(f".{one}")]
            if len(same) == 1:
                found.add(same[0])
                wanted = wanted - {same[0]}
            else:
                found.add(name)
        return frozenset(found)


_PART = re.compile(r'"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([^."`\[\]]+)')


def _parts(name: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for match in _PART.finditer(name.strip()):
        double, back, bracket, bare = match.groups()
        if bare is not None:
            found.append((bare.strip(), False))
        else:
            quoted = double.replace('""', '"') if double is not None else back if back is not None else bracket
            found += [(part, True) for part in (quoted.split(".") if back is not None else [quoted])]
    return found or [(name, False)]


def leaks(
    shown: Iterable[str], *, hidden_sql: Sequence[str], hidden_ids: Sequence[str], schema: Schema | None
) -> tuple[str, ...]:
    """Which hidden examples came back: under their id, as their SQL, or as SQL that says the same.

    >>> leaks(["select 1  ;", "other"], hidden_sql=["SELECT 1"], hidden_ids=["k7"], schema=None)
    ('select 1  ;',)
    """
    ids = set(hidden_ids)
    spellings = {_spelling(sql) for sql in hidden_sql}
    texts: set[str] | None = None
    found: list[str] = []
    for example in dict.fromkeys(shown):
        leaked = example.strip() in ids or any(_spelling(part) in spellings for part in _sql_parts(example))
        if not leaked and hidden_sql and len(example) < 20_000:
            reader = index(schema if schema is not None else Schema(dialect="sqlite"))
            if texts is None:
                texts = {text for sql in hidden_sql if (text := _canonical(sql, reader)) is not None}
            leaked = any(_canonical(part, reader) in texts for part in _sql_parts(example))
        if not leaked:
            written = _spelling(example)
            leaked = any(len(sql) >= 20 and sql in written for sql in spellings)
        if leaked:
            found.append(example)
    return tuple(found)


def _sql_parts(example: str) -> list[str]:
    from sqlassay.sql.extract import statement_in

    inside = statement_in(example)
    return [example] if inside is None or inside == example else [inside, example]


def _spelling(sql: str) -> str:
    return re.sub(r"\s+", " ", sql).strip().rstrip("; ").casefold()


def _canonical(sql: str, reader: SchemaIndex) -> str | None:
    understood = understand(sql, reader)
    return understood.canonical if isinstance(understood, Understanding) and understood.tables else None


def recall(offer: Offer) -> Reading:
    """Which share of the required tables was offered? 0..1; undefined where the gold reads none.

    >>> offer = Offer(
    ...     required=frozenset({"orders", "order_lines", "customers"}),
    ...     offered=frozenset({"orders", "customers", "products", "sites", "staff"}),
    ... )
    >>> round(recall(offer).value, 3), precision(offer).value, spurious(offer).value
    (0.667, 0.4, 3)
    """
    if offer.undefined is not None:
        return Undefined(reason=offer.undefined)
    return ratio(offer.shared, len(offer.required), otherwise=Reason.NOTHING_TO_COUNT)


def precision(offer: Offer) -> Reading:
    """Which share of the offered tables was required? 0..1; undefined where none was offered."""
    if offer.undefined is not None:
        return Undefined(reason=offer.undefined)
    return ratio(offer.shared, len(offer.offered), otherwise=Reason.NOTHING_TO_COUNT)


def spurious(offer: Offer) -> Reading:
    """How many tables were offered without need? A count."""
    if offer.undefined is not None:
        return Undefined(reason=offer.undefined)
    return Quantity(value=len(offer.offered - offer.required), unit="count")


def readings(examined: Examined) -> Mapping[str, Reading]:
    """All readings of the family."""
    found: dict[str, Reading] = {}
    for way, offer in examined.offers.items():
        found[f"retrieval.{way}.recall"] = recall(offer)
        found[f"retrieval.{way}.precision"] = precision(offer)
        found[f"retrieval.{way}.spurious"] = spurious(offer)
    return found


def evidence(examined: Examined) -> Mapping[str, Any]:
    """Required, offered, missing and spurious tables of both ways, which gold was used, and what leaked."""
    found: dict[str, Any] = {}
    for way, offer in examined.offers.items():
        if offer.undefined is not None:
            continue
        found[way] = {
            "required": sorted(offer.required),
            "offered": sorted(offer.offered),
            "missing": sorted(offer.required - offer.offered),
            "spurious": sorted(offer.offered - offer.required),
            "gold_index": offer.gold,
        }
    if examined.leaked:
        found["leaked"] = list(examined.leaked)
    if examined.error is not None:
        found["error"] = examined.error
    return found


def ceilings(examined: Examined) -> Iterable[Ceiling]:
    """`leak` where a hidden example came back, `unresolved` where the gold's tables cannot be told."""
    if examined.leaked:
        yield Ceiling.LEAK
    if any(offer.undefined is Reason.UNRESOLVED for offer in examined.offers.values()):
        yield Ceiling.UNRESOLVED


FAMILY: Family[Examined] = Family(
    name="retrieval",
    cards=tuple(_cards()),
    examine=examine,
    readings=readings,
    evidence=evidence,
    ceilings=ceilings,
)
