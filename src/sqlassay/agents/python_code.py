"""Which tools does a piece of Python code call, and with which literal arguments? The code is parsed, never run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

BUILT: Mapping[str, Any] = {"__built__": True}
"""Stands for arguments that are put together at run time."""

_LIMIT = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCall:
    """One call in the code, with the characters of the code from which and up to which its statement reaches."""

    tool: str
    arguments: Mapping[str, Any]
    start: int = 0
    end: int = 0


def calls_in(code: str, *, names: frozenset[str]) -> tuple[list[CodeCall], bool]:
    """Calls of the named functions in source order, and whether the code could be parsed.

    Names that were assigned a literal once are followed; anything else an argument is made of gives `BUILT`, and so
    does a call inside a loop or function, which may happen any number of times.

    >>> calls_in('q = "SELECT 1"\\nprint(sql_engine(q))', names=frozenset({"sql_engine"}))[0][0].arguments
    {'query': 'SELECT 1'}
    """
    if len(code) > _LIMIT:
        return [], False
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], False
    found: list[CodeCall] = []
    known: dict[str, str | None] = {}
    lines = [0, *accumulate(len(line) for line in code.splitlines(keepends=True))]
    _walk(tree.body, lines, names, known, found, repeated=False)
    return found, True


def _walk(
    body: list[ast.stmt],
    lines: list[int],
    names: frozenset[str],
    known: dict[str, str | None],
    found: list[CodeCall],
    *,
    repeated: bool,
) -> None:
    for statement in body:
        blocks = [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(statement, "handlers", [])]
        loops = isinstance(
            statement, (ast.For, ast.While, ast.AsyncFor, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        )
        start = lines[statement.lineno - 1] + statement.col_offset
        end = lines[(statement.end_lineno or statement.lineno) - 1] + (statement.end_col_offset or 0)
        for node in _expressions(statement):
            name = node.func.id if isinstance(node.func, ast.Name) else None
            if name in names and name is not None:
                arguments = BUILT if repeated else _arguments(node, known)
                found.append(CodeCall(tool=name, arguments=arguments, start=start, end=end))
        _learn(statement, known)
        for block in blocks:
            if isinstance(block, list):
                _walk(block, lines, names, known, found, repeated=repeated or loops)


def _expressions(statement: ast.stmt) -> list[ast.Call]:
    """Calls in a statement's own expressions, in the order in which they stand, blocks below it left out."""
    calls: list[ast.Call] = []
    pending: list[ast.AST] = [
        child for child in ast.iter_child_nodes(statement) if not isinstance(child, (ast.stmt, ast.excepthandler))
    ]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            calls.append(node)
        pending.extend(ast.iter_child_nodes(node))
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _arguments(call: ast.Call, known: Mapping[str, str | None]) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    given = [("query", call.args[0])] if call.args else []
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    for name, node in given:
        text = _text(node, known)
        if text is None:
            return BUILT
        values[name] = text
    return values


def _text(node: ast.expr, known: Mapping[str, str | None]) -> str | None:
    """The text of a literal, of a name with one known literal, or of literals that are added."""
    parts: list[str] = []
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            parts.append(one.value)
        elif isinstance(one, ast.Name) and known.get(one.id) is not None:
            parts.append(str(known[one.id]))
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            pending.extend((one.right, one.left))
        elif isinstance(one, ast.JoinedStr) and all(isinstance(value, ast.Constant) for value in one.values):
            pending.extend(reversed(one.values))
        else:
            return None
    return "".join(parts)


def _learn(statement: ast.stmt, known: dict[str, str | None]) -> None:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets, value = [statement.target], statement.value if isinstance(statement, ast.AnnAssign) else None
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        targets = [statement.target]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                known[node.id] = None if value is None or node is not target else _text(value, known)
