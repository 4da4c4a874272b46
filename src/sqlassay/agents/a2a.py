"""What did an A2A agent answer? Tasks, messages and streamed updates, in the forms of releases 0.2 to 1.0.

Built from the published protocol and from examples of its own, not from a running agent: unverified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.messages import Signal, Transcript, loaded, mapping, mappings
from sqlassay.agents.refusals import status_in
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.agents.typed_output import fields
from sqlassay.errors import ExtractionError
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import Query, Returned, StatusSource, Turn, TurnError, TurnErrorKind, Usage

_STATES: Mapping[str, Status] = {
    "completed": Status.SUCCESS,
    "input_required": Status.CLARIFICATION,
    "rejected": Status.UNSUPPORTED,
    "failed": Status.ERROR,
    "canceled": Status.ERROR,
    "cancelled": Status.ERROR,
    "auth_required": Status.ERROR,
}
INSIDE = "what ran inside the remote agent is not in its task"


@dataclass(frozen=True, slots=True, kw_only=True)
class A2AReader:
    """Tasks and messages of A2A to a turn (specification section 3)."""

    tools: Toolbox
    sql_fields: tuple[str, ...] = ("sql", "sql_query", "generated_sql", "query", "statement")
    name: str = "a2a"
    version: str = "1-unverified"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no task, message or update of A2A.
        """
        found = loaded(payload)
        results = [_result(one) for one in (mappings(found) if isinstance(found, list) else [mapping(found)])]
        failure = next((one for one in reversed(results) if isinstance(one.get("error"), Mapping)), None)
        task = _task(results)
        if task is None and failure is None:
            raise ExtractionError("not an A2A answer: no task, message, statusUpdate or artifactUpdate")
        if task is None:
            error = mapping(mapping(failure).get("error"))
            message = f"{error.get('code')}: {error.get('message')}"
            transcript = Transcript(
                signal=Signal(status=Status.ERROR, source=StatusSource.FLAG),
                error=TurnError(kind=TurnErrorKind.AGENT_CRASH, message=message),
                schema_visible=False,
            )
            return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")
        return self._of_task(task)

    def _of_task(self, task: Mapping[str, Any]) -> Turn:
        status = mapping(task.get("status"))
        state = str(status.get("state") or "").lower().removeprefix("task_state_").replace("-", "_")
        parts = [part for one in mappings(task.get("artifacts")) for part in mappings(one.get("parts"))]
        said = mappings(mapping(status.get("message")).get("parts"))
        talk = mappings(task.get("history"))
        asked = [at for at, one in enumerate(talk) if _is_user(one)]
        if not parts and not said:
            replies = talk[asked[-1] + 1 :] if asked else talk
            said = [part for one in replies[-1:] for part in mappings(one.get("parts"))]
        answer = _text(parts) or _text(said) or None
        data = [mapping(part.get("data")) for part in (*parts, *said) if isinstance(part.get("data"), Mapping)]
        sql = next((text for one in data if (text := self._sql(one))), None)
        signal, error, gaps = _ending(state, answer, sql)
        transcript = Transcript(
            question=_text(mappings(talk[asked[-1]].get("parts"))) if asked else "",
            history=tuple(_history(talk[: asked[-1]] if asked else ())),
            answer=answer,
            signal=signal,
            declared_sql=sql,
            returned=next((table for one in data if (table := _table(one)) is not None), None),
            statements_visible=sql is not None,
            schema_visible=False,
            usage=Usage(),
            error=error,
            gaps=(INSIDE, *gaps),
        )
        extra = () if sql is None else (Query(sql=sql),)
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}", extra=extra)

    def _sql(self, data: Mapping[str, Any]) -> str | None:
        return next((str(data[name]) for name in self.sql_fields if isinstance(data.get(name), str)), None)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `output.sql` (field names that hold SQL in data parts), `dialect`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    tools = toolbox(settings, {}, also=("output",))
    return A2AReader(tools=tools, sql_fields=fields(settings)["sql"])


