"""When do two numbers agree? The four rules of specification section 5.0, exact at the edge."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from sqlassay.records.case import Tolerance
from sqlassay.tables.cells import is_number

HAIR: Final = Tolerance(mode="plain", abs="0", rel="1e-9")
"""The rule against which `decided_by_tolerance` is measured."""

_ULPS: Final = 1e-14
_DECIMAL: Final = Context(prec=60, traps=[Inexact, InvalidOperation])


def same(a: Any, b: Any) -> bool:
    """Agreement without tolerance: equal normal forms."""
    return bool(a == b)


class Agreement:
    """A tolerance rule made ready: `rule(a, b)` tells whether two normal forms agree.

    `width(a)` bounds how far from `a` an agreeing number can lie; `interval` says that the numbers agreeing
    with `a` are an interval whose ends grow with `a`, so that sorted pairing decides one column.

    >>> guarded = Agreement(Tolerance())
    >>> guarded(1.00, 1.01), guarded(0.001, 0.009), guarded(0, 0.004), guarded(5, "5")
    (True, False, True, False)
    >>> Agreement(Tolerance(mode="plain"))(0.001, 0.009)
    True
    """

    __slots__ = ("_abs", "_abs_decimal", "_abs_float", "_rel", "_rel_float", "exact", "interval", "mode")

    def __init__(self, tolerance: Tolerance) -> None:
        self.mode = tolerance.mode
        self._abs = Fraction(tolerance.abs)
        self._rel = Fraction(tolerance.rel)
        if self.mode == "guarded":
            self._abs, self._rel = Fraction(1, 100), Fraction(0)
        elif self.mode == "rounding":
            self._abs, self._rel = Fraction(1, 200), Fraction(0)
        elif self.mode == "exact":
            self._abs, self._rel = Fraction(0), Fraction(0)
        if self._abs < 0 or self._rel < 0:
            raise ValueError("a tolerance is never negative")
        self._abs_decimal = Decimal(self._abs.numerator) / Decimal(self._abs.denominator)
        self._abs_float, self._rel_float = float(self._abs), float(self._rel)
        self.exact = self.mode == "exact" or (self._abs == 0 and self._rel == 0)
        self.interval = self.mode == "plain"

    def __call__(self, a: Any, b: Any) -> bool:
        if a is b or a == b:
            return True
        if self.exact:
            return False
        if not (is_number(a) and is_number(b)):
            return type(a) is tuple and type(b) is tuple and self._nested(a, b)
        return self._numbers(a, b)

    def width(self, a: Any) -> float:
        """No number further than this from `a` agrees with it (a float bound, on the safe side)."""
        size = abs(float(a)) if abs(a) < 1e300 else 1e300
        wide = max(self._abs_float, self._rel_float * size / max(1e-9, 1 - self._rel_float))
        return wide * (1 + 1e-9) + size * _ULPS

    @property
    def narrow(self) -> float:
        """A gap that every pair of numbers may have, as long as it is small beside them; 0 when there is none."""
        return self._abs_float if self.mode in ("guarded", "plain") else 0.0

    @property
    def narrowest(self) -> float:
        """The absolute part of the rule, as a float."""
        return self._abs_float

    @property
    def share(self) -> float:
        """The relative part of the rule, as a float."""
        return self._rel_float

    @property
    def millionths(self) -> int | None:
        """The absolute tolerance in millionths, where it is a whole number of them and nothing else counts."""
        scaled = self._abs * 10**6
        counts = self.mode in ("plain", "guarded") and self._rel == 0 and scaled.denominator == 1
        return int(scaled) if counts else None

    @property
    def flat(self) -> float | None:
        """The widest distance at which numbers agree when it is the same everywhere, else None."""
        return self._abs_float if self._rel == 0 else None

    def _numbers(self, a: Any, b: Any) -> bool:
        try:
            x, y = float(a), float(b)
        except OverflowError:
            return self._exactly(a, b)
        size = max(abs(x), abs(y))
        if size == float("inf"):
            return False
        gap, slack = abs(x - y), size * _ULPS + 1e-15
        limit = max(self._abs_float, self._rel_float * size)
        if gap > limit + slack:
            return False
        if self.mode == "plain" and gap < limit - slack:
            return True
        if self.mode == "guarded" and gap < limit - slack and gap < 0.1 * size - slack:
            return True
        return self._exactly(a, b)

    def _exactly(self, a: Any, b: Any) -> bool:
        if self._rel == 0 and self.mode in ("plain", "guarded"):
            decided = self._by_decimals(a, b)
            if decided is not None:
                return decided
        x, y = as_fraction(a), as_fraction(b)
        if x is None or y is None:
            return False
        gap = abs(x - y)
        if self.mode == "plain":
            return gap <= max(self._abs, self._rel * max(abs(x), abs(y)))
        if gap > self._abs:
            return False
        if self.mode == "guarded" and gap <= max(abs(x), abs(y)) / 10:
            return True
        return rounds_to(x, y) or rounds_to(y, x)

    def _by_decimals(self, a: Any, b: Any) -> bool | None:
        """The same in decimal arithmetic, which is faster; None where it is not exact or not enough."""
        try:
            x = _DECIMAL.create_decimal(repr(a) if type(a) is float else a)
            y = _DECIMAL.create_decimal(repr(b) if type(b) is float else b)
            gap = abs(_DECIMAL.subtract(x, y))
        except (Inexact, InvalidOperation):
            return None
        if gap > self._abs_decimal:
            return False
        if self.mode == "plain" or gap * 10 <= max(abs(x), abs(y)):
            return True
        return None

    def _nested(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        if len(a) != len(b) or a[0] != b[0]:
            return False
        if a[0] == "list":
            return len(a[1]) == len(b[1]) and all(self(x, y) for x, y in zip(a[1], b[1], strict=True))
        if a[0] == "map":
            left, right = dict(a[1]), dict(b[1])
            return left.keys() == right.keys() and all(self(left[key], right[key]) for key in left)
        return False


@lru_cache(maxsize=64)
def agreement(tolerance: Tolerance) -> Agreement:
    """The rule of a tolerance, made once."""
    return Agreement(tolerance)


def as_fraction(value: Any) -> Fraction | None:
    """The exact value of a number, floats by their shortest round-trip decimal; None for an infinity.

    >>> as_fraction(0.1)
    Fraction(1, 10)
    """
    if type(value) is float:
        return None if value in (float("inf"), float("-inf")) else Fraction(repr(value))
    if type(value) is Decimal:
        return Fraction(value) if value.is_finite() else None
    return Fraction(value)


def rounds_to(rounded: Fraction, value: Fraction) -> bool:
    """Whether `rounded` is `value` rounded to two to six decimals (a half may go either way).

    >>> rounds_to(Fraction("2.68"), Fraction("2.675")), rounds_to(Fraction("2.6"), Fraction("2.61"))
    (True, False)
    """
    gap = abs(rounded - value)
    for digits in range(2, 7):
        scale: int = 10**digits
        if (rounded * scale).denominator == 1 and gap * scale * 2 <= 1:
            return True
    return False
