"""Where does a coroutine of ours run? On a loop of its own, also inside a notebook that has one running."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from sqlassay.errors import SqlassayError


def on_a_loop(go: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the coroutine to its end: here, or in a thread of its own where a loop is running already.

    Raises:
        KeyboardInterrupt, asyncio.CancelledError: it was interrupted.
        SqlassayError: it raised that.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(go())
        return
    raised: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(go())
        except (SqlassayError, asyncio.CancelledError) as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="sqlassay-run")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
