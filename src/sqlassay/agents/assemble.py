"""How does a neutral transcript become a turn? One rule for every framework: statements, schema, status, candidate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlassay.agents.candidate import choose_candidate
from sqlassay.agents.messages import Call, Outcome, Transcript, text_of
from sqlassay.agents.offered import described, is_data, tables_in
from sqlassay.agents.refusals import status_in, status_in_sql
from sqlassay.agents.results import Reply, read_reply
from sqlassay.agents.statements import looks_like_sql, role_of
from sqlassay.agents.toolbox import Toolbox
from sqlassay.records.case import Status
from sqlassay.records.turn import (
    CandidateSource,
    OfferedTable,
    Query,
    Retrieval,
    Role,
    Seen,
    StatusSource,
    Turn,
    TurnError,
    TurnErrorKind,
)

_TABLE_ARGUMENTS = ("table_name", "table", "object_name", "name", "tables", "table_names", "pattern")


class _Collected:
    """Statements, offered tables and gaps of one turn, gathered call by call."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools
        self.queries: list[Query] = []
        self.offered: dict[str, OfferedTable] = {}
        self.gaps: dict[str, None] = {}
        self.closed: dict[str, None] = {}
        """Tools that were reached and of whose doings the log shows nothing."""
        self.schema_seen = False
        self.schema_lost = False

    def offer(self, tables: Iterable[OfferedTable]) -> bool:
        found = False
        for table in tables:
            found = True
            known = self.offered.get(table.name.casefold())
            if known is None or (not known.columns and table.columns):
                self.offered[table.name.casefold()] = table
        return found


def turn_of(transcript: Transcript, tools: Toolbox, *, adapter: str, extra: tuple[Query, ...] = ()) -> Turn:
    """The turn of a transcript.

    Args:
        transcript: what a reader took out of its payload.
        tools: which tools run, check, plan or describe.
        adapter: name and version of the reader.
        extra: statements that the payload holds outside of tool calls (a declared query, database spans).
    """
    if transcript.declared_sql is not None and not transcript.declared_sql.strip():
        transcript = replace(transcript, declared_sql=None, gaps=(*transcript.gaps, "the declared query is empty"))
    seen = _Collected(tools)
    for call in transcript.calls:
        _collect(call, seen, ended=transcript.ended)
    for prompt in transcript.prompts:
        seen.offer(tables_in(prompt, dialect=tools.dialect))
    queries = (*seen.queries, *extra)
    status, source, error = _status(transcript, queries)
    closed = () if any(query.path for query in queries) else tuple(seen.closed)
    unseen = (
        f"what {tool!r} did inside is not in this log: spans or a recording connection show it" for tool in closed
    )
    gaps = dict.fromkeys((*transcript.gaps, *seen.gaps, *unseen))
    silent = transcript.signal is None and transcript.answer is None and transcript.declared_sql is None
    if silent and queries and transcript.usage.model_calls is not None:
        gaps["the log ends without a final answer"] = None
    if status is None:
        gaps["neither a status nor a statement nor an answer was found"] = None
    turn = Turn(
        question=transcript.question,
        status=status,
        status_source=source,
        history=transcript.history,
        queries=queries,
        statements_complete=transcript.statements_visible and not closed,
        candidate_sql=transcript.declared_sql,
        candidate_source=CandidateSource.NONE if transcript.declared_sql is None else CandidateSource.DECLARED,
        answer=transcript.answer,
        returned=transcript.returned,
        stages=transcript.stages,
        retrieval=_retrieval(transcript, seen),
        usage=transcript.usage,
        error=error,
        gaps=tuple(gaps),
        adapter=adapter,
    )
    turn = choose_candidate(turn)
    told = status_in_sql(turn.candidate_sql) if source is StatusSource.INFERRED else None
    return turn if told is None else replace(turn, status=told, status_source=StatusSource.TEXT_RULE)


def _collect(call: Call, seen: _Collected, *, ended: bool) -> None:
    kind = call.kind or seen.tools.kind(call.tool)
    if kind in ("query", "check", "explain"):
        _statements(call, kind, seen, ended=ended)
    elif kind == "schema":
        _schema(call, seen)
    elif kind in (None, "delegate"):
        _unknown(call, seen, ended=ended)


def _statements(call: Call, kind: str, seen: _Collected, *, ended: bool) -> None:
    reply = None if call.outcome is None else read_reply(call.outcome)
    texts: tuple[str, ...] = ("",)
    if call.arguments is not None:
        texts = seen.tools.sql_in(call.arguments) or ("",)
    if texts == ("",):
        seen.gaps[f"the arguments of {call.tool} hold no readable SQL"] = None
    written = () if call.written is None else seen.tools.sql_in(call.written)
    for at, sql in enumerate(texts):
        before = written[at] if at < len(written) and written[at] != sql else None
        for query in _queries(call, kind, sql, before, reply, ended=ended):
            seen.queries.append(query)
            if query.role is Role.INTROSPECTION and query.succeeded:
                _schema_rows(query, reply, seen)


def _queries(
    call: Call, kind: str, sql: str, written: str | None, reply: Reply | None, *, ended: bool
) -> Iterable[Query]:
    role = {"check": Role.CHECK, "explain": Role.EXPLAIN}.get(kind) or role_of(sql)
    if role is Role.CHECK:
        yield _query(call, sql, written, role, executed=False, succeeded=None, reply=reply)
    elif call.uncertain:
        yield _query(call, sql, written, role, executed=None, succeeded=None, reply=reply)
    elif reply is None:
        unreached = call.blocked or ended or call.arguments is None
        yield _query(call, sql, written, role, executed=False if unreached else None, succeeded=None, reply=None)
    elif call.blocked or not reply.reached:
        yield _query(call, sql, written, role, executed=False, succeeded=False, reply=reply)
    elif reply.statements and not reply.failed:
        for part in reply.statements:
            one = read_reply(Outcome(content=part))
            text = part.get("sql", part.get("query"))
            sent = text if isinstance(text, str) else sql
            role = role_of(sent)
            yield _query(
                call, sent, sql if sent != sql else written, role, executed=True, succeeded=not one.failed, reply=one
            )
    else:
        yield _query(call, sql, written, role, executed=True, succeeded=not reply.failed, reply=reply)


