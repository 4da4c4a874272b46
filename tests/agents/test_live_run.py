"""Real frameworks with a scripted model on the demo's films, from the configuration through a run to the report."""

from __future__ import annotations

import runpy
import sqlite3
import sys
from pathlib import Path

import pytest

import sqlassay
from sqlassay.records.measurement import Bucket
from sqlassay.records.turn import CandidateSource
from sqlassay.report import html

CATALOGUE = Path(__file__).parents[2] / "examples" / "films" / "catalogue.py"

CASES = """
- id: count
  question: How many films are there?
  phrasings: [Count the films.]
  gold_sql: SELECT COUNT(*) FROM films
- id: titles
  question: Which films came out in 2021?
  gold_sql: SELECT title FROM films WHERE release_year >= 2021
  compare_on: {id_set: title}
- id: follow_up
  turns:
    - How many films are there?
    - And how many people?
  gold_sql: SELECT COUNT(*) FROM people
- id: endless
  question: Never stop looking.
  gold_sql: SELECT title FROM films
- id: weather
  question: What is the weather?
  expect: {terminal_status: UNSUPPORTED}
- id: declined
  question: Which genres are there?
  gold_sql: SELECT genre_label FROM v_genres
"""

SCRIPT = """
COUNTED = ("SELECT COUNT(*) FROM films", "There are 720 films.")
ANSWERS = {
    "How many films are there?": COUNTED,
    "Count the films.": COUNTED,
    "Which films came out in 2021?": ("SELECT title FROM films WHERE release_year = 2021", "These are all of them."),
    "And how many people?": ("SELECT COUNT(*) FROM people", "So many."),
}
REFUSAL = "I cannot answer that: the database holds no such data."
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
        asked = max(at for at, message in enumerate(messages) if message.type == "human")
        question, messages = messages[asked].content, messages[asked:]
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
    asked = max(at for at, one in enumerate(messages) if one.parts[-1].part_kind == "user-prompt")
    question, messages = messages[asked].parts[-1].content, messages[asked:]
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


RECORDED = (
    SCRIPT
    + """
import sqlite3

from sqlalchemy import create_engine, text

from sqlassay.agents.recorder import record

engine = record(create_engine("sqlite:///DATABASE"))
connection = record(sqlite3.connect("DATABASE", check_same_thread=False))


def answer(question, history=()):
    \"\"\"An agent that tells nothing of the SQL that it sends.\"\"\"
    if question == "Never stop looking.":
        raise TimeoutError("no more steps")
    if question not in ANSWERS:
        return {"answer": REFUSAL, "status": "UNSUPPORTED"}
    sql, said = ANSWERS[question]
    if history:
        connection.execute(sql).fetchall()
    else:
        with engine.connect() as opened:
            opened.execute(text(sql)).fetchall()
    return {"answer": said}
"""
)


def run(tmp_path: Path, program: str, agent: str, monkeypatch: pytest.MonkeyPatch) -> sqlassay.Run:
    database = tmp_path / "films.db"
    monkeypatch.setattr(sys, "argv", [str(CATALOGUE), str(database)])
    runpy.run_path(str(CATALOGUE), run_name="__main__")
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "film_agent.py").write_text(program.replace("DATABASE", str(database)))
    config = tmp_path / "sqlassay.yaml"
    config.write_text(
        f"cases: cases.yaml\ndatabase: sqlite:///films.db\nagent: {agent}\nrun: {{repeats: 2, jobs: 1}}\n"
    )
    return sqlassay.run(config)


def check(run: sqlassay.Run, *, offered: bool, endless: Bucket = Bucket.STEP_BUDGET) -> None:
    every: dict[str, set[Bucket | None]] = {}
    for score in run.scores:
        every.setdefault(score.case_id, set()).add(score.bucket)
    assert every == {
        "count": {None},
        "titles": {Bucket.TOO_FEW_ROWS},
        "follow_up": {None},
        "endless": {endless},
        "weather": {None},
        "declined": {Bucket.DECLINED},
    }
    asked = [(turn.case_id, turn.phrasing, turn.repeat) for turn in run.turns]
    assert sorted(asked) == sorted(
        [(case, 0, repeat) for case in every for repeat in (0, 1)] + [("count", 1, repeat) for repeat in (0, 1)]
    )
    turns = {turn.case_id: turn for turn in run.turns}
    assert [query.sql for query in turns["count"].queries if query.executed][-1] == "SELECT COUNT(*) FROM films"
    assert turns["follow_up"].question == "And how many people?"
    assert turns["follow_up"].history[0].content == "How many films are there?"
    assert [query.sql for query in turns["follow_up"].queries if query.executed][-1] == "SELECT COUNT(*) FROM people"
    scores = {score.case_id: score for score in run.scores}
    assert scores["count"].value("answer.grounded_numbers") == 1
    assert scores["weather"].value("behaviour.refusal_recall") == 1
    metrics = run.summary.to_dict()["metrics"]
    assert metrics["behaviour.refusal_precision"]["mean"] == 0.5
    assert metrics["behaviour.over_refusal"]["mean"] == 0.2
    page = html.render(run.report)
    assert endless.value in page
    assert "SELECT COUNT(*) FROM films" in page
    if offered:
        assert scores["count"].value("retrieval.in_turn.recall") == 1


@pytest.mark.timeout(300)
def test_langgraphs_sql_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph", reason="LangGraph is not installed (extra langgraph)")
    pytest.importorskip("langchain_community", reason="LangChain is not installed (extra langgraph)")
    done = run(tmp_path, LANGGRAPH, '{kind: langgraph, target: "film_agent:graph", recursion_limit: 12}', monkeypatch)
    check(done, offered=True)
    assert all(turn.queries[-1].tool == "sql_db_query" for turn in done.turns if turn.case_id == "count")


@pytest.mark.timeout(300)
def test_a_pydantic_ai_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (extra pydantic-ai)")
    settings = '{kind: pydantic_ai, target: "film_agent:agent", usage_limits: {request_limit: 5}}'
    done = run(tmp_path, PYDANTIC_AI, settings, monkeypatch)
    check(done, offered=False)


@pytest.mark.timeout(300)
def test_a_python_agent_whose_statements_only_the_recorder_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed (extra sqlalchemy)")
    done = run(tmp_path, RECORDED, '{kind: python, target: "film_agent:answer"}', monkeypatch)
    check(done, offered=False, endless=Bucket.AGENT_ERROR)
    counted = next(turn for turn in done.turns if turn.case_id == "count")
    assert counted.candidate_source is CandidateSource.ONLY_ONE
    followed = next(turn for turn in done.turns if turn.case_id == "follow_up")
    assert followed.queries[0].row_count == 1
    with sqlite3.connect(tmp_path / "films.db") as opened:
        (people,) = opened.execute("SELECT COUNT(*) FROM people").fetchone()
    opened.close()
    seen = followed.queries[0].seen
    assert seen is not None
    assert seen.content == [[people]]
