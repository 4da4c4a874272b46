"""What did a client do with MCP servers for databases? Recorded tool calls, or the JSON-RPC messages themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.messages import Call, Outcome, Transcript, arguments_of, loaded, mapping, mappings, text_of
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.errors import ExtractionError
from sqlassay.records.turn import Turn, Usage

TOOLS: Mapping[str, tuple[str, ...]] = {
    **WIDELY_USED,
    "query": (
        *WIDELY_USED["query"],
        *("query", "write_query", "execute_sql_*", "run_select_query", "read_data", "mysql_query", "postgres_query"),
        *("run_snowflake_query", "create_table"),
    ),
    "schema": (
        *WIDELY_USED["schema"],
        *("get_object_details", "search_objects", "search_objects_*", "get_table_info", "describe_object"),
    ),
    "list": (*WIDELY_USED["list"], "list_schemas", "list_objects", "list_databases", "list_views"),
}
"""Tool names of widely used database servers (the reference SQLite and PostgreSQL servers, dbhub, postgres-mcp)."""

NO_WORDS = "a tool log holds neither question nor answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpReader:
    """Tool calls of MCP to a turn (specification section 3)."""

    tools: Toolbox
    name: str = "mcp"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no `tools/call` at all and no exchange of this protocol.
        """
        found = loaded(payload)
        calls = list(_calls(found))
        if not calls and not _is_session(found):
            raise ExtractionError("not an MCP log: no tools/call requests")
        transcript = Transcript(
            calls=tuple(calls), prompts_visible=False, usage=Usage(tool_calls=len(calls)), gaps=(NO_WORDS,)
        )
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list), `sql_arguments`, `dialect`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return McpReader(tools=toolbox(settings, TOOLS))


def _is_session(found: Any) -> bool:
    if isinstance(found, Mapping):
        return isinstance(found.get("calls"), list) or "jsonrpc" in found
    return any("jsonrpc" in _message(one) for one in mappings(found)[:20])


def _message(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """A JSON-RPC message, also where a logger put it under `message`, `payload` or `data`."""
    for key in ("message", "payload", "data"):
        if "jsonrpc" in mapping(one.get(key)):
            return mapping(one[key])
    return one


def _calls(found: Any) -> Iterator[Call]:
    if isinstance(found, Mapping):
        if isinstance(found.get("calls"), list):
            for number, one in enumerate(mappings(found["calls"])):
                request = mapping(one.get("request")) or one
                params = mapping(request.get("params")) or request
                if isinstance(params.get("name"), str) and request.get("method", "tools/call") == "tools/call":
                    yield _call(params, one.get("result"), one.get("error"), call_id=str(one.get("id") or number))
            return
        found = [found]
    yield from _json_rpc([_message(one) for one in mappings(found)])


def _json_rpc(messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """Requests with the responses of the same id; one that came back before or not at all is still a call."""
    replies: dict[str, Mapping[str, Any]] = {}
    for one in messages:
        if "method" not in one and ("result" in one or "error" in one):
            replies.setdefault(str(one.get("id")), one)
    for one in messages:
        if one.get("method") == "tools/call":
            reply = replies.get(str(one.get("id")), mapping(None))
            yield _call(mapping(one.get("params")), reply.get("result"), reply.get("error"), call_id=str(one.get("id")))


def _call(params: Mapping[str, Any], result: Any, error: Any, *, call_id: str) -> Call:
    outcome: Outcome | None = None
    if error is not None:
        message = str(mapping(error).get("message") or error)
        outcome = Outcome(content=message, failed=True, error=message)
    elif isinstance(result, Mapping):
        flag = result.get("isError", result.get("is_error"))
        outcome = Outcome(content=_content(result), failed=flag if isinstance(flag, bool) else None)
    elif result is not None:
        outcome = Outcome(content=result)
    return Call(
        tool=str(params.get("name") or ""),
        arguments=arguments_of(params.get("arguments")),
        call_id=call_id,
        outcome=outcome,
    )


def _is_block(row: Any) -> bool:
    return {"type", "text"} <= set(mapping(row))


def _content(result: Mapping[str, Any]) -> Any:
    """Rows where the structured content has them, else the text blocks, else whatever there is."""
    structured = result.get("structuredContent", result.get("structured_content"))
    rows = mapping(structured).get("result")
    if isinstance(rows, list) and all(isinstance(row, (list, Mapping)) and not _is_block(row) for row in rows):
        return structured
    blocks = mappings(result.get("content"))
    texts = [text_of(block) for block in blocks if isinstance(block.get("text"), str)]
    if texts:
        return "\n".join(texts)
    return result.get("content") if structured is None else structured
