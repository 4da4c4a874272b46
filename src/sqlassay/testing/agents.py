"""Does a user's own adapter recognise what his agent returns? For his test suite, beside the adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.doctor import Examination, Expected, examine, examine_payload
from sqlassay.agents.registry import build, reader
from sqlassay.records.ask import Ask
from sqlassay.records.turn import Turn


def assert_reads(
    adapter: str | Reader,
    payload: Any,
    *,
    settings: Mapping[str, Any] | None = None,
    tools: Iterable[str] = (),
    fields: Iterable[str] = (),
    **wanted: Any,
) -> Turn:
    """The turn that `adapter` (a name or a reader) makes of a saved payload, when it is what it must be.

    `tools` must have been called, `fields` (`candidate_sql`, `stages.plan`) must hold something, and every other
    keyword is a field of the turn with its wanted value; a status may be given by its name.

    Raises:
        AssertionError: with what was extracted from where, and what was not.
    """
    chosen = reader(adapter, settings) if isinstance(adapter, str) else adapter
    seen = examine_payload(chosen, payload, expected=Expected(tools=tuple(tools), fields=tuple(fields)))
    return _checked(seen, wanted)


def assert_recognises(
    agent: Agent | Mapping[str, Any],
    question: str,
    *,
    base_dir: str = ".",
    database: str | None = None,
    tools: Iterable[str] = (),
    fields: Iterable[str] = (),
    **wanted: Any,
) -> Turn:
    """The turn of one question put to a live agent (or to what its configuration section describes).

    As `sqlassay doctor`, for a test suite: see `assert_reads` for the expectations.

    >>> assert_recognises({"kind": "python", "target": lambda question: {"sql": "SELECT 1"}}, "?").candidate_sql
    'SELECT 1'

    Raises:
        AssertionError: with what was extracted from where, and what was not.
        AgentFailure, AgentUnreachable: there was no answer.
    """
    live = build(agent, base_dir=base_dir) if isinstance(agent, Mapping) else agent
    expected = Expected(tools=tuple(tools), fields=tuple(fields))

    async def one() -> Examination:
        try:
            return await examine(
                live, Ask(question=question, request_id="doctor", database=database), expected=expected
            )
        finally:
            await live.close()

    return _checked(asyncio.run(one()), wanted)


def _checked(seen: Examination, wanted: Mapping[str, Any]) -> Turn:
    problems = [*seen.problems]
    for name, value in wanted.items():
        found = getattr(seen.turn, name)
        if found != value:
            problems.append(f"{name} is {found!r}, not {value!r}")
    if problems:
        raise AssertionError("\n".join([*problems, "", *seen.lines()]))
    return seen.turn
