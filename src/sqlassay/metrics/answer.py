"""Does the final text say what the data says? (specification section 5.7)

`grounded_numbers` and `claims` need no model. Judges' opinions are read as they were recorded; no answer metric and no
judge changes `exact`, pass or cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlassay.metrics.base import Card, Family
from sqlassay.metrics.figures import Figure, figures_in
from sqlassay.metrics.grounding import Ground
from sqlassay.records.execution import Rows
from sqlassay.records.opinion import Opinion
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ceiling, Ratio, Reading, Reason, Undefined, ratio

JUDGED = ("correctness", "contextual_relevance", "faithfulness")
_SOURCE = "specification section 5.7"
_SHOWN = 50
_COMBINED = 500
"""Numbers of one answer for which two cells are combined; a text with more is a listing of cells."""
_QUOTED = re.compile(r"\"([^\"]{1,200})\"|“([^”]{1,200})”|'([^']{2,200})'(?!\w)")
_NAME = re.compile(r"\b[^\W\d_a-z][\w'’&.-]*(?:[ ](?:(?:of|the|de|la|du|von|van|and|&)[ ])?[^\W\d_a-z][\w'’&.-]*)*")
_OPENER = re.compile(
    r"""(?:the|a|an|this|that|these|those|there|it|its|in|on|at|of|for|by|from|with|as|to|and|or|but|all|no|only|is|are
      |was|were|has|have|total|number|average|sum|count|most|each|every)""",
    re.IGNORECASE | re.VERBOSE,
)


def _judged(name: str, title: str, question: str) -> Card:
    return Card(
        name=f"answer.{name}",
        title=title,
        question=question,
        formula="a judge's opinion in 0..1, as recorded; not reproducible",
        undefined={
            Reason.NOT_ASKED: "no judge was asked",
            Reason.NOT_RECORDED: "the judge gave no opinion",
        },
        source=_SOURCE,
    )


CARDS = (
    Card(
        name="answer.grounded_numbers",
        title="Grounded numbers",
        question="Are the numbers in the final text in the result?",
        formula="numbers of the answer that the result holds / numbers of the answer, without the question's",
        undefined={
            Reason.NOT_RECORDED: "the turn holds no final text",
            Reason.NO_SQL: "the candidate gave no result",
            Reason.NOTHING_TO_COUNT: "the text states no number of its own",
            Reason.TRUNCATED: "a limit of ours cut the result, and a number may be in what was cut",
        },
        source=_SOURCE,
    ),
    Card(
        name="answer.claims",
        title="Claims",
        question="Does the final text state the facts that it must state?",
        formula="claims of the case whose values occur in the answer / claims of the case",
        undefined={
            Reason.NOT_APPLICABLE: "the case has no claims",
            Reason.NOT_RECORDED: "the turn holds no final text",
        },
        source=_SOURCE,
    ),
    _judged("correctness", "Answer correctness (judge)", "Does the final text say the same as the expected answer?"),
    _judged("contextual_relevance", "Contextual relevance (judge)", "Was what the agent was given relevant?"),
    _judged("faithfulness", "Faithfulness (judge)", "Does the wording claim what the result does not hold?"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """One number of the answer and how the result holds it; None when it does not."""

    text: str
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of the case, and the values of it that the answer lacks."""

    text: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer's numbers (None where they cannot be looked up, `why` says for what reason), claims and opinions."""

    numbers: tuple[Stated, ...] | None
    why: Reason = Reason.NOTHING_TO_COUNT
    cut: bool = False
    has_answer: bool = True
    claims: tuple[Claim, ...] = ()
    opinions: tuple[Opinion, ...] = ()


def examine(trial: Trial, _settings: ScoreSettings) -> Answer:
    """Look up the answer's numbers in the candidate's result and the case's claims in the answer."""
    text = trial.turn.answer
    if text is None or not text.strip():
        return Answer(
            numbers=None,
            why=Reason.NOT_RECORDED,
            has_answer=False,
            claims=tuple(Claim(text=claim, missing=(claim,)) for claim in trial.case.claims),
            opinions=trial.opinions,
        )
    execution = trial.candidate.execution
    numbers: tuple[Stated, ...] | None = None
    if isinstance(execution, Rows):
        figures = own_figures(text, question=trial.turn.question or trial.case.question)
        numbers = grounded(figures, Ground(execution.relation)) if figures else ()
    return Answer(
        numbers=numbers,
        why=Reason.NO_SQL,
        cut=isinstance(execution, Rows) and execution.relation.truncated,
        claims=tuple(Claim(text=claim, missing=missing_of(claim, text)) for claim in trial.case.claims),
        opinions=trial.opinions,
    )


def readings(seen: Answer) -> Mapping[str, Reading]:
    """The two deterministic shares, and the opinions as recorded."""
    return {
        "answer.grounded_numbers": grounded_numbers(seen),
        "answer.claims": claims(seen),
        **{f"answer.{name}": judged(seen, name) for name in JUDGED},
    }


def grounded_numbers(seen: Answer) -> Reading:
    """Share of the answer's own numbers that the result holds, 0..1."""
    if seen.numbers is None:
        return Undefined(reason=seen.why)
    hits = sum(stated.by is not None for stated in seen.numbers)
    if seen.cut and hits < len(seen.numbers):
        return Undefined(reason=Reason.TRUNCATED)
    return ratio(hits, len(seen.numbers), otherwise=Reason.NOTHING_TO_COUNT)


