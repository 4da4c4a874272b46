"""What did a LlamaIndex text-to-SQL query engine do? The response with its metadata, or events of a workflow agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.messages import (
    CLASS_KEY,
    Call,
    Outcome,
    Signal,
    Transcript,
    arguments_of,
    listed,
    loaded,
    mapping,
    mappings,
    plain,
    text_of,
    text_or_none,
)
from sqlassay.agents.refusals import status_in
from sqlassay.agents.statements import looks_like_sql
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.agents.typed_output import fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import Returned, StatusSource, Turn, Usage

ENGINE = "NLSQLTableQueryEngine"
SCHEMA_UNSEEN = "schema offered is only in the prompt or span"
NO_RESULTS = "an agent's output that was written to JSON holds no results of its tools: stream events show them"
_TOOLS: Mapping[str, tuple[str, ...]] = {**WIDELY_USED, "query": (*WIDELY_USED["query"], ENGINE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaIndexReader:
    """Responses of LlamaIndex to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "llama_index"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload is no response, agent output or stream of events of LlamaIndex.
        """
        found = loaded(_live(payload))
        if isinstance(found, list):
            return self._turn(self._of_events(mappings(found)))
        if not isinstance(found, Mapping):
            raise ExtractionError("not a LlamaIndex response: expected response, metadata and source_nodes")
        if found.get("exception") and "response" not in found:
            ending = Ending(exception=(str(found["exception"]), str(found.get("message") or "")))
            return self._turn(transcript_of([], self.tools, ending=ending, gaps=("all messages lost",)))
        if "tool_calls" in found and isinstance(found.get("response"), Mapping):
            return self._turn(self._of_output(found))
        if "metadata" in found or "source_nodes" in found:
            return self._turn(response_transcript(found))
        if isinstance(found.get("sources"), list):
            return self._turn(self._of_agent_response(found))
        raise ExtractionError("not a LlamaIndex response: no metadata, source_nodes, sources or tool_calls")

    def _turn(self, transcript: Transcript) -> Turn:
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")

    def _of_agent_response(self, found: Mapping[str, Any]) -> Transcript:
        """A chat agent's response: its tool outputs in `sources`, which may hold query engines' responses."""
        calls: list[Call] = []
        for source in mappings(found.get("sources")):
            raw = mapping(source.get("raw_output"))
            inner = list(_statements(raw, text_or_none(raw.get("response")) or "")) if "metadata" in raw else []
            calls.extend(replace(call, path=(str(source.get("tool_name") or ""),)) for call in inner)
            if not inner:
                calls.append(_tool_output(source))
        return Transcript(
            calls=tuple(calls),
            answer=text_or_none(found.get("response")),
            schema_visible=False,
            usage=Usage(tool_calls=len(calls)),
            gaps=(SCHEMA_UNSEEN,),
            ended=True,
        )

    def _of_output(self, found: Mapping[str, Any]) -> Transcript:
        """What an agent's run gave back; written to JSON it keeps its calls without their results."""
        calls = mappings(found["tool_calls"])
        transcript = self._of_events([*calls, {**found, "tool_calls": []}])
        if all("tool_output" in call for call in calls):
            return transcript
        return replace(transcript, ended=False, gaps=(*transcript.gaps, NO_RESULTS))

    def _of_events(self, events: Sequence[Mapping[str, Any]]) -> Transcript:
        """Events of an agent workflow: tool calls, tool results and the final output."""
        entries = list(_event_entries(events))
        if not entries:
            raise ExtractionError("not a LlamaIndex stream: no tool calls, tool results or agent output")
        none: Mapping[str, Any] = {}
        final = next((event for event in reversed(events) if "response" in event and "tool_calls" in event), none)
        typed = read_output(final.get("structured_response"), names=self.output)
        return transcript_of(entries, self.tools, ending=Ending(typed=typed, ended=bool(final)), gaps=(SCHEMA_UNSEEN,))


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return LlamaIndexReader(tools=toolbox(settings, _TOOLS, also=("output",)), output=fields(settings))


def _live(payload: Any) -> Any:
    """An agent's output in memory: its calls are of a richer type than the one it is declared to hold."""
    calls = getattr(payload, "tool_calls", None)
    if isinstance(payload, Mapping) or not isinstance(calls, list) or not hasattr(payload, "response"):
        return payload
    return {**mapping(plain(payload)), "tool_calls": [plain(call) for call in calls]}


def response_transcript(found: Mapping[str, Any]) -> Transcript:
    """A query engine's response: the statement stands in the metadata, its rows or its error in a node."""
    answer = text_or_none(found.get("response")) or _streamed(found)
    calls = tuple(_statements(found, answer or ""))
    sql = _text_in_sql_slot(calls)
    signal = None
    if sql is not None:
        status = status_in(sql, ran=False) or Status.UNSUPPORTED
        signal = Signal(status=status, source=StatusSource.TEXT_RULE)
    declared = None
    if answer is not None and any(_same(answer, _sql(call)) and call.outcome is None for call in calls):
        declared = answer.strip()
    return Transcript(
        calls=calls,
        answer=answer,
        signal=signal,
        declared_sql=declared,
        returned=_table(found) if answer is not None and declared is None else None,
        schema_visible=False,
        usage=Usage(tool_calls=len(calls)),
        gaps=(SCHEMA_UNSEEN,) if calls else (SCHEMA_UNSEEN, "the response's metadata holds no sql_query"),
        ended=True,
    )


