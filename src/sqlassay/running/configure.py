"""What did the user configure? File, environment and command line merged, read strictly, paths resolved.

The command line wins over `SQLASSAY_*` variables, these over the file, the file over the defaults (specification
sections 9 and 10).
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from sqlassay.datasets.marked import Malformed, Marked, decode, yaml_document
from sqlassay.datasets.shorthand import Wrong, tolerance
from sqlassay.errors import ConfigError
from sqlassay.records.config import SHORT, Config, GateSettings
from sqlassay.records.settings import Limits, RunSettings, ScoreSettings
from sqlassay.records.strict import Loosely, examine, nearest, unknown
from sqlassay.running.configure_databases import as_written, databases
from sqlassay.running.settings_tree import Tree, fill

DEFAULT_FILE = "sqlassay.yaml"
SECTIONS: Mapping[str, type[Any]] = {
    "score": ScoreSettings,
    "run": RunSettings,
    "limits": Limits,
    "gate": GateSettings,
}
SAME = {"databases": "database", "tags": "tag", "categories": "category", "case_ids": "case_id", "skip_llm": "no_judge"}
_INTERNAL = ("file", "base_dir", "written", "notices", "databases")
TOP = (*(f.name for f in dataclasses.fields(Config) if f.name not in _INTERNAL), "database")
_UNFILLED = ("agent", "retriever", "judge")
"""Sections whose variables are filled in by whoever builds them, so that no secret lies in the configuration."""
_LISTS = ("cases", "case_id", "tag", "category", "output", "gate.require", "score.exact_as", "score.agent_adds")


def load(
    file: str | os.PathLike[str] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Read the configuration.

    Without `file`, `sqlassay.yaml` of the working directory is read where there is one. `overrides` are what the
    command line says, by key (`limit`, `database`, `run.jobs` or its short form `jobs`); None means not given.

    Raises:
        ConfigError: the file is missing or malformed, a key is unknown, a value is wrong, or a variable is not set;
            every problem is named with its place.
    """
    if file is None and os.path.exists(DEFAULT_FILE):
        file = DEFAULT_FILE
    if file is None:
        return _merge(Marked(value={}), shown=None, base=os.getcwd(), overrides=overrides, environment=environment)
    shown = os.fspath(file)
    try:
        marked = yaml_document(decode(FilePath(file).read_bytes()))
    except FileNotFoundError:
        raise ConfigError(
            f"no configuration file {shown!r}", hint="`sqlassay init` writes one; -c names another"
        ) from None
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read: {error.strerror}") from None
    except Malformed as error:
        place = shown if error.line is None else f"{shown}:{error.line}"
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from None
    base = os.path.dirname(os.path.abspath(file))
    return _merge(marked, shown=shown, base=base, overrides=overrides, environment=environment)


def from_mapping(
    settings: Mapping[str, Any], *, base_dir: str = ".", environment: Mapping[str, str] | None = None
) -> Config:
    """The configuration that a program holds in hand, read as a file in `base_dir` would be.

    Raises:
        ConfigError: see `load`.

    >>> from_mapping({"cases": "cases.yaml", "run": {"jobs": 2}}, environment={}).run.jobs
    2
    """
    marked = Marked(value=dict(settings))
    return _merge(marked, shown=None, base=os.path.abspath(base_dir), overrides=None, environment=environment)


def _merge(
    marked: Marked,
    *,
    shown: str | None,
    base: str,
    overrides: Mapping[str, Any] | None,
    environment: Mapping[str, str] | None,
) -> Config:
    environment = os.environ if environment is None else environment
    tree = Tree(marked=marked, shown=shown)
    _from_file(tree)
    notices = _from_environment(tree, environment)
    _from_command_line(tree, overrides or {})
    written = {name: value for name, value in tree.values.items() if value is not None}
    filled = {
        name: value if name in _UNFILLED else fill(tree, value, (name,), environment) for name, value in written.items()
    }
    if tree.unfilled:
        tree.raise_all()
    fields: dict[str, Any] = {}
    for name, value in filled.items():
        if name == "database":
            fields["databases"] = databases(tree, value, base, environment)
        elif name in SECTIONS:
            fields[name] = _section(tree, name, value)
        elif name in _UNFILLED:
            fields[name] = _mapping_with_kind(tree, name, value)
        else:
            fields[name] = _top(tree, name, value, base)
    tree.raise_all()
    if "run" in fields:
        fields["limits"] = _no_longer_than_a_turn(fields.get("limits", Limits()), fields["run"], filled.get("limits"))
    if "database" in tree.origins:
        written["database"] = {
            name: settings.url if settings.overridden else as_written(tree, name)
            for name, settings in fields["databases"].items()
        }
    config = Config(**fields, file=shown, base_dir=base, written=written, notices=tuple(notices))
    runs = os.path.join(base, config.runs)
    return dataclasses.replace(config, runs=runs)


