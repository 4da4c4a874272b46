"""What does each bucket, ceiling, reason and family mean, and what is there to do about it?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlassay.records.measurement import Bucket, ShapeLabel
from sqlassay.records.value import Ceiling, Reason

FAMILIES = ("outcome", "execution", "retrieval", "output", "component", "behaviour", "stages", "answer", "cost")
"""The order in which every report shows them."""

FAMILY_QUESTIONS = {
    "outcome": "Was the question dealt with rightly?",
    "execution": "Did the query run, and is it the same answer?",
    "retrieval": "Did the agent have the tables? Read this first when all else is low.",
    "output": "Is the information there, and is the data in it right?",
    "component": "Which part of the SQL differs?",
    "behaviour": "Was answering, asking or declining right?",
    "stages": "Where in the pipeline did it break first?",
    "answer": "Does the final text say what the data says?",
    "cost": "What did it take?",
}


FAMILY_HEADS = {
    "outcome": ("outcome.pass",),
    "execution": ("execution.executable", "execution.exact"),
    "retrieval": (
        "retrieval.in_turn.recall",
        "retrieval.in_turn.precision",
        "retrieval.direct.recall",
        "retrieval.direct.precision",
    ),
    "output": ("output.columns.recall", "output.cells.recall", "output.cells.precision"),
    "component": ("component.tables.recall", "component.joins.recall", "component.filters.recall"),
    "behaviour": ("behaviour.refusal_recall", "behaviour.refusal_precision", "behaviour.over_refusal"),
    "answer": ("answer.grounded_numbers", "answer.claims", "answer.schema_adherence"),
    "cost": ("cost.latency_s", "cost.cost_usd", "cost.tokens_in", "cost.steps"),
}
"""The metrics that say most about a family, for the first look; where none is measured, its first ones serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketWords:
    """A cause in words: a short title, what happened, and where to look first."""

    title: str
    meaning: str
    remedy: str


