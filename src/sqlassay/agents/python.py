"""How is an agent asked that is a Python function?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.calls import Caller, context_for
from sqlassay.agents.fields import Gaps, queries_of
from sqlassay.agents.mapping import MappingReader, statuses_from
from sqlassay.agents.plain import plain
from sqlassay.agents.recorder import merge, recording
from sqlassay.agents.refusals import status_in, status_in_sql
from sqlassay.agents.settings import check_known, optional_mapping, optional_text, seconds
from sqlassay.agents.target import load_target
from sqlassay.errors import AgentFailure, AgentUnreachable, ConfigError, ExtractionError, Fault
from sqlassay.records.ask import Ask
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, TurnError, TurnErrorKind

KIND = "python"
VERSION = "1"
_KNOWN = frozenset({"target", "map"})

BUDGET_EXCEPTIONS = frozenset(
    {
        "GraphRecursionError",
        "UsageLimitExceeded",
        "MaxTurnsExceeded",
        "AgentMaxStepsError",
        "ToolCallLimitExceededError",
        "ModelCallLimitExceededError",
        "WorkflowTimeoutError",
    }
)
"""Exceptions by which frameworks say that the turn ran out of steps, not that it broke."""


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """An agent from `target: module:callable` (or a callable), optionally with `read: <adapter>`.

    Raises:
        ConfigError: a setting is wrong, or the target cannot be imported or called.
    """
    check_known(settings, _KNOWN, kind=KIND)
    target = load_target(settings.get("target"), base_dir=base_dir)
    function = target() if isinstance(target, type) else target
    if not callable(function):
        raise ConfigError(f"agent.target: {settings.get('target')!r} is not callable", hint="name a function")
    return PythonAgent(
        function,
        name=optional_text(settings, "name") or KIND,
        timeout_s=seconds(settings, "timeout_s", otherwise=None),
        reader=result_reader(settings, kind=KIND),
    )


class PythonAgent:
    """Calls `function(question, **context)`; context holds the keywords it accepts: `history`, `database`, `hide`,
    `request_id`, `at`, and what else the question carries.

    The payload is `{"result", "error", "recorded", "unattributed"}`: also a turn that crashed or ran out of time keeps
    the statements that were recorded until then.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = KIND,
        timeout_s: float | None = None,
        reader: Reader | None = None,
    ) -> None:
        self.name = name
        self._function = function
        self._timeout_s = timeout_s
        self._reader = reader if reader is not None else MappingReader(name=KIND, version=VERSION)
        self._caller = Caller()

    async def ask(self, ask: Ask) -> Any:
        """Put the question; see the class for the payload.

        Raises:
            AgentUnreachable: the function itself says so (raises it).
        """
        keywords = context_for(self._function, ask)
        return await call_recorded(
            self._caller, lambda: self._function(ask.question, **keywords), timeout_s=self._timeout_s
        )

    def read(self, payload: Any) -> Turn:
        """The result read as a mapping, or by the framework's adapter, with the recorded statements merged in."""
        return read_recorded(payload, self._reader)

    async def close(self) -> None:
        """Close the function's own resources, where it has `close` or `aclose`, and stop its loop."""
        for name in ("aclose", "close"):
            closing = getattr(self._function, name, None)
            if callable(closing) and not inspect.isfunction(self._function):
                await self._caller.call(closing, timeout_s=5)
                break
        await self._caller.close()


