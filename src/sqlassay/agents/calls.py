"""How is a user's own function called so that it can neither block the run nor outlive its time?"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from sqlassay.errors import AgentFailure, Culprit, Fault, capture
from sqlassay.records.ask import Ask

_ACKNOWLEDGE_S = 0.3


class Caller:
    """Calls functions off the run's event loop: plain ones in a thread each, coroutines on a loop of their own.

    A function that never returns holds only its own (daemon) thread; a coroutine that blocks its loop gets a new
    loop for the questions after it.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    async def call(self, function: Callable[[], Any], *, timeout_s: float | None) -> Any | Fault:
        """What `function` returns (awaited when it is awaitable), or the fault it raised, put on the agent.

        Raises:
            TimeoutError: it took longer than `timeout_s` seconds.
        """
        started = time.monotonic()
        outcome = await self._within(_in_thread(function), timeout_s)
        if isinstance(outcome, Fault) or not inspect.isawaitable(outcome):
            return outcome
        left = None if timeout_s is None else max(0.01, timeout_s - (time.monotonic() - started))
        running = asyncio.run_coroutine_threadsafe(_awaited(outcome), self._own_loop())
        try:
            return await self._within(running, left)
        except TimeoutError:
            await self._give_up_blocked_loop()
            raise

    async def close(self) -> None:
        """Stop the loop; a thread that hangs is left behind, it cannot keep the process alive."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    async def _within(self, running: Future[Any], timeout_s: float | None) -> Any:
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(running)
        finally:
            running.cancel()

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="sqlassay-agent-loop", daemon=True).start()
            return self._loop

    async def _give_up_blocked_loop(self) -> None:
        loop = self._loop
        if loop is None:
            return
        answered = threading.Event()
        loop.call_soon_threadsafe(answered.set)
        deadline = time.monotonic() + _ACKNOWLEDGE_S
        while not answered.is_set() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        if not answered.is_set():
            with self._lock:
                if self._loop is loop:
                    self._loop = None
            loop.call_soon_threadsafe(loop.stop)


def context_for(function: Callable[..., Any], ask: Ask) -> Mapping[str, Any]:
    """The keywords of `ask` that `function` accepts; all of them when it takes `**keywords`.

    >>> dict(context_for(lambda question, database: None, Ask(question="q", request_id="r", database="films")))
    {'database': 'films'}
    """
    offered: dict[str, Any] = {
        **{str(key): value for key, value in ask.extra.items()},
        "history": [{"role": message.role, "content": message.content} for message in ask.history],
        "database": ask.database,
        "hide": list(ask.hide),
        "request_id": ask.request_id,
        "at": ask.at,
    }
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return offered
    by_name = {
        parameter.name
        for number, parameter in enumerate(parameters)
        if parameter.kind is parameter.KEYWORD_ONLY
        or (number > 0 and parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
    }
    return {name: value for name, value in offered.items() if name in by_name}


async def _awaited(awaitable: Any) -> Any | Fault:
    task = asyncio.ensure_future(_without_exit(awaitable))
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        raise
    if task.cancelled():
        return Fault(culprit=Culprit.AGENT, type="CancelledError", message="the agent's task was cancelled")
    return capture(task.result, culprit=Culprit.AGENT)


async def _without_exit(awaitable: Any) -> Any:
    try:
        return await awaitable
    except SystemExit as error:
        raise AgentFailure(f"the agent called exit({error.code})") from None


def _in_thread(function: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            outcome = context.run(capture, function, culprit=Culprit.AGENT)
        except SystemExit as error:
            outcome = Fault(culprit=Culprit.AGENT, type="SystemExit", message=f"the agent called exit({error.code})")
        future.set_result(outcome)

    threading.Thread(target=work, name="sqlassay-agent", daemon=True).start()
    return future


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_ACKNOWLEDGE_S))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