BUCKETS: dict[Bucket, BucketWords] = {
    Bucket.HARNESS_ERROR: BucketWords(
        title="Harness error",
        meaning="Scoring crashed, a connection was lost, the agent could not be reached or a limit of ours cut a side.",
        remedy="Fix the harness or its limits and run these cases again (--case-id); they say nothing of the agent.",
    ),
    Bucket.EXTRACTOR_EMPTY: BucketWords(
        title="Nothing extracted",
        meaning="The agent answered, but the adapter found neither query nor answer nor status in it.",
        remedy="Run `sqlassay doctor`: a renamed tool or field is the usual reason.",
    ),
    Bucket.GOLD_ERROR: BucketWords(
        title="Gold does not run",
        meaning="No gold query of the case runs on this database.",
        remedy="Run `sqlassay check` and mend the case; the agent is not to blame.",
    ),
    Bucket.AGENT_ERROR: BucketWords(
        title="Agent failed",
        meaning="The agent crashed, timed out or ended in an error.",
        remedy="Read the agent's own error in the case; look at its time-out and its error handling.",
    ),
    Bucket.ANSWERED_UNANSWERABLE: BucketWords(
        title="Answered the unanswerable",
        meaning="The question should have been refused or asked back, and was answered.",
        remedy="Teach the agent what the schema cannot say; check its intent stage.",
    ),
    Bucket.WRONG_REFUSAL: BucketWords(
        title="Wrong kind of refusal",
        meaning="Refusing was right, but it declined where it should ask, or the reverse.",
        remedy="Separate 'ambiguous' from 'not in this data' in the intent stage.",
    ),
    Bucket.STEP_BUDGET: BucketWords(
        title="Out of steps",
        meaning="The agent ran out of its step budget.",
        remedy="Look for loops of failing statements in the trail before raising the budget.",
    ),
    Bucket.ASKED_CLARIFICATION: BucketWords(
        title="Asked instead of answering",
        meaning="The question was clear enough to be answered.",
        remedy="Loosen the rule for asking back, or let the agent state its assumption.",
    ),
    Bucket.DECLINED: BucketWords(
        title="Declined",
        meaning="The agent called an answerable question unsupported.",
        remedy="Check retrieval first: an agent that never saw the tables is right to decline.",
    ),
    Bucket.FELL_BACK: BucketWords(
        title="Fell back",
        meaning="The agent gave its fallback answer to an answerable question.",
        remedy="Find which stage gave up; the stages table says where.",
    ),
    Bucket.NO_QUERY_HALLUCINATION: BucketWords(
        title="Answered without a query",
        meaning="It says SUCCESS, and neither has a query nor ran any statement: the answer is made up.",
        remedy="The gravest kind. Refuse answers that no executed statement stands behind.",
    ),
    Bucket.QUERY_NEVER_RAN: BucketWords(
        title="Query never ran",
        meaning="The agent executed none of its SQL, or nothing that reads an answer.",
        remedy="Check why the execution step was skipped: a failed validation, an approval, a lost tool call.",
    ),
    Bucket.SQL_ERROR: BucketWords(
        title="SQL error",
        meaning="Every executed query failed, or the answer query fails here.",
        remedy="Group by error kind: unknown names point to retrieval, syntax and functions to the dialect.",
    ),
    Bucket.TRUNCATED_CORRECT: BucketWords(
        title="Cut by a row cap",
        meaning="The rows are all right, and exactly as many as a known cap lets through.",
        remedy="Lift or page the cap, or tell the user that the table is cut.",
    ),
    Bucket.NOTHING_ALIGNED: BucketWords(
        title="Nothing aligned",
        meaning="No column of the answer corresponds to a column of the gold.",
        remedy="Usually the wrong table or the wrong question: compare the tables read.",
    ),
    Bucket.MISSING_COLUMNS: BucketWords(
        title="Missing columns",
        meaning="The answer lacks a column that was asked for.",
        remedy="Look at the SELECT list and at computed columns; a computation may be wrong rather than absent.",
    ),
    Bucket.WRONG_ORDER: BucketWords(
        title="Wrong order",
        meaning="The right rows in another order.",
        remedy="Compare ORDER BY keys and directions.",
    ),
    Bucket.TOO_MANY_ROWS: BucketWords(
        title="Too many rows",
        meaning="The rows asked for are there, among others: a join fans out, a filter or a DISTINCT is missing.",
        remedy="Compare filters and joins; check the join's keys for one-to-many relations.",
    ),
    Bucket.TOO_FEW_ROWS: BucketWords(
        title="Too few rows",
        meaning="Rows are lost: a filter too narrow, an inner join that drops rows, a LIMIT.",
        remedy="Compare filters, the kind of join and LIMIT.",
    ),
    Bucket.WRONG_VALUES: BucketWords(
        title="Wrong values",
        meaning="As many rows as expected, with other values in them.",
        remedy="Compare aggregations, filters and the columns under each expression.",
    ),
    Bucket.EXTRA_COLUMNS: BucketWords(
        title="Extra columns",
        meaning="All that was asked for is right, with columns nobody asked for.",
        remedy="Often harmless to a reader: `execution.exact_with_extra` counts these as right.",
    ),
    Bucket.OTHER_DIFFERENCE: BucketWords(
        title="Other difference",
        meaning="The results differ and no rule says how, or the record cannot show what the agent executed.",
        remedy="It should be zero: close the turn's gaps (name the tool, record its connection), else report it.",
    ),
}

SHAPES: dict[ShapeLabel, str] = {
    ShapeLabel.EXACT: "the same answer",
    ShapeLabel.NOT_RUN: "no result to compare: there was no query or it failed",
    ShapeLabel.NOTHING_ALIGNED: "no column corresponds: another table or another question",
    ShapeLabel.MISSING_COLUMNS: "a column is missing or computed otherwise",
    ShapeLabel.WRONG_ORDER: "the right rows in another order",
    ShapeLabel.TOO_MANY_ROWS: "too many rows: a join fans out, or a filter is missing",
    ShapeLabel.TOO_FEW_ROWS: "too few rows: a filter or an inner join drops some",
    ShapeLabel.WRONG_VALUES: "the right number of rows with other values",
    ShapeLabel.EXTRA_COLUMNS: "all that was asked for, and columns nobody asked for",
}

