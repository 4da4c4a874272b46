"""Waiting for a page of a report in a browser."""

from __future__ import annotations

from typing import Any


def settled(page: Any) -> Any:
    """The page once it shows what was clicked: a link changes the address at once, the page follows in a later task."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page
