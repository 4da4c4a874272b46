"""Agents that are programs: a process per question, or one that stays; nothing outlives its question."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.base import Agent
from sqlassay.agents.registry import build
from sqlassay.errors import AgentFailure, ConfigError, ExtractionError
from sqlassay.records.ask import Ask, Message
from sqlassay.records.turn import Turn

ASK = Ask(question="How many 'films'?\n$(touch x); `id`", request_id="r1", database="films")

ECHO = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"sql": "SELECT 1", "answer": json.dumps(asked, sort_keys=True)}))
"""

LINES = """
import json, os, sys
print("ready")
for line in sys.stdin:
    asked = json.loads(line)
    said = asked["question"]
    if said == "die":
        sys.exit("out of memory")
    if said == "hang":
        import time; time.sleep(60)
    if said == "flood":
        print("x" * 5000, flush=True)
    print("thinking about", said)
    print(json.dumps({"answer": "someone else's", "request_id": "other"}))
    print(json.dumps({"answer": f"{said} {os.getpid()}", "request_id": asked["request_id"]}), flush=True)
"""


def agent(tmp_path: Path, program: str, **settings: Any) -> Agent:
    (tmp_path / "agent.py").write_text(program)
    return build({"kind": "command", "command": [sys.executable, "agent.py"], **settings}, base_dir=str(tmp_path))


async def turn_of(asked: Agent, ask: Ask = ASK) -> Turn:
    try:
        return asked.read(await asked.ask(ask))
    finally:
        await asked.close()


async def test_a_process_per_question_gets_json_and_prints_json(tmp_path: Path) -> None:
    turn = await turn_of(agent(tmp_path, ECHO))
    assert turn.candidate_sql == "SELECT 1"
    assert turn.answer is not None
    assert '"database": "films"' in turn.answer
    assert '"request_id": "r1"' in turn.answer
    assert turn.adapter == "command 1"
    assert turn.usage.latency_s is not None
    assert not (tmp_path / "x").exists()


async def test_history_is_handed_over(tmp_path: Path) -> None:
    ask = Ask(question="And of those?", request_id="r", history=(Message(role="user", content="first"),))
    answer = (await turn_of(agent(tmp_path, ECHO), ask)).answer
    assert answer is not None
    assert '"history": [{"content": "first", "role": "user"}]' in answer


async def test_the_question_as_an_argument_is_one_argument_and_no_shell(tmp_path: Path) -> None:
    program = "import sys; print(len(sys.argv), sys.argv[1])"
    asked = agent(tmp_path, program, command=[sys.executable, "agent.py", "Q: {question}"], input="none", output="text")
    turn = await turn_of(asked)
    assert turn.answer == f"2 Q: {ASK.question}\n"


async def test_text_that_is_sql(tmp_path: Path) -> None:
    assert (await turn_of(agent(tmp_path, "print('SELECT 1')", input="text"))).candidate_sql == "SELECT 1\n"


async def test_a_mapped_document(tmp_path: Path) -> None:
    program = 'print(\'{"out": {"q": "SELECT 2"}, "n": 3}\')'
    turn = await turn_of(agent(tmp_path, program, map={"candidate_sql": "out.q", "usage.steps": "n", "answer": "a"}))
    assert (turn.candidate_sql, turn.usage.steps) == ("SELECT 2", 3)
    assert turn.gaps == ("answer: nothing at 'a'",)


async def test_another_exit_code_is_a_crash_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILM_KEY", "key-98765")
    program = "import os, sys; sys.stderr.write('warming up\\n'); sys.exit('bad key ' + os.environ['KEY'])"
    with pytest.raises(AgentFailure) as error:
        await turn_of(agent(tmp_path, program, env={"KEY": "${FILM_KEY}"}))
    assert str(error.value) == "the command ended with exit code 1: bad key ***"
    assert error.value.kind == "agent_crash"


async def test_no_json_where_json_is_due(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError, match="printed no JSON"):
        await turn_of(agent(tmp_path, "print('hello')", output="json"))


async def test_endless_output_is_stopped(tmp_path: Path) -> None:
    program = "while True: print('x' * 1000)"
    with pytest.raises(AgentFailure, match="printed more than 100000 bytes"):
        await turn_of(agent(tmp_path, program, max_bytes=100_000))


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.timeout(60)
async def test_a_limit_kills_the_whole_process_group(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pid', 'w').write(str(child.pid))\ntime.sleep(600)\n"
    )
    with pytest.raises(AgentFailure) as error:
        await turn_of(agent(tmp_path, program, timeout_s=3))
    assert error.value.kind == "agent_timeout"
    child = int((tmp_path / "pid").read_text())
    while _alive(child):
        await asyncio.sleep(0.02)


@pytest.mark.timeout(60)
async def test_a_child_that_keeps_the_output_open_does_not_hold_the_answer(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\nprint('SELECT 1', flush=True)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    turn = await turn_of(agent(tmp_path, program))
    assert turn.candidate_sql == "SELECT 1\n"


async def test_one_process_answers_line_by_line(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines")
    answers = [asked.read(await asked.ask(Ask(question=f"q{n}", request_id=f"r{n}"))).answer or "" for n in range(3)]
    assert [answer.split()[0] for answer in answers] == ["q0", "q1", "q2"]
    assert len({answer.split()[1] for answer in answers}) == 1
    await asked.close()
    assert not _alive(int(answers[0].split()[1]))


async def test_a_process_that_dies_is_started_again(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines")
    with pytest.raises(AgentFailure, match="exit code 1: out of memory"):
        await asked.ask(Ask(question="die", request_id="1"))
    assert (asked.read(await asked.ask(Ask(question="again", request_id="2"))).answer or "").startswith("again")
    await asked.close()


async def test_a_late_process_is_replaced(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines", timeout_s=2)
    with pytest.raises(AgentFailure) as error:
        await asked.ask(Ask(question="hang", request_id="1"))
    assert error.value.kind == "agent_timeout"
    assert (asked.read(await asked.ask(Ask(question="go", request_id="2"))).answer or "").startswith("go")
    await asked.close()


async def test_a_process_that_died_between_questions_is_no_ones_failure(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines")
    pid = int((asked.read(await asked.ask(Ask(question="q", request_id="1"))).answer or "").split()[1])
    os.kill(pid, 9)
    for _ in range(200):
        if not _alive(pid):
            break
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert (asked.read(await asked.ask(Ask(question="r", request_id="2"))).answer or "").startswith("r ")
    await asked.close()


async def test_several_processes_share_the_questions(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines", processes=2)
    asks = [asked.ask(Ask(question=f"q{n}", request_id=f"r{n}")) for n in range(6)]
    answers = [asked.read(payload).answer or "" for payload in await asyncio.gather(*asks)]
    assert [answer.split()[0] for answer in answers] == [f"q{n}" for n in range(6)]
    assert 1 <= len({answer.split()[1] for answer in answers}) <= 2
    await asked.close()


async def test_a_line_longer_than_allowed(tmp_path: Path) -> None:
    asked = agent(tmp_path, LINES, protocol="lines", max_bytes=1000)
    with pytest.raises(AgentFailure, match="a line of more than 1000 bytes"):
        await asked.ask(Ask(question="flood", request_id="1"))
    await asked.close()


def test_placeholders_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'question'"):
        agent(tmp_path, ECHO, command=[sys.executable, "{qestion}"])
