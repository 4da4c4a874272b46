"""How are recorded predictions, or whole recorded turns, replayed as if the agent were asked again?"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlassay.agents.base import Agent, Reader
from sqlassay.agents.fields import brief, kind_of
from sqlassay.agents.python import result_reader
from sqlassay.agents.settings import check_known, optional_mapping, optional_text, required_text
from sqlassay.errors import AgentUnreachable, ConfigError
from sqlassay.records.ask import Ask
from sqlassay.records.turn import Turn

KIND = "replay"
VERSION = "1"
_KNOWN = frozenset({"path", "columns", "missing"})
_NAMED = 5

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One recorded line and where it stands."""

    case_id: str
    phrasing: int
    repeat: int
    given: Mapping[str, Any]
    place: str


def build(settings: Mapping[str, Any], *, base_dir: str) -> Agent:
    """An agent from `path:` (JSONL, JSON or CSV with `id` and `sql`, other turn fields as named).

    `columns` renames fields of the file to ours (`{prediction_id: id, query: sql}`). `missing: error` (default)
    refuses to run while a selected case has no prediction; `missing: empty` takes it for a turn without anything,
    which is unscored (`extractor_empty`).

    Raises:
        ConfigError: the file is missing or malformed, or has an id twice (named with its lines).
    """
    check_known(settings, _KNOWN, kind=KIND)
    path = Path(base_dir) / required_text(settings, "path", kind=KIND)
    missing = optional_text(settings, "missing") or "error"
    if missing not in ("error", "empty"):
        raise ConfigError(f"agent.missing: {missing!r} is neither 'error' nor 'empty'")
    columns = {key: str(value) for key, value in optional_mapping(settings, "columns").items()}
    return ReplayAgent(
        load_predictions(path, columns=columns),
        name=optional_text(settings, "name") or KIND,
        path=str(path),
        allow_missing=missing == "empty",
        reader=result_reader(settings, kind=KIND),
    )


class ReplayAgent:
    """Answers every question from the file, joined by case id (then phrasing and repeat); never by line number.

    A line without `phrasing` or `repeat` answers every wording and repetition of its case.
    """

    def __init__(
        self, predictions: Iterable[Prediction], *, name: str, path: str, allow_missing: bool, reader: Reader
    ) -> None:
        self.name = name
        self._path = path
        self._allow_missing = allow_missing
        self._reader = reader
        self._by_key: dict[Key, Prediction] = {}
        for prediction in predictions:
            key = (prediction.case_id, prediction.phrasing, prediction.repeat)
            known = self._by_key.get(key)
            if known is not None:
                raise ConfigError(
                    f"{self._path}: id {prediction.case_id!r} appears twice ({known.place} and {prediction.place})",
                    hint="keep one line per id, or tell them apart with 'phrasing' and 'repeat'",
                )
            self._by_key[key] = prediction

    def case_ids(self) -> frozenset[str]:
        """The ids that have a prediction."""
        return frozenset(key[0] for key in self._by_key)

    def check_ids(self, case_ids: Iterable[str], *, selected: Iterable[str] | None = None) -> None:
        """Refuse predictions for cases that do not exist, and `selected` cases (default: all) without one.

        Raises:
            ConfigError: naming the ids (the first five, and how many there are).
        """
        known = list(case_ids)
        predicted = self.case_ids()
        strangers = sorted(predicted - set(known))
        if strangers:
            raise ConfigError(
                f"{self._path}: {_named(strangers)} no case of the dataset",
                hint="predictions are joined to cases by id; check the ids, or map the id column with 'columns'",
            )
        wanted = known if selected is None else list(selected)
        without = [case_id for case_id in dict.fromkeys(wanted) if case_id not in predicted]
        if without and not self._allow_missing:
            raise ConfigError(
                f"{self._path}: no prediction for {_listed(without)}",
                hint="select the cases that have one, or set agent.missing: empty to go on with them unscored",
            )

    async def ask(self, ask: Ask) -> Any:
        """The recorded line of the case.

        Raises:
            AgentUnreachable: there is none.
        """
        return self.recorded(
            case_id=str(ask.extra.get("case_id", ask.request_id)),
            phrasing=_whole(ask.extra.get("phrasing")),
            repeat=_whole(ask.extra.get("repeat")),
        )

    def recorded(self, *, case_id: str, phrasing: int = 0, repeat: int = 0) -> Any:
        """The recorded line of a case, for the runner, which alone knows the case id.

        Raises:
            AgentUnreachable: there is none and `missing` is `error`.
        """
        for key in ((case_id, phrasing, repeat), (case_id, phrasing, -1), (case_id, -1, repeat), (case_id, -1, -1)):
            if key in self._by_key:
                return dict(self._by_key[key].given)
        if self._allow_missing:
            return {}
        raise AgentUnreachable(
            f"{self._path} has no prediction for case {case_id!r}, wording {phrasing}, repeat {repeat}"
        )

    def first(self) -> Any:
        """The first recorded line, whichever case it is of.

        Raises:
            AgentUnreachable: the file holds none.
        """
        for prediction in self._by_key.values():
            return dict(prediction.given)
        raise AgentUnreachable(f"{self._path} holds no prediction")

    def read(self, payload: Any) -> Turn:
        """The line read as a mapping with the turn's fields, or by the adapter that `read:` names."""
        if isinstance(payload, Mapping) and "payload" in payload and self._reader.name != "python":
            return self._reader.read(payload["payload"])
        return self._reader.read(payload)

    async def close(self) -> None:
        """Nothing to close."""


