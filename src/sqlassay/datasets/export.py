"""How are cases written, so that they read back as the same cases: YAML, JSONL and CSV?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlassay.datasets.delimited import disarmed
from sqlassay.datasets.marked import yaml_resolvers
from sqlassay.datasets.shorthand import FIELDS
from sqlassay.errors import UsageError
from sqlassay.records.case import Case, GroupsShape, IdSetShape, Ordered, RankingShape, ScalarShape, Status
from sqlassay.records.plain import to_plain
from sqlassay.records.wire import write_line

FORMATS = (".yaml", ".yml", ".jsonl", ".csv")


def write(cases: Sequence[Case], file: Path) -> None:
    """Write the cases; the suffix chooses the format.

    Raises:
        UsageError: another suffix.
    """
    file.write_text(text(cases, suffix=file.suffix), encoding="utf-8", newline="\n")


def text(cases: Sequence[Case], *, suffix: str) -> str:
    """The cases as the text of a file with that suffix.

    Raises:
        UsageError: another suffix.

    >>> print(text([Case(id="a", question="How many?", gold_sql=("SELECT 1",))], suffix=".yaml"), end="")
    - id: a
      question: How many?
      gold_sql: SELECT 1
    """
    match suffix.lower():
        case ".yaml" | ".yml":
            return as_yaml([written(case) for case in cases])
        case ".jsonl":
            return "".join(write_line(written(case)) + "\n" for case in cases)
        case ".csv":
            return _csv(cases)
    raise UsageError(f"cases are not written as {suffix!r}", hint="one of: " + ", ".join(FORMATS))


def written(case: Case) -> dict[str, Any]:
    """A case as a person would write it: short forms, and nothing that is so by default.

    >>> written(Case(id="a", question="Who?", compare_on=IdSetShape(column="film_id"), gold_sql=("SELECT 1",)))
    {'id': 'a', 'question': 'Who?', 'gold_sql': 'SELECT 1', 'compare_on': {'id_set': 'film_id'}}
    """
    bare = to_plain(Case(id="", question=""))
    plain = to_plain(case)
    found: dict[str, Any] = {"id": case.id, "question": case.question}
    for name in FIELDS[2:]:
        if plain[name] != bare[name]:
            found[name] = plain[name]
    if len(case.gold_sql) == 1:
        found["gold_sql"] = case.gold_sql[0]
    match case.compare_on:
        case IdSetShape(column=column) | RankingShape(column=column) as shape:
            found["compare_on"] = {shape.kind: column}
        case GroupsShape(columns=columns):
            found["compare_on"] = {"groups": list(columns)}
        case ScalarShape():
            found["compare_on"] = "scalar"
    if case.tolerance is not None:
        amounts = {"abs": case.tolerance.abs, "rel": case.tolerance.rel}
        found["tolerance"] = amounts if case.tolerance.mode == "plain" else case.tolerance.mode
    if case.ordered is not Ordered.AUTO:
        found["ordered"] = case.ordered.value
    expect: dict[str, Any] = {}
    status = case.expect.terminal_status
    if status is not None and not (case.gold_sql and status is Status.SUCCESS):
        expect["terminal_status"] = status.value
    if case.expect.stages:
        expect["stages"] = to_plain(case.expect.stages)
    found.pop("expect", None)
    if expect:
        found["expect"] = expect
    return found


def as_yaml(value: Any) -> str:
    """Plain data as YAML that people read: fields in order, text of several lines as a block."""
    import yaml

    class Dumper(yaml.SafeDumper):
        yaml_implicit_resolvers = yaml_resolvers(yaml.SafeDumper.yaml_implicit_resolvers)

        def ignore_aliases(self, _data: Any) -> bool:
            return True

    def represent(dumper: Any, data: str) -> Any:
        block = (
            "\n" in data and data.isprintable() is False and not any(line.endswith(" ") for line in data.split("\n"))
        )
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|" if block else None)

    Dumper.add_representer(str, represent)
    dumped: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return dumped


def _csv(cases: Sequence[Case]) -> str:
    rows = [written(case) for case in cases]
    header = [name for name in FIELDS if any(name in row for row in rows)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([disarmed(_cell(row.get(name))) for name in header])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
