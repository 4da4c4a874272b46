"""Which error kind is a failure of DuckDB?"""

from __future__ import annotations

import re

from sqlassay.records.execution import ErrorKind

_PREFIX = re.compile(r"^(?!Permission)[\w ]+ Error: ")

_BY_MESSAGE: tuple[tuple[re.Pattern[str], ErrorKind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"read-only mode|permission error|disabled by configuration|configuration has been locked|"
         r"read-only transaction|cannot .* in read-only|launched in read-only", ErrorKind.FORBIDDEN),
        (r"table with name \"?([^\"\n]*[/\\][^\"\n]*|[^\"\n]*"
         r"\.(csv|tsv|parquet|json|jsonl|ndjson|gz|xlsx|txt|db|duckdb|sqlite))\"? does not exist",
         ErrorKind.FORBIDDEN),
        (r"depth limit|max.* recursion|out of memory|too (large|big|long)|failed to allocate|"
         r"max_expression_depth|lists larger than", ErrorKind.TOO_LARGE),
        (r"ambiguous", ErrorKind.AMBIGUOUS_COLUMN),
        (r"(order|group by) term out of range|column \"[^\"]*\" does not exist", ErrorKind.UNKNOWN_COLUMN),
        (r"must appear in the group by|must be part of the group by|GROUP BY clause|HAVING clause|"
         r"used in an aggregate", ErrorKind.GROUPING),
        (r"same number of (result )?columns|subquery returns|expected \d+ columns?|values lists must|"
         r"columns available|column count|number of columns|columns? aliases? .*than|unequal number", ErrorKind.ARITY),
        (r"type with name|no function matches the given name and argument types '[^\w\"]|"
         r"best candidate function for the function call \"[^\w]", ErrorKind.TYPE),
        (r"function with name|no function matches|macro|best candidate function|aggregate|window function|"
         r"is not a .*function|function .* does not exist|table function|exists in the \w+ extension",
         ErrorKind.FUNCTION),
        (r"referenced table .* not found|table with name|view with name|schema with name|^catalog .* does not exist|"
         r"table .* does not exist|unknown table|table \"[^\"]*\" not found", ErrorKind.UNKNOWN_TABLE),
        (r"referenced column|column .* not found|does not have a column|not found in from clause|"
         r"could not find key|column with name|column named|no column",
         ErrorKind.UNKNOWN_COLUMN),
        (r"out of range|cannot be negative", ErrorKind.RUNTIME),
        (r"cannot compare|cannot mix|explicit type cast|could not convert|unimplemented type for cast|"
         r"mismatch type|type mismatch|can only be applied to|cannot (be )?cast|can't be cast", ErrorKind.TYPE),
        (r"syntax error|unterminated|clause", ErrorKind.SYNTAX),
    )
)  # fmt: skip

_BY_CLASS: tuple[tuple[str, ErrorKind], ...] = (
    ("ParserException", ErrorKind.SYNTAX),
    ("SyntaxException", ErrorKind.SYNTAX),
    ("PermissionException", ErrorKind.FORBIDDEN),
    ("HTTPException", ErrorKind.FORBIDDEN),
    ("OutOfMemoryException", ErrorKind.TOO_LARGE),
    ("ConversionException", ErrorKind.TYPE),
    ("TypeMismatchException", ErrorKind.TYPE),
    ("InvalidTypeException", ErrorKind.TYPE),
    ("OutOfRangeException", ErrorKind.RUNTIME),
    ("InvalidInputException", ErrorKind.RUNTIME),
    ("ConstraintException", ErrorKind.RUNTIME),
    ("SequenceException", ErrorKind.FORBIDDEN),
    ("SerializationException", ErrorKind.RUNTIME),
    ("IOException", ErrorKind.CONNECTION),
    ("ConnectionException", ErrorKind.CONNECTION),
    ("FatalException", ErrorKind.CONNECTION),
    ("InternalException", ErrorKind.OTHER),
    ("TransactionException", ErrorKind.OTHER),
)


def error_kind(error: Exception) -> ErrorKind:
    """The kind of an exception that DuckDB, or reading its result, raised.

    >>> error_kind(MemoryError())
    <ErrorKind.TOO_LARGE: 'too_large'>
    """
    if isinstance(error, MemoryError):
        return ErrorKind.TOO_LARGE
    if isinstance(error, UnicodeError):
        return ErrorKind.SYNTAX
    classes = {each.__name__ for each in type(error).__mro__}
    head = str(error).partition("\n")[0]
    if "ParserException" in classes and "depth" not in head and "VALUES lists must" not in head:
        return ErrorKind.SYNTAX
    if "clause cannot contain" in head:
        return ErrorKind.FUNCTION
    if "OutOfRangeException" in classes:
        return ErrorKind.TOO_LARGE if "maximum supported string size" in head else ErrorKind.RUNTIME
    text = _PREFIX.sub("", head)
    for pattern, kind in _BY_MESSAGE:
        if pattern.search(text):
            return kind
    for name, kind in _BY_CLASS:
        if name in classes:
            return kind
    return ErrorKind.OTHER
