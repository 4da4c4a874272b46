"""What a loaded set of cases is, and how everything wrong with it is told at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlassay.errors import DatasetError
from sqlassay.records.case import Case
from sqlassay.records.plain import to_plain

SHOWN = 20
"""Problems printed of one set; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Cases in file order, and the files they came from (as given, sorted within a folder)."""

    cases: tuple[Case, ...]
    files: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over every case, whatever file, line or order it stands in.

        >>> one, two = Case(id="1", question="a"), Case(id="2", question="b")
        >>> Dataset(cases=(one, two)).fingerprint == Dataset(cases=(two, one)).fingerprint
        True
        """
        digest = hashlib.sha256()
        for case in sorted(self.cases, key=lambda case: case.id):
            plain = to_plain(case)
            del plain["place"]
            digest.update(json.dumps(plain).encode() + b"\n")
        return digest.hexdigest()[:16]


class CaseErrors(DatasetError):
    """Several things wrong with case files, each with its place; `errors` holds them all."""

    def __init__(self, errors: Iterable[DatasetError]) -> None:
        self.errors = tuple(errors)
        lines = []
        for error in self.errors[:SHOWN]:
            lines.append(error.message)
            if error.hint:
                lines.append(f"    {error.hint}")
        if len(self.errors) > SHOWN:
            lines.append(f"... and {len(self.errors) - SHOWN} more")
        first = self.errors[0]
        super().__init__("\n".join(lines))
        self.file, self.line, self.case_id, self.field = first.file, first.line, first.case_id, first.field


def raise_all(errors: Iterable[DatasetError]) -> None:
    """Raise what is wrong, nothing when nothing is.

    Raises:
        DatasetError: the only one.
        CaseErrors: when there are several.
    """
    found = list(errors)
    if len(found) == 1:
        raise found[0]
    if found:
        raise CaseErrors(found)
