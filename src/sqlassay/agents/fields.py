"""How is one field of a turn read from plain data that somebody else wrote? Wrong types become gaps, never errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields as fields_of
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from sqlassay.agents.statements import role_of
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import (
    OfferedTable,
    Query,
    Retrieval,
    Returned,
    Role,
    Seen,
    TurnError,
    TurnErrorKind,
    Usage,
)

E = TypeVar("E", bound=StrEnum)

_DEPTH = 40


class Gaps:
    """What could not be read of a payload, in words, each once."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Note one thing; texts are kept short so that a hostile payload cannot fill a run folder."""
        self._found.setdefault(text if len(text) <= 300 else text[:297] + "...")

    @property
    def found(self) -> tuple[str, ...]:
        return tuple(self._found)


def bounded(value: Any, *, field: str, gaps: Gaps) -> Any:
    """Data of anybody's making with nothing nested deeper than 40 levels, so that it can be written and compared."""
    level = [value]
    for _ in range(_DEPTH):
        level = [item for node in level for item in _inside(node) if isinstance(item, (Mapping, list, tuple))]
        if not level:
            return value
    gaps.add(f"{field}: nested deeper than {_DEPTH} levels; what lies deeper was left out")
    return _cut(value, _DEPTH)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _cut(item, depth - 1) for key, item in value.items()} if depth else "..."
    if isinstance(value, (list, tuple)):
        return [_cut(item, depth - 1) for item in value] if depth else "..."
    return value


def text_of(value: Any, *, field: str, gaps: Gaps) -> str | None:
    """Text as it is; numbers and booleans as text; None for blank text; anything else is a gap."""
    if value is None:
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, (int, float)):
        return str(value)
    gaps.add(f"{field}: expected text, got {kind_of(value)}")
    return None


def texts_of(value: Any, *, field: str, gaps: Gaps) -> tuple[str, ...]:
    """A list of texts; one text stands for a list of one."""
    if isinstance(value, str):
        value = [value]
    found = (text_of(item, field=field, gaps=gaps) for item in list_of(value, field=field, gaps=gaps))
    return tuple(item for item in found if item is not None)


def whole_of(value: Any, *, field: str, gaps: Gaps) -> int | None:
    """A whole number, also written as text or as 3.0; below 0 is a gap."""
    number = number_of(value, field=field, gaps=gaps)
    if number is None:
        return None
    if number != int(number):
        gaps.add(f"{field}: expected a whole number, got {number:g}")
        return None
    return int(number)


def number_of(value: Any, *, field: str, gaps: Gaps) -> float | None:
    """A finite number of at least 0, also written as text."""
    if value is None or value == "":
        return None
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number) and number >= 0:
            return number
    gaps.add(f"{field}: expected a number of at least 0, got {brief(value)}")
    return None


def flag_of(value: Any, *, field: str, gaps: Gaps) -> bool | None:
    """True, false or unknown; `yes`, `no`, `true`, `false`, 1 and 0 are read too."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = words.get(str(value).strip().lower()) if isinstance(value, (str, int)) else None
    if found is None:
        gaps.add(f"{field}: expected true or false, got {brief(value)}")
    return found


def mapping_of(value: Any, *, field: str, gaps: Gaps) -> Mapping[str, Any]:
    """A mapping with text keys; empty for None, a gap for anything else."""
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if value is not None:
        gaps.add(f"{field}: expected a mapping, got {kind_of(value)}")
    return {}


def list_of(value: Any, *, field: str, gaps: Gaps) -> Sequence[Any]:
    """A list; empty for None, a gap for anything else."""
    if isinstance(value, (list, tuple)):
        return value
    if value is not None:
        gaps.add(f"{field}: expected a list, got {kind_of(value)}")
    return ()


def choice_of(value: Any, kind: type[E], *, field: str, gaps: Gaps) -> E | None:
    """A member of a closed list, whatever its case; an unknown one is a gap with the nearest known."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        folded = value.strip().casefold().replace("-", "_").replace(" ", "_")
        for member in kind:
            if member.value.casefold() == folded:
                return member
    gaps.add(f"{field}: {brief(value)} is not one of {', '.join(member.value for member in kind)}")
    return None


def status_of(value: Any, *, statuses: Mapping[str, Status], gaps: Gaps) -> Status | None:
    """A terminal status by its name, or by the name that the agent gives it (setting `statuses`)."""
    if isinstance(value, str) and value.strip().casefold() in statuses:
        return statuses[value.strip().casefold()]
    return choice_of(value, Status, field="status", gaps=gaps)


