"""Does the agent give the same answer again, and to the same question in other words?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlassay.summary.model import Phrasings, Repeats


def pass_at(k: int, *, n: int, right: int) -> float:
    """pass@k: the chance that at least one of `k` of the `n` trials drawn without replacement is right.

    >>> pass_at(2, n=4, right=1)
    0.5
    """
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def pass_all(k: int, *, n: int, right: int) -> float:
    """pass^k: the chance that all `k` of the `n` trials drawn without replacement are right.

    >>> pass_all(2, n=4, right=3)
    0.5
    """
    return math.comb(right, k) / math.comb(n, k)


@dataclass(slots=True, kw_only=True)
class _Question:
    n: int = 0
    right: int = 0
    digest: str | None = None
    mixed: bool = False


@dataclass(slots=True, kw_only=True)
class Retrials:
    """Counts, per case and wording, the scored trials and the right ones."""

    questions: dict[str, dict[int, _Question]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, case_id: str, phrasing: int, *, passed: bool, digest: str | None) -> None:
        """Take in one scored trial; `digest` stands for the candidate's rows where it is known."""
        wordings = self.questions[case_id]
        question = wordings.get(phrasing)
        if question is None:
            question = wordings[phrasing] = _Question(digest=digest)
        question.n += 1
        question.right += passed
        question.mixed = question.mixed or question.digest != digest

    def repeats(self) -> Repeats | None:
        """Over cases with a wording asked more than once: within a case over its wordings first, then over cases.

        k runs up to the smallest number of scored repeats among them.
        """
        asked: dict[str, list[_Question]] = {}
        for case_id, wordings in sorted(self.questions.items()):
            again = [question for _, question in sorted(wordings.items()) if question.n > 1]
            if again:
                asked[case_id] = again
        if not asked:
            return None
        depth = min(question.n for questions in asked.values() for question in questions)
        steps = range(1, depth + 1)
        flipping = [case_id for case_id, listed in asked.items() if any(0 < q.right < q.n for q in listed)]

        def over_cases(chance: Callable[..., float], k: int) -> float:
            return _mean(_mean(chance(k, n=q.n, right=q.right) for q in listed) for listed in asked.values())

        return Repeats(
            repeats=depth,
            cases=len(asked),
            pass_at=tuple(over_cases(pass_at, k) for k in steps),
            pass_all=tuple(over_cases(pass_all, k) for k in steps),
            flips=len(flipping) / len(asked),
            flipping=tuple(flipping),
        )

    def phrasings(self) -> Phrasings | None:
        """Over cases asked in two or more wordings: the same result, or where rows are unknown the same verdict."""
        several = {case_id: w for case_id, w in sorted(self.questions.items()) if len(w) > 1}
        if not several:
            return None
        known = all(q.digest is not None for wordings in several.values() for q in wordings.values())
        apart = [case_id for case_id, wordings in several.items() if _apart(list(wordings.values()), by_result=known)]
        return Phrasings(
            cases=len(several),
            consistent=1 - len(apart) / len(several),
            inconsistent=tuple(apart),
            by="result" if known else "verdict",
        )


def _apart(wordings: list[_Question], *, by_result: bool) -> bool:
    if by_result:
        return any(q.mixed for q in wordings) or len({q.digest for q in wordings}) > 1
    return any(0 < q.right < q.n for q in wordings) or len({q.right > 0 for q in wordings}) > 1


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)
