"""The small parts that engines share: deadlines, byte counts, JSON, view texts."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.databases.json_text import parsed
from sqlassay.databases.sizes import ByteCount
from sqlassay.databases.watchdog import deadline

CELLS = st.none() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8) | st.booleans()


@given(st.lists(st.lists(st.tuples(CELLS, CELLS), max_size=5), max_size=5))
def test_bytes_are_counted_the_same_whatever_came_before(chunks: list[list[tuple[Any, Any]]]) -> None:
    count = ByteCount()
    for chunk in chunks:
        count.add(chunk)
    assert count.total == sum(
        8 + (len(cell) if isinstance(cell, (str, bytes)) else 0) for chunk in chunks for row in chunk for cell in row
    )


@pytest.mark.timeout(60)
def test_deadlines_ring_in_their_order_each_once() -> None:
    rung: list[str] = []
    with (
        deadline(600, lambda: rung.append("last")) as last,
        deadline(0.1, lambda: rung.append("second")) as second,
        deadline(0.05, lambda: rung.append("first")),
    ):
        while len(rung) < 2:
            time.sleep(0.005)
    assert rung == ["first", "second"]
    assert second.rang
    assert not last.rang


def test_a_block_that_ends_in_time_is_left_alone() -> None:
    rang = threading.Event()
    with deadline(0.02, rang.set) as alarm:
        pass
    assert not rang.wait(0.1)
    assert not alarm.rang


def test_many_deadlines_ring_in_their_own_order() -> None:
    order: list[int] = []
    done = threading.Event()

    def ring(i: int) -> None:
        order.append(i)
        if len(order) == 5:
            done.set()

    def wait(i: int) -> None:
        with deadline(0.05 * (5 - i), lambda: ring(i)):
            done.wait(5)

    threads = [threading.Thread(target=wait, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order == [4, 3, 2, 1, 0]


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_json_numbers_keep_every_digit(number: Decimal) -> None:
    assert Decimal(str(parsed(f"[{number:f}]")[0])) == number
