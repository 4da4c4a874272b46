"""Is it the same answer when only a part of the table counts? Ids, a ranking, one value, groups with totals.

Specification section 5.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from sqlassay.records.relation import Kind, Relation, Row
from sqlassay.records.value import Ratio, Reading, Reason, Undefined, ratio, verdict
from sqlassay.tables.cells import is_number
from sqlassay.tables.chosen import Group, chosen, possible
from sqlassay.tables.encode import Coercions, Table, tables_of
from sqlassay.tables.ids import GoldIds, distinct_ids
from sqlassay.tables.order import OrderFacts
from sqlassay.tables.pairing import By, pair_columns
from sqlassay.tables.rows import Bench, Plan
from sqlassay.tables.rule import Cut, Links, Order
from sqlassay.tables.shelves import scorer, tally
from sqlassay.tables.tolerance import HAIR, Agreement, agreement

_SHELF: Final = 5000
"""Rows of one key from which the totals are counted by a bound."""


class ShapeError(ValueError):
    """The gold result does not have the shape that its case says (an error of the case)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeVerdict:
    """The verdict by shape with its extra readings, by metric name without the family.

    `dropped` counts what was left out: duplicate and NULL ids of each side. `single` tells that the verdict rests
    on one row or one value, `by_hair` that it would be another one under a relative tolerance of a billionth.
    """

    exact: bool
    readings: dict[str, Reading] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    single: bool = False
    by_hair: bool = False
    columns: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Both tables with what every shape needs to know of them."""

    reference: Relation
    candidate: Relation
    bench: Bench
    links: Links
    threshold: Fraction

    @classmethod
    def of(
        cls,
        reference: Relation,
        candidate: Relation,
        *,
        links: Links,
        agree: Agreement,
        coercions: Coercions,
        threshold: Fraction,
        pools: Sequence[Row] = (),
    ) -> Ground:
        left, right = tables_of(reference, candidate, extra_rows=pools)
        bench = Bench(left, right, plan=Plan(required=reference.height), agree=agree, coercions=coercions)
        return cls(reference=reference, candidate=candidate, bench=bench, links=links, threshold=threshold)

    def named(self, column: str) -> int:
        """The gold's column of this name."""
        found = _places(self.reference, column)
        if not found:
            raise ShapeError(f"the gold result has no column {column!r}; it has {', '.join(self.reference.names)}")
        return found[0]

    def partner(self, i: int, column: str, *, taken: frozenset[int] = frozenset()) -> int | None:
        """The candidate's column for a named one: by name, then origin, then expression, then by values."""
        named = [j for j in _places(self.candidate, column) if j not in taken]
        if len(named) == 1:
            return named[0]
        origin, expression = self.links.reference.origin(i), self.links.reference.expression(i)
        pool = named or [j for j in range(self.candidate.width) if j not in taken]
        for fact, known in ((origin, self.links.candidate.origin), (expression, self.links.candidate.expression)):
            same = [] if fact is None else [j for j in pool if known(j) == fact]
            if same:
                return same[0] if len(same) == 1 else self._by_values(i, same) or same[0]
        return self._by_values(i, pool) if not named else self._by_values(i, named) or named[0]

    def _by_values(self, i: int, pool: Sequence[int]) -> int | None:
        for pair in pair_columns(self.bench, Links(), threshold=self.threshold):
            if pair.reference == i and pair.candidate in pool and pair.by is By.VALUES:
                return pair.candidate
        return None


def _places(relation: Relation, column: str) -> list[int]:
    name = column.casefold()
    return [position for position, other in enumerate(relation.names) if other.casefold() == name]


def _no_column(recall: str, precision: str, gold: int) -> dict[str, Reading]:
    return {
        recall: ratio(0, gold, otherwise=Reason.EMPTY_RESULT),
        precision: Undefined(reason=Reason.NO_PAIRS),
    }


def id_set(ground: Ground, column: str, facts: OrderFacts) -> ShapeVerdict:
    """The same set of ids in the named column, other columns free."""
    return _ids_verdict(ground, column, facts, ranked=False)


def ranking(ground: Ground, column: str, facts: OrderFacts) -> ShapeVerdict:
    """The same ids in the same order; tied ids may permute, and any id tied at the cut is accepted."""
    return _ids_verdict(ground, column, facts, ranked=True)


