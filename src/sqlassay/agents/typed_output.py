"""What does a typed result of an agent declare: a query, an answer, a question back, a refusal?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.messages import CLASS_KEY, Signal, shown
from sqlassay.agents.statements import looks_like_sql
from sqlassay.errors import ConfigError
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource

FIELDS: Mapping[str, tuple[str, ...]] = {
    "sql": ("sql_query", "sql", "generated_sql", "query", "statement"),
    "answer": ("answer", "final_answer", "explanation", "message", "text", "response", "summary"),
    "question": ("clarification", "clarification_question", "clarifying_question", "question_to_user"),
    "refusal": ("refusal", "error_message", "reason", "error"),
    "status": ("status", "state", "outcome", "terminal_status"),
}
"""Field names of typed results by what they hold, in order of preference."""

_TYPE_WORDS: tuple[tuple[str, Status], ...] = (
    ("clarif", Status.CLARIFICATION),
    ("askuser", Status.CLARIFICATION),
    ("needmoreinfo", Status.CLARIFICATION),
    ("invalidrequest", Status.UNSUPPORTED),
    ("unsupported", Status.UNSUPPORTED),
    ("refus", Status.UNSUPPORTED),
    ("declin", Status.UNSUPPORTED),
    ("reject", Status.UNSUPPORTED),
    ("outofscope", Status.UNSUPPORTED),
    ("cannotanswer", Status.UNSUPPORTED),
    ("unanswerable", Status.UNSUPPORTED),
    ("fallback", Status.FALLBACK),
)

_STATUS_WORDS: Mapping[str, Status] = {
    "success": Status.SUCCESS,
    "succeeded": Status.SUCCESS,
    "answered": Status.SUCCESS,
    "clarification": Status.CLARIFICATION,
    "needs_clarification": Status.CLARIFICATION,
    "clarification_needed": Status.CLARIFICATION,
    "unsupported": Status.UNSUPPORTED,
    "refused": Status.UNSUPPORTED,
    "declined": Status.UNSUPPORTED,
    "rejected": Status.UNSUPPORTED,
    "unanswerable": Status.UNSUPPORTED,
    "fallback": Status.FALLBACK,
    "budget_exhausted": Status.BUDGET_EXHAUSTED,
    "error": Status.ERROR,
    "failed": Status.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedOutput:
    """What a typed result says; None where it says nothing."""

    sql: str | None = None
    answer: str | None = None
    signal: Signal | None = None
    whole: str | None = None
    """The result itself, where none of its fields is known: it is what the user was shown."""


def fields(settings: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """The field names of typed results, with those that `settings["output"]` names replaced.

    Raises:
        ConfigError: `output` is no mapping of `sql`, `answer`, `question`, `refusal`, `status` to field names.
    """
    given = settings.get("output", {})
    if not isinstance(given, Mapping) or not set(given) <= set(FIELDS):
        raise ConfigError("output must map sql, answer, question, refusal or status to field names")
    return {**FIELDS, **{k: (v,) if isinstance(v, str) else tuple(v) for k, v in given.items()}}


def read_output(
    value: Any, *, type_name: str | None = None, names: Mapping[str, tuple[str, ...]] = FIELDS
) -> TypedOutput | None:
    """What a typed result declares, None when it is no typed result (plain text).

    The type's name decides between asking and declining where it says so; a status field of the result goes before.

    >>> read_output({"error_message": "no weather here"}, type_name="InvalidRequest").signal.status.value
    'UNSUPPORTED'
    """
    if not isinstance(value, Mapping):
        return None
    sql = _first(value, names["sql"])
    if sql is not None and not (looks_like_sql(sql) or any(key in value for key in ("sql_query", "sql"))):
        sql = None
    answer = _first(value, names["answer"], blank=True)
    question = _first(value, names["question"])
    refusal = _first(value, names["refusal"])
    name = (type_name or str(value.get(CLASS_KEY, ""))).lower().replace("_", "")
    status = next((known for word, known in _TYPE_WORDS if word in name), None)
    stated = _first(value, names["status"])
    source = StatusSource.TYPED
    if stated is not None and stated.strip().lower() in _STATUS_WORDS:
        status, source = _STATUS_WORDS[stated.strip().lower()], StatusSource.DECLARED
    if status is None and sql is None:
        status = Status.CLARIFICATION if question else Status.UNSUPPORTED if refusal and not answer else None
    if status is None and sql is not None:
        status = Status.SUCCESS
    if status is not None and status.is_refusal:
        words = (question if status is Status.CLARIFICATION else refusal) or answer or question or refusal
        words = words or _any_text(value, but=names["status"])
        return TypedOutput(answer=words, signal=Signal(status=status, source=source))
    if status is None and sql is None and answer is None:
        return TypedOutput(whole=shown(value))
    return TypedOutput(sql=sql, answer=answer, signal=None if status is None else Signal(status=status, source=source))


def _any_text(value: Mapping[str, Any], *, but: tuple[str, ...]) -> str | None:
    texts = [text for name, text in value.items() if isinstance(text, str) and name not in (CLASS_KEY, *but)]
    return next((text for text in texts if text.strip()), None)


def _first(value: Mapping[str, Any], names: tuple[str, ...], *, blank: bool = False) -> str | None:
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and (found.strip() or blank):
            return found
    return None
