"""What the package promises to those who import it: documented names, and nothing heavy before it is needed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sqlassay
from sqlassay.metrics.registry import cards
from sqlassay.records.value import Reason

ROOT = Path(__file__).resolve().parents[1]
PROSE = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
SCORER = """
import sqlassay
from sqlassay.metrics.registry import families
from sqlassay.metrics.score import score
from sqlassay.records.case import Case
from sqlassay.records.execution import Rows
from sqlassay.records.relation import Column, Relation
from sqlassay.records.settings import ScoreSettings
from sqlassay.records.trial import Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.tables.handed import relation_of

table = relation_of({"columns": ["n"], "rows": [[1], [2]]})
side = Side(sql="SELECT n FROM t", execution=Rows(relation=table))
case = Case(id="a", question="?", gold_sql=("SELECT n FROM t",))
turn = Turn(case_id="a", candidate_sql="SELECT n FROM t")
measured = score(Trial(case=case, turn=turn, golds=(side,), candidate=side), ScoreSettings())
assert measured.value("execution.exact") == 1.0, measured
"""


def modules_after(code: str) -> set[str]:
    """The names of all modules that a fresh interpreter holds after `code`."""
    program = code + "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_scorer_alone_loads_no_reader_of_files_no_network_library_and_no_driver() -> None:
    loaded = {name.partition(".")[0] for name in modules_after(SCORER)}
    assert "sqlglot" in loaded
    heavy = {"pydantic", "yaml", "httpx", "jinja2", "typer", "rich", "numpy", "scipy", "pyarrow", "pandas"}
    drivers = {"apsw", "sqlite3", "duckdb", "psycopg", "pymysql", "sqlalchemy"}
    assert loaded & (heavy | drivers) == set()


def test_importing_the_package_loads_nothing_of_it() -> None:
    loaded = {name for name in modules_after("import sqlassay") if name.startswith("sqlassay")}
    assert loaded == {"sqlassay"}


@pytest.mark.parametrize("name", sorted(set(sqlassay.__all__) - {"__version__"}))
def test_every_public_name_is_explained_and_shown(name: str) -> None:
    value = getattr(sqlassay, name)
    doc = inspect.getdoc(value)
    assert doc, f"{name} has no docstring"
    assert ">>>" in doc or re.search(rf"\bsqlassay\.{name}\b", PROSE), f"no example shows {name}"


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sqlassay.nothing
    assert set(dir(sqlassay)) == set(sqlassay.__all__)


def test_every_card_says_what_it_asks_and_when_it_is_undefined() -> None:
    assert len({card.name for card in cards()}) == len(cards())
    for card in cards():
        for text in (card.title, card.question, card.formula, card.unit, card.range):
            assert text.strip(), card
        assert card.better in ("higher", "lower", "neither"), card
        assert set(card.undefined) <= set(Reason), card
        assert f"`{card.name}`" in PROSE, f"{card.name} is not in the documentation"
