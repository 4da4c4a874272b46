"""What did an agent do that speaks to OpenAI's Chat Completions or Responses API, read from the logged calls?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, transcript_of
from sqlassay.agents.endings import ANSWER_CUT, of_finish_reason
from sqlassay.agents.messages import Signal, Transcript, loaded, mapping, mappings, text_or_none, total, whole
from sqlassay.agents.openai_items import (
    chat_entries,
    completion_entry,
    is_chat_message,
    is_item,
    item_entries,
    joined_chunks,
    streamed_response,
)
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.agents.typed_output import TypedOutput, fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, TurnError, TurnErrorKind, Usage

_REPLY = ("reply", "response", "completion", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIReader:
    """Logs of OpenAI's two chat APIs to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "openai"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no messages, items, completions, responses or exchanges.
        """
        transcript = self._transcript(_unwrapped(loaded(payload)))
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")

    def _transcript(self, payload: Any) -> Transcript:
        if isinstance(payload, Mapping):
            if payload.get("exception"):
                exception = (str(payload["exception"]), str(payload.get("message") or ""))
                return self._of(_messages(payload.get("messages")), ending=Ending(exception=exception))
            if _is_exchange(payload):
                return self._of_exchanges([payload])
            if "choices" in payload or payload.get("object") == "response" or _is_error(payload):
                return self._of_exchanges([{"request": {}, "reply": payload}])
            if isinstance(payload.get("messages"), list):
                return self._of(_messages(payload["messages"]), prompts_visible=False)
            if isinstance(payload.get("input"), (list, str)):
                return self._of(list(_request_entries(payload)))
        if isinstance(payload, list) and (not payload or mappings(payload)):
            return self._of_list([item for item in payload if isinstance(item, Mapping)])
        raise ExtractionError("not an OpenAI log: no messages, items, choices, output or request with reply")

    def _of_list(self, payload: list[Mapping[str, Any]]) -> Transcript:
        if not payload:
            return Transcript(gaps=("the payload holds no messages",))
        first = payload[0]
        if _is_exchange(first):
            return self._of_exchanges([item for item in payload if _is_exchange(item)])
        if any(str(item.get("object")) == "chat.completion.chunk" for item in payload[:3]):
            return self._of_exchanges([{"request": {}, "reply": joined_chunks(payload)}])
        if any(str(item.get("type")).startswith("response.") for item in payload[:3]):
            return self._of_exchanges([{"request": {}, "reply": streamed_response(payload)}])
        if all(is_chat_message(item) for item in payload[:3]) and not any("type" in item for item in payload):
            return self._of(list(chat_entries(payload)))
        if any(is_item(item) for item in payload[:3]):
            return self._of(list(item_entries(payload)))
        raise ExtractionError("not an OpenAI log: the list holds no messages, items, chunks, events or exchanges")

    def _of(
        self,
        entries: Sequence[Entry],
        *,
        ending: Ending = Ending(),
        prompts_visible: bool = False,
        gaps: tuple[str, ...] = (),
        usage: Usage | None = None,
    ) -> Transcript:
        last = next((one for one in reversed(entries) if one.role in ("agent", "user")), None)
        if last is not None and last.role == "agent" and ending.typed is None and ending.signal is None:
            ending = replace(ending, typed=typed_text(last.text, self.output))
        return transcript_of(
            entries, self.tools, ending=ending, prompts_visible=prompts_visible, gaps=gaps, usage=usage
        )

    def _of_exchanges(self, exchanges: Sequence[Mapping[str, Any]]) -> Transcript:
        """Requests with their replies, in order: the conversation of the last one, everything else left out."""
        last = exchanges[-1]
        request, reply = _parts(last)
        entries = [*_earlier(exchanges, request), *_request_entries(request)]
        answer, ending, gaps = _reply(reply)
        entries.extend(answer)
        start = max((at for at, one in enumerate(entries) if one.role == "user"), default=-1)
        asked = {call.call_id for one in entries[start + 1 :] for call in one.requests if call.call_id}
        mine = [one for one in exchanges if one is last or (asked and not asked.isdisjoint(_call_ids(_parts(one)[1])))]
        others = sum(_call_ids(_parts(one)[1]).isdisjoint(_all_calls(entries)) for one in exchanges[:-1])
        if others:
            gaps = (*gaps, f"{others} exchanges of other conversations were left out")
        tokens = [_tokens(_parts(one)[1]) for one in mine]
        usage = Usage(
            model_calls=len(mine),
            tool_calls=sum(len(one.requests) for one in entries[start + 1 :]),
            steps=len(mine),
            tokens_in=total(count for count, _ in tokens),
            tokens_out=total(count for _, count in tokens),
        )
        return self._of(entries, ending=ending, prompts_visible=bool(request), gaps=gaps, usage=usage)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return OpenAIReader(tools=toolbox(settings, WIDELY_USED, also=("output",)), output=fields(settings))


def typed_text(text: str, names: Mapping[str, tuple[str, ...]]) -> TypedOutput | None:
    """What a final text declares that is a JSON object (a structured output), None for any other text."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")) or len(text) > 400_000:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    typed = read_output(value, names=names)
    return None if typed is None or (typed.sql is None and typed.signal is None) else typed


