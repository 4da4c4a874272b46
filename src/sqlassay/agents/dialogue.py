"""How do messages of a conversation become one turn's transcript? Shared by every log that is a list of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.agents.endings import ANSWER_CUT, is_cut, of_exception, of_finish_reason
from sqlassay.agents.messages import Call, Outcome, Signal, Transcript, total
from sqlassay.agents.toolbox import Toolbox
from sqlassay.agents.typed_output import TypedOutput
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, TurnError, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A tool call inside a message of the agent; `arguments` None when they are malformed."""

    tool: str
    arguments: Mapping[str, Any] | None
    call_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message in neutral form. `role`: user, agent, tool, system, remove, or other for types nobody knows."""

    role: str
    text: str = ""
    content: Any = None
    requests: tuple[Request, ...] = ()
    reply_to: str | None = None
    name: str | None = None
    failed: bool | None = None
    replaced: Mapping[str, Any] | None = None
    """In a reply: the arguments that were used instead of those that the call was written with."""
    finish_reason: str | None = None
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    message_id: str | None = None
    path: tuple[str, ...] = ()
    chunks: tuple[Mapping[str, Any], ...] = ()
    """Pieces of tool calls of a streamed message."""
    is_chunk: bool = False
    is_last_chunk: bool = False
    aside: bool = False
    """A call that no message of a model made (code did): it says nothing and counts as no step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known about how the run ended, besides its messages."""

    answer: str | None = None
    """The final text where the payload keeps it apart from the messages."""
    exception: tuple[str, str] | None = None
    interrupt: str | None = None
    """What the agent stopped to ask, "" when it stopped for something that has no words."""
    typed: TypedOutput | None = None
    signal: Signal | None = None
    error: TurnError | None = None
    ended: bool = False


def transcript_of(
    entries: Sequence[Entry],
    tools: Toolbox,
    *,
    ending: Ending = Ending(),
    written: Mapping[str, Mapping[str, Any]] | None = None,
    prompts_visible: bool = False,
    gaps: tuple[str, ...] = (),
    usage: Usage | None = None,
    memory: tuple[str, ...] = (),
) -> Transcript:
    """The newest turn of a conversation: everything after its last message of the user; what was before is history.

    Args:
        entries: all messages in order.
        tools: names the tools that ask the user.
        ending: exception, interrupt, typed result or flag.
        written: arguments as first written, by message id, where a step replaced them.
        prompts_visible: the log shows all instructions, even when there are none.
        gaps: what the reader could not see.
        usage: what the run took, where the payload says so itself; else it is counted from the messages.
        memory: examples that a memory handed to the agent.
    """
    start = max((at for at, one in enumerate(entries) if one.role == "user" and not one.path), default=-1)
    turn = entries[start + 1 :]
    calls = tuple(_calls(turn, written or {}, tools, held=ending.interrupt is not None))
    last = next((one for one in reversed(turn) if one.role == "agent" and not one.path and not one.aside), None)
    found = list(gaps)
    if last is not None and is_cut(last.finish_reason):
        found.append(ANSWER_CUT)
    signal, answer, sql, error = _ended(ending, last, calls, tools)
    prompts = tuple(dict.fromkeys(one.text for one in entries if one.role == "system" and one.text))
    return Transcript(
        question=entries[start].text if start >= 0 else "",
        history=tuple(_history(entries[:start] if start > 0 else ())),
        calls=calls,
        answer=answer,
        signal=signal,
        declared_sql=sql,
        prompts=prompts,
        prompts_visible=prompts_visible or bool(prompts),
        usage=_usage(turn, calls) if usage is None else usage,
        error=error,
        memory=memory,
        gaps=tuple(found),
        ended=ending.ended or ending.exception is not None or ending.interrupt is not None,
    )


def _usage(turn: Sequence[Entry], calls: Sequence[Call]) -> Usage:
    agents = [one for one in turn if one.role == "agent" and not one.aside]
    if not turn:
        return Usage()
    return Usage(
        model_calls=len(agents),
        tool_calls=len(calls),
        steps=len(agents),
        tokens_in=total(one.tokens_in for one in agents),
        tokens_out=total(one.tokens_out for one in agents),
    )


def _ended(
    ending: Ending, last: Entry | None, calls: tuple[Call, ...], tools: Toolbox
) -> tuple[Signal | None, str | None, str | None, TurnError | None]:
    """Status, answer, declared SQL and error, from the strongest sign of how the run ended."""
    answer = ending.answer if ending.answer is not None else None if last is None else _answer(last)
    if ending.exception is not None:
        signal, error = of_exception(*ending.exception)
        said = last is not None and not last.requests and not last.refusal
        return signal, answer or None if said else None, None, error
    if ending.signal is not None:
        return ending.signal, answer, None, ending.error
    if ending.interrupt is not None:
        asked = Signal(status=Status.CLARIFICATION, source=StatusSource.TYPED)
        return asked, ending.interrupt or answer, None, None
    if last is not None and last.refusal:
        return Signal(status=Status.UNSUPPORTED, source=StatusSource.TYPED), answer, None, None
    question = _open_question(calls, tools)
    if question is not None:
        return Signal(status=Status.CLARIFICATION, source=StatusSource.TYPED), question, None, None
    typed = ending.typed
    if typed is not None:
        told = answer if typed.answer is None else typed.answer
        return typed.signal, typed.whole if told is None else told, typed.sql, ending.error
    return of_finish_reason(None if last is None else last.finish_reason), answer, None, ending.error


def _answer(last: Entry) -> str | None:
    """The last message's text; a message that only calls tools is no answer, unless its calls are malformed."""
    if last.refusal:
        return last.refusal
    readable = any(request.arguments is not None for request in last.requests)
    return None if readable else last.text