def _ids_verdict(ground: Ground, column: str, facts: OrderFacts, *, ranked: bool) -> ShapeVerdict:
    i = ground.named(column)
    j = ground.partner(i, column)
    height = ground.reference.height
    plain = distinct_ids(ground.bench.reference[i].cells[:height])
    dropped = {"gold_duplicates": plain.duplicates, "gold_nulls": plain.nulls}
    columns = {"gold": ground.reference.names[i], "candidate": None if j is None else ground.candidate.names[j]}
    if j is None:
        readings = _no_column("id_recall", "id_precision", len(plain.ids))
        if ranked:
            readings["set_exact"] = verdict(False)
        return ShapeVerdict(exact=False, readings=readings, dropped=dropped, columns=columns)
    form = ground.bench.meeting(i, j).form
    gold = GoldIds.of(ground.bench.reference[i].form(form), height, facts.order)
    found = distinct_ids(ground.bench.candidate[j].form(form))
    dropped |= {"candidate_duplicates": found.duplicates, "candidate_nulls": found.nulls}
    same_set = gold.same_set(found.ids)
    hits = len(found.ids) if same_set else gold.hits(found.ids)
    wanted = len(found.ids) if same_set else len(gold.ids)
    readings = {
        "id_precision": ratio(hits, len(found.ids), otherwise=Reason.EMPTY_RESULT),
        "id_recall": ratio(hits, wanted, otherwise=Reason.EMPTY_RESULT),
    }
    exact = same_set
    if ranked:
        readings["set_exact"] = verdict(same_set)
        exact = same_set and gold.same_order(found.ids)
    return ShapeVerdict(exact=exact, readings=readings, dropped=dropped, single=len(gold.ids) == 1, columns=columns)


def scalar(ground: Ground) -> ShapeVerdict:
    """One value equal; other columns free where exactly one column can be the number."""
    reference, candidate = ground.reference, ground.candidate
    i = _scalar_column(reference, ground.bench.reference)
    if i is None or reference.height != 1:
        raise ShapeError(
            f"a scalar needs one row with one column or one numeric column; the gold gives {reference.height} rows "
            f"of {reference.width} columns"
        )
    if candidate.height != 1:
        return ShapeVerdict(exact=False, single=True)
    j = _scalar_partner(ground, i)
    columns = {"gold": reference.names[i], "candidate": None if j is None else candidate.names[j]}
    if j is None:
        return ShapeVerdict(exact=False, single=True, columns=columns)
    bench = ground.bench
    meeting = bench.meeting(i, j)
    pool = bench.reference[i].form(meeting.form)
    answer = bench.candidate[j].form(meeting.form)[0]
    golds = pool[1:] or pool[:1]

    def holds(agree: Agreement) -> bool:
        return any(value == answer or (meeting.tolerant and agree(value, answer)) for value in golds)

    exact = holds(bench.agree)
    by_hair = exact != holds(agreement(HAIR))
    return ShapeVerdict(exact=exact, single=True, by_hair=by_hair, columns=columns)


def _scalar_column(relation: Relation, table: Table) -> int | None:
    if relation.width == 1:
        return 0
    numeric = _numeric_columns(relation, table)
    return numeric[0] if len(numeric) == 1 else None


def _numeric_columns(relation: Relation, table: Table) -> list[int]:
    stated = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
    return [
        position
        for position, column in enumerate(relation.columns)
        if any(is_number(cell) for cell in table[position].cells)
        or (column.kind in stated and not table[position].types)
    ]


def _scalar_partner(ground: Ground, i: int) -> int | None:
    links, width = ground.links, ground.candidate.width
    ways = (
        (links.reference.origin(i), links.candidate.origin),
        (links.reference.expression(i), links.candidate.expression),
    )
    for fact, known in ways:
        same = [] if fact is None else [j for j in range(width) if known(j) == fact]
        if len(same) == 1:
            return same[0]
    if width == 1:
        return 0
    numeric = _numeric_columns(ground.candidate, ground.bench.candidate)
    return numeric[0] if len(numeric) == 1 else None


