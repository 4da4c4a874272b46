"""Which part of an answer is the SQL?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlassay.sql.extract import statement_in

QUERY = "SELECT c.name FROM crop c WHERE c.yield_t > 1.5"


@pytest.mark.parametrize(
    "text",
    [
        f"```sql\n{QUERY}\n```",
        f"```\n{QUERY}\n```",
        f"```SQL\n{QUERY};\n```\n",
        f"Sure! Here you go:\n\n```sqlite\n{QUERY}\n```\nIt lists the crops.",
        f"First try:\n```sql\nSELECT yield_t FROM crop\n```\nThat misses the names:\n```sql\n{QUERY}\n```",
        f"```python\nprint('SELECT 1')\n```\n```sql\n{QUERY}\n```",
        f"```sql\n{QUERY}",
        f"~~~sql\n{QUERY}\n~~~",
        f"{QUERY};\n\nSQLResult: rye, oat\nAnswer: rye and oat",
        f"SQL: {QUERY}",
        f"SQLQuery: {QUERY}",
        f"The query is:\n{QUERY}",
        f"The query is: `{QUERY}`. It lists the crops.",
        f"I looked at the schema. The answer is\n\n{QUERY}\n\nwhich lists all names.",
        f"{QUERY}\n\nThis query lists the names of the crops.",
        f"{QUERY}\nThis query lists the names of the crops.",
        f"{QUERY}\n\nExplanation: it's filtered by yield",
        f"{QUERY}\n```",
        f"<think>maybe SELECT b FROM t</think>\n<sql>{QUERY}</sql>",
        f'{{"reason": "x", "sql": "{QUERY}"}}',
        f'```json\n{{"sql": "{QUERY}"}}\n```',
        f"sql\n{QUERY}",
        f"1. First:\n   {QUERY}",
    ],
)
def test_fences_and_prose_are_taken_off(text: str) -> None:
    found = statement_in(text)
    assert found is not None
    assert found.rstrip(";") == QUERY


@pytest.mark.parametrize(
    "text",
    [
        QUERY,
        "  select 1  ",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "-- the names\nSELECT name FROM crop",
        "/* names */ (SELECT name FROM crop)",
        "SELECT n FROM part WHERE code = 'A--7' OR code = 'B/*9' OR code = 'C;1' -- */",
        "SELECT SUM(bal) FROM acc;;  -- total\n;",
        "SELECT id FROM acc; SELECT SUM(bal) FROM acc;",
        "SELECT 1; DROP TABLE t",
        "DELETE FROM task",
        "UPDATE task SET state = 'open' RETURNING id",
        "PRAGMA table_info(task)",
        "EXEC dbo.GetReport @y = 2024",
        "ANALYZE",
        "ANALYZE main.task;",
        "SAVEPOINT before",
        "CHECKPOINT -- now",
        "EXPORT DATABASE '/tmp/out'",
        "CREATE MACRO f(x) AS x",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
        "REFRESH MATERIALIZED VIEW v",
        "PREPARE p(int) AS SELECT 1",
        "DO $$ BEGIN DELETE FROM task; END $$",
        "NOTIFY orders, 'all'",
        "FETCH NEXT FROM cursor",
        "TRUNCATE task",
        "DELETE task",
        "MERGE task AS t USING other ON t.id = other.id WHEN MATCHED THEN DELETE",
        "FROM '/etc/passwd'",
        "SELECT species, FROM bird",
        "SELEC mass FROM bird",
        "FROM users",
        "VALUES (1)",
        "SELECT a\n\nFROM t\n\nWHERE b = 1",
        "SELECT '```' AS fence FROM t",
        "SELECT 'I''m fine; thanks' AS answer",
    ],
)
def test_text_that_is_sql_comes_back_unchanged(text: str) -> None:
    assert statement_in(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "I'm sorry, the schema has no information about harvest dates, so I cannot answer this.",
        "Select the option that you prefer and I will go on.",
        "With the given schema I cannot answer.",
        "From the data I see that there are three crops.",
        "Which crops do you mean?",
        "```\nno query here\n```",
        "Show me which table you mean, please.",
        "Use the orders table.",
        "Delete the rows you do not need.",
        "Analyze the data first.",
        "Release sales.",
        "Create a report of all crops.",
        "Close to three hundred.",
        "End of the answer",
        "```sql\n```",
        '{"answer": "42"}',
    ],
)
def test_prose_holds_no_query(text: str) -> None:
    assert statement_in(text) is None


def test_a_byte_order_mark_is_no_part_of_the_statement() -> None:
    assert statement_in("\ufeff" + QUERY) == QUERY


def test_a_query_over_many_lines_in_prose_is_taken_whole() -> None:
    query = "WITH x AS (\n  SELECT 1 AS a\n)\nSELECT a\nFROM x\nWHERE a = 1\nORDER BY a"
    assert statement_in(f"Here is the query:\n\n{query};\n\n**Explanation**: it selects.") == query


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_no_text_crashes_it(text: str) -> None:
    found = statement_in(text)
    assert found is None or found.strip(" ;\n")


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["Sure.", "Here is it:", "As asked,\n", ""]), st.sampled_from(["", "Hope it helps!", "Rows: 3"]))
def test_a_fenced_query_is_found_in_any_prose(before: str, after: str) -> None:
    assert statement_in(f"{before}\n```sql\n{QUERY}\n```\n{after}") == QUERY
