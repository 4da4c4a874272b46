"""Do two bags of rows match one to one when numbers may differ a little? A real matching, never a sort alone.

Specification section 5.0. Agreement under tolerance is no equivalence, so no hash, grouping or greedy walk decides it.
Sound shortcuts come first; what they leave is cut into blocks at gaps and each block is a maximum flow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import Any, Final

from sqlassay.tables.cells import is_number
from sqlassay.tables.tolerance import Agreement

_FLOW_FROM: Final = 400
"""Vertices from which scipy's Dinic is worth its import."""

_FLOATS: Final = 1e300
"""The magnitude up to which floats hold the numbers that are looked for near one another."""

Vector = tuple[Any, ...]


def skeleton(cell: Any) -> Hashable:
    """What of a cell must be equal exactly: everything but the numbers.

    >>> skeleton(2.5) == skeleton(7), skeleton("a") == skeleton("b"), skeleton(None) == skeleton(0)
    (True, False, False)
    """
    if is_number(cell):
        return cell if cell in (float("inf"), float("-inf")) else _NUMBER
    if type(cell) is tuple and cell[0] == "list":
        return ("list", tuple(skeleton(item) for item in cell[1]))
    if type(cell) is tuple and cell[0] == "map":
        return ("map", frozenset((key, skeleton(item)) for key, item in cell[1]))
    return cell  # type: ignore[no-any-return]


class _Number:
    def __repr__(self) -> str:
        return "#"


_NUMBER: Final = _Number()


def bags_agree(
    required: Sequence[tuple[Hashable, Vector]],
    candidate: Sequence[tuple[Hashable, Vector]],
    agree: Agreement,
    optional: Sequence[tuple[Hashable, Vector]] = (),
    split: tuple[int, int] | None = None,
) -> bool:
    """Whether a one-to-one matching covers every candidate row and every required row (optional ones may be left).

    With `split` the first so many optional rows are a pool of their own, of which exactly so many must be matched.

    A row is its exact part and the vector of its tolerant cells; rows match when the exact parts are equal and the
    vectors agree cell by cell.

    >>> rows = lambda *numbers: [("k", (number,)) for number in numbers]
    >>> bags_agree(rows(0.0, 0.009), rows(0.009, 0.018), Agreement(__import__("sqlassay").records.case.Tolerance()))
    False
    >>> plain = Agreement(__import__("sqlassay").records.case.Tolerance(mode="plain"))
    >>> bags_agree(rows(0.0, 0.009), rows(0.009, 0.018), plain)
    True
    """
    left, right, spare = _grouped(required), _grouped(candidate), _grouped(optional)
    if not spare:
        if len(required) != len(candidate) or left.keys() != right.keys():
            return False
        if any(len(left[key]) != len(right[key]) for key in left):
            return False
        return all(_group_agrees(left[key], right[key], agree) for key in left)
    if not left.keys() <= right.keys() or not right.keys() <= left.keys() | spare.keys():
        return False
    keys = right.keys() | left.keys()
    if not all(_covers(left.get(key, []), right.get(key, []), spare.get(key, []), agree) for key in keys):
        return False
    if split is None:
        return True
    first, second = _grouped(optional[: split[0]]), _grouped(optional[split[0] :])
    least = most = 0
    for key in right:
        required, rows = left.get(key, []), right[key]
        least += len(rows) - _most(rows, [*required, *second.get(key, [])], agree)
        most += _most(rows, [*required, *first.get(key, [])], agree) - len(required)
    return least <= split[1] <= most


def _grouped(rows: Sequence[tuple[Hashable, Vector]]) -> dict[Hashable, list[Vector]]:
    groups: dict[Hashable, list[Vector]] = {}
    for key, vector in rows:
        groups.setdefault(key, []).append(vector)
    return groups


def _agree_all(a: Vector, b: Vector, agree: Agreement) -> bool:
    return all(agree(x, y) for x, y in zip(a, b, strict=True))


def _sortable(vector: Vector) -> tuple[Any, ...]:
    return tuple(cell if is_number(cell) else 0 for cell in vector)


def _group_agrees(left: list[Vector], right: list[Vector], agree: Agreement) -> bool:
    if len(left) == 1:
        return _agree_all(left[0], right[0], agree)
    left, right = sorted(left, key=_sortable), sorted(right, key=_sortable)
    if all(_agree_all(a, b, agree) for a, b in zip(left, right, strict=True)):
        return True
    if not left[0]:
        return True
    if len(left[0]) == 1 and agree.interval and is_number(left[0][0]):
        return False
    return all(_block_agrees(a, b, agree) for a, b in _blocks(left, right, agree))


