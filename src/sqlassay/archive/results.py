"""What came of every side of a case, kept so that scoring again needs no database.

One line of `results/sides.jsonl` per trial says what ran and how it ended; the rows themselves lie in the pack
`results/rows`, each distinct result once. A result larger than `STORED_ROWS` is kept in part: scoring it again
gives `not_recorded`, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlassay.archive.cells import decode_rows, encode_rows
from sqlassay.archive.pack import Blob, digest_of, make_blob
from sqlassay.errors import RecordError
from sqlassay.records.execution import Account, ErrorKind, Execution, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.opinion import Opinion
from sqlassay.records.plain import to_plain
from sqlassay.records.relation import Column, Kind, Relation
from sqlassay.records.run import TrialKey
from sqlassay.records.strict import from_plain
from sqlassay.records.trial import Direct, Side, Trial

STORED_ROWS = 50_000
STORED_BYTES = 32 * 1024 * 1024
"""Of one result; whichever comes first."""


class Store(Protocol):
    """Where stored rows are read from (`PackReader`)."""

    def read(self, digest: str) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What `keep` made of one trial: a line for `results/sides.jsonl` and the rows it points at."""

    line: bytes
    blobs: tuple[Blob, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both sides of one trial as stored; `capped` names the sides of which only a part was kept."""

    key: TrialKey
    database: str
    golds: tuple[Side, ...]
    candidate: Side
    others: Mapping[str, tuple[Execution, Execution]] = field(default_factory=dict)
    """By variant of another benchmark's rule (`Trial.others`)."""
    direct: Direct | None = None
    hidden_sql: tuple[str, ...] = ()
    hidden_ids: tuple[str, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    fault: str | None = None
    capped: tuple[str, ...] = ()


def keep(trial: Trial, *, key: TrialKey, database: str) -> Kept:
    """Encode what a trial executed. Rows above the limits are left out and counted."""
    blobs: dict[str, Blob] = {}
    plain = {
        "case_id": key.case_id,
        "phrasing": key.phrasing,
        "repeat": key.repeat,
        "database": database,
        "golds": [_side(side, blobs) for side in trial.golds],
        "candidate": _side(trial.candidate, blobs),
        "others": {
            name: [_execution(gold, blobs), _execution(candidate, blobs)]
            for name, (gold, candidate) in trial.others.items()
        },
        "direct": to_plain(trial.direct),
        "hidden_sql": list(trial.hidden_sql),
        "hidden_ids": list(trial.hidden_ids),
        "opinions": to_plain(trial.opinions),
        "fault": trial.fault,
    }
    return Kept(line=json.dumps(plain, separators=(",", ":")).encode("ascii"), blobs=tuple(blobs.values()))


def read_sides(line: bytes | str, store: Store) -> Sides:
    """The inverse of `keep`.

    Raises:
        RecordError: the line or a result it points at cannot be read.
    """
    try:
        plain = json.loads(line)
        capped: list[str] = []
        return Sides(
            key=TrialKey(case_id=plain["case_id"], phrasing=plain["phrasing"], repeat=plain["repeat"]),
            database=plain["database"],
            golds=tuple(_read_side(side, f"gold {i}", store, capped) for i, side in enumerate(plain["golds"])),
            candidate=_read_side(plain["candidate"], "candidate", store, capped),
            others={
                name: (
                    _read_execution(gold, "others", store, capped),
                    _read_execution(candidate, "others", store, capped),
                )
                for name, (gold, candidate) in plain.get("others", {}).items()
            },
            direct=None if plain.get("direct") is None else from_plain(Direct, plain["direct"]),
            hidden_sql=tuple(plain.get("hidden_sql", ())),
            hidden_ids=tuple(plain.get("hidden_ids", ())),
            opinions=tuple(from_plain(Opinion, opinion) for opinion in plain.get("opinions", ())),
            fault=plain.get("fault"),
            capped=tuple(capped),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"stored results cannot be read: {type(error).__name__}: {error}") from error


def read_shown(line: bytes | str, store: Store, *, gold: int) -> tuple[Relation | None, Relation | None]:
    """The rows of one gold and of the candidate, as far as they were kept; None for a side without rows.

    Raises:
        RecordError: the line or a result it points at cannot be read.
    """
    try:
        plain = json.loads(line)
        sides = [plain["golds"][gold] if plain["golds"] else None, plain["candidate"]]
        found = [None if side is None else side["execution"] for side in sides]
        reference, candidate = (
            _read_relation(each, store) if each is not None and each["outcome"] == "rows" else None for each in found
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise RecordError(f"stored results cannot be read: {type(error).__name__}: {error}") from error
    return reference, candidate


def with_opinions(line: bytes, opinions: Sequence[Opinion]) -> bytes:
    """The same line of `results/sides.jsonl` with what judges said; nothing else of it changes.

    Raises:
        RecordError: it is no such line.
    """
    try:
        plain = {**json.loads(line), "opinions": to_plain(opinions)}
    except (ValueError, TypeError) as error:
        raise RecordError(f"stored results cannot be read: {error}") from error
    return json.dumps(plain, separators=(",", ":")).encode("ascii")


def _side(side: Side, blobs: dict[str, Blob]) -> dict[str, Any]:
    plain = {"sql": side.sql, "execution": _execution(side.execution, blobs)}
    if side.auxiliary is not None:
        plain["auxiliary"] = _execution(side.auxiliary, blobs)
    return plain


def _execution(execution: Execution, blobs: dict[str, Blob]) -> dict[str, Any]:
    match execution:
        case Rows(relation=relation, duration_s=duration, account=account):
            return {
                "outcome": "rows",
                **_relation(relation, blobs),
                "duration_s": duration,
                "account": to_plain(account),
            }
        case SqlError(kind=kind, message=message, duration_s=duration):
            return {"outcome": "error", "kind": kind.value, "message": message, "duration_s": duration}
        case TimedOut(limit_s=limit, killed=killed):
            return {"outcome": "timed_out", "limit_s": limit, "killed": killed}
        case NotRun(reason=reason):
            return {"outcome": "not_run", "reason": reason}


def _relation(relation: Relation, blobs: dict[str, Blob]) -> dict[str, Any]:
    height = relation.height
    rows: Sequence[tuple[Any, ...]] = relation.tuples() if height <= STORED_ROWS else relation.tuples()[:STORED_ROWS]
    content = encode_rows(rows)
    if len(content) > STORED_BYTES:
        rows = rows[: max(1, len(rows) * STORED_BYTES // len(content) // 2)]
        content = encode_rows(rows)
        if len(content) > STORED_BYTES:
            rows, content = (), b"[]"
    blob = make_blob(content)
    blobs[blob.digest] = blob
    return {
        "columns": [[column.name, column.kind.value, column.declared, column.origin] for column in relation.columns],
        "height": height,
        "stored": len(rows),
        "truncated": relation.truncated,
        "rows": blob.digest,
        "bag": _bag_digest(content, height),
    }


def _bag_digest(content: bytes, height: int) -> str:
    """A digest of the rows in whatever order they came, by which two runs tell whether the data moved."""
    rows = sorted(content[2:-2].split(b"],["))
    return digest_of(b"\n".join([str(height).encode(), *rows]))


def _read_side(plain: Mapping[str, Any], name: str, store: Store, capped: list[str]) -> Side:
    auxiliary, execution = plain.get("auxiliary"), plain["execution"]
    return Side(
        sql=plain["sql"],
        execution=_read_execution(execution, name, store, capped),
        left_out=execution["height"] - execution["stored"] if execution["outcome"] == "rows" else 0,
        auxiliary=None if auxiliary is None else _read_execution(auxiliary, f"{name} auxiliary", store, capped),
    )


def _read_execution(plain: Mapping[str, Any], name: str, store: Store, capped: list[str]) -> Execution:
    match plain["outcome"]:
        case "rows":
            account = plain.get("account")
            if plain["stored"] < plain["height"]:
                capped.append(name)
            return Rows(
                relation=_read_relation(plain, store),
                duration_s=plain["duration_s"],
                account=None if account is None else from_plain(Account, account),
            )
        case "error":
            return SqlError(
                kind=ErrorKind(plain["kind"]), message=plain["message"], duration_s=plain.get("duration_s", 0.0)
            )
        case "timed_out":
            return TimedOut(limit_s=plain["limit_s"], killed=plain.get("killed", False))
        case "not_run":
            return NotRun(reason=plain["reason"])
        case other:
            raise RecordError(f"unknown outcome {other!r}")


def _read_relation(plain: Mapping[str, Any], store: Store) -> Relation:
    columns = tuple(
        Column(name=name, kind=Kind(kind), declared=declared, origin=origin)
        for name, kind, declared, origin in plain["columns"]
    )
    return Relation(columns=columns, rows=decode_rows(store.read(plain["rows"])), truncated=plain["truncated"])
