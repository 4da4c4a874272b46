"""How is an agent asked that is a program: a process per question, or one that stays and speaks JSON lines?"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlassay.agents.base import Agent
from sqlassay.agents.documents import SETTINGS, DocumentReader
from sqlassay.agents.fields import brief, did_you_mean, kind_of
from sqlassay.agents.process import Process, ProcessSettings, describe_exit
from sqlassay.agents.settings import check_known, optional_mapping, optional_text, seconds, whole
from sqlassay.agents.template import check_placeholders, default_body, fields_of, fill
from sqlassay.errors import AgentFailure, ConfigError, ExtractionError
from sqlassay.records.ask import Ask
from sqlassay.records.environment import Secrets
from sqlassay.records.turn import Turn

KIND = "command"
VERSION = "1"
_KNOWN = SETTINGS | {"command", "protocol", "processes", "env", "cwd", "input", "output", "max_bytes"}
_PROTOCOLS = ("once", "lines")
_INPUTS = ("json", "text", "none")
_OUTPUTS = ("auto", "json", "text")


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """An agent from `command` (a list of arguments, or a line split as a shell does; no shell runs).

    `protocol: once` (default) starts a process per question; `lines` keeps `processes` (default 1) of them, each
    answering one JSON line per JSON line. `{question}` and other placeholders may stand in the arguments.

    Raises:
        ConfigError: a setting is wrong, or the program does not exist.
    """
    check_known(settings, _KNOWN, kind=KIND)
    secrets = Secrets()
    filled = {
        key: value if key == "map" else secrets.fill(value, where=f"agent.{key}") for key, value in settings.items()
    }
    argv = _argv(filled.get("command"))
    cwd = Path(base_dir, optional_text(filled, "cwd") or ".").resolve()
    if not cwd.is_dir():
        raise ConfigError(f"agent.cwd: no folder {cwd}")
    _check_program(argv[0], cwd)
    protocol = _choice(filled, "protocol", _PROTOCOLS)
    if protocol == "once":
        check_placeholders(argv, setting="agent.command")
    process = ProcessSettings(
        cwd=str(cwd),
        env={**os.environ, **{name: str(value) for name, value in optional_mapping(filled, "env").items()}},
        max_bytes=whole(filled, "max_bytes", otherwise=64 * 1024 * 1024, least=1),
        secrets=secrets,
    )
    name = optional_text(filled, "name") or KIND
    timeout_s = seconds(filled, "timeout_s", otherwise=None)
    documents = DocumentReader(filled, kind=KIND)
    if protocol == "lines":
        if "input" in filled or "output" in filled:
            raise ConfigError("agent.input and agent.output: with protocol 'lines' both are JSON lines")
        count = whole(filled, "processes", otherwise=1, least=1)
        return LinesAgent(argv, process=process, count=count, name=name, timeout_s=timeout_s, documents=documents)
    return OnceAgent(
        argv,
        process=process,
        name=name,
        timeout_s=timeout_s,
        documents=documents,
        stdin=_choice(filled, "input", _INPUTS),
        stdout=_choice(filled, "output", _OUTPUTS),
    )


class OnceAgent:
    """A process per question. The payload is `{"text", "output", "exit_code", "stderr", "latency_s"}`."""

    def __init__(
        self,
        argv: list[str],
        *,
        process: ProcessSettings,
        name: str,
        timeout_s: float | None,
        documents: DocumentReader,
        stdin: str,
        stdout: str,
    ) -> None:
        self.name = name
        self._argv, self._process = argv, process
        self._timeout_s, self._documents = timeout_s, documents
        self._stdin, self._stdout = stdin, stdout

    async def ask(self, ask: Ask) -> Any:
        """Start the program, hand it the question, and read what it prints.

        Raises:
            AgentFailure: it ended with another code than 0, printed too much, or was not done in time; whatever it
                started was killed with it.
            AgentUnreachable: it cannot be started.
        """
        argv = [str(fill(argument, _texts(ask))) for argument in self._argv]
        handed = b""
        if self._stdin == "json":
            handed = json.dumps(default_body(ask), ensure_ascii=False).encode() + b"\n"
        elif self._stdin == "text":
            handed = ask.question.encode() + b"\n"
        started = time.monotonic()
        process = await Process.start(argv, self._process)
        try:
            async with asyncio.timeout(self._timeout_s):
                text = await process.communicate(handed)
        except TimeoutError:
            raise AgentFailure(f"no answer within {self._timeout_s:g} s", kind="agent_timeout") from None
        finally:
            await process.kill()
        if process.returncode != 0:
            raise AgentFailure(describe_exit(process.returncode, process.stderr_tail()))
        return {
            "text": self._process.secrets.redact(text),
            "output": self._stdout,
            "exit_code": 0,
            "stderr": process.stderr_tail(),
            "latency_s": round(time.monotonic() - started, 6),
        }

    def read(self, payload: Any) -> Turn:
        """The turn of what was printed: JSON, or text where `output` allows it.

        Raises:
            ExtractionError: JSON is due and something else was printed.
        """
        if not isinstance(payload, Mapping) or not isinstance(payload.get("text"), str):
            raise ExtractionError("not a payload of kind 'command': it has no 'text'")
        text, output = payload["text"], payload.get("output")
        document: Any = text
        if output == "json" or (output != "text" and text.lstrip()[:1] in ("{", "[")):
            document = _document(text, must=output == "json")
        if isinstance(document, str) and self._documents.mapped:
            document = {"text": document}
        return self._documents.read(document, version=VERSION, latency_s=_latency(payload))

    async def close(self) -> None:
        """Nothing stays open between questions."""


class LinesAgent:
    """Long-lived processes; a question a line, an answer a line, one question at a time in each.

    The payload is `{"line", "noise", "latency_s"}`: the answer, and how many other lines were printed before it.
    A process that dies or is late is killed with all it started, and the next question gets a new one.
    """

    def __init__(
        self,
        argv: list[str],
        *,
        process: ProcessSettings,
        count: int,
        name: str,
        timeout_s: float | None,
        documents: DocumentReader,
    ) -> None:
        self.name = name
        self.concurrency = count
        """How many questions it can answer at once; more than that wait."""
        self._argv, self._process = argv, process
        self._timeout_s, self._documents = timeout_s, documents
        self._idle: list[Process] = []
        self._slots: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, ask: Ask) -> Any:
        """Hand one process the question as a JSON line and wait for its answer. Waiting for a process takes no time
        from `timeout_s`.

        Raises:
            AgentFailure: the process died over this question, printed too much, or was late.
            AgentUnreachable: it cannot be started.
        """
        async with self._slot():
            process = await self._ready()
            done = False
            started = time.monotonic()
            try:
                async with asyncio.timeout(self._timeout_s):
                    line, noise = await process.exchange(default_body(ask), request_id=ask.request_id)
                done = True
            except TimeoutError:
                raise AgentFailure(f"no answer within {self._timeout_s:g} s", kind="agent_timeout") from None
            finally:
                if done:
                    self._idle.append(process)
                else:
                    await process.kill()
            return {"line": line, "noise": noise, "latency_s": round(time.monotonic() - started, 6)}

    def read(self, payload: Any) -> Turn:
        """The turn of the answered line.

        Raises:
            ExtractionError: it is no payload of this kind.
        """
        if not isinstance(payload, Mapping) or "line" not in payload:
            raise ExtractionError("not a payload of kind 'command': it has no 'line'")
        line = payload["line"]
        if isinstance(line, Mapping):
            line = {key: value for key, value in line.items() if key != "request_id"}
        return self._documents.read(line, version=VERSION, latency_s=_latency(payload))

    async def close(self) -> None:
        """End the processes: their input is closed, and what is left after a second is killed."""
        idle, self._idle = self._idle, []
        for process in idle:
            await process.end()

    def _slot(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._slots is None or self._loop is not loop:
            self._slots, self._loop = asyncio.Semaphore(self.concurrency), loop
            self._idle.clear()
        return self._slots

    async def _ready(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            await process.kill()
        return await Process.start(self._argv, self._process)


def _argv(command: Any) -> list[str]:
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise ConfigError(f"agent.command: {error}") from None
    if not isinstance(command, (list, tuple)) or not command:
        raise ConfigError(f"agent.command: expected a list of arguments or a line, got {kind_of(command)}")
    return [str(argument) for argument in command]


def _check_program(program: str, cwd: Path) -> None:
    found = shutil.which(program) if os.sep not in program else shutil.which(str(cwd / program))
    if found is None:
        raise ConfigError(f"agent.command: no program {program!r}", hint=f"looked on PATH and, with a slash, in {cwd}")


def _choice(settings: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = settings.get(key, allowed[0])
    if value not in allowed:
        raise ConfigError(
            f"agent.{key}: {brief(value)} is not one of {', '.join(allowed)}{did_you_mean(str(value), allowed)}"
        )
    return str(value)


def _texts(ask: Ask) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
        for name, value in fields_of(ask).items()
    }


def _document(text: str, *, must: bool) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if not must:
            return text
        flat = " ".join(text.split())
        begin = flat if len(flat) <= 120 else flat[:117] + "..."
        raise ExtractionError(f"the command printed no JSON ({error}): {begin or 'nothing'}") from None


def _latency(payload: Mapping[str, Any]) -> float | None:
    latency = payload.get("latency_s")
    return latency if isinstance(latency, float) else None
