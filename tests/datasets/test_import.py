"""Other projects' files as cases: their layouts, what is left out and counted, and predictions joined by id."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from sqlassay.datasets import columns, import_, load, predictions
from sqlassay.datasets.defog import MAX_GOLDS, accepted
from sqlassay.errors import DatasetError, UsageError
from sqlassay.records.case import Case, Status
from sqlassay.running import configure

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
public = pytest.mark.skipif(not DATA.is_dir(), reason=f"public data sets are not at {DATA}")


def database(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    sqlite3.connect(file).close()


@pytest.fixture
def spider(tmp_path: Path) -> Path:
    """A folder as Spider publishes it."""
    database(tmp_path / "database" / "pets" / "pets.sqlite")
    rows = [
        {"db_id": "pets", "question": "How many?", "query": "SELECT count(*) FROM pets", "sql": {"select": []}},
        {"db_id": "cars", "question": "Which?", "query": "SELECT name FROM cars", "sql": {}},
    ]
    (tmp_path / "dev.json").write_text(json.dumps(rows))
    (tmp_path / "tables.json").write_text("[]")
    (tmp_path / "dev_gold.sql").write_text("SELECT count(*) FROM pets\tpets\nSELECT name FROM cars\tcars\n")
    return tmp_path


def test_spider_as_published(spider: Path) -> None:
    found = import_.convert("spider", spider)
    assert [(case.id, case.database, case.gold_sql) for case in found.cases] == [
        ("spider_dev_0000", "pets", ("SELECT count(*) FROM pets",)),
        ("spider_dev_0001", "cars", ("SELECT name FROM cars",)),
    ]
    assert list(found.databases) == ["pets"]
    assert found.notices == ("1 databases not found: cars",)
    gold = import_.convert("spider", spider / "dev_gold.sql")
    assert [case.gold_sql for case in gold.cases] == [case.gold_sql for case in found.cases]
    assert gold.cases[0].id == "spider_dev_0000"


def test_spider_predictions_by_line_are_joined_to_as_many_cases(spider: Path) -> None:
    file = spider / "predicted.txt"
    file.write_text("SELECT 1\tpets\n\n")
    found = import_.convert("spider", spider, answers=file)
    assert [(p.id, p.sql) for p in found.predictions] == [("spider_dev_0000", "SELECT 1"), ("spider_dev_0001", None)]
    file.write_text("SELECT 1\n")
    with pytest.raises(DatasetError, match="1 predictions for 2 cases; without ids they cannot be joined"):
        import_.convert("spider", spider, answers=file)


def test_an_import_is_ready_to_run(spider: Path, tmp_path: Path) -> None:
    answers = spider / "predicted.jsonl"
    answers.write_text('{"id": "spider_dev_0000", "sql": "SELECT 1"}\n')
    found = import_.convert("spider", spider, answers=answers)
    assert found.notices[-1] == "1 cases have no prediction"
    written = import_.write(found, tmp_path / "out", suffix=".jsonl")
    assert [file.name for file in written] == ["cases.jsonl", "predictions.jsonl", "sqlassay.yaml"]
    config = configure.load(written[-1], environment={})
    assert config.databases["pets"].url == f"sqlite:///{(spider / 'database/pets/pets.sqlite').resolve()}"
    assert config.agent == {"kind": "replay", "path": "predictions.jsonl"}
    assert [rule.value for rule in config.score.exact_as] == ["spider"]
    assert len(load(config.cases, base_dir=config.base_dir)) == 2
    with pytest.raises(UsageError, match="already there"):
        import_.write(found, tmp_path / "out", suffix=".jsonl")
    import_.write(found, tmp_path / "out", suffix=".jsonl", force=True)


def test_bird_as_published(tmp_path: Path) -> None:
    database(tmp_path / "dev_databases" / "films" / "films.sqlite")
    row = {
        "question_id": 7,
        "db_id": "films",
        "question": "How many?",
        "evidence": "film refers to films",
        "SQL": "SELECT COUNT(*) FROM films",
        "difficulty": "simple",
    }
    (tmp_path / "dev.json").write_text(json.dumps([row]))
    (tmp_path / "predict_dev.json").write_text(json.dumps({"7": "SELECT 1\t----- bird -----\tfilms"}))
    found = import_.convert("bird", tmp_path, answers=tmp_path / "predict_dev.json")
    [case] = found.cases
    assert (case.id, case.difficulty, case.notes) == ("bird_dev_7", "simple", "film refers to films")
    assert case.question == "How many?"
    assert found.predictions[0].id == "bird_dev_7"
    assert found.predictions[0].sql == "SELECT 1"
    assert list(found.databases) == ["films"]
    [hinted] = import_.convert("bird", tmp_path, evidence=True).cases
    assert hinted.question == "How many?\nfilm refers to films"


def test_defog_as_published(tmp_path: Path) -> None:
    (tmp_path / "questions_gen_postgres.csv").write_text(
        "question,query,db_name,query_category,instructions\n"
        "Which?,\"SELECT {a, b} FROM t; SELECT c FROM t WHERE x = ';'\",shop,filter,\n"
        "Why?,\"SELECT 'Sorry, I cannot answer that.' AS answer\",shop,,Be polite.\n"
    )
    found = import_.convert("defog", tmp_path, databases="postgresql://u@h/{db}")
    which, why = found.cases
    assert which.gold_sql == (
        "SELECT a, b FROM t",
        "SELECT a FROM t",
        "SELECT b FROM t",
        "SELECT c FROM t WHERE x = ';'",
    )
    assert (which.category, which.database) == ("filter", "shop")
    assert (why.gold_sql, why.expect.terminal_status, why.notes) == ((), Status.UNSUPPORTED, "Be polite.")
    assert found.databases == {"shop": "postgresql://u@h/shop"}


@pytest.mark.parametrize(
    ("query", "golds"),
    [
        ("SELECT a FROM t;", ["SELECT a FROM t"]),
        ("SELECT a FROM t; ;", ["SELECT a FROM t"]),
        ("SELECT '{a, b}' FROM t", ["SELECT '{a, b}' FROM t"]),
        ("SELECT a -- {x, y}\nFROM t", ["SELECT a -- {x, y}\nFROM t"]),
        ("SELECT {a}, COUNT(*) FROM t GROUP BY {}", ["SELECT a, COUNT(*) FROM t GROUP BY a"]),
        ("SELECT {f(a, b), c} FROM t", ["SELECT f(a, b), c FROM t", "SELECT f(a, b) FROM t", "SELECT c FROM t"]),
        ("SELECT {a}, {b} FROM t; SELECT {a}, {b} FROM t", ["SELECT a, b FROM t"]),
    ],
)
def test_what_a_defog_gold_accepts(query: str, golds: list[str]) -> None:
    assert accepted(query) == (tuple(golds), 0)


def test_a_large_choice_is_bounded_and_counted() -> None:
    columns_ = ", ".join(f"c{n}" for n in range(30))
    golds, left = accepted(f"SELECT {{{columns_}}} FROM t")
    assert len(golds) == MAX_GOLDS
    assert golds[0] == f"SELECT {columns_} FROM t"
    assert left == 0 or left > 0
    many = "; ".join(f"SELECT {n}" for n in range(100))
    assert accepted(many) == (tuple(f"SELECT {n}" for n in range(MAX_GOLDS)), 36)


CASES = (Case(id="a_1", question="q"), Case(id="a_2", question="q"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("p.jsonl", '{"id": "a_2", "sql": "SELECT 2"}\n{"case_id": "a_1", "prediction": null}\n',
         [("a_2", "SELECT 2"), ("a_1", None)]),
        ("p.csv", "id,sql\na_1,SELECT 1\na_2,\n", [("a_1", "SELECT 1"), ("a_2", None)]),
        ("p.csv", "NLQ,PREDICTED SQL\nq,SELECT 1\nq,SELECT 2\n", [("a_1", "SELECT 1"), ("a_2", "SELECT 2")]),
        ("p.json", '{"a_1": "SELECT 1", "a_2": "SELECT 2"}', [("a_1", "SELECT 1"), ("a_2", "SELECT 2")]),
        ("p.json", '{"2": "SELECT 2", "1": "SELECT 1"}', [("a_2", "SELECT 2"), ("a_1", "SELECT 1")]),
        ("p.json", '[{"id": "a_1", "sql": "SELECT 1"}]', [("a_1", "SELECT 1")]),
        ("p.sql", "SELECT a\tAS b FROM t\tdb\nSELECT 2\n", [("a_1", "SELECT a\tAS b FROM t"), ("a_2", "SELECT 2")]),
    ],
)  # fmt: skip
def test_predictions_in_every_form(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, str | None]]
) -> None:
    (tmp_path / name).write_text(text)
    assert [(p.id, p.sql) for p in predictions.read(tmp_path / name, cases=CASES)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a_1", "sql": "x"}\n{"id": "a_1", "sql": "y"}\n', "two predictions for one case; first in line 1"),
        ('{"id": "a_11", "sql": "x"}\n', "a prediction for an unknown case; did you mean 'a_1'?"),
        ('{"id": "zzz", "sql": "x"}\n', "a prediction for an unknown case"),
        ('{"id": "a_1", "sqll": "x"}\n', "no 'sql'"),
        ("{}\n[]\n", "should be a mapping, is list"),
        ('{"id": "a_1", "sql": {"text": "x"}}\n', "sql: should be text, is dict"),
    ],
)
def test_predictions_that_belong_nowhere_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    with pytest.raises(DatasetError) as caught:
        predictions.read(tmp_path / "p.jsonl", cases=CASES)
    assert message in caught.value.message
    assert "p.jsonl:" in caught.value.message


def test_predictions_without_ids_need_their_cases(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("SELECT 1\n")
    with pytest.raises(DatasetError, match="its lines mean nothing by themselves"):
        predictions.read(tmp_path / "p.txt")


def test_any_table_by_a_mapping_of_columns(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("Q,The Query,kind,who\nHow many?,SELECT 1,count,me\n")
    mapping = columns.parse_mapping("question=Q, sql=The Query, category=kind")
    found = import_.convert("columns", tmp_path / "questions.csv", mapping=mapping)
    [case] = found.cases
    assert (case.id, case.question, case.gold_sql, case.category) == (
        "questions_0001",
        "How many?",
        ("SELECT 1",),
        "count",
    )
    assert found.notices == ("1 columns left out: who",)


def test_an_unknown_column_in_a_mapping_suggests_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("Question,SQL\nq,SELECT 1\n")
    with pytest.raises(DatasetError, match=r"unknown column 'Questoin'; did you mean 'Question'\?"):
        import_.convert("columns", tmp_path / "q.csv", mapping={"question": "Questoin"})


@pytest.mark.parametrize("text", ["question", "question=", "qestion=Q", "question=A,question=B"])
def test_a_mapping_that_is_none_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match="--map"):
        columns.parse_mapping(text)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'spider'"):
        import_.convert("spyder", tmp_path)
    with pytest.raises(DatasetError, match="no such file or folder"):
        import_.convert("spider", tmp_path / "none")
    with pytest.raises(DatasetError, match=r"holds none of .*dev\.json"):
        import_.convert("spider", tmp_path)
    (tmp_path / "dev.json").write_text('[{"question": "q", "querry": "x", "db_id": "d"}]')
    with pytest.raises(DatasetError, match=r"no 'query' or 'gold_sql' or 'SQL'; did you mean 'querry'\?"):
        import_.convert("spider", tmp_path)
    (tmp_path / "dev.json").write_text("[]")
    with pytest.raises(DatasetError, match="holds no cases"):
        import_.convert("spider", tmp_path)


@public
@pytest.mark.public_data
def test_spider_dev_with_its_prediction_sets() -> None:
    for file in sorted((DATA / "spider_dev" / "predictions").glob("*.jsonl")):
        found = import_.convert("spider", DATA / "spider_dev", answers=file)
        assert (len(found.cases), len(found.predictions)) == (972, 972)
        assert len(found.databases) == 19
    assert len(import_.convert("spider", DATA / "spider_dev", incomplete=True).cases) == 1034


@public
@pytest.mark.public_data
def test_defog_accepts_as_many_queries_as_its_own_script() -> None:
    rows = [json.loads(line) for line in (DATA / "defog" / "cases.jsonl").read_text().splitlines()]
    for url in (None, "postgresql://h/{db}"):
        for case in import_.convert("defog", DATA / "defog", databases=url).cases:
            [row] = [row for row in rows if row["id"] == case.id]
            assert len(case.gold_sql) == row["gold_variants"]
    refused = import_.convert("defog", DATA / "defog" / "unanswerable.jsonl").cases
    assert {case.expect.terminal_status for case in refused} == {Status.UNSUPPORTED}
