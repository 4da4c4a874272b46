"""The lexer reads any text to its end, in place, and is not fooled by quoting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.databases.lexer import Family, calls, refusal, statement_count, tokens, verb
from sqlassay.databases.mysql_guard import forbidden as forbidden_in_mysql
from sqlassay.databases.postgres_guard import forbidden as forbidden_in_postgres

FAMILIES: list[Family] = ["sqlite", "postgres", "duckdb", "mysql", "mysql_ansi"]


@given(st.text(st.sampled_from("'\"`[];-/*#$\\\n aEUx&1(),"), max_size=60), st.sampled_from(FAMILIES))
def test_tokens_lie_in_order_and_cover_what_is_no_blank_or_comment(sql: str, family: Family) -> None:
    end = 0
    for token in tokens(sql, family):
        assert end <= token.start < token.end <= len(sql)
        end = token.end


@given(st.text(max_size=40), st.sampled_from(FAMILIES))
def test_a_quoted_text_is_one_token_and_hides_what_is_in_it(text: str, family: Family) -> None:
    body = text.replace("\\", "").replace("'", "''")
    found = list(tokens(f"SELECT '{body}' AS x", family))
    assert [token.kind for token in found] == ["word", "string", "word", "word"]
    assert statement_count(found) == 1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("quote", ["'", '"', "`", "[", "$$", "/*", "--", "("])
def test_long_texts_do_not_hang(family: Family, quote: str) -> None:
    list(tokens("SELECT " + quote + "x" * 2_000_000, family))
    list(tokens("SELECT " + (quote + " ") * 50_000, family))


@pytest.mark.parametrize(
    ("family", "sql", "count"),
    [
        ("sqlite", "SELECT ';' ; -- ;\n", 1),
        ("sqlite", 'SELECT [a;b], `c;d`, "e;f"', 1),
        ("sqlite", "SELECT 'it''s; fine'; SELECT 2", 2),
        ("postgres", "SELECT $$;$$, $tag$ ; $$ ; $tag$", 1),
        ("postgres", "SELECT E'\\';' ; SELECT 2", 2),
        ("postgres", "SELECT '\\'; SELECT 2", 2),
        ("postgres", "SELECT 1 /* ; /* ; */ ; */", 1),
        ("mysql", "SELECT '\\';' # ; \n", 1),
        ("mysql", "SELECT 1 --1; SELECT 2", 2),
        ("mysql_ansi", "SELECT '\\'; SELECT 2", 2),
        ("duckdb", ";;", 0),
    ],
)
def test_statements_are_counted_by_the_quoting_of_the_engine(family: Family, sql: str, count: int) -> None:
    assert statement_count(list(tokens(sql, family))) == count


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT 1", "select"),
        ("(SELECT 1) UNION (SELECT 2)", "select"),
        ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", "select"),
        ("WITH a AS (SELECT 1), b(x) AS MATERIALIZED (SELECT 2) DELETE FROM t", "delete"),
        ("/* x */ -- y\n update t set a = 1", "update"),
        ("", ""),
    ],
)
def test_the_verb_is_what_the_statement_does(sql: str, word: str) -> None:
    assert verb(list(tokens(sql, "postgres"))) == word


def test_a_name_before_a_parenthesis_is_a_call() -> None:
    found = list(tokens('SELECT a.b (1), "C"(2), count(*), x, (1) FROM t', "postgres"))
    assert list(calls(found)) == ["b", "c", "count"]


@given(st.sampled_from(["load_file", "get_lock"]), st.text(st.sampled_from(" \t\n"), max_size=3))
def test_blanks_do_not_hide_a_call(name: str, blanks: str) -> None:
    assert forbidden_in_mysql(list(tokens(f"SELECT {name}{blanks}/* x */{blanks}('a')", "mysql"))) is not None


@pytest.mark.parametrize("sql", ["SELECT lower('X'), log(1), local FROM t", "SELECT pg_typeof(1), lo FROM t"])
def test_honest_names_are_no_danger(sql: str) -> None:
    found = list(tokens(sql, "postgres"))
    assert refusal(found) is None
    assert forbidden_in_postgres(found) is None
