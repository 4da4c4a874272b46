"""Which databases does the configuration name, and which did the command line replace?"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from sqlassay.databases.addresses import absolute_url
from sqlassay.records.config import DatabaseSettings, redact
from sqlassay.records.strict import Path, unknown
from sqlassay.running.settings_tree import Tree, fill


def _configured(tree: Tree) -> Any:
    """The databases as the file has them, whatever replaced them since."""
    written = tree.marked.value
    return next((written[key] for key in ("database", "databases") if written.get(key) is not None), None)


def as_written(tree: Tree, name: str) -> Any:
    configured = _configured(tree)
    one = isinstance(configured, str) or _is_settings(configured)
    return configured if one else configured[name]


def databases(tree: Tree, value: Any, base: str, environment: Mapping[str, str]) -> Mapping[str, DatabaseSettings]:
    """The configured databases, with those replaced that the command line or the environment names.

    `URL` replaces the only one, `NAME=URL` one of several. Variables of a replaced database are not asked for.
    """
    if "database" not in tree.origins:
        return _named(tree, value, base)
    configured = _configured(tree)
    one = configured is None or isinstance(configured, str) or _is_settings(configured)
    names = [] if configured is None else ["default"] if one else [str(name) for name in configured]
    replaced: dict[str, DatabaseSettings] = {}
    for text in value if isinstance(value, list) else [value]:
        if not isinstance(text, str):
            tree.bad(("database",), f"should be a URL, is {type(text).__name__}")
            continue
        name, equals, url = text.partition("=")
        if not equals or not _DATABASE_NAME.fullmatch(name):
            if len(names) > 1:
                hint = f"say which: {names[0]}=URL"
                tree.bad(("database",), f"several databases are configured ({', '.join(names)})", hint)
                continue
            name, url = names[0] if names else "default", text
        elif names and name not in names:
            tree.bad(("database",), unknown("database", name, names)[0], "known: " + ", ".join(names))
            continue
        replaced[name] = DatabaseSettings(url=_url(tree, url, ("database",), os.getcwd()), overridden=True)
    if one:
        return replaced
    others = {name: inner for name, inner in configured.items() if str(name) not in replaced}
    filled = fill(tree, others, ("database",), environment)
    settled = {**(_named(tree, filled, base) if filled else {}), **replaced}
    return {name: settled[name] for name in names or settled if name in settled}


_DATABASE_NAME = re.compile(r"[\w.-]+")


def _named(tree: Tree, value: Any, base: str) -> Mapping[str, DatabaseSettings]:
    if isinstance(value, str) or _is_settings(value):
        return {"default": _one(tree, value, ("database",), base)}
    if not isinstance(value, Mapping) or not value:
        tree.bad(("database",), f"should be a URL or a mapping of names to URLs, is {redact(value, secret=True)!r}")
        return {}
    return {str(name): _one(tree, inner, ("database", str(name)), base) for name, inner in value.items()}


def _is_settings(value: Any) -> bool:
    """`{url: ...}` and `{snapshot: ...}` are one database; any other mapping names several."""
    return isinstance(value, Mapping) and bool(value) and set(value) <= {"url", "snapshot"}


def _one(tree: Tree, value: Any, path: Path, base: str) -> DatabaseSettings:
    if isinstance(value, str):
        return DatabaseSettings(url=_url(tree, value, path, base))
    if not isinstance(value, Mapping):
        tree.bad(path, "should be a URL, {url: ...} or {snapshot: DIR}")
        return DatabaseSettings()
    for key in value:
        if key not in ("url", "snapshot"):
            tree.bad((*path, str(key)), *unknown("field", str(key), ("url", "snapshot")))
            return DatabaseSettings()
    url, snapshot = value.get("url"), value.get("snapshot")
    if (url is None) == (snapshot is None) or not isinstance(url or snapshot, str):
        tree.bad(path, "takes either url or snapshot, as text")
        return DatabaseSettings()
    if snapshot is not None:
        return DatabaseSettings(snapshot=os.path.join(base, str(snapshot)))
    return DatabaseSettings(url=_url(tree, str(url), (*path, "url"), base))


_FILE_ENGINES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb", ".ddb": "duckdb"}


def _url(tree: Tree, text: str, path: Path, base: str) -> str:
    """The URL with the path of a file engine made absolute; a bare file name means its engine."""
    if "://" not in text:
        engine = _FILE_ENGINES.get(FilePath(text).suffix.lower())
        if engine is None:
            tree.bad(path, "is no database URL", "write sqlite:///file.db, duckdb:///file.duckdb or postgresql://...")
            return text
        text = f"{engine}:///{text}"
    return absolute_url(text, base)
