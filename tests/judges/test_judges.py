"""Judges: what they are shown, how their model is reached, and that what they say is recorded and never raised."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sqlassay.errors import ConfigError, MissingExtra
from sqlassay.judges.base import CONTEXTUAL_RELEVANCE, CORRECTNESS, FAITHFULNESS, Material, material_of, table_text
from sqlassay.judges.chat import Chat, Endpoint, ModelFailed
from sqlassay.judges.registry import build
from sqlassay.records.case import Case
from sqlassay.records.relation import Column, Relation
from sqlassay.records.turn import OfferedTable, Retrieval, Turn

Say = Callable[[str], str | int]


class Model:
    """A local server that speaks chat completions; `say` turns a prompt into text, or into an error's status."""

    def __init__(self) -> None:
        self.say: Say = lambda _: "ok"
        self.prompts: list[str] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][0]["content"]
                outer.prompts.append(prompt)
                outer.headers.append(dict(self.headers))
                said = outer.say(prompt)
                data = b""
                if isinstance(said, str):
                    data = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
                self.send_response(200 if isinstance(said, str) else said)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.http.shutdown()
    made.http.server_close()


def chat(model: Model) -> Chat:
    return Chat(Endpoint(base_url=model.url, model="scripted", api_key="key-1234"))


async def test_a_prompt_is_sent_with_the_key_and_hashed(model: Model) -> None:
    one, other = chat(model), chat(model)
    assert await one.complete("a") == "ok"
    await one.complete("b")
    await other.complete("b")
    await other.complete("a")
    assert one.prompt_hash() == other.prompt_hash() != chat(model).prompt_hash()
    assert model.headers[0]["Authorization"] == "Bearer key-1234"


async def test_a_passing_trouble_is_tried_again_and_a_lasting_one_told(model: Model) -> None:
    replies: list[str | int] = [503, "fine"]
    model.say = lambda _: replies.pop(0)
    assert await chat(model).complete("a") == "fine"
    model.say = lambda _: 401
    with pytest.raises(ModelFailed, match="status 401") as error:
        await chat(model).complete("a")
    assert "key-1234" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "m", "base_url": "http://h"} | {"modle": "x"}, "did you mean 'model'?"),
        ({"base_url": "http://h"}, "judge.model is missing"),
        ({"model": "m"}, "judge.base_url is missing"),
        ({"model": "m", "base_url": "h"}, "expected an http:// or https:// address"),
        ({"model": "m", "base_url": "http://h", "api_key": "${NOT_SET_ANYWHERE}"}, "NOT_SET_ANYWHERE is not set"),
        ({"model": "m", "base_url": "http://h", "metrics": ["faithfullness"]}, "did you mean 'answer.faithfulness'?"),
        ({"model": "m", "base_url": "http://h", "kind": "ragas"}, "unknown kind 'ragas'"),
        ({"model": "m", "base_url": "http://h", "timeout_s": 0}, "expected seconds above 0"),
    ],
)
def test_a_wrong_configuration_says_what(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        build(settings)
    assert message in str(error.value)


def test_the_extra_is_named_where_it_is_missing() -> None:
    try:
        import deepeval  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="judge"):
            build({"model": "m", "base_url": "http://h"})
    else:
        pytest.skip("DeepEval is installed")


def test_what_a_judge_is_shown() -> None:
    case = Case(id="a", question="Who?", gold_sql=("SELECT secret",), expected_answer="France")
    offered = Retrieval(offered=(OfferedTable(name="invoice", columns=("a", "b")),))
    result = Relation(columns=(Column(name="c"), Column(name="n")), rows=[("France", None)] * 120)
    shown = material_of(case, Turn(answer="France.", retrieval=offered), result=result)
    assert shown is not None
    assert (shown.expected_answer, shown.context) == ("France", ("invoice(a, b)",))
    assert shown.result is not None
    assert shown.result.splitlines()[:2] == ["c | n", "France | NULL"]
    assert shown.result.endswith("(120 rows, the first 100 shown)")
    assert "secret" not in repr(shown)
    assert material_of(case, Turn(answer=" "), result=None) is None


def test_a_long_cell_is_cut() -> None:
    assert len(table_text(Relation(columns=(Column(name="c"),), rows=[("x" * 10_000,)]))) < 300


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


MATERIAL = Material(
    question="Who spent the most?",
    answer="France spent 667.62.",
    expected_answer="France",
    context=("invoice(country, total)",),
    result="country | total\nFrance | 667.62",
)


def test_opinions_through_deepeval(model: Model) -> None:
    pytest.importorskip("deepeval", reason="DeepEval is not installed (extra judge)")
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
    pytest.importorskip("deepeval", reason="DeepEval is not installed (extra judge)")
    model.say = lambda _: 401
    judge = build({"model": "scripted", "base_url": model.url, "metrics": ["correctness"]})
    (opinion,) = asyncio.run(judge.opinions(MATERIAL))
    assert opinion.score is None
    assert "status 401" in (opinion.error or "")


def test_only_what_the_material_allows_is_asked(model: Model) -> None:
    pytest.importorskip("deepeval", reason="DeepEval is not installed (extra judge)")
    judge = build({"model": "scripted", "base_url": model.url})
    assert asyncio.run(judge.opinions(Material(question="?", answer="x"))) == ()
    assert model.prompts == []
