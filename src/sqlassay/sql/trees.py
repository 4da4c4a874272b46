"""Small questions about a syntax tree: what stands inside parentheses, in a chain, as a constant?"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlglot import exp

from sqlassay.sql import functions


def unwrapped(node: exp.Expr) -> exp.Expr:
    """The node without the parentheses around it."""
    while isinstance(node, exp.Paren) or (
        type(node) is exp.Subquery and not node.args.get("alias") and len([a for a in node.args.values() if a]) == 1
    ):
        node = node.this
    return node


def chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one associative operator, from left to right, without recursion."""
    operands: list[exp.Expr] = []
    pending = [unwrapped(node)]
    while pending:
        top = pending.pop()
        if isinstance(top, kind):
            pending.append(unwrapped(top.expression))
            pending.append(unwrapped(top.this))
        else:
            operands.append(top)
    return operands


def is_constant(node: exp.Expr) -> bool:
    bare = unwrapped(node)
    while isinstance(bare, (exp.Neg, exp.Cast)):
        bare = unwrapped(bare.this)
    return isinstance(bare, (exp.Literal, exp.Boolean, exp.Null, exp.Parameter, exp.Placeholder))


def always_true(node: exp.Expr) -> bool:
    """TRUE, and the `1 = 1` that programs begin a WHERE clause with."""
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if type(node) is not exp.EQ:
        return False
    left, right = unwrapped(node.this), unwrapped(node.expression)
    return isinstance(left, exp.Literal) and isinstance(right, exp.Literal) and left == right


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in functions.AGGREGATES
    return isinstance(node, exp.AggFunc)


def number(text: str, *, keep_point: bool = False) -> str:
    """A numeric literal in its shortest form; with `keep_point` a decimal does not become an integer.

    >>> number("007.50"), number("1e3"), number("2.0"), number("2.0", keep_point=True)
    ('7.5', '1000', '2', '2.0')
    """
    try:
        value = Decimal(text)
    except (InvalidOperation, ValueError):
        return text
    if not value.is_finite() or abs(value.adjusted()) > 40:
        return text
    short = format(value.normalize(), "f")
    if keep_point and "." not in short and any(mark in text for mark in ".eE"):
        short += ".0"
    return short