def groups(ground: Ground, columns: Sequence[str], order: Order = Order()) -> ShapeVerdict:
    """The same group keys with the same totals; row order and extra columns are free.

    Rows tied across a cut stand where the candidate chose them.
    """
    reference, candidate = ground.reference, ground.candidate
    keys = [ground.named(column) for column in columns]
    totals = [i for i in range(reference.width) if i not in keys]
    partners: list[int] = []
    for i, column in zip(keys, columns, strict=True):
        j = ground.partner(i, column, taken=frozenset(partners))
        if j is None:
            nothing = _no_column("group_recall", "group_precision", reference.height)
            nothing["total_accuracy"] = Undefined(reason=Reason.NO_PAIRS)
            return ShapeVerdict(exact=False, readings=nothing)
        partners.append(j)
    bench = ground.bench
    forms = [bench.meeting(i, j).form for i, j in zip(keys, partners, strict=True)]
    gold_keys = list(zip(*(bench.reference[i].form(f) for i, f in zip(keys, forms, strict=True)), strict=True))
    found_keys = list(zip(*(bench.candidate[j].form(f) for j, f in zip(partners, forms, strict=True)), strict=True))
    paired = _totals(ground, totals, frozenset(partners))
    left, right, tolerant = _total_rows(bench, paired, len(gold_keys), len(found_keys))
    gold, found = list(zip(gold_keys, left, strict=True)), list(zip(found_keys, right, strict=True))
    height = reference.height
    hits, cells = _right(gold, found, order.cuts, tolerant, bench.agree)
    hair_hits, hair_cells = _right(gold, found, order.cuts, tolerant, agreement(HAIR))
    readings: dict[str, Reading] = {
        "group_precision": ratio(hits, len(found), otherwise=Reason.EMPTY_RESULT),
        "group_recall": ratio(hits, height, otherwise=Reason.EMPTY_RESULT),
        "total_accuracy": ratio(cells, hits * len(totals), otherwise=Reason.NOTHING_TO_COUNT),
    }
    exact = hits == height == len(found) and cells == hits * len(totals)
    by_a_hair = hair_hits == height == len(found) and hair_cells == hair_hits * len(totals)
    return ShapeVerdict(
        exact=exact,
        readings=readings,
        single=height == 1,
        by_hair=exact != by_a_hair,
        columns={"gold": ", ".join(columns), "candidate": ", ".join(candidate.names[j] for j in partners)},
    )


def _right(
    gold: Sequence[Group], found: Sequence[Group], cuts: Sequence[Cut], tolerant: Sequence[bool], agree: Agreement
) -> tuple[int, int]:
    """Right keys, and right totals of these. `gold` holds its own rows, then those of the pools."""
    if cuts and possible(cuts, gold, found, tolerant=tolerant, agree=agree):
        return len(found), len(found) * len(tolerant)
    if cuts:
        gold = [gold[place] for place in chosen(cuts, gold, found, scorer(tolerant, agree))]
    keys = [key for key, _ in gold], [key for key, _ in found]
    left, right = [totals for _, totals in gold], [totals for _, totals in found]
    cells = tally(left, right, keys=keys, tolerant=tolerant, agree=agree, limit=_SHELF).cells if tolerant else 0
    return (Counter(keys[0]) & Counter(keys[1])).total(), cells


def _totals(ground: Ground, totals: Sequence[int], taken: frozenset[int]) -> list[tuple[int, int]]:
    """Pair the totals with the candidate's columns that are no keys, as the output family pairs columns."""
    free = [j for j in range(ground.candidate.width) if j not in taken]
    bench = ground.bench
    left = _Part(bench.reference, totals, ground.reference.height)
    right = _Part(bench.candidate, free, ground.candidate.height)
    narrow = Bench(left, right, plan=Plan(required=left.height), agree=bench.agree, coercions=bench.coercions)
    links = Links(reference=_part(ground.links.reference, totals), candidate=_part(ground.links.candidate, free))
    pairs = pair_columns(narrow, links, threshold=ground.threshold)
    return [(totals[pair.reference], free[pair.candidate]) for pair in pairs]


def _part(facts: Any, positions: Sequence[int]) -> Any:
    return type(facts)(
        origins=tuple(facts.origin(p) for p in positions),
        expressions=tuple(facts.expression(p) for p in positions),
        aggregates=tuple(facts.aggregate(p) for p in positions),
    )


class _Part(Table):
    """Some columns of a table, first `height` rows."""

    def __init__(self, whole: Table, positions: Sequence[int], height: int) -> None:
        super().__init__(tuple(whole.columns[p] for p in positions), (), decimals=True)
        self._whole, self._positions, self._rows_shown = whole, positions, height

    @property
    def height(self) -> int:
        return self._rows_shown

    def __getitem__(self, position: int) -> Any:
        made = self._made.get(position)
        if made is None:
            cells = self._whole[self._positions[position]]
            made = cells if len(cells.cells) == self._rows_shown else type(cells)(cells.cells[: self._rows_shown])
            self._made[position] = made
        return made


def _total_rows(
    bench: Bench, paired: Sequence[tuple[int, int]], height: int, candidate: int
) -> tuple[list[Row], list[Row], list[bool]]:
    """The paired totals of both sides row by row, and which of them may differ a little."""
    meetings = [bench.meeting(i, j) for i, j in paired]
    left = [bench.reference[i].form(m.form) for (i, _), m in zip(paired, meetings, strict=True)]
    right = [bench.candidate[j].form(m.form) for (_, j), m in zip(paired, meetings, strict=True)]
    return (
        list(zip(*left, strict=True)) if left else [()] * height,
        list(zip(*right, strict=True)) if right else [()] * candidate,
        [m.tolerant for m in meetings],
    )


__all__ = ["Ground", "Ratio", "ShapeError", "ShapeVerdict", "groups", "id_set", "ranking", "scalar"]
