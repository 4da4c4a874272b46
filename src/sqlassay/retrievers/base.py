"""What every kind of retriever offers, and how its answer is read: tables by DDL or name, examples by id or SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlassay.errors import ConfigError
from sqlassay.records.trial import Direct
from sqlassay.records.turn import OfferedTable
from sqlassay.sql.ddl import tables_in


class Retriever(Protocol):
    """A configured retriever, called by the harness itself (specification section 5.2)."""

    name: str

    async def retrieve(
        self,
        question: str,
        *,
        database: str | None = None,
        hide: Sequence[str] = (),
        hide_sql: Sequence[str] = (),
        timeout_s: float = 60.0,
    ) -> Direct:
        """What is retrieved for `question` while `hide` (opaque ids) and `hide_sql` are hidden; never raises."""
        ...

    async def hide(self, *, ids: Sequence[str], sql: Sequence[str]) -> None:
        """Hide these from everybody until told otherwise (`hide: global`); empty sequences show everything again."""
        ...

    async def close(self) -> None: ...


_TABLES = ("offered", "tables", "ddl", "documents", "schema")
_EXAMPLES = ("examples", "memory", "similar", "few_shot")


def read_answer(answer: Any, *, dialect: str | None = None) -> Direct:
    """A retriever's answer as `Direct`: a mapping with `offered` and `examples`, a list of tables, or DDL text.

    A table is a name, a DDL text, or a mapping with `name`, `ddl`, `columns`. A table that comes as a bare name was
    not offered with DDL, unless the mapping it stands in says `has_ddl: true`.

    >>> read_answer({"tables": ["CREATE TABLE t (a INT)", "u"]}).offered
    (OfferedTable(name='t', has_ddl=True, columns=('a',)), OfferedTable(name='u', has_ddl=False, columns=()))
    """
    if answer is None:
        return Direct(offered=())
    if isinstance(answer, Direct):
        return answer
    if isinstance(answer, (str, list, tuple)):
        return Direct(offered=tuple(_tables(answer, dialect)))
    if not isinstance(answer, Mapping):
        return Direct(error=f"the retriever returned {type(answer).__name__}, expected a mapping, a list or DDL text")
    listed = next((answer[key] for key in _TABLES if answer.get(key) is not None), None)
    error = answer.get("error")
    return Direct(
        offered=None if listed is None else tuple(_tables(listed, dialect)),
        examples=tuple(text for key in _EXAMPLES for text in _texts(answer.get(key))),
        error=None if error is None else str(error),
    )


def _tables(listed: Any, dialect: str | None) -> list[OfferedTable]:
    if isinstance(listed, Mapping):
        listed = [
            {"name": name, "ddl": text} if isinstance(text, str) else {"name": name, "columns": text}
            for name, text in listed.items()
        ]
    found: dict[str, OfferedTable] = {}
    for item in [listed] if isinstance(listed, str) else listed:
        for table in _table(item, dialect):
            known = found.get(table.name)
            if known is None or (table.has_ddl and not known.has_ddl):
                found[table.name] = table
    return list(found.values())


def _table(item: Any, dialect: str | None) -> tuple[OfferedTable, ...]:
    if isinstance(item, OfferedTable):
        return (item,)
    if isinstance(item, str):
        described = tables_in(item, dialect)
        if described:
            return described
        return (OfferedTable(name=item.strip(), has_ddl=False),) if item.strip() else ()
    if not isinstance(item, Mapping):
        return ()
    text = next((item[key] for key in ("ddl", "content", "text") if isinstance(item.get(key), str)), None)
    name = next((str(item[key]) for key in ("name", "table", "table_name") if item.get(key) is not None), None)
    described = tables_in(text, dialect) if text is not None else ()
    if name is None:
        return described
    columns = item.get("columns")
    names = tuple(_column(column) for column in columns) if isinstance(columns, (list, tuple)) else ()
    if described and not names:
        names = described[0].columns
    has_ddl = bool(item["has_ddl"]) if "has_ddl" in item else bool(described) or bool(names) or bool(text)
    return (OfferedTable(name=name, has_ddl=has_ddl, columns=names),)


def _column(column: Any) -> str:
    return str(column.get("name", "")) if isinstance(column, Mapping) else str(column)


def _texts(listed: Any) -> list[str]:
    if listed is None:
        return []
    found: list[str] = []
    for item in [listed] if isinstance(listed, (str, Mapping)) else listed:
        if isinstance(item, Mapping):
            found += [str(item[key]) for key in ("id", "case_id", "sql", "query") if item.get(key) is not None]
        else:
            found.append(str(item))
    return found


def known_settings(settings: Mapping[str, Any], allowed: Sequence[str], *, kind: str) -> None:
    """Refuse settings that mean nothing, with the nearest that does.

    Raises:
        ConfigError: an unknown setting.
    """
    from difflib import get_close_matches

    for key in settings:
        if key not in allowed:
            near = get_close_matches(str(key), allowed, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(allowed))}"
            raise ConfigError(f"retriever: unknown setting {key!r} for kind {kind!r}", hint=hint)
