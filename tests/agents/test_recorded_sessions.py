"""Recorded multi-turn sessions of an agent on Spider: the query taken for the answer is the one that was rewarded."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlassay.agents.registry import build
from sqlassay.agents.replay import ReplayAgent
from sqlassay.records.turn import CandidateSource

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
SESSIONS = DATA / "intercode_spider" / "trajectories"

pytestmark = [
    pytest.mark.public_data,
    pytest.mark.skipif(not SESSIONS.is_dir(), reason=f"the InterCode sessions are not at {SESSIONS}"),
]


def sessions() -> Iterator[dict[str, Any]]:
    for path in sorted(SESSIONS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def recorded(session: dict[str, Any]) -> dict[str, Any]:
    """A session as a line of a replay file: every statement with its outcome, and no answer query named."""
    queries = [
        {
            "sql": turn["sql"],
            "executed": True,
            "succeeded": bool(turn["ok"]),
            "error": None if turn["ok"] else turn["observation"],
            "seen": {"content": turn["observation"]},
        }
        for turn in session["turns"]
        if turn.get("sql")
    ]
    return {"id": session["id"], "question": session["question"], "queries": queries}


def test_the_last_successful_query_is_the_one_that_was_rewarded(tmp_path: Path) -> None:
    held = {session["id"]: session for session in sessions()}
    path = tmp_path / "sessions.jsonl"
    path.write_text("\n".join(json.dumps(recorded(session)) for session in held.values()))
    agent = build({"kind": "replay", "path": path.name}, base_dir=str(tmp_path))
    assert isinstance(agent, ReplayAgent)
    agent.check_ids(held)
    sources: Counter[str] = Counter()
    differing = []
    for case_id, session in held.items():
        turn = agent.read(agent.recorded(case_id=case_id))
        sources[turn.candidate_source.value] += 1
        best = max((step["reward"] for step in session["turns"]), default=0.0)
        if turn.candidate_source is CandidateSource.NONE:
            reward = 0.0
        else:
            reward = [s["reward"] for s in session["turns"] if s.get("sql") == turn.candidate_sql and s["ok"]][-1]
        if (reward == 1) != (best == 1):
            differing.append(case_id)
    assert sources == {"only_one": 684, "last_successful": 330, "none": 20}
    assert differing == []
