"""Which instance of a relation that stands twice is the first? The one that is used first, wherever FROM names it."""

from __future__ import annotations

import re

from sqlassay.sql.scope import INSTANCE

_NAMED = re.compile(rf"(?<![\w.\"'`\]])(\w+){INSTANCE}\d+(?!\w)")
_LIST = re.compile(rf"(?<=FROM )\w+(?:{INSTANCE}\d+)?(?:, \w+(?:{INSTANCE}\d+)?)+(?= |\)|$)")


def renumbered(text: str) -> str:
    """The canonical text with the instances of each relation numbered in the order in which the text uses them, so
    that a self join says the same whichever side FROM names first. Lists of relations in FROM use nothing.

    A text whose instances are not all plain names (a schema before them, a derived table's columns) stays as it is.

    >>> renumbered(f"SELECT t{INSTANCE}2.a FROM t, t{INSTANCE}2 WHERE t{INSTANCE}2.b = t.c").replace(INSTANCE, "#")
    'SELECT t.a FROM t, t#2 WHERE t.b = t#2.c'
    """
    named = {match[1] for match in _NAMED.finditer(text)} if INSTANCE in text else set()
    if not named or len(_NAMED.findall(text)) != text.count(INSTANCE):
        return text
    words = "|".join(sorted(named))
    used = re.compile(rf"'(?:[^']|\'\')*'|\"[^\"]*\"|(?<![\w.\"'`\]])({words})((?:{INSTANCE}\d+)?)(?=[., )]|$)")
    order: dict[str, dict[str, int]] = {name: {} for name in named}
    for whole in (_LIST.sub("", text), text):
        for match in used.finditer(whole):
            if match[1] is not None:
                seen = order[match[1]]
                seen.setdefault(match[2], len(seen) + 1)

    def rename(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        number = order[match[1]][match[2]]
        return match[1] if number == 1 else f"{match[1]}{INSTANCE}{number}"

    return _LIST.sub(lambda match: ", ".join(sorted(match[0].split(", "), key=_rank)), used.sub(rename, text))


def _rank(item: str) -> tuple[str, int]:
    name, _, number = item.partition(INSTANCE)
    return name, int(number or 1)
