"""Which of the cases run: chosen by position, id, tag or category, or a fixed tenth that stands for all."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlassay.errors import NoCasesError, UsageError
from sqlassay.records.case import Case
from sqlassay.records.strict import nearest

FAST_SHARE = 10
"""`--fast` keeps one case in this many, of every stratum at least one."""

_LIMIT = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def select(
    cases: Sequence[Case],
    *,
    limit: str | int | None = None,
    case_ids: Iterable[str] = (),
    tags: Iterable[str] = (),
    categories: Iterable[str] = (),
    fast: bool = False,
    seed: int = 0,
) -> tuple[Case, ...]:
    """The chosen cases, in their order; the filters narrow each other, `limit` counts what they leave.

    Several ids, tags or categories mean any of them. `fast` keeps a tenth of each stratum (category by difficulty),
    the same one for one `seed`, whatever else the file holds.

    Raises:
        UsageError: `limit` is neither `N` nor `A-B`; an id, tag or category is one that no case has.
        NoCasesError: nothing is left.

    >>> cases = [Case(id=str(n), question="?", category="even" if n % 2 == 0 else "odd") for n in range(6)]
    >>> [case.id for case in select(cases, categories=["even"], limit="2-3")]
    ['2', '4']
    """
    chosen = list(cases)
    wanted_ids, wanted_tags, wanted_categories = set(case_ids), set(tags), set(categories)
    _known("case", "id", wanted_ids, {case.id for case in cases})
    _known("case", "tag", wanted_tags, {tag for case in cases for tag in case.tags})
    _known("case", "category", wanted_categories, {case.category for case in cases if case.category is not None})
    if wanted_ids:
        chosen = [case for case in chosen if case.id in wanted_ids]
    if wanted_tags:
        chosen = [case for case in chosen if wanted_tags.intersection(case.tags)]
    if wanted_categories:
        chosen = [case for case in chosen if case.category in wanted_categories]
    if fast:
        kept = fast_slice(chosen, seed=seed)
        chosen = [case for case in chosen if case.id in kept]
    if limit is not None:
        first, last = _range(str(limit))
        chosen = chosen[first - 1 : last]
    if not chosen:
        raise NoCasesError(
            f"no case is left of {len(cases)}",
            hint="loosen --limit, --case-id, --tag, --category or --fast" if cases else "the case files are empty",
        )
    return tuple(chosen)


def fast_slice(cases: Iterable[Case], *, seed: int = 0) -> frozenset[str]:
    """The ids of a stratified tenth: of each category by difficulty a tenth, rounded up.

    A case's place is decided by a hash of its id and the seed, so that adding a case moves no other in or out
    but at the edge of its own stratum.

    >>> len(fast_slice([Case(id=str(n), question="?") for n in range(40)]))
    4
    """
    strata: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case in cases:
        strata[case.category or "", case.difficulty or ""].append(case.id)
    kept: set[str] = set()
    for ids in strata.values():
        ids.sort(key=lambda case_id: hashlib.sha256(f"{seed}:{case_id}".encode("utf-8", "surrogatepass")).digest())
        kept.update(ids[: -(-len(ids) // FAST_SHARE)])
    return frozenset(kept)


def _range(text: str) -> tuple[int, int]:
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UsageError(f"--limit {text!r} is neither a count nor a range", hint="write 10 or 11-20")
    first, last = (1, int(match[1])) if match[2] is None else (int(match[1]), int(match[2]))
    if first < 1 or last < first:
        raise UsageError(f"--limit {text!r} holds no case", hint="count from 1: 1-10 are the first ten")
    return first, last


def _known(noun: str, what: str, wanted: set[str], present: set[str]) -> None:
    """A name that no case has is a slip of the pen as long as a near one exists, else an empty selection."""
    for name in sorted(wanted - present):
        near = nearest(name, sorted(present))
        if near is not None:
            raise UsageError(f"no {noun} has the {what} {name!r}; did you mean {near!r}?")
        if not wanted & present:
            raise NoCasesError(f"no {noun} has the {what} {name!r}")
        raise UsageError(f"no {noun} has the {what} {name!r}")
