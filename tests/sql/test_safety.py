"""Is it exactly one read statement, in any dialect, whatever hostile text comes?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.records.query import StatementKind
from sqlassay.sql.safety import _plain_select, inspect

DIALECTS = ("sqlite", "duckdb", "postgres", "mysql", "tsql", "oracle", "bigquery", "snowflake", "databricks", "clickhouse")  # fmt: skip  # noqa: E501

HONEST = [
    "SELECT 1",
    'select delete, "into" from t',
    "SELECT ';' AS a, '--' AS b, '/*' AS c FROM t",
    "VALUES (1), (2)",
    "(SELECT 1) UNION ALL SELECT 2",
    "WITH a(x) AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a, b",
    "SELECT replace(name, 'a', 'b') FROM t",
    "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t",
    "SELECT COUNT(*) FROM t WHERE note = 'DROP TABLE t; DELETE FROM t'",
    "SELECT update_time, inserted, deleted, set_id FROM t -- UPDATE t SET a = 1",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
    "SELECT /* DELETE FROM t */ a FROM t",
]


def test_a_call_is_no_common_table_expression() -> None:
    for called in ("SELECT 1 FROM a, dblink('x', 'y') AS (b int)", "SELECT 1 FROM a, dblink(c) AS (b int)"):
        assert not inspect(called, "postgres").allowed


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", HONEST)
def test_honest_queries_are_allowed_everywhere(sql: str, dialect: str) -> None:
    statement = inspect(sql, dialect)
    assert statement.allowed, statement.why
    assert statement.kind is StatementKind.READ
    assert statement.text == sql.split(" -- ")[0]


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("FROM t", "duckdb"),
        ("FROM t SELECT a WHERE b > 1", "duckdb"),
        ("PIVOT t ON a USING sum(b)", "duckdb"),
        (
            "WITH query(id) AS (SELECT 1), glob(a, b) AS NOT MATERIALIZED (SELECT 1, 2) SELECT * FROM query, glob",
            "duckdb",
        ),
        ("UNPIVOT t ON a, b INTO NAME n VALUE v", "duckdb"),
        ("TABLE t", "postgres"),
        ("FROM t |> WHERE a > 1 |> AGGREGATE COUNT(*) AS n GROUP BY b", "bigquery"),
        ("SELECT a->>'x', b #> '{y}' FROM t", "postgres"),
        ("SELECT 1 WHERE $$a;b$$ = 'x'", "postgres"),
        ("SELECT COUNT(*) FROM pragma_table_info('t')", "sqlite"),
        ("SELECT TOP 3 WITH TIES a FROM t ORDER BY a", "tsql"),
        ("SELECT a FROM t WHERE b = 'it\\'s; fine'", "mysql"),
        ("SELECT a FROM t FOR SYSTEM_TIME AS OF '2024-01-01'", "tsql"),
    ],
)
def test_forms_of_one_dialect_are_allowed(sql: str, dialect: str) -> None:
    statement = inspect(sql, dialect)
    assert statement.allowed, statement.why
    assert statement.text == sql


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("DELETE FROM t", StatementKind.WRITE),
        ("UPDATE t SET a = 1 RETURNING a", StatementKind.WRITE),
        ("INSERT INTO t SELECT * FROM t RETURNING 1", StatementKind.WRITE),
        ("REPLACE INTO t VALUES (1)", StatementKind.WRITE),
        ("MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", StatementKind.WRITE),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", StatementKind.WRITE),
        ("WITH a AS (SELECT 1) DELETE FROM t", StatementKind.WRITE),
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", StatementKind.WRITE),
        ("WITH x AS MATERIALIZED (UPDATE t SET a = 1 RETURNING *) SELECT 1", StatementKind.WRITE),
        ("WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT 1", StatementKind.WRITE),
        ("SELECT * INTO new FROM t", StatementKind.WRITE),
        ("SELECT a FROM t INTO OUTFILE '/tmp/x'", StatementKind.WRITE),
        ("SELECT * FROM t FOR UPDATE", StatementKind.WRITE),
        ("SELECT * FROM t FOR NO KEY UPDATE", StatementKind.WRITE),
        ("COPY t TO '/tmp/x'", StatementKind.WRITE),
        ("VACUUM INTO '/tmp/x'", StatementKind.WRITE),
        ("DROP TABLE t", StatementKind.DDL),
        ("CREATE TABLE x AS SELECT * FROM t", StatementKind.DDL),
        ("ALTER TABLE t ADD b INT", StatementKind.DDL),
        ("BEGIN", StatementKind.TRANSACTION),
        ("COMMIT", StatementKind.TRANSACTION),
        ("SET statement_timeout = 0", StatementKind.SESSION),
        ("PRAGMA table_info(t)", StatementKind.SESSION),
        ("ATTACH 'x.db' AS y", StatementKind.SESSION),
        ("EXPLAIN ANALYZE DELETE FROM t", StatementKind.EXPLAIN),
        ("DESCRIBE t", StatementKind.EXPLAIN),
        ("CALL p(1)", StatementKind.COMMAND),
        ("EXEC dbo.p @a = 1", StatementKind.COMMAND),
        ("DO $$ BEGIN DELETE FROM t; END $$", StatementKind.COMMAND),
        ("I cannot answer this", StatementKind.UNPARSED),
    ],
)
def test_everything_else_is_refused_with_its_kind(sql: str, kind: StatementKind) -> None:
    statement = inspect(sql, "postgres")
    assert not statement.allowed
    assert statement.kind is kind
    assert statement.why


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT * FROM read_csv_auto('/etc/passwd')", "duckdb"),
        ("SELECT * FROM '/etc/passwd'", "duckdb"),
        ("SELECT load_extension('x')", "sqlite"),
        ("SELECT writefile('/tmp/x', 'y')", "sqlite"),
        ("SELECT pg_read_file('/etc/passwd')", "postgres"),
        ("SELECT pg_catalog.pg_read_file('/etc/passwd')", "postgres"),
        ("SELECT \"pg_read_file\"('/etc/passwd')", "postgres"),
        ("SELECT * FROM dblink('host=x', 'SELECT 1') AS t(a int)", "postgres"),
        ("SELECT nextval('s')", "postgres"),
        ("SELECT set_config('a', 'b', false)", "postgres"),
        ("SELECT * FROM pg_shadow", "postgres"),
        ("SELECT load_file('/etc/passwd')", "mysql"),
        ("SELECT 1 /*! INTO OUTFILE '/tmp/x' */ FROM t", "mysql"),
    ],
)
def test_nothing_reaches_files_networks_or_secrets(sql: str, dialect: str) -> None:
    assert not inspect(sql, dialect).allowed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 DROP TABLE t",
        "SELECT a FROM t EXEC xp_cmdshell 'dir'",
        "SELECT 1 DELETE FROM t",
        "SELECT 1 UPDATE t SET a = 1",
    ],
)
def test_statements_that_no_semicolon_parts_are_refused(sql: str) -> None:
    assert not inspect(sql, "tsql").allowed


@pytest.mark.parametrize(
    ("text", "count", "sent"),
    [
        ("SELECT SUM(b) FROM acc;;  -- total\n;", 1, "SELECT SUM(b) FROM acc"),
        (" ;; \n SELECT 1 ; /* done */", 1, "SELECT 1"),
        ("SELECT a -- why\nFROM t; -- tail", 1, "SELECT a -- why\nFROM t"),
        ("SELECT id FROM acc; SELECT SUM(b) FROM acc;", 2, "SELECT id FROM acc"),
        ("SELECT 1; DROP TABLE t", 2, "SELECT 1"),
        ("DECLARE d DATE; SELECT 1", 2, "DECLARE d DATE"),
        ("", 0, ""),
        ("-- nothing\n;", 0, ""),
    ],
)
def test_statements_are_counted_and_the_first_is_kept_as_written(text: str, count: int, sent: str) -> None:
    statement = inspect(text, "sqlite")
    assert (statement.count, statement.text) == (count, sent)
    assert statement.allowed is (count == 1)


@pytest.mark.parametrize("sql", ["SELECT species, FROM bird", "SELEC mass FROM bird", "SELECT 'open", "SELECT (1"])
def test_a_broken_query_reaches_the_engine_which_says_what_is_wrong(sql: str) -> None:
    assert inspect(sql, "sqlite").allowed


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.sampled_from(DIALECTS))
def test_no_text_crashes_it(text: str, dialect: str) -> None:
    statement = inspect(text, dialect)
    assert statement.allowed is (statement.why is None)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["DELETE FROM t", "DROP TABLE t", "UPDATE t SET a = 1", "INSERT INTO t VALUES (1)", "VACUUM"]),
    st.sampled_from(["", " ", "\n", "-- x\n", "/* SELECT 1 */", ";", "\t;", "SELECT 1;"]),
    st.sampled_from(["", ";", " -- SELECT", "\n;\n"]),
    st.booleans(),
    st.sampled_from(DIALECTS),
)
def test_no_disguise_makes_a_write_a_read(write: str, before: str, after: str, lower: bool, dialect: str) -> None:
    assert not inspect(before + (write.lower() if lower else write) + after, dialect).allowed


@pytest.mark.parametrize("text", ["SELECT '\x00'", "SELECT '\ud800'", "\ud800", "\x00", "SELECT \x00 FROM t"])
def test_odd_characters_do_not_crash(text: str) -> None:
    inspect(text, "sqlite")
    inspect(text, "postgres")


_WORDS = st.sampled_from(
    [
        *(
            "select",
            "SELECT",
            "from",
            "t",
            "into",
            "for",
            "FOR",
            "update",
            "share",
            "lock",
            "in",
            "delete",
            "replace",
            "a.b",
        ),
        *(
            "load_extension",
            "Lo_Get",
            "pg_sleep",
            "count",
            "glob",
            "query",
            "performer",
            '"into"',
            '"pg_authid"',
            "pg_authid",
        ),
        *(
            "(",
            ")",
            "(",
            ",",
            ";",
            ".",
            "*",
            "=",
            "1",
            "1.5",
            "'x'",
            "'into'",
            "''",
            "'",
            '"',
            "--",
            "/*",
            "*/",
            "$$",
            "\\",
            "#",
        ),
        *("\n", "\t", " ", "`a`", "[b]", "é", "E'\\''", "x'00'", "union", "all", "drop", "table"),
    ]
)


@settings(max_examples=600)
@given(
    st.lists(_WORDS, max_size=14),
    st.sampled_from(["", " "]),
    st.sampled_from(["sqlite", "duckdb", "postgres", "mysql"]),
)
def test_a_glance_says_what_the_closer_look_says(words: list[str], between: str, dialect: str) -> None:
    text = "select " + between.join(words)
    at_a_glance = inspect.__wrapped__(text, dialect)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sqlassay.sql.safety._PLAIN_IN", frozenset())
        assert inspect.__wrapped__(text, dialect) == at_a_glance


def test_a_glance_is_enough_for_an_everyday_query() -> None:
    everyday = " SELECT T1.Name, count(*) FROM a AS T1 WHERE T1.City = 'São Paulo' GROUP BY T1.Name ; "
    assert _plain_select(everyday, "sqlite") == everyday.strip(" ;")
    for doubtful in (
        "SELECT load_extension ('x')",
        "SELECT 1load_extension('x')",
        "SELECT 1into t",
        "SELECT 1 FROM pg_authid",
    ):
        assert _plain_select(doubtful, "sqlite") is None
