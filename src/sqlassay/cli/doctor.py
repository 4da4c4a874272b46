"""`sqlassay doctor`: does the adapter still recognise the agent, and is the database user a safe one?"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlassay.cli import options
from sqlassay.errors import AgentFailure

if TYPE_CHECKING:
    from sqlassay.agents.doctor import Examination
    from sqlassay.records.config import Config

_QUESTION = "How many rows are there?"


def doctor(
    config: options.ConfigFile = Path("sqlassay.yaml"),
    question: Annotated[
        str | None, typer.Option("--question", help="What to ask (default: the first case's question).")
    ] = None,
    json: options.Json = False,
) -> None:
    """Put one question to the agent and show what was extracted from where. Exit 4 when the adapter is broken."""
    from sqlassay.agents.doctor import require_healthy
    from sqlassay.cli.console import print_json, stdout
    from sqlassay.records.plain import to_plain
    from sqlassay.running.configure import load

    settings = load(config)
    warnings = _database_warnings(settings)
    asked, database = _question(settings)
    examination = asyncio.run(_examine(settings, question or asked, database))
    if json:
        print_json({**to_plain(examination), "database_warnings": warnings})
        require_healthy(examination)
        return
    from rich.table import Table

    console = stdout()
    console.print(f"agent {examination.agent}, asked: {examination.question}")
    table = Table("field", "extracted", "from", box=None, header_style="bold")
    for finding in examination.found:
        table.add_row(finding.field, finding.value, finding.source)
    console.print(table)
    if examination.missing:
        console.print(f"not extracted: {', '.join(finding.field for finding in examination.missing)}")
    if examination.tools_seen:
        console.print(f"tools seen: {', '.join(examination.tools_seen)}")
    for gap in examination.turn.gaps:
        console.print(f"gap: {gap}")
    for warning in warnings:
        console.print(f"warning: {warning}")
    require_healthy(examination)
    console.print("the adapter recognises the agent")


async def _examine(settings: Config, question: str, database: str | None) -> Examination:
    from sqlassay.agents.doctor import examine, expected_from
    from sqlassay.records.ask import Ask
    from sqlassay.running.plan import build_agent

    agent = build_agent(settings)
    try:
        ask = Ask(question=question, request_id="doctor", database=database)
        return await asyncio.wait_for(
            examine(agent, ask, expected=expected_from(settings.agent or {})), settings.run.timeout_s
        )
    except TimeoutError as error:
        limit = f"{settings.run.timeout_s:g} s"
        raise AgentFailure(f"the agent gave no answer within {limit}", kind="agent_timeout") from error
    finally:
        await agent.close()


def _question(settings: Config) -> tuple[str, str | None]:
    from sqlassay.datasets import load

    if not settings.cases:
        return _QUESTION, None
    cases = load([Path(settings.base_dir) / path for path in settings.cases]).cases
    return (cases[0].question, cases[0].database) if cases else (_QUESTION, None)


def _database_warnings(settings: Config) -> list[str]:
    from sqlassay.databases import connect

    warnings = []
    for name, each in settings.databases.items():
        if each.url is None:
            continue
        database = connect(each.url, name=name)
        try:
            warnings += [f"database {name}: {text}" for text in database.warnings()]
        finally:
            database.close()
    return warnings
