"""What would the public benchmarks' own rules say of this trial?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlassay.metrics.verdicts import Judged
from sqlassay.records.execution import Execution, Rows
from sqlassay.records.relation import Relation
from sqlassay.records.settings import Rule
from sqlassay.records.trial import Trial
from sqlassay.records.value import Ratio, Reading, Reason, Undefined, verdict
from sqlassay.tables import others


def rule_readings(trial: Trial, rules: Sequence[Rule], judged: Judged) -> Mapping[str, Reading]:
    """The readings of the rules asked for, by metric name; never the default and never mixed with ours."""
    found: dict[str, Reading] = {}
    for rule in rules:
        found |= _READ[rule](trial, judged)
    return found


def _relation(execution: Execution) -> Relation | None:
    return execution.relation if isinstance(execution, Rows) else None


def _unscored(trial: Trial, judged: Judged) -> Reading | None:
    """Why no rule may say anything; an answer that was read and is empty is wrong by every public rule."""
    if judged.undefined is None or judged.case_error is not None:
        return None
    turn, golds = trial.turn, trial.golds
    blank = turn.error is None and turn.status is None and trial.candidate.sql is None
    if blank and golds and isinstance(golds[judged.index].execution, Rows):
        return verdict(False)
    return Undefined(reason=judged.undefined)


def _missing(gold: Execution, candidate: Execution) -> Reading | None:
    """Why there is no verdict, or 0 when only the candidate has no rows; None when both have."""
    if not isinstance(gold, Rows):
        return Undefined(reason=Reason.GOLD_FAILED)
    return None if isinstance(candidate, Rows) else verdict(False)


def _spider(trial: Trial, judged: Judged) -> dict[str, Reading]:
    found: dict[str, Reading] = {}
    for variant in ("spider", "spider_keep_distinct"):
        found[f"execution.exact@{variant}"] = _spider_variant(trial, judged, variant)
    return found


def _spider_variant(trial: Trial, judged: Judged, variant: str) -> Reading:
    unscored = _unscored(trial, judged)
    if unscored is not None:
        return unscored
    gold = trial.golds[judged.index]
    sides = trial.others.get(variant)
    if sides is None and trial.candidate.sql is None:
        sides = (gold.execution, trial.candidate.execution)
    if sides is None:
        texts = [side.sql for side in (gold, trial.candidate) if side.sql is not None]
        if any(others.spider_text(text, keep_distinct=variant != "spider") != text for text in texts):
            return Undefined(reason=Reason.NOT_RECORDED)
        sides = (gold.execution, trial.candidate.execution)
    missing = _missing(*sides)
    if missing is not None:
        return missing
    left, right = (_relation(side) for side in sides)
    if left is None or right is None:
        return verdict(False)
    matters = others.spider_order_matters(gold.sql or "")
    return verdict(others.spider_equal(left.tuples(), right.tuples(), order_matters=matters))


def _plain(trial: Trial, judged: Judged) -> tuple[Relation, Relation] | Reading:
    unscored = _unscored(trial, judged)
    if unscored is not None:
        return unscored
    gold = trial.golds[judged.index]
    missing = _missing(gold.execution, trial.candidate.execution)
    left, right = _relation(gold.execution), _relation(trial.candidate.execution)
    if left is None or right is None:
        return missing if missing is not None else verdict(False)
    return left, right


def _bird(trial: Trial, judged: Judged) -> dict[str, Reading]:
    sides = _plain(trial, judged)
    if not isinstance(sides, tuple):
        return {"execution.exact@bird": sides, "execution.soft_f1@bird": sides}
    left, right = (side.tuples() for side in sides)
    score = others.bird_soft_f1(left, right)
    return {
        "execution.exact@bird": verdict(others.bird_equal(left, right)),
        "execution.soft_f1@bird": Ratio(hits=score, total=1),
    }


def _spider2(trial: Trial, judged: Judged) -> dict[str, Reading]:
    sides = _plain(trial, judged)
    if not isinstance(sides, tuple):
        return {"execution.exact@spider2": sides}
    return {"execution.exact@spider2": verdict(others.spider2_equal(*sides, ignore_order=not judged.ordered))}


def _defog(trial: Trial, judged: Judged) -> dict[str, Reading]:
    sides = _plain(trial, judged)
    if not isinstance(sides, tuple):
        return {"execution.exact@defog": sides, "execution.subset@defog": sides}
    case, candidate = trial.case, trial.candidate
    exact = subset = False
    for gold in trial.golds:
        relation = _relation(gold.execution)
        if relation is not None:
            asks = others.defog_asks_order(case.question, case.category)
            texts = (gold.sql or "", candidate.sql or "") if asks else None
            exact = exact or others.defog_equal(relation, sides[1], order_texts=texts)
            subset = subset or others.defog_subset(relation, sides[1], ordered=asks)
    return {
        "execution.exact@defog": verdict(exact),
        "execution.subset@defog": verdict(exact or subset),
    }


_READ = {Rule.SPIDER: _spider, Rule.BIRD: _bird, Rule.SPIDER2: _spider2, Rule.DEFOG: _defog}
