"""What did Databricks Genie answer? Messages of its conversation API, with fetched query results where there are any.

Built from the published API, not from a live workspace: unverified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.messages import Signal, Transcript, loaded, mapping, mappings, text_or_none, whole
from sqlassay.agents.statements import role_of
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.errors import ExtractionError
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import Query, Returned, Seen, StatusSource, Turn, TurnError, TurnErrorKind, Usage

_OPEN = ("SUBMITTED", "FETCHING_METADATA", "FILTERING_CONTEXT", "ASKING_AI", "PENDING_WAREHOUSE", "EXECUTING_QUERY")
_REFUSED = ("CONTENT_FILTER_EXCEPTION",)
_SQL_FAILED = ("SQL_EXECUTION_EXCEPTION", "INVALID_SQL", "GENERATED_SQL_QUERY")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenieReader:
    """Messages of Genie to a turn (specification section 3)."""

    tools: Toolbox
    name: str = "genie"
    version: str = "1-unverified"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no Genie message.
        """
        found = loaded(payload)
        messages = list(_messages(found))
        if not messages:
            raise ExtractionError("not a Genie answer: no message with attachments or a status")
        message = messages[-1]
        results = dict(_results(found, message))
        queries = tuple(_queries(message, results))
        text, purpose = _text(message)
        signal, error, gaps = _ending(message, purpose)
        sql = queries[-1].sql if queries else None
        transcript = Transcript(
            question=text_or_none(message.get("content")) or "",
            history=tuple(_history(messages[:-1])),
            answer=text,
            signal=signal,
            declared_sql=sql,
            returned=_returned(results),
            schema_visible=False,
            usage=Usage(),
            error=error,
            gaps=("the tables that the space offered are not in its answer", *gaps),
        )
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}", extra=queries)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `dialect`.

    Raises:
        ConfigError: a setting is unknown.
    """
    return GenieReader(tools=toolbox(settings, {}))


def _messages(found: Any) -> Iterator[Mapping[str, Any]]:
    """Messages of a payload: one, a list, `{message}` of a started conversation, `{messages}` of a listing."""
    if isinstance(found, list):
        for one in mappings(found):
            yield from _messages(one)
    elif isinstance(found, Mapping):
        if isinstance(found.get("messages"), list):
            yield from _messages(found["messages"])
        elif isinstance(found.get("message"), Mapping):
            yield from _messages(found["message"])
        elif "attachments" in found or ("status" in found and ("conversation_id" in found or "space_id" in found)):
            yield found


def _attachments(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return mappings(message.get("attachments"))


def _results(found: Any, message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Fetched statement results by statement id (or "" where there is only one)."""
    holders = [mapping(found), message, *_attachments(message)]
    for holder in holders:
        listed = mappings(holder.get("query_results"))
        for one in (*listed, mapping(holder.get("query_result")), holder):
            response = mapping(one.get("statement_response"))
            if response:
                yield str(response.get("statement_id") or ""), response


def _queries(message: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]]) -> Iterator[Query]:
    failure = mapping(message.get("error"))
    status = str(message.get("status") or "")
    for attachment in _attachments(message):
        query = mapping(attachment.get("query"))
        sql = query.get("query")
        if not isinstance(sql, str):
            continue
        meta = mapping(query.get("query_result_metadata")) or mapping(message.get("query_result"))
        statement = text_or_none(query.get("statement_id"))
        response = results.get(statement or "", results.get("", mapping(None)))
        state = str(mapping(response.get("status")).get("state") or "")
        failed = state in ("FAILED", "CANCELED", "CLOSED") or (
            status == "FAILED" and str(failure.get("type") or "").startswith(_SQL_FAILED)
        )
        ran = True if statement or state or failed else None
        error = mapping(mapping(response.get("status")).get("error")).get("message") or failure.get("error")
        cut = meta.get("is_truncated", mapping(response.get("manifest")).get("truncated"))
        rows = mapping(response.get("result")).get("data_array")
        yield Query(
            sql=sql,
            role=role_of(sql),
            executed=ran,
            succeeded=False if failed else True if ran and status in ("COMPLETED", "QUERY_RESULT_EXPIRED") else None,
            error=str(error) if failed and error else None,
            row_count=whole(meta.get("row_count")),
            seen=Seen(content=rows, truncated=cut if isinstance(cut, bool) else None),
            tool="genie",
            call_id=statement,
        )


def _text(message: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The words of the answer and their purpose; a query's own description where there are no other words."""
    texts = [mapping(one.get("text")) for one in _attachments(message) if isinstance(one.get("text"), Mapping)]
    said = [str(one["content"]) for one in texts if isinstance(one.get("content"), str)]
    purpose = next((str(one["purpose"]) for one in texts if isinstance(one.get("purpose"), str)), None)
    if said:
        return "\n\n".join(said), purpose
    described = [mapping(one.get("query")).get("description") for one in _attachments(message)]
    return next((text for text in described if isinstance(text, str)), None), purpose


def _ending(message: Mapping[str, Any], purpose: str | None) -> tuple[Signal | None, TurnError | None, tuple[str, ...]]:
    status = str(message.get("status") or "")
    failure = mapping(message.get("error"))
    if status in ("FAILED", "CANCELLED"):
        if str(failure.get("type") or "") in _REFUSED:
            return Signal(status=Status.UNSUPPORTED, source=StatusSource.FLAG), None, ()
        words = f"{failure.get('type') or status}: {failure.get('error') or ''}".rstrip(": ")
        error = TurnError(kind=TurnErrorKind.AGENT_CRASH, message=words[:2_000])
        return Signal(status=Status.ERROR, source=StatusSource.FLAG), error, ()
    if purpose == "FOLLOW_UP_QUESTION":
        return Signal(status=Status.CLARIFICATION, source=StatusSource.TYPED), None, ()
    return None, None, (f"the message was still {status}",) if status in _OPEN else ()


def _returned(results: Mapping[str, Mapping[str, Any]]) -> Returned | None:
    if not results:
        return None
    response = list(results.values())[-1]
    manifest = mapping(response.get("manifest"))
    columns = tuple(str(one.get("name")) for one in mappings(mapping(manifest.get("schema")).get("columns")))
    rows = mapping(response.get("result")).get("data_array")
    table = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else None
    cut = manifest.get("truncated")
    return Returned(
        columns=columns,
        rows=table,
        row_count=whole(manifest.get("total_row_count")),
        row_cap=len(table) if cut is True and table is not None else None,
        truncated=cut if isinstance(cut, bool) else None,
    )


def _history(messages: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for message in messages:
        if isinstance(message.get("content"), str):
            yield Message(role="user", content=message["content"])
        text, _ = _text(message)
        if text:
            yield Message(role="assistant", content=text)
