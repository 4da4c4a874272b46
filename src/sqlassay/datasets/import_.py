"""How does a gold set of another project become ours, ready to run?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlassay.datasets import bird, columns, defog, export, predictions, spider
from sqlassay.datasets.foreign import Imported, Prediction, counted
from sqlassay.datasets.native import load
from sqlassay.errors import DatasetError, UsageError
from sqlassay.records.strict import unknown
from sqlassay.records.wire import write_line

KINDS = ("spider", "bird", "defog", "predictions", "columns")


def convert(
    kind: str,
    source: str | Path,
    *,
    databases: str | None = None,
    cases: str | Path | None = None,
    answers: str | Path | None = None,
    mapping: Mapping[str, str] | None = None,
    evidence: bool = False,
    incomplete: bool = False,
) -> Imported:
    """Read what lies at `source` as a project of this kind.

    `databases` is a folder or a URL with `{db}`. `answers` are predictions to replay; `kind="predictions"` reads
    only these from `source`, joined to `cases`. `mapping` (field to column) serves `columns` and predictions.
    `evidence` puts hints under the question; `incomplete` keeps cases whose database has no rows.

    Raises:
        UsageError: the kind is unknown.
        DatasetError: a file is missing or malformed, or a prediction belongs to no case.
    """
    path = Path(source)
    match kind:
        case "spider":
            found = spider.read(path, databases=databases, incomplete=incomplete)
            # Predictions answer the cases left out too: they are known, and left out with them.
            whole = found if incomplete or answers is None else spider.read(path, incomplete=True)
        case "bird":
            found = whole = bird.read(path, databases=databases, evidence=evidence)
        case "defog":
            found = whole = defog.read(path, databases=databases, evidence=evidence)
        case "columns":
            found = whole = columns.read(path, mapping=mapping or {}, databases=databases)
        case "predictions":
            known = None if cases is None else load(cases).cases
            return Imported(predictions=predictions.read(path, cases=known, mapping=mapping))
        case _:
            message, hint = unknown("kind of import", kind, KINDS)
            raise UsageError(message, hint=hint)
    if not whole.cases:
        raise DatasetError("holds no cases", file=str(path))
    if answers is None:
        return found
    read = predictions.read(Path(answers), cases=whole.cases, mapping=mapping if kind != "columns" else None)
    return _joined(found, read)


def _joined(found: Imported, read: tuple[Prediction, ...]) -> Imported:
    wanted = {case.id for case in found.cases}
    kept = tuple(prediction for prediction in read if prediction.id in wanted)
    unanswered = len(wanted) - len({prediction.id for prediction in kept})
    notices = (
        *found.notices,
        *counted(len(read) - len(kept), "predictions left out with their cases"),
        *counted(unanswered, "cases have no prediction"),
    )
    return Imported(
        cases=found.cases,
        databases=found.databases,
        predictions=kept,
        notices=notices,
        exact_as=found.exact_as,
    )


def write(imported: Imported, folder: str | Path, *, suffix: str = ".yaml", force: bool = False) -> tuple[Path, ...]:
    """Write cases, predictions and a configuration that runs them; the files written.

    Raises:
        UsageError: a file is there already and `force` is not set, or the suffix is none that cases are written in.
    """
    folder = Path(folder)
    targets: list[tuple[Path, str]] = []
    if imported.cases:
        targets.append((folder / f"cases{suffix}", export.text(imported.cases, suffix=suffix)))
    if imported.predictions:
        lines = "".join(write_line(prediction) + "\n" for prediction in imported.predictions)
        targets.append((folder / "predictions.jsonl", lines))
    if imported.cases:
        targets.append((folder / "sqlassay.yaml", _configuration(imported, suffix)))
    there = [str(target) for target, _ in targets if target.exists()]
    if there and not force:
        raise UsageError(f"{', '.join(there)} already there", hint="use --force to replace, or name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for target, text in targets:
        target.write_text(text, encoding="utf-8", newline="\n")
    return tuple(target for target, _ in targets)


def _configuration(imported: Imported, suffix: str) -> str:
    settings: dict[str, object] = {"cases": f"cases{suffix}"}
    names = {case.database for case in imported.cases if case.database}
    missing = {name: f"sqlite:///{name}.sqlite" for name in sorted(names - set(imported.databases))}
    databases = {**imported.databases, **missing}
    settings["database"] = databases or "sqlite:///my.db"
    if imported.predictions:
        settings["agent"] = {"kind": "replay", "path": "predictions.jsonl"}
    else:
        settings["agent"] = {"kind": "python", "target": "my_agent:answer"}
    if imported.exact_as:
        settings["score"] = {"exact_as": list(imported.exact_as)}
    return "# Written by `sqlassay import`; every key: `sqlassay schema config`.\n" + export.as_yaml(settings)
