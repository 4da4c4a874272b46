"""Is the information there, and is the data in it right? (specification section 5.3)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.metrics.verdicts import Judged, aligned, judged_once
from sqlassay.records.case import GroupsShape, IdSetShape, RankingShape, ScalarShape
from sqlassay.records.measurement import ShapeLabel
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ceiling, Ratio, Reading, Reason, Undefined, ratio
from sqlassay.tables.output import Alignment

_BASE: Mapping[Reason, str] = {
    Reason.NOT_APPLICABLE: "the case has no gold SQL",
    Reason.GOLD_FAILED: "no gold SQL runs",
    Reason.HARNESS_FAILED: "the connection was lost or the agent could not be reached",
    Reason.TRUNCATED: "a limit of ours cut a side",
    Reason.NOT_RECORDED: "the candidate's result was not kept",
    Reason.NOTHING_TO_COUNT: "a side has no columns",
}
_CELLS: Mapping[Reason, str] = {
    **_BASE,
    Reason.NO_SQL: "there is no candidate result",
    Reason.NO_PAIRS: "no column pairs with another",
    Reason.EMPTY_RESULT: "the side that would be the denominator has no rows",
}
_SOURCE = "specification section 5.3"

CARDS = (
    Card(
        name="output.columns.precision",
        title="Column precision",
        question="Which share of the candidate's columns carries information that was asked for?",
        formula="sum of pair precisions / candidate columns",
        undefined={**_BASE, Reason.NO_SQL: "there is no candidate result"},
        source=_SOURCE,
    ),
    Card(
        name="output.columns.recall",
        title="Column recall",
        question="Which share of the gold's columns is there?",
        formula="sum of pair recalls / gold columns (absent optional ones left out)",
        undefined=_BASE,
        source=_SOURCE,
    ),
    Card(
        name="output.cells.precision",
        title="Cell precision",
        question="Which share of the cells that the candidate gives in paired columns is right?",
        formula="matched cells / (candidate rows x paired columns)",
        undefined=_CELLS,
        source=_SOURCE,
    ),
    Card(
        name="output.cells.recall",
        title="Cell recall",
        question="Which share of the gold's cells in paired columns was given?",
        formula="matched cells / (gold rows x paired columns)",
        undefined=_CELLS,
        source=_SOURCE,
    ),
)
_NAMES = tuple(card.name for card in CARDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The judgement of the chosen gold and the alignment of both results, where there are two."""

    trial: Trial
    judged: Judged
    alignment: Alignment | None


def examine(trial: Trial, settings: ScoreSettings) -> Examined:
    """Put both results side by side."""
    judged = judged_once(trial, settings)
    return Examined(trial=trial, judged=judged, alignment=aligned(trial, settings, judged))


def readings(examined: Examined) -> Mapping[str, Reading]:
    """Precision and recall over columns and over cells, each 0..1 or undefined."""
    judged, alignment = examined.judged, examined.alignment
    if alignment is None:
        return _without(judged)
    width = alignment.width
    found: dict[str, Reading] = {
        "output.columns.precision": _share(alignment.column_precision, alignment.candidate_columns),
        "output.columns.recall": _share(alignment.column_recall, alignment.reference_columns),
    }
    for name, rows in (("precision", alignment.candidate_rows), ("recall", alignment.reference_rows)):
        if not width:
            found[f"output.cells.{name}"] = Undefined(reason=Reason.NO_PAIRS)
        else:
            found[f"output.cells.{name}"] = ratio(alignment.matched_cells, rows * width, otherwise=Reason.EMPTY_RESULT)
    return found


def _share(hits: Fraction, total: int) -> Reading:
    if not total:
        return Undefined(reason=Reason.NOTHING_TO_COUNT)
    return Ratio(hits=int(hits) if hits.denominator == 1 else min(float(hits), float(total)), total=total)


def _without(judged: Judged) -> Mapping[str, Reading]:
    """No two results to compare."""
    if judged.undefined is not None:
        return {name: Undefined(reason=judged.undefined) for name in _NAMES}
    nothing = Undefined(reason=Reason.NO_SQL)
    columns = 0 if judged.reference is None else judged.reference.width
    return dict.fromkeys(_NAMES, nothing) | {
        "output.columns.recall": ratio(0, columns, otherwise=Reason.NOTHING_TO_COUNT)
    }


