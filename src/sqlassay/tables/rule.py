"""By which rule are two tables compared? Settings, what is known about the columns, and how order counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlassay.records.case import Tolerance
from sqlassay.records.relation import Row
from sqlassay.tables.encode import Coercions


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the SQL (or the engine) tells about a side's output columns; empty tuples where nothing is known.

    `origins` are `table.column`, `expressions` canonical texts over base columns, `aggregates` whether one occurs.
    """

    origins: tuple[str | None, ...] = ()
    expressions: tuple[str | None, ...] = ()
    aggregates: tuple[bool, ...] = ()

    def origin(self, position: int) -> str | None:
        return self.origins[position] if position < len(self.origins) else None

    def expression(self, position: int) -> str | None:
        return self.expressions[position] if position < len(self.expressions) else None

    def aggregate(self, position: int) -> bool:
        return self.aggregates[position] if position < len(self.aggregates) else False


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The facts of both sides, by which columns are proven to be the same."""

    reference: Facts = Facts()
    candidate: Facts = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A tie that a LIMIT or OFFSET cuts: reference rows `start:stop` may be any as many rows of `pool`."""

    start: int
    stop: int
    pool: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How row order counts.

    `groups` numbers the reference rows ascending; rows of one number may permute. None: rows come in any order.
    """

    groups: Sequence[int] | None = None
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRule:
    """Everything that decides whether two tables are the same (specification section 5.1, shape `table`)."""

    tolerance: Tolerance = Tolerance()
    columns: Literal["any", "by_position", "by_name"] = "any"
    order: Order = Order()
    links: Links = Links()
    coercions: Coercions = Coercions()
    optional_columns: tuple[str, ...] = ()
