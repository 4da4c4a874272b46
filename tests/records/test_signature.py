"""Every setting that can change a number changes the signature, and none that only changes the pace does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from sqlassay.records.settings import Limits, RunSettings, ScoreSettings
from sqlassay.records.signature import sign

RECORDS: dict[str, Any] = {"score": ScoreSettings(), "limits": Limits(), "run": RunSettings()}
PACE = {"limits.grace_s"} | {f"run.{name}" for name in ("jobs", "workers", "requests_per_minute", "tokens_per_minute")}
"""Settings under which the same turns get the same numbers, only sooner or later."""


def changes(record: Any) -> Iterator[tuple[str, Any]]:
    """For every field, also of records within, its path and the record with another value there."""
    hints = get_type_hints(type(record))
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if dataclasses.is_dataclass(value):
            for path, changed in changes(value):
                yield f"{field.name}.{path}", dataclasses.replace(record, **{field.name: changed})
        else:
            other = another(value, hints[field.name])
            yield field.name, dataclasses.replace(record, **{field.name: other})


def another(value: Any, kind: Any) -> Any:
    """A value of the type that differs from this one."""
    options = get_args(kind)
    if get_origin(kind) is Literal:
        return next(option for option in options if option != value)
    if get_origin(kind) is tuple:
        return (*value, another(None, options[0]))
    if options:
        return another(value, next(option for option in options if option is not type(None)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(member for member in kind if member is not value)
    if kind is bool:
        return not value
    return f"{value}1" if kind is str else (value or 0) + 1


def changed_settings() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{name}.{path}", {**RECORDS, name: changed})
        for name, record in RECORDS.items()
        for path, changed in changes(record)
    ]


@pytest.mark.parametrize(("path", "settings"), [pytest.param(*each, id=each[0]) for each in changed_settings()])
def test_every_field_is_in_the_signature_unless_it_is_only_pace(path: str, settings: dict[str, Any]) -> None:
    before, after = sign(version="0", **RECORDS), sign(version="0", **settings)
    assert (after.digest != before.digest) is (path not in PACE)
    assert (after.line != before.line) is (path not in PACE)


def test_version_and_what_is_added_are_in_the_signature() -> None:
    lines = {
        sign(version=version, **RECORDS, extra=extra).line
        for version in ("1", "2")
        for extra in (None, {"dataset": "a"}, {"dataset": "b"})
    }
    assert len(lines) == 6
