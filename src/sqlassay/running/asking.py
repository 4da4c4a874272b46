"""One question put to the agent: what did it answer, and whose fault is it when nothing came?

The agent is shown an `Ask`, which has no field for gold. Whatever the agent or its adapter raises becomes part of the
turn; nothing that one question does can end the run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlassay.agents.base import Agent
from sqlassay.agents.replay import ReplayAgent
from sqlassay.archive.pack import Blob, make_blob
from sqlassay.archive.run_folder import raw_ref
from sqlassay.errors import AgentFailure, AgentUnreachable, Culprit, Fault, SqlassayError, capture
from sqlassay.records.ask import Ask, Message
from sqlassay.records.case import Case, Status
from sqlassay.records.run import TrialKey
from sqlassay.records.turn import StatusSource, Turn, TurnError, TurnErrorKind

_MARGIN_S = 1.0
"""Beyond the turn's own limit: an agent kind that stops its question itself keeps what was recorded until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The turn, its payload as it came, and how long the harness waited for it."""

    turn: Turn
    raw: Blob | None
    waited_s: float
    unreachable: AgentUnreachable | None = None


async def put(
    agent: Agent,
    case: Case,
    key: TrialKey,
    *,
    timeout_s: float,
    request_id: str,
    hide: tuple[str, ...] = (),
    database: str | None = None,
    asked_again: bool = False,
) -> Answer:
    """Ask one wording of one case; earlier turns of its conversation are put first, in order.

    A recorded line is the newest turn: of the earlier ones it shows what it keeps as `history`, else what was asked.
    """
    started = time.monotonic()
    deadline = started + timeout_s + _MARGIN_S
    question = case.wording(key.phrasing)
    history: tuple[Message, ...] = ()
    earlier = () if isinstance(agent, ReplayAgent) else case.turns
    base = Turn(case_id=case.id, question=question, phrasing=key.phrasing, repeat=key.repeat, asked_again=asked_again)
    for number, said in enumerate((*earlier, question)):
        ask = Ask(
            question=said,
            request_id=request_id if number == len(earlier) else f"{request_id}-{number}",
            history=history,
            hide=hide,
            database=database,
            at=case.at,
        )
        payload = await _payload(agent, ask, key, deadline=deadline, timeout_s=timeout_s)
        waited = time.monotonic() - started
        if isinstance(payload, _Failed):
            turn = replace(base, history=history, **payload.fields)
            return Answer(turn=turn, raw=None, waited_s=waited, unreachable=payload.unreachable)
        turn, raw = _read(agent, payload, replace(base, history=history))
        if number == len(earlier) or turn.error is not None:
            break
        history += (
            Message(role="user", content=said),
            Message(role="assistant", content=turn.answer or turn.candidate_sql or ""),
        )
    if len(earlier) < len(case.turns) and not turn.history:
        turn = replace(turn, history=tuple(Message(role="user", content=said) for said in case.turns))
    return Answer(turn=_timed(turn, waited, live=not isinstance(agent, ReplayAgent)), raw=raw, waited_s=waited)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """No payload came: the fields of the turn that say why."""

    fields: Mapping[str, Any]
    unreachable: AgentUnreachable | None = None


async def _payload(agent: Agent, ask: Ask, key: TrialKey, *, deadline: float, timeout_s: float) -> Any | _Failed:
    if isinstance(agent, ReplayAgent):
        got = capture(
            lambda: agent.recorded(case_id=key.case_id, phrasing=key.phrasing, repeat=key.repeat), culprit=Culprit.US
        )
        return _failed_transport(got.message) if isinstance(got, Fault) else got
    task = asyncio.ensure_future(agent.ask(ask))
    try:
        done, _ = await asyncio.wait({task}, timeout=max(0.0, deadline - time.monotonic()))
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        # The task is told to stop and not waited for: an agent that ignores it delays nobody.
        task.cancel()
        task.add_done_callback(_forget)
        return _failed(TurnErrorKind.AGENT_TIMEOUT, f"no answer within {timeout_s:g} s")
    if task.cancelled():
        return _failed(TurnErrorKind.AGENT_CRASH, "the agent's task was cancelled")
    error = task.exception()
    match error:
        case None:
            return task.result()
        case AgentUnreachable():
            return _failed_transport(error.message, error)
        case AgentFailure(kind=kind):
            known = kind if kind in set(TurnErrorKind) else TurnErrorKind.AGENT_CRASH.value
            return _failed(TurnErrorKind(known), error.message)
        case TimeoutError():
            return _failed(TurnErrorKind.AGENT_TIMEOUT, str(error) or f"no answer within {timeout_s:g} s")
        case SqlassayError():
            return _failed_transport(error.message)
        case _:
            return _failed(TurnErrorKind.AGENT_CRASH, f"{type(error).__name__}: {error}")


def _forget(task: asyncio.Future[Any]) -> None:
    """Take note of what a stopped task raised, so that nothing is printed about it."""
    if not task.cancelled():
        task.exception()


def _failed(kind: TurnErrorKind, message: str) -> _Failed:
    return _Failed(
        fields={
            "status": Status.ERROR,
            "status_source": StatusSource.EXCEPTION,
            "error": TurnError(kind=kind, message=message),
        }
    )


def _failed_transport(message: str, error: AgentUnreachable | None = None) -> _Failed:
    return _Failed(
        fields={"error": TurnError(kind=TurnErrorKind.TRANSPORT, message=message)},
        unreachable=error,
    )


def _read(agent: Agent, payload: Any, base: Turn) -> tuple[Turn, Blob | None]:
    raw = make_blob(_as_bytes(payload))
    base = replace(base, raw_ref=raw_ref(raw))
    read = capture(lambda: agent.read(payload), culprit=Culprit.US)
    if isinstance(read, Fault):
        said = read.message if read.type == "ExtractionError" else f"{read.type}: {read.message}"
        return replace(base, adapter=agent.name, error=TurnError(kind=TurnErrorKind.EXTRACTION, message=said)), raw
    turn = replace(
        read,
        case_id=base.case_id,
        question=base.question,
        phrasing=base.phrasing,
        repeat=base.repeat,
        history=base.history or read.history,
        adapter=read.adapter or agent.name,
        raw_ref=base.raw_ref,
        asked_again=base.asked_again,
    )
    return turn, raw


def _timed(turn: Turn, waited_s: float, *, live: bool) -> Turn:
    """The time the harness waited, where the agent does not tell its own."""
    if not live or turn.usage.latency_s is not None:
        return turn
    return replace(turn, usage=replace(turn.usage, latency_s=round(waited_s, 6)))


def _as_bytes(payload: Any) -> bytes:
    if isinstance(payload, (bytes, bytearray)):
        return bytes(payload)
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    for form in (lambda: json.dumps(payload, default=repr), lambda: repr(payload)):
        said = capture(form, culprit=Culprit.US)
        if not isinstance(said, Fault):
            return said.encode("utf-8", "surrogatepass")
    return f"a {type(payload).__name__} that cannot be written down".encode()
