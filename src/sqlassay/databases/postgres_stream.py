"""How does one statement reach PostgreSQL, and its rows come back, in one round trip and within the limits?

What must happen before the statement (begin, undo, the server's time limit) travels in the same pipeline; the
extended protocol takes one command per message, so that a text with two is an error. Rows come in chunks, each read
by psycopg's compiled loaders at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import psycopg
from psycopg.adapt import Transformer
from psycopg.generators import fetch, send
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sqlassay.databases.sizes import ByteCount, Weight
from sqlassay.records.relation import Row
from sqlassay.records.settings import Limits

_CHUNK = 256
"""Rows that the driver holds beside those that were counted: a few hundred, since one row may hold megabytes."""

_PLAIN_TYPES = frozenset({16, 20, 21, 23, 26, 700, 701, 790, 1082, 1083, 1114, 1184, 1266, 1700})
"""Booleans, numbers, dates and times, by their fixed numbers in the catalogue."""
_TEXT_TYPES = frozenset({17, 19, 25, 1042, 1043})
"""bytea, name, text, char and varchar."""
_ROWS = (ExecStatus.TUPLES_CHUNK, ExecStatus.SINGLE_TUPLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: `described` is a result whose row description holds, also where there are no rows."""

    rows: list[Row]
    described: Any
    truncated: bool


def answer_to(connection: psycopg.Connection[Any], before: Sequence[str], sql: str, limits: Limits) -> Answer:
    """Run the texts of `before`, then `sql`, and read its rows; what is left over at a limit is cancelled.

    Raises:
        psycopg.Error: one of them failed, or `sql` returns no rows by its nature.
    """
    with _Pipeline(connection) as pipeline:
        pipeline.send((*before, sql))
        for _ in before:
            pipeline.next_result()
            pipeline.skip_end()
        return _read(pipeline, connection, limits)


def _read(pipeline: _Pipeline, connection: psycopg.Connection[Any], limits: Limits) -> Answer:
    pipeline.read_in_chunks(min(_CHUNK, limits.max_rows + 1))
    transformer = Transformer(connection)
    rows: list[Row] = []
    count: ByteCount | None = None
    while (result := pipeline.next_result()).status in _ROWS:
        transformer.set_pgresult(result, set_loaders=count is None)
        chunk = transformer.load_rows(0, result.ntuples, tuple)
        if count is None:
            count = ByteCount([_weight(result.ftype(i)) for i in range(result.nfields)])
        count.add(chunk)
        rows += chunk
        if len(rows) > limits.max_rows or count.total > limits.max_bytes:
            del rows[limits.max_rows :]
            return Answer(rows=rows, described=result, truncated=True)
    if result.status != ExecStatus.TUPLES_OK:
        raise psycopg.ProgrammingError("the statement returns no rows")
    return Answer(rows=rows, described=result, truncated=False)


def _weight(oid: int) -> Weight:
    if oid in _PLAIN_TYPES:
        return Weight.PLAIN
    return Weight.TEXT if oid in _TEXT_TYPES else Weight.ANY


class _Pipeline:
    """The connection in pipeline mode; at the end the server is done with it, or the connection is closed."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._server = connection.pgconn
        self._running = False

    def __enter__(self) -> Self:
        self._server.enter_pipeline_mode()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._running:
                self._connection.cancel_safe()
            self._drain()
            self._server.exit_pipeline_mode()
        except psycopg.Error:
            self._connection.close()

    def send(self, texts: Iterable[str]) -> None:
        for text in [text.encode() for text in texts]:
            self._server.send_query_params(text, None)
        self._server.pipeline_sync()
        self._running = True
        self._connection.wait(send(self._server))

    def read_in_chunks(self, size: int) -> None:
        if psycopg.capabilities.has_stream_chunked():
            self._server.set_chunked_rows_mode(size)
        else:
            self._server.set_single_row_mode()

    def next_result(self) -> PGresult:
        """What the server says next; anything but rows ends the statement that it belongs to."""
        result: PGresult | None = self._connection.wait(fetch(self._server))
        if result is None:
            raise psycopg.OperationalError("the server did not answer")
        self._running = result.status in _ROWS
        if result.status == ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result, encoding=self._connection.info.encoding)
        return result

    def skip_end(self) -> None:
        """Read what ends one statement, and begins the next."""
        self._connection.wait(fetch(self._server))
        self._running = True

    def _drain(self) -> None:
        """Read on to the answer of the last message; two ends in a row mean that there is none."""
        ended = False
        while True:
            result = self._connection.wait(fetch(self._server))
            if result is None and ended:
                raise psycopg.OperationalError("the server did not end its answer")
            if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
                return
            ended = result is None
