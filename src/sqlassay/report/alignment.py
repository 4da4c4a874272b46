"""How two results stand side by side: columns as they were paired, rows by their key, cells marked."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlassay.records.relation import Kind, Relation
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
class GridRow:
    """One line of the two tables; `differing` are positions in `Grid.columns` whose cells disagree."""

    mark: Mark
    gold: tuple[str | None, ...] | None
    candidate: tuple[str | None, ...] | None
    differing: tuple[int, ...] = ()


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
    ordered: bool = False,
    rows: int = ROW_CAP,
    columns: int = COLUMN_CAP,
) -> Grid | None:
    """Lay out both sides with at most `rows` x `columns` cells each; None when there is no side at all.

    Column pairs and the row key come from `evidence` (the `output` family's); without it columns pair by name, then
    by position. Rows that differ come first when not all fit.
    """
    if gold is None and candidate is None:
        return None
    output = evidence or {}
    links, key = _links(gold, candidate, output)
    paired = [(g, c) for g, c, _ in links if g is not None and c is not None]
    gold_rows = _rows(gold)
    candidate_rows = _rows(candidate)
    matched = _match(gold_rows, candidate_rows, paired=paired, key=key, ordered=ordered)
    shown_links = _chosen_columns(links, columns)
    shown = [(m, _mark(m, gold_rows, candidate_rows, paired)) for m in matched]
    kept = [shown[position] for position in _chosen([mark for _, mark in shown], rows)]
    notes = _notes(gold, candidate, shown=len(shown), kept=len(kept), links=len(links), columns=len(shown_links))
    return Grid(
        columns=tuple(_column(link, gold, candidate, key=key) for link in shown_links),
        rows=tuple(_grid_row(m, mark, gold_rows, candidate_rows, shown_links) for m, mark in kept),
        gold_rows=None if gold is None else gold.height,
        candidate_rows=None if candidate is None else candidate.height,
        gold_width=0 if gold is None else gold.width,
        candidate_width=0 if candidate is None else candidate.width,
        notes=notes,
    )


_Link = tuple[int | None, int | None, str | None]
_Match = tuple[int | None, int | None]


def _rows(side: Relation | None) -> Sequence[tuple[Any, ...]]:
    if side is None:
        return []
    if side.arrow is not None:
        return Relation(columns=side.columns, arrow=side.arrow.slice(0, _ALIGNED_ROWS)).tuples()
    return side.rows[:_ALIGNED_ROWS]


def _links(
    gold: Relation | None, candidate: Relation | None, output: Mapping[str, Any]
) -> tuple[list[_Link], set[int]]:
    left = [] if gold is None else unique_names(gold.names)
    right = [] if candidate is None else unique_names(candidate.names)
    places, others = {n: i for i, n in enumerate(left)}, {n: i for i, n in enumerate(right)}
    partner: dict[int, tuple[int, str | None]] = {}
    pairs = output.get("pairs")
    if pairs is None:
        pairs = _guess(left, right)
    taken: set[int] = set()
    for pair in pairs:
        g, c = places.get(str(pair.get("reference"))), others.get(str(pair.get("candidate")))
        if g is not None and c is not None and g not in partner and c not in taken:
            partner[g] = (c, pair.get("by"))
            taken.add(c)
    links: list[_Link] = [(g, *partner.get(g, (None, None))) for g in range(len(left))]
    links += [(None, c, None) for c in range(len(right)) if c not in taken]
    key = {places[name] for name in output.get("row_key") or () if name in places}
    return links, key & set(partner)


def _guess(left: Sequence[str], right: Sequence[str]) -> list[dict[str, str]]:
    folded = {name.casefold(): name for name in reversed(right)}
    named = [{"reference": n, "candidate": folded[n.casefold()], "by": "name"} for n in left if n.casefold() in folded]
    if len(named) == len(left) or len(left) != len(right):
        return named
    return [{"reference": a, "candidate": b, "by": "position"} for a, b in zip(left, right, strict=True)]


def _match(
    gold: Sequence[tuple[Any, ...]],
    candidate: Sequence[tuple[Any, ...]],
    *,
    paired: list[tuple[int, int]],
    key: set[int],
    ordered: bool,
) -> list[_Match]:
    if ordered or not paired:
        longer = max(len(gold), len(candidate))
        return [(i if i < len(gold) else None, i if i < len(candidate) else None) for i in range(longer)]
    partner = dict(paired)
    whole = [g for g, _ in paired]
    taken: dict[int, int] = {}
    used: set[int] = set()
    for chosen in (whole, sorted(key)):
        if chosen:
            shelves: dict[tuple[Any, ...], deque[int]] = defaultdict(deque)
            for index, row in enumerate(candidate):
                if index not in used:
                    shelves[tuple(_normal(row[partner[g]]) for g in chosen)].append(index)
            for index, row in enumerate(gold):
                if index not in taken:
                    shelf = shelves.get(tuple(_normal(row[g]) for g in chosen))
                    if shelf:
                        taken[index] = shelf.popleft()
                        used.add(taken[index])
    if len(gold) == len(candidate) == 1:
        taken[0] = 0
        used.add(0)
    rest = [index for index in range(len(candidate)) if index not in used]
    return [(index, taken.get(index)) for index in range(len(gold))] + [(None, index) for index in rest]


def _normal(value: Any) -> Any:
    """A hashable form in which cells that look the same are equal: numbers by value to nine decimals."""
    kind = type(value)
    if kind is int or kind is str or value is None:
        return value
    if kind is float or kind is Decimal:
        number = float(value)
        if number != number:
            return ("nan",)
        return round(number, 9) if -1e15 < number < 1e15 else value
    if kind is bool:
        return ("bool", value)
    if isinstance(value, (list, tuple, dict)):
        return ("nested", repr(value))
    return value


def agree(left: Any, right: Any) -> bool:
    """Whether two cells look the same to a reader: the default tolerance, without the scorer's column coercions.

    >>> agree(1, 1.0), agree(1.234, 1.23), agree("1", 1), agree(None, 0)
    (True, True, False, False)
    """
    if _normal(left) == _normal(right):
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, (int, float, Decimal)) and isinstance(right, (int, float, Decimal)):
        if isinstance(left, int) and isinstance(right, int):
            return False
        if not (-1e15 < left < 1e15 and -1e15 < right < 1e15):
            return False
        gap = abs(float(left) - float(right))
        return gap <= 0.01 and gap <= 0.1 * max(abs(float(left)), abs(float(right)))
    return False


def _mark(match: _Match, gold: Sequence[Any], candidate: Sequence[Any], paired: list[tuple[int, int]]) -> Mark:
    g, c = match
    if g is None:
        return Mark.EXTRA
    if c is None:
        return Mark.MISSING
    same = all(agree(gold[g][left], candidate[c][right]) for left, right in paired)
    return Mark.SAME if same else Mark.DIFFERS


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


def _grid_row(match: _Match, mark: Mark, gold: Sequence[Any], candidate: Sequence[Any], links: list[_Link]) -> GridRow:
    left = None if match[0] is None else gold[match[0]]
    right = None if match[1] is None else candidate[match[1]]
    differing: list[int] = []
    if left is not None and right is not None:
        differing = [
            position
            for position, (g, c, _) in enumerate(links)
            if g is not None and c is not None and not agree(left[g], right[c])
        ]
    return GridRow(
        mark=mark,
        gold=None if left is None else tuple(cell(left[g]) for g, _, _ in links if g is not None),
        candidate=None if right is None else tuple(cell(right[c]) for _, c, _ in links if c is not None),
        differing=tuple(differing),
    )


def _notes(
    gold: Relation | None, candidate: Relation | None, *, shown: int, kept: int, links: int, columns: int
) -> tuple[str, ...]:
    notes: list[str] = []
    if kept < shown:
        notes.append(f"{kept} of {shown:,} aligned rows are shown, those that differ first")
    for name, side in (("gold", gold), ("candidate", candidate)):
        if side is not None and side.height > _ALIGNED_ROWS:
            notes.append(f"only the first {_ALIGNED_ROWS:,} of {side.height:,} {name} rows were aligned for this page")
        if side is not None and side.truncated:
            notes.append(f"a limit cut the {name} result")
    if columns < links:
        notes.append(f"{links - columns} columns are not shown")
    return tuple(notes)