def _no_longer_than_a_turn(limits: Limits, run: RunSettings, written: Any) -> Limits:
    """A statement's own limit where one is written, else the default, but no more than a whole turn may take."""
    if isinstance(written, Mapping) and "timeout_s" in written:
        return limits
    return dataclasses.replace(limits, timeout_s=min(limits.timeout_s, run.timeout_s))


def _from_file(tree: Tree) -> None:
    value = tree.marked.value
    if not isinstance(value, Mapping):
        tree.bad((), "should be a mapping of keys such as cases, database and agent")
        return
    for name, inner in value.items():
        target = SAME.get(name, SHORT.get(name, name))
        top, _, rest = target.partition(".")
        if top not in TOP:
            known = [*TOP, *SHORT]
            tree.bad((name,), *unknown("key", name, known))
        elif not rest:
            if tree.values.get(top) is not None and target != name:
                tree.bad((name,), f"{name!r} and {target!r} are the same key; keep one")
            else:
                kept = tree.values.get(top)
                tree.values[top] = {**kept, **inner} if isinstance(kept, dict) and isinstance(inner, dict) else inner
        elif isinstance(value.get(top), Mapping) and rest in value[top]:
            tree.bad((name,), f"{name!r} and {target!r} are the same key; keep one")
        else:
            section = value.get(top)
            mine = tree.values.get(top)
            base = mine if isinstance(mine, Mapping) else section if isinstance(section, Mapping) else {}
            tree.values[top] = {**base, rest: inner}
            tree.origins[target] = tree.place((name,))


def _variables() -> Iterator[tuple[str, str]]:
    """Every `SQLASSAY_` variable and the key it sets."""
    for name in TOP:
        if name not in SECTIONS and name not in _UNFILLED:
            yield f"SQLASSAY_{name.upper()}", name
    for short, key in SHORT.items():
        yield f"SQLASSAY_{short.upper()}", key
    for section, kind in SECTIONS.items():
        for setting in dataclasses.fields(kind):
            yield f"SQLASSAY_{section.upper()}_{setting.name.upper()}", f"{section}.{setting.name}"
    yield "SQLASSAY_GATE", "gate.on_run"


ELSEWHERE = ("SQLASSAY_CONFIG", "SQLASSAY_PUBLIC_DATA")
"""Variables that others read."""


def _from_environment(tree: Tree, environment: Mapping[str, str]) -> list[str]:
    known = dict(_variables())
    notices = []
    for variable in sorted(environment):
        if not variable.startswith("SQLASSAY_") or variable in ELSEWHERE:
            continue
        key, text = known.get(variable), environment[variable]
        if key is None:
            near = nearest(variable, known)
            if near:
                notices.append(f"the variable {variable} sets nothing; did you mean {near}?")
        elif text.strip():
            value: Any = [part.strip() for part in text.split(",") if part.strip()] if key in _LISTS else text
            tree.put(key, value, f"${variable}")
    return notices


