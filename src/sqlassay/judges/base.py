"""What is a model judge shown, and what must it give back?

Judges are optional, off by default and not reproducible. They run after `executable` and `exact` are recorded; what
they say becomes `Opinion`s, so that scoring again needs no model (specification section 5.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlassay.records.case import Case
from sqlassay.records.opinion import Opinion
from sqlassay.records.relation import Relation
from sqlassay.records.turn import Turn

CORRECTNESS = "answer.correctness"
CONTEXTUAL_RELEVANCE = "answer.contextual_relevance"
FAITHFULNESS = "answer.faithfulness"
METRICS = (CORRECTNESS, CONTEXTUAL_RELEVANCE, FAITHFULNESS)

_ROWS_SHOWN = 100
_CELL_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One turn as a judge sees it. No SQL and no gold rows are in it: it is the wording that is judged."""

    question: str
    answer: str
    expected_answer: str | None = None
    context: tuple[str, ...] = ()
    """The schema that the case states (`schema_context`), else the tables that the agent was offered."""
    result: str | None = None
    """The candidate's result as a table in text; None where it gave none."""


class Judge(Protocol):
    """A configured judge."""

    async def opinions(self, material: Material) -> tuple[Opinion, ...]:
        """One opinion per metric that the material allows; a judge that fails gives one with `error`, never raises."""
        ...

    async def close(self) -> None: ...


def material_of(case: Case, turn: Turn, *, result: Relation | None) -> Material | None:
    """What a judge is shown of a turn; None when there is no final text to judge."""
    if turn.answer is None or not turn.answer.strip():
        return None
    context: tuple[str, ...] = (case.schema_context,) if case.schema_context else ()
    if not context and turn.retrieval is not None and turn.retrieval.offered:
        context = tuple(f"{table.name}({', '.join(table.columns)})" for table in turn.retrieval.offered)
    return Material(
        question=turn.question or case.question,
        answer=turn.answer,
        expected_answer=case.expected_answer,
        context=context,
        result=None if result is None else table_text(result),
    )


def table_text(relation: Relation) -> str:
    """A result as text: header, at most 100 rows, and how many there are.

    >>> from sqlassay.records.relation import Column
    >>> print(table_text(Relation(columns=(Column(name="a"), Column(name="b")), rows=[(1, None)])))
    a | b
    1 | NULL
    (1 row)
    """
    shown = relation.tuples()[:_ROWS_SHOWN]
    lines = [" | ".join(relation.names), *(" | ".join(map(_cell, row)) for row in shown)]
    more = "" if len(shown) == relation.height else f", the first {len(shown)} shown"
    return "\n".join([*lines, f"({relation.height} row{'' if relation.height == 1 else 's'}{more})"])


def _cell(value: object) -> str:
    text = "NULL" if value is None else " ".join(str(value).split())
    return text if len(text) <= _CELL_SHOWN else text[: _CELL_SHOWN - 3] + "..."
