"""Why did this case fail? One cause per failing or unscored case, from a closed list tried in a fixed order.

Specification section 6. A passing case has no cause; an unscored case (the harness's, the adapter's or the gold's
fault) has one and counts neither for nor against the agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlassay.records.case import Status
from sqlassay.records.execution import ErrorKind, NotRun, Rows, error_of
from sqlassay.records.measurement import Bucket, ShapeLabel
from sqlassay.records.query import Understanding
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Query, Role, TurnErrorKind
from sqlassay.records.value import Broken, Reading, Reason, Undefined

_LIMITS = re.compile(r"\b(?:limit|first|next|top)\s*\(?\s*(\d+)\b", re.IGNORECASE)
_ANSWERING = frozenset({Role.QUERY, Role.WRITE})
_ENDED = {
    Status.CLARIFICATION: "asked back",
    Status.UNSUPPORTED: "declined",
    Status.FALLBACK: "fell back",
    Status.BUDGET_EXHAUSTED: "ran out of steps",
    Status.ERROR: "ended in an error",
    Status.SUCCESS: "answered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the causes are decided from: the trial, the chosen gold side, the readings and the shape label."""

    trial: Trial
    gold: Side | None
    metrics: Mapping[str, Reading]
    shape: ShapeLabel | None

    def value(self, name: str) -> float | None:
        reading = self.metrics.get(name)
        return None if reading is None or isinstance(reading, (Undefined, Broken)) else reading.value

    @property
    def has_gold(self) -> bool:
        return bool(self.trial.case.gold_sql)

    @property
    def has_candidate(self) -> bool:
        """Whether there is SQL to judge; an answer slot that holds prose is none."""
        return not (isinstance(self.trial.candidate.execution, NotRun) and self.trial.candidate.sql is None)

    @property
    def expects_answer(self) -> bool:
        return not self.trial.case.expected_status.is_refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`passed` is None where the case is unscored; `bucket` and `cause` are None where it passes."""

    passed: bool | None
    bucket: Bucket | None = None
    cause: str | None = None


Rule = Callable[[Facts], str | None]
"""The cause in words when the row applies, None when it does not."""


def decide(facts: Facts) -> Outcome:
    """The outcome of one case: unscored causes first, then pass, then the first cause that applies."""
    for bucket, rule in UNSCORED.items():
        cause = rule(facts)
        if cause is not None:
            return Outcome(passed=None, bucket=bucket, cause=cause)
    if passes(facts):
        return Outcome(passed=True)
    for bucket, rule in FAILING.items():
        cause = rule(facts)
        if cause is not None:
            return Outcome(passed=False, bucket=bucket, cause=cause)
    return Outcome(passed=False, bucket=Bucket.OTHER_DIFFERENCE, cause=_other_difference(facts))


def _other_difference(facts: Facts) -> str:
    if facts.has_candidate:
        return "The results differ in a way no cause covers."
    return "The record cannot show which SQL the agent executed, so there is nothing to compare; see the turn's gaps."


def passes(facts: Facts) -> bool:
    """Right terminal status, and `execution.exact` 1 where there is gold SQL; an expected SUCCESS without gold SQL
    needs a candidate that ran here."""
    case = facts.trial.case
    if facts.trial.turn.status != case.expected_status:
        return False
    if facts.has_gold:
        return facts.value("execution.exact") == 1
    if case.expected_status is Status.SUCCESS:
        return isinstance(facts.trial.candidate.execution, Rows)
    return True


def fault_of(trial: Trial) -> str | None:
    """What the harness, its connection or the adapter did wrong, in words, so that no metric may be read as the
    agent's; None when both sides were carried out."""
    return _lost(trial) or _nothing_read(trial)


def _lost(trial: Trial) -> str | None:
    if trial.fault is not None:
        return f"The harness could not carry the case out: {trial.fault}"
    error = trial.turn.error
    if error is not None and error.kind is TurnErrorKind.TRANSPORT:
        return f"The agent could not be reached: {error.message}"
    for name, side in _sides(trial):
        failed = error_of(side.execution)
        if failed is not None and failed[0] is ErrorKind.CONNECTION:
            return f"The connection was lost while the {name} ran: {failed[1]}"
    return None


