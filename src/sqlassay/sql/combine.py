"""How do outcomes combine: under a column list, in a set operation, as keys that mean an output column?"""

from __future__ import annotations

from sqlglot import exp

from sqlassay.sql.bind import Binder
from sqlassay.sql.instances import renumbered
from sqlassay.sql.scope import Outcome, Output, Scope, Value, bounded, numbered, ordered


def bare_operation(node: exp.Expr) -> bool:
    """A set operation without ORDER BY, LIMIT or WITH of its own."""
    return not any(node.args.get(name) for name in ("order", "limit", "offset", "with_", "by_name"))


def position_of(node: exp.Expr, outputs: list[Output], binder: Binder, *, columns_first: bool = False) -> int | None:
    """The output column that a sort or group key means by number or by its alias, None where it means an expression."""
    if isinstance(node, exp.Literal) and not node.args.get("is_string"):
        try:
            position = int(str(node.this)) - 1
        except ValueError:
            return None
        return position if 0 <= position < len(outputs) else None
    if columns_first or not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    if not isinstance(node.this, exp.Identifier):
        return None
    key = binder.key(node.this)
    matches = [i for i, output in enumerate(outputs) if output.key == key]
    return matches[0] if matches else None


def renamed(outcome: Outcome, columns: tuple[str, ...]) -> Outcome:
    """The outcome with its first columns called by a column list."""
    if not columns:
        return outcome
    outputs = [
        Output(key=columns[i], name=columns[i], value=output.value) if i < len(columns) else output
        for i, output in enumerate(outcome.outputs)
    ]
    if outcome.open and len(outputs) < len(columns):
        outputs += [Output(key=key, name=key, value=Value(text=key, sure=False)) for key in columns[len(outputs) :]]
    return Outcome(outputs=outputs, canonical=outcome.canonical, open=outcome.open, tables=outcome.tables)


def united(values: list[Value]) -> Value:
    """One column of a set operation: it has an origin or a text only if all branches agree."""
    texts = list(dict.fromkeys(value.text for value in values))
    if len(texts) == 1:
        return values[0]
    origins = {value.origin for value in values}
    reads = frozenset().union(*(value.reads for value in values))
    return Value(
        text=bounded(" | ".join(ordered(texts))),
        origin=values[0].origin if len(origins) == 1 else None,
        reads=reads,
        aggregate=any(value.aggregate for value in values),
        sure=False,
    )


def tables_of(scope: Scope) -> tuple[str, ...]:
    """The relations under the sources of one scope, for short texts of subqueries."""
    found: set[str] = set()
    for source in scope.sources:
        if source.base is not None:
            found.add(source.base)
        elif isinstance(source.identity, tuple):
            found.update(source.identity[1])
    return tuple(sorted(found))


def whole_text(outcome: Outcome) -> str:
    """The canonical text of a whole statement."""
    return numbered(renumbered(outcome.canonical))
