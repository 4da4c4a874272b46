"""How does each PostgreSQL type arrive, with nothing lost, and which base column is under an output column?

Text from the server keeps everything; psycopg's own loaders turn months into days and raise on infinite or ancient
dates. Types that users made (composites, enums, domains) are looked up when a result first has one.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from psycopg import Connection
from psycopg.adapt import Loader, Transformer
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.json import set_json_loads

from sqlassay.databases.json_text import parsed
from sqlassay.records.relation import Column, Interval, Kind, Row


def _text(data: Any) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


class TextLoader(Loader):
    """The server's text as it is; ill-formed UTF-8 becomes lone surrogates."""

    def load(self, data: Any) -> str:
        return _text(data)


class TimestampLoader(Loader):
    """A timestamp, or its text where Python has none (infinite, before Christ, after 9999)."""

    def load(self, data: Any) -> datetime | str:
        text = _text(data)
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return text


class DateLoader(Loader):
    """A date, or its text where Python has none."""

    def load(self, data: Any) -> date | str:
        text = _text(data)
        try:
            return date.fromisoformat(text)
        except ValueError:
            return text


class TimeLoader(Loader):
    """A time of day with or without zone, or its text (24:00:00)."""

    def load(self, data: Any) -> time | str:
        text = _text(data)
        try:
            return text if text.startswith("24") else time.fromisoformat(text)
        except ValueError:
            return text


_INTERVAL = re.compile(
    r"(?:(?P<years>[+-]?\d+) years? ?)?(?:(?P<months>[+-]?\d+) mons? ?)?(?:(?P<days>[+-]?\d+) days? ?)?"
    r"(?:(?P<sign>[+-]?)(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?"
)


def interval_of(text: str) -> Interval | str:
    """PostgreSQL's own notation as months, days and microseconds.

    >>> interval_of("1 year -2 mons +3 days -04:05:06.7")
    Interval(months=10, days=3, microseconds=-14706700000)
    """
    match = _INTERVAL.fullmatch(text)
    if match is None:
        return text
    part = {
        name: int(value) for name, value in match.groupdict(default="0").items() if name not in ("sign", "fraction")
    }
    microseconds = ((part["hours"] * 60 + part["minutes"]) * 60 + part["seconds"]) * 1_000_000
    microseconds += int((match["fraction"] or "").ljust(6, "0"))
    return Interval(
        months=part["years"] * 12 + part["months"],
        days=part["days"],
        microseconds=-microseconds if match["sign"] == "-" else microseconds,
    )


class IntervalLoader(Loader):
    """An interval that keeps months and days apart."""

    def load(self, data: Any) -> Interval | str:
        return interval_of(_text(data))


class MoneyLoader(Loader):
    """An amount without its currency sign; its text where the locale writes it otherwise."""

    def load(self, data: Any) -> Decimal | str:
        text = _text(data)
        negative = text.startswith("-") or text.startswith("(")
        digits = re.sub(r"[^\d.]", "", text)
        try:
            return -Decimal(digits) if negative else Decimal(digits)
        except InvalidOperation:
            return text


_LOADERS: dict[str, type[Loader]] = {
    "timestamp": TimestampLoader,
    "timestamptz": TimestampLoader,
    "date": DateLoader,
    "time": TimeLoader,
    "timetz": TimeLoader,
    "interval": IntervalLoader,
    "money": MoneyLoader,
}
_AS_TEXT = (
    *("inet", "cidr", "macaddr", "macaddr8", "record", "int4range", "int8range", "numrange", "daterange", "tsrange"),
    *("tstzrange", "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange"),
    *("tstzmultirange",),
)
_TEXTS = ("text", "varchar", "bpchar", "name", "xml")

_KINDS = {
    "bool": Kind.BOOLEAN,
    "int2": Kind.INTEGER,
    "int4": Kind.INTEGER,
    "int8": Kind.INTEGER,
    "oid": Kind.INTEGER,
    "numeric": Kind.DECIMAL,
    "money": Kind.DECIMAL,
    "float4": Kind.FLOAT,
    "float8": Kind.FLOAT,
    "bpchar": Kind.CHAR,
    "bytea": Kind.BYTES,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "timetz": Kind.TIME,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMPTZ,
    "interval": Kind.INTERVAL,
    "uuid": Kind.UUID,
    "json": Kind.JSON,
    "jsonb": Kind.JSON,
}


def register_loaders(connection: Connection[Any]) -> None:
    """Make this connection read every built-in type without loss."""
    adapters = connection.adapters
    for name, loader in _LOADERS.items():
        adapters.register_loader(name, loader)
    for name in _AS_TEXT:
        if adapters.types.get(name) is not None:
            adapters.register_loader(name, TextLoader)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        for name in _TEXTS:
            adapters.register_loader(name, TextLoader)
    set_json_loads(parsed, connection)


