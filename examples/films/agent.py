"""A small text-to-SQL agent behind a real HTTP server: intent, semantic mapping, plan, SQL, answer.

    python agent.py --database films.db --cases cases.yaml --port 0

It prints the address it listens on. Its weaknesses are honest: a lexicon with holes, a join that fans out, a habit
of asking back, an answer from memory. `GET /health`, `POST /ask`, `POST /retrieve`.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from planning import ROW_CAP, PlanTooLong, plan
from retriever import Retriever
from understanding import understand

MEMORY = {
    "how many films are there": "There are about 500 films in the catalogue.",
    "what is the oldest film": "The oldest film is from 1962.",
}
"""Answers somebody once wrote into the prompt."""


class FilmsAgent:
    """One question in, one record of everything done out."""

    def __init__(self, database: Path, retriever: Retriever) -> None:
        self.database, self.retriever = database, retriever

    def ask(self, question: str, hide: set[str]) -> dict[str, Any]:
        started = time.perf_counter()
        reply: dict[str, Any] = {"state": "SUCCESS", "sql": None, "answer": "", "statements": [], "table": None}
        reply["retrieval"] = {
            "offered": [
                {"name": table["name"], "has_ddl": True, "columns": []} for table in self.retriever.tables(question)
            ],
            "offered_complete": True,
            "examples": [example["sql"] for example in self.retriever.similar(question, hide=hide)],
        }
        self._work(question, reply)
        steps = 1 + len(reply.get("stages", {}))
        reply["usage"] = {
            "steps": steps, "tool_calls": len(reply["statements"]), "model_calls": 0,
            "latency_s": round(time.perf_counter() - started, 6),
        }  # fmt: skip
        return reply

    def _work(self, question: str, reply: dict[str, Any]) -> None:
        remembered = MEMORY.get(question.lower().strip(" ?"))
        if remembered:
            reply["answer"] = remembered
            return
        meaning = understand(question)
        reply["stages"] = {
            "intent": {"type": meaning.intent},
            "semantic": {"status": meaning.status, "genre": meaning.genre, "country": meaning.country},
        }
        if meaning.status == "AMBIGUOUS":
            reply["state"], reply["answer"] = "CLARIFICATION", f"Could you say more? {meaning.trouble}."
            return
        if meaning.status == "OUT_OF_SCOPE":
            reply["state"], reply["answer"] = "UNSUPPORTED", f"I cannot help with this: {meaning.trouble}."
            return
        if meaning.status == "UNMAPPED":
            reply["state"], reply["answer"] = "FALLBACK", "Here is the catalogue's home page instead."
            return
        try:
            chosen = plan(meaning)
        except PlanTooLong as error:
            reply["state"], reply["answer"] = "BUDGET_EXHAUSTED", f"I ran out of steps: {error}."
            return
        reply["stages"]["plan"] = {"operation_type": chosen.operation}
        sent = f"{chosen.sql} LIMIT {ROW_CAP}" if chosen.capped else chosen.sql
        reply["sql"] = sent
        reply["stages"]["sql"] = {"text": chosen.sql}
        if re.search(r"\bprepare\b", question.lower()):
            reply["statements"].append({"sql": sent, "executed": False, "role": "query"})
            reply["answer"] = "The query is ready to be run."
            return
        self._run(chosen.sql, sent, reply, capped=chosen.capped)

    def _run(self, written: str, sent: str, reply: dict[str, Any], *, capped: bool) -> None:
        statement: dict[str, Any] = {"sql": sent, "sql_written": written, "role": "query", "executed": True}
        reply["statements"].append(statement)
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            cursor = connection.execute(sent)
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            statement.update(succeeded=False, error=str(error))
            reply["answer"] = "The database did not accept my query."
            return
        finally:
            connection.close()
        cut = capped and len(rows) == ROW_CAP
        statement.update(
            succeeded=True,
            row_count=len(rows),
            seen={"truncated": cut, "truncated_by": "row cap" if cut else None, "row_cap": ROW_CAP if capped else None},
        )
        names = [column[0] for column in cursor.description]
        reply["table"] = {
            "columns": names, "rows": rows, "row_count": len(rows), "truncated": cut,
            "row_cap": ROW_CAP if capped else None,
        }  # fmt: skip
        reply["answer"] = f"The answer is {rows[0][0]}." if len(rows) == 1 and len(names) == 1 else f"{len(rows)} rows."


class Handler(BaseHTTPRequestHandler):
    """Speaks JSON; a question that breaks the agent is answered with 500, as frameworks do."""

    agent: FilmsAgent

    def do_GET(self) -> None:
        self._send(200, {"ok": True})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        try:
            if self.path == "/retrieve":
                hide, hide_sql = set(body.get("hide", [])), set(body.get("hide_sql", []))
                question = body["question"]
                examples = self.agent.retriever.similar(question, hide=hide, hide_sql=hide_sql)
                self._send(200, {"tables": self.agent.retriever.tables(question), "examples": examples})
            else:
                if "’" in body["question"]:
                    body["question"].encode("ascii")
                self._send(200, self.agent.ask(body["question"], set(body.get("hide", []))))
        except (KeyError, UnicodeError) as error:
            self._send(500, {"error": f"{type(error).__name__}: {error}"})

    def _send(self, status: int, payload: dict[str, Any]) -> None:
        text = json.dumps(payload, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


def load_examples(path: Path) -> list[tuple[str, str, str]]:
    """The case file serves as the example store too, as it does in many systems; leave-one-out has to hide."""
    cases = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [(case["id"], case["question"], case["gold_sql"].strip()) for case in cases if "gold_sql" in case]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--database", type=Path, default=Path("films.db"))
    options.add_argument("--cases", type=Path, default=Path("cases.yaml"))
    options.add_argument("--port", type=int, default=8017)
    chosen = options.parse_args()
    Handler.agent = FilmsAgent(chosen.database, Retriever(chosen.database, load_examples(chosen.cases)))
    server = ThreadingHTTPServer(("127.0.0.1", chosen.port), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
