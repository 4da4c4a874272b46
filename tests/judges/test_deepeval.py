"""DeepEval's metrics over a scripted model. It brings plugins into every pytest run and holds other packages back, so
that it is installed, and tested, in an environment of its own: `make test-judge`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlassay.judges.base import CONTEXTUAL_RELEVANCE, CORRECTNESS, FAITHFULNESS, Material
from sqlassay.judges.registry import build

if TYPE_CHECKING:
    from tests.judges.conftest import Model

pytest.importorskip("deepeval", reason="DeepEval is installed by make test-judge, in an environment of its own")

MATERIAL = Material(
    question="Who spent the most?",
    answer="France spent 667.62.",
    expected_answer="France",
    context=("invoice(country, total)",),
    result="country | total\nFrance | 667.62",
)


def scripted(prompt: str) -> str:
    """Answers by the kind of DeepEval's prompt: two claims or statements, of which one holds; a score of 8 of 10."""
    if "indicate whether each statement" in prompt:
        return json.dumps({"verdicts": [{"verdict": "yes", "statement": "x"}, {"verdict": "no", "statement": "y"}]})
    if "indicate whether EACH claim" in prompt:
        return json.dumps({"verdicts": [{"verdict": "yes"}, {"verdict": "no", "reason": "wrong"}]})
    if '"score"' in prompt and "evaluation steps" in prompt.lower():
        return json.dumps({"score": 8, "reason": "the same country"})
    if "truths" in prompt and "undisputed" in prompt:
        return json.dumps({"truths": ["France spent 667.62"], "claims": ["France spent", "most"]})
    return json.dumps({"reason": "because"})


def test_opinions_through_deepeval(model: Model) -> None:
    model.say = scripted
    judge = build({"model": "scripted", "base_url": model.url})
    opinions = {opinion.metric: opinion for opinion in asyncio.run(judge.opinions(MATERIAL))}
    assert {metric: opinion.score for metric, opinion in opinions.items()} == {
        CORRECTNESS: 0.8,
        CONTEXTUAL_RELEVANCE: 0.5,
        FAITHFULNESS: 0.5,
    }
    assert all(opinion.model == "scripted" and len(opinion.prompt_hash) == 16 for opinion in opinions.values())


def test_a_judge_that_fails_says_so(model: Model) -> None:
    model.say = lambda _: 401
    judge = build({"model": "scripted", "base_url": model.url, "metrics": ["correctness"]})
    (opinion,) = asyncio.run(judge.opinions(MATERIAL))
    assert opinion.score is None
    assert "status 401" in (opinion.error or "")


def test_only_what_the_material_allows_is_asked(model: Model) -> None:
    judge = build({"model": "scripted", "base_url": model.url})
    assert asyncio.run(judge.opinions(Material(question="?", answer="x"))) == ()
    assert model.prompts == []


WATCHED = """
import asyncio, os, sys

TOLD = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen")
told = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.addaudithook(lambda event, args: os.write(told, f"{event} {args[-1]}\\n".encode()) if event in TOLD else None)

from sqlassay.judges.base import Material
from sqlassay.judges.registry import build

judge = build({"model": "scripted", "base_url": sys.argv[2], "metrics": ["correctness", "faithfulness"]})
material = Material(question="Who?", answer="France.", expected_answer="France", result="country\\nFrance")
print([opinion.score for opinion in asyncio.run(judge.opinions(material))])
"""


def test_nothing_leaves_the_machine_and_nothing_is_written(model: Model, tmp_path: Path) -> None:
    """From the import to the last thing at exit; the process is told nothing that would keep DeepEval quiet."""
    model.say = scripted
    host, port = model.url.removeprefix("http://").removesuffix("/v1").split(":")
    quiet = ("DEEPEVAL_", "ERROR_REPORTING", "CONFIDENT_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(quiet)}
    home = tmp_path / "home"
    home.mkdir()
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(log), model.url],
        env={**environment, "HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[0.8, 0.5]\n"
    assert set(log.read_text().splitlines()) == {f"socket.connect {(host, int(port))}"}
    assert list(home.rglob("*")) == []
