"""How far do people agree with the scorer's verdicts?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PASSED = "passed"
"""Stands for the cause of a case that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One reviewed case: what the scorer said (`passed`), what a person says, and the scorer's cause."""

    scorer: bool
    person: bool
    bucket: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseAgreement:
    """One cause against all other verdicts: how many were reviewed, how many of those were called right, and kappa.

    Kappa is over the `n` reviewed cases of which it is known whether people too would give this cause: where the
    scorer passed a case that people fail, they have not said why. `why` says in words why there is no kappa.
    """

    bucket: str
    reviewed: int
    right: int
    n: int
    kappa: float | None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over `n` reviewed verdicts; `kappa` is None where chance alone would always agree.

    `by_bucket` has an entry per cause that was reviewed (`passed` for none).
    """

    n: int
    agreed: int
    kappa: float | None
    by_bucket: tuple[CauseAgreement, ...]


def agreement(judged: Iterable[Judged]) -> Agreement:
    """Cohen's kappa between scorer and people on pass and fail, and by cause.

    >>> both = [Judged(scorer=True, person=True)] * 4 + [Judged(scorer=False, person=False, bucket="sql_error")] * 4
    >>> apart = [Judged(scorer=True, person=False), Judged(scorer=False, person=True, bucket="declined")]
    >>> found = agreement([*both, *apart])
    >>> found.kappa
    0.6
    >>> [(each.bucket, each.reviewed, each.right, each.kappa) for each in found.by_bucket]
    [('declined', 1, 0, 0.0), ('passed', 5, 4, 0.6), ('sql_error', 4, 4, 1.0)]
    """
    listed = list(judged)
    causes = sorted({item.bucket or PASSED for item in listed})
    return Agreement(
        n=len(listed),
        agreed=sum(item.scorer == item.person for item in listed),
        kappa=kappa([(item.scorer, item.person) for item in listed]),
        by_bucket=tuple(_cause(name, listed) for name in causes),
    )


def kappa(said: Iterable[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa of two yes/no judgements, -1..1; None where chance alone would always agree.

    >>> kappa([(True, True), (False, False), (True, False), (False, True)]), kappa([(True, True)])
    (0.0, None)
    """
    pairs = list(said)
    n = len(pairs)
    one, other = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    agreed = sum(a == b for a, b in pairs)
    # In whole numbers: chance agreement is `chance / n**2`.
    chance = one * other + (n - one) * (n - other)
    return None if chance == n * n else (agreed * n - chance) / (n * n - chance)


def _cause(name: str, judged: list[Judged]) -> CauseAgreement:
    own = [item for item in judged if (item.bucket or PASSED) == name]
    if name == PASSED:
        said = [(item.scorer, item.person) for item in judged]
    else:
        said = [(item.bucket == name, item.bucket == name and not item.person) for item in judged if _explained(item)]
    found = kappa(said)
    return CauseAgreement(
        bucket=name,
        reviewed=len(own),
        right=sum(item.scorer == item.person for item in own),
        n=len(said),
        kappa=found,
        why=None if found is not None else "nothing else was reviewed, and all of it was called right",
    )


def _explained(item: Judged) -> bool:
    """Whether it is known which cause people would give: not where they fail what the scorer passed."""
    return not (item.scorer and not item.person)
