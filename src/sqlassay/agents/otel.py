"""What did any agent do that was traced with OpenTelemetry? GenAI, OpenInference and database conventions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlassay.agents.assemble import turn_of
from sqlassay.agents.base import Reader
from sqlassay.agents.dialogue import Ending, Entry, Request, transcript_of
from sqlassay.agents.langchain import gives_structure
from sqlassay.agents.langchain_messages import entry, is_message
from sqlassay.agents.llama_index import ENGINE, SCHEMA_UNSEEN, response_transcript
from sqlassay.agents.mcp import TOOLS as MCP_TOOLS
from sqlassay.agents.messages import (
    Signal,
    Transcript,
    loaded,
    mapping,
    shown,
    text_or_none,
    total,
    whole,
)
from sqlassay.agents.otel_langchain import entries_of, final_text, interrupt_of, state_of
from sqlassay.agents.otel_messages import heard, said
from sqlassay.agents.otel_spans import Span, Trace, first, newest_trace, parsed, tool_or_agent_name
from sqlassay.agents.otel_tools import Waiting, of_tool, result_of, with_database
from sqlassay.agents.pydantic_ai import deferred
from sqlassay.agents.toolbox import Toolbox, toolbox
from sqlassay.agents.typed_output import TypedOutput, fields, read_output
from sqlassay.errors import ExtractionError
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, Turn, Usage

TOOLS: Mapping[str, tuple[str, ...]] = {
    **MCP_TOOLS,
    "query": (*MCP_TOOLS["query"], ENGINE),
    "final": ("final_answer", "final_result", "final_result_*"),
}
"""Widely used tool names, those of known MCP servers, and the tools with which frameworks end a run."""

_RUN_RESULT = re.compile(r"RunResult\(output=(.*?), state='(\w+)'", re.DOTALL)
_RAISED = re.compile(r"^(\w+)\((.*)\)$|^([\w.]+)(?::\s*(.*))?$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelReader:
    """Spans of OpenTelemetry to a turn (specification section 3)."""

    tools: Toolbox
    output: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "otel"
    version: str = "1"

    def read(self, payload: Any) -> Turn:
        """Build the turn.

        Raises:
            ExtractionError: the payload holds no spans.
        """
        trace = newest_trace(loaded(payload))
        if trace is None:
            raise ExtractionError("not an OpenTelemetry export: no spans")
        engine = _query_engine(trace)
        if engine is not None:
            transcript = _with_usage(engine, trace)
        else:
            transcript = self._transcript(trace)
        gaps = [*transcript.gaps]
        if trace.root is None or trace.root.parent_id:
            gaps.append("the root span is missing")
        if trace.left_out:
            gaps.append(f"{trace.left_out} earlier traces were left out")
        if not any(span.kind != "other" for span in trace.spans):
            gaps.append("no span follows a convention for models, tools or databases")
        return turn_of(replace(transcript, gaps=tuple(gaps)), self.tools, adapter=f"{self.name} {self.version}")

    def _transcript(self, trace: Trace) -> Transcript:
        models = _models(trace)
        entries = list(self._entries(trace, models))
        final = next((span for span in reversed(trace.spans) if self._is_final(span) and not trace.path(span)), None)
        result = text_or_none(trace.root.attributes.get("final_result")) if trace.root is not None else None
        state = state_of(trace.root)
        answer = result if final is None else shown(result_of(final))
        answer = final_text(state) if answer is None else answer
        typed = self._typed(parsed(answer), entries) or read_output(state.get("structured_response"), names=self.output)
        signal = None
        run = _run_result(trace.root)
        if run is not None:
            answer = shown(run[0]) if run[0] is not None else answer
            typed = self._typed(parsed(run[0]), entries)
            if run[1] == "max_steps_error":
                signal = Signal(status=Status.BUDGET_EXHAUSTED, source=StatusSource.FLAG)
        transcript = transcript_of(
            entries,
            self.tools,
            ending=Ending(
                answer=answer,
                exception=_exception(trace.root),
                interrupt=interrupt_of(trace) or deferred(parsed(answer)),
                typed=typed,
                signal=signal,
                ended=trace.root is not None and trace.root.end > 0,
            ),
            prompts_visible=bool(models) and next(heard(models[0]), None) is not None,
        )
        question = None if trace.root is None else _question(trace.root)
        calls = with_database(transcript.calls, trace, self.tools)
        calls = tuple(call for call in calls if self.tools.kind(call.tool) != "final")
        calls = tuple(call for call in calls if not gives_structure(call, self.tools))
        found = replace(transcript, calls=calls, question=question or transcript.question)
        return _with_usage(found, trace)

    def _typed(self, value: Any, entries: Sequence[Entry]) -> TypedOutput | None:
        """What a result that is an object declares; the tool that gave it may carry its type's name."""
        asked = (request.tool for one in reversed(entries) for request in one.requests if not one.path)
        tool = next((name for name in asked if self.tools.kind(name) == "final"), "")
        return read_output(value, type_name=tool.removeprefix("final_result").strip("_"), names=self.output)

    def _is_final(self, span: Span) -> bool:
        return span.kind == "tool" and self.tools.kind(tool_or_agent_name(span)) == "final"

    def _entries(self, trace: Trace, models: Sequence[Span]) -> Iterator[Entry]:
        """Messages in time order: what the first model was given, what each model said, what each tool gave back."""
        outer = [span for span in models if not trace.path(span)]
        before = list(heard(outer[0])) if outer else []
        start = max((at for at, one in enumerate(before) if one.role == "user"), default=-1)
        yield from before
        if start < 0 and trace.root is not None:
            question = _question(trace.root)
            if question:
                yield Entry(role="user", text=question)
        tools = [span for span in trace.spans if span.kind == "tool"]
        pending: dict[tuple[str, tuple[str, ...]], Waiting] = {}
        open_ids: set[str] = set()
        answered: set[str] = set()

        def asks(requests: Iterable[Request], path: tuple[str, ...]) -> None:
            for request in requests:
                open_ids.add(str(request.call_id))
                pending.setdefault((request.tool, path), Waiting()).add(str(request.call_id), request.arguments)

        resumed = before[start + 1 :]
        asks((request for one in resumed for request in one.requests if request.call_id), ())
        for span in sorted([*models, *tools], key=lambda one: one.start):
            path = trace.path(span)
            if span.kind == "llm":
                words = said(span, path)
                if words is None:
                    continue
                words = replace(words, requests=tuple(_numbered(words.requests, span)))
                asks(words.requests, path)
                yield words
            else:
                waiting = pending.get((tool_or_agent_name(span), path), Waiting())
                for one in of_tool(span, path, waiting, open_ids):
                    answered.add(one.reply_to or "")
                    waiting.answer(one.reply_to)
                    yield one
        if outer:
            told = [*heard(outer[-1]), *entries_of(state_of(trace.root))]
            yield from (one for one in told if one.role == "tool" and one.reply_to in open_ids - answered)


