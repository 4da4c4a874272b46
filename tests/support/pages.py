"""A page in a browser: waiting for it, and listening to what it complains of and whom it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def settled(page: Any) -> Any:
    """The page once it shows what was clicked: a link changes the address at once, the page follows in a later task."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page


@contextmanager
def watched(browser: Any, *, asks_only: str) -> Iterator[Any]:
    """A page that ends without a word on its console, having asked nobody but addresses that begin with `asks_only`."""
    complaints: list[str] = []
    asked: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert complaints == []
    assert all(url.startswith(asks_only) for url in asked)
