"""What did a smolagents agent do? Steps of its memory, whether it writes code or calls tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.endings import ANSWER_CUT, is_cut, of_exception, of_finish_reason
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
    shown,
    text_or_none,
    total,
    whole,
)
from sqlassay.agents.python_code import BUILT, Session, calls_in
from sqlassay.agents.toolbox import WIDELY_USED, Toolbox, toolbox
from sqlassay.agents.typed_output import fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.ask import Message
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, TurnError, Usage

TOOLS: Mapping[str, tuple[str, ...]] = {
    **WIDELY_USED,
    "ask": (*WIDELY_USED["ask"], "user_input"),
    "final": ("final_answer",),
    "other": ("web_search", "wikipedia_search", "visit_webpage", "transcriber", "image_generator", "translator"),
}
"""Widely used tool names (`sql_engine` is the one of smolagents' own text-to-SQL example), and those it ships."""

BUILT_SQL = "SQL was built by code at run time: only spans or a recording connection show it"
CONDITIONAL_SQL = "what became of a call under a condition or a caught exception is not in the steps"
UNSEEN_PROMPT = "the system prompt with the tools' descriptions is not in the steps"
_BUDGET = ("max_steps_error",)
_BEFORE_CALLS = ("AgentMaxStepsError", "AgentParsingError", "AgentGenerationError")
_FAILED_LINE = re.compile(r"failed at line '(.*?)' due to", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmolagentsReader:
    """Steps of smolagents to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "smolagents"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no steps of smolagents.
        """
        found = loaded(payload)
        if isinstance(found, list):
            found = {"steps": found}
        steps = mapping(found).get("steps", mapping(mapping(found).get("memory")).get("steps"))
        exception = mapping(found).get("exception")
        if not isinstance(steps, list) and not exception:
            raise ExtractionError("not a smolagents run: no steps")
        known = [step for step in mappings(steps) if _is_step(step)]
        if steps and not known and not exception:
            raise ExtractionError("not a smolagents run: none of the steps has a task, a step number or a plan")
        transcript = self._transcript(mapping(found), known, lost=len(listed(steps)) - len(known))
        return turn_of(transcript, self.tools, adapter=f"{self.name} {self.version}")

    def _transcript(self, found: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], *, lost: int) -> Transcript:
        start = max((at for at, step in enumerate(steps) if isinstance(step.get("task"), str)), default=-1)
        turn = [step for step in steps[start + 1 :] if "step_number" in step or "tool_calls" in step]
        calls: list[Call] = []
        session = Session()
        gaps = [f"{lost} entries among the steps are no steps"] if lost else []
        for step in turn:
            calls.extend(self._calls(step, session, gaps))
        answer = self._answer(found, turn)
        signal, error = _ending(found, turn)
        typed = read_output(found.get("output"), names=self.output)
        last = turn[-1] if turn else {}
        reason = _finish_reason(last)
        if is_cut(reason):
            gaps.append(ANSWER_CUT)
        if typed is not None and signal is None:
            signal, answer = typed.signal, answer if typed.answer is None else typed.answer
        prompts = [str(step["system_prompt"]) for step in steps if isinstance(step.get("system_prompt"), str)]
        return Transcript(
            question=str(steps[start].get("task") or "") if start >= 0 else "",
            history=tuple(_history(steps[:start] if start > 0 else ())),
            calls=tuple(call for call in calls if self.tools.kind(call.tool) != "final"),
            answer=answer,
            signal=signal or of_finish_reason(reason),
            declared_sql=None if typed is None else typed.sql,
            prompts=tuple(prompts),
            prompts_visible=bool(prompts),
            usage=_usage(turn, len(calls)),
            error=error,
            gaps=tuple(dict.fromkeys(gaps if prompts else (*gaps, UNSEEN_PROMPT))),
            ended=bool(found.get("state")) or found.get("exception") is not None,
        )

    def _calls(self, step: Mapping[str, Any], session: Session, gaps: list[str]) -> Iterator[Call]:
        error = mapping(step.get("error"))
        message = str(error.get("message") or "") if error else None
        number = step.get("step_number")
        observed = step.get("observations")
        requests = mappings(step.get("tool_calls"))
        broken_off = not requests and not step.get("code_action")
        if broken_off:
            requests = mappings(mapping(step.get("model_output_message")).get("tool_calls"))
        for request in requests:
            function = mapping(request.get("function")) or request
            tool, raw = _tool_of(request), function.get("arguments")
            call_id = text_or_none(request.get("id"))
            if tool == "python_interpreter" and isinstance(raw, str):
                yield from self._code(raw, f"{call_id}.{number}", observed, message, session, gaps)
                continue
            arguments = arguments_of(raw)
            if arguments is None and isinstance(raw, str):
                arguments = {"answer" if self.tools.kind(tool) == "final" else "query": raw}
            if broken_off:
                alone = sum(_tool_of(other) == tool for other in requests) == 1
                yield _broken_off(Call(tool=tool, arguments=arguments, call_id=call_id), error, alone=alone)
                continue
            outcome = _outcome(observed if len(requests) == 1 else _part(observed, request, requests), message)
            yield Call(tool=tool, arguments=arguments, call_id=call_id, outcome=outcome, duration_s=None)
        if not requests and isinstance(step.get("code_action"), str):
            yield from self._code(step["code_action"], f"step.{number}", observed, message, session, gaps)

    def _code(
        self, code: str, call_id: str, observed: Any, error: str | None, session: Session, gaps: list[str]
    ) -> Iterator[Call]:
        """The calls in a code action whose SQL can be read off the code; one built at run time is a gap."""
        before = dict(session.known)
        found, readable = calls_in(code, kind=self.tools.kind, session=session)
        if not readable:
            gaps.append("a code action could not be parsed")
        if error is not None:
            session.forget(before)
        broke = None if error is None else _broke_at(code, error)
        for at, call in enumerate(found):
            number = f"{call_id}.{at}"
            if call.arguments == BUILT:
                gaps.append(BUILT_SQL)
                yield Call(tool=call.tool, arguments={}, call_id=number, uncertain=True)
            elif error is None or (broke is not None and call.end <= broke[0]):
                if call.conditional:
                    gaps.append(CONDITIONAL_SQL)
                outcome = Outcome(content="" if observed is None else observed)
                yield Call(
                    tool=call.tool,
                    arguments=call.arguments,
                    call_id=number,
                    outcome=outcome,
                    uncertain=call.conditional,
                )
            elif broke is None:
                yield Call(tool=call.tool, arguments=call.arguments, call_id=number, uncertain=True)
            elif call.start >= broke[1]:
                yield Call(tool=call.tool, arguments=call.arguments, call_id=number, blocked=True)
            else:
                outcome = Outcome(content=observed, failed=True, error=error)
                yield Call(tool=call.tool, arguments=call.arguments, call_id=number, outcome=outcome)

    def _answer(self, found: Mapping[str, Any], turn: Sequence[Mapping[str, Any]]) -> str | None:
        output = found.get("output")
        if output is None:
            final = next((step for step in reversed(turn) if step.get("is_final_answer")), mapping(None))
            output = final.get("action_output", final.get("output"))
        return shown(output)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, final), `sql_arguments`, `dialect`, `output`.

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return SmolagentsReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _is_step(step: Mapping[str, Any]) -> bool:
    return any(key in step for key in ("task", "step_number", "plan", "system_prompt", "tool_calls", "output"))


