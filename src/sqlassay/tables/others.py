"""What would the public benchmarks' own rules say of two results? Reported beside ours, never instead.

Specification section 5.1, "Rules of others". Rows are taken as the engine gives them, without any normal form:
these rules have no other notion of a value than Python's or pandas' `==`, and their faults are part of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import isclose, isnan
from typing import Any, Final

from sqlassay.records.relation import Relation, Row

_STEPS: Final = 20_000
"""Partial column orders that Spider's rule may try; the script itself tries them all, which may never end."""


def spider_text(sql: str, *, keep_distinct: bool) -> str:
    """The text that Spider's test-suite script executes for `sql`: its spaced operators joined, DISTINCT taken out.

    Ours is never edited; only this rule's own executions use the text. The script reads the current year as 2020.

    >>> spider_text("SELECT DISTINCT a FROM t WHERE b > = 'distinct'", keep_distinct=False)
    "SELECT  a FROM t WHERE b >= 'distinct'"
    """
    for spaced, joined in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
        sql = sql.replace(spaced, joined)
    if not keep_distinct:
        sql = _DISTINCT.sub(lambda match: "" if match.group().lower() == "distinct" else match.group(), sql)
    return _YEAR.sub("2020", sql)


_DISTINCT: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|\w+", re.DOTALL
)
_YEAR: Final = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)


def spider_order_matters(gold_sql: str) -> bool:
    """Whether the script compares in order: when `order by` stands anywhere in the gold's text.

    >>> spider_order_matters("SELECT a FROM (SELECT a FROM t ORDER BY b)"), spider_order_matters("SELECT a FROM t")
    (True, False)
    """
    return "order by" in spider_text(gold_sql, keep_distinct=False).lower()


def spider_equal(reference: Sequence[Row], candidate: Sequence[Row], *, order_matters: bool) -> bool:
    """Spider's test-suite execution match on one database: equal rows under some order of the columns.

    The caller executes `spider_text` of both queries on SQLite, with DISTINCT kept or not, and passes
    `spider_order_matters` of the gold; a candidate that fails is wrong. Without rows on both sides the number of
    columns does not count.

    >>> spider_equal([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], order_matters=False)
    True
    """
    if not reference and not candidate:
        return True
    if len(reference) != len(candidate) or len(reference[0]) != len(candidate[0]):
        return False
    left, right = [_as_text_bag(row) for row in reference], [_as_text_bag(row) for row in candidate]
    if left != right if order_matters else set(left) != set(right):
        return False
    return _some_column_order(reference, candidate, order_matters=order_matters)


def _as_text_bag(row: Row) -> Row:
    return tuple(sorted(row, key=lambda cell: str(cell) + str(type(cell))))


def _some_column_order(reference: Sequence[Row], candidate: Sequence[Row], *, order_matters: bool) -> bool:
    left, right = list(zip(*reference, strict=True)), list(zip(*candidate, strict=True))
    ordered = order_matters or len(reference) == 1

    def fits(a: Sequence[Any], b: Sequence[Any]) -> bool:
        return a == b if ordered else Counter(a) == Counter(b)

    options = [[j for j, other in enumerate(right) if fits(column, other)] for column in left]
    steps = 0

    def extend(chosen: list[int]) -> bool:
        nonlocal steps
        position = len(chosen)
        if position == len(left):
            return True
        tried = set()
        for j in options[position]:
            steps += 1
            if j in chosen or right[j] in tried or steps > _STEPS:
                continue
            tried.add(right[j])
            order = [*chosen, j]
            if ordered:
                if extend(order):
                    return True
                continue
            needed = Counter(zip(*left[: position + 1], strict=True))
            if needed == Counter(zip(*(right[k] for k in order), strict=True)) and extend(order):
                return True
        return False

    return extend([])


def bird_equal(reference: Sequence[Row], candidate: Sequence[Row]) -> bool:
    """BIRD's EX: the same set of rows, columns by position; a cell that cannot be hashed makes it wrong.

    >>> bird_equal([(1,), (1,), (2,)], [(2,), (1,)])
    True
    """
    try:
        return set(candidate) == set(reference)
    except TypeError:
        return False