def result_reader(settings: Mapping[str, Any], *, kind: str, default: str | None = None) -> Reader:
    """The reader that `read:` names (with `read_settings`), else the one for plain results, through `map` if it is set.

    Raises:
        ConfigError: a setting is wrong, or does not go together with another.
    """
    mapped = optional_mapping(settings, "map")
    if mapped and settings.get("read") is not None:
        raise ConfigError("agent: use either map or read", hint="read names a framework's adapter, map JMESPath")
    name = optional_text(settings, "read") or (None if mapped else default)
    if name is None:
        text_rules = settings.get("text_rules", True)
        if not isinstance(text_rules, bool):
            raise ConfigError(f"agent.text_rules: expected true or false, got {text_rules!r}")
        plainly = MappingReader(
            name=KIND, version=VERSION, statuses=statuses_from(settings.get("statuses")), text_rules=text_rules
        )
        if not mapped:
            return plainly
        from sqlassay.agents.projection import MappedReader, Projection

        return MappedReader(Projection(mapped), plainly)
    for key in ("statuses", "text_rules"):
        if settings.get(key) is not None:
            raise ConfigError(f"agent.{key}: kind {kind!r} does not use it together with `read`")
    from sqlassay.agents.registry import reader

    return reader(name, optional_mapping(settings, "read_settings"))


async def call_recorded(
    caller: Caller, function: Callable[[], Any], *, timeout_s: float | None, partial: Callable[[], Any] | None = None
) -> dict[str, Any]:
    """Call `function` while its statements are recorded; `partial` tells what is known when it fails.

    Raises:
        AgentUnreachable: the function raised it.
    """
    result: Any = None
    error: dict[str, str] | None = None
    with recording() as rec:
        try:
            result = await caller.call(function, timeout_s=timeout_s)
        except TimeoutError:
            error = {"kind": TurnErrorKind.AGENT_TIMEOUT.value, "type": "TimeoutError"}
            error["message"] = f"no answer within {timeout_s:g} s"
        if isinstance(result, Fault):
            if result.type == AgentUnreachable.__name__:
                raise AgentUnreachable(result.message)
            error = {"kind": TurnErrorKind.AGENT_CRASH.value, "type": result.type, "message": result.message}
        if error is not None:
            result = None if partial is None else partial()
        return {
            "result": plain(result),
            "error": error,
            "recorded": rec.queries(),
            "unattributed": rec.unattributed,
        }


def read_recorded(payload: Any, reader: Reader) -> Turn:
    """The turn of a payload that `call_recorded` made.

    Raises:
        ExtractionError: it is no such payload, or the result is not of the reader's kind.
    """
    if not isinstance(payload, Mapping) or "result" not in payload:
        raise ExtractionError("not a payload of an in-process agent: it has no 'result'")
    error = payload.get("error")
    gaps = Gaps()
    recorded = queries_of(payload.get("recorded"), gaps=gaps)
    result = payload["result"]
    if error is None:
        turn = reader.read(result)
    elif result is None:
        turn = Turn(adapter=f"{reader.name} {reader.version}")
    else:
        turn = reader.read(result)
    unattributed = payload.get("unattributed")
    turn = merge(turn, recorded, unattributed=unattributed if isinstance(unattributed, int) else 0)
    if turn.status_source is StatusSource.TEXT_RULE and any(query.succeeded for query in recorded):
        refused = status_in(turn.answer, ran=True) or status_in_sql(turn.candidate_sql)
        source = StatusSource.INFERRED if refused is None else StatusSource.TEXT_RULE
        turn = replace(turn, status=Status.SUCCESS if refused is None else refused, status_source=source)
    return turn if error is None else _failed(turn, error)


def _failed(turn: Turn, error: Mapping[str, Any]) -> Turn:
    """The turn of a function that raised or ran out of time; running out of steps is a status of its own."""
    kind, message = str(error.get("type")), str(error.get("message", ""))
    if turn.status_source is StatusSource.EXCEPTION:
        return turn
    if kind in BUDGET_EXCEPTIONS:
        return replace(turn, status=Status.BUDGET_EXHAUSTED, status_source=StatusSource.EXCEPTION)
    known = {member.value: member for member in TurnErrorKind}
    return replace(
        turn,
        status=Status.ERROR,
        status_source=StatusSource.EXCEPTION,
        error=TurnError(
            kind=known.get(str(error.get("kind")), TurnErrorKind.AGENT_CRASH),
            message=message if kind in ("TimeoutError", AgentFailure.__name__) else f"{kind}: {message}",
        ),
    )