def _tool_of(request: Mapping[str, Any]) -> str:
    return str((mapping(request.get("function")) or request).get("name") or "")


def _broken_off(call: Call, error: Mapping[str, Any], *, alone: bool) -> Call:
    """A call of a step that failed: such a step keeps its calls only in the model's message, and its error names the
    one that broke. What became of calls beside it is not in the log."""
    message = str(error.get("message") or "")
    if error.get("type") in _BEFORE_CALLS:
        return replace(call, blocked=True)
    if alone and error.get("type") == "AgentToolCallError":
        return replace(call, outcome=Outcome(failed=True, error=message), blocked=True)
    if (alone and call.tool in message) or str(dict(call.arguments or {})) in message:
        return replace(call, outcome=Outcome(failed=True, error=message))
    return replace(call, uncertain=True)


def _outcome(observed: Any, error: str | None) -> Outcome | None:
    if error is not None:
        return Outcome(content=observed, failed=True, error=error)
    return None if observed is None else Outcome(content=observed)


def _part(observed: Any, request: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> Any:
    """Observations of parallel calls are joined by line breaks: a part is known only when there is one line a call."""
    lines = observed.split("\n") if isinstance(observed, str) else []
    return lines[list(requests).index(request)] if len(lines) == len(requests) else observed


def _broke_at(code: str, error: str) -> tuple[int, int] | None:
    """The part of a code action that the interpreter's error names, None where it names none."""
    named = _FAILED_LINE.search(error)
    if named is None:
        return None
    start = code.find(named.group(1))
    return None if start < 0 else (start, start + len(named.group(1)))


def _ending(found: Mapping[str, Any], turn: Sequence[Mapping[str, Any]]) -> tuple[Signal | None, TurnError | None]:
    if found.get("exception"):
        return of_exception(str(found["exception"]), str(found.get("message") or ""))
    budget = Signal(status=Status.BUDGET_EXHAUSTED, source=StatusSource.FLAG)
    if found.get("state") in _BUDGET:
        return budget, None
    last = mapping(turn[-1].get("error")) if turn else {}
    if found.get("state") is None and str(last.get("type") or "") == "AgentMaxStepsError":
        return budget, None
    return None, None


def _finish_reason(step: Mapping[str, Any]) -> str | None:
    raw = mapping(mapping(step.get("model_output_message")).get("raw"))
    choice = next(iter(mappings(raw.get("choices"))), None)
    return None if choice is None else text_or_none(choice.get("finish_reason"))


def _usage(turn: Sequence[Mapping[str, Any]], calls: int) -> Usage:
    tokens = [mapping(step.get("token_usage")) for step in turn]
    spent = [_seconds(mapping(step.get("timing"))) for step in turn]
    known = [one for one in spent if one is not None]
    return Usage(
        model_calls=len(turn) if turn else None,
        tool_calls=calls if turn else None,
        steps=len(turn) if turn else None,
        tokens_in=total(whole(one.get("input_tokens")) for one in tokens),
        tokens_out=total(whole(one.get("output_tokens")) for one in tokens),
        latency_s=sum(known) if known else None,
    )


def _seconds(timing: Mapping[str, Any]) -> float | None:
    value = timing.get("duration")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _history(steps: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for step in steps:
        if isinstance(step.get("task"), str):
            yield Message(role="user", content=step["task"])
        elif step.get("is_final_answer") or (CLASS_KEY in step and "FinalAnswer" in str(step[CLASS_KEY])):
            output = step.get("action_output", step.get("output"))
            if output is not None:
                yield Message(role="assistant", content=str(output))