def _harness_error(facts: Facts) -> str | None:
    lost = _lost(facts.trial)
    if lost is not None:
        return lost
    for name, reading in facts.metrics.items():
        if isinstance(reading, Broken):
            return f"Scoring failed in {name}: {reading.error}"
    if facts.metrics.get("execution.exact") == Undefined(reason=Reason.TRUNCATED):
        return "A limit of ours cut a result, so the verdict cannot be known; raise max_rows or max_bytes."
    if facts.metrics.get("execution.exact") == Undefined(reason=Reason.NOT_RECORDED):
        return "A result was kept only in part, so the verdict cannot be made again from it; score with --rerun."
    unknown = facts.metrics.get("execution.exact") == Undefined(reason=Reason.HARNESS_FAILED)
    if unknown and _nothing_read(facts.trial) is None:
        return "The harness failed before a verdict could be made."
    return None


def _extractor_empty(facts: Facts) -> str | None:
    return _nothing_read(facts.trial)


def _nothing_read(trial: Trial) -> str | None:
    turn = trial.turn
    if turn.error is not None and turn.error.kind is not TurnErrorKind.EXTRACTION:
        return None
    if turn.queries or turn.candidate_sql or (turn.answer or "").strip() or turn.status is not None:
        return None
    if turn.error is not None:
        return f"What the agent returned could not be read: {turn.error.message}"
    return "The agent answered, but no query, answer or status was found in what it returned; check the adapter."


def _gold_error(facts: Facts) -> str | None:
    golds = facts.trial.golds
    if not facts.has_gold:
        return None
    if not any(isinstance(side.execution, Rows) for side in golds):
        return f"No gold SQL runs: {_first_error(golds[0]) if golds else 'none was executed'}"
    if facts.metrics.get("execution.exact") == Undefined(reason=Reason.GOLD_FAILED):
        return "The gold result does not fit the shape that the case asks for, so no verdict can be made."
    return None


def _agent_error(facts: Facts) -> str | None:
    turn = facts.trial.turn
    error = turn.error
    if error is not None and error.kind is TurnErrorKind.AGENT_TIMEOUT:
        return f"The agent ran out of time: {error.message}"
    if error is not None and error.kind is TurnErrorKind.AGENT_CRASH:
        return f"The agent crashed: {error.message}"
    if turn.status is Status.ERROR:
        said = error.message if error is not None else (turn.answer or "").strip()
        return "The agent ended in an error" + (f": {_short(said)}" if said else ".")
    return None


def _answered_unanswerable(facts: Facts) -> str | None:
    if not facts.expects_answer and facts.trial.turn.status is Status.SUCCESS:
        expected = facts.trial.case.expected_status.value
        return f"The question cannot be answered ({expected} was due), and the agent answered it."
    return None


def _wrong_refusal(facts: Facts) -> str | None:
    status = facts.trial.turn.status
    if not facts.expects_answer and status is not None and status.is_refusal:
        return f"Refusing was right, but the agent {_ENDED[status]} where {facts.trial.case.expected_status} was due."
    return None


def _step_budget(facts: Facts) -> str | None:
    if facts.trial.turn.status is Status.BUDGET_EXHAUSTED:
        steps = facts.trial.turn.usage.steps
        return "The agent ran out of steps" + (f" after {steps}." if steps is not None else ".")
    return None


def _refused(status: Status, words: str) -> Rule:
    def rule(facts: Facts) -> str | None:
        return words if facts.expects_answer and facts.trial.turn.status is status else None

    return rule


def _no_query_hallucination(facts: Facts) -> str | None:
    turn = facts.trial.turn
    if turn.status is not Status.SUCCESS or facts.has_candidate or not turn.statements_complete:
        return None
    if any(query.executed is not False for query in turn.queries):
        return None
    return "The agent says it succeeded and gave no SQL; nothing it did can have reached the database."