def _result(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result of a JSON-RPC answer, else the value itself."""
    inner = mapping(one.get("result"))
    return inner or one


def _task(results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The task that an answer or a stream adds up to; a bare message is a task without a state."""
    task: dict[str, Any] | None = None
    artifacts: dict[str, dict[str, Any]] = {}
    for result in results:
        kind = result.get("kind")
        whole = mapping(result.get("task")) or (result if kind == "task" or _is_task(result) else {})
        update = mapping(result.get("statusUpdate")) or (result if kind == "status-update" else {})
        change = mapping(result.get("artifactUpdate")) or (result if kind == "artifact-update" else {})
        message = mapping(result.get("message")) or (result if kind == "message" else {})
        if whole:
            task = {**(task or {}), **whole}
            for one in mappings(whole.get("artifacts")):
                _extend(artifacts, one, append=False)
        elif update:
            task = {**(task or {}), "status": update.get("status")}
        elif change:
            task = task or {}
            _extend(artifacts, mapping(change.get("artifact")), append=change.get("append") is True)
        elif message and "parts" in message and not _is_user(message):
            task = {**(task or {}), "status": {**mapping((task or {}).get("status")), "message": message}}
    if task is None:
        return None
    joined = [{**one, "parts": [part for parts in one["pieces"] for part in parts]} for one in artifacts.values()]
    return {**task, "artifacts": joined}


def _is_task(result: Mapping[str, Any]) -> bool:
    return isinstance(result.get("status"), Mapping) and "state" in result["status"] and "id" in result


def _extend(artifacts: dict[str, dict[str, Any]], one: Mapping[str, Any], *, append: bool) -> None:
    key = str(one.get("artifactId") or len(artifacts))
    parts = mappings(one.get("parts"))
    if append and key in artifacts:
        artifacts[key]["pieces"].append(parts)
    else:
        artifacts[key] = {**one, "pieces": [parts]}


def _is_user(message: Mapping[str, Any]) -> bool:
    return str(message.get("role") or "").lower() in ("user", "role_user")


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))


def _ending(state: str, answer: str | None, sql: str | None) -> tuple[Signal | None, TurnError | None, tuple[str, ...]]:
    """The task's own state; a completed task whose words decline is told by its words."""
    status = _STATES.get(state)
    if status is None:
        return None, None, (f"the task was still {state}",) if state else ()
    if status is Status.SUCCESS and sql is None:
        told = status_in(answer, ran=False)
        if told is not None:
            return Signal(status=told, source=StatusSource.TEXT_RULE), None, ()
    error = None
    if status is Status.ERROR:
        error = TurnError(kind=TurnErrorKind.AGENT_CRASH, message=f"{state}: {answer or ''}".rstrip(": "))
    return Signal(status=status, source=StatusSource.DECLARED), error, ()


def _table(data: Mapping[str, Any]) -> Returned | None:
    rows = data.get("rows", data.get("data"))
    if not isinstance(rows, list):
        return None
    names = data.get("columns")
    columns = [str(mapping(name).get("name", name)) for name in names] if isinstance(names, list) else []
    if not columns and rows and isinstance(rows[0], Mapping):
        columns = [str(name) for name in rows[0]]
    table = [[row.get(name) for name in columns] if isinstance(row, Mapping) else row for row in rows]
    table = [row if isinstance(row, list) else [row] for row in table]
    cut = data.get("truncated")
    flag = cut if isinstance(cut, bool) else None
    count = data.get("row_count")
    known = count if isinstance(count, int) and not isinstance(count, bool) else None if flag else len(table)
    return Returned(
        columns=tuple(columns), rows=table, row_count=known, row_cap=len(table) if flag else None, truncated=flag
    )


def _history(talk: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for one in talk:
        text = _text(mappings(one.get("parts")))
        if text:
            yield Message(role="user" if _is_user(one) else "assistant", content=text)