def queries_of(value: Any, *, gaps: Gaps) -> tuple[Query, ...]:
    """Statements in order, each a text or a mapping with the fields of specification section 3."""
    found = []
    for number, item in enumerate(list_of(value, field="queries", gaps=gaps)):
        field = f"queries[{number}]"
        given = {"sql": item} if isinstance(item, str) else mapping_of(item, field=field, gaps=gaps)
        sql = text_of(given.get("sql"), field=f"{field}.sql", gaps=gaps)
        if sql is None:
            gaps.add(f"{field}: no sql")
            continue
        unknown_keys(given, Query, field=field, gaps=gaps)
        stated = choice_of(given.get("role"), Role, field=f"{field}.role", gaps=gaps)
        error = text_of(given.get("error"), field=f"{field}.error", gaps=gaps)
        succeeded = flag_of(given.get("succeeded"), field=f"{field}.succeeded", gaps=gaps)
        found.append(
            Query(
                sql=sql,
                sql_written=text_of(given.get("sql_written"), field=f"{field}.sql_written", gaps=gaps),
                role=role_of(sql) if stated is None else stated,
                executed=flag_of(given.get("executed"), field=f"{field}.executed", gaps=gaps),
                succeeded=False if succeeded is None and error is not None else succeeded,
                error=error,
                row_count=whole_of(given.get("row_count"), field=f"{field}.row_count", gaps=gaps),
                seen=seen_of(given.get("seen"), field=f"{field}.seen", gaps=gaps),
                duration_s=number_of(given.get("duration_s"), field=f"{field}.duration_s", gaps=gaps),
                tool=text_of(given.get("tool"), field=f"{field}.tool", gaps=gaps),
                call_id=text_of(given.get("call_id"), field=f"{field}.call_id", gaps=gaps),
                path=texts_of(given.get("path"), field=f"{field}.path", gaps=gaps),
            )
        )
    return tuple(found)


def seen_of(value: Any, *, field: str, gaps: Gaps) -> Seen | None:
    """What the agent saw: a mapping with `content`, `truncated`, ..., or the content itself."""
    if value is None:
        return None
    value = bounded(value, field=field, gaps=gaps)
    known = {item.name for item in fields_of(Seen)}
    if isinstance(value, Mapping) and value and set(value) <= known:
        return Seen(
            content=value.get("content"),
            truncated=flag_of(value.get("truncated"), field=f"{field}.truncated", gaps=gaps),
            truncated_by=text_of(value.get("truncated_by"), field=f"{field}.truncated_by", gaps=gaps),
            row_cap=whole_of(value.get("row_cap"), field=f"{field}.row_cap", gaps=gaps),
        )
    return Seen(content=value)


def returned_of(value: Any, *, gaps: Gaps) -> Returned | None:
    """The shown table: a mapping with `columns` and `rows`, a list of rows, or a list of mappings."""
    if value is None:
        return None
    value = bounded(value, field="returned", gaps=gaps)
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {"rows": value}
    unknown_keys(given, Returned, field="returned", gaps=gaps)
    rows = given.get("rows")
    listed = None if rows is None else list_of(rows, field="returned.rows", gaps=gaps)
    columns = texts_of(given.get("columns"), field="returned.columns", gaps=gaps)
    table: list[Sequence[Any]] | None = None
    if listed is not None:
        if not columns and listed and isinstance(listed[0], Mapping):
            columns = tuple(str(key) for key in listed[0])
        table = [_row(row, columns) for row in listed]
    return Returned(
        columns=columns,
        rows=table,
        row_count=whole_of(given.get("row_count"), field="returned.row_count", gaps=gaps),
        row_cap=whole_of(given.get("row_cap"), field="returned.row_cap", gaps=gaps),
        truncated=flag_of(given.get("truncated"), field="returned.truncated", gaps=gaps),
    )


def stages_of(value: Any, *, gaps: Gaps) -> Mapping[str, Mapping[str, Any]]:
    """Stage name to a plain mapping; a stage without content is absent; a bare value stands under `value`."""
    found: dict[str, Mapping[str, Any]] = {}
    value = bounded(value, field="stages", gaps=gaps)
    for name, stage in mapping_of(value, field="stages", gaps=gaps).items():
        if stage is None or stage in ("", {}, []):
            continue
        found[name] = {str(k): v for k, v in stage.items()} if isinstance(stage, Mapping) else {"value": stage}
    return found