def claims(seen: Answer) -> Reading:
    """Share of the case's claims whose values all occur in the answer, 0..1."""
    if seen.claims and not seen.has_answer:
        return Undefined(reason=Reason.NOT_RECORDED)
    hits = sum(not claim.missing for claim in seen.claims)
    return ratio(hits, len(seen.claims), otherwise=Reason.NOT_APPLICABLE)


def judged(seen: Answer, name: str) -> Reading:
    """A judge's opinion as a share, 0..1; the last one where it was asked more than once."""
    found = [opinion for opinion in seen.opinions if opinion.metric.removeprefix("answer.") == name]
    if not found:
        return Undefined(reason=Reason.NOT_ASKED)
    score = found[-1].score
    if score is None or not 0 <= score <= 1:
        return Undefined(reason=Reason.NOT_RECORDED)
    return Ratio(hits=score, total=1)


def own_figures(answer: str, *, question: str) -> tuple[Figure, ...]:
    """The numbers that the answer states and the question does not."""
    asked = {reading.value for figure in figures_in(question) for reading in figure.readings}
    return tuple(
        figure
        for figure in figures_in(answer)
        if not any(reading.value in asked or -reading.value in asked for reading in figure.readings)
    )


def grounded(figures: Sequence[Figure], ground: Ground) -> tuple[Stated, ...]:
    """How the result holds each number; one that a blank may divide is also tried as its parts.

    >>> from sqlassay.records.relation import Column, Relation
    >>> ground = Ground(Relation(columns=(Column(name="n"),), rows=[(1234.56,), (17,)]))
    >>> [(s.text, s.by) for s in grounded(figures_in("1.2k and 17 in 2 rows, not 99"), ground)]
    [('1.2', 'cell'), ('17', 'cell'), ('2', 'row_count'), ('99', None)]
    """
    found: list[Stated] = []
    for number, figure in enumerate(figures):
        by = ground.holds(figure, combine=number < _COMBINED)
        if by is None and figure.parts:
            found += [Stated(text=part.text, by=ground.holds(part)) for part in figure.parts]
        else:
            found.append(Stated(text=figure.text, by=by))
    return tuple(found)


def missing_of(claim: str, answer: str) -> tuple[str, ...]:
    """The values of a claim that the answer does not state.

    A claim that stands in the answer word for word lacks nothing. Otherwise its values are its numbers (any notation,
    rounded on either side), quoted texts and names; where it has none of these, the whole claim is the value.

    >>> missing_of("France spent 667.62", "The top country is France with 667,6.")
    ()
    >>> missing_of("France spent 667.62", "France spent the most.")
    ('667.62',)
    """
    said = _flat(answer)
    if _stands(_flat(claim), said):
        return ()
    stated = figures_in(answer)
    missing = [figure.text for figure in figures_in(claim) if not any(_same(figure, other) for other in stated)]
    texts = _texts_of(claim)
    missing += [text for text in texts if not _stands(_flat(text), said)]
    if not texts and not figures_in(claim):
        missing.append(claim)
    return tuple(missing)


def evidence(seen: Answer) -> Mapping[str, Any]:
    """The numbers with how each is held, the claims with what is missing, the opinions' words."""
    found: dict[str, Any] = {}
    if seen.numbers:
        found["numbers"] = [{"text": stated.text, "by": stated.by} for stated in seen.numbers[:_SHOWN]]
    if seen.claims:
        found["claims"] = [{"claim": claim.text, "missing": list(claim.missing)} for claim in seen.claims[:_SHOWN]]
    if seen.opinions:
        found["opinions"] = [
            {"metric": o.metric, "score": o.score, "reason": o.reason, "model": o.model, "error": o.error}
            for o in seen.opinions
        ]
    return found


def ceilings(_seen: Answer) -> Iterable[Ceiling]:
    """None: a cut result is told by the execution family."""
    return ()


def _same(one: Figure, other: Figure) -> bool:
    return any(a.agrees(b.value) or b.agrees(a.value) for a in one.readings for b in other.readings)


def _texts_of(claim: str) -> list[str]:
    quoted = [next(text for text in groups if text) for groups in _QUOTED.findall(claim)]
    rest = _QUOTED.sub(" ", claim)
    names = []
    for match in _NAME.finditer(rest):
        words = match.group().rstrip(".,'’-").split(" ")
        while words and _OPENER.fullmatch(words[0]):
            words = words[1:]
        if words and not words[0][0].islower():
            names.append(" ".join(words))
    return [*quoted, *names]


def _stands(text: str, said: str) -> bool:
    """Whether `text` stands in `said` as whole words."""
    at = said.find(text) if text else -1
    while at >= 0:
        end = at + len(text)
        before_ok = at == 0 or not (said[at - 1].isalnum() and text[0].isalnum())
        after_ok = end == len(said) or not (said[end].isalnum() and text[-1].isalnum())
        digits = text[-1].isdigit() and re.match(r"[.,]\d", said[end : end + 2]) is not None
        if before_ok and after_ok and not digits:
            return True
        at = said.find(text, at + 1)
    return False


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


FAMILY: Family[Answer] = Family(
    name="answer", cards=CARDS, examine=examine, readings=readings, evidence=evidence, ceilings=ceilings
)