def _query_never_ran(facts: Facts) -> str | None:
    queries = facts.trial.turn.queries
    if not facts.trial.turn.statements_complete:
        return None
    if queries and all(query.executed is False for query in queries):
        return "The agent wrote SQL and executed none of it."
    if facts.has_candidate:
        return None
    sent = [query for query in queries if query.executed is not False]
    writes = [query for query in sent if query.role is Role.WRITE]
    # Writes that all failed were tried in place of a query, and `sql_error` says so.
    if any(query.role is Role.QUERY for query in sent) or (writes and _all_failed(writes)):
        return None
    return "The agent executed no query that could answer the question."


def _sql_error(facts: Facts) -> str | None:
    failed = error_of(facts.trial.candidate.execution)
    if failed is not None:
        return f"The answer query fails here ({failed[0]}): {_short(failed[1])}"
    ran = [q for q in facts.trial.turn.queries if q.executed is True and q.role in _ANSWERING]
    if ran and _all_failed(ran):
        return f"Every statement that the agent executed failed{_last_error(ran)}"
    asked = [q for q in ran if q.role is Role.QUERY]
    if asked and _all_failed(asked) and not facts.has_candidate:
        return (
            f"Every query that the agent executed failed, and only statements that write succeeded{_last_error(asked)}"
        )
    return None


def _all_failed(queries: Sequence[Query]) -> bool:
    return all(query.succeeded is False for query in queries)


def _last_error(queries: Sequence[Query]) -> str:
    error = queries[-1].error
    return f": {_short(error)}" if error else "."


def _truncated_correct(facts: Facts) -> str | None:
    execution = facts.trial.candidate.execution
    if not isinstance(execution, Rows):
        return None
    height = execution.relation.height
    cap = next((cap for cap in known_caps(facts.trial) if cap == height), None)
    if cap is None or not _all_right(facts):
        return None
    return f"Every row is right, but a cap of {cap} rows cut the answer."


def _all_right(facts: Facts) -> bool:
    """Whether what the candidate has is right: all its rows are the gold's, only some are missing."""
    gold = facts.gold.execution if facts.gold is not None else None
    candidate = facts.trial.candidate.execution
    if not isinstance(gold, Rows) or not isinstance(candidate, Rows):
        return False
    if gold.relation.height <= candidate.relation.height:
        return False
    if facts.trial.case.compare_on.kind in ("id_set", "ranking"):
        return facts.value("execution.id_precision") == 1
    if facts.trial.case.compare_on.kind == "groups":
        return facts.value("execution.group_precision") == 1 and facts.value("execution.total_accuracy") in (1, None)
    if facts.shape in (ShapeLabel.NOTHING_ALIGNED, ShapeLabel.MISSING_COLUMNS):
        return False
    return facts.value("output.cells.precision") == 1 and facts.value("output.columns.precision") == 1


def _shape(label: ShapeLabel) -> Rule:
    def rule(facts: Facts) -> str | None:
        return _SENTENCES[label](facts) if facts.shape is label else None

    return rule


def _rows_said(facts: Facts) -> str:
    gold = facts.gold.execution if facts.gold is not None else None
    candidate = facts.trial.candidate.execution
    if isinstance(gold, Rows) and isinstance(candidate, Rows):
        count = candidate.relation.height
        return f"{count} {'row' if count == 1 else 'rows'} against the gold's {gold.relation.height}"
    return "its rows"


_SENTENCES: Mapping[ShapeLabel, Callable[[Facts], str]] = {
    ShapeLabel.NOTHING_ALIGNED: lambda _: "No column of the answer corresponds to a column of the gold result.",
    ShapeLabel.MISSING_COLUMNS: lambda _: "The answer lacks a column of the gold result.",
    ShapeLabel.WRONG_ORDER: lambda _: "The rows are right, but in another order than the question asks for.",
    ShapeLabel.TOO_MANY_ROWS: lambda facts: f"The answer has too many rows: {_rows_said(facts)}.",
    ShapeLabel.TOO_FEW_ROWS: lambda facts: f"The answer has too few rows: {_rows_said(facts)}.",
    ShapeLabel.WRONG_VALUES: lambda _: "As many rows and all columns as in the gold result, but other values in them.",
    ShapeLabel.EXTRA_COLUMNS: lambda _: "The answer has columns that the gold result does not have.",
}

