"""In which order does a query return its rows, and how are the values it sorts by obtained?"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlassay.records.query import KeySource, Ordering, OrderPlan, SortKey
from sqlassay.sql.combine import position_of
from sqlassay.sql.outputs import is_star
from sqlassay.sql.parse import is_quoted, tokens_of
from sqlassay.sql.resolve import Resolver
from sqlassay.sql.scope import Outcome, plain
from sqlassay.sql.trees import unwrapped

_SET_WORDS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
_AFTER_ORDER = frozenset(
    {"LIMIT", "OFFSET", "FETCH", "FOR", "UNION", "INTERSECT", "EXCEPT", "MINUS", "SETTINGS", "FORMAT", "OPTION"}
)
_AFTER_LIST = frozenset(
    {"FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "FETCH", "QUALIFY", "WINDOW", "INTO",
     "UNION", "INTERSECT", "EXCEPT", "MINUS", "PREWHERE", "LATERAL", "USING", "CONNECT BY", "START WITH"}
)  # fmt: skip


def outermost(tree: exp.Expr) -> exp.Expr:
    """The query whose ORDER BY counts: redundant parentheses around the statement are looked through."""
    while isinstance(tree, (exp.Subquery, exp.Paren)) and not any(
        tree.args.get(name) for name in ("order", "limit", "offset", "alias", "joins", "pivots")
    ):
        tree = tree.this
    return tree


def ordering_of(tree: exp.Expr, texts: list[str]) -> Ordering:
    """ORDER BY, LIMIT and OFFSET of the outermost query; `texts` are its canonical sort keys without direction."""
    order, limit, offset = tree.args.get("order"), tree.args.get("limit"), tree.args.get("offset")
    keys = [] if order is None else order.expressions
    sort_keys = tuple(
        SortKey(
            expression=plain(text),
            descending=isinstance(key, exp.Ordered) and bool(key.args.get("desc")),
            nulls_first=key.args.get("nulls_first") if isinstance(key, exp.Ordered) else None,
        )
        for key, text in zip(keys, texts, strict=False)
    )
    count, shift, with_ties = None, None, False
    if limit is not None:
        count = _integer(limit.args.get("count") or limit.args.get("expression"))
        shift = _integer(limit.args.get("offset"))
        if isinstance(limit, exp.Fetch) and limit.args.get("count") is None:
            count = 1
        options = limit.args.get("limit_options")
        with_ties = options is not None and bool(options.args.get("with_ties"))
        if options is not None and options.args.get("percent"):
            count = None
    if offset is not None:
        shift = _integer(offset.expression)
    limited = limit is not None or (offset is not None and shift != 0)
    return Ordering(keys=sort_keys, limit=count, offset=shift, limited=limited, with_ties=with_ties)


def _integer(node: object) -> int | None:
    if isinstance(node, exp.Paren):
        return _integer(node.this)
    if isinstance(node, exp.Add):
        left, right = _integer(node.left), _integer(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, exp.Literal) and not node.args.get("is_string"):
        try:
            return int(str(node.this))
        except ValueError:
            return None
    return None


@dataclass(slots=True)
class _Outline:
    """Where the clauses of the outermost query stand in the text."""

    tokens: list[Token]
    select: int | None
    list_end: int | None
    order: int | None
    keys: list[tuple[int, int]]
    order_end: int
    set_operation: bool
    distinct: bool
    cuts: list[tuple[int, int]]
    """Character spans of TOP, LIMIT, OFFSET and FETCH."""


def plan(text: str, tree: exp.Expr, outcome: Outcome, resolver: Resolver, ordering: Ordering) -> OrderPlan:
    """How the gold's sort keys are had without editing the text that gives the verdict (specification section 5.1)."""
    order = tree.args.get("order")
    if order is None or not order.expressions:
        return OrderPlan()
    positions = [_position(key, outcome, resolver) for key in order.expressions]
    everything = _all_outputs(order.expressions, outcome)
    if everything is not None:
        positions = list(everything)
    found = [position for position in positions if position is not None]
    among = len(found) == len(positions) and not outcome.open
    folding = _folds(order.expressions, tree, resolver)
    if among and not ordering.limited and not folding:
        return OrderPlan(source=KeySource.OUTPUT, positions=tuple(found))
    outline = _outline(text, resolver.dialect)
    hides_offset = ordering.offset is None and _offset(tree) is not None
    if outline is None or outline.order is None or hides_offset or isinstance(tree, exp.Subquery):
        return _without_text(found, among=among)
    if outline.set_operation or not isinstance(tree, exp.Select):
        if not among:
            return OrderPlan(source=KeySource.UNKNOWN)
        return OrderPlan(source=KeySource.OUTPUT, positions=tuple(found), hidden_sql=_edited(text, outline, None))
    if len(outline.keys) != len(order.expressions) and everything is None:
        return _without_text(found, among=among)
    others = [key for key, position in zip(order.expressions, positions, strict=False) if position is None]
    if outline.distinct and not all(_of_outputs(key, tree) for key in others):
        return OrderPlan(source=KeySource.UNKNOWN)
    # Keys that are output columns already can stand there twice; rows beyond the cut are needed all the same.
    in_place = OrderPlan(source=KeySource.OUTPUT, positions=tuple(found), hidden_sql=_edited(text, outline, None))
    group = tree.args.get("group")
    if everything is not None or (group is not None and group.args.get("all")):
        return in_place if among else OrderPlan(source=KeySource.UNKNOWN)
    texts: list[str] = []
    for (start, end), key, position in zip(outline.keys, order.expressions, positions, strict=True):
        written = _key_text(text, outline, start, end, key, position, tree, resolver)
        if written is None:
            return in_place if among else OrderPlan(source=KeySource.UNKNOWN)
        texts.append(written)
    if folding:
        texts = [f"DENSE_RANK() OVER (ORDER BY {', '.join(texts)})"]
    hidden = _edited(text, outline, ", ".join(texts))
    return OrderPlan(source=KeySource.HIDDEN, hidden_sql=hidden, key_count=len(texts))


