"""How far do people agree with the scorer's verdicts?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One reviewed case: what the scorer said (`passed`), what a person says, and the scorer's cause."""

    scorer: bool
    person: bool
    bucket: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over `n` reviewed verdicts; `kappa` is None where chance alone would always agree.

    `by_bucket` has, per cause (`passed` for none), how many were reviewed and how many of those verdicts were right.
    """

    n: int
    agreed: int
    kappa: float | None
    by_bucket: tuple[tuple[str, int, int], ...]


def agreement(judged: Iterable[Judged]) -> Agreement:
    """Cohen's kappa between scorer and people on pass and fail, and the share of right verdicts by cause.

    >>> both = [Judged(scorer=True, person=True)] * 4 + [Judged(scorer=False, person=False)] * 4
    >>> agreement([*both, Judged(scorer=True, person=False), Judged(scorer=False, person=True)]).kappa
    0.6
    """
    listed = list(judged)
    n = len(listed)
    agreed = sum(item.scorer == item.person for item in listed)
    scorer, person = sum(item.scorer for item in listed), sum(item.person for item in listed)
    kappa = None
    if n:
        # In whole numbers: chance agreement is `chance / n**2`.
        chance = scorer * person + (n - scorer) * (n - person)
        kappa = None if chance == n * n else (agreed * n - chance) / (n * n - chance)
    tallies: dict[str, list[int]] = {}
    for item in listed:
        tally = tallies.setdefault(item.bucket or "passed", [0, 0])
        tally[0] += 1
        tally[1] += item.scorer == item.person
    by_bucket = tuple((bucket, reviewed, right) for bucket, (reviewed, right) in sorted(tallies.items()))
    return Agreement(n=n, agreed=agreed, kappa=kappa, by_bucket=by_bucket)
