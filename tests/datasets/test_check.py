"""What a lint of a gold set finds: one small planted fault for each kind, and nothing in a sound set."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlassay.databases.connect import connect
from sqlassay.databases.reordered import reordered
from sqlassay.datasets import import_
from sqlassay.datasets.check import check
from sqlassay.datasets.findings import MEANING, Code, Finding, Severity, exit_code
from sqlassay.datasets.probes import Constant, constants_in, key_of, near_value, numeric_text
from sqlassay.datasets.shorthand import FIELDS
from sqlassay.errors import ExitCode
from sqlassay.records.case import (
    Case,
    Expectation,
    GroupsShape,
    IdSetShape,
    Place,
    RankingShape,
    ScalarShape,
    Status,
    Tolerance,
)
from sqlassay.records.measurement import Measurement
from sqlassay.records.settings import Limits
from sqlassay.records.value import Ratio

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
public = pytest.mark.skipif(not DATA.is_dir(), reason=f"public data sets are not at {DATA}")

SETUP = """
CREATE TABLE countries (country_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE films (film_id INTEGER PRIMARY KEY, title TEXT, country_id INTEGER REFERENCES countries, year TEXT,
                    rating REAL, genre TEXT);
CREATE TABLE people (person_id INTEGER PRIMARY KEY, name TEXT, country_id INTEGER REFERENCES countries);
CREATE TABLE playing (film_id INTEGER REFERENCES films, person_id INTEGER REFERENCES people);
CREATE TABLE prizes (prize TEXT, country_id INTEGER REFERENCES countries);
INSERT INTO prizes VALUES ('Goya', 1), ('Feroz', 1);
INSERT INTO playing VALUES (1, 1), (2, 1), (2, 2), (3, 3);
INSERT INTO countries VALUES (1, 'España'), (2, 'France'), (3, 'USA');
INSERT INTO films VALUES (1, 'A', 1, '99', 7.5, 'Drama'), (2, 'B', 1, '100', 8.0, 'Drama'), (3, 'C', 2, '101', 8.0,
                          'Comedy'), (4, 'D', 3, '7', 6.0, 'Documentary');
INSERT INTO people VALUES (1, 'X', 1), (2, 'Y', 1), (3, 'Z', 2);
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("films") / "films.db"
    connection = sqlite3.connect(file)
    connection.executescript(SETUP)
    connection.close()
    return f"sqlite:///{file}"


@pytest.fixture
def find(url: str) -> Iterator[object]:
    opened = connect(url, name="films")

    def run(*cases: Case, **settings: object) -> list[Finding]:
        return list(check(cases, databases={"films": opened}, shuffled=shuffled, **settings))  # type: ignore[arg-type]

    with reordered(url, name="films") as other:
        assert other is not None
        shuffled = {"films": other}
        yield run
    opened.close()


def gold(*sql: str, id: str = "a", **fields: object) -> Case:
    return Case(id=id, question=f"q {id}", gold_sql=sql, place=Place(file="cases.yaml", line=3), **fields)  # type: ignore[arg-type]


SOUND = [
    gold("SELECT title FROM films WHERE genre = 'Drama'", id="s1"),
    gold("SELECT film_id FROM films ORDER BY rating DESC, film_id LIMIT 2", id="s2",
         compare_on=RankingShape(column="FILM_ID")),
    gold("SELECT COUNT(*) FROM films", id="s3", compare_on=ScalarShape()),
    gold("SELECT c.name, COUNT(*) AS n FROM films f JOIN countries c ON c.country_id = f.country_id GROUP BY c.name",
         id="s4", compare_on=GroupsShape(columns=("name",))),
    gold("SELECT title FROM films WHERE genre = 'Western'", id="s5", gold_rows=[]),
    gold("SELECT f.title FROM films f JOIN countries c USING (country_id) WHERE c.name IN ('España', 'France')",
         id="s6"),
    gold("SELECT title, rating FROM films WHERE film_id = 1", id="s7", gold_rows=[["A", 7.5]]),
    Case(id="s8", question="Weather?", expect=Expectation(terminal_status=Status.UNSUPPORTED)),
]  # fmt: skip


def test_a_sound_set_has_no_findings_but_for_an_empty_result_that_is_meant(find: object) -> None:
    found = find(*SOUND)  # type: ignore[operator]
    assert [finding.code for finding in found] == [Code.CONSTANT_MATCHES_NOTHING]
    assert exit_code(found) is ExitCode.OK


@pytest.mark.parametrize(
    ("case", "code", "message", "remedy"),
    [
        (gold("SELECT titel FROM films"), Code.GOLD_FAILS, "the gold query fails (unknown_column)", "mend the query"),
        (gold("SELECT 1 FROM films WHERE"), Code.GOLD_FAILS, "the gold query fails (syntax)", ""),
        (gold("DELETE FROM films"), Code.GOLD_FORBIDDEN, "the gold query is not run", "exactly one read"),
        (gold("SELECT 1; SELECT 2"), Code.GOLD_FORBIDDEN, "the gold query is not run", ""),
        (gold("SELECT title FROM films WHERE rating > 9"), Code.GOLD_EMPTY, "gives no rows", "gold_rows: []"),
        (gold("SELECT title FROM films", "SELECT x FROM films"), Code.GOLD_FAILS, "gold query 2 fails", ""),
        (
            gold("SELECT * FROM films, films b, films c, films d"),
            Code.GOLD_TRUNCATED,
            "more than the limits",
            "max_rows",
        ),
        (gold("SELECT SUM(rating) FROM films WHERE rating > 9"), Code.GOLD_ONLY_NULL_OR_ZERO, "one row of NULL", ""),
        (gold("SELECT COUNT(*) FROM films WHERE rating > 9"), Code.GOLD_ONLY_NULL_OR_ZERO, "one row of 0", ""),
        (gold("SELECT 42 AS answer"), Code.GOLD_READS_NOTHING, "reads no table", ""),
        (gold("SELECT film_id FROM films ORDER BY RANDOM() LIMIT 1"), Code.RANDOM_OR_CLOCK, "random function", ""),
        (gold("SELECT title FROM films WHERE year < date('now')"), Code.RANDOM_OR_CLOCK, "current time", "`at`"),
        (
            gold("SELECT title FROM films ORDER BY rating DESC LIMIT 1"),
            Code.TIE_AT_LIMIT,
            "2 rows tie on the ORDER BY of the gold query",
            "add a last key",
        ),
        (
            gold("SELECT genre, COUNT(*) AS n FROM films GROUP BY genre ORDER BY n LIMIT 1"),
            Code.TIE_AT_LIMIT,
            "2 rows tie",
            "",
        ),
        (gold("SELECT title FROM films LIMIT 2"), Code.LIMIT_WITHOUT_ORDER, "keeps 2 rows that no ORDER BY", ""),
        (gold("SELECT genre, title FROM films GROUP BY genre"), Code.STORAGE_ORDER, "lie in another order", ""),
        (gold("SELECT GROUP_CONCAT(title) FROM films"), Code.STORAGE_ORDER, "lie in another order", ""),
        (gold("SELECT title FROM films ORDER BY year"), Code.ORDER_ON_NUMERIC_TEXT, "sorts by films.year", "cast"),
        (gold("SELECT MAX(year) FROM films"), Code.ORDER_ON_NUMERIC_TEXT, "takes MAX of films.year", "cast"),
        (
            gold("SELECT f.title FROM films f JOIN countries c USING (country_id) WHERE c.name = 'Spain'"),
            Code.CONSTANT_MATCHES_NOTHING,
            "looks for countries.name = 'Spain', which no row has",
            "did you mean 'España'?",
        ),
        (
            gold("SELECT title FROM films WHERE genre IN ('Drama', 'documentary')"),
            Code.CONSTANT_MATCHES_NOTHING,
            "films.genre = 'documentary'",
            "did you mean 'Documentary'?",
        ),
        (
            gold("SELECT 100.0 * SUM(genre = 'drama') / COUNT(*) FROM films"),
            Code.CONSTANT_MATCHES_NOTHING,
            "films.genre = 'drama'",
            "did you mean 'Drama'?",
        ),
        (
            gold("SELECT COUNT(*) FROM films f JOIN people p ON p.country_id = f.country_id"),
            Code.JOIN_PAST_LINK,
            "joins films and people on films.country_id = people.country_id, which is a key of neither",
            "join through playing, which links them",
        ),
        (
            gold("SELECT f.title, p.prize FROM films f JOIN prizes p ON p.country_id = f.country_id"),
            Code.JOIN_MULTIPLIES,
            "joins films and prizes on films.country_id = prizes.country_id, which is a key of neither",
            "",
        ),
        (
            gold("SELECT title FROM films", compare_on=IdSetShape(column="film_id")),
            Code.GOLD_SHAPE,
            "has no output column 'film_id'; it has title",
            "AS",
        ),
        (gold("SELECT title FROM films", compare_on=ScalarShape()), Code.GOLD_SHAPE, "a scalar needs one row", ""),
        (
            gold("SELECT film_id, rating FROM films LIMIT 1", compare_on=ScalarShape()),
            Code.GOLD_SHAPE,
            "gives 2 numbers in 2 columns",
            "",
        ),
        (
            gold("SELECT genre FROM films", compare_on=GroupsShape(columns=("genre",))),
            Code.GOLD_SHAPE,
            "no column besides the group keys",
            "",
        ),
        (gold("SELECT title FROM films", optional_columns=("note",)), Code.GOLD_SHAPE, "no output column 'note'", ""),
        (
            gold("SELECT country_id FROM films", compare_on=IdSetShape(column="country_id")),
            Code.SHAPE_KEYS_REPEAT,
            "1 repeated values of country_id",
            "DISTINCT",
        ),
        (
            gold("SELECT title FROM films WHERE film_id < 3", gold_rows=[["A"], ["C"]]),
            Code.GOLD_ROWS_STALE,
            "gold_rows hold 2 rows",
            "store the rows again",
        ),
        (gold("SELECT title FROM films", database="flims"), Code.NO_DATABASE, "names the database 'flims'", "'films'"),
        (gold("SELECT title FROM films", expected_answer="x"), Code.JUDGES_ONLY, "expected_answer is read by", ""),
        (gold("SELECT title FROM films", phrasings=("Q a?",)), Code.DUPLICATE_WORDING, "'Q a?' is there", ""),
    ],
)
def test_a_planted_fault_is_found(find: object, case: Case, code: Code, message: str, remedy: str) -> None:
    found = find(case, limits=Limits(max_rows=200))  # type: ignore[operator]
    [finding] = [one for one in found if one.code is code][:1]
    assert message in finding.message
    assert remedy in finding.remedy
    assert (finding.case_id, finding.file, finding.line) == ("a", "cases.yaml", 3)
    assert str(finding).startswith(f"cases.yaml:3: {finding.severity}: case 'a': ")
    if finding.severity is Severity.ERROR:
        assert exit_code(found) is ExitCode.GOLD_BROKEN


def test_a_name_that_sqlite_reads_as_text_is_found(find: object) -> None:
    found = find(gold("SELECT title FROM films WHERE \"gener\" <> 'x'"))  # type: ignore[operator]
    assert [(finding.code, finding.remedy) for finding in found] == [(Code.NAME_READ_AS_TEXT, "did you mean 'genre'?")]


def test_cases_that_contradict_each_other(find: object) -> None:
    one = gold("SELECT title FROM films WHERE genre = 'Drama'", id="one")
    same = Case(id="same", question="Q  ONE?", gold_sql=("SELECT f.title FROM films AS f WHERE 'Drama' = f.genre",))
    other = Case(id="other", question="q one", gold_sql=("SELECT title FROM films WHERE genre = 'Comedy'",))
    loose = gold("SELECT title FROM films WHERE genre = 'Drama'", id="loose", tolerance=Tolerance(mode="exact"))
    refused = Case(id="refused", question="q one", expect=Expectation(terminal_status=Status.UNSUPPORTED))
    found = {(finding.code, finding.case_id): finding for finding in find(one, same, other, loose, refused)}  # type: ignore[operator]
    assert set(found) == {
        (Code.DUPLICATE_QUESTION, "same"),
        (Code.CONTRADICTING_GOLDS, "other"),
        (Code.CONTRADICTING_GOLDS, "refused"),
        (Code.TWINS, "one"),
        (Code.CONTRADICTING_TWINS, "loose"),
    }
    assert "case 'one' (cases.yaml:3)" in found[Code.CONTRADICTING_GOLDS, "other"].message
    assert "another tolerance" in found[Code.CONTRADICTING_TWINS, "loose"].message


def test_a_gold_that_is_not_perfect_against_itself(find: object) -> None:
    def score_itself(case: Case) -> Measurement:
        hits = 0 if case.id == "bad" else 1
        return Measurement(case_id=case.id, metrics={"execution.exact": Ratio(hits=hits, total=1)})

    cases = [gold("SELECT title FROM films", id="good"), gold("SELECT genre FROM films", id="bad")]
    found = find(*cases, score_itself=score_itself)  # type: ignore[operator]
    assert [(finding.code, finding.case_id) for finding in found] == [(Code.GOLD_NOT_ITSELF, "bad")]


def test_what_the_engine_says_of_the_connection_is_passed_on(url: str) -> None:
    opened = connect(url, name="films")

    class Loud:
        name = "films"
        schema = staticmethod(opened.schema)
        session = staticmethod(opened.session)

        @staticmethod
        def warnings() -> tuple[str, ...]:
            return ("the user may INSERT; grant only SELECT",)

    found = check([gold("SELECT title FROM films")], databases={"films": Loud()})
    assert [(finding.code, finding.case_id) for finding in found] == [(Code.DATABASE_RIGHTS, None)]
    opened.close()


def test_every_kind_of_finding_has_a_meaning() -> None:
    assert set(MEANING) == set(Code)


@pytest.mark.parametrize(
    ("item", "constants"),
    [
        ("t.a = 'x'", [("t", "a", "x", True)]),
        ("'x' = t.a", [("t", "a", "x", True)]),
        ("t.a = 'it''s' OR t.b = 3", [("t", "a", "it's", True), ("t", "b", "3", False)]),
        ("t.a IN ('x', 'y, z')", [("t", "a", "x", True), ("t", "a", "y, z", True)]),
        ("t.\"Odd Name\" = 'x'", [("t", "Odd Name", "x", True)]),
        ("s.t.a = 'x'", [("s.t", "a", "x", True)]),
        ("left: t.a = 'x'", [("t", "a", "x", True)]),
        ("LOWER(t.a) = 'x'", []),
        ("t.a = u.b", []),
        ("t.a > 'x'", []),
        ("t.a = 3 + t.b", []),
        ("COUNT(*) = 3", []),
        ("t.a = '2020-01-01'", [("t", "a", "2020-01-01", True)]),
    ],
)
def test_constants_are_taken_from_canonical_conditions(item: str, constants: list[tuple[str, str, str, bool]]) -> None:
    found = constants_in([item])
    assert found == tuple(Constant(table=t, column=c, value=v, text=x) for t, c, v, x in constants)


def test_near_values_and_numeric_text() -> None:
    assert near_value("aberdeen", ["Aberdeen ", "Anthony "]) == "Aberdeen "
    assert near_value("zzz", ["España", "France", 3]) is None
    assert numeric_text(["9", "10", None])
    assert not numeric_text([9, 10])
    assert not numeric_text(["2020", "1999"])
    assert not numeric_text(["9", "ten", "10"])
    assert key_of(0.1 + 0.2) == key_of(0.3)


@public
@pytest.mark.public_data
def test_the_known_traps_of_spider_dev_are_found() -> None:
    found = import_.convert("spider", DATA / "spider_dev")
    opened = {name: connect(url, name=name) for name, url in found.databases.items()}
    findings = check(found.cases, databases=opened)
    for database in opened.values():
        database.close()
    counts = Counter(finding.code for finding in findings)
    assert counts[Code.GOLD_FAILS] == 0
    assert counts[Code.GOLD_EMPTY] == 49
    blanks = [finding for finding in findings if finding.remedy == "did you mean 'Aberdeen '?"]
    assert {finding.code for finding in blanks} == {Code.CONSTANT_MATCHES_NOTHING}
    assert any("cars_data.horsepower" in one.message for one in findings if one.code is Code.ORDER_ON_NUMERIC_TEXT)


def test_the_documentation_tells_every_finding_and_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cases.md").read_text(encoding="utf-8")
    for code, (severity, why) in MEANING.items():
        assert f"| `{code.value}` | {severity.value} | {why} |" in page
    assert [name for name in FIELDS if f"`{name}`" not in page] == []
