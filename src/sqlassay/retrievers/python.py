"""How is a retriever called that is a Python function?"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlassay.errors import ConfigError, Culprit, Fault, capture
from sqlassay.records.trial import Direct
from sqlassay.retrievers.base import Retriever, known_settings, read_answer

_SETTINGS = ("kind", "name", "target", "hide_target", "dialect", "timeout_s")


def build(settings: Mapping[str, Any], *, base_dir: str) -> Retriever:
    """A retriever from `target: module:callable`, called as `callable(question, hide=..., hide_sql=..., database=...)`.

    The callable takes what it names of these, sync or async. `hide_target: module:callable` is called as
    `callable(ids=..., sql=...)` where a system can only hide globally.

    Raises:
        ConfigError: a setting is unknown or the target cannot be imported.
    """
    known_settings(settings, _SETTINGS, kind="python")
    target = settings.get("target")
    if not isinstance(target, str) or ":" not in target:
        raise ConfigError("retriever.target: expected 'module:callable'")
    hide = settings.get("hide_target")
    return PythonRetriever(
        _imported(target, base_dir),
        hide=None if hide is None else _imported(str(hide), base_dir),
        name=str(settings.get("name") or target),
        dialect=settings.get("dialect"),
        timeout_s=settings.get("timeout_s"),
    )


def _imported(target: str, base_dir: str) -> Callable[..., Any]:
    module_name, _, path = target.partition(":")
    if base_dir not in sys.path:
        sys.path.insert(0, base_dir)
    found: Any = capture(lambda: importlib.import_module(module_name), culprit=Culprit.USER)
    if isinstance(found, Fault):
        raise ConfigError(f"retriever.target: cannot import {module_name!r}: {found.message}")
    for part in path.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"retriever.target: {target!r} is not callable")
    result: Callable[..., Any] = found
    return result


class PythonRetriever:
    """Calls a function of the user's; what it raises is this call's error, not a crash."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        hide: Callable[..., Any] | None = None,
        name: str = "python",
        dialect: str | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self.name = name
        self._function = function
        self._hide = hide
        self._dialect = dialect
        self._timeout_s = timeout_s

    async def retrieve(
        self,
        question: str,
        *,
        database: str | None = None,
        hide: Sequence[str] = (),
        hide_sql: Sequence[str] = (),
        timeout_s: float = 60.0,
    ) -> Direct:
        """Call the function; see `Retriever.retrieve`."""
        context = {"hide": list(hide), "hide_sql": list(hide_sql), "database": database}
        limit = timeout_s if self._timeout_s is None else min(self._timeout_s, timeout_s)
        started = time.perf_counter()
        answer = await _called(self._function, (question,), context, limit_s=limit)
        elapsed = time.perf_counter() - started
        if isinstance(answer, Fault):
            return Direct(error=f"{answer.type}: {answer.message}", latency_s=elapsed)
        return replace(read_answer(answer, dialect=self._dialect), latency_s=elapsed)

    async def hide(self, *, ids: Sequence[str], sql: Sequence[str]) -> None:
        """Hide globally through `hide_target`; nothing where there is none."""
        if self._hide is not None:
            await _called(self._hide, (), {"ids": list(ids), "sql": list(sql)}, limit_s=60.0)

    async def close(self) -> None:
        """Nothing is held open."""


async def _called(
    function: Callable[..., Any], positional: tuple[Any, ...], context: Mapping[str, Any], *, limit_s: float
) -> Any:
    accepted = _accepted(function, context)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        waiting = asyncio.ensure_future(_awaited(function, positional, accepted))
    else:
        waiting = asyncio.ensure_future(asyncio.to_thread(_plain, function, positional, accepted))
    done, _ = await asyncio.wait({waiting}, timeout=limit_s)
    if not done:
        waiting.cancel()
        return Fault(culprit=Culprit.USER, type="TimeoutError", message=f"no answer within {limit_s:g} s")
    answer = capture(waiting.result, culprit=Culprit.USER)
    return await answer if inspect.isawaitable(answer) else answer


async def _awaited(function: Callable[..., Any], positional: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return await function(*positional, **named)


def _plain(function: Callable[..., Any], positional: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return capture(lambda: function(*positional, **named), culprit=Culprit.USER)


def _accepted(function: Callable[..., Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the context that the function takes."""
    signature = capture(lambda: inspect.signature(function), culprit=Culprit.USER)
    if isinstance(signature, Fault):
        return {}
    parameters = signature.parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return dict(context)
    return {name: value for name, value in context.items() if name in signature.parameters}
