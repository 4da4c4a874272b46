"""Cases in: every way of writing them, and what is said about every way of writing them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlassay.datasets import load, loads
from sqlassay.datasets.base import CaseErrors
from sqlassay.datasets.order import has_outermost_order
from sqlassay.errors import DatasetError, ExitCode
from sqlassay.records.case import (
    Case,
    Expectation,
    GroupsShape,
    IdSetShape,
    Ordered,
    Place,
    RankingShape,
    ScalarShape,
    Status,
    TableShape,
    Tolerance,
)

FULL = """\
- id: documentaries_001
  question: Which documentaries are in the catalogue?
  phrasings: ["List every documentary we have."]
  category: filter
  difficulty: easy
  tags: [smoke]
  database: films
  golden_sql: |
    SELECT DISTINCT film_id FROM films
    WHERE genre = 'Documentary'
  compare_on: {id_set: film_id}
  expect:
    terminal_status: SUCCESS
    stages: {semantic: {status: RESOLVED}}
    plan: {operation_type: FILTER}
  gold_rows: [[1], [2.5], [null], [x]]
  expected_answer: Two.
  schema_context: films(film_id)
  claims: ["2 films"]
  tolerance: {abs: 0.5}
  ordered: no
  optional_columns: [title]
  control: yes
  at: 2025-01-31
  turns: ["Which genres are there?"]
  notes: a note
