"""Which columns may stand for each other, by what is known of them besides their values?

Origins, canonical expressions and names of both sides (specification section 5.1, `columns: any`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlassay.tables.rows import Bench
from sqlassay.tables.rule import Links

_Way = tuple[Callable[[int], str | None], Callable[[int], str | None]]


def names_cross(reference: Sequence[str], candidate: Sequence[str], assignment: Sequence[int | None]) -> bool:
    """Whether the assignment gives two columns each other's names.

    >>> names_cross(["buy", "sell"], ["sell", "buy"], [0, 1]), names_cross(["a", "b"], ["b", "c"], [0, 1])
    (True, False)
    """
    if tuple(reference) == tuple(candidate) and tuple(assignment) == tuple(range(len(reference))):
        return False
    pairs = {
        (left, right)
        for left, right in (
            (name.casefold(), candidate[j].casefold())
            for name, j in zip(reference, assignment, strict=True)
            if j is not None
        )
        if left != right and left and right
    }
    return any((right, left) in pairs for left, right in pairs)


class ColumnTies:
    """What ties the columns of two tables together.

    >>> from sqlassay.tables.rule import Facts
    >>> links = Links(reference=Facts(origins=("t.a", "t.b")), candidate=Facts(origins=("t.b", "t.a")))
    >>> ties = ColumnTies(links, ("a", "b"), ("b", "a"))
    >>> ties.permitted(0, 0), ties.permitted(0, 1), ties.natural((0, 1))
    (False, True, [1, 0])
    """

    def __init__(self, links: Links, reference: Sequence[str], candidate: Sequence[str]) -> None:
        self.links = links
        self.left = tuple(name.casefold() for name in reference)
        self.right = tuple(name.casefold() for name in candidate)
        here, there = links.reference.origins, links.candidate.origins
        self._count = {
            origin: (here.count(origin), there.count(origin)) for origin in {*here, *there} if origin is not None
        }

    def permitted(self, i: int, j: int) -> bool:
        """Whether two columns may pair at all: columns that origin proves to be the same stay paired."""
        if not self._count:
            return True
        a, b = self.links.reference.origin(i), self.links.candidate.origin(j)
        if a == b:
            return True
        if a is not None:
            here, there = self._count[a]
            if there >= here:
                return False
        if b is not None:
            here, there = self._count[b]
            if here >= there:
                return False
        return True

    def bound(self, i: int) -> bool:
        """Whether origin proves that the candidate has this reference column, so that it cannot be the absent one."""
        origin = self.links.reference.origin(i)
        here, there = self._count.get(origin, (0, 0)) if origin is not None else (0, 0)
        return there >= here > 0

    def _ways(self) -> tuple[_Way, ...]:
        links = self.links
        return (
            (links.reference.origin, links.candidate.origin),
            (links.reference.expression, links.candidate.expression),
            (lambda i: self.left[i] or None, lambda j: self.right[j] or None),
        )

    def natural(self, kept: Sequence[int]) -> list[int] | None:
        """The assignment of the reference columns `kept` that origins, expressions and names suggest; None without."""
        order: dict[int, int] = {}
        free = set(range(len(self.right)))
        for left, right in self._ways():
            waiting = [(i, left(i)) for i in kept if i not in order]
            keys = [key for _, key in waiting]
            places: dict[str | None, list[int]] = {}
            for j in free:
                places.setdefault(right(j), []).append(j)
            for i, key in waiting:
                there = places.get(key, [])
                if key is not None and len(there) == 1 and keys.count(key) == 1 and self.permitted(i, there[0]):
                    order[i] = there[0]
                    free.discard(there[0])
        rest = [i for i in kept if i not in order]
        if len(rest) > len(free):
            return None
        order.update(zip(rest, sorted(free), strict=False))
        if not all(self.permitted(i, j) for i, j in order.items()):
            return None
        return [order[i] for i in kept]

    def wish(self, i: int, j: int) -> tuple[bool, bool, bool, bool]:
        """How gladly the two are paired where values cannot tell columns apart: smaller is better."""
        origin, expression = self.links.reference.origin(i), self.links.reference.expression(i)
        return (
            origin is None or origin != self.links.candidate.origin(j),
            expression is None or expression != self.links.candidate.expression(j),
            not self.left[i] or self.left[i] != self.right[j],
            i != j,
        )

    def swap_proven(self, assignment: Sequence[int | None]) -> bool:
        """Whether an origin, an expression or a name that occurs once on each side proves every column that moved."""
        if None in assignment:
            return True
        return all(self._proven(i, j) for i, j in enumerate(assignment) if j is not None and i != j)

    def _proven(self, i: int, j: int) -> bool:
        for left, right in self._ways():
            key = left(i)
            if key is None or right(j) != key:
                continue
            once = sum(left(k) == key for k in range(len(self.left))) == 1
            if once and sum(right(k) == key for k in range(len(self.right))) == 1:
                return True
        return False


class Compatibility:
    """For each pair of columns whether their values alone allow it: equal bags, or sorted numbers within tolerance.

    With rows that may be left out (a pool), a column only has to be able to hold the other's values.
    """

    def __init__(self, bench: Bench, permitted: Callable[[int, int], bool]) -> None:
        self.bench, self.permitted = bench, permitted
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, i: int, j: int) -> bool:
        return self.permitted(i, j) and self.holds(i, j)

    def holds(self, i: int, j: int) -> bool:
        """The same by the values alone, whether the pair is permitted or not."""
        known = self._known.get((i, j))
        if known is None:
            known = self._known[(i, j)] = self.bench.holds(i, j)
        return known

    def matrix(self, kept: Sequence[int]) -> list[list[bool]] | None:
        """All pairs of the reference columns `kept`; None as soon as one of them can pair with nothing."""
        allowed = []
        for i in kept:
            allowed.append([self(i, j) for j in range(self.bench.candidate.width)])
            if not any(allowed[-1]):
                return None
        return allowed