def _unwrapped(payload: Any) -> Any:
    """A batch line or a logged HTTP answer keeps the reply under `body`."""
    if isinstance(payload, Mapping) and isinstance(mapping(payload.get("response")).get("body"), Mapping):
        body = payload["response"]["body"]
        request = mapping(payload.get("request"))
        return {"request": mapping(request.get("body")) or request, "reply": body}
    return payload


def _messages(value: Any) -> list[Entry]:
    return list(chat_entries(value)) if isinstance(value, list) else []


def _is_exchange(value: Mapping[str, Any]) -> bool:
    request, reply = _parts(value)
    known = "messages" in request or "input" in request
    return known and (isinstance(reply, Mapping) or _is_stream(reply))


def _parts(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    request = value.get("request")
    reply = next((value[key] for key in _REPLY if isinstance(value.get(key), (Mapping, list))), None)
    if isinstance(request, Mapping):
        return request, reply
    if reply is not None and ("messages" in value or "input" in value):
        return value, reply
    return {}, None


def _is_stream(reply: Any) -> bool:
    return isinstance(reply, list) and bool(mappings(reply))


def _request_entries(request: Mapping[str, Any]) -> Iterator[Entry]:
    instructions = request.get("instructions")
    if isinstance(instructions, str) and instructions:
        yield Entry(role="system", text=instructions)
    if isinstance(request.get("messages"), list):
        yield from chat_entries(request["messages"])
    elif isinstance(request.get("input"), str):
        yield Entry(role="user", text=request["input"])
    elif isinstance(request.get("input"), list):
        yield from item_entries(request["input"])


def _earlier(exchanges: Sequence[Mapping[str, Any]], request: Mapping[str, Any]) -> list[Entry]:
    """The exchanges before, where a request continues another by `previous_response_id`."""
    by_id = {str(mapping(_parts(one)[1]).get("id")): one for one in exchanges}
    chain: list[Mapping[str, Any]] = []
    known: set[str] = set()
    previous = request.get("previous_response_id")
    while isinstance(previous, str) and previous in by_id and previous not in known:
        known.add(previous)
        chain.append(by_id[previous])
        previous = _parts(by_id[previous])[0].get("previous_response_id")
    entries: list[Entry] = []
    for one in reversed(chain):
        before, reply = _parts(one)
        entries.extend(_request_entries(before))
        entries.extend(_reply(reply)[0])
    return entries


def _reply(reply: Any) -> tuple[list[Entry], Ending, tuple[str, ...]]:
    """The agent's messages in a reply, and how it ended where the reply's own fields say so."""
    if isinstance(reply, list):
        events = mappings(reply)
        responses = any(str(event.get("type")).startswith("response.") for event in events[:3])
        reply = streamed_response(events) if responses else joined_chunks(events)
    reply = mapping(reply)
    if _is_error(reply):
        return [], _failed(mapping(reply["error"])), ()
    if "choices" in reply:
        found = completion_entry(reply)
        return ([] if found is None else [found]), Ending(), () if found is not None else ("the reply has no choices",)
    output = reply.get("output")
    entries = list(item_entries(output)) if isinstance(output, list) else []
    status = reply.get("status")
    gaps: tuple[str, ...] = ()
    ending = Ending()
    if status == "incomplete":
        reason = text_or_none(mapping(reply.get("incomplete_details")).get("reason"))
        signal = of_finish_reason(reason)
        gaps = () if signal is not None else (ANSWER_CUT,)
        ending = Ending(signal=signal)
    elif status in ("failed", "cancelled"):
        ending = _failed(mapping(reply.get("error")) or {"code": str(status)})
    elif status == "in_progress":
        gaps = ("the reply was still being streamed",)
    approvals = [item for item in mappings(output) if item.get("type") == "mcp_approval_request"]
    if approvals:
        ending = Ending(interrupt=f"approval of {approvals[0].get('name')}")
    return entries, ending, gaps


def _is_error(reply: Mapping[str, Any]) -> bool:
    return isinstance(reply.get("error"), Mapping) and "choices" not in reply and not reply.get("output")


def _failed(error: Mapping[str, Any]) -> Ending:
    code = text_or_none(error.get("code")) or text_or_none(error.get("type")) or "error"
    if code == "content_filter" or "content_filter" in code:
        return Ending(signal=Signal(status=Status.UNSUPPORTED, source=StatusSource.FLAG), ended=True)
    if code.endswith("Error"):
        return Ending(exception=(code, str(error.get("message") or "")))
    message = f"{code}: {error.get('message') or ''}".rstrip(": ")
    return Ending(
        signal=Signal(status=Status.ERROR, source=StatusSource.FLAG),
        error=TurnError(kind=TurnErrorKind.AGENT_CRASH, message=message[:2_000]),
        ended=True,
    )


def _call_ids(reply: Any) -> set[str]:
    return {call.call_id for one in _reply(reply)[0] for call in one.requests if call.call_id}


def _all_calls(entries: Sequence[Entry]) -> set[str]:
    return {call.call_id for one in entries for call in one.requests if call.call_id}


def _tokens(reply: Any) -> tuple[int | None, int | None]:
    usage = mapping(mapping(reply).get("usage"))
    return (
        whole(usage.get("prompt_tokens", usage.get("input_tokens"))),
        whole(usage.get("completion_tokens", usage.get("output_tokens"))),
    )
