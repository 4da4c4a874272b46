"""What is a metric called, and what does it ask? Its card says so; a metric without a card keeps its own name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlassay.metrics.base import Card
from sqlassay.report.words import FAMILIES


class CardIndex:
    """Finds the card of a metric by its name, also where the card's name holds a placeholder."""

    def __init__(self, cards: Sequence[Card] | None = None) -> None:
        if cards is None:
            from sqlassay.metrics import registry

            cards = registry.cards()
        self._known: dict[str, int] = {}
        self._cards = [(re.compile(re.sub(r"\\\{\w+\\\}", "[^.]+", re.escape(c.name))), c) for c in cards]

    def find(self, name: str) -> Card | None:
        """The card of `name`, or None."""
        place = self._position(name)
        return self._cards[place][1] if place < len(self._cards) else None

    def title(self, name: str) -> str:
        """The card's title, with what stands for its placeholder; without a card the name in plain words.

        >>> CardIndex(()).title("execution.id_recall")
        'id recall'
        """
        card = self.find(name)
        if card is None:
            return name.split(".", 1)[-1].replace("_", " ")
        start, brace, rest = card.name.partition("{")
        if not brace:
            return card.title
        end = rest.partition("}")[2]
        return f"{card.title}: {name[len(start) : len(name) - len(end)]}"

    def place(self, name: str) -> tuple[int, int, str]:
        """A sort key: families in the order of reports, then the order of cards, then the name."""
        family = name.split(".", 1)[0]
        order = FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)
        return order, self._position(name), name

    def _position(self, name: str) -> int:
        found = self._known.get(name)
        if found is None:
            matches = (place for place, (pattern, _) in enumerate(self._cards) if pattern.fullmatch(name))
            found = self._known[name] = next(matches, len(self._cards))
        return found
