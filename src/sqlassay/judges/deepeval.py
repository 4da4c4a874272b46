"""What does a model think of the wording of an answer? Asked through DeepEval's metrics."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlassay.errors import Culprit, Fault, MissingExtra, capture
from sqlassay.judges.base import CONTEXTUAL_RELEVANCE, CORRECTNESS, FAITHFULNESS, Judge, Material
from sqlassay.judges.chat import Chat, Endpoint
from sqlassay.records.opinion import Opinion

_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "ERROR_REPORTING": "0",
}
"""Set before DeepEval is imported: it reports to its makers and reads files of the folder otherwise."""

_STEPS = [
    "Compare the facts in the actual output (names, numbers, dates, whether there are any) with the expected output.",
    "Another wording, order, rounding or more detail is no fault; a wrong, missing or contradicting fact is.",
]


def build(endpoint: Endpoint, *, metrics: tuple[str, ...]) -> Judge:
    """A judge that asks DeepEval's metrics of the model at `endpoint`.

    Raises:
        MissingExtra: DeepEval is not installed.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import deepeval.metrics  # noqa: F401
    except ImportError:
        raise MissingExtra("the judge 'deepeval'", needs="judge") from None
    return DeepEvalJudge(endpoint, metrics=metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """How one metric is asked: needs context or an expected answer, and how DeepEval's object is made."""

    make: Callable[[Any], Any]
    context: tuple[str, ...]


class DeepEvalJudge:
    """Answer correctness by G-Eval's steps against `expected_answer`; contextual relevance of the schema to the
    question; faithfulness of the wording to the result."""

    def __init__(self, endpoint: Endpoint, *, metrics: tuple[str, ...]) -> None:
        self._endpoint, self._metrics = endpoint, metrics

    async def opinions(self, material: Material) -> tuple[Opinion, ...]:
        """One opinion per metric that the material allows."""
        found = []
        for metric in self._metrics:
            asking = _asking(metric, material)
            if asking is not None:
                found.append(await self._opinion(metric, asking, material))
        return tuple(found)

    async def close(self) -> None:
        """Nothing stays open."""

    async def _opinion(self, metric: str, asking: _Asking, material: Material) -> Opinion:
        chat = Chat(self._endpoint)
        task = asyncio.ensure_future(_measure(chat, asking, material))
        await asyncio.wait([task])
        outcome = capture(task.result, culprit=Culprit.US)
        if isinstance(outcome, Fault):
            said = f"{outcome.type}: {outcome.message}"
            return self._said(metric, chat, score=None, error=said[:500])
        score, reason = outcome
        if score is None or not 0 <= score <= 1:
            return self._said(metric, chat, score=None, error=f"no score between 0 and 1: {score!r}")
        return self._said(metric, chat, score=score, reason=reason)

    def _said(
        self, metric: str, chat: Chat, *, score: float | None, reason: str = "", error: str | None = None
    ) -> Opinion:
        return Opinion(
            metric=metric,
            score=score,
            reason=reason,
            model=self._endpoint.model,
            prompt_hash=chat.prompt_hash(),
            error=error,
        )


def _asking(metric: str, material: Material) -> _Asking | None:
    from deepeval import metrics

    if metric == CORRECTNESS and material.expected_answer:
        return _Asking(make=_correctness, context=())
    if metric == CONTEXTUAL_RELEVANCE and material.context:
        return _Asking(
            make=lambda model: metrics.ContextualRelevancyMetric(model=model, async_mode=True), context=material.context
        )
    if metric == FAITHFULNESS and material.result is not None:
        return _Asking(
            make=lambda model: metrics.FaithfulnessMetric(model=model, async_mode=True), context=(material.result,)
        )
    return None


def _correctness(model: Any) -> Any:
    from deepeval.metrics import GEval
    from deepeval.test_case import SingleTurnParams

    return GEval(
        name="Answer correctness",
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT],
        evaluation_steps=_STEPS,
        model=model,
        async_mode=True,
    )


async def _measure(chat: Chat, asking: _Asking, material: Material) -> tuple[float | None, str]:
    from deepeval.test_case import LLMTestCase

    asked = asking.make(_model(chat))
    case = LLMTestCase(
        input=material.question,
        actual_output=material.answer,
        expected_output=material.expected_answer,
        retrieval_context=list(asking.context) or None,
    )
    await asked.a_measure(case, _show_indicator=False)
    return (None if asked.score is None else float(asked.score)), str(asked.reason or "")


def _model(chat: Chat) -> Any:
    """The endpoint as one of DeepEval's models; the base class exists only once DeepEval is imported."""
    from deepeval.models import DeepEvalBaseLLM

    class Model(DeepEvalBaseLLM):  # type: ignore[misc]
        def load_model(self, *_args: Any, **_keywords: Any) -> Any:
            return None

        def generate(self, prompt: str) -> str:
            return asyncio.run(chat.complete(prompt))

        async def a_generate(self, prompt: str) -> str:
            return await chat.complete(prompt)

        def get_model_name(self, *_args: Any, **_keywords: Any) -> str:
            return chat.endpoint.model

    return Model(chat.endpoint.model)
