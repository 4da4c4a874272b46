"""Do two ways of looking at one case contradict each other? If so, the ruler is bent, not the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlassay.records.case import Case, TableShape
from sqlassay.records.measurement import Measurement, ShapeLabel
from sqlassay.records.value import Ceiling

_OUTPUT = ("output.columns.precision", "output.columns.recall", "output.cells.precision", "output.cells.recall")
_EXCUSES = frozenset({Ceiling.TIE_AT_LIMIT, Ceiling.NONDETERMINISTIC, Ceiling.BOTH_EMPTY})
"""Other rows than the gold's are right there, or there are none: a metric below 1 is what its definition says."""


def disagrees(measurement: Measurement, case: Case | None) -> bool:
    """Whether exact comparison and output metrics contradict each other.

    True when every output metric is 1 and the exact comparison still differs for another reason than order or crossed
    labels, or when it holds and a paired metric lies below 1 although all reference columns are paired.
    """
    if case is not None and not isinstance(case.compare_on, TableShape):
        return False
    exact = measurement.value("execution.exact")
    values = [measurement.value(name) for name in _OUTPUT]
    if exact is None:
        return False
    if exact == 0:
        # Columns under each other's labels hold all the right values, and the exact comparison rightly refuses them.
        excused = measurement.shape is ShapeLabel.WRONG_ORDER or Ceiling.LABELS_CROSSED in measurement.ceilings
        return all(value == 1 for value in values) and not excused
    if exact == 1 and not _EXCUSES.intersection(measurement.ceilings):
        below = any(value is not None and value < 1 for value in values)
        return below and _all_paired(measurement.evidence)
    return False


def _all_paired(evidence: Mapping[str, Any]) -> bool:
    pairs = evidence.get("output", {}).get("pairs")
    origins = evidence.get("sql", {}).get("gold_origins")
    return pairs is not None and origins is not None and len(pairs) == len(origins)
