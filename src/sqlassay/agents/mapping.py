"""How does plain data, with the turn record's own field names or their short names, become a turn?"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlassay.agents.candidate import choose_candidate
from sqlassay.agents.fields import (
    Gaps,
    brief,
    choice_of,
    did_you_mean,
    error_of,
    flag_of,
    history_of,
    kind_of,
    queries_of,
    retrieval_of,
    returned_of,
    stages_of,
    status_of,
    text_of,
    texts_of,
    usage_of,
    whole_of,
)
from sqlassay.agents.refusals import status_in, status_in_sql
from sqlassay.agents.statements import looks_like_sql
from sqlassay.errors import ConfigError, ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import CandidateSource, StatusSource, Turn

SHORT_NAMES = ("sql", "answer", "status", "error")
"""Names that a user may write instead of, or beside, the record's own (specification section 10)."""

TURN_FIELDS = tuple(field.name for field in dataclasses.fields(Turn))
KNOWN_KEYS = frozenset({*TURN_FIELDS, *SHORT_NAMES, "id"})

_STATEMENT = re.compile(
    r"""\s*(?:[(\s]*select\b | values\s*\(\s*(?:['"\d(+-]|null\b|true\b|false\b) | (?:un)?pivot\s+\S+\s+on\b
      | from\s+[\w."`]+\s+(?:(?:as\s+)?\w+\s+)?(?:select|where|join|inner|left|cross|group|order|limit|union)\b
      | table\s+[\w."`]+\s*;?\s*\Z | \w+\s+\*\s+from\s)""",
    re.IGNORECASE | re.VERBOSE,
)
_FENCE = re.compile(r"```[\w+-]*|`")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingReader:
    """Text, or a mapping with the turn record's fields and short names, to a turn (specification sections 3 and 10).

    `statuses` maps the agent's own status words (case-folded) to ours. With `text_rules` an answer that reports no
    status, with no SQL in the whole turn, is read for the words of a refusal.
    """

    name: str = "mapping"
    version: str = "1"
    statuses: Mapping[str, Status] = dataclasses.field(default_factory=dict)
    text_rules: bool = True

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload is neither text nor a mapping nor nothing.
        """
        return turn_from(
            payload, adapter=f"{self.name} {self.version}", statuses=self.statuses, text_rules=self.text_rules
        )


def turn_from(
    payload: Any, *, adapter: str, statuses: Mapping[str, Status] | None = None, text_rules: bool = True
) -> Turn:
    """Text, a mapping or nothing to a turn.

    A status that is not reported is inferred: SUCCESS when there is a query or an answer, unless there is no SQL at
    all and the answer reads like a refusal (`text_rule`). SQL is taken out of fences and prose, and otherwise left as
    it is. Fields of a wrong type and unknown fields become gaps.

    >>> turn = turn_from({"sql": "SELECT 1", "answer": "One."}, adapter="python 1")
    >>> turn.candidate_sql, turn.candidate_source.value, turn.status.value, turn.status_source.value
    ('SELECT 1', 'declared', 'SUCCESS', 'inferred')

    Raises:
        ExtractionError: the payload is something else.
    """
    if isinstance(payload, Turn):
        return payload if payload.adapter else replace(payload, adapter=adapter)
    if payload is None:
        return Turn(adapter=adapter, gaps=("the agent returned nothing",))
    if isinstance(payload, str):
        return _conclude(_from_text(payload), adapter=adapter, gaps=Gaps(), text_rules=text_rules)
    if not isinstance(payload, Mapping):
        raise ExtractionError(
            f"the agent returned {kind_of(payload)}; expected text or a mapping",
            hint="return text or a mapping with fields such as sql, answer and status, or name an adapter with `read:`",
        )
    gaps = Gaps()
    given = {str(key): value for key, value in payload.items()}
    for key in given:
        if key not in KNOWN_KEYS:
            gaps.add(f"unknown field {brief(key)}{did_you_mean(key, sorted(KNOWN_KEYS))}")
    turn = _from_mapping(given, statuses=statuses or {}, gaps=gaps)
    return _conclude(turn, adapter=adapter, gaps=gaps, text_rules=text_rules and not given.get("status"))


def statuses_from(value: Any) -> Mapping[str, Status]:
    """The setting `statuses`: the agent's own status words to ours.

    >>> statuses_from({"done": "SUCCESS"})["done"].value
    'SUCCESS'

    Raises:
        ConfigError: not a mapping, or a status that does not exist.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError("agent.statuses: expected a mapping of the agent's words to ours")
    found: dict[str, Status] = {}
    names = [status.value for status in Status]
    for word, name in value.items():
        if str(name).upper() not in names:
            raise ConfigError(
                f"agent.statuses: {name!r} is no status{did_you_mean(str(name).upper(), names)}",
                hint=f"one of {', '.join(names)}",
            )
        found[str(word).strip().casefold()] = Status(str(name).upper())
    return found