def retrieval_of(value: Any, *, gaps: Gaps) -> Retrieval | None:
    """What retrieval handed over; a bare list stands for `offered`. Tables are names, DDL texts or mappings."""
    if value is None:
        return None
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {"offered": value}
    unknown_keys(given, Retrieval, field="retrieval", gaps=gaps)
    listed = given.get("offered")
    if isinstance(listed, str):
        listed = [listed]
    offered = None
    if listed is not None:
        items = list_of(listed, field="retrieval.offered", gaps=gaps)
        offered = tuple(table for item in items for table in _offered(item, gaps=gaps))
    complete = flag_of(given.get("offered_complete"), field="retrieval.offered_complete", gaps=gaps)
    return Retrieval(
        offered=offered,
        offered_complete=True if complete is None else complete,
        examples=texts_of(given.get("examples"), field="retrieval.examples", gaps=gaps),
        memory=texts_of(given.get("memory"), field="retrieval.memory", gaps=gaps),
    )


def usage_of(value: Any, *, gaps: Gaps) -> Usage:
    """Counts, seconds and dollars; unknown stays None."""
    given = mapping_of(value, field="usage", gaps=gaps)
    unknown_keys(given, Usage, field="usage", gaps=gaps)

    def whole(name: str) -> int | None:
        return whole_of(given.get(name), field=f"usage.{name}", gaps=gaps)

    return Usage(
        model_calls=whole("model_calls"),
        tool_calls=whole("tool_calls"),
        steps=whole("steps"),
        tokens_in=whole("tokens_in"),
        tokens_out=whole("tokens_out"),
        cost_usd=number_of(given.get("cost_usd"), field="usage.cost_usd", gaps=gaps),
        latency_s=number_of(given.get("latency_s"), field="usage.latency_s", gaps=gaps),
    )


def error_of(value: Any, *, gaps: Gaps) -> TurnError | None:
    """A text or `{kind, message}`; false, blank and empty say that there was none."""
    if value is None or value is False or value in ("", {}, []):
        return None
    if isinstance(value, Mapping):
        kind = choice_of(value.get("kind"), TurnErrorKind, field="error.kind", gaps=gaps)
        message = text_of(value.get("message", value.get("detail")), field="error.message", gaps=gaps)
        return TurnError(kind=kind or TurnErrorKind.AGENT_CRASH, message=message or brief(dict(value)))
    message = "the agent reported an error" if value is True else str(value)
    return TurnError(kind=TurnErrorKind.AGENT_CRASH, message=message) if message.strip() else None


def history_of(value: Any, *, gaps: Gaps) -> tuple[Message, ...]:
    """Earlier messages, each `{role, content}` or a text of the user."""
    found = []
    for number, item in enumerate(list_of(value, field="history", gaps=gaps)):
        field = f"history[{number}]"
        given = {"content": item} if isinstance(item, str) else mapping_of(item, field=field, gaps=gaps)
        content = text_of(given.get("content"), field=f"{field}.content", gaps=gaps)
        if content is not None:
            role = text_of(given.get("role"), field=f"{field}.role", gaps=gaps)
            found.append(Message(role=role or "user", content=content))
    return tuple(found)


def unknown_keys(given: Mapping[str, Any], record: type[Any], *, field: str, gaps: Gaps) -> None:
    """Note keys that the record does not have, with the nearest one that it has."""
    known = [item.name for item in fields_of(record)]
    for key in given:
        if key not in known:
            gaps.add(f"{field}: unknown field {brief(key)}{did_you_mean(str(key), known)}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or nothing when no known word is near.

    >>> did_you_mean("anwser", ["answer", "status"])
    " (did you mean 'answer'?)"
    """
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def brief(value: Any) -> str:
    """A value for a message, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(value: Any) -> str:
    """What a value is, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _row(row: Any, columns: tuple[str, ...]) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        return tuple(row.get(name) for name in columns)
    return tuple(row) if isinstance(row, (list, tuple)) else (row,)


def _offered(item: Any, *, gaps: Gaps) -> tuple[OfferedTable, ...]:
    field = "retrieval.offered[]"
    if isinstance(item, str):
        if "create" in item.lower() and "(" in item:
            from sqlassay.sql.ddl import tables_in

            return tuple(tables_in(item))
        return (OfferedTable(name=item),) if item.strip() else ()
    given = mapping_of(item, field=field, gaps=gaps)
    unknown_keys(given, OfferedTable, field=field, gaps=gaps)
    name = text_of(given.get("name"), field=f"{field}.name", gaps=gaps)
    if name is None:
        gaps.add(f"{field}: no name")
        return ()
    has_ddl = flag_of(given.get("has_ddl"), field=f"{field}.has_ddl", gaps=gaps)
    return (
        OfferedTable(
            name=name,
            has_ddl=True if has_ddl is None else has_ddl,
            columns=texts_of(given.get("columns"), field=f"{field}.columns", gaps=gaps),
        ),
    )
