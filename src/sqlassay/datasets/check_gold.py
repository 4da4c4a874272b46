"""Does one gold query run, to one result, with something in it, of the shape that its case compares?"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlassay.datasets.findings import Code, Finding, found
from sqlassay.datasets.probes import (
    Constant,
    Prober,
    Session,
    constants_in,
    near_value,
    numeric_text,
    row_keys,
    same_rows,
)
from sqlassay.records.case import Case, GroupsShape, IdSetShape, RankingShape, ScalarShape
from sqlassay.records.execution import NotRun, Rows, SqlError, TimedOut, error_of
from sqlassay.records.query import KeySource, Statement, Understanding
from sqlassay.records.relation import Relation, TableSchema
from sqlassay.records.settings import Limits


@dataclass(slots=True)
class GoldCheck:
    """One gold query under the glass; `number` is its position among the case's accepted ones."""

    case: Case
    number: int
    statement: Statement
    understanding: Understanding | None
    prober: Prober
    session: Session
    limits: Limits
    shuffled: Session | None = None
    relation: Relation | None = None
    findings: list[Finding] = field(default_factory=list)

    def run(self) -> tuple[Finding, ...]:
        """Everything that can be found about this query; `relation` holds its result afterwards."""
        if not self.statement.allowed:
            self.say(
                Code.GOLD_FORBIDDEN, f"{self.which} is not run: {self.statement.why}", "keep exactly one read statement"
            )
            return tuple(self.findings)
        self.about_text()
        rows = self.executed()
        if rows is not None:
            self.relation = rows
            self.about_emptiness(rows)
            self.about_shape(rows)
            self.about_repeats(rows)
            self.about_limit(rows)
            self.about_stored_rows(rows)
        self.about_values()
        return tuple(self.findings)

    @property
    def which(self) -> str:
        return "the gold query" if len(self.case.gold_sql) == 1 else f"gold query {self.number + 1}"

    def say(self, code: Code, message: str, remedy: str) -> None:
        self.findings.append(found(code, message, remedy=remedy, case=self.case))

    def executed(self) -> Relation | None:
        """The result, None with a finding where there is none."""
        match self.session.execute(self.statement.text, limits=self.limits):
            case Rows(relation=relation):
                if relation.truncated:
                    message = f"{self.which} gives more than the limits let through ({relation.height} rows kept)"
                    self.say(Code.GOLD_TRUNCATED, message, "narrow the query, or raise limits.max_rows and max_bytes")
                return relation
            case (SqlError() | TimedOut()) as failed:
                error = error_of(failed)
                assert error is not None
                self.say(Code.GOLD_FAILS, f"{self.which} fails ({error[0].value}): {error[1]}", "mend the query")
            case NotRun():
                self.say(Code.GOLD_FAILS, f"{self.which} holds no statement", "write the query")
        return None

    def about_text(self) -> None:
        """What the text alone tells."""
        read = self.understanding
        if read is None:
            return
        if read.nondeterministic:
            self.say(Code.RANDOM_OR_CLOCK, f"{self.which} calls a random function", "make the query deterministic")
        if read.clock_bound and self.case.at is None:
            self.say(
                Code.RANDOM_OR_CLOCK,
                f"{self.which} asks for the current time: its result changes by itself",
                "write the date out, or fix the clock with `at`",
            )
        if not read.tables:
            self.say(Code.GOLD_READS_NOTHING, f"{self.which} reads no table", "query the data")
        if self.prober.schema.dialect == "sqlite":
            self.about_quoted_names(read)

    def about_quoted_names(self, read: Understanding) -> None:
        """A double-quoted name that no table has is text to SQLite: a slip when a name near it exists."""
        tables = [table for name in read.tables if (table := self.prober.table(name)) is not None]
        columns = {column.casefold() for table in tables for column in table.columns}
        known = columns | {name.casefold() for name in (*read.tables, *read.names)}
        for match in _QUOTED.finditer(self.statement.text):
            name = match["name"]
            if name is None or name.casefold() in known:
                continue
            near = difflib.get_close_matches(name.casefold(), columns, n=1, cutoff=0.8)
            if near:
                message = f'{self.which} says "{name}", which is no column here: SQLite reads it as the text {name!r}'
                self.say(Code.NAME_READ_AS_TEXT, message, f"did you mean {near[0]!r}?")

    def about_emptiness(self, rows: Relation) -> None:
        if rows.height == 0:
            if self.case.gold_rows is None or len(self.case.gold_rows) > 0:
                self.say(
                    Code.GOLD_EMPTY,
                    f"{self.which} gives no rows",
                    "mend the query or the data; where empty is right, say so with gold_rows: []",
                )
        elif rows.height == 1 and all(cell is None or cell == 0 for cell in rows.tuples()[0]):
            said = ", ".join("NULL" if cell is None else "0" for cell in rows.tuples()[0])
            self.say(
                Code.GOLD_ONLY_NULL_OR_ZERO,
                f"{self.which} gives one row of {said}: a query that finds nothing gives the same",
                "ask about something that is in the data",
            )

    def about_shape(self, rows: Relation) -> None:
        shape = self.case.compare_on
        names = [name.casefold() for name in rows.names]
        wanted: Sequence[str] = ()
        match shape:
            case IdSetShape(column=column) | RankingShape(column=column):
                wanted = (column,)
            case GroupsShape(columns=columns):
                wanted = columns
            case ScalarShape():
                self.about_scalar(rows)
        for column in (*wanted, *self.case.optional_columns):
            if column.casefold() not in names:
                self.say(
                    Code.GOLD_SHAPE,
                    f"{self.which} has no output column {column!r}; it has {', '.join(rows.names)}",
                    "name one of its columns, or give the column that name with AS",
                )
                return
        if isinstance(shape, GroupsShape) and rows.width == len(wanted):
            self.say(Code.GOLD_SHAPE, f"{self.which} has no column besides the group keys", "select the totals too")
        if wanted:
            places = [names.index(column.casefold()) for column in wanted]
            self.about_keys([tuple(row[place] for place in places) for row in rows.tuples()], wanted)

    def about_keys(self, keys: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> None:
        shown = ", ".join(columns)
        repeated = len(keys) - len(set(row_keys(keys)))
        if repeated:
            remedy = "add DISTINCT or GROUP BY; repeated ids are dropped, a repeated group key is an extra one"
            self.say(Code.SHAPE_KEYS_REPEAT, f"{self.which} gives {repeated} repeated values of {shown}", remedy)
        if not isinstance(self.case.compare_on, GroupsShape) and any(None in key for key in keys):
            self.say(Code.SHAPE_KEYS_REPEAT, f"{self.which} gives NULL for {shown}", "add IS NOT NULL; NULL is no id")

    def about_scalar(self, rows: Relation) -> None:
        if rows.height > 1:
            self.say(
                Code.GOLD_SHAPE, f"a scalar needs one row, {self.which} gives {rows.height}", "compare another shape"
            )
        elif rows.height == 1 and rows.width > 1:
            numeric = [cell for cell in rows.tuples()[0] if isinstance(cell, (int, float, Decimal))]
            if len(numeric) != 1:
                message = f"a scalar needs one column or one number, {self.which} gives {len(numeric)} numbers"
                self.say(Code.GOLD_SHAPE, f"{message} in {rows.width} columns", "select the one value")

    def about_repeats(self, rows: Relation) -> None:
        """The same query again, and once more over rows that lie in another order."""
        if self.understanding is not None and (self.understanding.nondeterministic or self.understanding.clock_bound):
            return
        again = self.session.execute(self.statement.text, limits=self.limits)
        if isinstance(again, Rows) and not same_rows(rows.tuples(), again.relation.tuples()):
            self.say(
                Code.GOLD_NOT_DETERMINISTIC,
                f"{self.which} gave two results when it was run twice",
                "order the rows before they are cut or concatenated",
            )
        elif self.shuffled is not None and not self.cut_by_chance(rows):
            other = self.shuffled.execute(self.statement.text, limits=self.limits)
            if isinstance(other, Rows) and not same_rows(rows.tuples(), other.relation.tuples()):
                self.say(
                    Code.STORAGE_ORDER,
                    f"{self.which} gives another result when the rows lie in another order",
                    "select only grouped columns or aggregates, and order what is concatenated or cut",
                )

    def cut_by_chance(self, rows: Relation) -> bool:
        """Whether a LIMIT already explains that another order of rows gives another result."""
        read = self.understanding
        return read is not None and read.ordering.limited and (not read.ordering.keys or self.tie(rows) is not None)

    def about_limit(self, rows: Relation) -> None:
        read = self.understanding
        if read is None or not read.ordering.limited:
            return
        ordering = read.ordering
        if not ordering.keys:
            if ordering.limit is None or rows.height >= ordering.limit > 0:
                self.say(
                    Code.LIMIT_WITHOUT_ORDER,
                    f"{self.which} keeps {rows.height} rows that no ORDER BY chooses",
                    "add an ORDER BY with a last key that separates all rows",
                )
            return
        tied = self.tie(rows)
        if tied is not None:
            self.say(
                Code.TIE_AT_LIMIT,
                f"{tied} rows tie on the ORDER BY of {self.which} where its LIMIT cuts: any of them is accepted",
                "add a last key that separates them, or ask for all that tie",
            )

    def tie(self, rows: Relation) -> int | None:
        """How many rows share the sort keys of the last row kept, where some of them were cut; None where none was."""
        read = self.understanding
        if read is None or rows.height == 0 or read.ordering.with_ties:
            return None
        plan = read.order_plan
        if plan.hidden_sql is None:
            return None
        if plan.source is KeySource.HIDDEN:
            places: Sequence[int] = range(rows.width, rows.width + plan.key_count)
        elif plan.source is KeySource.OUTPUT:
            places = plan.positions
        else:
            return None
        whole = self.session.execute(plan.hidden_sql, limits=self.limits)
        if not isinstance(whole, Rows):
            return None
        keys = row_keys([tuple(row[place] for place in places) for row in whole.relation.tuples()])
        last = (read.ordering.offset or 0) + rows.height
        if last >= len(keys) or keys[last - 1] != keys[last]:
            return None
        visible = row_keys([row[: rows.width] for row in whole.relation.tuples()])
        tied = {row for row, key in zip(visible, keys, strict=True) if key == keys[last]}
        return keys.count(keys[last]) if len(tied) > 1 else None

    def about_stored_rows(self, rows: Relation) -> None:
        stored = self.case.gold_rows
        if stored is None or self.number > 0 or (rows.height == 0 and len(stored) == 0):
            return
        if not same_rows([_as_stored(row) for row in rows.tuples()], [_as_stored(row) for row in stored]):
            self.say(
                Code.GOLD_ROWS_STALE,
                f"gold_rows hold {len(stored)} rows, the gold query gives {rows.height} or other values now",
                "store the rows again, or mend the query",
            )

    def about_values(self) -> None:
        """Constants that no row has, numbers sorted as text, and joins that multiply rows."""
        read = self.understanding
        if read is None:
            return
        for constant in constants_in(sorted((*read.pieces.filters, *read.pieces.joins, *read.pieces.aggregations))):
            if self.prober.rows_with(constant) == 0:
                self.about_constant(constant)
        for key in read.ordering.keys:
            self.about_sorting(key.expression, "sorts by")
        for item in sorted(read.pieces.aggregations):
            extreme = re.fullmatch(r"(?:MIN|MAX)\((.+)\)", item)
            if extreme is not None:
                self.about_sorting(extreme[1], f"takes {item[:3]} of")
        for message, link in many_to_many(read, self.prober):
            if link is None:
                self.say(Code.JOIN_MULTIPLIES, f"{self.which} {message}", "see that no row is counted twice")
            else:
                self.say(Code.JOIN_PAST_LINK, f"{self.which} {message}", f"join through {link}, which links them")

    def about_constant(self, constant: Constant) -> None:
        values = self.prober.values(constant.table, constant.column) or ()
        near = near_value(constant.value, values) if constant.text else None
        written = repr(constant.value) if constant.text else constant.value
        some = sorted((value for value in values if isinstance(value, str)), key=len)[:3]
        remedy = f"did you mean {near!r}?" if near else f"its values are such as {', '.join(map(repr, some))}"
        self.say(
            Code.CONSTANT_MATCHES_NOTHING,
            f"{self.which} looks for {constant.table}.{constant.column} = {written}, which no row has",
            remedy if near or some else "look at the column's values",
        )

    def about_sorting(self, expression: str, verb: str) -> None:
        table, dot, column = expression.rpartition(".")
        values = self.prober.values(table, column) if dot else None
        if values is not None and numeric_text(values):
            self.say(
                Code.ORDER_ON_NUMERIC_TEXT,
                f"{self.which} {verb} {expression}, whose numbers are kept as text: '10' comes before '9'",
                "cast it to a number",
            )


def _as_stored(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row as YAML or JSON can hold it: dates as text, decimals as floats."""
    cells: list[Any] = []
    for cell in row:
        if isinstance(cell, Decimal):
            cells.append(float(cell))
        elif isinstance(cell, float) and math.isfinite(cell):
            cells.append(float(f"{cell:.9g}"))
        elif isinstance(cell, bytes):
            cells.append("0x" + cell.hex())
        else:
            cells.append(cell)
    return tuple(cells)


_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|\bAS\s+"[^"]*"|"(?P<name>[^"]+)\"""", re.DOTALL | re.IGNORECASE
)
_JOIN = re.compile(r"(?:\w+: )?(?P<one>[^\s.]+)\.(?P<a>[^\s.]+) = (?P<two>[^\s.]+)\.(?P<b>[^\s.]+)")


def many_to_many(read: Understanding, prober: Prober) -> Iterator[tuple[str, str | None]]:
    """Joins of two tables on one pair of columns that is a key of neither, in words, with the table that links both."""
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for item in read.pieces.joins:
        match = _JOIN.fullmatch(item)
        if match is not None and match["one"] != match["two"]:
            first, second = sorted([(match["one"], match["a"]), (match["two"], match["b"])])
            pairs.setdefault((first[0], second[0]), []).append((first[1], second[1]))
    for (one, two), columns in sorted(pairs.items()):
        tables = (prober.table(one), prober.table(two))
        if len(columns) > 1 or tables[0] is None or tables[1] is None:
            continue
        [(a, b)] = columns
        if _refers(tables[0], a, two) or _refers(tables[1], b, one):
            continue
        if not _is_key(tables[0], a, prober) and not _is_key(tables[1], b, prober):
            links = prober.linking(one, two) - set(read.tables)
            message = f"joins {one} and {two} on {one}.{a} = {two}.{b}, which is a key of neither"
            yield message, min(links, default=None)


def _refers(table: TableSchema, column: str, other: str) -> bool:
    return any(
        key.to_table.casefold() == other.casefold() and [c.casefold() for c in key.columns] == [column.casefold()]
        for key in table.foreign_keys
    )


def _is_key(table: TableSchema, column: str, prober: Prober) -> bool:
    """Declared so, or so in the data there is; a column that cannot be asked about counts as a key."""
    if [name.casefold() for name in table.primary_key] == [column.casefold()]:
        return True
    return prober.unique(table.name, column) is not False
