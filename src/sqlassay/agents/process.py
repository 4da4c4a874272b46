"""How is a program of the user's run so that it, and whatever it starts, never outlives its question?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlassay.errors import AgentFailure, AgentUnreachable
from sqlassay.records.environment import Secrets

_TAIL = 4_000
_NOISE_LINES = 10_000
_AFTER_EXIT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    """Where and with what a program runs; `max_bytes` bounds what it may print for one question."""

    cwd: str
    env: Mapping[str, str]
    max_bytes: int
    secrets: Secrets


class Process:
    """A program in a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, settings: ProcessSettings) -> None:
        self._process = process
        self._settings = settings
        self._tail = bytearray()
        self._draining = asyncio.ensure_future(self._drain())

    @classmethod
    async def start(cls, argv: list[str], settings: ProcessSettings) -> Process:
        """Start the program.

        Raises:
            AgentUnreachable: the system refuses.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=settings.cwd,
                env=dict(settings.env),
                limit=settings.max_bytes,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            shown = settings.secrets.redact(argv[0])
            raise AgentUnreachable(f"cannot start {shown!r}: {error}") from None
        return cls(process, settings)

    @property
    def returncode(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    def stderr_tail(self) -> str:
        """The end of what it wrote to its error output, secrets taken out."""
        return self._settings.secrets.redact(bytes(self._tail).decode("utf-8", "replace").strip())

    async def communicate(self, handed: bytes) -> str:
        """Hand over `handed`, close the input, and return all that is printed until the program ends.

        Raises:
            AgentFailure: it printed more than `max_bytes`.
        """
        await self._write(handed)
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        reading = asyncio.ensure_future(self._read_all())
        try:
            exited = asyncio.ensure_future(self._exited())
            await asyncio.wait({reading, exited}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await asyncio.wait({reading}, timeout=_AFTER_EXIT_S)
            if not reading.done():
                self._kill_group()
            text = await reading
            await exited
            return text
        finally:
            reading.cancel()

    async def exchange(self, document: Mapping[str, Any], *, request_id: str) -> tuple[Any, int]:
        """Send one JSON line, return the answering line and how many lines of other text came before it.

        An answer is a JSON object or text; one that names another `request_id` belongs to another question.

        Raises:
            AgentFailure: the program ended, or printed a line longer than `max_bytes` or nothing but noise.
        """
        await self._write(json.dumps(document, ensure_ascii=False).encode() + b"\n")
        stdout = self._process.stdout
        assert stdout is not None
        for noise in range(_NOISE_LINES):
            try:
                line = await stdout.readline()
            except ValueError:
                raise AgentFailure(f"a line of more than {self._settings.max_bytes} bytes") from None
            if not line:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._exited(), _AFTER_EXIT_S)
                await asyncio.wait({self._draining}, timeout=_AFTER_EXIT_S)
                raise AgentFailure(describe_exit(self._process.returncode, self.stderr_tail()))
            answer = _answer(self._settings.secrets.redact(line.decode("utf-8", "replace")))
            if answer is not None and answer.get("request_id", request_id) == request_id:
                return answer, noise
        raise AgentFailure(f"{_NOISE_LINES} lines and no JSON object among them")

    async def kill(self) -> None:
        """Kill what is left of the process group and collect it."""
        self._kill_group()
        await self._exited()
        await self._collected()

    async def end(self) -> None:
        """Close the input, give it a second to end by itself, then kill."""
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited(), _AFTER_EXIT_S)
        await self.kill()

    async def _exited(self) -> None:
        """Wait for the program itself; asyncio's own wait goes on while a child of it keeps the output open."""
        pause = 0.001
        while self._process.returncode is None:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _collected(self) -> None:
        await asyncio.wait({self._draining}, timeout=_AFTER_EXIT_S)
        self._draining.cancel()
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    async def _write(self, data: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(data)
            await stdin.drain()

    async def _read_all(self) -> str:
        stdout = self._process.stdout
        assert stdout is not None
        taken = bytearray()
        while chunk := await stdout.read(65_536):
            taken += chunk
            if len(taken) > self._settings.max_bytes:
                raise AgentFailure(f"printed more than {self._settings.max_bytes} bytes")
        return bytes(taken).decode("utf-8", "replace")

    async def _drain(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while chunk := await stderr.read(65_536):
            self._tail += chunk
            del self._tail[:-_TAIL]


def describe_exit(code: int | None, stderr: str) -> str:
    """How a program ended, with the last line of its error output.

    >>> describe_exit(2, "Traceback\\nValueError: no")
    'the command ended with exit code 2: ValueError: no'
    """
    if code is None:
        how = "the command closed its output"
    elif code < 0:
        how = f"the command was killed by signal {-code}"
    else:
        how = f"the command ended with exit code {code}"
    last = stderr.strip().rpartition("\n")[2].strip()
    return f"{how}: {last[:300]}" if last else how


def _answer(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
