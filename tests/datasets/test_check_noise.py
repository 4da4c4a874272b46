"""How much of what people found wrong in a public gold set does the lint find, and how often does it cry wolf?

The annotated questions run on a Czech bank database that is not among the public data here. Its tables, keys and
the values of its code columns are restated below; all rows are made up. So only findings that depend on keys and on
code columns can be measured: a constant that no row has, and a join that multiplies rows.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from sqlassay.databases.connect import connect
from sqlassay.datasets.check import check
from sqlassay.datasets.findings import Code
from sqlassay.records.case import Case

DATA = Path(os.environ.get("SQLASSAY_PUBLIC_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
FILE = DATA / "human_labels" / "bird_noise_annotations.jsonl"

BANK = """
CREATE TABLE district (district_id INTEGER PRIMARY KEY, A2 TEXT, A3 TEXT, A4 TEXT, A5 TEXT, A6 TEXT, A7 TEXT,
  A8 INTEGER, A9 INTEGER, A10 REAL, A11 INTEGER, A12 REAL, A13 REAL, A14 INTEGER, A15 INTEGER, A16 INTEGER);
CREATE TABLE account (account_id INTEGER PRIMARY KEY, district_id INTEGER REFERENCES district (district_id),
  frequency TEXT, date DATE);
CREATE TABLE client (client_id INTEGER PRIMARY KEY, gender TEXT, birth_date DATE,
  district_id INTEGER REFERENCES district (district_id));
CREATE TABLE disp (disp_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client (client_id),
  account_id INTEGER REFERENCES account (account_id), type TEXT);
CREATE TABLE card (card_id INTEGER PRIMARY KEY, disp_id INTEGER REFERENCES disp (disp_id), type TEXT, issued DATE);
CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account (account_id), date DATE,
  amount INTEGER, duration INTEGER, payments REAL, status TEXT);
CREATE TABLE "order" (order_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account (account_id),
  bank_to TEXT, account_to INTEGER, amount REAL, k_symbol TEXT);
CREATE TABLE trans (trans_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account (account_id), date DATE,
  type TEXT, operation TEXT, amount INTEGER, balance INTEGER, k_symbol TEXT, bank TEXT, account INTEGER);
"""
REGIONS = ["Prague", "central Bohemia", "south Bohemia", "west Bohemia", "north Bohemia", "east Bohemia",
           "south Moravia", "north Moravia"]  # fmt: skip
CODES = {
    ("district", "a3"): REGIONS,
    ("account", "frequency"): ["POPLATEK MESICNE", "POPLATEK TYDNE", "POPLATEK PO OBRATU"],
    ("client", "gender"): ["M", "F"],
    ("disp", "type"): ["OWNER", "DISPONENT"],
    ("card", "type"): ["gold", "classic", "junior"],
    ("loan", "status"): ["A", "B", "C", "D"],
    ("trans", "type"): ["PRIJEM", "VYDAJ", "VYBER"],
    ("trans", "operation"): ["VYBER KARTOU", "VKLAD", "PREVOD Z UCTU", "VYBER", "PREVOD NA UCET"],
    ("trans", "k_symbol"): ["POJISTNE", "SIPO", "LEASING", "UVER", "SLUZBY", "UROK", "SANKC. UROK", "DUCHOD"],
    ("trans", "bank"): ["AB", "CD", "EF", "GH", "IJ", "KL", "MN", "OP", "QR", "ST", "UV", "WX", "YZ"],
}


@pytest.mark.skipif(not FILE.is_file(), reason=f"public data sets are not at {DATA}")
@pytest.mark.public_data
def test_what_people_found_wrong_is_found(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in FILE.read_text().splitlines()]
    rows = [row for row in rows if row["set"] == "financial_annotations" and row.get("Original gold SQL")]
    cases = [
        Case(id=f"{row['Question ID']}", question=row["Original question"], gold_sql=(row["Original gold SQL"],))
        for row in rows
    ]
    database = connect(_bank(tmp_path / "bank.db"), name="bank")
    findings = check(cases, databases={"bank": database})
    database.close()
    constants = {
        one.case_id
        for one in findings
        if one.code is Code.CONSTANT_MATCHES_NOTHING
        and any(f"looks for {table}.{column} = '" in one.message for table, column in CODES)
    }
    joins = {one.case_id for one in findings if one.code is Code.JOIN_PAST_LINK}
    # The fault is in the gold where the mended query differs from it, and in the question elsewhere.
    mended = {
        f"{row['Question ID']}": row
        for row in rows
        if row.get("Suggested fixed gold_sql") and row["Suggested fixed gold_sql"] != row["Original gold SQL"]
    }
    wrong_value = {name for name, row in mended.items() if "5" in str(row.get("Error Category"))}
    wrong_join = {name for name, row in mended.items() if "district_id" in str(row.get("Comment"))}
    assert (len(rows), len(wrong_value), len(wrong_join)) == (56, 3, 5)
    assert wrong_value <= constants
    assert wrong_join <= joins
    # One type of disposition that no row has and nobody marked.
    assert constants - wrong_value == {"187"}
    assert joins == wrong_join


def _bank(file: Path) -> str:
    connection = sqlite3.connect(file)
    connection.executescript(BANK)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        columns = [(row[1], row[2]) for row in connection.execute(f'PRAGMA table_info("{table}")')]
        for number in range(1, 61):
            values: list[object] = []
            for position, (name, kind) in enumerate(columns):
                codes = CODES.get((table, name.casefold()))
                if codes is not None:
                    values.append(codes[number % len(codes)])
                elif position == 0:
                    values.append(number)
                elif name.endswith("_id"):
                    values.append(number * 7 % 20 + 1)
                else:
                    values.append("1995-03-24" if kind == "DATE" else f"x{number}" if kind == "TEXT" else number)
            marks = ", ".join("?" * len(values))
            connection.execute(f'INSERT INTO "{table}" VALUES ({marks})', values)
    connection.commit()
    connection.close()
    return f"sqlite:///{file}"
