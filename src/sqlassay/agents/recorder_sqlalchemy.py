"""Which statements went through a SQLAlchemy engine? Its own events tell, for sync and async engines alike."""

from __future__ import annotations

import time
from typing import Any

from sqlassay.agents.recorder import Recording, current
from sqlassay.errors import MissingExtra

_MARK = "_sqlassay_recording"


def listen(engine: Any) -> None:
    """Note every statement that a cursor of `engine` executes, with its outcome; once per engine.

    Rows are not seen by these events, but for the count that drivers give for writes.

    Raises:
        MissingExtra: SQLAlchemy is not installed.
    """
    try:
        from sqlalchemy import event
    except ImportError:
        raise MissingExtra("recording an engine", needs="sqlalchemy") from None
    if event.contains(engine, "before_cursor_execute", _before):
        return
    event.listen(engine, "before_cursor_execute", _before)
    event.listen(engine, "after_cursor_execute", _after)
    event.listen(engine, "handle_error", _failed)


def _before(_connection: Any, _cursor: Any, statement: str, _parameters: Any, context: Any, _many: bool) -> None:
    into = current()
    if into is not None and context is not None:
        setattr(context, _MARK, (into, into.sent(statement), time.perf_counter()))


def _after(_connection: Any, _cursor: Any, _statement: str, _parameters: Any, context: Any, _many: bool) -> None:
    mark = _taken(context)
    if mark is not None:
        into, number, started = mark
        into.ended(number, duration_s=time.perf_counter() - started)


def _failed(failure: Any) -> None:
    mark = _taken(failure.execution_context)
    if mark is not None:
        into, number, started = mark
        error = failure.original_exception
        into.ended(number, error=f"{type(error).__name__}: {error}", duration_s=time.perf_counter() - started)


def _taken(context: Any) -> tuple[Recording, int, float] | None:
    mark: tuple[Recording, int, float] | None = getattr(context, _MARK, None)
    if mark is not None:
        delattr(context, _MARK)
    return mark
