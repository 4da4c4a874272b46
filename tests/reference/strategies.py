"""Random small tables full of what makes comparing hard."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from sqlassay.records.relation import Column, Relation

COLUMNS = (
    st.sampled_from([0, 1]),
    st.sampled_from([0, 1, 2, None]),
    st.sampled_from(["a", "b", "", None]),
    st.sampled_from([0.0, 0.004, 0.009, 0.018, 0.1, 1.0, 1.01, float("nan"), None]),
    st.sampled_from([Decimal("0.10"), Decimal("1.005"), Decimal("1"), Decimal("1.00"), 0.1, 1.01, 1]),
    st.sampled_from([1, "1", 1.0, None, float("nan")]),
    st.just(7),
    st.just(None),
)
NAMES = st.sampled_from(["a", "b", "c", "d", ""])


@dataclass(frozen=True)
class Given:
    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    @property
    def relation(self) -> Relation:
        return Relation(columns=tuple(Column(name=name) for name in self.names), rows=self.rows)


@st.composite
def tables(draw: st.DrawFn, *, width: int = 3, height: int = 5, kinds: Any = COLUMNS) -> Given:
    columns = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=width))
    rows = draw(st.lists(st.tuples(*columns), max_size=height))
    return Given(tuple(draw(NAMES) for _ in columns), rows)


@st.composite
def pairs(draw: st.DrawFn, *, width: int = 3, height: int = 5, kinds: Any = COLUMNS) -> tuple[Given, Given]:
    """A table and another: a shuffled copy with a few cells changed, or a table of its own."""
    left = draw(tables(width=width, height=height, kinds=kinds))
    if draw(st.integers(0, 4)) == 0:
        return left, draw(tables(width=width, height=height, kinds=kinds))
    order = draw(st.permutations(range(len(left.names))))
    rows = [tuple(row[position] for position in order) for row in draw(st.permutations(left.rows))]
    names = draw(st.sampled_from([tuple(left.names[p] for p in order), tuple(draw(NAMES) for _ in order)]))
    for _ in range(draw(st.integers(0, 2))):
        if rows:
            row, column = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(names) - 1))
            cell = draw(st.one_of(*kinds))
            rows[row] = (*rows[row][:column], cell, *rows[row][column + 1 :])
    if rows and draw(st.integers(0, 4)) == 0:
        rows = [*rows, draw(st.sampled_from(rows))][: height + 1]
    return left, Given(names, rows)
