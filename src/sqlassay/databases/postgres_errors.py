"""Which error kind is a failure of PostgreSQL?"""

from __future__ import annotations

import re

from sqlassay.records.execution import ErrorKind

_BY_STATE = {
    "42601": ErrorKind.SYNTAX,
    "42P01": ErrorKind.UNKNOWN_TABLE,
    "3F000": ErrorKind.UNKNOWN_TABLE,
    "3D000": ErrorKind.UNKNOWN_TABLE,
    "42703": ErrorKind.UNKNOWN_COLUMN,
    "42P10": ErrorKind.UNKNOWN_COLUMN,
    "42702": ErrorKind.AMBIGUOUS_COLUMN,
    "42P09": ErrorKind.AMBIGUOUS_COLUMN,
    "42883": ErrorKind.FUNCTION,
    "42725": ErrorKind.FUNCTION,
    "42P20": ErrorKind.FUNCTION,
    "42809": ErrorKind.FUNCTION,
    "42803": ErrorKind.GROUPING,
    "42804": ErrorKind.TYPE,
    "42846": ErrorKind.TYPE,
    "42704": ErrorKind.TYPE,
    "42P18": ErrorKind.TYPE,
    "42P22": ErrorKind.TYPE,
    "22P02": ErrorKind.TYPE,
    "22007": ErrorKind.TYPE,
    "42P02": ErrorKind.SYNTAX,
    "42P19": ErrorKind.SYNTAX,
    "42712": ErrorKind.SYNTAX,
    "42701": ErrorKind.SYNTAX,
    "42602": ErrorKind.SYNTAX,
    "42622": ErrorKind.SYNTAX,
    "42501": ErrorKind.FORBIDDEN,
    "25006": ErrorKind.FORBIDDEN,
    "25001": ErrorKind.FORBIDDEN,
    "25P01": ErrorKind.FORBIDDEN,
    "53100": ErrorKind.TOO_LARGE,
    "53200": ErrorKind.TOO_LARGE,
    "53400": ErrorKind.TOO_LARGE,
    "57014": ErrorKind.TIMEOUT,
    "22021": ErrorKind.SYNTAX,
    "55000": ErrorKind.RUNTIME,
    "P0001": ErrorKind.RUNTIME,
    "25P02": ErrorKind.CONNECTION,
    "25P03": ErrorKind.CONNECTION,
}
_BY_CLASS = {
    "21": ErrorKind.RUNTIME,
    "22": ErrorKind.RUNTIME,
    "23": ErrorKind.RUNTIME,
    "54": ErrorKind.TOO_LARGE,
    "08": ErrorKind.CONNECTION,
    "28": ErrorKind.CONNECTION,
    "40": ErrorKind.CONNECTION,
    "53": ErrorKind.CONNECTION,
    "55": ErrorKind.CONNECTION,
    "57": ErrorKind.CONNECTION,
    "58": ErrorKind.CONNECTION,
    "XX": ErrorKind.OTHER,
}
_ARITY = re.compile(
    r"same number of columns|(subquery|sub-select) (must return|has too (many|few))|must all be the same length|"
    r"unequal number of entries|columns available but|wrong number of columns|column aliases specified",
    re.IGNORECASE,
)
_MISUSE = re.compile(r"are not allowed in|cannot be nested|cannot contain (aggregate|window)", re.IGNORECASE)


def error_kind(error: Exception) -> ErrorKind:
    """The kind of an exception of psycopg, or of text that could not be sent.

    >>> error_kind(MemoryError())
    <ErrorKind.TOO_LARGE: 'too_large'>
    """
    if isinstance(error, MemoryError):
        return ErrorKind.TOO_LARGE
    if isinstance(error, (UnicodeError, ValueError, OverflowError)):
        return ErrorKind.SYNTAX
    state: str | None = getattr(error, "sqlstate", None)
    if state is None:
        return (
            ErrorKind.CONNECTION if type(error).__name__ in ("OperationalError", "InterfaceError") else ErrorKind.OTHER
        )
    message = str(error)
    if state == "08P01" and "bind message supplies" in message:
        return ErrorKind.SYNTAX
    if _ARITY.search(message):
        return ErrorKind.ARITY
    if state == "42803" and _MISUSE.search(message):
        return ErrorKind.FUNCTION
    if state == "42883" and message.startswith("operator"):
        return ErrorKind.TYPE
    if state == "0A000" and "data-modifying" in message:
        return ErrorKind.FORBIDDEN
    if state == "0A000":
        return ErrorKind.UNKNOWN_TABLE if "cross-database" in message else ErrorKind.OTHER
    return _BY_STATE.get(state) or _BY_CLASS.get(state[:2], ErrorKind.OTHER)
