"""Which cases do these YAML, JSONL, JSON and CSV files hold, and what is wrong with them (specification section 2)?"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path as FilePath

from sqlassay.datasets import delimited
from sqlassay.datasets.base import Dataset, raise_all
from sqlassay.datasets.marked import Malformed, Marked, decode, json_items, json_lines, yaml_items
from sqlassay.datasets.order import has_outermost_order
from sqlassay.datasets.shorthand import FIELDS, spell_out
from sqlassay.errors import DatasetError
from sqlassay.records.case import Case, Expectation, Place, RankingShape, Status
from sqlassay.records.strict import Path, Problem, dotted, examine, nearest

_READERS: dict[str, Callable[[str], Iterator[Marked]]] = {
    ".yaml": lambda text: yaml_items(text, under="cases"),
    ".yml": lambda text: yaml_items(text, under="cases"),
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".json": lambda text: json_items(text, under="cases"),
    ".csv": delimited.items,
    ".tsv": delimited.tab_items,
}


def load(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, base_dir: str = "") -> Dataset:
    """All cases of a file, a folder (searched in order of name) or a list of either.

    Paths are relative to `base_dir`. Everything wrong is raised at once, each with file, line, case id and field.

    Raises:
        DatasetError: a file is missing or malformed, or a case is wrong; two cases have one id.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    found, names = _Found(), []
    for file, shown in _files([os.fspath(one) for one in sources], base_dir):
        names.append(shown)
        found.read_file(file, shown)
    return found.dataset(names)


def loads(text: str, *, file: str = "cases.yaml") -> Dataset:
    """The cases of a text; the suffix of `file` says how to read it.

    Raises:
        DatasetError: see `load`.

    >>> loads('{"id": "a", "question": "How many?", "gold_sql": "SELECT 1"}', file="a.jsonl").cases[0].gold_sql
    ('SELECT 1',)
    """
    found = _Found()
    found.read_text(text, file)
    return found.dataset([file])


def _files(sources: list[str], base_dir: str) -> Iterator[tuple[FilePath, str]]:
    seen: set[FilePath] = set()
    for source in sources:
        path = FilePath(base_dir, source)
        if path.is_dir():
            inside = sorted(
                FilePath(folder, name)
                for folder, _, names in os.walk(path)
                for name in names
                if FilePath(name).suffix.lower() in _READERS and not name.startswith(".")
            )
            if not inside:
                raise DatasetError("the folder holds no case files", file=_shown(path), hint=_SUFFIX_HINT)
        elif path.is_file():
            inside = [path]
        else:
            raise DatasetError("no such file or folder", file=_shown(path), hint="look at `cases` in the configuration")
        for file in inside:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file, _shown(file)


def _shown(path: FilePath) -> str:
    """A path as a person at this working directory would write it."""
    absolute, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(absolute, here) if os.path.commonpath([absolute, here]) == here else absolute


_SUFFIX_HINT = "cases are read from " + ", ".join(_READERS)


@dataclass(slots=True)
class _Found:
    """What the files read so far hold: cases, everything wrong, and where each id stands (of wrong cases too)."""

    cases: list[Case] = field(default_factory=list)
    errors: list[DatasetError] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def read_file(self, file: FilePath, shown: str) -> None:
        if file.suffix.lower() not in _READERS:
            self.errors.append(DatasetError(f"unknown kind of file {file.suffix!r}", file=shown, hint=_SUFFIX_HINT))
            return
        try:
            text = decode(file.read_bytes())
        except OSError as error:
            self.errors.append(DatasetError(f"cannot be read: {error.strerror}", file=shown))
        except Malformed as error:
            self.errors.append(DatasetError(error.message, file=shown, line=error.line, hint=error.hint))
        else:
            self.read_text(text, shown)

    def read_text(self, text: str, shown: str) -> None:
        before = len(self.cases) + len(self.errors)
        try:
            for marked in _READERS[FilePath(shown).suffix.lower()](text):
                case, wrong = read_case(marked, file=shown)
                self.errors += wrong
                self._place(marked, shown)
                if case is not None:
                    self.cases.append(case)
        except Malformed as error:
            self.errors.append(DatasetError(error.message, file=shown, line=error.line, hint=error.hint))
        if len(self.cases) + len(self.errors) == before:
            self.errors.append(DatasetError("holds no cases", file=shown))

    def _place(self, marked: Marked, shown: str) -> None:
        case_id = _identity(marked)
        if case_id is None:
            return
        here = Place(file=shown, line=marked.line())
        earlier = self.places.setdefault(case_id, here)
        if earlier is here:
            return
        where = f"{earlier.file}:{earlier.line}" if earlier.line else earlier.file
        self.errors.append(
            DatasetError(
                f"the id stands twice; first in {where}",
                file=shown,
                line=here.line,
                case_id=case_id,
                field="id",
                hint="give every case an id of its own",
            )
        )

    def dataset(self, files: list[str]) -> Dataset:
        raise_all(self.errors)
        return Dataset(cases=tuple(self.cases), files=tuple(files))


