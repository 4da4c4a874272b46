"""Which numbers does a text state, in English or European notation, with which precision?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LOOKED_AT = 100_000

_MASKED = re.compile(
    r"""```.*?(?:```|\Z)                                         # code is not a statement about the data
      | (?m:^[ \t]*(?:[-*+][ \t]+)?\d{1,3}[.)](?=[ \t]+\S))       # list markers
      | (?<![\d.,])\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?![\d-])
      | (?<![\d.,/])\d{1,2}([/.])\d{1,2}\1(?:\d{4}|\d{2})(?![\d/])
      | (?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])              # dates and times are no numbers
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKEN = re.compile(
    r"""(?P<sign>(?<![\w)\]%])[-−–]\s?(?=[$€£¥]?\d)[$€£¥]?)?
        (?<![\w.,'’#])(?<![A-Za-z]-)
        (?P<body>\d{1,3}(?:[\u00a0\u2009\u202f ]\d{3})+(?![\d.,'’]*\d[\u00a0\u2009\u202f ]?\d{4})(?:[.,]\d+)?(?![\d])
               | \d[\d.,'’]*)
        (?P<exponent>[eE][+-]?\d{1,3}(?!\w))?
        (?P<tail>[\u00a0\u2009\u202f ]?(?:%|‰|[^\W\d_]+(?:[ ]cent\b|[ ]ciento\b)?))?
    """,
    re.VERBOSE,
)
_LIST = re.compile(r"\d+(?:,\d+){2,}")
_SPACES = re.compile("[\u00a0\u2009\u202f ]")
_HEDGE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.?|over|more\ than|just\ under|"
    r"under|less\ than|environ|etwa|rund|ungefähr|casi|unos|unas|cerca\ de|circa)|[~≈≃])\s*[$€£¥]?\s*\Z",
    re.IGNORECASE,
)

