"""Which cases run: filters narrow, the fast tenth is fixed and stands for all strata, an empty choice is an error."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.datasets.selection import fast_slice, select
from sqlassay.errors import ExitCode, NoCasesError, UsageError
from sqlassay.records.case import Case

CASES = [
    Case(id=f"c{n}", question="q", category="even" if n % 2 == 0 else "odd", tags=("smoke",) if n < 3 else ("slow",))
    for n in range(10)
]


def ids(cases: tuple[Case, ...]) -> list[str]:
    return [case.id for case in cases]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("3", ["c0", "c1", "c2"]), (3, ["c0", "c1", "c2"]), ("2-3", ["c1", "c2"]), (" 9 - 20 ", ["c8", "c9"])],
)
def test_limit_counts_from_one(limit: str | int, expected: list[str]) -> None:
    assert ids(select(CASES, limit=limit)) == expected


def test_filters_narrow_each_other_and_limit_counts_what_is_left() -> None:
    assert ids(select(CASES, categories=["odd"], tags=["slow"], limit=2)) == ["c3", "c5"]
    assert ids(select(CASES, case_ids=["c9", "c1"])) == ["c1", "c9"]


@pytest.mark.parametrize("limit", ["0", "x", "3-2", "0-4", "-1", "1-", ""])
def test_a_limit_that_is_none_is_wrong_usage(limit: str) -> None:
    with pytest.raises(UsageError):
        select(CASES, limit=limit)


def test_nothing_left_exits_with_five() -> None:
    with pytest.raises(NoCasesError) as caught:
        select(CASES, categories=["even"], case_ids=["c1"])
    assert caught.value.exit_code is ExitCode.NO_CASES
    with pytest.raises(NoCasesError):
        select(CASES, limit="11-20")
    with pytest.raises(NoCasesError):
        select(CASES, tags=["something else entirely"])
    with pytest.raises(NoCasesError):
        select([])


def test_a_misspelt_name_is_suggested() -> None:
    with pytest.raises(UsageError, match="did you mean 'smoke'"):
        select(CASES, tags=["smok"])
    with pytest.raises(UsageError, match="no case has the id 'nothing like it'"):
        select(CASES, case_ids=["c1", "nothing like it"])


strata = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["easy", "hard", None])), min_size=1, max_size=80)


@given(strata, st.integers(0, 3))
def test_the_fast_slice_takes_a_tenth_of_every_stratum(kinds: list[tuple[str, str | None]], seed: int) -> None:
    cases = [Case(id=str(n), question="q", category=c, difficulty=d) for n, (c, d) in enumerate(kinds)]
    kept = fast_slice(cases, seed=seed)
    sizes, taken = Counter(kinds), Counter((c.category, c.difficulty) for c in cases if c.id in kept)
    assert taken == Counter({stratum: -(-size // 10) for stratum, size in sizes.items()})
    assert fast_slice(list(reversed(cases)), seed=seed) == kept


def test_the_fast_slice_hardly_moves_when_cases_are_added() -> None:
    cases = [Case(id=f"case{n}", question="q") for n in range(200)]
    before, after = fast_slice(cases[:190]), fast_slice(cases)
    assert len(before & after) >= len(before) - 2


def test_another_seed_is_another_slice() -> None:
    cases = [Case(id=f"case{n}", question="q") for n in range(200)]
    assert fast_slice(cases, seed=1) != fast_slice(cases, seed=2)
