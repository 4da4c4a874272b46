"""Judges: what they are shown, how their model is reached, and that what they say is recorded and never raised."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from sqlassay.errors import ConfigError, MissingExtra
from sqlassay.judges.base import material_of, table_text
from sqlassay.judges.chat import Chat, Endpoint, ModelFailed
from sqlassay.judges.registry import build
from sqlassay.records.case import Case
from sqlassay.records.relation import Column, Relation
from sqlassay.records.turn import OfferedTable, Retrieval, Turn

if TYPE_CHECKING:
    from tests.judges.conftest import Model


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


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deepeval", None)
    with pytest.raises(MissingExtra, match="judge"):
        build({"model": "m", "base_url": "http://h"})


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
