"""How many questions may be in flight, and how fast may they go out? Limits that follow what the agent bears."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType


class Throttle:
    """At most `jobs` at a time; halved when the agent refuses or fails, one more after as many good answers.

    Additive increase, multiplicative decrease; a stated waiting time holds all questions back.
    """

    def __init__(self, jobs: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = max(1, jobs)
        self.limit = self.most
        self._in_flight = 0
        self._good = 0
        self._not_before = 0.0
        self._clock = clock
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._changed:
            while self._in_flight >= self.limit or self._wait() > 0:
                wait = self._wait()
                try:
                    async with asyncio.timeout(wait if wait > 0 else None):
                        await self._changed.wait()
                except TimeoutError:
                    continue
            self._in_flight += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def _wait(self) -> float:
        return self._not_before - self._clock()

    def ease(self, *, wait_s: float = 0.0) -> None:
        """The agent refused: halve, and ask nothing for `wait_s`."""
        self.limit = max(1, self.limit // 2)
        self._good = 0
        self._not_before = max(self._not_before, self._clock() + wait_s)

    async def praise(self) -> None:
        """The agent answered: after `limit` answers in a row one more may be in flight."""
        if self.limit >= self.most:
            return
        self._good += 1
        if self._good >= self.limit:
            self._good = 0
            async with self._changed:
                self.limit += 1
                self._changed.notify_all()


class Pace:
    """So many units per minute, spread evenly with a burst of at most one second's worth (and at least one unit).

    What is known only afterwards (tokens) is paid afterwards: the balance may go below zero, and the next waits.
    """

    def __init__(self, per_minute: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = None if per_minute is None else per_minute / 60.0
        self._burst = 1.0 if self._rate is None else max(1.0, self._rate)
        self._balance = self._burst
        self._clock = clock
        self._at = clock()
        self._turn = asyncio.Lock()

    async def wait(self, cost: float = 1.0) -> None:
        """Wait until the balance is positive, then pay `cost`."""
        if self._rate is None:
            return
        async with self._turn:
            while (lack := self._lack()) > 0:
                await asyncio.sleep(lack)
            self._balance -= cost

    def pay(self, cost: float) -> None:
        """Pay for what has been used already."""
        self._refill()
        self._balance -= cost

    def _lack(self) -> float:
        self._refill()
        assert self._rate is not None
        return 0.0 if self._balance > 0 else (1e-3 - self._balance) / self._rate

    def _refill(self) -> None:
        now = self._clock()
        if self._rate is not None:
            self._balance = min(self._burst, self._balance + (now - self._at) * self._rate)
        self._at = now
