"""What `evidence` holds of a score, also where one side or both have nothing to show (specification section 11)."""

from __future__ import annotations

import json

import apsw
import pytest

import sqlassay

SIDES = ("gold", "candidate")
HELD = {
    "sql": {f"{side}_{fact}" for side in SIDES for fact in ("tables", "base_tables", "columns_read", "origins")},
    "execution": {"gold_error", "candidate_error", "gold_rows", "candidate_rows"},
    "output": {"pairs", "row_key", "matched_cells"},
    "component": {"tables", "columns", "joins", "filters", "aggregations", "group_by"},
}
READS = "SELECT species FROM bird"


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("evidence") / "birds.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute(
            "CREATE TABLE bird(id INTEGER, species TEXT); INSERT INTO bird VALUES (1,'wren'),(2,'robin')"
        )
    connection.close()
    return f"sqlite:///{path}"


@pytest.mark.parametrize(
    ("gold", "candidate"),
    [
        (READS, READS),
        (READS, "SELECT species FROM bird WHERE id > 9"),
        (READS, "SELECT wing FROM bird"),
        (READS, "SELEC species FROM bird"),
        (READS, "DROP TABLE bird"),
        (READS, "I cannot answer this."),
        (READS, ""),
        ("SELECT wing FROM bird", READS),
        ("SELECT species, FROM bird", "SELEC species FROM bird"),
    ],
)
def test_every_name_is_there_whatever_failed(birds: str, gold: str, candidate: str) -> None:
    evidence = sqlassay.score_sql(gold, candidate, database=birds).to_dict()["evidence"]
    json.dumps(evidence)
    for part, names in HELD.items():
        assert names <= evidence[part].keys()
    for name in HELD["component"]:
        assert evidence["component"][name].keys() == {"gold", "candidate", "missing", "extra"}


def test_without_a_candidate_result_nothing_is_paired_and_no_cell_is_counted(birds: str) -> None:
    evidence = sqlassay.score_sql(READS, "SELECT wing FROM bird", database=birds).evidence
    assert evidence["output"]["pairs"] == []
    assert evidence["output"]["row_key"] is None
    assert evidence["output"]["matched_cells"] is None
    assert evidence["component"]["filters"] == dict.fromkeys(("gold", "candidate", "missing", "extra"))
