"""Two results side by side: pairs, keys, marks, and what is shown when not all fits."""

from __future__ import annotations

from sqlassay.records.relation import Relation
from sqlassay.report.alignment import Grid, Mark, grid
from sqlassay.testing.builders import relation

PAIRS = {
    "pairs": [
        {"reference": "id", "candidate": "id", "by": "origin"},
        {"reference": "n", "candidate": "total", "by": "values"},
    ],
    "row_key": ["id"],
}


def shown(gold: Relation | None, candidate: Relation | None, **options: object) -> Grid:
    found = grid(gold, candidate, **options)  # type: ignore[arg-type]
    assert found is not None
    return found


def marks(found: Grid) -> list[tuple[str, tuple[str | None, ...] | None, tuple[str | None, ...] | None]]:
    return [(row.mark.value, row.gold, row.candidate) for row in found.rows]


def test_rows_stand_beside_each_other_by_key() -> None:
    gold = relation("id n", (1, 10), (2, 20), (3, 30))
    candidate = relation("total id", (30, 3), (99, 2), (5, 9))
    found = shown(gold, candidate, evidence=PAIRS)
    assert marks(found) == [
        ("missing", ("1", "10"), None),
        ("differs", ("2", "20"), ("2", "99")),
        ("same", ("3", "30"), ("3", "30")),
        ("extra", None, ("9", "5")),
    ]
    assert found.rows[1].differing == (1,)
    assert [(c.gold, c.candidate, c.by, c.key) for c in found.columns] == [
        ("id", "id", "origin", True),
        ("n", "total", "values", False),
    ]


def test_missing_and_spare_columns_stand_alone() -> None:
    found = shown(
        relation("a b", (1, 2)), relation("a c", (1, 3)), evidence={"pairs": [{"reference": "a", "candidate": "a"}]}
    )
    assert [(c.gold, c.candidate) for c in found.columns] == [("a", "a"), ("b", None), (None, "c")]
    assert found.rows[0].mark is Mark.SAME


def test_equal_rows_without_a_key_are_matched_first() -> None:
    found = shown(relation("a", (1,), (2,), (2,)), relation("a", (2,), (1,), (3,)))
    assert sorted(row.mark.value for row in found.rows) == ["extra", "missing", "same", "same"]


def test_duplicate_names_keep_their_own_partner() -> None:
    pairs = {"pairs": [{"reference": "id", "candidate": "id#2"}, {"reference": "id#2", "candidate": "id"}]}
    found = shown(relation("id id", (1, 2)), relation("id id", (2, 1)), evidence=pairs)
    assert [row.mark for row in found.rows] == [Mark.SAME]


def test_ordered_results_stand_line_by_line() -> None:
    found = shown(relation("a", (1,), (2,)), relation("a", (2,), (1,)), ordered=True)
    assert [row.mark for row in found.rows] == [Mark.DIFFERS, Mark.DIFFERS]


def test_one_row_against_one_row_is_compared_cell_by_cell() -> None:
    found = shown(relation("count", (41,)), relation("count", (42,)))
    assert marks(found) == [("differs", ("41",), ("42",))]


def test_differing_rows_come_into_a_small_window() -> None:
    gold = relation("id n", *[(k, k) for k in range(500)])
    candidate = relation("id total", *[(k, -1 if k == 400 else k) for k in range(500) if k != 450])
    found = shown(gold, candidate, evidence=PAIRS, rows=10)
    assert len(found.rows) == 10
    assert [row.mark.value for row in found.rows if row.mark is not Mark.SAME] == ["differs", "missing"]
    assert any("10 of 500" in note for note in found.notes)


def test_at_most_twenty_columns_a_side() -> None:
    names = " ".join(f"c{k}" for k in range(500))
    found = shown(relation(names, tuple(range(500))), relation(names, tuple(range(500))))
    assert len(found.rows[0].gold or ()) == 20
    assert len(found.rows[0].candidate or ()) == 20
    assert any("480 columns" in note for note in found.notes)


def test_one_side_alone_and_none() -> None:
    assert grid(None, None) is None
    found = shown(relation("a", (1,)), None)
    assert (found.candidate_rows, found.rows[0].mark) == (None, Mark.MISSING)


def test_awkward_cells_do_not_stop_the_page() -> None:
    rows = [(float("nan"), [1], {"a": 1}, 10**400, float("inf")), (None, [], {}, -1, 0.1)]
    found = shown(relation("a b c d e", *rows), relation("a b c d e", *reversed(rows)))
    assert [row.mark for row in found.rows] == [Mark.SAME, Mark.SAME]


def test_the_only_rows_stand_beside_each_other_even_where_the_key_differs() -> None:
    evidence = {"pairs": [{"reference": "n", "candidate": "n", "by": "expression"}], "row_key": ["n"]}
    found = grid(relation("n", (13,)), relation("n", (0,)), evidence=evidence)
    assert found is not None
    assert [(row.mark.value, row.differing) for row in found.rows] == [("differs", (0,))]
