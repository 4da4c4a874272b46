"""Did a tool call succeed, how many rows did the agent see, and what cut them? Read from what the tool gave back."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlassay.agents.messages import Outcome, mappings, text_of

_PARSED = 4_000_000
_PARSED_AS_PYTHON = 400_000
"""Longer texts are not parsed: their row count stays unknown."""
_HEAD = 2_000
_NOTICE = 600
"""A notice that a call was held back is short; longer texts are results, whatever words they hold."""
_KEPT = 200_000

_ERROR = re.compile(
    r"""\s*(?:
        (?:(?:sql|database|query|execution|internal|tool)\s+)?(?:error|exception|failed|failure)\b
            \s*(?:[:(\[-]|executing|running|while|validating|code\b)
      | traceback\s+\(most\ recent | <tool_use_error> | invalid\s+(?:query|arguments|sql|input)\b
      | (?:an?\s+)?(?:unexpected\s+)?error\s+(?:occurred|executing|running|invoking|while)
      | failed\s+to\s+(?:execute|run)
      | query\s+(?:execution\s+)?(?:failed|error)\b
      | \(?[\w.]*(?:Operational|Programming|Database|Integrity|Interface|Data|NotSupported)Error\b
      | \(?[\w.]*(?:Binder|Catalog|Parser)Exception\b
      | (?:catalog|binder|parser|conversion|constraint|invalid\ input|io|out\ of\ memory|permission|not\ implemented)
            \s+(?:error|exception)\s*:
      | ORA-\d{4,5}\b | ERROR\s+\d+\s*\(\w+\) | SQLSTATE\b | psycopg2?\.errors\b
      | no\s+such\s+(?:table|column|function|module|index)\s*: | near\s+".{0,80}":\s+syntax\s+error
      | unknown\s+(?:column|table|database|tool)\b | you\s+have\s+an\s+error\s+in\s+your\s+sql
      | (?:column|relation|table|function|schema|operator)\s+\S{1,120}(?:\(.{0,80}\))?\s+(?:does\s+not|doesn't)\s+exist
      | ambiguous\s+column | misuse\s+of\s+aggregate | attempt\s+to\s+write\s+a\s+readonly
      | you\s+can\s+only\s+execute\s+one
      | syntax\s+error\b | permission\s+(?:denied|to\s+use\s+\S+\s+has\s+been\s+denied) | access\s+denied
      | (?:mcp\s+error\s+-?\d+|input\s+validation\s+error)\s*:
      | \d+\s+validation\s+errors?\s+for | tool\s+'?\S{1,120}?'?\s+not\s+found
      | tool\s+(?:execution|call)\s+(?:failed|was\s+denied) | tool\s+'?\S{1,120}?'?\s+failed\s+after\b
      | (?:the\s+)?(?:query|statement|request|execution|operation|connection)\s+(?:has\s+|was\s+|is\s+)?
            (?:timed\s+out|cancell?ed|aborted|interrupted|rejected|refused|blocked|lost)\b
      | (?:\w+\s+)?time-?\s?out(?:error)?\b\s*(?:[:(]|expired|exceeded|after|while|reached)
      | cancell?ing\s+statement\s+due\s+to | (?:could\s+not|unable\s+to|cannot)\s+(?:execute|run|connect|parse)\b
      | invalid\s+(?:column|object|identifier|table)\b | division\s+by\s+zero | lost\s+connection\s+to
      | (?:\d+\s*\(\w+\):\s*)?sql\s+compilation\s+error | msg\s+\d+,\s+level\s+\d+
      | \(\d{4},\s*["'](?:table\s+'[^']{1,200}'\s+doesn|unknown\s+(?:column|table|database)|you\s+have\s+an\s+error
            |access\s+denied|lost\s+connection|query\s+execution\s+was)
      | \d{3}\s+(?:syntax\s+error|unrecognized\s+name|not\s+found:|table\s+\S+\s+not\s+found)
      | \[(?:TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_\w+|PARSE_SYNTAX_ERROR|DELTA_\w+)
    )""",
    re.VERBOSE | re.IGNORECASE,
)

_NEVER_REACHED = re.compile(
    r"""is\ not\ a\ valid\ tool,\ try\ one\ of | ^\s*(?:(?:mcp\ )?error[\s\d-]*:\s*)?unknown\ tool\b
      | ^\s*(?:(?:mcp\ )?error[\s\d-]*:\s*)?tool\ '?\S{1,120}?'?\ not\ found
      | ^\s*(?:(?:mcp\ )?error[\s\d-]*:\s*)?input\ validation\ error\b | ^\s*mcp\ error\ -3260[0-2]\b
      | ^\s*error\ executing\ tool\ \S{1,120}:\ \d+\ validation\ errors?\ for
      | no\ such\ tool\ available | ^\s*invalid\ arguments\b | InputValidationError
      | error\ invoking\ tool\ .{0,400}?\ with\ kwargs | ^\s*\d+\ validation\ errors?\ for
      | tool\ call\ limit\ (?:exceeded|reached) | tool\ call\ not\ executed | user\ rejected\ the\ tool\ call
      | doesn't\ want\ to\ proceed\ with\ this\ tool\ use | permission\ to\ use\ \S{1,200}\ has\ been\ denied
      | tool\ call\ was\ (?:denied|cancelled|rejected) | tool\ execution\ was\ not\ approved
      | tool\ (?:was\ )?not\ executed | was\ cancelled\ -\ another\ message | error\ validating\ query
      | invalid\ json\ input\ for\ tool | function\ tool\ '?\S{0,120}?'?\ not\ found | call\ was\ not\ made
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

_CUT = re.compile(
    r"""results?\ (?:was\ |were\ )?truncated\ (?:to|at|after)\ ([\d,]+)\ (characters|rows|tokens|bytes)
      | truncated\ (?:to|at|after)\ ([\d,]+)\ (characters|rows|tokens|bytes)
      | (?:showing|displaying|only)\ (?:only\ )?(?:the\ )?(?:first\ |top\ )?([\d,]+)
            \ (?:of\ (?:[\d,]+|many)\ )?(rows|records|results)\b
      | (?:limited|capped)\ to\ ([\d,]+)\ (rows|records|results)
      | first\ ([\d,]+)\ (rows|records|results)\ (?:only|shown|of)
      | \.\.\.\ ?\(?\d+\ more\ (rows|records)
      | \[(?:output\ )?truncated\] | \(truncated\) | <truncated> | output\ truncated
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CELL_ENDS = re.compile(r"\.\.\.(?=['\"])")
_CELL_LENGTH = 297
_STRINGS = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\"""", re.DOTALL)
_TUPLES = re.compile(r"\[(?:\([^()\[\]{}]*\)(?:,\s*)?)*\]")
"""A printed list of tuples once its strings are gone: the rows can be counted without parsing it."""
_PRINTED = re.compile(r"\b(?:Decimal|UUID|Timestamp|datetime\.\w+|date|time)\(([^()]{0,200})\)")
"""Values that Python prints as calls: they become text, so that rows can be counted."""
_ROWS_IN_WORDS = re.compile(
    r"(?:no|0) rows? (?:returned|found)|returned (?:no|0) rows?|empty result"
    r"|^\W*(?:no|0|zero) (?:matching )?(?:rows?|results?|records?|data)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool's reply says: whether the call reached the tool, whether it failed, and what was seen of the rows."""

    reached: bool = True
    failed: bool = False
    error: str | None = None
    content: Any = None
    columns: tuple[str, ...] = ()
    row_count: int | None = None
    truncated: bool | None = None
    truncated_by: str | None = None
    row_cap: int | None = None
    statements: tuple[Mapping[str, Any], ...] = ()
    """Results by statement, where the tool runs several and keeps them apart."""


def read_reply(outcome: Outcome) -> Reply:
    """Judge a reply. Flags of frameworks are believed when they say failure, not when they say success.

    >>> read_reply(Outcome(content="Error: (sqlite3.OperationalError) no such column: x", failed=False)).failed
    True
    >>> read_reply(Outcome(content="[('France', 667.62)]")).row_count
    1
    """
    content = outcome.content
    text = content if isinstance(content, str) else text_of(content) if _is_blocks(content) else None
    error = outcome.error
    if error is None and text is not None and _ERROR.match(text[:_HEAD]):
        error = text
    if (
        error is None
        and text is not None
        and len(text) < _NOTICE
        and _NEVER_REACHED.search(text)
        and text[0] not in "[{("
    ):
        error = text
    data = _data(text if text is not None else content)
    if error is None and isinstance(data, Mapping):
        error = _error_in(data)
    failed = bool(outcome.failed) or error is not None
    if outcome.failed and error is None and _is_rejection(data):
        error = f"{len(data)} validation errors for the arguments: {data[0].get('msg')}"
    if failed and error is None:
        error = text if text is not None else "the tool reported a failure"
    reached = not (error is not None and _NEVER_REACHED.search(error[:_HEAD]))
    shown = _kept(text if text is not None else content)
    if failed:
        return Reply(reached=reached, failed=True, error=error, content=shown)
    return _rows(shown, text, data)


def _is_rejection(data: Any) -> bool:
    """Whether a failure's content is what arguments failed to validate on, as pydantic lists it."""
    found = mappings(data)
    return bool(found) and len(found) == len(data) and all({"type", "loc", "msg"} <= set(one) for one in found)


def _is_blocks(content: Any) -> bool:
    found = mappings(content)
    return bool(found) and len(found) == len(content) and all(isinstance(block.get("text"), str) for block in found)


def _kept(content: Any) -> Any:
    if isinstance(content, str) and len(content) > _KEPT:
        return content[:_KEPT]
    return content


def _data(content: Any) -> Any:
    """The content as data where it is JSON or a printed Python value, else None."""
    if not isinstance(content, str):
        return content
    text = content.strip()
    if not text or len(text) > _PARSED or text[0] not in "[{(":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text.startswith("[("):
        bare = _STRINGS.sub("''", _PRINTED.sub("0", text))
        if _TUPLES.fullmatch(bare):
            return [()] * bare.count("(")
    if len(text) > _PARSED_AS_PYTHON:
        return None
    try:
        return ast.literal_eval(_PRINTED.sub(_as_text, text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _as_text(match: re.Match[str]) -> str:
    return repr(match.group(1).strip("'\""))


def _error_in(data: Mapping[str, Any]) -> str | None:
    stated = data.get("error") or data.get("error_message")
    failed = data.get("success") is False or data.get("isError") is True or data.get("is_error") is True
    if not failed and (data.get("rows") is not None or data.get("columns") is not None):
        return None
    if isinstance(stated, str):
        return stated
    if isinstance(stated, Mapping):
        return str(stated.get("message") or stated)[:_HEAD]
    if failed:
        return str(data.get("message") or data.get("detail") or "the tool reported a failure")
    return str(data.get("message") or "error") if data.get("status") in ("error", "failed") else None


def _rows(shown: Any, text: str | None, data: Any) -> Reply:
    table: Any = data
    statements: tuple[Mapping[str, Any], ...] = ()
    truncated: bool | None = None
    columns: tuple[str, ...] = ()
    count: int | None = None
    for _ in range(3):
        if not isinstance(table, Mapping):
            break
        truncated = _flag(table, truncated)
        if isinstance(table.get("statements"), list):
            statements = tuple(mappings(table["statements"]))
            table = statements[0] if len(statements) == 1 else None
            continue
        names = table.get("columns", table.get("col_keys"))
        if isinstance(names, list):
            columns = tuple(str(_column_name(name)) for name in names)
        stated = table.get("row_count", table.get("rowCount", table.get("total_rows", table.get("count"))))
        count = stated if isinstance(stated, int) and not isinstance(stated, bool) else count
        table = next((table[key] for key in ("rows", "data", "result", "results") if key in table), None)
    seen = len(table) if isinstance(table, list) and _is_rows(table) else None
    if columns == () and isinstance(table, list) and table and isinstance(table[0], Mapping):
        columns = tuple(str(key) for key in table[0])
    by, cap = _cut_by(text) if truncated is not False else (None, None)
    if truncated is None and by is not None:
        truncated = True
    if truncated and cap is None:
        cap = seen
    if truncated and by is None:
        by = "the tool"
    if truncated and seen is not None and count is not None and count <= seen:
        count = None
    if count is None and not truncated:
        count = seen
    if (
        count is None
        and text is not None
        and (text.strip() in ("", "[]", "()", "{}") or _ROWS_IN_WORDS.search(text[:300]))
    ):
        count = 0
    return Reply(
        content=shown,
        columns=columns,
        row_count=count,
        truncated=truncated,
        truncated_by=by,
        row_cap=cap if truncated else None,
        statements=statements if len(statements) > 1 else (),
    )


def _flag(table: Mapping[str, Any], known: bool | None) -> bool | None:
    for key in ("truncated", "is_truncated", "has_more", "hasMore"):
        if isinstance(table.get(key), bool):
            return bool(table[key]) or bool(known)
    return known


def _column_name(value: Any) -> Any:
    return value.get("name", value) if isinstance(value, Mapping) else value


def _is_rows(values: Sequence[Any]) -> bool:
    """Rows are sequences or mappings; a list of bare values is one column of rows only when it is no list of names."""
    return all(isinstance(value, (list, tuple, Mapping)) for value in values)


def _cut_by(text: str | None) -> tuple[str | None, int | None]:
    if text is None:
        return None, None
    found = None
    for part in (text[:300], text[-700:]):
        found = found or _CUT.search(part)
    if found is not None:
        groups = [group for group in found.groups() if group]
        number = next((int(group.replace(",", "")) for group in groups if group[0].isdigit()), None)
        unit = next((group.lower() for group in groups if group[0].isalpha()), "")
        if number is None:
            return "the tool", None
        return f"{number} {unit}", number if unit in ("rows", "records", "results") else None
    return ("cells of 300 characters", None) if _has_cut_cells(text) else (None, None)


def _has_cut_cells(text: str) -> bool:
    """Whether a quoted cell is exactly as long as LangChain's limit and ends in three dots."""
    for match in islice(_CELL_ENDS.finditer(text[:_PARSED_AS_PYTHON]), 50):
        cell = text[max(0, match.start() - _CELL_LENGTH) : match.start()]
        if len(cell) == _CELL_LENGTH and "'" not in cell and '"' not in cell:
            return True
    return False