UNSCORED: Mapping[Bucket, Rule] = {
    Bucket.HARNESS_ERROR: _harness_error,
    Bucket.EXTRACTOR_EMPTY: _extractor_empty,
    Bucket.GOLD_ERROR: _gold_error,
}

FAILING: Mapping[Bucket, Rule] = {
    Bucket.AGENT_ERROR: _agent_error,
    Bucket.ANSWERED_UNANSWERABLE: _answered_unanswerable,
    Bucket.WRONG_REFUSAL: _wrong_refusal,
    Bucket.STEP_BUDGET: _step_budget,
    Bucket.ASKED_CLARIFICATION: _refused(
        Status.CLARIFICATION, "The question can be answered, and the agent asked back."
    ),
    Bucket.DECLINED: _refused(Status.UNSUPPORTED, "The question can be answered, and the agent declined."),
    Bucket.FELL_BACK: _refused(Status.FALLBACK, "The question can be answered, and the agent fell back."),
    Bucket.NO_QUERY_HALLUCINATION: _no_query_hallucination,
    Bucket.QUERY_NEVER_RAN: _query_never_ran,
    Bucket.SQL_ERROR: _sql_error,
    Bucket.TRUNCATED_CORRECT: _truncated_correct,
    Bucket.NOTHING_ALIGNED: _shape(ShapeLabel.NOTHING_ALIGNED),
    Bucket.MISSING_COLUMNS: _shape(ShapeLabel.MISSING_COLUMNS),
    Bucket.WRONG_ORDER: _shape(ShapeLabel.WRONG_ORDER),
    Bucket.TOO_MANY_ROWS: _shape(ShapeLabel.TOO_MANY_ROWS),
    Bucket.TOO_FEW_ROWS: _shape(ShapeLabel.TOO_FEW_ROWS),
    Bucket.WRONG_VALUES: _shape(ShapeLabel.WRONG_VALUES),
    Bucket.EXTRA_COLUMNS: _shape(ShapeLabel.EXTRA_COLUMNS),
}


def known_caps(trial: Trial) -> tuple[int, ...]:
    """Every row cap that the turn or the query shows: the shown table's, what the agent saw, a LIMIT a tool added.
    A table that is said to be cut, without the cap, was cut at as many rows as it has."""
    caps: list[int] = []
    returned = trial.turn.returned
    if returned is not None and returned.row_cap is not None:
        caps.append(returned.row_cap)
    elif returned is not None and returned.truncated and returned.rows is not None:
        caps.append(len(returned.rows))
    for query in trial.turn.queries:
        seen = query.seen
        if seen is not None and seen.truncated and seen.row_cap is not None:
            caps.append(seen.row_cap)
        elif seen is not None and seen.truncated and isinstance(seen.content, (list, tuple)):
            caps.append(len(seen.content))
    limit = _added_limit(trial)
    if limit is not None:
        caps.append(limit)
    return tuple(dict.fromkeys(caps))


def _added_limit(trial: Trial) -> int | None:
    """The LIMIT of the answer query where it is not the agent's: a tool added it, or made it smaller."""
    said = trial.candidate.comprehension
    sql = trial.turn.candidate_sql
    if not isinstance(said, Understanding) or said.ordering.limit is None or sql is None:
        return None
    changed = any(
        query.sql_written is not None
        and query.sql_written != query.sql
        and query.sql.strip() == sql.strip()
        and str(said.ordering.limit) not in _LIMITS.findall(query.sql_written)
        for query in trial.turn.queries
    )
    return said.ordering.limit if changed else None


def _sides(trial: Trial) -> list[tuple[str, Side]]:
    return [*(("gold SQL", side) for side in trial.golds), ("answer query", trial.candidate)]


def _first_error(side: Side) -> str:
    failed = error_of(side.execution)
    return "it was not executed" if failed is None else f"{failed[0]}: {_short(failed[1])}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"