_SCALES = {
    **dict.fromkeys(("thousand", "thousands", "tausend", "tsd", "mil", "mille", "mila", "milliers", "millier"), 1e3),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "millón", "milioni", "milione", "mio", "mn"), 1e6),
    **dict.fromkeys(("mill", "mln"), 1e6),
    **dict.fromkeys(("billion", "billions", "bn", "bln", "milliarde", "milliarden", "milliard", "milliards"), 1e9),
    **dict.fromkeys(("mrd", "miliardi", "miliardo"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "tn"), 1e12),
}
_LETTERS = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "T": 1e12}
_PERCENT = frozenset(
    {"%", "percent", "per cent", "pct", "prozent", "por ciento", "pour cent", "percentage", "procent", "percento"}
)
_ORDINAL = frozenset({"st", "nd", "rd", "th", "º", "ª", "er", "ère", "ème", "e"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read a stated number: its value and the unit of its last stated digit."""

    value: float
    unit: float

    def agrees(self, value: float) -> bool:
        """Whether `value`, rounded as the text rounds, is this number."""
        return abs(value - self.value) <= self.slack

    @property
    def slack(self) -> float:
        """How far a value may be off and still be stated so."""
        return self.unit / 2 + 1e-9 * max(1.0, abs(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number in a text. `readings` has more than one entry where the notation is ambiguous (`1.234`).

    `parts` are the numbers it would be if a blank in it did not group digits (`5 100`).
    """

    text: str
    readings: tuple[Reading, ...]
    percent: bool = False
    parts: tuple[Figure, ...] = ()


def figures_in(text: str) -> tuple[Figure, ...]:
    """The numbers that `text` states, in order. Code blocks, list markers, dates, times, ordinals and digits inside
    names (`S1`, `COVID-19`) state none. Only the first 100,000 characters are looked at.

    >>> [figure.readings[0].value for figure in figures_in("1,234.5 of 1.234.567,8 (12%), 3k or 2.5 million")]
    [1234.5, 1234567.8, 12.0, 3000.0, 2500000.0]
    >>> [reading.value for reading in figures_in("1.234")[0].readings]
    [1234.0, 1.234]
    """
    looked_at = _MASKED.sub(lambda match: " ; " if len(match.group()) > 2 else "  ", text[:_LOOKED_AT])
    return tuple(_found(looked_at))


def _found(text: str) -> Iterator[Figure]:
    for match in _TOKEN.finditer(text):
        tail = (match.group("tail") or "").strip()
        glued = bool(tail) and match.group("tail")[0] == tail[0]
        if glued and tail.casefold() in _ORDINAL:
            continue
        body = match.group("body").rstrip(".,'’")
        if _LIST.fullmatch(body) and not _grouped(body, ","):
            yield from (_whole(part) for part in body.split(","))
            continue
        ended = len(body) < len(match.group("body"))
        scales, percent = ((1.0,), False) if ended else _scales(tail, glued=glued)
        exponent = 10.0 ** int(match.group("exponent")[1:]) if match.group("exponent") else 1.0
        sign = -1.0 if match.group("sign") else 1.0
        hedged = _HEDGE.search(text[max(0, match.start("body") - 20) : match.start("body")]) is not None
        found = [
            Reading(value=sign * value * scale * exponent, unit=unit * scale * exponent)
            for value, unit in _values(_SPACES.sub("", body), hedged=hedged)
            for scale in scales
        ]
        if found:
            yield Figure(
                text=f"{'-' if sign < 0 else ''}{body}{match.group('exponent') or ''}{'%' if percent else ''}",
                readings=tuple(found),
                percent=percent,
                parts=_parts(body),
            )


def _scales(tail: str, *, glued: bool) -> tuple[tuple[float, ...], bool]:
    """The factors that a unit word may mean, and whether it says percent."""
    folded = tail.casefold().rstrip(".")
    if folded in _PERCENT:
        return (1.0,), True
    if folded in _SCALES:
        return (_SCALES[folded],), False
    if glued and tail in _LETTERS:
        return (_LETTERS[tail], 1.0), False
    return (1.0,), False


def _parts(body: str) -> tuple[Figure, ...]:
    if " " not in body:
        return ()
    return tuple(_whole(part) for part in body.split(" "))


def _whole(part: str) -> Figure:
    return Figure(text=part, readings=tuple(Reading(value=v, unit=u) for v, u in _values(part, hedged=False)))


def _values(token: str, *, hedged: bool) -> Iterator[tuple[float, float]]:
    """Value and unit of every way to read digits with separators; none when they cannot be a number."""
    token = token.replace("’", "'")
    marks = [mark for mark in ".,'" if mark in token]
    if not marks:
        yield float(token), _unit_of_whole(token, hedged=hedged)
        return
    last = max(marks, key=token.rfind)
    grouping = [mark for mark in marks if mark != last]
    before, _, after = token.rpartition(last)
    if grouping:
        if token.count(last) == 1 and last != "'" and len(grouping) == 1 and _grouped(before, grouping[0]):
            yield _decimal(before.replace(grouping[0], ""), after)
        return
    if token.count(last) > 1 or last == "'":
        if _grouped(token, last):
            whole = token.replace(last, "")
            yield float(whole), _unit_of_whole(whole, hedged=hedged)
        return
    if len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0"):
        yield float(before + after), _unit_of_whole(before + after, hedged=hedged)
    yield _decimal(before, after)


def _decimal(whole: str, fraction: str) -> tuple[float, float]:
    return float(f"{whole}.{fraction}"), 10.0 ** -len(fraction)


def _grouped(text: str, mark: str) -> bool:
    """Whether `mark` groups digits by threes, or by twos and a last three as in India."""
    first, *rest = text.split(mark)
    if not rest or not 1 <= len(first) <= 3 or not all(part.isdigit() for part in (first, *rest)):
        return False
    return len(rest[-1]) == 3 and (all(len(p) == 3 for p in rest) or all(len(p) == 2 for p in rest[:-1]))


def _unit_of_whole(digits: str, *, hedged: bool) -> float:
    """1, or for a hedged number (`about 1,200`) the place of its last digit that is not 0."""
    if not hedged:
        return 1.0
    return 10.0 ** (len(digits) - len(digits.rstrip("0"))) if digits.strip("0") else 1.0