def _from_text(text: str) -> Turn:
    """Text alone: the SQL in it is the answer query, and what is more than that query is the answer."""
    sql = sql_in_answer(text)
    if sql is None:
        return Turn(answer=text if text.strip() else None)
    return Turn(candidate_sql=sql, answer=None if _is_only(sql, text) else text)


def _from_mapping(given: Mapping[str, Any], *, statuses: Mapping[str, Status], gaps: Gaps) -> Turn:
    answer = text_of(given.get("answer"), field="answer", gaps=gaps)
    queries = queries_of(given.get("queries"), gaps=gaps)
    written = text_of(given.get("candidate_sql"), field="candidate_sql", gaps=gaps)
    if written is None:
        written = text_of(given.get("sql"), field="sql", gaps=gaps)
    source = choice_of(given.get("candidate_source"), CandidateSource, field="candidate_source", gaps=gaps)
    sql = None
    if written is not None:
        sql = sql_in(written)
        if sql is None:
            gaps.add("sql: the text holds no SQL")
            answer = written if answer is None else answer
    elif answer is not None and not queries and source is None and not ({"sql", "candidate_sql"} & set(given)):
        sql = sql_in_answer(answer)
    turn = Turn(
        case_id=text_of(given.get("case_id", given.get("id")), field="case_id", gaps=gaps) or "",
        question=text_of(given.get("question"), field="question", gaps=gaps) or "",
        phrasing=whole_of(given.get("phrasing"), field="phrasing", gaps=gaps) or 0,
        repeat=whole_of(given.get("repeat"), field="repeat", gaps=gaps) or 0,
        status=status_of(given.get("status"), statuses=statuses, gaps=gaps),
        history=history_of(given.get("history"), gaps=gaps),
        queries=queries,
        statements_complete=flag_of(given.get("statements_complete"), field="statements_complete", gaps=gaps)
        is not False,
        candidate_sql=sql,
        candidate_source=CandidateSource.NONE if source is None else source,
        answer=answer,
        returned=returned_of(given.get("returned"), gaps=gaps),
        stages=stages_of(given.get("stages"), gaps=gaps),
        retrieval=retrieval_of(given.get("retrieval"), gaps=gaps),
        usage=usage_of(given.get("usage"), gaps=gaps),
        error=error_of(given.get("error"), gaps=gaps),
        adapter=text_of(given.get("adapter"), field="adapter", gaps=gaps) or "",
        raw_ref=text_of(given.get("raw_ref"), field="raw_ref", gaps=gaps),
        asked_again=bool(flag_of(given.get("asked_again"), field="asked_again", gaps=gaps)),
    )
    for gap in texts_of(given.get("gaps"), field="gaps", gaps=gaps):
        gaps.add(gap)
    stated = choice_of(given.get("status_source"), StatusSource, field="status_source", gaps=gaps)
    if turn.status is not None:
        return replace(turn, status_source=StatusSource.DECLARED if stated is None else stated)
    return turn


def _conclude(turn: Turn, *, adapter: str, gaps: Gaps, text_rules: bool) -> Turn:
    """Choose the answer query, infer a status that was not reported, and sign the record."""
    if turn.candidate_source is CandidateSource.NONE or turn.candidate_sql is not None:
        turn = choose_candidate(turn)
    else:
        turn = replace(turn, candidate_source=CandidateSource.NONE)
    if turn.status is None:
        if turn.error is not None:
            turn = replace(turn, status=Status.ERROR, status_source=StatusSource.FLAG)
        elif text_rules and (refused := _refusal_in(turn)) is not None:
            turn = replace(turn, status=refused, status_source=StatusSource.TEXT_RULE)
        elif turn.candidate_sql is not None or turn.answer is not None or turn.queries:
            turn = replace(turn, status=Status.SUCCESS, status_source=StatusSource.INFERRED)
    return replace(turn, adapter=turn.adapter or adapter, gaps=tuple(dict.fromkeys((*turn.gaps, *gaps.found))))


def _refusal_in(turn: Turn) -> Status | None:
    """What the words of an answer say of a turn without any SQL, or the words in the place of the SQL."""
    if turn.candidate_sql is not None or turn.queries:
        return status_in_sql(turn.candidate_sql)
    return status_in(turn.answer, ran=False)


def sql_in(text: str) -> str | None:
    """The SQL inside a text, fences and prose taken off, else None."""
    from sqlassay.sql.extract import statement_in

    return statement_in(text)


def sql_in_answer(text: str) -> str | None:
    """The SQL inside a final text. Words that merely begin like a statement are prose here, where nothing says that
    the text is SQL.

    >>> sql_in_answer("From what I see, there are 5."), sql_in_answer("SELECT 5")
    (None, 'SELECT 5')
    """
    found = sql_in(text)
    if found is None or found.strip() != text.strip() or looks_like_sql(found) or _STATEMENT.match(found):
        return found
    return None


def _is_only(sql: str, text: str) -> bool:
    """Whether `text` is `sql` and nothing but fences, blanks and a semicolon."""
    rest = _FENCE.sub("", text.replace(sql, "", 1))
    return not any(character.isalnum() for character in rest)
