"""Which families of metrics are there, and in which order are they read?"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlassay.errors import ConfigError
from sqlassay.metrics.base import Card, Family

NAMES = (
    "execution",
    "output",
    "component",
    "retrieval",
    "adherence",
    "behaviour",
    "stages",
    "answer",
    "cost",
)
"""Modules of `sqlassay.metrics`, each holding one `Family`; the order of readings in a score line."""


@cache
def families() -> tuple[Family[Any], ...]:
    """Every family, imported when first asked for.

    >>> [family.name for family in families()][:1]
    ['execution']
    """
    return tuple(_family(name) for name in NAMES if find_spec(f"sqlassay.metrics.{name}") is not None)


def cards() -> tuple[Card, ...]:
    """Every metric's declaration, in the order of a score line; `outcome.pass` first."""
    from sqlassay.metrics.score import PASS

    return (PASS, *(card for family in families() for card in family.cards))


def _family(name: str) -> Family[Any]:
    module = import_module(f"sqlassay.metrics.{name}")
    for value in vars(module).values():
        if isinstance(value, Family):
            return value
    raise ConfigError(f"sqlassay.metrics.{name} declares no family")
