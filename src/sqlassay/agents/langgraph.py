"""How is an agent asked that is the user's own LangGraph graph (or LangChain agent) in this process?"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.calls import Caller
from sqlassay.agents.plain import plain
from sqlassay.agents.python import call_recorded, read_recorded, result_reader
from sqlassay.agents.settings import check_known, optional_mapping, optional_text, seconds, whole
from sqlassay.agents.target import load_target
from sqlassay.agents.template import check_placeholders, fields_of, fill
from sqlassay.errors import ConfigError
from sqlassay.records.ask import Ask
from sqlassay.records.turn import Turn, TurnErrorKind

KIND = "langgraph"
_KNOWN = frozenset({"target", "input", "config", "recursion_limit", "map"})
_MESSAGES = "messages"


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """An agent from `target: module:graph` (the compiled graph, or a function that makes one).

    `input` is the state that the graph starts with, with placeholders (default `{messages: "{messages}"}`: the history
    and the question); `config` is passed on, `recursion_limit` is put into it; each question has its own `thread_id`.
    The messages are read by `langchain` unless `read` names another adapter, or `map` says where in the last state the
    fields of a turn stand.

    Raises:
        ConfigError: a setting is wrong, or the target is no graph.
    """
    check_known(settings, _KNOWN, kind=KIND)
    state = settings.get("input", {_MESSAGES: "{messages}"})
    check_placeholders(state, setting="agent.input", extra=frozenset({_MESSAGES}))
    config = dict(optional_mapping(settings, "config"))
    if settings.get("recursion_limit") is not None:
        config["recursion_limit"] = whole(settings, "recursion_limit", otherwise=25, least=1)
    return LangGraphAgent(
        graph_of(load_target(settings.get("target"), base_dir=base_dir)),
        name=optional_text(settings, "name") or KIND,
        state=state,
        config=config,
        timeout_s=seconds(settings, "timeout_s", otherwise=None),
        reader=result_reader(settings, kind=KIND, default="langchain"),
    )


def graph_of(target: Any) -> Any:
    """The graph itself, or what the function or class makes.

    Raises:
        ConfigError: neither is a graph: it has no `invoke` or `ainvoke`.
    """
    graph = target
    if not _is_graph(target) or isinstance(target, type):
        graph = target() if callable(target) else target
    if inspect.isawaitable(graph) or not _is_graph(graph):
        raise ConfigError("agent.target: no graph: it has neither invoke nor ainvoke", hint="name a compiled graph")
    return graph


class LangGraphAgent:
    """Streams the graph's states, so that a turn that fails keeps the messages until then.

    The payload is that of a `python` agent with `{"messages", "exception", "message", ...}` as its result.
    """

    def __init__(
        self,
        graph: Any,
        *,
        name: str,
        state: Any,
        config: Mapping[str, Any],
        timeout_s: float | None,
        reader: Reader,
    ) -> None:
        self.name = name
        self._graph, self._state, self._config = graph, state, config
        self._timeout_s, self._reader = timeout_s, reader
        self._caller = Caller()

    async def ask(self, ask: Ask) -> Any:
        """Run the graph on the question and the history before it."""
        last: dict[str, Any] = {}
        messages = [{"role": m.role, "content": m.content} for m in ask.history]
        fields = {**fields_of(ask), _MESSAGES: [*messages, {"role": "user", "content": ask.question}]}
        state = fill(self._state, fields)
        config = {**self._config}
        config["configurable"] = {"thread_id": ask.request_id, **dict(config.get("configurable") or {})}

        async def run() -> Any:
            if hasattr(self._graph, "astream"):
                async for reached in self._graph.astream(state, config, stream_mode="values"):
                    if isinstance(reached, Mapping):
                        last.update(reached)
                return last
            return await self._graph.ainvoke(state, config)

        def start() -> Any:
            if hasattr(self._graph, "astream") or hasattr(self._graph, "ainvoke"):
                return run()
            return self._graph.invoke(state, config)

        payload = await call_recorded(self._caller, start, timeout_s=self._timeout_s, partial=lambda: dict(last))
        return with_exception(payload)

    def read(self, payload: Any) -> Turn:
        """The messages read by the framework's adapter, with recorded statements merged in."""
        return read_recorded(payload, self._reader)

    async def close(self) -> None:
        """Stop the loop that the graph ran on."""
        await self._caller.close()


def with_exception(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload whose result says, as the framework's own logs do, which exception ended the turn."""
    error = payload["error"]
    if error is None or error["kind"] == TurnErrorKind.AGENT_TIMEOUT.value:
        return payload
    result = payload["result"] if isinstance(payload["result"], Mapping) else {}
    ended = {"exception": error["type"], "message": error["message"]}
    return {**payload, "result": plain({**result, **ended})}


def _is_graph(target: Any) -> bool:
    return hasattr(target, "ainvoke") or hasattr(target, "invoke")