def bird_soft_f1(reference: Sequence[Row], candidate: Sequence[Row]) -> float:
    """BIRD's Soft-F1, 0..1: distinct rows paired in the order in which they came, cells by membership in the row.

    >>> bird_soft_f1([("a", 1), ("b", 2)], [("a", 1), ("b", 3)])
    0.75
    """
    if not reference and not candidate:
        return 1.0
    try:
        gold, found = list(dict.fromkeys(reference)), list(dict.fromkeys(candidate))
    except TypeError:
        return 0.0
    right = spurious = missing = 0.0
    for position, row in enumerate(gold):
        if position >= len(found):
            missing += 1
            continue
        answer = found[position]
        there = sum(cell in row for cell in answer)
        right += there / len(row)
        spurious += (len(answer) - there) / len(row)
        missing += sum(cell not in answer for cell in row) / len(row)
    spurious += max(0, len(found) - len(gold))
    precision = right / (right + spurious) if right + spurious else 0.0
    recall = right / (right + missing) if right + missing else 0.0
    return min(1.0, 2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def spider2_equal(reference: Relation, candidate: Relation, *, ignore_order: bool) -> bool:
    """Spider 2's column rule: every gold column equals some candidate column; rows are not kept together.

    NULL counts as 0, numbers agree within 0.01; with `ignore_order` each column is sorted (as text) on its own.
    """
    theirs = [_spider2_vector(candidate.column(j), ignore_order) for j in range(candidate.width)]
    return all(
        any(_spider2_vectors(gold, other) for other in theirs)
        for gold in (_spider2_vector(reference.column(i), ignore_order) for i in range(reference.width))
    )


def _spider2_vector(column: Sequence[Any], ignore_order: bool) -> list[Any]:
    values = [0 if _is_missing(v) else float(v) if isinstance(v, Decimal) else v for v in column]
    if ignore_order:
        values.sort(key=lambda v: (str(v), isinstance(v, (int, float))))
    return values


def _spider2_vectors(gold: Sequence[Any], other: Sequence[Any]) -> bool:
    if len(gold) != len(other):
        return False
    for a, b in zip(gold, other, strict=True):
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            if not isclose(a, b, abs_tol=1e-2):
                return False
        elif a != b:
            return False
    return True


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def defog_asks_order(question: str, category: str | None) -> bool:
    """Whether defog's rule leaves rows in order: category `order_by`, or a question with order, sort or arrange."""
    return category == "order_by" or re.search(r"\b(order|sort|arrange)\b", question.lower()) is not None


def defog_equal(reference: Relation, candidate: Relation, *, order_texts: tuple[str, str] | None = None) -> bool:
    """defog's exact rule: equal as they are, or after dropping duplicate rows, sorting columns by name and rows.

    `order_texts` are gold and candidate SQL when `defog_asks_order`: rows are then sorted by the columns that a
    regular expression finds after ORDER BY, and left alone where there is none.
    """
    if reference.width == candidate.width and reference.height == candidate.height:
        pairs = zip(reference.tuples(), candidate.tuples(), strict=True)
        if reference.height and all(all(map(_same, a, b)) for a, b in pairs):
            return True
    texts = order_texts or (None, None)
    try:
        left = _defog_normal(reference.names, reference.tuples(), ordered=order_texts is not None, sql=texts[0])
        right = _defog_normal(candidate.names, candidate.tuples(), ordered=order_texts is not None, sql=texts[1])
    except TypeError:
        return False
    if left is None or right is None or len(left) != len(right) or reference.width != candidate.width:
        return False
    return all(all(map(_same_filled, a, b)) for a, b in zip(left, right, strict=True))


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) and not (_is_missing(a) and a is not None)


def _same_filled(a: Any, b: Any) -> bool:
    return bool(a == b) or (_is_missing(a) and _is_missing(b))


def _defog_normal(names: Sequence[str], rows: Sequence[Row], *, ordered: bool, sql: str | None) -> list[Row] | None:
    if len(set(names)) != len(names):
        return None
    order = sorted(range(len(names)), key=lambda position: names[position])
    distinct = list(dict.fromkeys(tuple(row[position] for position in order) for row in rows))
    columns = [names[position] for position in order]
    if not ordered:
        return sorted(distinct, key=lambda row: [_sortable(cell) for cell in row])
    clause = re.search(r"ORDER BY[\s\S]*", sql or "", re.IGNORECASE)
    if clause is None:
        return distinct
    words = re.findall(r"(?<=ORDER BY)(.*?)(?=;|,|\)|$)", clause.group(0), re.IGNORECASE)
    said = [word.strip().rsplit(".", 1)[-1] for word in (words[0].split() if words else [])]
    ascending = "DESC" not in map(str.upper, said) and "ASC" in map(str.upper, said)
    keys = [word.replace(",", "").replace("(", "") for word in said]
    chosen = [columns.index(key) for key in dict.fromkeys(keys) if key in columns]
    rest = [position for position in range(len(columns)) if position not in chosen]
    arrange = [*chosen, *rest]
    distinct.sort(
        key=lambda row: [_sortable(row[position], last=ascending) for position in arrange], reverse=not ascending
    )
    return [tuple(row[position] for position in (*rest, *chosen)) for row in distinct]


def _sortable(value: Any, *, last: bool = True) -> tuple[bool, Any]:
    """A sort key with missing values at the end, whichever way the sort goes."""
    missing = _is_missing(value)
    return (missing == last, 0 if missing else value)


def defog_subset(reference: Relation, candidate: Relation, *, ordered: bool = False) -> bool:
    """defog's subset rule: each gold column found among the candidate's by its sorted values, then the rows compared.

    Floats agree within a relative 1e-5. An empty gold is never a subset.
    """
    if not reference.height or not reference.width:
        return False
    free = list(range(candidate.width))
    matched: list[int] = []
    try:
        sorted_theirs = {j: sorted(candidate.column(j), key=_sortable) for j in free}
        for i in range(reference.width):
            mine = sorted(reference.column(i), key=_sortable)
            found = next((j for j in free if _columns_close(mine, sorted_theirs[j])), None)
            if found is None:
                return False
            matched.append(found)
            free.remove(found)
        names = [f"{name}_{i}" if reference.names.count(name) > 1 else name for i, name in enumerate(reference.names)]
        left = _defog_normal(names, reference.tuples(), ordered=ordered, sql=None)
        theirs = [tuple(row[j] for j in matched) for row in candidate.tuples()]
        right = _defog_normal(names, theirs, ordered=ordered, sql=None)
    except TypeError:
        return False
    if left is None or right is None or len(left) != len(right):
        return False
    return all(_columns_close(a, b) for a, b in zip(left, right, strict=True))


def _columns_close(mine: Sequence[Any], theirs: Sequence[Any]) -> bool:
    return len(mine) == len(theirs) and all(map(_close, mine, theirs))


def _close(a: Any, b: Any) -> bool:
    if _is_missing(a) or _is_missing(b):
        return _is_missing(a) and _is_missing(b)
    if isinstance(a, (float, Decimal)) or isinstance(b, (float, Decimal)):
        numbers = isinstance(a, (int, float, Decimal)) and isinstance(b, (int, float, Decimal))
        return numbers and isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-8)
    return bool(a == b)
