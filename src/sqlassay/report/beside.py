"""Which row of one result stands beside which of the other, and which of their cells count as equal?

By the rules of the scorer (specification sections 5.0 and 5.3), so that a page marks what a verdict saw and no more.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Literal

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.tables.cells import is_number
from sqlassay.tables.encode import Coercions, Meeting, meet, tables_of
from sqlassay.tables.matching import skeleton
from sqlassay.tables.tolerance import agreement

Match = tuple[int | None, int | None]
"""Places of a gold row and of the candidate row beside it; None where it has none there."""

_Cells = tuple[Any, ...]

_THOROUGH = 300
"""Rows of a group beyond which it is paired in sorted order instead of by the best assignment."""
_TRY_ALL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRule:
    """When two cells of a pair of columns are equal, and which columns belong together."""

    tolerance: Tolerance = Tolerance()
    coercions: Coercions = Coercions()
    columns: Literal["any", "by_position", "by_name"] = "any"

    @classmethod
    def of(cls, settings: ScoreSettings, tolerance: Tolerance | None = None) -> CellRule:
        """The rule of a run; a case may bring its own `tolerance`."""
        return cls(
            tolerance=tolerance or settings.tolerance,
            coercions=Coercions(dates=settings.coerce_dates, booleans=settings.coerce_booleans),
            columns=settings.columns,
        )


class Beside:
    """Two results over their paired columns, each pair in the form in which it is compared."""

    def __init__(self, gold: Relation, candidate: Relation, pairs: Sequence[tuple[int, int]], rule: CellRule) -> None:
        left, right = tables_of(gold, candidate)
        self._agree = agreement(rule.tolerance)
        self.meetings = [_meeting(left[g], right[c], rule) for g, c in pairs]
        self.tolerant = [meeting.tolerant and not self._agree.exact for meeting in self.meetings]
        self.gold = _rows([left[g].form(m.form) for (g, _), m in zip(pairs, self.meetings, strict=True)], left.height)
        self.candidate = _rows(
            [right[c].form(m.form) for (_, c), m in zip(pairs, self.meetings, strict=True)], right.height
        )

    def agree(self, g: int, c: int, place: int) -> bool:
        """Whether the cells of two rows count as equal in the pair of columns at `place`."""
        left, right = self.gold[g][place], self.candidate[c][place]
        return bool(left == right) or (self.tolerant[place] and self._agree(left, right))

    def near(self, g: int, c: int, place: int) -> bool:
        """Whether cells that agree do so only within the tolerance or after a coercion."""
        meeting = self.meetings[place]
        return meeting.form != "plain" or bool(self.gold[g][place] != self.candidate[c][place])

    @cached_property
    def _exact(self) -> bool:
        return not any(self.tolerant)

    def matches(self, *, key: Sequence[int], ordered: bool) -> list[Match]:
        """Every row once, the gold's in their order; `key` are places of pairs that tell the gold's rows apart."""
        here, there = len(self.gold), len(self.candidate)
        if ordered or not self.meetings:
            longer = max(here, there)
            return [(i if i < here else None, i if i < there else None) for i in range(longer)]
        taken = self._whole()
        if key and not (here == there == len(taken)):
            taken = self._by_key(key)
        if here == there == 1:
            taken = {0: 0}
        used = set(taken.values())
        rest = [(None, index) for index in range(there) if index not in used]
        return [*((index, taken.get(index)) for index in range(here)), *rest]

    def _whole(self) -> dict[int, int]:
        """Rows that agree in every cell, one to one and as many as can be."""
        if self._exact:
            return _identical(enumerate(self.gold), enumerate(self.candidate))
        groups: dict[_Cells, tuple[list[int], list[int]]] = {}
        for side, rows in enumerate((self.gold, self.candidate)):
            for index, row in enumerate(rows):
                firm = tuple(skeleton(cell) if loose else cell for cell, loose in zip(row, self.tolerant, strict=True))
                groups.setdefault(firm, ([], []))[side].append(index)
        taken: dict[int, int] = {}
        for left, right in groups.values():
            if left and right:
                taken |= self._group(left, right)
        return taken

    def _group(self, left: list[int], right: list[int]) -> dict[int, int]:
        def close(g: int, c: int) -> bool:
            return all(self.agree(g, c, place) for place, loose in enumerate(self.tolerant) if loose)

        ranked = (
            sorted(left, key=lambda g: _rank(self.gold[g])),
            sorted(right, key=lambda c: _rank(self.candidate[c])),
        )
        paired = {g: c for g, c in zip(*ranked, strict=False) if close(g, c)}
        if len(paired) == min(len(left), len(right)):
            return paired
        if max(len(left), len(right)) > _THOROUGH:
            return paired
        return _most(left, {g: [c for c in right if close(g, c)] for g in left})

    def _by_key(self, key: Sequence[int]) -> dict[int, int]:
        shelves: dict[_Cells, tuple[list[int], list[int]]] = {}
        for side, rows in enumerate((self.gold, self.candidate)):
            for index, row in enumerate(rows):
                shelves.setdefault(tuple(row[place] for place in key), ([], []))[side].append(index)
        taken: dict[int, int] = {}
        for left, right in shelves.values():
            if left and right:
                taken |= self._shelf(left, right)
        return taken

    def _shelf(self, left: list[int], right: list[int]) -> dict[int, int]:
        """The rows of one key, paired so that most cells agree."""
        if len(left) == len(right) == 1:
            return {left[0]: right[0]}
        taken: dict[int, int] = {}
        if self._exact or max(len(left), len(right)) > _THOROUGH:
            taken = _identical(((g, self.gold[g]) for g in left), ((c, self.candidate[c]) for c in right))
            used = set(taken.values())
            left, right = [g for g in left if g not in taken], [c for c in right if c not in used]
        if max(len(left), len(right)) > _THOROUGH:
            left.sort(key=lambda g: _rank(self.gold[g]))
            right.sort(key=lambda c: _rank(self.candidate[c]))
            return taken | dict(zip(left, right, strict=False))
        return taken | _best(left, right, self._score)

    def _score(self, g: int, c: int) -> int:
        return sum(self.agree(g, c, place) for place in range(len(self.meetings)))


def _meeting(left: Any, right: Any, rule: CellRule) -> Meeting:
    found = meet(left, right, rule.coercions)
    # A slice of nothing but NULL has no form but its own.
    return Meeting() if found.form != "plain" and not (left.types and right.types) else found


def _rows(columns: Sequence[Sequence[Any]], height: int) -> list[_Cells]:
    return list(zip(*columns, strict=True)) if columns else [()] * height


def _identical(gold: Iterable[tuple[int, _Cells]], candidate: Iterable[tuple[int, _Cells]]) -> dict[int, int]:
    waiting: dict[_Cells, deque[int]] = defaultdict(deque)
    for index, row in candidate:
        waiting[row].append(index)
    return {index: waiting[row].popleft() for index, row in gold if waiting.get(row)}


def _rank(row: _Cells) -> list[tuple[int, Any]]:
    """A place in an order in which close numbers stand close, whatever else the cells hold."""
    return [(0, cell) if is_number(cell) else (1, repr(cell)) for cell in row]


def _most(left: Sequence[int], close: dict[int, list[int]]) -> dict[int, int]:
    """As many pairs as there can be among those that are close (augmenting paths)."""
    owner: dict[int, int] = {}
    for start in left:
        came: dict[int, int] = {}
        queue, end = deque([start]), None
        while queue and end is None:
            g = queue.popleft()
            for c in close[g]:
                if c not in came:
                    came[c] = g
                    if c not in owner:
                        end = c
                        break
                    queue.append(owner[c])
        while end is not None:
            g = came[end]
            before = next((c for c, other in owner.items() if other == g), None)
            owner[end] = g
            end = before if g != start else None
    return {g: c for c, g in owner.items()}


def _best(left: Sequence[int], right: Sequence[int], score: Callable[[int, int], int]) -> dict[int, int]:
    """The assignment with most agreeing cells."""
    if not left or not right:
        return {}
    if len(left) > len(right):
        return {g: c for c, g in _best(right, left, lambda c, g: score(g, c)).items()}
    table = [[score(g, c) for c in right] for g in left]
    if len(right) <= _TRY_ALL:
        places = max(
            permutations(range(len(right)), len(left)), key=lambda order: sum(map(list.__getitem__, table, order))
        )
        return {g: right[j] for g, j in zip(left, places, strict=True)}
    from scipy.optimize import linear_sum_assignment

    chosen = linear_sum_assignment(table, maximize=True)
    return {left[i]: right[j] for i, j in zip(*(side.tolist() for side in chosen), strict=True)}
