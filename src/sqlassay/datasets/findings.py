"""What `check` can find in a gold set: a closed list, each with why it matters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sqlassay.errors import ExitCode
from sqlassay.records.case import Case


class Severity(StrEnum):
    """`error`: the case cannot measure what it means to; `warning`: look at it; `note`: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """The kinds of finding, worst first within each group."""

    NO_DATABASE = "no_database"
    GOLD_FORBIDDEN = "gold_forbidden"
    GOLD_FAILS = "gold_fails"
    GOLD_EMPTY = "gold_empty"
    GOLD_TRUNCATED = "gold_truncated"
    GOLD_SHAPE = "gold_shape"
    GOLD_NOT_DETERMINISTIC = "gold_not_deterministic"
    GOLD_NOT_ITSELF = "gold_not_itself"
    CONTRADICTING_GOLDS = "contradicting_golds"
    STORAGE_ORDER = "storage_order"
    TIE_AT_LIMIT = "tie_at_limit"
    LIMIT_WITHOUT_ORDER = "limit_without_order"
    RANDOM_OR_CLOCK = "random_or_clock"
    ORDER_ON_NUMERIC_TEXT = "order_on_numeric_text"
    CONSTANT_MATCHES_NOTHING = "constant_matches_nothing"
    NAME_READ_AS_TEXT = "name_read_as_text"
    JOIN_PAST_LINK = "join_past_link"
    GOLD_READS_NOTHING = "gold_reads_nothing"
    GOLD_ONLY_NULL_OR_ZERO = "gold_only_null_or_zero"
    GOLD_ROWS_STALE = "gold_rows_stale"
    GOLD_DOUBTED = "gold_doubted"
    SHAPE_KEYS_REPEAT = "shape_keys_repeat"
    CONTRADICTING_TWINS = "contradicting_twins"
    DUPLICATE_QUESTION = "duplicate_question"
    DUPLICATE_WORDING = "duplicate_wording"
    DATABASE_RIGHTS = "database_rights"
    JOIN_MULTIPLIES = "join_multiplies"
    TWINS = "twins"
    JUDGES_ONLY = "judges_only"
    UNRESOLVED = "unresolved"


MEANING: dict[Code, tuple[Severity, str]] = {
    Code.NO_DATABASE: (Severity.ERROR, "The case names a database that is not configured, or none of several."),
    Code.GOLD_FORBIDDEN: (Severity.ERROR, "The gold query is not exactly one read statement, so it is never run."),
    Code.GOLD_FAILS: (Severity.ERROR, "The gold query fails or exceeds the time limit: the case stays unscored."),
    Code.GOLD_EMPTY: (Severity.ERROR, "The gold result is empty: whatever finds nothing is called right."),
    Code.GOLD_TRUNCATED: (Severity.ERROR, "The gold result exceeds max_rows or max_bytes: `exact` is undefined."),
    Code.GOLD_SHAPE: (Severity.ERROR, "The gold result does not have what `compare_on` names."),
    Code.GOLD_NOT_DETERMINISTIC: (Severity.ERROR, "The gold query gave two results on the same data."),
    Code.GOLD_NOT_ITSELF: (Severity.ERROR, "The gold query, scored against itself, is not perfect."),
    Code.CONTRADICTING_GOLDS: (Severity.ERROR, "Two cases ask the same question and accept different results."),
    Code.STORAGE_ORDER: (Severity.WARNING, "The gold result depends on the order in which rows lie on disk."),
    Code.TIE_AT_LIMIT: (Severity.WARNING, "Rows tie across the LIMIT: which of them is gold is arbitrary."),
    Code.LIMIT_WITHOUT_ORDER: (Severity.WARNING, "LIMIT without ORDER BY cuts rows: which of them is arbitrary."),
    Code.RANDOM_OR_CLOCK: (Severity.WARNING, "The gold query asks for the time or for random numbers."),
    Code.ORDER_ON_NUMERIC_TEXT: (Severity.WARNING, "Numbers kept as text sort as text: '10' before '9'."),
    Code.CONSTANT_MATCHES_NOTHING: (Severity.WARNING, "A constant in a condition is a value that no row has."),
    Code.NAME_READ_AS_TEXT: (Severity.WARNING, "A name the schema does not have; SQLite reads it as text."),
    Code.JOIN_PAST_LINK: (Severity.WARNING, "A join that multiplies rows, past the table that links both sides."),
    Code.GOLD_READS_NOTHING: (Severity.WARNING, "The gold query reads no table: its result is a constant."),
    Code.GOLD_ONLY_NULL_OR_ZERO: (Severity.WARNING, "The only row holds NULL or 0: finding nothing looks right."),
    Code.GOLD_ROWS_STALE: (Severity.WARNING, "The stored gold_rows differ from what the gold query gives now."),
    Code.GOLD_DOUBTED: (Severity.WARNING, "A person who reviewed a run says that this gold is wrong."),
    Code.SHAPE_KEYS_REPEAT: (Severity.WARNING, "Ids or group keys come twice or are NULL in the gold result."),
    Code.CONTRADICTING_TWINS: (Severity.WARNING, "Cases with equivalent gold queries are compared in different ways."),
    Code.DUPLICATE_QUESTION: (Severity.WARNING, "Two cases ask the same question."),
    Code.DUPLICATE_WORDING: (Severity.WARNING, "A phrasing repeats the question or another phrasing."),
    Code.DATABASE_RIGHTS: (Severity.WARNING, "What the engine says about the connection, such as more than SELECT."),
    Code.JOIN_MULTIPLIES: (Severity.NOTE, "A join in which neither side is unique: rows multiply."),
    Code.TWINS: (Severity.NOTE, "Cases with equivalent gold queries: hidden together, clustered in intervals."),
    Code.JUDGES_ONLY: (Severity.NOTE, "A field that only model judges read."),
    Code.UNRESOLVED: (Severity.NOTE, "The gold query could not be understood: the component family is undefined."),
}
"""How bad each finding is, and why it matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: where, what, and the way out. `case_id` is None for what concerns a whole database."""

    code: Code
    severity: Severity
    message: str
    remedy: str
    case_id: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """`cases.yaml:3: error: case 'a': ... [gold_fails]`."""
        place = "" if self.file is None else f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        case = "" if self.case_id is None else f"case {self.case_id!r}: "
        return f"{place}{self.severity.value}: {case}{self.message} [{self.code.value}]"


def found(code: Code, message: str, *, remedy: str, case: Case | None = None) -> Finding:
    """A finding at the place where the case was written."""
    place = None if case is None else case.place
    return Finding(
        code=code,
        severity=MEANING[code][0],
        message=message,
        remedy=remedy,
        case_id=None if case is None else case.id,
        file=None if place is None else place.file,
        line=None if place is None else place.line,
    )


def exit_code(findings: Iterable[Finding]) -> ExitCode:
    """4 when anything is an error, else 0 (specification section 9).

    >>> exit_code([])
    <ExitCode.OK: 0>
    """
    broken = any(finding.severity is Severity.ERROR for finding in findings)
    return ExitCode.GOLD_BROKEN if broken else ExitCode.OK
