"""Do the cases agree with each other: questions asked twice, equivalent golds compared in different ways?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sqlassay.datasets.findings import Code, Finding, found
from sqlassay.datasets.probes import same_rows
from sqlassay.records.case import Case, Place
from sqlassay.records.relation import Relation


def about_wordings(cases: Sequence[Case]) -> Iterator[Finding]:
    """Phrasings that say what is said already, and fields that only judges read."""
    for case in cases:
        said = {wording(case.question)}
        for phrasing in case.phrasings:
            if wording(phrasing) in said:
                message = f"the phrasing {phrasing!r} is there already"
                yield found(Code.DUPLICATE_WORDING, message, remedy="remove or reword it", case=case)
            said.add(wording(phrasing))
        for name in ("expected_answer", "schema_context"):
            if getattr(case, name) is not None:
                message = f"{name} is read by model judges only; no other metric looks at it"
                yield found(Code.JUDGES_ONLY, message, remedy="keep it where judges are used", case=case)


def wording(text: str) -> str:
    """A question without what does not change it: case, blanks, marks at its end.

    >>> wording("How many  films are there?") == wording("how many films are there")
    True
    """
    return " ".join(re.sub(r"[\s?.!]+$", "", unicodedata.normalize("NFKC", text)).casefold().split())


def about_questions(
    cases: Sequence[Case],
    *,
    twins: Mapping[str, frozenset[str]],
    results: Mapping[str, Relation],
) -> Iterator[Finding]:
    """The same question asked by several cases of one database, in the same conversation."""
    same: dict[tuple[str, str | None, tuple[str, ...]], list[Case]] = defaultdict(list)
    for case in cases:
        same[wording(case.question), case.database, case.turns].append(case)
    for group in same.values():
        for case in group[1:]:
            first = group[0]
            where = f"{first.id!r}{_at(first.place)}"
            if _contradict(first, case, twins, results):
                yield found(
                    Code.CONTRADICTING_GOLDS,
                    f"asks the same question as case {where}, and their golds give different results",
                    remedy="reword one question, or make the golds agree",
                    case=case,
                )
            else:
                message = f"asks the same question as case {where}"
                yield found(Code.DUPLICATE_QUESTION, message, remedy="remove one of them", case=case)


def _contradict(one: Case, two: Case, twins: Mapping[str, frozenset[str]], results: Mapping[str, Relation]) -> bool:
    if one.expected_status is not two.expected_status:
        return True
    if two.id in twins.get(one.id, frozenset()) or one.id not in results or two.id not in results:
        return False
    first, second = results[one.id], results[two.id]
    return first.width != second.width or not same_rows(first.tuples(), second.tuples())


def about_twins(cases: Sequence[Case], *, twins: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
    """Which cases have equivalent golds, and which of them are compared in different ways."""
    by_id = {case.id: case for case in cases}
    told: set[str] = set()
    for case in cases:
        others = [by_id[name] for name in sorted(twins.get(case.id, frozenset())) if name != case.id and name in by_id]
        if not others or case.id in told:
            continue
        told.update(other.id for other in others)
        names = ", ".join(repr(other.id) for other in others[:5]) + (", ..." if len(others) > 5 else "")
        message = f"has a gold equivalent to that of {names}"
        remedy = "none needed: twins are hidden and clustered together"
        yield found(Code.TWINS, message, remedy=remedy, case=case)
        for other in others:
            differing = [name for name in _COMPARED if getattr(case, name) != getattr(other, name)]
            if differing:
                yield found(
                    Code.CONTRADICTING_TWINS,
                    f"has the same gold as case {case.id!r}{_at(case.place)}, and another {', '.join(differing)}",
                    remedy="compare both in the same way, unless their questions differ in just that",
                    case=other,
                )


_COMPARED = ("compare_on", "ordered", "tolerance", "optional_columns", "gold_rows")


def _at(place: Place | None) -> str:
    return "" if place is None or place.line is None else f" ({place.file}:{place.line})"
