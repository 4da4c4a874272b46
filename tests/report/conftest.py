"""A run made by hand that has everything a report can show, and one whose every text is hostile."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlassay.records.case import Case, Expectation, Status
from sqlassay.records.measurement import Bucket, Measurement, ShapeLabel
from sqlassay.records.relation import Relation
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.turn import OfferedTable, Query, Retrieval, Role, Seen, Turn, Usage
from sqlassay.records.value import Ceiling, Quantity, Ratio, Reading, Reason, Undefined, verdict
from sqlassay.report import html
from sqlassay.report.build import build
from sqlassay.report.model import Report
from sqlassay.summary.aggregate import summarise
from sqlassay.testing.builders import case, measurement, relation, turn

SIGNATURE = "sqlassay 0.1.0 | scorer:1 | ties:accept | 0123456789ab"
_GOLD = """SELECT f.film_id, f.title, f.year
FROM films AS f JOIN film_genres AS g ON g.film_id = f.film_id
WHERE g.genre = 'Documentary' AND f.year >= 1990"""
_CANDIDATE = "SELECT f.film_id, f.title AS name, f.year, f.rating FROM films f WHERE f.year >= 1990"
_CAUSES = (
    *[Bucket.TOO_MANY_ROWS] * 4,
    Bucket.WRONG_VALUES,
    Bucket.SQL_ERROR,
    Bucket.NO_QUERY_HALLUCINATION,
    Bucket.DECLINED,
    Bucket.GOLD_ERROR,
)
HOSTILE = (
    "</script><script>window.hurt=1</script><img src=x onerror=window.hurt=1>",
    "javascript:window.hurt=1",
    "\u202edrow\u2066 \x00\x1b[31m\u2028",
    '"><svg onload=window.hurt=1>{{ 7*7 }}{% for %}',
    "=HYPERLINK(1)",
    "| a | `b` [x](javascript:alert(1)) @team <!--",
    "\ud800 lone",
)


def sample(size: int = 40, *, seed: int = 1, rows: int = 60) -> Report:
    """A run of `size` cases, about two thirds of which pass."""
    rng = random.Random(seed)
    cases: dict[str, Case] = {}
    lines: list[Measurement] = []
    turns: list[Turn] = []
    for number in range(size):
        name = f"films_{number:04d}"
        cases[name] = case(
            name,
            category=rng.choice(["filter", "join", "ranking"]),
            difficulty=rng.choice(["easy", "hard"]),
            tags=("smoke",) if number % 7 == 0 else (),
            database="films",
            question=f"Which documentaries from España are number {number}?",
            gold_sql=(_GOLD,),
            expect=Expectation(terminal_status=Status.SUCCESS, stages={"plan": {"op": "FILTER"}}),
        )
        bucket = None if number % 3 else rng.choice(_CAUSES)
        lines.append(_line(name, bucket, rng))
        turns.append(_turn(name))
    return _report(cases, lines, turns, lambda key: _sides(rows, right=_number(key) % 3 != 0))


def hostile() -> Report:
    """Every text of the run tries to break out of where it is shown."""
    cases, lines, turns = {}, [], []
    for number, text in enumerate(HOSTILE):
        name = f"case {number} {text}"
        cases[name] = case(
            name,
            question=text,
            category=text,
            tags=(text,),
            database=text,
            gold_sql=(f"SELECT '{text}' -- {text}",),
            notes=text,
        )
        lines.append(
            Measurement(
                case_id=name,
                metrics={
                    "outcome.pass": verdict(False),
                    "execution.exact": verdict(False),
                    f"stages.{text}": verdict(False),
                },
                bucket=Bucket.WRONG_VALUES,
                cause=text,
                shape=ShapeLabel.WRONG_VALUES,
                first_broken_stage=text,
                evidence={
                    "sql": {"gold_tables": [text]},
                    "component": {"tables": {"gold": [text], "candidate": [], "missing": [text], "extra": [text]}},
                    "output": {"pairs": [], "row_key": None},
                    "execution": {"candidate_error": {"kind": text, "message": text}},
                    "answer": {"numbers": [{"text": text, "by": None}]},
                },
            )
        )
        turns.append(
            turn(
                name,
                sql=f"SELECT '{text}'",
                question=text,
                answer=text * 3,
                queries=(Query(sql=text, tool=text, error=text, executed=True, seen=Seen(content=text)),),
                stages={text: {text: text}},
                retrieval=Retrieval(offered=(OfferedTable(name=text),)),
                gaps=(text,),
                adapter=text,
            )
        )
    wide = Relation(columns=tuple(relation("x").columns) * 500, rows=[tuple(["y" * 1_000_000] + ["z"] * 499)])
    named = relation("a b", *[(text, text) for text in HOSTILE])
    return _report(cases, lines, turns, lambda _: (wide, named), run_id="run")


def _line(name: str, bucket: Bucket | None, rng: random.Random) -> Measurement:
    share = Ratio(hits=1, total=1) if bucket is None else Ratio(hits=rng.randint(0, 9), total=10)
    metrics: dict[str, Reading] = {
        "execution.executable": verdict(bucket is not Bucket.SQL_ERROR),
        "retrieval.in_turn.recall": Ratio(hits=rng.randint(1, 2), total=2),
        "output.columns.precision": share,
        "output.columns.recall": share,
        "output.cells.precision": share,
        "output.cells.recall": share,
        "component.tables.precision": share,
        "component.tables.recall": share,
        "component.group_by.recall": Undefined(reason=Reason.NOTHING_TO_COUNT),
        "stages.plan": verdict(bucket is None),
        "cost.latency_s": Quantity(value=rng.lognormvariate(0, 0.5), unit="seconds"),
    }
    evidence: dict[str, Any] = {
        "sql": {"gold_tables": ["film_genres", "films"], "gold_origins": [None] * 3},
        "behaviour": {"expected": "SUCCESS", "actual": "SUCCESS", "status_source": "declared"},
        "output": {
            "pairs": [
                {"reference": "film_id", "candidate": "film_id", "by": "origin"},
                {"reference": "title", "candidate": "name", "by": "values"},
                {"reference": "year", "candidate": "year", "by": "origin"},
            ],
            "row_key": ["film_id"],
        },
        "component": {
            "filters": {
                "gold": ["film_genres.genre = 'Documentary'", "films.year >= 1990"],
                "candidate": ["films.year >= 1990"],
                "missing": ["film_genres.genre = 'Documentary'"],
                "extra": [],
            }
        },
        "answer": {"numbers": [{"text": "42", "by": None}, {"text": "60", "by": "row_count"}]},
    }
    shape = ShapeLabel(bucket.value) if bucket and bucket.value in set(ShapeLabel) else None
    return measurement(
        name,
        bucket=bucket,
        metrics=metrics,
        evidence=evidence,
        ceilings=[Ceiling.WEAK_EVIDENCE] if rng.random() < 0.2 else [],
        first_broken_stage="plan" if bucket else None,
        shape=shape,
    )


def _turn(name: str) -> Turn:
    return turn(
        name,
        sql=_CANDIDATE,
        question=f"Which documentaries from España are number {int(name[-4:])}?",
        answer="There are 60 documentaries, and 42 of them are short.",
        queries=(
            Query(
                sql="SELECT name FROM sqlite_master",
                role=Role.INTROSPECTION,
                executed=True,
                succeeded=True,
                row_count=4,
            ),
            Query(sql="SELECT filmid FROM films", executed=True, succeeded=False, error="no such column: filmid"),
            Query(sql=_CANDIDATE, executed=True, succeeded=True, row_count=60, duration_s=0.01),
        ),
        stages={"plan": {"op": "JOIN"}},
        retrieval=Retrieval(offered=(OfferedTable(name="films"), OfferedTable(name="ratings"))),
        usage=Usage(latency_s=1.0),
    )


def _number(key: TrialKey) -> int:
    return int(key.case_id[-4:])


def _sides(rows: int, *, right: bool) -> tuple[Relation, Relation]:
    gold = [(k, f"Película {k}", 1990 + k % 30) for k in range(rows)]
    found = [(k, title if right or k != 7 else "¡Ay!", year, k / 7) for k, title, year in gold if right or k != 3]
    return relation("film_id title year", *gold), relation("film_id name year rating", *found)


def _report(
    cases: dict[str, Case],
    lines: list[Measurement],
    turns: list[Turn],
    results: Callable[[TrialKey], tuple[Relation, Relation]],
    run_id: str = "films-1",
) -> Report:
    summary = summarise(lines, cases, signature=SIGNATURE, run_id=run_id)
    manifest = Manifest(
        run_id=run_id,
        state=RunState.COMPLETE,
        signature=SIGNATURE,
        started_at="2026-11-30T12:00:00Z",
        agent={"kind": "http"},
        versions={"python": "3.11"},
        notices=("no snapshot on this engine",),
    )
    return build(manifest, summary, measurements=lines, turns=turns, cases=cases, results=results)


@pytest.fixture(scope="session")
def report() -> Report:
    return sample()


@pytest.fixture(scope="session")
def hostile_report() -> Report:
    return hostile()


@pytest.fixture(scope="session")
def make_report() -> Callable[..., Report]:
    return sample


class Watched:
    """A page that notes every complaint of the browser and every request."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options})
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path, fragment: str = "") -> Any:
        self.page.goto(f"file://{path}{fragment}")
        return self.page

    def close(self) -> None:
        """Close the page, and prove that nothing was complained of and nobody else was asked."""
        self.page.close()
        assert self.complaints == []
        assert all(url.startswith("file://") for url in self.requests)


@pytest.fixture
def watch(browser: Any) -> Iterator[Callable[..., Watched]]:
    """Opens watched pages, with any options of the browser."""
    opened: list[Watched] = []

    def new(**options: Any) -> Watched:
        opened.append(Watched(browser, **options))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


@pytest.fixture
def watched(watch: Callable[..., Watched]) -> Watched:
    return watch()


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory, report: Report) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.render(report), encoding="utf-8")
    return path