class Catalogue:
    """Names of types and base columns behind the numbers in a row description, looked up once each."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._origins: dict[tuple[int, int], str | None] = {}
        self._relations: set[int] = set()
        self._types: dict[int, tuple[str, Kind]] = {}
        self._fresh: set[int] = set()
        self._just_registered: set[int] = set()

    def columns(self, result: Any) -> tuple[Column, ...]:
        """The output columns of a result, with kinds, declared types and origins."""
        places = [(result.ftable(i), result.ftablecol(i)) for i in range(result.nfields)]
        self._look_up_relations({table for table, _ in places if table} - self._relations)
        self._look_up_types({result.ftype(i) for i in range(result.nfields)} - self._types.keys())
        columns = []
        for i, place in enumerate(places):
            name, kind = self._types.get(result.ftype(i), ("", Kind.DYNAMIC))
            columns.append(
                Column(
                    name=_text(result.fname(i) or b""),
                    kind=kind,
                    declared=_with_modifier(name, result.fmod(i)) or None,
                    origin=self._origins.get(place),
                )
            )
        return tuple(columns)

    def finished(self, result: Any, rows: list[Row]) -> list[Row]:
        """The rows with columns of types first met in this result, which arrived as text, read as what they are."""
        oids = [result.ftype(i) for i in range(result.nfields)]
        new = {oid for oid in oids if oid in self._fresh}
        self._fresh.clear()
        if not new or not rows:
            return rows
        transformer = Transformer(self._connection)
        columns = list(zip(*rows, strict=True))
        for i, oid in enumerate(oids):
            if oid in new:
                loader = transformer.get_loader(oid, Format.TEXT)
                columns[i] = tuple(
                    loader.load(cell.encode("utf-8", "surrogateescape")) if isinstance(cell, str) else cell
                    for cell in columns[i]
                )
        return list(zip(*columns, strict=True))

    def _look_up_relations(self, oids: set[int]) -> None:
        if not oids:
            return
        self._relations |= oids
        for table, number, schema, name, column in self._connection.execute(
            "SELECT c.oid::int8, a.attnum::int8, CASE WHEN n.nspname <> current_schema() THEN n.nspname END, "
            "c.relname, a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid = ANY(%s::oid[]) AND NOT a.attisdropped",
            (list(oids),),
        ):
            prefix = f"{schema}." if schema else ""
            self._origins[table, number] = f"{prefix}{name}.{column}"

    def _look_up_types(self, oids: set[int]) -> None:
        if not oids:
            return
        self._fresh = set()
        self._just_registered = set()
        for oid, name, kind, element, relation, base in self._connection.execute(
            "SELECT t.oid::int8, t.typname, t.typtype::text, "
            "CASE WHEN t.typcategory = 'A' THEN t.typelem::int8 ELSE 0 END, t.typrelid::int8, b.typname "
            "FROM pg_type t LEFT JOIN pg_type b ON b.oid = t.typelem AND t.typcategory = 'A' "
            "WHERE t.oid = ANY(%s::oid[])",
            (list(oids),),
        ).fetchall():
            if element:
                self._types[oid] = (f"{base}[]", Kind.ARRAY)
                if element in self._just_registered or self._connection.adapters.types.get(element) is None:
                    self._register(element)
                    self._fresh.add(oid)
            elif relation:
                self._types[oid] = (name, Kind.STRUCT)
                self._register(oid)
                self._fresh.add(oid)
            else:
                self._types[oid] = (name, _KINDS.get(name, Kind.TEXT if kind != "p" else Kind.DYNAMIC))

    def _register(self, oid: int) -> None:
        """Teach the connection a type that a user made, and the types of its fields."""
        self._just_registered.add(oid)
        row = self._connection.execute(
            "SELECT typname, typarray::int8, typrelid::int8 FROM pg_type WHERE oid = %s::oid", (oid,)
        ).fetchone()
        if row is None:
            return
        name, array, relation = row
        if not relation:
            TypeInfo(name, oid, array).register(self._connection)
            return
        fields = self._connection.execute(
            "SELECT a.attname, coalesce(nullif(t.typbasetype, 0), a.atttypid)::int8 FROM pg_attribute a "
            "JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = %s::oid AND a.attnum > 0 "
            "AND NOT a.attisdropped ORDER BY a.attnum",
            (relation,),
        ).fetchall()
        for _, type_ in fields:
            if self._connection.adapters.types.get(type_) is None and type_ != oid:
                self._register(type_)
        names = [field for field, _ in fields]
        info = CompositeInfo(name, oid, array, field_names=names, field_types=[type_ for _, type_ in fields])
        register_composite(info, self._connection, make_object=lambda values, _: dict(zip(names, values, strict=True)))


def _with_modifier(name: str, modifier: int) -> str:
    """`numeric` with its precision and scale, `bpchar` and `varchar` with their length.

    >>> _with_modifier("numeric", 2490392)
    'numeric(38,20)'
    """
    if modifier < 4:
        return {"bpchar": "char"}.get(name, name)
    if name == "numeric":
        return f"numeric({(modifier - 4) >> 16},{(modifier - 4) & 0x7FF})"
    if name in ("bpchar", "varchar"):
        return f"{'char' if name == 'bpchar' else name}({modifier - 4})"
    return name
