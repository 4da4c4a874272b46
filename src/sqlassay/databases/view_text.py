"""What is the SELECT under a view, given the engine's CREATE VIEW text?"""

from __future__ import annotations

from sqlassay.databases.lexer import Family, tokens


def select_of(sql: str | None, family: Family) -> str | None:
    """What stands after `CREATE VIEW name (columns) AS`; a text that is no CREATE comes back as it is.

    >>> select_of('CREATE VIEW v("as") AS SELECT 1;', "sqlite")
    'SELECT 1'
    """
    if sql is None:
        return None
    depth = 0
    for i, token in enumerate(tokens(sql, family)):
        if i == 0 and token.text != "create":
            break
        if token.kind == "punct":
            depth += (token.text == "(") - (token.text == ")")
        elif depth == 0 and token.kind == "word" and token.text == "as":
            return sql[token.end :].strip().removesuffix(";").rstrip()
    return sql.strip().removesuffix(";").rstrip()
