"""Are these the gold's ids, as a set and in order, when any rows tied at a cut would do? (specification section 5.1)

What the gold could have given is never listed: a set of ids is possible when the rows tied across a cut can cover what
the rows outside of it leave, and can be filled up without bringing in another id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.tables.rule import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """The ids of a column: distinct, in order of their first row, without NULL; what was dropped is counted."""

    ids: tuple[Any, ...]
    duplicates: int
    nulls: int


def distinct_ids(cells: Sequence[Any]) -> Ids:
    """The ids in a column.

    >>> distinct_ids([3, None, 1, 3])
    Ids(ids=(3, 1), duplicates=1, nulls=1)
    """
    seen = dict.fromkeys(cells)
    nulls = sum(cell is None for cell in cells)
    seen.pop(None, None)
    return Ids(ids=tuple(seen), nulls=nulls, duplicates=len(cells) - nulls - len(seen))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """Rows tied across a cut: how often each id occurs among them, and how many of them the gold shows."""

    counts: Counter[Any]
    quota: int
    first: bool
    """Whether the gold starts with these rows."""

    def fills(self, allowed: frozenset[Any] | set[Any]) -> bool:
        """Whether as many rows as the gold shows can be taken without an id that is not allowed."""
        room = self.counts[None]
        for identity in allowed:
            room += self.counts[identity]
            if room >= self.quota:
                return True
        return room >= self.quota


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldIds:
    """The gold's ids: blocks of tied rows that are all shown, and the pools at its ends."""

    ids: tuple[Any, ...]
    blocks: tuple[tuple[Any, ...], ...]
    pools: tuple[_Pool, ...]
    shown: tuple[frozenset[Any], ...]
    """By pool the ids that the gold happened to show of it, without those that its other rows hold."""

    @classmethod
    def of(cls, cells: Sequence[Any], height: int, order: Order) -> GoldIds:
        """From the gold's column, in which the rows of the pools follow those of the result."""
        inside: set[int] = set()
        pools, start = [], height
        for cut in order.cuts:
            tied = cells[start : start + len(cut.pool)]
            start += len(cut.pool)
            inside.update(range(cut.start, cut.stop))
            pools.append(_Pool(counts=Counter(tied), quota=cut.stop - cut.start, first=cut.start == 0))
        blocks: dict[int, list[Any]] = {}
        for position in range(height):
            if position not in inside:
                group = position if order.groups is None else order.groups[position]
                blocks.setdefault(group, []).append(cells[position])
        fixed = {cell for block in blocks.values() for cell in block}
        return cls(
            ids=distinct_ids(cells[:height]).ids,
            blocks=tuple(map(tuple, blocks.values())),
            pools=tuple(pools),
            shown=tuple(frozenset(cells[cut.start : cut.stop]) - fixed - {None} for cut in order.cuts),
        )

    def _fixed(self) -> set[Any]:
        return {cell for block in self.blocks for cell in block if cell is not None}

    def hits(self, found: Sequence[Any]) -> int:
        """How many of the ids found are right, at most as many of a pool as the gold shows."""
        fixed = self._fixed()
        rest = set(found) - fixed
        hits = len(found) - len(rest)
        for pool, shown in zip(self.pools, self.shown, strict=True):
            taken = [identity for identity in rest if identity in pool.counts][: len(shown)]
            hits += len(taken)
            rest.difference_update(taken)
        return hits

    def same_set(self, found: Sequence[Any]) -> bool:
        """Whether the gold could have shown exactly these ids."""
        if not self.pools:
            return len(found) == len(self.ids) and set(found) == set(self.ids)
        fixed, there = self._fixed(), set(found)
        rest = there - fixed
        if not fixed <= there or not all(pool.fills(there) for pool in self.pools):
            return False
        holders = Counter(tuple(identity in pool.counts for pool in self.pools) for identity in rest)
        if any(not any(holder) for holder in holders) or len(rest) > sum(pool.quota for pool in self.pools):
            return False
        return all(
            sum(count for holder, count in holders.items() if holder[place] and sum(holder) == 1) <= pool.quota
            for place, pool in enumerate(self.pools)
        )

    def same_order(self, found: Sequence[Any]) -> bool:
        """Whether the gold could have shown exactly these ids in this order; ids that came before drop."""
        head = next((pool for pool in self.pools if pool.first), None)
        tail = next((pool for pool in self.pools if not pool.first), None)
        if head is None:
            return self._follows(found, 0, tail)
        leading = next((n for n, identity in enumerate(found) if identity not in head.counts), len(found))
        for end in range(min(head.quota, leading), -1, -1):
            if not head.fills(set(found[:end])):
                return False
            if self._follows(found, end, tail):
                return True
        return False

    def _follows(self, found: Sequence[Any], start: int, tail: _Pool | None) -> bool:
        seen = set(found[:start])
        for block in self.blocks:
            fresh = {cell for cell in block if cell is not None} - seen
            if set(found[start : start + len(fresh)]) != fresh:
                return False
            start += len(fresh)
            seen |= fresh
        rest = found[start:]
        if tail is None:
            return not rest
        in_reach = len(rest) <= tail.quota and all(identity in tail.counts for identity in rest)
        return in_reach and tail.fills(seen | set(rest))