def _blocks(left: list[Vector], right: list[Vector], agree: Agreement) -> list[tuple[list[Vector], list[Vector]]]:
    """Cut where the first tolerant column leaves a gap that no agreement can bridge."""
    if not is_number(left[0][0]) or not is_number(right[0][0]):
        return [(left, right)]
    ends = sorted([(vector[0], 0, i) for i, vector in enumerate(left)] + [(v[0], 1, i) for i, v in enumerate(right)])
    blocks: list[tuple[list[Vector], list[Vector]]] = [([], [])]
    last = ends[0][0]
    for value, side, index in ends:
        if value != last and as_float(value) - as_float(last) > max(agree.width(value), agree.width(last)):
            blocks.append(([], []))
        blocks[-1][side].append((left, right)[side][index])
        last = value
    return blocks


def as_float(value: Any) -> float:
    """The number as a float; all beyond these are one, so that no gap is seen between them."""
    return float(min(max(value, -_FLOATS), _FLOATS))


def _block_agrees(left: list[Vector], right: list[Vector], agree: Agreement) -> bool:
    if len(left) != len(right):
        return False
    edges = _edges(left, right, agree)
    return edges is not None and _matching(edges, len(right)) == len(left)


def _edges(left: list[Vector], right: list[Vector], agree: Agreement) -> list[list[int]] | None:
    """For each left row the right rows it agrees with, None as soon as one has none."""
    numbers = bool(left) and bool(right) and is_number(left[0][0]) and is_number(right[0][0])
    if not numbers:
        found = [[j for j, b in enumerate(right) if _agree_all(a, b, agree)] for a in left]
        return found if all(found) else None
    order = sorted(range(len(right)), key=lambda j: right[j][0])
    keys = [right[j][0] for j in order]
    edges = []
    for a in left:
        near = [j for j in order[_within_reach(keys, a[0], agree)] if _agree_all(a, right[j], agree)]
        if not near:
            return None
        edges.append(near)
    return edges


def _within_reach(keys: list[Any], value: Any, agree: Agreement) -> slice:
    """Where in ascending numbers those stand that can agree with a value; everywhere for one that no float holds."""
    if not abs(value) < _FLOATS:
        return slice(None)
    place, reach = float(value), agree.width(value)
    return slice(bisect_left(keys, place - reach), bisect_right(keys, place + reach))


def _most(left: list[Vector], right: list[Vector], agree: Agreement) -> int:
    """How many left rows can have a right row of their own."""
    if not right or not left[0]:
        return min(len(left), len(right))
    return _matching([found[0] if (found := _edges([row], right, agree)) else [] for row in left], len(right))


def _covers(required: list[Vector], candidate: list[Vector], spare: list[Vector], agree: Agreement) -> bool:
    """By Mendelsohn and Dulmage: one matching covers both sides' rows when one covers each."""
    if not len(required) <= len(candidate) <= len(required) + len(spare):
        return False
    everything = [*required, *spare]
    forward = (
        _edges(candidate, everything, agree)
        if candidate and candidate[0]
        else [[*range(len(everything))]] * len(candidate)
    )
    if forward is None or _matching(forward, len(everything)) < len(candidate):
        return False
    if not required:
        return True
    backward = _edges(required, candidate, agree) if required[0] else [[*range(len(candidate))]] * len(required)
    return backward is not None and _matching(backward, len(candidate)) == len(required)


def _matching(edges: list[list[int]], right: int) -> int:
    """The size of a maximum matching: augmenting paths for few vertices, Dinic for many."""
    return _augment(edges, right) if len(edges) + right < _FLOW_FROM else _flow(edges, right)


def _augment(edges: list[list[int]], right: int) -> int:
    partner, mate = [-1] * right, [-1] * len(edges)
    size = 0
    for start in range(len(edges)):
        parent: dict[int, int] = {}
        queue, end = [start], -1
        while queue and end < 0:
            left = queue.pop()
            for j in edges[left]:
                if j not in parent:
                    parent[j] = left
                    if partner[j] < 0:
                        end = j
                        break
                    queue.append(partner[j])
        if end < 0:
            continue
        size += 1
        while end >= 0:
            left = parent[end]
            partner[end], mate[left], end = left, end, mate[left]
    return size


def _flow(edges: list[list[int]], right: int) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    left = len(edges)
    counts = np.fromiter((len(edge) for edge in edges), dtype=np.int64, count=left)
    tails = np.repeat(np.arange(1, left + 1), counts)
    heads = np.fromiter((j for edge in edges for j in edge), dtype=np.int64, count=int(counts.sum())) + left + 1
    sink = left + right + 1
    rows = np.concatenate([np.zeros(left, dtype=np.int64), tails, np.arange(left + 1, sink)])
    columns = np.concatenate([np.arange(1, left + 1), heads, np.full(right, sink, dtype=np.int64)])
    ones = np.ones(len(rows), dtype=np.int32)
    graph = csr_array((ones, (rows.astype(np.int32), columns.astype(np.int32))), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink, method="dinic").flow_value)