def _from_command_line(tree: Tree, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        if value is None:
            continue
        key = SAME.get(name, SHORT.get(name, name))
        top, _, rest = key.partition(".")
        settings = {f.name for f in dataclasses.fields(SECTIONS[top])} if top in SECTIONS else set()
        if top not in TOP or (rest and rest not in settings):
            raise ConfigError(unknown("key", name, [*TOP, *SHORT])[0])
        flag = "--" + (name.rpartition(".")[2]).replace("_", "-")
        tree.put(key, list(value) if isinstance(value, tuple) else value, flag)


def _section(tree: Tree, name: str, value: Any) -> Any:
    if name == "gate":
        value = _gate(value)
    if not isinstance(value, Mapping):
        tree.bad((name,), f"should be a mapping, is {value!r}")
        return SECTIONS[name]()
    value = dict(value)
    if name == "score" and "tolerance" in value:
        try:
            value["tolerance"] = tolerance(value["tolerance"]) or {}
        except Wrong as wrong:
            tree.bad((name, *wrong.problem.path), wrong.problem.message, wrong.problem.hint)
            del value["tolerance"]
    record, problems = examine(SECTIONS[name], value, loosely=Loosely())
    for problem in problems:
        tree.bad((name, *problem.path), problem.message, problem.hint)
    if record is None:
        return SECTIONS[name]()
    for setting, (least, most, above) in _RANGES.get(name, {}).items():
        number = getattr(record, setting)
        if (number is not None and not (least < number if above else least <= number)) or (number or 0) > most:
            bound = f"above {least:g}" if above else f"at least {least:g}"
            upper = "" if most == _NO_LIMIT else f" and at most {most:g}"
            tree.bad((name, setting), f"should be {bound}{upper}, is {number}")
    # 60 and 60.0 are one setting and must sign the same.
    reals = [f.name for f in dataclasses.fields(record) if str(f.type).startswith("float")]
    return dataclasses.replace(
        record, **{real: float(getattr(record, real)) for real in reals if getattr(record, real) is not None}
    )


_NO_LIMIT = float("inf")
_RANGES: Mapping[str, Mapping[str, tuple[float, float, bool]]] = {
    "score": {"pair_threshold": (0, 1, False), "key_selectivity": (0, 1, False), "shelf_limit": (1, _NO_LIMIT, False)},
    "run": {
        "jobs": (1, _NO_LIMIT, False),
        "workers": (1, _NO_LIMIT, False),
        "timeout_s": (0, _NO_LIMIT, True),
        "retries": (0, _NO_LIMIT, False),
        "repeats": (1, _NO_LIMIT, False),
        "requests_per_minute": (0, _NO_LIMIT, True),
        "tokens_per_minute": (0, _NO_LIMIT, True),
    },
    "limits": {
        "timeout_s": (0, _NO_LIMIT, True),
        "max_rows": (1, _NO_LIMIT, False),
        "max_bytes": (1, _NO_LIMIT, False),
        "grace_s": (0, _NO_LIMIT, False),
        "memory_bytes": (1, _NO_LIMIT, False),
    },
    "gate": {"level": (0, 1, True)},
}
"""Least, most, and whether the least itself is out."""


def _gate(value: Any) -> Any:
    """A list is rules; true or false is whether `run` judges; `no_regressions: true` means case by case."""
    if isinstance(value, (bool, str)) and str(value).lower() in ("true", "false", "yes", "no", "1", "0"):
        return {"on_run": value}
    if isinstance(value, (str, list)):
        return {"require": value}
    if isinstance(value, Mapping) and isinstance(value.get("no_regressions"), bool):
        return {**value, "no_regressions": "by_case" if value["no_regressions"] else "off"}
    return value


def _mapping_with_kind(tree: Tree, name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        tree.bad((name,), f"should be a mapping with a kind, is {value!r}", "write {kind: python, target: ...}")
        return None
    return {str(key): inner for key, inner in value.items()}


def _top(tree: Tree, name: str, value: Any, base: str) -> Any:
    texts = {(name, *path[1:]): text for path, text in tree.marked.texts.items() if path[:1] == (name,)} or {
        (name,): str(value)
    }
    record, problems = examine(Config, {name: value}, loosely=Loosely(texts=texts))
    for problem in problems:
        tree.bad(problem.path, problem.message, problem.hint)
    if record is None:
        return getattr(Config(), name)
    read = getattr(record, name)
    from_elsewhere = name in tree.origins
    if name == "limit" and read is not None and not _LIMIT.fullmatch(read):
        tree.bad((name,), f"{read!r} is neither a count nor a range", "write 10 for the first ten, 11-20 for the next")
    if name == "cases":
        return tuple(os.path.abspath(path) if from_elsewhere else path for path in read)
    if name in ("runs",):
        return os.path.abspath(read) if from_elsewhere else read
    if name == "output":
        return tuple(os.path.abspath(path) if from_elsewhere else os.path.join(base, path) for path in read)
    return read


_LIMIT = re.compile(r"\s*[1-9][0-9]*\s*(?:-\s*[1-9][0-9]*\s*)?")
