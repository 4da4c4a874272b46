"""How is an agent asked that is the user's own pydantic-ai `Agent` in this process?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.calls import Caller
from sqlassay.agents.langgraph import with_exception
from sqlassay.agents.plain import plain
from sqlassay.agents.python import call_recorded, read_recorded, result_reader
from sqlassay.agents.settings import check_known, optional_mapping, optional_text, seconds
from sqlassay.agents.target import load_target
from sqlassay.errors import ConfigError, MissingExtra
from sqlassay.records.ask import Ask, Message
from sqlassay.records.turn import Turn

KIND = "pydantic_ai"
_KNOWN = frozenset({"target", "deps", "run", "usage_limits"})


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """An agent from `target: module:agent` (the `Agent`, or a function that makes one).

    `deps: module:object` (or a function that makes them per question), `run` (more keywords of `Agent.run`),
    `usage_limits` (fields of `UsageLimits`). `read` is `pydantic_ai` unless said otherwise.

    Raises:
        ConfigError: a setting is wrong, or the target is no agent.
        MissingExtra: pydantic-ai is not installed.
    """
    check_known(settings, _KNOWN, kind=KIND)
    try:
        from pydantic_ai import UsageLimits
    except ImportError:
        raise MissingExtra("agent kind 'pydantic_ai'", needs="pydantic-ai") from None
    target = load_target(settings.get("target"), base_dir=base_dir)
    agent = target() if callable(target) and not hasattr(target, "run") else target
    if not hasattr(agent, "run") or isinstance(agent, type):
        raise ConfigError("agent.target: no pydantic-ai agent: it has no run", hint="name the Agent object")
    keywords = dict(optional_mapping(settings, "run"))
    limits = optional_mapping(settings, "usage_limits")
    if limits:
        try:
            keywords["usage_limits"] = UsageLimits(**limits)
        except TypeError as error:
            raise ConfigError(f"agent.usage_limits: {error}") from None
    deps = settings.get("deps")
    return PydanticAIAgent(
        agent,
        name=optional_text(settings, "name") or KIND,
        deps=None if deps is None else load_target(deps, base_dir=base_dir, setting="agent.deps"),
        keywords=keywords,
        timeout_s=seconds(settings, "timeout_s", otherwise=None),
        reader=result_reader(settings, kind=KIND, default="pydantic_ai"),
    )


class PydanticAIAgent:
    """Runs the agent while its messages are captured, so that a turn that fails keeps them.

    The payload is that of a `python` agent with `{"output", "output_type", "all_messages", ...}` as its result.
    """

    def __init__(
        self,
        agent: Any,
        *,
        name: str,
        deps: Any,
        keywords: Mapping[str, Any],
        timeout_s: float | None,
        reader: Reader,
    ) -> None:
        self.name = name
        self._agent, self._deps, self._keywords = agent, deps, keywords
        self._timeout_s, self._reader = timeout_s, reader
        self._caller = Caller()

    async def ask(self, ask: Ask) -> Any:
        """Run the agent on the question, with the history as its own messages."""
        captured: list[Any] = []

        async def run() -> Any:
            from pydantic_ai import capture_run_messages

            keywords = dict(self._keywords)
            if self._deps is not None:
                keywords["deps"] = self._deps() if callable(self._deps) else self._deps
            if ask.history:
                keywords["message_history"] = messages_of(ask.history)
            with capture_run_messages() as messages:
                try:
                    result = await self._agent.run(ask.question, **keywords)
                finally:
                    captured.extend(messages)
            return {
                "output": result.output,
                "output_type": type(result.output).__name__,
                "all_messages": dumped(result.all_messages()),
                "new_messages": dumped(result.new_messages()),
            }

        payload = await call_recorded(
            self._caller,
            run,
            timeout_s=self._timeout_s,
            partial=lambda: {"captured_messages": dumped(captured)} if captured else None,
        )
        return with_exception(payload)

    def read(self, payload: Any) -> Turn:
        """The messages read by the framework's adapter, with recorded statements merged in."""
        return read_recorded(payload, self._reader)

    async def close(self) -> None:
        """Stop the loop that the agent ran on."""
        await self._caller.close()


def messages_of(history: tuple[Message, ...]) -> list[Any]:
    """Earlier messages as pydantic-ai's own."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    return [
        ModelRequest(parts=[UserPromptPart(content=message.content)])
        if message.role == "user"
        else ModelResponse(parts=[TextPart(content=message.content)])
        for message in history
    ]


def dumped(messages: list[Any]) -> Any:
    """Messages as the plain data that pydantic-ai itself writes."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return plain(ModelMessagesTypeAdapter.dump_python(messages, mode="json"))
