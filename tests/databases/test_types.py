"""Every type of every engine arrives with nothing lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw
import duckdb
import pytest

from sqlassay.databases import connect
from sqlassay.records.execution import Rows
from sqlassay.records.relation import Interval, Kind
from sqlassay.testing.databases import run

UTC = UTC
ID = UUID("12345678-1234-5678-1234-567812345678")

Expected = tuple[str, Any, Kind]


def check(url: str, expected: Sequence[Expected]) -> None:
    """Each expression alone, and all in one row: value, Python type and kind."""
    wrong = []
    with closing(connect(url)) as database:
        together = run(database, "SELECT " + ", ".join(expression for expression, _, _ in expected))
        assert isinstance(together, Rows), together
        row = together.relation.tuples()[0]
        for i, (expression, value, kind) in enumerate(expected):
            alone = run(database, f"SELECT {expression}")
            assert isinstance(alone, Rows), (expression, alone)
            both = (alone.relation.tuples()[0][0], row[i])
            wrong += [f"{expression}: {got!r}, not {value!r}" for got in both if not _same(got, value)]
            if together.relation.columns[i].kind is not kind:
                wrong.append(f"{expression}: {together.relation.columns[i].kind}, not {kind}")
    assert not wrong, "\n".join(wrong)


def _same(got: object, value: object) -> bool:
    if isinstance(value, float) and math.isnan(value):
        return isinstance(got, float) and math.isnan(got)
    if isinstance(value, Decimal) and value.is_nan():
        return isinstance(got, Decimal) and got.is_nan()
    return type(got) is type(value) and repr(got) == repr(value)


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    apsw.Connection(str(path)).close()
    path.touch()
    dynamic = Kind.DYNAMIC
    check(
        f"sqlite:///{path}",
        [
            ("NULL", None, dynamic),
            ("9223372036854775807", 2**63 - 1, dynamic),
            ("-9223372036854775808", -(2**63), dynamic),
            ("4611686018427387905", 2**62 + 1, dynamic),
            ("0.1", 0.1, dynamic),
            ("1e999", math.inf, dynamic),
            ("-1e999", -math.inf, dynamic),
            ("-0.0", -0.0, dynamic),
            ("1.0", 1.0, dynamic),
            ("''", "", dynamic),
            ("'España'", "España", dynamic),
            ("'00501'", "00501", dynamic),
            ("x'00ff'", b"\x00\xff", dynamic),
            ("CAST(x'636166e9' AS TEXT)", "caf\udce9", dynamic),
            ("CAST(x'610062' AS TEXT)", "a\0b", dynamic),
        ],
    )


def test_sqlite_mixed_columns_and_dirty_text_keep_every_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE m (v); INSERT INTO m VALUES (1), ('two'), (3.5), (x'62'), (NULL), ('1')")
    connection.execute("INSERT INTO m VALUES (CAST(x'ff' AS TEXT))")
    connection.close()
    with closing(connect(f"sqlite:///{path}")) as database:
        execution = run(database, "SELECT v, v, rowid FROM m ORDER BY rowid DESC -- dirty")
    assert isinstance(execution, Rows)
    assert [row[0] for row in execution.relation.tuples()] == ["\udcff", "1", None, b"b", 3.5, "two", 1]
    assert [row[0] for row in execution.relation.tuples()] == [row[1] for row in execution.relation.tuples()]


def test_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    duckdb.connect(str(path)).close()
    check(
        f"duckdb:///{path}",
        [
            ("NULL", None, Kind.DYNAMIC),
            ("true", True, Kind.BOOLEAN),
            ("1::TINYINT", 1, Kind.INTEGER),
            ("9223372036854775807::BIGINT", 2**63 - 1, Kind.INTEGER),
            ("18446744073709551615::UBIGINT", 2**64 - 1, Kind.INTEGER),
            ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1, Kind.INTEGER),
            ("340282366920938463463374607431768211455::UHUGEINT", 2**128 - 1, Kind.INTEGER),
            ("0.10000000000000000001::DECIMAL(38,20)", Decimal("0.10000000000000000001"), Kind.DECIMAL),
            ("1.50::DECIMAL(10,2)", Decimal("1.50"), Kind.DECIMAL),
            ("0.1::DOUBLE", 0.1, Kind.FLOAT),
            ("'nan'::DOUBLE", math.nan, Kind.FLOAT),
            ("'-inf'::DOUBLE", -math.inf, Kind.FLOAT),
            ("'-0'::DOUBLE", -0.0, Kind.FLOAT),
            ("'a' || chr(0) || 'b'", "a\0b", Kind.TEXT),
            ("'\\x00\\xff'::BLOB", b"\x00\xff", Kind.BYTES),
            ("'101'::BIT", "101", Kind.TEXT),
            ("DATE '2020-02-29'", date(2020, 2, 29), Kind.DATE),
            ("DATE '9999-12-31'", date(9999, 12, 31), Kind.DATE),
            ("'infinity'::DATE", "infinity", Kind.DATE),
            ("'44-03-15 (BC)'::DATE", "0044-03-15 BC", Kind.DATE),
            ("TIME '10:00:00.5'", time(10, 0, 0, 500000), Kind.TIME),
            ("TIME '24:00:00'", "24:00:00", Kind.TIME),
            ("'10:00:00+02'::TIMETZ", time(10, tzinfo=timezone(timedelta(hours=2))), Kind.TIME),
            ("TIMESTAMP '2020-01-01 10:00:00.000001'", datetime(2020, 1, 1, 10, 0, 0, 1), Kind.TIMESTAMP),
            ("'-infinity'::TIMESTAMP", "-infinity", Kind.TIMESTAMP),
            ("TIMESTAMP_S '2020-01-01 10:00:00'", datetime(2020, 1, 1, 10), Kind.TIMESTAMP),
            ("TIMESTAMP_NS '2020-01-01 10:00:00.123456789'", "2020-01-01 10:00:00.123456789", Kind.TIMESTAMP),
            ("'2020-01-01 10:00:00+02'::TIMESTAMPTZ", datetime(2020, 1, 1, 8, tzinfo=UTC), Kind.TIMESTAMPTZ),
            ("INTERVAL '1 month 2 days'", Interval(months=1, days=2), Kind.INTERVAL),
            ("INTERVAL '32 days'", Interval(days=32), Kind.INTERVAL),
            (f"'{ID}'::UUID", ID, Kind.UUID),
            ("'sad'::ENUM('sad', 'ok')", "sad", Kind.TEXT),
            ("'{\"a\": [1, 0.10000000000000000001]}'::JSON", {"a": [1, Decimal("0.10000000000000000001")]}, Kind.JSON),
            ("[1, NULL, 3]", [1, None, 3], Kind.ARRAY),
            ("[[1.5], []]", [[Decimal("1.5")], []], Kind.ARRAY),
            ("[INTERVAL '1 month']", [Interval(months=1)], Kind.ARRAY),
            ("array_value(1, 2)", [1, 2], Kind.ARRAY),
            ("{'a': 1, 'b': DATE '2020-01-01'}", {"a": 1, "b": date(2020, 1, 1)}, Kind.STRUCT),
            ("MAP {'k': [1]}", {"k": [1]}, Kind.MAP),
            ("SUM(1)", 1, Kind.INTEGER),
        ],
    )


def test_duckdb_large_results_hold_the_same_values(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    duckdb.connect(str(path)).close()
    sql = (
        "SELECT i, i::HUGEINT h, 'v' || i s, i / 8.0::DOUBLE d, DATE '2020-01-01' + i::INT dt, i % 2 = 0 b, "
        "(i / 100)::DECIMAL(10, 2) c, CASE WHEN i % 7 = 0 THEN NULL ELSE i END n FROM range({}) r(i) ORDER BY i"
    )
    with closing(connect(f"duckdb:///{path}")) as database:
        small, large = run(database, sql.format(100)), run(database, sql.format(20_000))
    assert isinstance(small, Rows)
    assert isinstance(large, Rows)
    assert small.relation.arrow is None
    assert large.relation.arrow is not None
    assert large.relation.columns == small.relation.columns
    assert [list(map(repr, row)) for row in large.relation.tuples()[:100]] == [
        list(map(repr, row)) for row in small.relation.tuples()
    ]


@pytest.mark.postgres
def test_postgres(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TYPE pair AS (x int, y text)",
        "CREATE DOMAIN small AS int CHECK (VALUE < 10)",
    )
    check(
        url,
        [
            ("NULL", None, Kind.TEXT),
            ("true", True, Kind.BOOLEAN),
            ("1::smallint", 1, Kind.INTEGER),
            ("9223372036854775807", 2**63 - 1, Kind.INTEGER),
            ("0.10000000000000000001::numeric(38,20)", Decimal("0.10000000000000000001"), Kind.DECIMAL),
            ("1.50::numeric(10,2)", Decimal("1.50"), Kind.DECIMAL),
            ("'NaN'::numeric", Decimal("NaN"), Kind.DECIMAL),
            ("'12.34'::money", Decimal("12.34"), Kind.DECIMAL),
            ("0.1::float8", 0.1, Kind.FLOAT),
            ("0.1::float4", 0.1, Kind.FLOAT),
            ("'NaN'::float8", math.nan, Kind.FLOAT),
            ("'-Infinity'::float8", -math.inf, Kind.FLOAT),
            ("'-0'::float8", -0.0, Kind.FLOAT),
            ("'España'::text", "España", Kind.TEXT),
            ("'ab'::char(5)", "ab   ", Kind.CHAR),
            ("'ab '::varchar(5)", "ab ", Kind.TEXT),
            ("'\\x00ff'::bytea", b"\x00\xff", Kind.BYTES),
            ("B'101'", "101", Kind.TEXT),
            ("DATE '2020-02-29'", date(2020, 2, 29), Kind.DATE),
            ("'infinity'::date", "infinity", Kind.DATE),
            ("'0044-03-15 BC'::date", "0044-03-15 BC", Kind.DATE),
            ("TIME '10:00:00.5'", time(10, 0, 0, 500000), Kind.TIME),
            ("TIME '24:00'", "24:00:00", Kind.TIME),
            ("'10:00+02'::timetz", time(10, tzinfo=timezone(timedelta(hours=2))), Kind.TIME),
            ("TIMESTAMP '2020-01-01 10:00:00.000001'", datetime(2020, 1, 1, 10, 0, 0, 1), Kind.TIMESTAMP),
            ("'-infinity'::timestamp", "-infinity", Kind.TIMESTAMP),
            ("'10000-01-01'::timestamp", "10000-01-01 00:00:00", Kind.TIMESTAMP),
            ("'2020-01-01 10:00+02'::timestamptz", datetime(2020, 1, 1, 8, tzinfo=UTC), Kind.TIMESTAMPTZ),
            ("'1 mon 2 days'::interval", Interval(months=1, days=2), Kind.INTERVAL),
            ("'32 days'::interval", Interval(days=32), Kind.INTERVAL),
            ("'-1 year -00:00:01.5'::interval", Interval(months=-12, microseconds=-1_500_000), Kind.INTERVAL),
            ("'0'::interval", Interval(), Kind.INTERVAL),
            (f"'{ID}'::uuid", ID, Kind.UUID),
            ("'{\"a\": [1, 0.10000000000000000001]}'::json", {"a": [1, Decimal("0.10000000000000000001")]}, Kind.JSON),
            ("'[1, null]'::jsonb", [1, None], Kind.JSON),
            ("ARRAY[[1, 2], [3, NULL]]", [[1, 2], [3, None]], Kind.ARRAY),
            ("ARRAY['1 mon'::interval]", [Interval(months=1)], Kind.ARRAY),
            ("ARRAY['infinity'::timestamp]", ["infinity"], Kind.ARRAY),
            ("int4range(1, 3)", "[1,3)", Kind.TEXT),
            ("'10.0.0.1/8'::inet", "10.0.0.1/8", Kind.TEXT),
            ("'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03", Kind.TEXT),
            ("'sad'::mood", "sad", Kind.TEXT),
            ("ARRAY['sad', 'ok']::mood[]", ["sad", "ok"], Kind.ARRAY),
            ("'(1,\"a b\")'::pair", {"x": 1, "y": "a b"}, Kind.STRUCT),
            ("ARRAY['(1,a)']::pair[]", [{"x": 1, "y": "a"}], Kind.ARRAY),
            ("3::small", 3, Kind.INTEGER),
            ("xmlparse(CONTENT '<a/>')", "<a/>", Kind.TEXT),
            ("point(1, 2)", "(1,2)", Kind.TEXT),
        ],
    )


@pytest.mark.mysql
def test_mysql(mysql_database: Callable[..., str]) -> None:
    url = mysql_database(
        "SET SESSION sql_mode = ''",
        "CREATE TABLE t (u BIGINT UNSIGNED, n DECIMAL(38, 20), c CHAR(5), v VARCHAR(5), d DATE, z DATETIME(6), "
        "s TIMESTAMP(3) NULL, h TIME(3), k TIME, b BIT(9), e ENUM('a', 'b'), m SET('x', 'y'), x VARBINARY(4), "
        "f DOUBLE, y YEAR, p TINYINT(1), q TEXT, w DATE)",
        "INSERT INTO t VALUES (18446744073709551615, 0.10000000000000000001, 'ab  ', 'ab ', '0000-00-00', "
        "'2020-01-01 10:00:00.000001', '2020-01-01 10:00:00', '-838:59:59', '10:00:00', b'100000001', 'a', 'x,y', "
        "x'00ff', 0.1, 2020, 1, 'España', '2020-02-29')",
    )
    expected: list[Expected] = [
        ("u", 2**64 - 1, Kind.INTEGER),
        ("n", Decimal("0.10000000000000000001"), Kind.DECIMAL),
        ("c", "ab", Kind.CHAR),
        ("v", "ab ", Kind.TEXT),
        ("d", "0000-00-00", Kind.DATE),
        ("z", datetime(2020, 1, 1, 10, 0, 0, 1), Kind.TIMESTAMP),
        ("s", datetime(2020, 1, 1, 10), Kind.TIMESTAMP),
        ("h", "-838:59:59.000", Kind.TIME),
        ("k", time(10), Kind.TIME),
        ("b", 257, Kind.INTEGER),
        ("e", "a", Kind.TEXT),
        ("m", "x,y", Kind.TEXT),
        ("x", b"\x00\xff", Kind.BYTES),
        ("f", 0.1, Kind.FLOAT),
        ("y", 2020, Kind.INTEGER),
        ("p", 1, Kind.INTEGER),
        ("q", "España", Kind.TEXT),
        ("w", date(2020, 2, 29), Kind.DATE),
    ]
    wrong = []
    with closing(connect(url)) as database:
        execution = run(database, f"SELECT {', '.join(name for name, _, _ in expected)} FROM t")
        assert isinstance(execution, Rows)
        for got, column, (name, value, kind) in zip(
            execution.relation.tuples()[0], execution.relation.columns, expected, strict=True
        ):
            if not _same(got, value) or column.kind is not kind or column.origin != f"t.{name}":
                wrong.append(f"{name}: {got!r} {column}, not {value!r} {kind}")
        sums = run(database, "SELECT SUM(p), 7 / 2, 1 = 1, 1 / 0, COUNT(*) FROM t")
    assert not wrong, "\n".join(wrong)
    assert isinstance(sums, Rows)
    assert sums.relation.tuples()[0] == (Decimal(1), Decimal("3.5000"), 1, None, 1)