def reader(settings: Mapping[str, Any] = {}) -> Reader:
    """The reader; settings: `tools` (query, check, explain, schema, list, ask, final), `sql_arguments`, `dialect`,
    `output` (field names of typed results).

    Raises:
        ConfigError: a setting is unknown or of a wrong type.
    """
    return OtelReader(tools=toolbox(settings, TOOLS, also=("output",)), output=fields(settings))


def _models(trace: Trace) -> list[Span]:
    """Model spans without another model span inside them, so that no call counts twice."""
    around = {
        parent.span_id
        for span in trace.spans
        if span.kind == "llm"
        for parent in trace.above(span)
        if parent.kind == "llm"
    }
    return [span for span in trace.spans if span.kind == "llm" and span.span_id not in around]


def _numbered(requests: Sequence[Request], span: Span) -> Iterator[Request]:
    for number, request in enumerate(requests):
        yield request if request.call_id else replace(request, call_id=f"{span.span_id}.{number}")


def _question(root: Span) -> str | None:
    """The question in a root span's input: text, a task, a query, or the last user message."""
    value = parsed(first(root.attributes, ("input.value", "traceloop.entity.input")))
    if isinstance(value, str):
        return value
    given = mapping(value)
    for key in ("task", "query", "question", "input", "query_str", "prompt"):
        if isinstance(given.get(key), str):
            return str(given[key])
    messages = given.get("messages")
    talk = [entry(one) for one in messages if is_message(one)] if isinstance(messages, list) else []
    return next((one.text for one in reversed(talk) if one.role == "user"), None)


