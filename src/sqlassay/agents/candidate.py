"""Which of a turn's statements is its answer query? (specification section 3, shared by every adapter)"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from sqlassay.records.turn import CandidateSource, Query, Role, Turn

_VALUES_LOOKED_AT = 2_000
"""Of one statement; with very many statements fewer of each, so that a hostile trace costs no more than a large one."""
_ALL_VALUES_LOOKED_AT = 200_000
_ANSWER_LOOKED_AT = 200_000
_TOKEN = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d[\d.,]{0,40}(?![\w])")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.|''){1,200})'|\"((?:[^\"\\]|\\.|\"\"){1,200})\"")


def choose_candidate(turn: Turn) -> Turn:
    """The turn with `candidate_sql` and `candidate_source` set (specification section 3).

    In this order: what the agent declared (a `candidate_sql` already set; its source stays, `none` becomes
    `declared`); the only statement of role `query` that was executed and succeeded (`only_one`); the one that the
    answer shows, by its text or by its values (`linked`); the last one (`last_successful`); else none.
    A statement whose execution or success is unknown is never chosen.

    >>> ran = dict(executed=True, succeeded=True)
    >>> turn = choose_candidate(Turn(queries=(Query(sql="SELECT 1", **ran), Query(sql="SELECT 2"))))
    >>> turn.candidate_sql, turn.candidate_source.value
    ('SELECT 1', 'only_one')
    """
    if turn.candidate_sql is not None:
        if turn.candidate_source is CandidateSource.NONE:
            return replace(turn, candidate_source=CandidateSource.DECLARED)
        return turn
    eligible = [query for query in turn.queries if may_answer(query)]
    if not eligible:
        return replace(turn, candidate_source=CandidateSource.NONE)
    if len(eligible) == 1:
        return replace(turn, candidate_sql=eligible[0].sql, candidate_source=CandidateSource.ONLY_ONE)
    linked = linked_to_answer(eligible, answer=turn.answer)
    if linked is not None:
        return replace(turn, candidate_sql=linked.sql, candidate_source=CandidateSource.LINKED)
    return replace(turn, candidate_sql=eligible[-1].sql, candidate_source=CandidateSource.LAST_SUCCESSFUL)


def may_answer(query: Query) -> bool:
    """Only a statement of role `query` that is known to have been executed and to have succeeded can be the answer."""
    return query.role is Role.QUERY and query.executed is True and query.succeeded is True and bool(query.sql.strip())


def linked_to_answer(queries: Sequence[Query], *, answer: str | None) -> Query | None:
    """The statement that `answer` shows; None when it shows none, or several different ones equally well.

    A statement whose whole text stands in the answer is linked. Otherwise the one with the most values (as seen by
    the agent) in the answer, then the one with the larger share of its values there. Equal texts count as one
    statement, of which the last is meant.
    """
    if not answer:
        return None
    shown = answer[:_ANSWER_LOOKED_AT]
    flat = _flat(shown)
    for query in reversed(queries):
        if any(text and len(text) > 6 and _flat(text).rstrip("; ") in flat for text in (query.sql, query.sql_written)):
            return query
    numbers = _numbers(shown)
    answered = _Answered(
        words=shown.casefold(),
        tokens=frozenset(_TOKEN.findall(shown.casefold())),
        numbers=numbers,
        places=frozenset(
            places for number in numbers if isinstance(places := number.as_tuple().exponent, int) and -8 <= places <= 0
        ),
    )
    best: dict[str, tuple[tuple[int, float], Query]] = {}
    most = min(_VALUES_LOOKED_AT, max(1, _ALL_VALUES_LOOKED_AT // len(queries)))
    for query in queries:
        strength = _strength(query, answered, most=most)
        if strength[0]:
            known = best.get(_flat(query.sql))
            if known is None or strength >= known[0]:
                best[_flat(query.sql)] = (strength, query)
    ranked = sorted(best.values(), key=lambda item: item[0], reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """The answer, ready to be searched."""

    words: str
    tokens: frozenset[str]
    numbers: frozenset[Decimal]
    places: frozenset[int]
    """How many decimals its numbers show, as negative exponents."""


def _strength(query: Query, answered: _Answered, *, most: int) -> tuple[int, float]:
    values = _values(None if query.seen is None else query.seen.content, most=most)
    if not values:
        return 0, 0.0
    found = sum(
        _is_number_in(value, answered) if isinstance(value, Decimal) else _is_word_in(value, answered)
        for value in values
    )
    return found, found / len(values)


def _is_number_in(value: Decimal, answered: _Answered) -> bool:
    """Whether the answer states the number, or the number rounded to as many decimals as it shows of some number."""
    if value in answered.numbers:
        return True
    held = value.as_tuple().exponent
    if not isinstance(held, int) or value.adjusted() >= 20:
        return False
    return any(
        held < places and value.quantize(Decimal(1).scaleb(places)) in answered.numbers for places in answered.places
    )


def _is_word_in(value: str, answered: _Answered) -> bool:
    first = _TOKEN.search(value)
    if first is None or first.group() not in answered.tokens:
        return False
    words = answered.words
    at = words.find(value)
    while at >= 0:
        end = at + len(value)
        if not (at and words[at - 1].isalnum() and value[0].isalnum()) and not (
            end < len(words) and words[end].isalnum() and value[-1].isalnum()
        ):
            return True
        at = words.find(value, at + 1)
    return False


def _values(content: Any, *, most: int) -> frozenset[str | Decimal]:
    found: set[str | Decimal] = set()
    for cell in islice(_cells(content), 10 * most):
        if len(found) >= most:
            break
        value = _telling(cell)
        if value is not None:
            found.add(value)
    return frozenset(found)


def _telling(cell: Any) -> str | Decimal | None:
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, (int, float, Decimal)):
        return _decimal(str(cell))
    if isinstance(cell, str):
        text = cell.strip()
        number = _decimal(text) if len(text) <= 40 else None
        if number is not None:
            return number
        return text.casefold() if 2 <= len(text) <= 200 and any(c.isalpha() for c in text) else None
    return None


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 40 else None


def _cells(content: Any) -> Iterator[Any]:
    """The cells of a result as a tool returned it: rows, mappings, JSON, CSV or printed tuples."""
    if isinstance(content, str):
        yield from _cells_of_text(content)
    elif isinstance(content, Mapping):
        rows = content.get("rows", content.get("data", content.get("result")))
        yield from _cells(rows if rows is not None else list(content.values()))
    elif isinstance(content, Iterable) and not isinstance(content, (bytes, bytearray)):
        for item in content:
            if isinstance(item, Mapping):
                yield from item.values()
            elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, bytearray)):
                yield from item
            else:
                yield item
    elif content is not None:
        yield content


def _cells_of_text(text: str) -> Iterator[Any]:
    text = text[:_ANSWER_LOOKED_AT]
    if text.lstrip()[:1] in ("{", "["):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _cells(parsed)
            return
    quoted = False
    for single, double in _QUOTED.findall(text):
        quoted = True
        yield (single or double).replace("''", "'")
    if quoted:
        yield from _numbers(text)
        return
    lines = text.splitlines()
    delimiter = max(",\t|;", key=lines[0].count) if lines else ","
    for row in csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE):
        yield from row


def _numbers(text: str) -> frozenset[Decimal]:
    """Numbers written in `text`, thousands separators read both ways where they could be either."""
    found: set[Decimal] = set()
    for match in _NUMBER.finditer(text):
        written = match.group().replace("−", "-").rstrip(".,")
        for reading in {
            written,
            written.replace(",", ""),
            written.replace(".", "").replace(",", "."),
        }:
            number = _decimal(reading)
            if number is not None:
                found.add(number)
    return frozenset(found)


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