def _query(
    call: Call,
    sql: str,
    written: str | None,
    role: Role,
    *,
    executed: bool | None,
    succeeded: bool | None,
    reply: Reply | None,
) -> Query:
    shown = None
    if reply is not None and not reply.failed and role is not Role.CHECK:
        shown = Seen(
            content=reply.content,
            truncated=reply.truncated,
            truncated_by=reply.truncated_by,
            row_cap=reply.row_cap,
        )
    return Query(
        sql=sql,
        sql_written=written,
        role=role,
        executed=executed,
        succeeded=succeeded,
        error=reply.error if reply is not None and reply.failed and role is not Role.CHECK else None,
        row_count=reply.row_count if reply is not None and shown is not None else None,
        seen=shown,
        duration_s=call.duration_s,
        tool=call.tool,
        call_id=call.call_id,
        path=call.path,
    )


def _schema(call: Call, seen: _Collected) -> None:
    seen.schema_seen = True
    if call.outcome is None:
        seen.schema_lost = True
        return
    reply = read_reply(call.outcome)
    if reply.failed:
        return
    text = reply.content if isinstance(reply.content, str) else text_of(reply.content)
    if seen.offer(tables_in(text, dialect=seen.tools.dialect)):
        return
    data = text or reply.content
    if not seen.offer(described(data, table=_table_named(call.arguments))) and text.strip() and not is_data(data):
        seen.schema_lost = True
        seen.gaps[f"what {call.tool} described could not be read as tables"] = None


def _schema_rows(query: Query, reply: Reply | None, seen: _Collected) -> None:
    """A statement on the catalogue may return DDL, or the columns of a table."""
    if reply is None or query.seen is None:
        return
    content = query.seen.content
    text = content if isinstance(content, str) else str(content)
    if seen.offer(tables_in(text.replace('""', '"'), dialect=seen.tools.dialect)):
        seen.schema_seen = True


def _table_named(arguments: Mapping[str, Any] | None) -> str | None:
    for name in _TABLE_ARGUMENTS:
        value = (arguments or {}).get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, str) and value.strip() and "," not in value:
            return value.strip()
    return None


def _unknown(call: Call, seen: _Collected, *, ended: bool) -> None:
    """A tool whose name is not known: SQL given to it may have been executed, so it is kept with that unknown; without
    SQL it may be an agent of its own, or have a query built in."""
    texts = [value for value in (call.arguments or {}).values() if looks_like_sql(value)]
    reply = None if call.outcome is None else read_reply(call.outcome)
    for sql in texts:
        unreached = call.blocked or (reply is not None and not reply.reached)
        executed = False if unreached else None
        succeeded = False if reply is not None and reply.failed else None
        role = role_of(sql)
        seen.queries.append(_query(call, sql, None, role, executed=executed, succeeded=succeeded, reply=reply))
        if not unreached:
            seen.gaps[f"unrecognised tool {call.tool!r} was given SQL: name it under tools.query or tools.check"] = None
    made = not call.blocked and (reply.reached if reply is not None else not ended)
    if not texts and made:
        seen.closed[call.tool] = None
    if not texts and call.arguments is None:
        seen.gaps[f"the arguments of unrecognised tool {call.tool!r} could not be read"] = None


def _status(transcript: Transcript, queries: tuple[Query, ...]) -> tuple[Status | None, StatusSource, TurnError | None]:
    error = transcript.error
    if transcript.signal is not None:
        return transcript.signal.status, transcript.signal.source, error
    ran = any(query.role is Role.QUERY and query.executed and query.succeeded for query in queries)
    answer = (transcript.answer or "").strip()
    told = status_in(answer, ran=ran)
    if told is not None:
        return told, StatusSource.TEXT_RULE, error
    if error is not None:
        return Status.ERROR, StatusSource.FLAG, error
    if answer or transcript.declared_sql is not None or transcript.returned is not None:
        return Status.SUCCESS, StatusSource.INFERRED, error
    last = transcript.calls[-1] if transcript.calls else None
    if transcript.answer is not None and last is not None and last.outcome is None and last.arguments is None:
        message = f"ended without an answer: the arguments of {last.tool} were malformed"
        return Status.ERROR, StatusSource.FLAG, TurnError(kind=TurnErrorKind.AGENT_CRASH, message=message)
    if any(query.sql.strip() for query in queries):
        return Status.SUCCESS, StatusSource.INFERRED, error
    if transcript.answer is not None:
        message = "ended without an answer: the final text is empty"
        return Status.ERROR, StatusSource.FLAG, TurnError(kind=TurnErrorKind.AGENT_CRASH, message=message)
    return None, StatusSource.INFERRED, error


def _retrieval(transcript: Transcript, seen: _Collected) -> Retrieval | None:
    if not transcript.schema_visible and not seen.offered:
        return Retrieval(offered=None, offered_complete=False, memory=transcript.memory) if transcript.memory else None
    complete = transcript.schema_visible and not seen.schema_lost and (transcript.prompts_visible or bool(seen.offered))
    return Retrieval(offered=tuple(seen.offered.values()), offered_complete=complete, memory=transcript.memory)
