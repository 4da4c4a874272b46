"""Is the information there, and is the data in it right? One alignment of both tables, read in many ways.

Specification section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.value import Ceiling
from sqlassay.tables.encode import Coercions
from sqlassay.tables.keys import choose_key
from sqlassay.tables.pairing import Pair, pair_columns
from sqlassay.tables.quick import interchangeable
from sqlassay.tables.rows import Bench, Plan, bench_of, rows_equal
from sqlassay.tables.rule import Links
from sqlassay.tables.shelves import Tally, tally, whole_rows
from sqlassay.tables.tolerance import agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Both tables put side by side: paired columns, the row key, matched cells.

    `reference_columns` leaves out optional columns that are absent; one that is there by name has to be right. `key`
    holds reference positions, None without one.
    """

    pairs: tuple[Pair, ...]
    reference_columns: int
    candidate_columns: int
    reference_rows: int
    candidate_rows: int
    key: tuple[int, ...] | None
    matched_cells: int
    unpaired: tuple[int, ...]
    """Reference columns that pair with nothing and are not optional."""
    ceilings: frozenset[Ceiling]

    @property
    def width(self) -> int:
        return len(self.pairs)

    @property
    def column_precision(self) -> Fraction:
        """Sum of pair precisions, 0..candidate_columns."""
        return _total((pair.overlap.candidate_hits, pair.overlap.candidate) for pair in self.pairs)

    @property
    def column_recall(self) -> Fraction:
        """Sum of pair recalls, 0..reference_columns."""
        return _total((pair.overlap.reference_hits, pair.overlap.reference) for pair in self.pairs)


def _total(shares: Iterable[tuple[int, int]]) -> Fraction:
    """The sum of shares, each as hits and count; a column without values adds nothing."""
    whole, rest = 0, Fraction(0)
    for hits, count in shares:
        if hits == count > 0:
            whole += 1
        elif hits:
            rest += Fraction(hits, count)
    return rest + whole


def align(
    reference: Relation,
    candidate: Relation,
    *,
    links: Links = Links(),
    settings: ScoreSettings = ScoreSettings(),
    tolerance: Tolerance | None = None,
    optional_columns: Sequence[str] = (),
    suggested: Sequence[int | None] | None = None,
) -> Alignment:
    """Pair columns and rows of two tables and count the cells that agree (specification section 5.3).

    `suggested` is `Comparison.assignment`, where the tables were found equal.

    >>> from sqlassay.records.relation import Column
    >>> def table(names, *rows):
    ...     return Relation(columns=tuple(Column(name=name) for name in names), rows=rows)
    >>> found = align(table("kv", ("a", 1), ("b", 2)), table("kv", ("a", 1), ("b", 3)))
    >>> [(pair.reference, pair.candidate, pair.by.value) for pair in found.pairs], found.matched_cells
    ([(0, 0, 'values'), (1, 1, 'values')], 3)
    """
    if suggested is not None and interchangeable(reference, candidate):
        candidate = reference
    bench = bench_of(
        reference,
        candidate,
        plan=Plan(required=reference.height),
        agree=agreement(tolerance or settings.tolerance),
        coercions=Coercions(dates=settings.coerce_dates, booleans=settings.coerce_booleans),
    )
    left, right = bench.reference, bench.candidate
    threshold = Fraction(str(settings.pair_threshold))
    pairs = pair_columns(bench, links, threshold=threshold, suggested=suggested)
    key = choose_key(bench, pairs, links.reference, floor=Fraction(str(settings.key_selectivity)))
    cells, ceilings = _cells(bench, pairs, key, limit=settings.shelf_limit)
    if any(pair.ambiguous for pair in pairs):
        ceilings.add(Ceiling.AMBIGUOUS_PAIR)
    optional = {name.casefold() for name in optional_columns}
    paired = {pair.reference for pair in pairs}
    absent = [i for i in range(left.width) if i not in paired]
    used = {pair.candidate for pair in pairs}
    optional -= {name.casefold() for j, name in enumerate(right.names) if j not in used}
    missing = tuple(i for i in absent if left.names[i].casefold() not in optional)
    return Alignment(
        pairs=pairs,
        reference_columns=left.width - (len(absent) - len(missing)),
        candidate_columns=right.width,
        reference_rows=left.height,
        candidate_rows=right.height,
        key=None if key is None else tuple(pair.reference for pair in key),
        matched_cells=cells,
        unpaired=missing,
        ceilings=frozenset(ceilings),
    )


def _cells(
    bench: Bench, pairs: Sequence[Pair], key: tuple[Pair, ...] | None, *, limit: int
) -> tuple[int, set[Ceiling]]:
    """Matched cells, and what limits the count."""
    here, there = bench.reference.height, bench.candidate.height
    ceilings: set[Ceiling] = set()
    if not pairs or not here or not there:
        return 0, ceilings
    if key is None:
        ceilings.add(Ceiling.NO_ROW_KEY)
    places = [(pair.reference, pair.candidate) for pair in pairs]
    if here == there and all(bench.holds(i, j) for i, j in places) and rows_equal(bench, places):
        return here * len(pairs), ceilings
    if bench.large:
        from sqlassay.tables.large import LargeBench
        from sqlassay.tables.large_cells import matched_cells

        assert isinstance(bench, LargeBench)
        return _with_ceiling(matched_cells(bench, pairs, key, limit=limit), ceilings)
    meetings = [bench.meeting(pair.reference, pair.candidate) for pair in pairs]
    left = [bench.reference[p.reference].form(m.form) for p, m in zip(pairs, meetings, strict=True)]
    right = [bench.candidate[p.candidate].form(m.form) for p, m in zip(pairs, meetings, strict=True)]
    rows = (list(zip(*left, strict=True)), list(zip(*right, strict=True)))
    tolerant = [m.tolerant for m in meetings]
    if key is None:
        return whole_rows(*rows, tolerant=tolerant, agree=bench.agree) * len(pairs), ceilings
    own = [pairs.index(pair) for pair in key]
    found = tally(
        *rows,
        keys=(_keys(left, own), _keys(right, own)),
        tolerant=[loose and place not in own for place, loose in enumerate(tolerant)],
        agree=bench.agree,
        limit=limit,
    )
    return _with_ceiling(found, ceilings)


def _with_ceiling(found: Tally, ceilings: set[Ceiling]) -> tuple[int, set[Ceiling]]:
    return found.cells, ceilings | ({Ceiling.LARGE_SHELF} if found.large else set())


def _keys(columns: Sequence[Sequence[Any]], places: Sequence[int]) -> Sequence[Any]:
    if len(places) == 1:
        return columns[places[0]]
    return list(zip(*(columns[place] for place in places), strict=True))
