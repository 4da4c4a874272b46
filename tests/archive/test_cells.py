"""Every cell type comes back as it was."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.archive.cells import decode_rows, encode_rows
from sqlassay.errors import RecordError
from sqlassay.records.relation import Interval

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
flat = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**700), 10**700),
    st.floats(allow_nan=False),
    st.text(st.characters()),
    st.decimals(allow_nan=True),
    st.binary(max_size=20),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=zones),
    st.uuids(),
    st.builds(Interval, months=st.integers(-99, 99), days=st.integers(-99, 99), microseconds=st.integers()),
)
nested = st.recursive(
    flat,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text() | st.integers(), inner, max_size=3)),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return str(left) == str(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


@given(st.lists(st.tuples(nested, flat), max_size=4))
def test_every_type_comes_back(rows: list[tuple[Any, ...]]) -> None:
    back = decode_rows(encode_rows(rows))
    assert len(back) == len(rows)
    assert all(
        same(cell, again) for row, other in zip(rows, back, strict=True) for cell, again in zip(row, other, strict=True)
    )


@pytest.mark.parametrize(
    "cell",
    [
        2**63,
        pytest.param(-(10**5000), id="huge"),
        Decimal("0.10"),
        Decimal("1E+3"),
        b"\x00\xff",
        "\ud800 lone",
        datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
        date(1, 1, 1),
        time(1, 2, 3, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        timedelta(days=-1, microseconds=1),
        UUID(int=7),
        Interval(months=1),
        {"$d": "not a tag"},
        {1: "int key", "1": "text key"},
        [[1, None], []],
    ],
)
def test_named_cells(cell: Any) -> None:
    ((back,),) = decode_rows(encode_rows([(cell,)]))
    assert same(cell, back)


def test_nan_zero_and_infinities() -> None:
    ((nan, inf, ninf, zero),) = decode_rows(encode_rows([(math.nan, math.inf, -math.inf, -0.0)]))
    assert math.isnan(nan)
    assert (inf, ninf) == (math.inf, -math.inf)
    assert math.copysign(1, zero) == -1


def test_lines_are_standard_json_on_one_ascii_line() -> None:
    data = encode_rows([(math.nan, "a\nb", "ü", 10**600)])
    assert b"\n" not in data
    assert data.isascii()
    json.loads(data, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'[[{"$x":1}]]', b'[[{"$d":"x"}]]', b'[[{"a":1,"b":2}]]'])
def test_damage_is_a_record_error(data: bytes) -> None:
    with pytest.raises(RecordError):
        decode_rows(data)
