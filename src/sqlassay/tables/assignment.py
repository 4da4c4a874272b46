"""Which candidate column stands for which reference column, so that the rows become equal? Decided, not tried out.

Deciding equality of two tables up to a permutation of their columns is as hard as graph isomorphism in general, so it
is done as good isomorphism programs do: columns are told apart by what they hold, then rows and columns are told apart
by each other until nothing changes, and only columns that still look alike are chosen one by one. Every assignment is
confirmed on whole rows, so an answer "equal" is never wrong. The choices are bounded by `CHOICES`; only tables whose
columns are symmetric in a way that survives refinement can reach the bound, and they then count as unequal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import numpy as np

from sqlassay.tables.encode import Table
from sqlassay.tables.places import Words, starts
from sqlassay.tables.rows import Bench
from sqlassay.tables.vectors import mix

CHOICES: Final = 512
"""Individual choices between look-alike columns before the search gives up."""

Confirm = Callable[[Sequence[int]], bool]


def search(
    bench: Bench,
    allowed: list[list[bool]],
    *,
    prefer: Callable[[int, int], Any],
    confirm: Confirm,
) -> tuple[int, ...] | None:
    """An assignment (candidate position per reference column) that `confirm` accepts, or None.

    Among columns that look alike, pairs with the smaller `prefer(reference, candidate)` are chosen first. The
    candidate may be wider than the reference; then its spare columns stay unassigned.
    """
    if not _completable(allowed):
        return None
    return _Search(bench, allowed, prefer, confirm).run()


def _completable(allowed: list[list[bool]]) -> bool:
    """Whether every reference column can have a candidate column of its own (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, possible in enumerate(allowed[i]):
            if possible and j not in seen:
                seen.add(j)
                if j not in taken or place(taken[j], seen):
                    taken[j] = i
                    return True
        return False

    return all(place(i, set()) for i in range(len(allowed)))


@dataclass(slots=True)
class _State:
    left: Words
    right: Words
    left_rows: Words
    right_rows: Words


class _Search:
    def __init__(
        self, bench: Bench, allowed: list[list[bool]], prefer: Callable[[int, int], Any], confirm: Confirm
    ) -> None:
        self.allowed, self.prefer, self.confirm = allowed, prefer, confirm
        self.left_width, self.right_width = bench.reference.width, bench.candidate.width
        self.square = self.left_width == self.right_width
        self.bench, self.right_names = bench, bench.candidate.names
        self._cells: dict[int, bytes] = {}
        self.budget = CHOICES
        components = _components(allowed)
        self.left_cells, self.right_cells = _codes(bench, allowed, components)
        self.start = _State(
            mix(np.array(components[0], dtype=np.uint64)),
            mix(np.array(components[1], dtype=np.uint64)),
            *_row_colours(bench),
        )
        self.use_rows = self.square and not bench.optional

    def run(self) -> tuple[int, ...] | None:
        state = self._refine(self.start)
        return None if state is None else self._choose(state, {})

    def _refine(self, state: _State) -> _State | None:
        """Tell rows apart by their columns and columns by their rows until nothing new is told apart."""
        if not self.use_rows:
            return state
        left, right, classes = state.left, state.right, -1.0
        left_rows, right_rows = state.left_rows, state.right_rows
        while True:
            rows_a = mix(left_rows + mix(self.left_cells ^ left[:, None]).sum(axis=0, dtype=np.uint64))
            rows_b = mix(right_rows + mix(self.right_cells ^ right[:, None]).sum(axis=0, dtype=np.uint64))
            columns_a = mix(left + mix(self.left_cells ^ rows_a[None, :]).sum(axis=1, dtype=np.uint64))
            columns_b = mix(right + mix(self.right_cells ^ rows_b[None, :]).sum(axis=1, dtype=np.uint64))
            now = _shared_classes(columns_a, columns_b) + _shared_classes(rows_a, rows_b)
            if now < 0:
                return None
            if now == classes:
                return _State(columns_a, columns_b, rows_a, rows_b)
            classes, left, right, left_rows, right_rows = now, columns_a, columns_b, rows_a, rows_b

    def _options(self, state: _State, i: int, taken: set[int]) -> list[int]:
        same = (
            [j for j in range(self.right_width) if state.right[j] == state.left[i]]
            if self.use_rows
            else range(self.right_width)
        )
        return sorted((j for j in same if j not in taken and self.allowed[i][j]), key=lambda j: (self.prefer(i, j), j))

    def _choose(self, state: _State, chosen: dict[int, int]) -> tuple[int, ...] | None:
        taken = set(chosen.values())
        options: dict[int, list[int]] = {}
        for i in range(self.left_width):
            if i not in chosen:
                options[i] = self._options(state, i, taken)
                if not options[i]:
                    return None
        if all(len(found) == 1 for found in options.values()):
            assignment = {**chosen, **{i: found[0] for i, found in options.items()}}
            if len(set(assignment.values())) < self.left_width:
                return None
            answer = tuple(assignment[i] for i in range(self.left_width))
            return answer if self.confirm(answer) else None
        if self.use_rows and all(len(found) == 1 or self._twins(found) for found in options.values()):
            greedy = self._greedy(chosen, options)
            if greedy is not None and self.confirm(greedy):
                return greedy
        i = min((i for i in options if len(options[i]) > 1), key=lambda i: (len(options[i]), i))
        tried: set[Any] = set()
        for j in options[i]:
            look = self._look(i, j) if self.use_rows else j
            if look in tried:
                continue
            tried.add(look)
            self.budget -= 1
            if self.budget < 0:
                return None
            found = self._fix(state, chosen, i, j)
            if found is not None:
                return found
        return None

    def _look(self, i: int, j: int) -> Any:
        """What makes one candidate column another choice than the next: cells, name, and which columns it may be."""
        cells = self._cells.get(j)
        if cells is None:
            cells = self._cells[j] = self.bench.words(1, j, nulls=False).tobytes()
        partners = tuple(row[j] for row in self.allowed)
        return cells, self.prefer(i, j), self.right_names[j].casefold(), partners

    def _fix(self, state: _State, chosen: dict[int, int], i: int, j: int) -> tuple[int, ...] | None:
        left, right = state.left.copy(), state.right.copy()
        mark = mix(np.array([len(chosen) + 1], dtype=np.uint64))[0]
        left[i] = right[j] = left[i] ^ mark
        state = _State(left, right, state.left_rows, state.right_rows)
        refined = self._refine(state) if self.use_rows else self._prefix(state, i, j)
        return None if refined is None else self._choose(refined, {**chosen, i: j})

    def _prefix(self, state: _State, i: int, j: int) -> _State | None:
        """Where one side has spare columns or rows: the columns chosen so far must already agree row by row."""
        if not self.left_cells.shape[1] or self.left_cells.shape[1] != self.right_cells.shape[1]:
            return state
        rows_a = mix(state.left_rows ^ self.left_cells[i])
        rows_b = mix(state.right_rows ^ self.right_cells[j])
        if not np.array_equal(np.sort(rows_a), np.sort(rows_b)):
            return None
        return _State(state.left, state.right, rows_a, rows_b)

    def _twins(self, found: list[int]) -> bool:
        """Whether the columns to choose from are the same cell by cell, so that the choice cannot matter."""
        first = self.right_cells[found[0]]
        return all(np.array_equal(first, self.right_cells[j]) for j in found[1:])

    def _greedy(self, chosen: dict[int, int], options: dict[int, list[int]]) -> tuple[int, ...] | None:
        wishes = sorted((self.prefer(i, j), i, j) for i, found in options.items() for j in found)
        assignment = dict(chosen)
        used = set(chosen.values())
        for _, i, j in wishes:
            if i not in assignment and j not in used:
                assignment[i] = j
                used.add(j)
        if len(assignment) < self.left_width:
            return None
        return tuple(assignment[i] for i in range(self.left_width))


def _shared_classes(one: Words, two: Words) -> float:
    """How many values two bags of the same values have; minus infinity where they are not the same."""
    one, two = np.sort(one), np.sort(two)
    return int(np.count_nonzero(starts(one))) if np.array_equal(one, two) else -inf


def _components(allowed: list[list[bool]]) -> tuple[list[int], list[int]]:
    """Columns that can reach each other through allowed pairs share a number."""
    width = len(allowed[0]) if allowed else 0
    left, right = [-1] * len(allowed), [-1] * width
    number = 0
    for start in range(len(allowed)):
        if left[start] >= 0:
            continue
        queue = [(0, start)]
        while queue:
            side, position = queue.pop()
            side_labels = (left, right)[side]
            if side_labels[position] >= 0:
                continue
            side_labels[position] = number
            if side == 0:
                queue += [(1, j) for j in range(width) if allowed[position][j]]
            else:
                queue += [(0, i) for i in range(len(allowed)) if allowed[i][position]]
        number += 1
    return left, [number if label < 0 else label for label in right]


def _codes(bench: Bench, allowed: list[list[bool]], components: tuple[list[int], list[int]]) -> tuple[Words, Words]:
    """Cells as shared words, one row per column; a component in which cells need not be identical shows NULLs only."""
    coarse = {
        components[0][i]
        for i, row in enumerate(allowed)
        for j, possible in enumerate(row)
        if possible and (bench.meeting(i, j).tolerant or bench.meeting(i, j).form != "plain")
    }

    def side(which: int, table: Table, labels: list[int]) -> Words:
        if not table.width or bench.optional:
            return np.zeros((table.width, 0), dtype=np.uint64)
        return mix(np.stack([bench.words(which, p, nulls=labels[p] in coarse) for p in range(table.width)]))

    return side(0, bench.reference, components[0]), side(1, bench.candidate, components[1])


def _row_colours(bench: Bench) -> tuple[Words, Words]:
    def colours(groups: Sequence[int] | None, height: int) -> Words:
        if groups is None or bench.optional:
            return np.zeros(height, dtype=np.uint64)
        return mix(np.asarray(groups, dtype=np.int64).astype(np.uint64))

    return (
        colours(bench.plan.reference_groups, bench.reference.height),
        colours(bench.plan.candidate_groups, bench.candidate.height),
    )
