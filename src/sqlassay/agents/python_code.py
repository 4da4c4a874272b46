"""Which tools does a piece of Python code call, and with which literal arguments? The code is parsed, never run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from sqlassay.agents.statements import looks_like_sql

BUILT: Mapping[str, Any] = {"__built__": True}
"""Stands for arguments that are put together at run time."""

_LIMIT = 200_000
_WITH_SQL = ("query", "check", "explain", "schema")
_UNKNOWN = (None, "delegate")
_CLIENTS = ("execute", "executescript", "read_sql", "read_sql_query", "sql", "query", "run", "run_sql")
"""Methods of database clients: a statement given to one of them was not given to a tool of the agent."""
_REPEATS = (ast.For, ast.While, ast.AsyncFor)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCall:
    """One call in the code, with the characters of the code from which and up to which its statement reaches."""

    tool: str
    arguments: Mapping[str, Any]
    start: int = 0
    end: int = 0
    conditional: bool = False
    """It stands under a condition, or where an exception is caught: the code does not tell what became of it."""


@dataclass(slots=True, kw_only=True)
class Session:
    """What pieces of code that run one after the other leave behind: names with one known text, and all names."""

    known: dict[str, str | None] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)

    def forget(self, before: Mapping[str, str | None]) -> None:
        """The last piece broke off: which of its assignments were made is not known."""
        for name, text in self.known.items():
            if before.get(name) != text:
                self.known[name] = None


def calls_in(
    code: str, *, kind: Callable[[str], str | None], session: Session | None = None
) -> tuple[list[CodeCall], bool]:
    """Calls of tools in source order, and whether the code could be parsed.

    Names that were assigned a literal once are followed; anything else an argument is made of gives `BUILT`, and so
    does a call inside a loop or function, which may happen any number of times. A function that neither Python nor the
    code defines is a tool whose name is not known, as is the method of a database client that is given SQL.

    Args:
        code: the code.
        kind: what the tool of a name does, None where the name is not known.
        session: what earlier pieces left behind; it is brought up to date.

    >>> calls_in('q = "SELECT 1"\\nprint(sql_engine(q))', kind={"sql_engine": "query"}.get)[0][0].arguments
    {'query': 'SELECT 1'}
    """
    if len(code) > _LIMIT:
        return [], False
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], False
    session = Session() if session is None else session
    session.defined.update(_names_made(tree))
    reader = _Reader(
        kind=kind, defined=session.defined, lines=[0, *accumulate(len(line) for line in code.splitlines(keepends=True))]
    )
    reader.walk(tree.body, session.known, repeated=False, conditional=False)
    return reader.found, True


def _names_made(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, _DEFINES):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".", 1)[0]
        elif isinstance(node, ast.arg):
            yield node.arg


@dataclass(slots=True, kw_only=True)
class _Reader:
    kind: Callable[[str], str | None]
    defined: set[str]
    lines: list[int]
    found: list[CodeCall] = field(default_factory=list)

    def walk(self, body: list[ast.stmt], known: dict[str, str | None], *, repeated: bool, conditional: bool) -> None:
        for statement in body:
            start = self.lines[statement.lineno - 1] + statement.col_offset
            end = self.lines[(statement.end_lineno or statement.lineno) - 1] + (statement.end_col_offset or 0)
            for node, often, maybe in _calls(statement):
                tool, arguments = self._tool(node, known)
                if tool is not None:
                    self.found.append(
                        CodeCall(
                            tool=tool,
                            arguments=BUILT if repeated or often else arguments,
                            start=start,
                            end=end,
                            conditional=conditional or maybe,
                        )
                    )
            _learn(statement, known)
            self._blocks(statement, known, repeated=repeated, conditional=conditional)

    def _blocks(self, statement: ast.stmt, known: dict[str, str | None], *, repeated: bool, conditional: bool) -> None:
        blocks = [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(statement, "handlers", [])]
        blocks += [case.body for case in getattr(statement, "cases", [])]
        repeats = isinstance(statement, (*_REPEATS, *_DEFINES))
        caught = isinstance(statement, (ast.Try, ast.TryStar)) and bool(statement.handlers)
        maybe = caught or isinstance(statement, (ast.If, ast.Match))
        for block in blocks:
            if not isinstance(block, list) or not block:
                continue
            inner = dict(known) if repeats or maybe else known
            self.walk(block, inner, repeated=repeated or repeats, conditional=conditional or maybe)
            if inner is not known and not isinstance(statement, _DEFINES):
                known.update({name: None for name, text in inner.items() if known.get(name) != text})

    def _tool(self, node: ast.Call, known: Mapping[str, str | None]) -> tuple[str | None, Mapping[str, Any]]:
        """The tool that a call calls, None where it calls none, and its arguments."""
        arguments = _arguments(node, known)
        if isinstance(node.func, ast.Attribute):
            given = arguments.get("query")
            is_client = node.func.attr in _CLIENTS and looks_like_sql(given)
            return (node.func.attr if is_client else None), {"sql": given}
        if not isinstance(node.func, ast.Name):
            return None, arguments
        name = node.func.id
        kind = self.kind(name)
        if kind in _WITH_SQL:
            return name, arguments
        if kind in _UNKNOWN and name not in self.defined and not hasattr(builtins, name):
            return name, {} if arguments == BUILT else arguments
        return None, arguments


def _calls(statement: ast.stmt) -> list[tuple[ast.Call, bool, bool]]:
    """Calls in a statement's own expressions, in the order in which they stand, blocks below it left out; with each,
    whether it may happen several times, and whether it may not happen at all."""
    calls: list[tuple[ast.Call, bool, bool]] = []
    pending: list[tuple[ast.AST, bool, bool]] = [
        (child, False, False)
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case))
    ]
    while pending:
        node, often, maybe = pending.pop()
        if isinstance(node, ast.Call):
            calls.append((node, often, maybe))
        often = often or isinstance(node, _COMPREHENSIONS)
        sure = node.test if isinstance(node, ast.IfExp) else node.values[0] if isinstance(node, ast.BoolOp) else None
        branches = isinstance(node, (ast.IfExp, ast.BoolOp))
        pending.extend(
            (child, often, maybe or (branches and child is not sure)) for child in ast.iter_child_nodes(node)
        )
    return sorted(calls, key=lambda call: (call[0].lineno, call[0].col_offset))


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
    """The text of a literal, of a name with one known literal, or of such texts that are put together."""
    parts: list[str] = []
    pending = [node]
    size = 0
    while pending:
        one = pending.pop()
        size += len(parts[-1]) if parts else 0
        if size > _LIMIT:
            return None
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            parts.append(one.value)
        elif isinstance(one, ast.Name) and known.get(one.id) is not None:
            parts.append(str(known[one.id]))
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            pending.extend((one.right, one.left))
        elif isinstance(one, ast.FormattedValue) and one.conversion == -1 and one.format_spec is None:
            pending.append(one.value)
        elif isinstance(one, ast.JoinedStr):
            pending.extend(reversed(one.values))
        else:
            return None
    return "".join(parts)


def _learn(statement: ast.stmt, known: dict[str, str | None]) -> None:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
        if isinstance(statement.target, ast.Name) and isinstance(statement.op, ast.Add):
            value = ast.BinOp(left=ast.Name(id=statement.target.id), op=ast.Add(), right=statement.value)
    elif isinstance(statement, ast.AnnAssign):
        targets, value = [statement.target], statement.value
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        targets = [statement.target]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                known[node.id] = None if value is None or node is not target else _text(value, known)
