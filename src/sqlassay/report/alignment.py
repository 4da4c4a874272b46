"""How two results stand side by side: columns as they were paired, rows by their key, cells marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlassay.records.relation import Kind, Relation
from sqlassay.report.beside import Beside, CellRule, Match
from sqlassay.report.inert import cell

ROW_CAP = 50
COLUMN_CAP = 20
_ALIGNED_ROWS = 5000
"""Rows of each side that are looked at; what lies beyond is counted and not shown."""
_NUMERIC = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})


class Mark(StrEnum):
    """What a shown row is: in both with equal cells, in both with differing cells, or on one side only."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """A shown column: its name on each side (None where it has no partner there), how it was paired."""

    gold: str | None
    candidate: str | None
    by: str | None = None
    key: bool = False
    numeric: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The columns (gold, candidate) by which alone a case is decided; as a `key` they tell its rows apart."""

    pairs: tuple[tuple[str, str], ...]
    key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """One line of the two tables.

    `differing` are positions in `Grid.columns` whose cells disagree, `near` those whose cells look unlike and count as
    equal, within the tolerance or as the same value in another type.
    """

    mark: Mark
    gold: tuple[str | None, ...] | None
    candidate: tuple[str | None, ...] | None
    differing: tuple[int, ...] = ()
    near: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Two results side by side, cut to what a page can hold; `notes` say what was cut."""

    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]
    gold_rows: int | None
    candidate_rows: int | None
    gold_width: int
    candidate_width: int
    notes: tuple[str, ...] = ()


def unique_names(names: Sequence[str]) -> list[str]:
    """Column names made unique as in the evidence: the second `id` is `id#2`.

    >>> unique_names(["id", "id", "n"])
    ['id', 'id#2', 'n']
    """
    seen: dict[str, int] = {}
    unique: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unique


def grid(
    gold: Relation | None,
    candidate: Relation | None,
    *,
    evidence: Mapping[str, Any] | None = None,
    rule: CellRule = CellRule(),
    ordered: bool = False,
    optional: Sequence[str] = (),
    deciding: Deciding | None = None,
    heights: tuple[int | None, int | None] = (None, None),
    rows: int = ROW_CAP,
    columns: int = COLUMN_CAP,
) -> Grid | None:
    """Lay out both sides with at most `rows` x `columns` cells each; None when there is no side at all.

    Column pairs and the row key come from `evidence` (the `output` family's), or from `rule` where it pairs columns by
    name or position; without either columns pair by name, then by position. `heights` are the rows that each side had
    where fewer were kept, `optional` columns of the gold that may be absent, `deciding` those that the verdict looked
    at. Rows that differ come first when not all fit.
    """
    if gold is None and candidate is None:
        return None
    links, key = _links(gold, candidate, _decided(evidence or {}, deciding, gold), rule, optional)
    paired = [(g, c) for g, c, _ in links if g is not None and c is not None]
    left, right = _some(gold), _some(candidate)
    beside = Beside(left, right, paired, rule) if paired else None
    matched = (
        _one_side(left, right)
        if beside is None
        else beside.matches(key=[place for place, (g, _) in enumerate(paired) if g in key], ordered=ordered)
    )
    sheet = _Sheet(left=left.tuples(), right=right.tuples(), paired=paired, beside=beside)
    shown_links = _chosen_columns(links, columns)
    shown = [(match, sheet.mark(match)) for match in matched]
    kept = [shown[position] for position in _chosen([mark for _, mark in shown], rows)]
    wholes = tuple(_height(side, height) for side, height in zip((gold, candidate), heights, strict=True))
    notes = _notes(
        (gold, candidate), wholes, shown=len(shown), kept=len(kept), links=len(links), columns=len(shown_links)
    )
    return Grid(
        columns=tuple(_column(link, gold, candidate, key=key) for link in shown_links),
        rows=tuple(sheet.row(match, mark, shown_links) for match, mark in kept),
        gold_rows=wholes[0],
        candidate_rows=wholes[1],
        gold_width=0 if gold is None else gold.width,
        candidate_width=0 if candidate is None else candidate.width,
        notes=notes,
    )


_Link = tuple[int | None, int | None, str | None]


def _decided(output: Mapping[str, Any], deciding: Deciding | None, gold: Relation | None) -> Mapping[str, Any]:
    """What the output family found, under what the case itself says about columns."""
    if deciding is None or gold is None:
        return output
    spelled = {name.casefold(): name for name in reversed(gold.names)}
    pairs = [(spelled.get(name.casefold(), name), partner) for name, partner in deciding.pairs]
    named = [{"reference": name, "candidate": partner, "by": "the case"} for name, partner in pairs]
    taken = {pair["reference"] for pair in named}, {pair["candidate"] for pair in named}
    others = [
        pair
        for pair in output.get("pairs") or ()
        if pair.get("reference") not in taken[0] and pair.get("candidate") not in taken[1]
    ]
    key = [name for name, _ in pairs] if deciding.key else output.get("row_key")
    return {"pairs": [*named, *others], "row_key": key}


def _some(side: Relation | None) -> Relation:
    """The rows of a side that are looked at."""
    if side is None:
        return Relation(columns=())
    if side.height <= _ALIGNED_ROWS:
        return side
    if side.arrow is not None:
        return Relation(columns=side.columns, arrow=side.arrow.slice(0, _ALIGNED_ROWS))
    return Relation(columns=side.columns, rows=side.rows[:_ALIGNED_ROWS])


def _height(side: Relation | None, whole: int | None) -> int | None:
    return None if side is None else max(side.height, whole or 0)


def _one_side(left: Relation, right: Relation) -> list[Match]:
    """Rows of results without a column in common: line by line."""
    longer = max(left.height, right.height)
    return [(i if i < left.height else None, i if i < right.height else None) for i in range(longer)]


def _links(
    gold: Relation | None,
    candidate: Relation | None,
    output: Mapping[str, Any],
    rule: CellRule,
    optional: Sequence[str],
) -> tuple[list[_Link], set[int]]:
    left = [] if gold is None else unique_names(gold.names)
    right = [] if candidate is None else unique_names(candidate.names)
    places, others = {n: i for i, n in enumerate(left)}, {n: i for i, n in enumerate(right)}
    pairs = output.get("pairs")
    if rule.columns != "any" and gold is not None and candidate is not None:
        pairs = _ruled(gold.names, candidate.names, rule.columns, left, right)
    elif pairs is None:
        pairs = _guess(left, right)
    partner: dict[int, tuple[int, str | None]] = {}
    taken: set[int] = set()
    for pair in pairs:
        g, c = places.get(str(pair.get("reference"))), others.get(str(pair.get("candidate")))
        if g is not None and c is not None and g not in partner and c not in taken:
            partner[g] = (c, pair.get("by"))
            taken.add(c)
    spare = {name.casefold() for name in optional}
    alone = {
        g: "optional" if gold is not None and gold.names[g].casefold() in spare else None for g in range(len(left))
    }
    links: list[_Link] = [(g, *partner.get(g, (None, alone[g]))) for g in range(len(left))]
    links += [(None, c, None) for c in range(len(right)) if c not in taken]
    key = {places[name] for name in output.get("row_key") or () if name in places}
    found = {str(pair.get("reference")): pair.get("candidate") for pair in output.get("pairs") or ()}
    moved = any(g not in partner or found.get(left[g]) != right[partner[g][0]] for g in key)
    return links, set() if moved else key


def _ruled(
    gold: Sequence[str], candidate: Sequence[str], by: str, left: Sequence[str], right: Sequence[str]
) -> list[dict[str, str]]:
    """Pairs of a run that compares columns by position or by name."""
    if by == "by_position":
        return [{"reference": a, "candidate": b, "by": "position"} for a, b in zip(left, right, strict=False)]
    free: dict[str, list[str]] = {}
    for name, unique in zip(candidate, right, strict=True):
        free.setdefault(name.casefold(), []).append(unique)
    return [
        {"reference": unique, "candidate": free[name.casefold()].pop(0), "by": "name"}
        for name, unique in zip(gold, left, strict=True)
        if free.get(name.casefold())
    ]


def _guess(left: Sequence[str], right: Sequence[str]) -> list[dict[str, str]]:
    folded = {name.casefold(): name for name in reversed(right)}
    named = [{"reference": n, "candidate": folded[n.casefold()], "by": "name"} for n in left if n.casefold() in folded]
    if len(named) == len(left) or len(left) != len(right):
        return named
    return [{"reference": a, "candidate": b, "by": "position"} for a, b in zip(left, right, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """The rows of both sides and what their pairs of columns say."""

    left: Sequence[tuple[Any, ...]]
    right: Sequence[tuple[Any, ...]]
    paired: list[tuple[int, int]]
    beside: Beside | None

    def mark(self, match: Match) -> Mark:
        g, c = match
        if g is None:
            return Mark.EXTRA
        if c is None:
            return Mark.MISSING
        beside = self.beside
        same = beside is None or all(beside.agree(g, c, place) for place in range(len(self.paired)))
        return Mark.SAME if same else Mark.DIFFERS

    def row(self, match: Match, mark: Mark, links: list[_Link]) -> GridRow:
        g, c = match
        left, right = None if g is None else self.left[g], None if c is None else self.right[c]
        golds = None if left is None else tuple(cell(left[i]) for i, _, _ in links if i is not None)
        candidates = None if right is None else tuple(cell(right[i]) for _, i, _ in links if i is not None)
        differing, near = self._unequal(match, links)
        return GridRow(mark=mark, gold=golds, candidate=candidates, differing=differing, near=near)

    def _unequal(self, match: Match, links: list[_Link]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Positions of the shown columns whose cells differ, and of those that are equal only by the rule."""
        g, c = match
        beside = self.beside
        if beside is None or g is None or c is None:
            return (), ()
        places = {pair: place for place, pair in enumerate(self.paired)}
        shown = [(position, (a, b)) for position, (a, b, _) in enumerate(links) if a is not None and b is not None]
        differing = [position for position, pair in shown if not beside.agree(g, c, places[pair])]
        off = set(differing)
        near = [
            position
            for position, (a, b) in shown
            if position not in off
            and beside.near(g, c, places[a, b])
            and cell(self.left[g][a]) != cell(self.right[c][b])
        ]
        return tuple(differing), tuple(near)


def _chosen(marks: Sequence[Mark], rows: int) -> list[int]:
    """Positions of at most `rows` rows: each kind of difference gets its share first; in their own order."""
    if len(marks) <= rows:
        return list(range(len(marks)))
    by_mark: dict[Mark, list[int]] = {mark: [] for mark in (Mark.DIFFERS, Mark.MISSING, Mark.EXTRA, Mark.SAME)}
    for position, mark in enumerate(marks):
        by_mark[mark].append(position)
    kinds = [positions for positions in by_mark.values() if positions]
    share = max(1, rows // len(kinds))
    chosen: list[int] = []
    for positions in kinds:
        chosen += positions[:share]
    for positions in kinds:
        chosen += positions[share : share + rows - len(chosen)]
    return sorted(chosen[:rows])


def narrowed(shown: Grid, rows: int) -> Grid:
    """The same grid with at most `rows` rows, and a note when that cuts some."""
    chosen = _chosen([row.mark for row in shown.rows], rows)
    if len(chosen) == len(shown.rows):
        return shown
    notes = tuple(note for note in shown.notes if "aligned rows are shown" not in note)
    return replace(
        shown, rows=tuple(shown.rows[i] for i in chosen), notes=(f"{len(chosen)} aligned rows are shown", *notes)
    )


def _chosen_columns(links: list[_Link], columns: int) -> list[_Link]:
    """At most `columns` on each side, in the gold's order, with the candidate's spare columns after them."""
    kept: list[_Link] = []
    left = right = 0
    for link in links:
        fits = (link[0] is None or left < columns) and (link[1] is None or right < columns)
        if fits:
            kept.append(link)
            left += link[0] is not None
            right += link[1] is not None
    return kept


def _column(link: _Link, gold: Relation | None, candidate: Relation | None, *, key: set[int]) -> GridColumn:
    g, c, by = link
    return GridColumn(
        gold=None if g is None or gold is None else cell_name(gold.columns[g].name),
        candidate=None if c is None or candidate is None else cell_name(candidate.columns[c].name),
        by=by,
        key=g in key,
        numeric=all(_numeric(side, i) for side, i in ((gold, g), (candidate, c)) if side is not None and i is not None),
    )


def _numeric(side: Relation, position: int) -> bool:
    kind = side.columns[position].kind
    if kind is not Kind.DYNAMIC or side.arrow is not None:
        return kind in _NUMERIC
    some = [row[position] for row in side.rows[:50] if row[position] is not None]
    return bool(some) and all(isinstance(v, (int, float, Decimal)) and not isinstance(v, bool) for v in some)


def cell_name(name: str) -> str:
    """A column name made safe to show; an empty one is shown as such."""
    from sqlassay.report.inert import line

    return line(name, limit=80) or "(no name)"


def _notes(
    sides: Sequence[Relation | None],
    heights: Sequence[int | None],
    *,
    shown: int,
    kept: int,
    links: int,
    columns: int,
) -> tuple[str, ...]:
    notes: list[str] = []
    if kept < shown:
        notes.append(f"{kept} of {shown:,} aligned rows are shown, those that differ first")
    for name, side, height in zip(("gold", "candidate"), sides, heights, strict=True):
        if side is None:
            continue
        if side.height > _ALIGNED_ROWS:
            notes.append(f"only the first {_ALIGNED_ROWS:,} of {height:,} {name} rows were aligned for this page")
        elif height is not None and height > side.height:
            notes.append(f"only the first {side.height:,} of {height:,} {name} rows were kept")
        if side.truncated:
            notes.append(f"a limit cut the {name} result")
    if columns < links:
        notes.append(f"{links - columns} columns are not shown")
    return tuple(notes)
