"""How is a statement stopped from outside when its time is up? One thread watches every deadline of the process."""

from __future__ import annotations

import heapq
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from sqlassay.errors import Culprit, capture

_condition = threading.Condition()
_order = count()
_queue: list[tuple[float, int, Alarm]] = []
_thread: threading.Thread | None = None


class Alarm:
    """Whether an action was called because its deadline passed."""

    __slots__ = ("_action", "_lock", "cancelled", "rang")

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self._lock = threading.Lock()
        self.rang = False
        self.cancelled = False

    def ring(self) -> None:
        """Call the action, unless the block has ended; a driver's cancel may fail when its statement has just ended."""
        with self._lock:
            if self.cancelled:
                return
            self.rang = True
            capture(self._action, culprit=Culprit.DATABASE)

    def cancel(self) -> None:
        """After this returns the action is not running and will not run."""
        with self._lock:
            self.cancelled = True


@contextmanager
def deadline(seconds: float, action: Callable[[], object]) -> Iterator[Alarm]:
    """Call `action` in another thread when the block is still running after `seconds`.

    >>> with deadline(60, print) as alarm: pass
    >>> alarm.rang
    False
    """
    alarm = Alarm(action)
    with _condition:
        _ensure_thread()
        heapq.heappush(_queue, (time.monotonic() + seconds, next(_order), alarm))
        if _queue[0][2] is alarm:
            _condition.notify()
    try:
        yield alarm
    finally:
        alarm.cancel()


def _start_afresh() -> None:
    """In a forked child neither the thread nor the state of its lock is there."""
    global _condition, _thread
    _condition = threading.Condition()
    _queue.clear()
    _thread = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def _ensure_thread() -> None:
    global _thread
    if _thread is None or not _thread.is_alive():
        _queue.clear()
        _thread = threading.Thread(target=_watch, name="sqlassay-deadlines", daemon=True)
        _thread.start()


def _watch() -> None:
    while True:
        with _condition:
            while _queue and _queue[0][2].cancelled:
                heapq.heappop(_queue)
            if not _queue:
                _condition.wait()
                continue
            when, _, alarm = _queue[0]
            left = when - time.monotonic()
            if left > 0:
                _condition.wait(left)
                continue
            heapq.heappop(_queue)
        alarm.ring()