def _streamed(found: Mapping[str, Any]) -> str | None:
    text = found.get("response_txt")
    return text if isinstance(text, str) else None


def _nodes(found: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The metadata and text of the source nodes."""
    for scored in mappings(found.get("source_nodes")):
        node = mapping(scored.get("node")) or scored
        text = text_or_none(node.get("text")) or text_or_none(mapping(node.get("text_resource")).get("text")) or ""
        yield mapping(node.get("metadata")), text


def _statements(found: Mapping[str, Any], answer: str) -> Iterator[Call]:
    """The engine's statement. Rows in the metadata say that it ran; an error stands only in a node or the answer."""
    metadata = mapping(found.get("metadata"))
    sql = metadata.get("sql_query")
    if not isinstance(sql, str):
        inner = [mapping(value) for value in metadata.values() if isinstance(mapping(value).get("sql_query"), str)]
        for one in inner or [node for node, _ in _nodes(found) if isinstance(node.get("sql_query"), str)]:
            yield Call(tool=ENGINE, arguments={"sql_query": one["sql_query"]}, outcome=_rows(one))
        return
    texts = [text for _, text in _nodes(found)]
    texts = texts or [answer]
    result = metadata.get("result")
    outcome: Outcome | None = None
    if isinstance(result, list):
        outcome = _rows(metadata)
    elif any(_is_error(text) for text in texts):
        outcome = Outcome(content=next(text for text in texts if _is_error(text)), failed=True)
    elif not isinstance(result, str) and not any(_same(text, sql) for text in texts):
        found_rows = next((text for text in texts if text), None)
        outcome = None if found_rows is None else Outcome(content=found_rows)
    yield Call(tool=ENGINE, arguments={"sql_query": sql}, outcome=outcome)


def _rows(metadata: Mapping[str, Any]) -> Outcome | None:
    rows = metadata.get("result")
    if not isinstance(rows, list):
        return None
    return Outcome(content={"columns": metadata.get("col_keys") or [], "rows": rows})


def _is_error(text: str) -> bool:
    return text.startswith("Error:") or " is invalid SQL" in text[:100_000]


def _sql(call: Call) -> str:
    return str((call.arguments or {}).get("sql_query") or "")


def _same(text: str, sql: str) -> bool:
    return bool(sql) and text.strip().rstrip(";").strip() == sql.strip().rstrip(";").strip()


def _text_in_sql_slot(calls: Sequence[Call]) -> str | None:
    """Words that the model put where SQL belongs; the engine sends them to the database as they are."""
    for call in calls:
        text = _sql(call)
        failed = call.outcome is None or bool(call.outcome.failed)
        if text.strip() and failed and not looks_like_sql(text) and text.strip()[0].isalpha():
            return text
    return None


def _table(found: Mapping[str, Any]) -> Returned | None:
    metadata = mapping(found.get("metadata"))
    rows = metadata.get("result")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return None
    names = metadata.get("col_keys")
    columns = tuple(str(name) for name in names) if isinstance(names, list) else ()
    return Returned(columns=columns, rows=rows, row_count=len(rows))


def _tool_output(source: Mapping[str, Any]) -> Call:
    raw = mapping(source.get("raw_input"))
    arguments = mapping(raw.get("kwargs")) or {str(n): value for n, value in enumerate(listed(raw.get("args")))}
    failed = source.get("is_error")
    content = source.get("content")
    return Call(
        tool=str(source.get("tool_name") or ""),
        arguments=arguments,
        outcome=Outcome(
            content=content if isinstance(content, str) else text_of(source.get("blocks")),
            failed=failed if isinstance(failed, bool) else None,
        ),
    )


def _event_entries(events: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    asked: set[str] = set()
    for event in events:
        kind = str(event.get(CLASS_KEY) or event.get("type") or "")
        call_id = text_or_none(event.get("tool_id"))
        if kind == "AgentInput" or (isinstance(event.get("input"), list) and "tool_name" not in event):
            for message in mappings(event.get("input"))[-1:]:
                if message.get("role") == "user":
                    yield Entry(role="user", text=text_of(message.get("blocks") or message.get("content")))
        elif "tool_kwargs" in event and "tool_output" not in event:
            if call_id not in asked:
                yield _asked(event, call_id)
            asked.add(call_id or "")
        elif "tool_output" in event:
            if call_id not in asked:
                yield _asked(event, call_id)
                asked.add(call_id or "")
            output = mapping(event.get("tool_output"))
            failed = output.get("is_error")
            yield Entry(
                role="tool",
                reply_to=call_id,
                name=text_or_none(event.get("tool_name")),
                content=output.get("content") or text_of(output.get("blocks")),
                failed=failed if isinstance(failed, bool) else None,
            )
        elif "response" in event and "tool_calls" in event and not event.get("tool_calls"):
            response = mapping(event.get("response"))
            text = text_of(response.get("blocks")) or text_of(response.get("content"))
            yield Entry(role="agent", text=text, content=text)


def _asked(event: Mapping[str, Any], call_id: str | None) -> Entry:
    request = Request(
        tool=str(event.get("tool_name") or ""), arguments=arguments_of(event.get("tool_kwargs")), call_id=call_id
    )
    return Entry(role="agent", requests=(request,))
