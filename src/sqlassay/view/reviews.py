"""What did people say about the verdicts of a run? One line per review, only ever appended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlassay.errors import UsageError
from sqlassay.records.plain import to_plain
from sqlassay.records.run import TrialKey
from sqlassay.report.model import CaseRow
from sqlassay.summary.agreement import Agreement, Judged, agreement

NAME = "reviews.jsonl"
_NOTE, _WHO = 2000, 100


class Said(StrEnum):
    """What a person says about a verdict; `GOLD_WRONG` blames the case, not the scorer."""

    RIGHT = "right"
    WRONG = "wrong"
    GOLD_WRONG = "gold_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One person's word on one verdict. `passed` and `bucket` are the verdict as it stood when it was reviewed."""

    case_id: str
    phrasing: int = 0
    repeat: int = 0
    verdict: Said
    note: str = ""
    who: str = ""
    at: str = ""
    passed: bool | None = None
    bucket: str | None = None

    @property
    def key(self) -> TrialKey:
        return TrialKey(case_id=self.case_id, phrasing=self.phrasing, repeat=self.repeat)

    def to_dict(self) -> dict[str, Any]:
        plain = to_plain(self)
        assert isinstance(plain, dict)
        return plain


def review_of(payload: Any, row: CaseRow, *, at: str) -> Review:
    """Build a review of a case's verdict from what a browser sent.

    Raises:
        UsageError: it is no review.
    """
    if not isinstance(payload, Mapping):
        raise UsageError("a review is a JSON object")
    note, who = payload.get("note", ""), payload.get("who", "")
    if payload.get("verdict") not in set(Said) or not isinstance(note, str) or not isinstance(who, str):
        raise UsageError(f"a review has a verdict ({', '.join(Said)}), and may have a note and a name")
    if len(note) > _NOTE or len(who) > _WHO:
        raise UsageError(f"a note has at most {_NOTE} characters, a name {_WHO}")
    return Review(
        case_id=row.key.case_id,
        phrasing=row.key.phrasing,
        repeat=row.key.repeat,
        verdict=Said(payload["verdict"]),
        note=note.strip(),
        who=who.strip(),
        at=at,
        passed=row.passed,
        bucket=None if row.bucket is None else row.bucket.value,
    )


def append(folder: Path, review: Review) -> None:
    """Add one line to the run's reviews, synced to disk; a torn last line of an earlier crash is closed first.

    Raises:
        UsageError: the folder cannot be written.
    """
    line = json.dumps(review.to_dict(), ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
    try:
        with (folder / NAME).open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageError(f"{folder / NAME}: the review cannot be kept ({error.strerror})") from error


def read(folder: Path) -> list[Review]:
    """All reviews of a run in the order in which they were made; a line that is none is left out."""
    path = folder / NAME
    if not path.is_file():
        return []
    found = []
    with path.open("rb") as file:
        for line in file:
            try:
                plain = json.loads(line)
                found.append(Review(**{**plain, "verdict": Said(plain["verdict"])}))
            except (ValueError, TypeError, KeyError):
                continue
    return found


def latest(reviews: Iterable[Review]) -> list[Review]:
    """The last word of each person on each trial."""
    return list({(review.key, review.who): review for review in reviews}.values())


def agreement_of(reviews: Iterable[Review]) -> Agreement | None:
    """How far people agree with the scorer; None without a review. A wrong gold says nothing about the scorer."""
    judged = [
        Judged(scorer=review.passed, person=review.passed == (review.verdict is Said.RIGHT), bucket=review.bucket)
        for review in latest(reviews)
        if review.passed is not None and review.verdict is not Said.GOLD_WRONG
    ]
    return agreement(judged) if judged else None