def _folds(keys: list[exp.Expr], tree: exp.Expr, resolver: Resolver) -> bool:
    """Whether a collation may take different texts for equal: then the engine numbers the ties, by its own collations.

    No window stands in another one's order, so a key that holds one is compared by value.
    """
    if not (resolver.index.collated or any(key.find(exp.Collate) is not None for key in keys)):
        return False
    windows = {item.alias_or_name for item in tree.expressions if item.find(exp.Window) is not None}
    meant = {node.name for key in keys for node in key.find_all(exp.Column)}
    numbered = any(isinstance(key.this, exp.Literal) for key in keys)
    return not (windows and (numbered or windows & meant)) and all(key.find(exp.Window) is None for key in keys)


def _offset(tree: exp.Expr) -> object:
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    return offset or (None if limit is None else limit.args.get("offset"))


def _of_outputs(key: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a key is made of output columns alone, so that it leaves DISTINCT rows as they are."""
    if any(key.find(kind) for kind in (exp.AggFunc, exp.Window, exp.Query, exp.Rand)):
        return False
    shown = [item for item in tree.expressions if isinstance(item, exp.Column)]
    columns = list(key.find_all(exp.Column))
    return bool(columns) and all(any(column == item for item in shown) for column in columns)


def _without_text(found: list[int], *, among: bool) -> OrderPlan:
    if among:
        return OrderPlan(source=KeySource.OUTPUT, positions=tuple(found))
    return OrderPlan(source=KeySource.UNKNOWN)


def _all_outputs(keys: list[exp.Expr], outcome: Outcome) -> range | None:
    if len(keys) == 1:
        key = unwrapped(keys[0].this if isinstance(keys[0], exp.Ordered) else keys[0])
        named = isinstance(key, (exp.Column, exp.Var)) and key.name.upper() == "ALL"
        if named and not any(output.key == "all" for output in outcome.outputs):
            return range(len(outcome.outputs))
    return None


def _position(key: exp.Expr, outcome: Outcome, resolver: Resolver) -> int | None:
    """Where among the output columns a sort key is: by number, alias, or as the same expression."""
    bare = unwrapped(key.this if isinstance(key, exp.Ordered) else key)
    if isinstance(bare, exp.Collate):
        return None
    position = position_of(bare, outcome.outputs, resolver.binder)
    if position is not None:
        return position
    text = resolver.keys.texts.get(id(bare))
    if text is None:
        return None
    for i, output in enumerate(outcome.outputs):
        if output.value.whole == text and output.value.sure:
            return i
    return None


def _outline(text: str, dialect: str) -> _Outline | None:
    tokens = tokens_of(text, dialect)
    if not tokens:
        return None
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    outline = _Outline(
        tokens=tokens, select=None, list_end=None, order=None, keys=[], order_end=len(tokens), set_operation=False,
        distinct=False, cuts=[],
    )  # fmt: skip
    depth = 0
    key_start: int | None = None
    cut_start: int | None = None
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE):
            depth += 1
            continue
        if kind in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE):
            depth -= 1
            continue
        if depth or is_quoted(token):
            continue
        word = token.text.upper()
        if kind == TokenType.CASE:
            depth += 1
            tokens_end = _case_end(tokens, i)
            depth -= 1
            if tokens_end is None:
                return None
            continue
        if word == "SELECT" and not (i and tokens[i - 1].text == "."):
            outline.select = i if outline.select is None else outline.select
        elif (
            word in _SET_WORDS and outline.select is not None and kind != TokenType.VAR and not _star_except(tokens, i)
        ):
            outline.set_operation = True
        ends_list = word in _AFTER_LIST and not (word == "FROM" and _after_is(tokens, i - 1))
        if ends_list and outline.select is not None and outline.list_end is None and i > outline.select:
            outline.list_end = i
        if word == "DISTINCT" and outline.select is not None and i == outline.select + 1:
            outline.distinct = not (i + 1 < len(tokens) and tokens[i + 1].text.upper() == "ON")
        if kind == TokenType.ORDER_BY:
            outline.order, outline.keys, key_start, outline.order_end = i, [], i + 1, len(tokens)
        elif outline.order is not None and key_start is not None and word == ",":
            outline.keys.append((key_start, i))
            key_start = i + 1
        elif outline.order is not None and key_start is not None and word in _AFTER_ORDER:
            outline.keys.append((key_start, i))
            key_start, outline.order_end = None, i
        if word in ("LIMIT", "FETCH") or (word == "OFFSET" and i and tokens[i - 1].text != "."):
            cut_start = i if cut_start is None else cut_start
        if word == "TOP" and outline.select is not None and i in (outline.select + 1, outline.select + 2):
            outline.cuts.append((token.start, _top_end(tokens, i)))
    if outline.order is not None and key_start is not None:
        outline.keys.append((key_start, len(tokens)))
    if cut_start is not None:
        if outline.order is not None and cut_start < outline.order:
            return None
        outline.cuts.append((tokens[cut_start].start, tokens[-1].end + 1))
    if outline.select is not None and outline.list_end is None:
        outline.list_end = len(tokens)
    return outline


def _case_end(tokens: list[Token], start: int) -> int | None:
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i].token_type == TokenType.CASE:
            depth += 1
        elif tokens[i].token_type == TokenType.END:
            depth -= 1
            if depth == 0:
                return i
    return None


def _star_except(tokens: list[Token], i: int) -> bool:
    """`SELECT * EXCEPT (a)` is no set operation."""
    return tokens[i].text.upper() == "EXCEPT" and i > 0 and tokens[i - 1].text == "*"


def _after_is(tokens: list[Token], i: int) -> bool:
    """Whether a DISTINCT at `i` belongs to IS [NOT] DISTINCT FROM."""
    if i < 0 or tokens[i].text.upper() != "DISTINCT":
        return False
    before = [token.text.upper() for token in tokens[max(0, i - 2) : i]]
    return "IS" in before


def _top_end(tokens: list[Token], i: int) -> int:
    at = i + 1
    if at < len(tokens) and tokens[at].token_type == TokenType.L_PAREN:
        while at < len(tokens) and tokens[at].token_type != TokenType.R_PAREN:
            at += 1
    at += 1
    if at < len(tokens) and tokens[at].text.upper() == "PERCENT":
        at += 1
    if at + 1 < len(tokens) and tokens[at].text.upper() == "WITH" and tokens[at + 1].text.upper() == "TIES":
        at += 2
    return tokens[at].start if at < len(tokens) else tokens[-1].end + 1


def _key_text(
    text: str,
    outline: _Outline,
    start: int,
    end: int,
    key: exp.Expr,
    position: int | None,
    tree: exp.Expr,
    resolver: Resolver,
) -> str | None:
    """The key as one more item of the select list, in the author's own words where they mean the same there."""
    tokens = outline.tokens[start:end]
    while tokens and not is_quoted(tokens[-1]) and tokens[-1].text.upper() in ("ASC", "DESC", "FIRST", "LAST", "NULLS"):
        tokens.pop()
    if not tokens:
        return None
    bare = unwrapped(key.this if isinstance(key, exp.Ordered) else key)
    written = text[tokens[0].start : tokens[-1].end + 1]
    aliases = {
        resolver.binder.key(item.args["alias"]): item
        for item in tree.expressions
        if isinstance(item, exp.Alias) and isinstance(item.args.get("alias"), exp.Identifier)
    }
    if position is not None and position_of(bare, resolver.last_outputs, resolver.binder) is not None:
        item = _list_item(tree, position)
        if item is None:  # a column out of a star: it means itself
            named = isinstance(bare, exp.Column) and resolver.binder.key(bare.this) not in aliases
            return written if named else None
        return item.sql(resolver.dialect, comments=False)
    if any(
        column.args.get("table") is None and isinstance(column.this, exp.Identifier)
        and resolver.binder.key(column.this) in aliases and id(column) in resolver.alias_uses
        for column in bare.find_all(exp.Column)
    ):  # fmt: skip
        copy = bare.copy().transform(lambda node: _without_alias(node, aliases, resolver))
        return copy.sql(resolver.dialect, comments=False)
    return written


def _without_alias(node: exp.Expr, aliases: dict[str, exp.Alias], resolver: Resolver) -> exp.Expr:
    if isinstance(node, exp.Column) and node.args.get("table") is None and isinstance(node.this, exp.Identifier):
        item = aliases.get(resolver.binder.key(node.this))
        if item is not None:
            return exp.Paren(this=item.this.copy())
    return node


def _list_item(tree: exp.Expr, position: int) -> exp.Expr | None:
    items = tree.expressions
    if any(isinstance(item, exp.Star) or is_star(item) for item in items):
        return None
    item = items[position] if position < len(items) else None
    if item is None:
        return None
    inner: exp.Expr = item.this if isinstance(item, exp.Alias) else item
    return inner


def _edited(text: str, outline: _Outline, appended: str | None) -> str:
    """The author's text with the cuts taken out and `appended` at the end of the select list."""
    end = outline.tokens[-1].end + 1
    edits = [(start, stop, "") for start, stop in outline.cuts]
    if appended is not None:
        if outline.select is None or outline.list_end is None:
            edits.append((0, 0, f"SELECT *, {appended} "))
        else:
            at = outline.tokens[outline.list_end - 1].end + 1
            edits.append((at, at, f", {appended}"))
    edits.sort()
    written, position = [], 0
    for start, stop, insert in edits:
        written.append(text[position:start])
        written.append(insert)
        position = stop
    written.append(text[position:end])
    return "".join(written).rstrip()
