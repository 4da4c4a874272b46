"""Untrusted text is shown, never obeyed, and never longer than its place."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.records.relation import Interval
from sqlassay.report.highlight import tokens
from sqlassay.report.inert import cell, inert, line

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=80)


@given(ANY_TEXT)
def test_no_control_or_direction_character_is_left(text: str) -> None:
    for character in inert(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in (
            "RLO",
            "LRO",
            "RLE",
            "LRE",
            "PDF",
            "RLI",
            "LRI",
            "FSI",
            "PDI",
        )


@given(st.text(alphabet="abc äπ中🎬\n", max_size=80))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert inert(text) == text


def test_what_is_cut_says_so() -> None:
    assert inert("x" * 1_000_000, limit=50) == "x" * 50 + "… (cut: 1,000,000 characters)"
    assert "\n" not in line("a\nb\r\nc")


@given(ANY_TEXT)
def test_highlighting_loses_nothing(text: str) -> None:
    assert "".join(piece for _, piece in tokens(text)) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        ("NULL", "'NULL'"),
        ("", "''"),
        (" a", "' a'"),
        ("00501", "'00501'"),
        (501, "501"),
        (Decimal("1.50"), "1.50"),
        (float("nan"), "nan"),
        (False, "false"),
        (b"\x00\xff", "0x00ff"),
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, 3, tzinfo=UTC), "2020-01-02 03:00:00+00:00"),
        (Interval(months=1, days=2), "1 months 2 days 0 s"),
        ([1, None, "a"], "[1, NULL, a]"),
        ({"k": [True]}, "{k: [true]}"),
    ],
)
def test_values_cannot_be_taken_for_each_other(value: object, shown: str | None) -> None:
    assert cell(value) == shown


def test_monstrous_values_are_bounded() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    for value in (10**100_000, b"x" * 10**6, list(range(10**6)), {str(i): i for i in range(10**5)}, deep):
        shown = cell(value)
        assert shown is not None
        assert len(shown) < 600
