"""Where does a coroutine of ours run? On a loop of its own, also inside a notebook that has one running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def on_a_loop(go: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the coroutine to its end: here, or in a thread of its own where a loop is running already.

    Whatever it raises is raised here; KeyboardInterrupt or CancelledError when it was interrupted.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(go())
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlassay-run") as thread:
        thread.submit(lambda: asyncio.run(go())).result()