def label(examined: Examined) -> ShapeLabel | None:
    """How the numbers read together (specification section 5.3); None where no verdict can be made."""
    judged, alignment = examined.judged, examined.alignment
    if judged.exact:
        return ShapeLabel.EXACT
    if judged.undefined is not None:
        return None
    if judged.candidate is None or alignment is None:
        return ShapeLabel.NOT_RUN
    match examined.trial.case.compare_on:
        case ScalarShape():
            return ShapeLabel.WRONG_VALUES
        case IdSetShape():
            return _by_shares(judged, "id_precision", "id_recall")
        case RankingShape():
            if _is_one(judged, "set_exact"):
                return ShapeLabel.WRONG_ORDER
            return _by_shares(judged, "id_precision", "id_recall")
        case GroupsShape():
            return _by_shares(judged, "group_precision", "group_recall")
        case _:
            return _by_table(judged, alignment)


def _by_table(judged: Judged, alignment: Alignment) -> ShapeLabel | None:
    if judged.comparison is not None and judged.comparison.same_rows:
        return ShapeLabel.WRONG_ORDER
    if not alignment.pairs:
        return ShapeLabel.NOTHING_ALIGNED
    if alignment.unpaired:
        return ShapeLabel.MISSING_COLUMNS
    if alignment.candidate_rows != alignment.reference_rows:
        more = alignment.candidate_rows > alignment.reference_rows
        return ShapeLabel.TOO_MANY_ROWS if more else ShapeLabel.TOO_FEW_ROWS
    if alignment.matched_cells < alignment.reference_rows * alignment.width:
        return ShapeLabel.WRONG_VALUES
    if alignment.candidate_columns > alignment.width:
        return ShapeLabel.EXTRA_COLUMNS
    return ShapeLabel.WRONG_VALUES


def _is_one(judged: Judged, name: str) -> bool:
    reading = judged.shape.readings.get(name) if judged.shape is not None else None
    return isinstance(reading, Ratio) and reading.hits == reading.total


def _by_shares(judged: Judged, precision: str, recall: str) -> ShapeLabel:
    shape = judged.shape
    if shape is not None and isinstance(shape.readings.get(precision), Undefined):
        reading = shape.readings[precision]
        if isinstance(reading, Undefined) and reading.reason is Reason.NO_PAIRS:
            return ShapeLabel.MISSING_COLUMNS
        return ShapeLabel.TOO_FEW_ROWS
    right, found = _is_one(judged, precision), _is_one(judged, recall)
    if found and not right:
        return ShapeLabel.TOO_MANY_ROWS
    if right and not found:
        empty = shape is not None and isinstance(shape.readings.get(recall), Undefined)
        return ShapeLabel.TOO_MANY_ROWS if empty else ShapeLabel.TOO_FEW_ROWS
    if shape is not None and isinstance(shape.readings.get(recall), Undefined):
        return ShapeLabel.TOO_MANY_ROWS
    return ShapeLabel.WRONG_VALUES


def unique_names(names: Sequence[str]) -> list[str]:
    """Names made unique: the second `id` becomes `id#2`.

    >>> unique_names(["id", "n", "id"])
    ['id', 'n', 'id#2']
    """
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return made


def evidence(examined: Examined) -> Mapping[str, Any]:
    """Pairs, row key and matched cells (specification section 11), by which a report draws both tables aligned."""
    judged, alignment = examined.judged, examined.alignment
    shape = label(examined)
    found: dict[str, Any] = {} if shape is None else {"shape": shape.value}
    if alignment is None or judged.reference is None or judged.candidate is None:
        alone = judged.reference is None or judged.candidate is None
        return {**found, "pairs": [] if alone else None, "row_key": None, "matched_cells": None}
    left, right = unique_names(judged.reference.names), unique_names(judged.candidate.names)
    found["pairs"] = [
        {
            "reference": left[pair.reference],
            "candidate": right[pair.candidate],
            "by": pair.by.value,
            "precision": _part(pair.overlap.candidate_hits, pair.overlap.candidate),
            "recall": _part(pair.overlap.reference_hits, pair.overlap.reference),
        }
        for pair in alignment.pairs
    ]
    found["row_key"] = None if alignment.key is None else [left[position] for position in alignment.key]
    found["matched_cells"] = alignment.matched_cells
    paired = {pair.candidate for pair in alignment.pairs}
    found["missing_columns"] = [left[position] for position in alignment.unpaired]
    found["extra_columns"] = [name for position, name in enumerate(right) if position not in paired]
    return found


def _part(hits: int, count: int) -> float:
    return hits / count if count else 0.0


def ceilings(examined: Examined) -> Iterable[Ceiling]:
    """What limits these numbers."""
    return () if examined.alignment is None else examined.alignment.ceilings


FAMILY = Family(name="output", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings)
