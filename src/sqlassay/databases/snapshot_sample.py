"""Which rows of each table does a sample keep, so that no foreign key points nowhere?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlassay.databases.snapshot_files import Copied
from sqlassay.records.relation import ForeignKey, Row


def sampled(whole: Mapping[str, Copied], size: int, kept_whole: set[str]) -> dict[str, Copied]:
    """Evenly spaced rows of every table, tables of `kept_whole` whole, and the rows that their keys refer to."""
    kept: dict[str, set[int]] = {}
    for name, table in whole.items():
        height = len(table.rows)
        if name in kept_whole or height <= size:
            kept[name] = set(range(height))
        else:
            kept[name] = {place * height // size for place in range(size)}
    pending = list(whole)
    while pending:
        name = pending.pop()
        for key in whole[name].table.foreign_keys:
            parent = key.to_table.lower()
            if parent not in whole or len(kept[parent]) == len(whole[parent].rows):
                continue
            missing = _referred(whole[name], whole[parent], key, kept[name]) - kept[parent]
            if missing:
                kept[parent] |= missing
                pending.append(parent)
    return {name: replace(table, rows=[table.rows[i] for i in sorted(kept[name])]) for name, table in whole.items()}


def _referred(child: Copied, parent: Copied, key: ForeignKey, rows: set[int]) -> set[int]:
    own = [_position(child, column) for column in key.columns]
    theirs = [_position(parent, column) for column in key.to_columns]
    if None in own or None in theirs or len(own) != len(theirs):
        return set()
    wanted = {_values(child.rows[i], own) for i in rows}
    return {i for i, row in enumerate(parent.rows) if _values(row, theirs) in wanted}


def _position(copied: Copied, column: str) -> int | None:
    lowered = [name.lower() for name in copied.table.columns]
    return lowered.index(column.lower()) if column.lower() in lowered else None


def _values(row: Row, positions: list[int | None]) -> Row:
    return tuple(row[position] for position in positions if position is not None)
