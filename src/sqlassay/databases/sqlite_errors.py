"""Which error kind is a failure of SQLite?"""

from __future__ import annotations

import re

import apsw

from sqlassay.records.execution import ErrorKind

_BY_CLASS: tuple[tuple[tuple[type[Exception], ...], ErrorKind], ...] = (
    ((apsw.AuthError, apsw.ReadOnlyError, apsw.PermissionsError), ErrorKind.FORBIDDEN),
    ((apsw.TooBigError, apsw.NoMemError, MemoryError), ErrorKind.TOO_LARGE),
    ((apsw.MismatchError,), ErrorKind.TYPE),
    (
        (
            *(apsw.BusyError, apsw.LockedError, apsw.CantOpenError, apsw.IOError, apsw.CorruptError, apsw.NotADBError),
            *(apsw.ProtocolError, apsw.ConnectionClosedError, apsw.SchemaChangeError, apsw.FullError),
            *(apsw.InterruptError, apsw.NoLFSError),
        ),
        ErrorKind.CONNECTION,
    ),
)

_BY_MESSAGE: tuple[tuple[re.Pattern[str], ErrorKind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"not authorized|access to .* is prohibited|unsafe use of|readonly database|may not be modified|"
         r"prohibited in", ErrorKind.FORBIDDEN),
        (r"syntax error|incomplete input|unrecognized token|no tables specified|unknown join type|malformed.* clause|"
         r"near \"|clause is required|a JOIN clause|should come (before|after)|must come|LIMIT clause|RETURNING|"
         r"ON clause references|unsupported frame|unterminated", ErrorKind.SYNTAX),
        (r"ambiguous", ErrorKind.AMBIGUOUS_COLUMN),
        (r"no such column|has no column named|column not present in both|not match any column|term out of range|"
         r"no such rowid|no such window", ErrorKind.UNKNOWN_COLUMN),
        (r"no such table|no such view|no such module|unknown database|no such database|circularly defined|"
         r"circular reference|is not a table|no such index", ErrorKind.UNKNOWN_TABLE),
        (r"before HAVING|HAVING clause|aggregate functions are not allowed in the GROUP BY", ErrorKind.GROUPING),
        (r"same number of (result columns|terms)|sub-select returns|row value misused|values for \d+ columns|"
         r"IN\(\.\.\.\) element has|number of columns|\d+ columns but|columns assigned", ErrorKind.ARITY),
        (r"too many arguments on|no such function|wrong number of arguments|misuse of|aggregate function|"
         r"window function|not a table-valued|argument to|not a function|DISTINCT (aggregates|is not)|"
         r"FILTER (clause )?may|unable to use function|RAISE\(\)", ErrorKind.FUNCTION),
        (r"too (big|large|many|long|complex|deep)|out of memory|stack overflow|at most \d+ tables|maximum depth|"
         r"recursion", ErrorKind.TOO_LARGE),
        (r"datatype mismatch|cannot (convert|cast)", ErrorKind.TYPE),
        (r"integer overflow|malformed JSON|JSON|bad JSON|ESCAPE expression|out of range|fts5|malformed MATCH|"
         r"regexp|non-negative|domain error|bad .* path|nul in", ErrorKind.RUNTIME),
    )
)  # fmt: skip


def error_kind(error: Exception) -> ErrorKind:
    """The kind of an `apsw` exception, or of text that could not even be handed over.

    >>> error_kind(apsw.SQLError("no such column: weight"))
    <ErrorKind.UNKNOWN_COLUMN: 'unknown_column'>
    """
    for classes, kind in _BY_CLASS:
        if isinstance(error, classes):
            return kind
    if isinstance(error, UnicodeError):
        return ErrorKind.SYNTAX
    message = str(error)
    for pattern, kind in _BY_MESSAGE:
        if pattern.search(message):
            return kind
    return ErrorKind.OTHER
