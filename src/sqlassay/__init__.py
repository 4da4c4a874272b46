"""Measure whether a text-to-SQL agent is right, where it is wrong and why.

>>> import sqlassay
>>> gold = {"columns": ["n"], "rows": [[1], [2]]}
>>> sqlassay.compare(gold, {"columns": ["n"], "rows": [[2], [1]]}).value("execution.exact")
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlassay.api import Run as Run
    from sqlassay.api import open_run as open_run
    from sqlassay.api import read as read
    from sqlassay.api import run as run
    from sqlassay.records.measurement import Measurement as Score
    from sqlassay.records.turn import Turn as Turn
    from sqlassay.running.library import compare as compare
    from sqlassay.running.library import score_sql as score_sql
    from sqlassay.running.scorer import Scorer as Scorer

__version__ = "0.1.0"
__all__ = ["Run", "Score", "Scorer", "Turn", "__version__", "compare", "open_run", "read", "run", "score_sql"]

_HOMES = {
    "Run": ("sqlassay.api", "Run"),
    "Score": ("sqlassay.records.measurement", "Measurement"),
    "Scorer": ("sqlassay.running.scorer", "Scorer"),
    "Turn": ("sqlassay.records.turn", "Turn"),
    "compare": ("sqlassay.running.library", "compare"),
    "open_run": ("sqlassay.api", "open_run"),
    "read": ("sqlassay.api", "read"),
    "run": ("sqlassay.api", "run"),
    "score_sql": ("sqlassay.running.library", "score_sql"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line's help needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlassay' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
