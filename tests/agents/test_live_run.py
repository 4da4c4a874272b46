"""Real frameworks with a scripted model, from the configuration through a run to the report."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import sqlassay
from sqlassay.records.measurement import Bucket
from sqlassay.report import html

CASES = """
- id: count
  question: How many films are there?
  gold_sql: SELECT COUNT(*) FROM films
- id: titles
  question: Which films came out in 2021?
  gold_sql: SELECT title FROM films WHERE year = 2021
- id: endless
  question: Never stop looking.
  gold_sql: SELECT title FROM films
- id: weather
  question: What is the weather?
  expect: {terminal_status: UNSUPPORTED}
"""

SCRIPT = """
ANSWERS = {
    "How many films are there?": ("SELECT COUNT(*) FROM films", "There are 3 films."),
    "Which films came out in 2021?": ("SELECT title FROM films WHERE year = 2020", "Dune came out in 2021."),
}
REFUSAL = "I cannot answer that: the database holds no weather data."
"""

LANGGRAPH = (
    SCRIPT
    + """
from langchain.agents import create_agent
from langchain_community.agent_toolkits import SQLDatabaseToolkit
from langchain_community.utilities import SQLDatabase
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from sqlalchemy import create_engine

from sqlassay.agents.recorder import record


class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **keywords):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **keywords):
        question = next(m.content for m in messages if m.type == "human")
        return ChatResult(generations=[ChatGeneration(message=self.reply(question, messages))])

    def reply(self, question, messages):
        def call(name, **arguments):
            return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": str(len(messages))}])

        if question == "Never stop looking.":
            return call("sql_db_query", query="SELECT 1")
        if question not in ANSWERS:
            return AIMessage(REFUSAL)
        sql, said = ANSWERS[question]
        steps = [
            call("sql_db_list_tables", tool_input=""),
            call("sql_db_schema", table_names="films"),
            call("sql_db_query", query=sql),
            AIMessage(said),
        ]
        return steps[sum(m.type == "tool" for m in messages)]


database = SQLDatabase(record(create_engine("sqlite:///DATABASE")))
model = Scripted()
graph = create_agent(model, SQLDatabaseToolkit(db=database, llm=model).get_tools())
"""
)

PYDANTIC_AI = (
    SCRIPT
    + """
import sqlite3

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from sqlassay.agents.recorder import record

connection = record(sqlite3.connect("DATABASE", check_same_thread=False))


def reply(messages, info):
    question = messages[0].parts[-1].content
    if question == "Never stop looking.":
        return ModelResponse(parts=[ToolCallPart("run_sql", {"sql": "SELECT 1"})])
    if question not in ANSWERS:
        return ModelResponse(parts=[TextPart(REFUSAL)])
    sql, said = ANSWERS[question]
    if len(messages) > 2:
        return ModelResponse(parts=[TextPart(said)])
    return ModelResponse(parts=[ToolCallPart("run_sql", {"sql": sql})])


agent = Agent(FunctionModel(reply))


@agent.tool_plain
def run_sql(sql: str) -> str:
    return str(connection.execute(sql).fetchall())
"""
)


def run(tmp_path: Path, program: str, agent: str) -> sqlassay.Run:
    database = tmp_path / "films.db"
    with sqlite3.connect(database) as made:
        made.executescript(
            "CREATE TABLE films (title TEXT, year INTEGER);"
            "INSERT INTO films VALUES ('Dune', 2021), ('Titane', 2021), ('Tenet', 2020);"
        )
    made.close()
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "film_agent.py").write_text(program.replace("DATABASE", str(database)))
    config = tmp_path / "sqlassay.yaml"
    config.write_text(f"cases: cases.yaml\ndatabase: sqlite:///films.db\nagent: {agent}\n")
    return sqlassay.run(config)


def check(run: sqlassay.Run, *, offered: bool) -> None:
    buckets = {score.case_id: score.bucket for score in run.scores}
    assert buckets == {
        "count": None,
        "titles": Bucket.TOO_FEW_ROWS,
        "endless": Bucket.STEP_BUDGET,
        "weather": None,
    }
    turns = {turn.case_id: turn for turn in run.turns}
    assert [query.sql for query in turns["count"].queries if query.executed][-1] == "SELECT COUNT(*) FROM films"
    assert len(turns["endless"].queries) > 1
    scores = {score.case_id: score for score in run.scores}
    assert scores["count"].value("answer.grounded_numbers") == 1
    assert scores["weather"].value("behaviour.refusal_recall") == 1
    page = html.render(run.report)
    assert "step_budget" in page
    assert "SELECT COUNT(*) FROM films" in page
    if offered:
        assert scores["count"].value("retrieval.in_turn.recall") == 1


@pytest.mark.timeout(300)
def test_langgraphs_sql_agent(tmp_path: Path) -> None:
    pytest.importorskip("langgraph", reason="LangGraph is not installed (extra langgraph)")
    pytest.importorskip("langchain_community", reason="LangChain is not installed (extra langgraph)")
    done = run(tmp_path, LANGGRAPH, '{kind: langgraph, target: "film_agent:graph", recursion_limit: 12}')
    check(done, offered=True)


@pytest.mark.timeout(300)
def test_a_pydantic_ai_agent(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (extra pydantic-ai)")
    done = run(
        tmp_path, PYDANTIC_AI, '{kind: pydantic_ai, target: "film_agent:agent", usage_limits: {request_limit: 5}}'
    )
    check(done, offered=False)
