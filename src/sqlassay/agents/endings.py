"""What do exceptions and finish reasons say about how a turn ended?"""

from __future__ import annotations

from sqlassay.agents.messages import Signal
from sqlassay.records.case import Status
from sqlassay.records.turn import StatusSource, TurnError, TurnErrorKind

_BUDGET = frozenset(
    [
        "GraphRecursionError",
        "MaxTurnsExceeded",
        "UsageLimitExceeded",
        "AgentMaxStepsError",
        "ModelCallLimitExceededError",
        "ToolCallLimitExceededError",
        "MaxIterationsError",
        "MaxIterationsReached",
        "MaxStepsExceeded",
        "RunawayAgentError",
        "ConcurrencyLimitExceeded",
    ]
)
_REFUSED = frozenset(
    [
        "ModelRefusalError",
        "ContentFilterError",
        "ContentFilterFinishReasonError",
        "RefusalError",
        "OpenAIRefusalError",
        "InputGuardrailTripwireTriggered",
        "OutputGuardrailTripwireTriggered",
        "PIIDetectionError",
    ]
)
_TIMED_OUT = frozenset(
    [
        "TimeoutError",
        "APITimeoutError",
        "ReadTimeout",
        "ConnectTimeout",
        "TimeoutExpired",
        "WorkflowTimeoutError",
        "DeadlineExceeded",
        "CancelledError",
    ]
)
_REFUSED_REASONS = frozenset(
    [
        "content_filter",
        "refusal",
        "safety",
        "prohibited_content",
        "blocklist",
        "recitation",
        "spii",
        "guardrail_intervened",
        "content_filtered",
        "image_safety",
    ]
)
_CUT_REASONS = frozenset(["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "token_limit"])


def of_exception(name: str, message: str = "") -> tuple[Signal, TurnError | None]:
    """The status of a run that ended in an exception, by the exception's class name.

    >>> of_exception("langgraph.errors.GraphRecursionError")[0].status.value
    'BUDGET_EXHAUSTED'
    """
    short = name.rsplit(".", 1)[-1]
    if short in _BUDGET:
        return Signal(status=Status.BUDGET_EXHAUSTED, source=StatusSource.EXCEPTION), None
    if short in _REFUSED:
        return Signal(status=Status.UNSUPPORTED, source=StatusSource.EXCEPTION), None
    kind = TurnErrorKind.AGENT_TIMEOUT if short in _TIMED_OUT else TurnErrorKind.AGENT_CRASH
    text = f"{short}: {message}" if message else short
    return Signal(status=Status.ERROR, source=StatusSource.EXCEPTION), TurnError(kind=kind, message=text[:2_000])


def of_finish_reason(reason: str | None) -> Signal | None:
    """A refusal where the model's finish reason is one, else None.

    >>> of_finish_reason("content_filter").status.value, of_finish_reason("stop")
    ('UNSUPPORTED', None)
    """
    if reason is not None and reason.lower() in _REFUSED_REASONS:
        return Signal(status=Status.UNSUPPORTED, source=StatusSource.FINISH_REASON)
    return None


def is_cut(reason: str | None) -> bool:
    """Whether a finish reason says that the text was cut by a token limit."""
    return reason is not None and reason.lower() in _CUT_REASONS


ANSWER_CUT = "answer cut by length"