CEILINGS: dict[Ceiling, str] = {
    Ceiling.GOLD_ERROR: "no gold query ran",
    Ceiling.TRUNCATED: "a limit of ours cut a side, so the verdict is undefined",
    Ceiling.TRUNCATED_SHOWN: "right, but the table shown to the user was cut",
    Ceiling.NO_ROW_KEY: "no columns tell the gold's rows apart; whole rows were compared without partial credit",
    Ceiling.LARGE_SHELF: "so many rows share a key that their assignment is a bound, not the optimum",
    Ceiling.AMBIGUOUS_PAIR: "two column pairings were equally good",
    Ceiling.LABELS_CROSSED: "columns carry each other's names and position decided",
    Ceiling.SWAP_UNPROVEN: "equal only with columns in another order, which no origin or name proves",
    Ceiling.UNRESOLVED: "a query could not be parsed or resolved, so its components are undefined",
    Ceiling.TIES_UNKNOWN: "the sort keys could not be had, so order was compared strictly",
    Ceiling.TIE_AT_LIMIT: "rows tie across the gold's LIMIT; any of them was accepted",
    Ceiling.DECIDED_BY_TOLERANCE: "the verdict would differ under exact numbers",
    Ceiling.BOTH_EMPTY: "both results are empty: equal, but weak evidence",
    Ceiling.WEAK_EVIDENCE: "right on one row or one value: it may be luck",
    Ceiling.NONDETERMINISTIC: "random, clock-bound or cut without an order",
    Ceiling.LEAK: "the agent was handed its own gold as an example",
}

REASONS: dict[Reason, str] = {
    Reason.GOLD_FAILED: "the gold failed",
    Reason.HARNESS_FAILED: "the harness failed",
    Reason.NO_SQL: "there was no SQL",
    Reason.NO_PAIRS: "no columns were paired",
    Reason.EMPTY_RESULT: "a result was empty",
    Reason.TRUNCATED: "a side was cut",
    Reason.UNRESOLVED: "a query could not be resolved",
    Reason.NOTHING_TO_COUNT: "there was nothing to count",
    Reason.NOT_RECORDED: "it was not recorded",
    Reason.OFFERED_INCOMPLETE: "the adapter cannot see everything offered",
    Reason.NOT_ASKED: "it was not asked",
    Reason.NOT_APPLICABLE: "it does not apply",
}

REASONS_SHORT: dict[Reason, str] = {
    Reason.GOLD_FAILED: "gold failed",
    Reason.HARNESS_FAILED: "harness failed",
    Reason.NO_SQL: "no SQL",
    Reason.NO_PAIRS: "no pairs",
    Reason.EMPTY_RESULT: "empty",
    Reason.TRUNCATED: "cut",
    Reason.UNRESOLVED: "unresolved",
    Reason.NOTHING_TO_COUNT: "nothing to count",
    Reason.NOT_RECORDED: "not recorded",
    Reason.OFFERED_INCOMPLETE: "offers not all seen",
    Reason.NOT_ASKED: "not asked",
    Reason.NOT_APPLICABLE: "not applicable",
}

_WORDED = re.compile(r"^(?:missing|extra) [a-z_ ]{1,20}: ")


def bare_item(item: str) -> str:
    """An item of a query's sets without `missing filter: ` before it, for where its place already says that.

    >>> bare_item("missing filter: films.year >= 1990")
    'films.year >= 1990'
    """
    return _WORDED.sub("", item)


SELF_CHECKS = {
    "harness_errors": "cases lost to the harness",
    "extractor_empty": "answers from which nothing was extracted",
    "scorer_disagreements": "cases where two scorers contradict each other",
    "other_difference": "differences that no rule explains",
    "stages_never_recorded": "expected stages that were never recorded",
}
