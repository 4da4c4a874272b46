"""Which columns tell the reference rows apart? The row key by which rows are paired (specification section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from sqlassay.tables.pairing import By, Pair
from sqlassay.tables.rows import Bench
from sqlassay.tables.rule import Facts

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
        best = _best(counter, group, height)
        if best is not None and Fraction(counter.keys(best), height) >= floor:
            return best
    return None


def _is_fit(bench: Bench, pair: Pair, facts: Facts) -> bool:
    """Neither an aggregate nor non-integer numbers, and not a pair that hardly overlaps."""
    if facts.aggregate(pair.reference) or not _half(pair):
        return False
    return not bench.has_fractions(pair.reference)


def _half(pair: Pair) -> bool:
    found = pair.overlap
    return 2 * found.candidate_hits >= max(found.candidate, 1) or 2 * found.reference_hits >= max(found.reference, 1)


def _best(counter: _Counter, pairs: Sequence[Pair], height: int) -> tuple[Pair, ...] | None:
    best: tuple[Pair, ...] | None = None
    best_rank: tuple[object, ...] = ()
    options: list[tuple[Pair, ...]] = [(pair,) for pair in pairs]
    options += sorted(combinations(pairs, 2), key=lambda couple: -counter.bound(couple, height))
    for option in options:
        if best is not None and counter.bound(option, height) < -best_rank[0]:  # type: ignore[operator]
            continue
        rank = _rank(counter.keys(option), option)
        if best is None or rank < best_rank:
            best, best_rank = option, rank
    return best


def _rank(keys: int, option: tuple[Pair, ...]) -> tuple[object, ...]:
    return (
        -keys,
        -min(pair.overlap.rank[0] for pair in option),
        len(option),
        sorted(_RANK[pair.by] for pair in option),
        [pair.reference for pair in option],
    )


class _Counter:
    """Counts distinct keys, each column coded once."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._codes: dict[int, tuple[Any, int]] = {}
        self._counts: dict[tuple[int, ...], int] = {}

    def codes(self, pair: Pair) -> tuple[Any, int]:
        made = self._codes.get(pair.reference)
        if made is None:
            made = self._codes[pair.reference] = self.bench.key_codes(pair.reference, pair.candidate)
        return made

    def bound(self, option: tuple[Pair, ...], height: int) -> int:
        """No option can have more distinct keys than this."""
        product = 1
        for pair in option:
            product *= self.codes(pair)[1]
        return min(height, product)

    def keys(self, option: tuple[Pair, ...]) -> int:
        if len(option) == 1:
            return self.codes(option[0])[1]
        key = tuple(pair.reference for pair in option)
        count = self._counts.get(key)
        if count is None:
            (left, _), (right, width) = self.codes(option[0]), self.codes(option[1])
            count = self._counts[key] = _couples(left, right, width)
        return count


def _couples(left: Any, right: Any, width: int) -> int:
    """How many different couples of codes there are."""
    if isinstance(left, list):
        return len({a * width + b for a, b in zip(left, right, strict=True)})
    import numpy as np

    codes = left * width + right
    size = int(codes.max()) + 1
    if size <= 16 * len(codes):
        seen = np.zeros(size, dtype=bool)
        seen[codes] = True
        return int(np.count_nonzero(seen))
    codes.sort()
    return 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