def _identity(marked: Marked) -> str | None:
    """The id of a case as text; a bare number counts as it was written."""
    written = marked.value.get("id") if isinstance(marked.value, dict) else None
    if isinstance(written, (int, float)) and not isinstance(written, bool):
        return marked.texts.get(("id",), str(written))
    return written if isinstance(written, str) else None


def read_case(marked: Marked, *, file: str) -> tuple[Case | None, list[DatasetError]]:
    """One case out of what a file says, None with everything that is wrong in it."""
    raw = marked.value
    if not isinstance(raw, dict):
        message = f"a case should be a mapping with id and question, is {type(raw).__name__}"
        return None, [DatasetError(message, file=file, line=marked.line(), hint="write - id: ...")]
    identity = _identity(marked)
    if identity is not None:
        raw = {**raw, "id": identity}
    spelt, problems = spell_out(raw)
    case, more = examine(Case, spelt, loosely=marked.loosely)
    problems = _once((*problems, *more))
    if case is not None and not problems:
        problems = tuple(rules(case))
    if case is None or problems:
        return None, [_error(problem, marked, file, identity) for problem in problems]
    expect = case.expect
    if expect.terminal_status is None:
        expect = Expectation(terminal_status=Status.SUCCESS, stages=expect.stages)
    return dataclasses.replace(case, expect=expect, place=Place(file=file, line=marked.line())), []


def _once(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Leave out a missing field whose misspelt or unreadable self is told of already."""
    told = {problem.path[0] for problem in problems if problem.path and not problem.message.startswith("missing")}
    told |= {nearest(str(name), FIELDS) or name for name in told}
    return tuple(p for p in problems if not (p.message.startswith("missing") and p.path[0] in told))


def _error(problem: Problem, marked: Marked, file: str, case_id: str | None) -> DatasetError:
    name = dotted(problem.path)
    named = f"{name}: {problem.message}" if name else problem.message
    if problem.message.startswith(("unknown field", "missing field")):
        named = problem.message if len(problem.path) == 1 else f"{dotted(problem.path[:-1])}: {problem.message}"
    return DatasetError(
        named, file=file, line=marked.line(problem.path), case_id=case_id, field=name or None, hint=problem.hint
    )


def rules(case: Case) -> Iterator[Problem]:
    """What must hold between the fields of a case (specification section 2)."""
    if not case.id.strip():
        yield Problem(path=("id",), message="is empty", hint="give every case a name of its own")
    if not case.question.strip():
        yield Problem(path=("question",), message="is empty")
    for index, wording in enumerate(case.phrasings):
        if not wording.strip():
            yield Problem(path=("phrasings", index), message="is empty")
    status = case.expect.terminal_status
    at: Path = ("expect", "terminal_status")
    if not case.gold_sql and status is None:
        yield Problem(
            path=at,
            message="a case without gold_sql must say expect.terminal_status",
            hint="write expect: {terminal_status: UNSUPPORTED} (or CLARIFICATION, FALLBACK, SUCCESS), or add gold_sql",
        )
    if case.gold_sql and status is not None and status is not Status.SUCCESS:
        what = "an expected refusal" if status.is_refusal else f"the expected status {status}"
        yield Problem(
            path=at,
            message=f"gold_sql and {what} ({status.value}) exclude each other",
            hint="remove gold_sql where the question must not be answered, else expect SUCCESS",
        )
    if isinstance(case.compare_on, RankingShape):
        for index, sql in enumerate(case.gold_sql):
            if not has_outermost_order(sql):
                yield Problem(
                    path=("gold_sql",) if len(case.gold_sql) == 1 else ("gold_sql", index),
                    message="a ranking needs an ORDER BY at the outermost level of its gold_sql",
                    hint="add the ORDER BY, or use {id_set: column} where order does not count",
                )
    if case.gold_rows is not None and not case.gold_sql:
        yield Problem(path=("gold_rows",), message="needs the gold_sql that they are the result of")
    if case.gold_rows is not None and len({len(row) for row in case.gold_rows}) > 1:
        yield Problem(path=("gold_rows",), message="its rows are not all of one width")
    if case.at is not None and not _is_moment(case.at):
        yield Problem(
            path=("at",), message=f"{case.at!r} is no date or time", hint="write at: 2025-01-31 or 2025-01-31T12:00:00Z"
        )


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