"""


def test_every_field_is_read() -> None:
    [case] = loads(FULL)
    assert case == Case(
        id="documentaries_001",
        question="Which documentaries are in the catalogue?",
        phrasings=("List every documentary we have.",),
        turns=("Which genres are there?",),
        category="filter",
        difficulty="easy",
        tags=("smoke",),
        database="films",
        gold_sql=("SELECT DISTINCT film_id FROM films\nWHERE genre = 'Documentary'\n",),
        compare_on=IdSetShape(column="film_id"),
        expect=Expectation(
            terminal_status=Status.SUCCESS,
            stages={"semantic": {"status": "RESOLVED"}, "plan": {"operation_type": "FILTER"}},
        ),
        gold_rows=[[1], [2.5], [None], ["x"]],
        expected_answer="Two.",
        schema_context="films(film_id)",
        claims=("2 films",),
        tolerance=Tolerance(mode="plain", abs="0.5", rel="0"),
        ordered=Ordered.NO,
        optional_columns=("title",),
        control=True,
        at="2025-01-31",
        notes="a note",
        place=Place(file="cases.yaml", line=1),
    )


def one(fields: str) -> Case:
    [case] = loads("- id: a\n  question: q\n  " + fields.replace("\n", "\n  "))
    return case


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("table", TableShape()),
        ("scalar", ScalarShape()),
        ("{scalar: }", ScalarShape()),
        ("film_id_set", IdSetShape(column="film_id")),
        ("{id_set: film_id}", IdSetShape(column="film_id")),
        ("{ranking: film_id}", RankingShape(column="film_id")),
        ("{groups: country}", GroupsShape(columns=("country",))),
        ("{groups: [country, year]}", GroupsShape(columns=("country", "year"))),
        ("{kind: id_set, column: film_id}", IdSetShape(column="film_id")),
    ],
)
def test_shapes(written: str, shape: object) -> None:
    assert one(f"gold_sql: SELECT a FROM t ORDER BY a\ncompare_on: {written}").compare_on == shape


@pytest.mark.parametrize(
    ("written", "tolerance"),
    [
        ("guarded", Tolerance()),
        ("rounding", Tolerance(mode="rounding")),
        ("exact", Tolerance(mode="exact")),
        ("{abs: 0.01}", Tolerance(mode="plain", abs="0.01", rel="0")),
        ("{rel: 1e-3}", Tolerance(mode="plain", abs="0", rel="0.001")),
        ('{abs: "0.10", rel: 0}', Tolerance(mode="plain", abs="0.10", rel="0")),
    ],
)
def test_tolerances(written: str, tolerance: Tolerance) -> None:
    assert one(f"gold_sql: SELECT 1\ntolerance: {written}").tolerance == tolerance


def test_a_conversation_written_whole_asks_with_its_last_message() -> None:
    (case,) = loads("- {id: a, turns: [First?, And then?], gold_sql: SELECT 1}").cases
    assert (case.question, case.turns) == ("And then?", ("First?",))


def test_yaml_never_turns_text_into_something_else() -> None:
    case = one(
        "category: no\ndifficulty: 007\ntags: [yes, 2020-01-01, 1e3, null_, ~x]\nnotes: 12:30:45\n"
        "expect: {terminal_status: FALLBACK, plan: {when: 2020-01-01, code: 0o7, flag: off, n: 7}}"
    )
    assert case.category == "no"
    assert case.difficulty == "007"
    assert case.tags == ("yes", "2020-01-01", "1e3", "null_", "~x")
    assert case.notes == "12:30:45"
    assert case.expect.stages["plan"] == {"when": "2020-01-01", "code": "0o7", "flag": "off", "n": 7}


def test_a_case_with_gold_expects_success_and_without_says_what() -> None:
    assert one("gold_sql: SELECT 1").expect.terminal_status is Status.SUCCESS
    assert one("expect: {terminal_status: CLARIFICATION}").expected_status is Status.CLARIFICATION
    assert one("expect: CLARIFICATION").expected_status is Status.CLARIFICATION


@pytest.mark.parametrize(
    ("fields", "line", "field", "message"),
    [
        ("qestion: x\ngold_sql: SELECT 1", 3, "qestion", "unknown field 'qestion'; did you mean 'question'?"),
        ("gold_sql:", 3, "gold_sql", "gold_sql: is empty"),
        ("gold_sql: '  ;'", 3, "gold_sql", "gold_sql: is empty"),
        ("gold_sql: [SELECT 1, '']", 3, "gold_sql[1]", "gold_sql[1]: is empty"),
        ("gold_sql: []", 3, "gold_sql", "gold_sql: is empty"),
        ("category: x", 1, "expect.terminal_status", "a case without gold_sql must say expect.terminal_status"),
        (
            "gold_sql: SELECT 1\nexpect:\n  terminal_status: UNSUPPORTED",
            5,
            "expect.terminal_status",
            "gold_sql and an expected refusal (UNSUPPORTED) exclude each other",
        ),
        (
            "gold_sql: SELECT 1\nexpect: {terminal_status: SUCESS}",
            4,
            "expect.terminal_status",
            "did you mean 'SUCCESS'?",
        ),
        ("expect:\n  terminal_staus: SUCCESS", 4, "expect.terminal_staus", "did you mean 'terminal_status'?"),
        ("expect: {stages: [x], terminal_status: ERROR}", 3, "expect.stages", "should be a mapping of stage names"),
        (
            "expect:\n  terminal_status: FALLBACK\n  stages: {plan: {}}\n  plan: {}",
            6,
            "expect.plan",
            "stands under expect and under expect.stages",
        ),
        ("gold_sql: SELECT 1\ncompare_on: {ranking: a}", 3, "gold_sql", "needs an ORDER BY at the outermost level"),
        ("gold_sql: SELECT 1\ncompare_on: ranking", 4, "compare_on", "'ranking' needs a column"),
        ("gold_sql: SELECT 1\ncompare_on: {id_sett: a}", 4, "compare_on.id_sett", "did you mean 'id_set'?"),
        ("gold_sql: SELECT 1\ncompare_on: {id_set: a, groups: b}", 4, "compare_on", "should name one shape, names 2"),
        ("gold_sql: SELECT 1\ncompare_on: {id_set: [a, b]}", 4, "compare_on.id_set", "takes one column, has 2"),
        ("gold_sql: SELECT 1\ncompare_on: {groups: }", 4, "compare_on.groups", "should name a column"),
        ("gold_sql: SELECT 1\ntolerance: gaurded", 4, "tolerance", "did you mean 'guarded'?"),
        ("gold_sql: SELECT 1\ntolerance: {abs: -1}", 4, "tolerance.abs", "should be a number of at least 0"),
        ("gold_sql: SELECT 1\ntolerance: {abs: .nan}", 4, "tolerance.abs", "should be a number of at least 0"),
        ("gold_sql: SELECT 1\ntolerance: {abss: 1}", 4, "tolerance.abss", "did you mean 'abs'?"),
        ("gold_sql: SELECT 1\ntolerance: 0.01", 4, "tolerance", "should be a name or {abs, rel}"),
        ("gold_sql: SELECT 1\nordered: maybe", 4, "ordered", "'maybe' is not one of auto, yes, no"),
        ("gold_sql: SELECT 1\nphrasings: [x, '']", 4, "phrasings[1]", "is empty"),
        ("gold_sql: SELECT 1\ncontrol: perhaps", 4, "control", "should be true or false"),
        ("gold_sql: SELECT 1\nat: yesterday", 4, "at", "is no date or time"),
        ("gold_sql: SELECT 1\ngold_rows: [[1], [1, 2]]", 4, "gold_rows", "its rows are not all of one width"),
        ("gold_sql: SELECT 1\ngolden_sql: SELECT 1", 4, "golden_sql", "are the same field"),
        ("gold_sql: {sql: x}", 3, "gold_sql", "should be a query or a list of queries"),
        ("gold_sql: SELECT 1\ntags: {a: b}", 4, "tags", "should be a list"),
    ],
)
def test_a_wrong_case_is_told_with_line_field_and_remedy(fields: str, line: int, field: str, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        one(fields)
    error = caught.value
    assert (error.file, error.line, error.case_id, error.field) == ("cases.yaml", line, "a", field)
    assert message in error.message
    assert error.message.startswith(f"cases.yaml:{line}: case 'a': ")
    assert error.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- id: a\n  question: q\n  id: b\n", 3, "key 'id' stands twice in one mapping"),
        ("- id: a\n\tquestion: q\n", 2, "not YAML"),
        ("- id: a\n  question: what: now\n", 2, "mapping values are not allowed"),
        ("- &a [*a]\n", 1, "an alias holds itself"),
        ("- !!python/object/apply:os.system [ls]\n", 1, "the tag !!python/object/apply:os.system is not allowed"),
        ("- id: a\n  question: !!binary aGk=\n", 2, "the tag !!binary is not allowed"),
        ("- id: a\n  question: 'open\n", 2, "not YAML"),
        ("- just text\n", 1, "a case should be a mapping with id and question, is str"),
        ("- ? [a]\n  : b\n", 1, "a key should be text"),
        ("", None, "holds no cases"),
        ("cases: []\nother: 1\n", 1, "unknown key 'other' beside 'cases'"),
        ("[" * 5000, None, "not YAML"),
    ],
)
def test_malformed_yaml_is_told_with_its_line(text: str, line: int | None, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        loads(text)
    assert message in caught.value.message
    if line is not None:
        assert caught.value.line == line


def test_tabs_are_named() -> None:
    with pytest.raises(DatasetError) as caught:
        loads("- id: a\n\tquestion: q\n")
    assert caught.value.hint == "indent with blanks, not with tabs"


def test_an_alias_bomb_ends_at_once() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" if n else "l0: &l0 [x]" for n in range(10)]
    with pytest.raises(DatasetError, match="aliases expand to too much"):
        loads("- " + "\n  ".join(levels))


def test_anchors_and_merges_save_writing() -> None:
    text = (
        "- &base {id: a, question: q, gold_sql: SELECT 1, tags: [x]}\n"
        "- {<<: *base, id: b}\n"
        "- {<<: [*base], id: c, tags: [y]}\n"
    )
    a, b, c = loads(text)
    assert (a.tags, b.tags, c.tags) == (("x",), ("x",), ("y",))
    assert (b.id, b.gold_sql) == ("b", ("SELECT 1",))


def test_everything_wrong_is_told_at_once_up_to_twenty() -> None:
    text = "".join(f"- {{id: c{n}, qestion: q, gold_sql: SELECT 1}}\n" for n in range(30))
    with pytest.raises(CaseErrors) as caught:
        loads(text)
    assert len(caught.value.errors) == 30
    assert caught.value.message.count("unknown field 'qestion'") == 20
    assert caught.value.message.endswith("... and 10 more")


def test_an_id_that_stands_twice_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.yaml").write_text("- {id: a, question: q, gold_sql: SELECT 1}\n")
    (tmp_path / "two.jsonl").write_text('\n{"id": "a", "question": "q"}\n')
    with pytest.raises(CaseErrors) as caught:
        load(["one.yaml", "two.jsonl"])
    assert "two.jsonl:2: case 'a': the id stands twice; first in one.yaml:1" in caught.value.message
    assert "two.jsonl:2: case 'a': expect.terminal_status" in caught.value.message


def test_a_folder_is_read_in_order_of_name_and_a_file_named_twice_once(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.yml").write_text("{id: second, question: q, gold_sql: SELECT 1}\n")
    (tmp_path / "a.json").write_text('{"cases": [{"id": "first", "question": "q", "gold_sql": "SELECT 1"}]}')
    (tmp_path / "c.csv").write_text("id,question,gold_sql\nthird,q,SELECT 1\n")
    (tmp_path / ".hidden.yaml").write_text("nonsense: [")
    (tmp_path / "README.md").write_text("not cases")
    dataset = load([tmp_path, tmp_path / "a.json"])
    assert [case.id for case in dataset] == ["first", "second", "third"]
    assert len(dataset.files) == 3


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.yaml", None, "no such file or folder"),
        ("cases.txt", b"x", "unknown kind of file '.txt'"),
        ("cases.yaml", "- id: España\n".encode("latin-1"), "not UTF-8: byte 0xf1 in this line"),
        ("cases.yaml", "- id: a\n".encode("utf-16"), "the file is UTF-16, not UTF-8"),
        ("cases.jsonl", b'{"id": "a"}\n{"id": \n', "cases.jsonl:2: not JSON"),
        ("cases.jsonl", b'{"id": "a", "id": "b"}\n', "key 'id' stands twice in one object"),
        ("cases.jsonl", b'{"id": "a", "gold_rows": [[NaN]]}\n', "NaN is not JSON"),
        ("cases.jsonl", b"[" * 100_000, "nested too deeply"),
        ("cases.json", b'[{"id": "a"},\n {"id" "b"}]', "cases.json:2: not JSON"),
        ("cases.csv", b"id,question,id\n", "column 'id' stands twice in the header"),
        ("cases.csv", b"id,question\na,b,c\n", "3 cells under 2 columns"),
        ("cases.csv", b'id,question\na,"b\n', "not CSV"),
        ("cases.csv", b'id,question,compare_on\na,b,{"x\n', "column 'compare_on': not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, data: bytes | None, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DatasetError) as caught:
        load(tmp_path / name)
    assert message in caught.value.message
    assert name in caught.value.message


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the folder holds no case files"):
        load(tmp_path)


def test_marks_and_line_ends_of_other_systems_do_not_matter(tmp_path: Path) -> None:
    text = "- id: a\r\n  question: Wer?\r\n  gold_sql: |\r\n    SELECT 1\r\n    FROM t\r\n"
    (tmp_path / "cases.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    [case] = load(tmp_path / "cases.yaml")
    assert case.gold_sql == ("SELECT 1\nFROM t\n",)


def test_csv_cells_hold_lists_shapes_and_expectations() -> None:
    text = (
        "id,question,tags,phrasings,gold_sql,compare_on,tolerance,control,gold_rows,expect.plan.operation\n"
        '1,"How many, all in all?","a, b;c","one\ntwo","[""SELECT 1"", ""SELECT 2""]",groups:x,,no,"[[1]]",COUNT\n'
    )
    [case] = loads(text, file="cases.csv")
    assert case.id == "1"
    assert case.question == "How many, all in all?"
    assert case.tags == ("a", "b", "c")
    assert case.phrasings == ("one", "two")
    assert case.gold_sql == ("SELECT 1", "SELECT 2")
    assert case.compare_on == GroupsShape(columns=("x",))
    assert case.gold_rows == [[1]]
    assert case.expect.stages == {"plan": {"operation": "COUNT"}}
    assert case.place == Place(file="cases.csv", line=2)


def test_csv_lines_count_across_cells_of_several_lines() -> None:
    text = 'id,question,gold_sql\na,q,"SELECT 1\nFROM t"\n\nb,q,\n'
    with pytest.raises(DatasetError) as caught:
        loads(text, file="cases.csv")
    assert (caught.value.case_id, caught.value.line) == ("b", 5)


def test_json_cases_know_their_lines() -> None:
    text = '[\n  {"id": "a", "question": "q", "gold_sql": "SELECT 1"},\n\n  {"id": "b",\n   "question": 3}]'
    with pytest.raises(DatasetError) as caught:
        loads(text, file="cases.json")
    assert caught.value.line == 4


def test_the_fingerprint_follows_the_cases_not_their_places() -> None:
    one_line = loads('{"id": "a", "question": "q", "gold_sql": "SELECT 1"}', file="x.jsonl")
    same = loads("- id: a\n  question: q\n  golden_sql: SELECT 1\n")
    other = loads("- id: a\n  question: q\n  golden_sql: SELECT 2\n")
    assert one_line.fingerprint == same.fingerprint
    assert one_line.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n by a limit 3;", True),
        ("(SELECT a FROM t ORDER BY a)", True),
        ("WITH c AS (SELECT 1) SELECT * FROM c ORDER /* x */ BY 1", True),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True),
        ("SELECT `order` FROM t ORDER BY `order`", True),
        ("SELECT a[1] FROM t ORDER BY a[1]", True),
        ("SELECT a FROM t", False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) s", False),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t", False),
        ("SELECT STRING_AGG(a, ',' ORDER BY a) FROM t", False),
        ("WITH c AS (SELECT a FROM t ORDER BY a) SELECT * FROM c", False),
        ("SELECT 'x ORDER BY y' FROM t", False),
        ('SELECT "ORDER BY" FROM t', False),
        ("SELECT a FROM t -- ORDER BY a", False),
        ("SELECT a FROM t /* ORDER BY a */", False),
        ("SELECT $$ ORDER BY $$ FROM t", False),
        ("SELECT a FROM t WINDOW w AS (ORDER BY a)", False),
        ("", False),
        ("'", False),
    ],
)
def test_where_an_order_by_stands(sql: str, ordered: bool) -> None:
    assert has_outermost_order(sql) is ordered