def load_predictions(path: Path, *, columns: Mapping[str, str]) -> tuple[Prediction, ...]:
    """Read JSONL, JSON (a list, or a mapping of id to SQL or fields) or CSV.

    Raises:
        ConfigError: no such file, or malformed, with the line.
    """
    if not path.is_file():
        raise ConfigError(f"agent.path: no file {path}", hint="the path is relative to the configuration file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    suffix = path.suffix.lower()
    if suffix == ".csv":
        items = _from_csv(text, path)
    elif suffix == ".json":
        items = _from_json(text, path)
    elif suffix in (".jsonl", ".ndjson"):
        items = _from_lines(text, path)
    else:
        raise ConfigError(f"agent.path: {path.name} is neither .jsonl, .json nor .csv")
    return tuple(_prediction(given, columns=columns, path=path, place=place) for place, given in items)


def _prediction(given: Any, *, columns: Mapping[str, str], path: Path, place: str) -> Prediction:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{path}: {place}: expected a mapping with id and sql, got {kind_of(given)}")
    for source in columns:
        if source not in given:
            raise ConfigError(
                f"{path}: {place}: no field {source!r} (from agent.columns)",
                hint=f"it has {', '.join(map(str, given))}",
            )
    fields = {columns.get(str(key), str(key)): value for key, value in given.items()}
    case_id = fields.pop("id", None)
    case_id = fields.pop("case_id", None) if case_id is None else case_id
    if case_id is None or not str(case_id).strip():
        raise ConfigError(
            f"{path}: {place}: no id",
            hint="every prediction names its case with 'id'; rename a field with agent.columns",
        )
    counted = {}
    for name in ("phrasing", "repeat"):
        value = fields.pop(name, None)
        if value is None or value == "":
            counted[name] = -1
            continue
        if not str(value).isdecimal():
            raise ConfigError(f"{path}: {place}: {name} {brief(value)} is not a whole number")
        counted[name] = int(value)
    return Prediction(case_id=str(case_id), place=place, given=fields, **counted)


def _from_lines(text: str, path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{path}:{number}: not JSON: {error}") from None


def _from_json(text: str, path: Path) -> Iterator[tuple[str, Any]]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from None
    if isinstance(parsed, Mapping):
        for case_id, value in parsed.items():
            yield f"id {case_id!r}", {"id": case_id, **(value if isinstance(value, Mapping) else {"sql": value})}
    elif isinstance(parsed, list):
        for number, item in enumerate(parsed, start=1):
            yield f"item {number}", item
    else:
        raise ConfigError(f"{path}: expected a list or a mapping of ids, got {kind_of(parsed)}")


def _from_csv(text: str, path: Path) -> Iterator[tuple[str, Any]]:
    rows = csv.reader(text.splitlines(keepends=True))
    header = next(rows, None)
    if header is None:
        raise ConfigError(f"{path}: empty; a CSV of predictions needs a header with id and sql")
    names = [name.strip() for name in header]
    try:
        for row in rows:
            place = f"line {rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(names):
                raise ConfigError(f"{path}: {place}: {len(row)} cells, the header has {len(names)}")
            cells = dict(zip(names, row, strict=True))
            yield place, {key: _cell(key, value) for key, value in cells.items() if value != "" or key in ("id", "sql")}
    except csv.Error as error:
        raise ConfigError(f"{path}:{rows.line_num}: {error}") from None


def _cell(name: str, text: str) -> Any:
    """A CSV cell; a structured field (`stages`, `queries`, ...) is JSON."""
    if text[:1] in ("{", "[") and name not in ("id", "sql", "answer", "candidate_sql", "question", "error"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _named(ids: list[str]) -> str:
    return (
        f"{'prediction' if len(ids) == 1 else 'predictions'} {_listed(ids)} {'matches' if len(ids) == 1 else 'match'}"
    )


def _listed(ids: list[str]) -> str:
    shown = ", ".join(repr(case_id) for case_id in ids[:_NAMED])
    return shown if len(ids) <= _NAMED else f"{shown} and {len(ids) - _NAMED} more ({len(ids)} in all)"
