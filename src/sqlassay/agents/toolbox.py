"""Which of an agent's tools run SQL, only look at it, describe the schema, ask the user or end the turn?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from sqlassay.agents.fields import did_you_mean
from sqlassay.errors import ConfigError

KINDS = ("query", "check", "explain", "schema", "list", "ask", "final", "memory", "delegate", "other")
"""What a tool may do; `other` tools reach no database."""

SQL_ARGUMENTS = ("query", "sql", "sql_query", "statement", "sql_statement", "sql_text", "queries", "statements")

WIDELY_USED: Mapping[str, tuple[str, ...]] = {
    "query": (
        *("run_sql", "execute_sql", "sql_query", "run_query", "execute_query", "query_database", "read_query"),
        *("sql_db_query", "sql_engine"),
    ),
    "check": ("check_sql", "check_query", "validate_sql", "validate_query", "sql_db_query_checker"),
    "explain": ("explain_sql", "explain_query"),
    "schema": ("describe_tables", "describe_table", "get_schema", "get_table_schema", "table_schema", "sql_db_schema"),
    "list": ("list_tables", "get_tables", "sql_db_list_tables"),
    "ask": ("ask_user", "ask_human", "ask_clarification", "request_clarification"),
}
"""Names that agents built by hand commonly give their tools; a framework that ships tools has its own instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """Tool names by kind, and the names of the arguments that hold SQL.

    Names may hold `*`. The prefix `mcp__<server>__` that clients put before an MCP tool's name is dropped.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sql_arguments: tuple[str, ...] = SQL_ARGUMENTS
    dialect: str | None = None

    def kind(self, tool: str) -> str | None:
        """The kind of a tool, None where its name is not known.

        >>> Toolbox(names={"query": ("execute_sql_*",)}).kind("mcp__db__execute_sql_sales")
        'query'
        """
        bare = bare_name(tool)
        for kind in KINDS:
            for name in self.names.get(kind, ()):
                if name in (tool, bare) or ("*" in name and fnmatchcase(bare, name)):
                    return kind
        return None

    def sql_in(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The statements among a call's arguments, by the argument names that hold SQL, else a single text argument.

        >>> Toolbox().sql_in({"sql": "SELECT 1", "limit": 5}), Toolbox().sql_in({"tool_input": "SELECT 1"})
        (('SELECT 1',), ('SELECT 1',))
        """
        for name in self.sql_arguments:
            value = arguments.get(name)
            if isinstance(value, str):
                return (value,)
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                return tuple(value)
        texts = [value for value in arguments.values() if isinstance(value, str)]
        return (texts[0],) if len(texts) == 1 else ()


def bare_name(tool: str) -> str:
    """A tool's own name without the prefix of an MCP client.

    >>> bare_name("mcp__sqlite__read_query")
    'read_query'
    """
    if tool.startswith("mcp__"):
        return tool.split("__", 2)[-1]
    return tool.removeprefix("functions.")


def toolbox(
    settings: Mapping[str, Any], defaults: Mapping[str, tuple[str, ...]], *, also: tuple[str, ...] = ()
) -> Toolbox:
    """The defaults of a framework, with the kinds that `settings["tools"]` names replaced.

    Args:
        settings: `tools` (kind to a name or a list of names), `sql_arguments` (argument names), `dialect`.
        defaults: the framework's own tool names by kind.
        also: settings that the reader has besides these.

    Raises:
        ConfigError: `tools` is no mapping of kinds to names, or a setting is unknown.
    """
    allowed = ("tools", "sql_arguments", "dialect", *also)
    for key in settings:
        if key not in allowed:
            raise ConfigError(
                f"unknown setting {key!r}{did_you_mean(str(key), allowed)}",
                hint=f"known settings: {', '.join(allowed)}",
            )
    given = settings.get("tools", {})
    if not isinstance(given, Mapping):
        raise ConfigError("tools must be a mapping of kinds to tool names", hint=f"kinds: {', '.join(KINDS)}")
    names = dict(defaults)
    for kind, value in given.items():
        if kind not in KINDS:
            raise ConfigError(
                f"tools: unknown kind {kind!r}{did_you_mean(str(kind), KINDS)}", hint=f"kinds: {', '.join(KINDS)}"
            )
        names[kind] = _names(value, of=str(kind))
    arguments = settings.get("sql_arguments")
    return Toolbox(
        names=names,
        sql_arguments=SQL_ARGUMENTS if arguments is None else _names(arguments, of="sql_arguments"),
        dialect=settings.get("dialect"),
    )


def _names(value: Any, *, of: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{of} must be a name or a list of names")
