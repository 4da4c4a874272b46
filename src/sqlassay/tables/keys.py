"""Which columns tell the reference rows apart? The row key by which rows are paired (specification section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Final

from sqlassay.tables.pairing import By, Pair
from sqlassay.tables.rows import Bench
from sqlassay.tables.rule import Facts

_FEW: Final = 2000
"""Rows below which a key is counted over all of them at once."""
_SHIFTS: Final = (4, 2, 0)
"""The parts of the rows over which keys are counted one after the other: a sixteenth, a quarter, all."""
_ALL: Final = len(_SHIFTS)

_RANK: Final = {By.ORIGIN: 0, By.EXPRESSION: 1, By.VALUES: 2, By.CONSTANT: 3}


def choose_key(bench: Bench, pairs: Sequence[Pair], facts: Facts, *, floor: Fraction) -> tuple[Pair, ...] | None:
    """At most two paired columns that separate the reference rows best; None when their selectivity is below `floor`.

    Selectivity is distinct keys over reference rows.
    """
    height = bench.reference.height
    usable = [pair for pair in pairs if pair.by is not By.CONSTANT]
    if not height or not usable:
        return None
    counter = _Counter(bench)
    fit = [pair for pair in usable if _is_fit(bench, pair, facts)]
    for group in (fit, usable):
        found = _best(counter, group, height)
        if found is not None and Fraction(found[1], height) >= floor:
            return found[0]
    return None


def _is_fit(bench: Bench, pair: Pair, facts: Facts) -> bool:
    """Neither an aggregate nor non-integer numbers, and not a pair that hardly overlaps."""
    if facts.aggregate(pair.reference) or not _half(pair):
        return False
    return not bench.has_fractions(pair.reference)


def _half(pair: Pair) -> bool:
    found = pair.overlap
    return 2 * found.candidate_hits >= max(found.candidate, 1) or 2 * found.reference_hits >= max(found.reference, 1)


def _best(counter: _Counter, pairs: Sequence[Pair], height: int) -> tuple[tuple[Pair, ...], int] | None:
    """The best option and its number of keys.

    Options wait in the order of the most keys that they can have. The first is counted over more and more rows, as
    long as it stays the first; once all its rows are counted, no other can be better.
    """
    waiting: list[tuple[int, tuple[object, ...], int, tuple[Pair, ...]]] = [
        (-counter.keys((pair,), height), _rest((pair,)), _ALL, (pair,)) for pair in pairs
    ]
    single = {pair.reference: -count for pair, (count, *_) in zip(pairs, waiting, strict=True)}
    for one, two in combinations(pairs, 2):
        most = min(height, single[one.reference] * single[two.reference])
        waiting.append((-most, _rest((one, two)), 0, (one, two)))
    heapify(waiting)
    while waiting:
        most, rest, looks, option = heappop(waiting)
        if looks == _ALL:
            return option, -most
        rows = height if height < _FEW else height >> _SHIFTS[looks]
        keys = counter.keys(option, rows) + height - rows
        heappush(waiting, (-min(-most, keys), rest, _ALL if rows == height else looks + 1, option))
    return None


def _rest(option: tuple[Pair, ...]) -> tuple[object, ...]:
    """What decides between options with as many keys; no two options have the same."""
    return (
        -min(pair.overlap.rank[0] for pair in option),
        len(option),
        sorted(_RANK[pair.by] for pair in option),
        [pair.reference for pair in option],
    )


class _Counter:
    """Counts distinct keys, each only once."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._counts: dict[tuple[int, ...], int] = {}

    def keys(self, option: tuple[Pair, ...], height: int) -> int:
        """How many keys the first `height` reference rows have."""
        key = (height, *(pair.reference for pair in option))
        count = self._counts.get(key)
        if count is None:
            places = [(pair.reference, pair.candidate) for pair in option]
            count = self._counts[key] = self.bench.key_count(places, height)
        return count