def _open_question(calls: tuple[Call, ...], tools: Toolbox) -> str | None:
    """What the last call asked the user, when nobody answered it in this log."""
    if not calls or calls[-1].outcome is not None or tools.kind(calls[-1].tool) != "ask":
        return None
    return question_in(calls[-1].arguments or {})


def question_in(arguments: Mapping[str, Any]) -> str:
    """The words of a question among a call's arguments, also inside a list of questions."""
    for value in arguments.values():
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            texts = [question_in(item) for item in value if isinstance(item, Mapping)]
            if any(texts):
                return "\n".join(text for text in texts if text)
    return ""


def _calls(
    turn: Sequence[Entry], written: Mapping[str, Mapping[str, Any]], tools: Toolbox, *, held: bool
) -> Iterator[Call]:
    """The calls in the order in which the agent made them, each with its reply, however late or early that came."""
    replies: dict[str, Entry] = {}
    unnamed: dict[str, list[Entry]] = {}
    for one in reversed(turn):
        if one.role == "tool" and one.reply_to:
            known = replies.get(one.reply_to)
            if known is None or known.replaced is None or one.replaced is not None:
                replies[one.reply_to] = one
        elif one.role == "tool":
            unnamed.setdefault(one.name or "", []).append(one)
    for one in turn:
        for request in one.requests if one.role == "agent" else ():
            reply = replies.get(request.call_id or "")
            if reply is None and unnamed.get(request.tool):
                reply = unnamed[request.tool].pop()
            draft = written.get(one.message_id or "") if len(one.requests) == 1 else None
            arguments = request.arguments
            used = None if reply is None else _used(reply.replaced, arguments)
            if used is not None:
                draft, arguments = draft or arguments, used
            yield Call(
                tool=request.tool,
                arguments=arguments,
                call_id=request.call_id,
                outcome=None if reply is None else Outcome(content=reply.content, failed=reply.failed),
                path=(*one.path[:-1], one.name) if one.path and one.name else one.path,
                written=draft if draft is not None and draft != arguments else None,
                blocked=held and reply is None and tools.kind(request.tool) != "ask",
            )


def _used(replaced: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a call was made with, where its reply tells: the same arguments, or a single one under another name."""
    if replaced is None or arguments is None or set(replaced) == set(arguments):
        return replaced
    if len(replaced) == len(arguments) == 1:
        return dict(zip(arguments, replaced.values(), strict=True))
    return None


def _history(entries: Sequence[Entry]) -> Iterator[Message]:
    for one in entries:
        if one.role in ("user", "agent") and not one.path and one.text.strip():
            yield Message(role="user" if one.role == "user" else "assistant", content=one.text)