def _run_result(root: Span | None) -> tuple[Any, str] | None:
    """What smolagents printed of its result: the output and the state in which the run ended."""
    printed = None if root is None else root.attributes.get("output.value")
    match = _RUN_RESULT.search(printed[:200_000]) if isinstance(printed, str) else None
    if match is None:
        return None
    try:
        value = ast.literal_eval(match.group(1)) if len(match.group(1)) < 100_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        value = None
    return value, match.group(2)


def _exception(root: Span | None) -> tuple[str, str] | None:
    """The exception in which the outermost span ended, by its event or by its status message."""
    if root is None or not root.failed:
        return None
    if root.exception is not None:
        return root.exception
    match = _RAISED.match(root.message.split("\n", 1)[0])
    if match is None:
        return "Exception", root.message
    return match.group(1) or match.group(3) or "Exception", match.group(2) or match.group(4) or ""


def _query_engine(trace: Trace) -> Transcript | None:
    """A LlamaIndex query engine's response, where the trace holds one and no agent around it."""
    if any(span.kind in ("tool", "agent") for span in trace.spans):
        return None
    for span in reversed(trace.spans):
        response = mapping(parsed(span.attributes.get("output.value")))
        if "response_gen" in response:
            response = {**response, "response": _last_words(trace)}
        if isinstance(mapping(response.get("metadata")).get("sql_query"), str) and "response" in response:
            chunks = _texts(trace)
            nodes = [{"node": {"text": text}} for text in chunks]
            found = response_transcript({**response, "source_nodes": nodes})
            prompts = tuple(_prompts(trace))
            question = _question(trace.root) if trace.root is not None else None
            return replace(
                found,
                question=question or "",
                prompts=prompts,
                prompts_visible=bool(prompts),
                schema_visible=bool(prompts),
                gaps=tuple(gap for gap in found.gaps if gap != SCHEMA_UNSEEN or not prompts),
            )
    return None


def _last_words(trace: Trace) -> str | None:
    """What the last model of a trace said, where the answer itself was streamed."""
    spoken = (
        span for span in trace.spans if span.kind == "llm" and isinstance(span.attributes.get("output.value"), str)
    )
    last = max(spoken, key=lambda span: span.end, default=None)
    return None if last is None else str(last.attributes["output.value"])


def _texts(trace: Trace) -> list[str]:
    """The retrieved texts that were handed to the synthesiser: the rows, or the error."""
    for span in trace.spans:
        chunks = mapping(parsed(span.attributes.get("input.value"))).get("text_chunks")
        if isinstance(chunks, list):
            return [chunk for chunk in chunks if isinstance(chunk, str)]
    return []


def _prompts(trace: Trace) -> Iterator[str]:
    for span in trace.spans:
        variables = mapping(parsed(span.attributes.get("llm.prompt_template.variables")))
        if isinstance(variables.get("schema"), str):
            yield variables["schema"]


def _with_usage(transcript: Transcript, trace: Trace) -> Transcript:
    models = _models(trace)
    tokens_in = [_tokens(span, "input", "prompt") for span in models]
    tokens_out = [_tokens(span, "output", "completion") for span in models]
    tools = [span for span in trace.spans if span.kind == "tool"]
    return replace(
        transcript,
        usage=Usage(
            model_calls=len(models) if models else None,
            tool_calls=len(tools) if tools else transcript.usage.tool_calls,
            steps=len([span for span in models if not trace.path(span)]) if models else None,
            tokens_in=total(tokens_in),
            tokens_out=total(tokens_out),
            latency_s=None if trace.root is None else trace.root.duration_s,
        ),
    )


def _tokens(span: Span, new: str, old: str) -> int | None:
    names = (f"gen_ai.usage.{new}_tokens", f"gen_ai.usage.{old}_tokens", f"llm.token_count.{old}")
    return whole(first(span.attributes, names))
