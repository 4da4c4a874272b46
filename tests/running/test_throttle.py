"""How many questions are in flight, and how fast they go out."""

from __future__ import annotations

import asyncio

import pytest

from sqlassay.running.throttle import Pace, Throttle


async def most_at_once(throttle: Throttle, questions: int) -> int:
    now, most = 0, 0

    async def ask() -> None:
        nonlocal now, most
        async with throttle:
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            now -= 1

    await asyncio.gather(*(ask() for _ in range(questions)))
    return most


@pytest.mark.parametrize("jobs", [1, 3, 8])
async def test_at_most_so_many_in_flight(jobs: int) -> None:
    assert await most_at_once(Throttle(jobs), 20) == jobs


async def test_halved_when_refused_and_regained_one_by_one() -> None:
    throttle = Throttle(8)
    throttle.ease()
    assert (throttle.limit, await most_at_once(throttle, 20)) == (4, 4)
    throttle.ease()
    throttle.ease()
    throttle.ease()
    assert throttle.limit == 1
    gained = []
    while throttle.limit < 8:
        await throttle.praise()
        gained.append(throttle.limit)
    assert gained.count(2) == 2, "two good answers at a limit of two"
    assert gained == sorted(gained)
    await throttle.praise()
    assert throttle.limit == 8


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_stated_wait_holds_everybody_back() -> None:
    clock = Clock()
    throttle = Throttle(4, clock=clock)
    throttle.ease(wait_s=0.05)
    asking = asyncio.create_task(most_at_once(throttle, 4))
    await asyncio.sleep(0.15)
    assert not asking.done(), "its clock has not moved"
    clock.now = 0.05
    assert await asking == 2


async def test_pace_is_kept_per_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr("sqlassay.running.throttle.asyncio.sleep", sleep)
    pace = Pace(120, clock=clock)
    for _ in range(121):
        await pace.wait()
    assert clock.now == pytest.approx(59.5, abs=1.0)


async def test_tokens_are_paid_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr("sqlassay.running.throttle.asyncio.sleep", sleep)
    pace = Pace(6000, clock=clock)
    await pace.wait(0.0)
    assert clock.now == 0
    pace.pay(1100)
    await pace.wait(0.0)
    assert clock.now == pytest.approx(10, abs=0.1)


async def test_no_limit_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        raise AssertionError(f"waits {seconds} s")

    monkeypatch.setattr("sqlassay.running.throttle.asyncio.sleep", sleep)
    pace = Pace(None)
    pace.pay(10**9)
    for _ in range(1000):
        await pace.wait()
