"""`sqlassay init`: a configuration that works, three starter cases and, where wanted, a first agent function."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlassay.errors import UsageError

if TYPE_CHECKING:
    from sqlassay.records.relation import Schema

_SUFFIXES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb", ".ddb": "duckdb"}
_RESERVED = re.compile(
    "all|analyze|and|any|array|as|asc|between|by|case|cast|check|collate|column|constraint|create|cross|"
    "default|delete|desc|distinct|do|drop|else|end|except|exists|false|fetch|for|foreign|from|full|grant|"
    "group|having|in|index|inner|insert|intersect|into|is|join|key|left|like|limit|natural|not|null|on|or|"
    "order|outer|primary|range|rank|references|right|row|rows|select|set|system|table|then|to|trigger|true|"
    "union|unique|update|user|using|values|view|when|where|window|with"
)
"""Words that some engine does not take bare as a name."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_BARE = re.compile(r"[A-Za-z](?:[\w ()*.?/@%+-]|:(?=\S))*(?<=\S)", re.ASCII)

_CONFIG = """\
# What sqlassay runs, and against what. Every key: `sqlassay schema config`.
cases: cases.yaml

database: {database}

# Kinds: python (a function), http, command, replay (recorded answers); see docs/agents.md.
agent:
{agent}

score: {{tolerance: guarded, columns: any, ties: accept}}
run: {{jobs: 4, timeout_s: 60}}

# A gate decides only when you ask it to: sqlassay run --gate
gate:
  require: ["execution.exact >= 0.9", "bucket.no_query_hallucination == 0"]
"""

_PYTHON_AGENT = """\
  kind: python
  target: {target}
"""
_HTTP_AGENT = """\
  kind: http
  url: "{target}"
  # headers: {{Authorization: "Bearer ${{AGENT_TOKEN}}"}}
  body: {{question: "{{question}}"}}
  # Left: the field of the turn record. Right: where it stands in the response (JMESPath).
  map: {{candidate_sql: sql, answer: answer, status: status}}
"""
_COMMAND_AGENT = """\
  kind: command
  command: "{target}"
"""
_REPLAY_AGENT = """\
  kind: replay
  path: {target}
"""
_AGENTS = {"python": _PYTHON_AGENT, "http": _HTTP_AGENT, "command": _COMMAND_AGENT, "replay": _REPLAY_AGENT}

_STUB = '''\
"""The agent under test, as sqlassay calls it. Put the call to yours here."""


def answer(question: str) -> dict[str, str]:
    """Return what your agent answered: `sql`, and where it has them `answer` and `status`."""
    return {{"sql": {sql}, "answer": f"A first guess at: {{question}}"}}
'''


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; the current folder by default.")] = Path(),
    database: Annotated[
        str | None, typer.Option("--database", metavar="URL|FILE", help="A database URL or a SQLite or DuckDB file.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="KIND", help="python, http, command or replay.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="module:function, URL, command line or file of the agent, by its kind."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write a configuration that works, with three starter cases; asks only at a terminal."""
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    if database is None and interactive:
        database = typer.prompt("Database (a URL, or a SQLite or DuckDB file)", default=_found_database(folder))
    if agent is None:
        question = "Agent kind (python, http, command, replay)"
        agent = typer.prompt(question, default="python") if interactive else "python"
    if agent not in _AGENTS:
        raise UsageError(f"there is no agent kind {agent!r} to start with", hint=f"choose one of {', '.join(_AGENTS)}")
    url = _url(database or _found_database(folder), folder)
    tables = _tables(_read_schema(url, folder))
    dialect = url.partition(":")[0].partition("+")[0]
    stub = target is None and agent == "python"
    target = (
        target
        or {
            "python": "my_agent:answer",
            "http": "http://127.0.0.1:8000/ask",
            "command": "python my_agent.py",
            "replay": "predictions.jsonl",
        }[agent]
    )
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "sqlassay.yaml": _CONFIG.format(database=_scalar(url), agent=_AGENTS[agent].format(target=target).rstrip()),
        "cases.yaml": _starter_cases(tables, dialect),
    }
    if stub:
        files["my_agent.py"] = _STUB.format(sql=json.dumps(_count(tables[0], dialect)))
    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{', '.join(there)} already there", hint="use --force to replace, or name another folder")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"wrote {folder / name}")
    step = "" if folder == Path() else f"cd {folder} && "
    print(f"next: edit cases.yaml, then {step}sqlassay run")


def _found_database(folder: Path) -> str:
    found = sorted(path.name for path in folder.glob("*") if path.suffix in _SUFFIXES) if folder.is_dir() else []
    return found[0] if found else "my.db"


def _url(database: str, folder: Path) -> str:
    if "://" in database:
        return database
    path = Path(database)
    if not path.is_absolute() and not (folder / path).exists() and path.exists():
        path = path.resolve()
    return f"{_SUFFIXES.get(path.suffix, 'sqlite')}:///{path}"


def _read_schema(url: str, folder: Path) -> Schema | None:
    """The schema, or None with a word on stderr: a configuration can be written before its database is there."""
    from sqlassay.databases import connect
    from sqlassay.errors import SqlassayError

    scheme, _, path = url.partition(":///")
    if scheme in ("sqlite", "duckdb") and not Path(path).is_absolute():
        url = f"{scheme}:///{(folder / path).resolve()}"
    try:
        database = connect(url)
        try:
            return database.schema()
        finally:
            database.close()
    except SqlassayError as error:
        print(f"note: {error.message}; the starter cases name a made-up table", file=sys.stderr)
        return None


def _tables(schema: Schema | None) -> list[str]:
    found = [] if schema is None else [table.name for table in schema.tables if not table.is_view]
    return found or ["my_table"]


def _quoted(name: str, dialect: str) -> str:
    """A name as this engine takes it: bare where no engine folds or reserves it."""
    mark = "`" if dialect in ("mysql", "mariadb") else '"'
    parts = [name] if dialect == "sqlite" else name.split(".")
    return ".".join(
        part if _PLAIN.fullmatch(part) and not _RESERVED.fullmatch(part) else mark + part.replace(mark, mark * 2) + mark
        for part in parts
    )


def _count(table: str, dialect: str) -> str:
    return f"SELECT COUNT(*) FROM {_quoted(table, dialect)}"


def _scalar(text: str) -> str:
    """Text as YAML takes it: as it is where nothing in it could mean something else."""
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _starter_cases(tables: list[str], dialect: str) -> str:
    first, last = tables[0], tables[:2][-1]
    everything = f"SELECT * FROM {_quoted(last, dialect)}"
    cases = [
        "# Three cases to start from: replace them with questions your users ask. All fields: docs/cases.md\n",
        f"- id: count_{_slug(first)}\n  question: {_scalar(f'How many rows are there in {first}?')}\n"
        f"  category: count\n  gold_sql: {_scalar(_count(first, dialect))}\n  compare_on: scalar\n",
        f"- id: all_{_slug(last)}\n  question: {_scalar(f'Show everything in {last}.')}\n  category: table\n"
        f"  gold_sql: {_scalar(everything)}\n",
        "- id: not_in_the_data\n  question: What will the weather be tomorrow?\n  category: behaviour\n"
        "  expect: {terminal_status: UNSUPPORTED}\n",
    ]
    return "\n".join(cases)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name).strip("_").lower() or "table"
