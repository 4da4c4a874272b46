"""Which Python object does `module:name` mean, seen from the configuration's folder?"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlassay.agents.fields import did_you_mean
from sqlassay.errors import ConfigError, Culprit, Fault, capture

_IMPORTING = threading.Lock()


def load_target(target: Any, *, base_dir: str, setting: str = "agent.target") -> Any:
    """The object that `package.module:name.attribute` or `path/file.py:name` means; another object is itself.

    A module is looked for in `base_dir` first, then where Python looks.

    Raises:
        ConfigError: not of that form, no such module or name, or the import failed (with its own error).
    """
    if not isinstance(target, str):
        if target is None:
            raise ConfigError(f"{setting} is missing", hint="write module:callable")
        return target
    module_name, separator, path = target.partition(":")
    if target.count(":") > 1 and ".py:" in target:
        module_name, separator, path = target.rpartition(":")
    if not separator or not module_name.strip() or not path.strip():
        raise ConfigError(f"{setting}: {target!r} is not of the form module:callable", hint="write module:callable")
    loaded = capture(lambda: _module(module_name.strip(), base=Path(base_dir)), culprit=Culprit.USER)
    if isinstance(loaded, Fault):
        raise ConfigError(
            f"{setting}: cannot import {module_name!r}: {loaded.type}: {loaded.message}",
            hint=f"looked in {Path(base_dir).resolve()} and in Python's own path",
        )
    found: Any = loaded
    for name in path.strip().split("."):
        if not hasattr(found, name):
            known = [key for key in dir(found) if not key.startswith("_")]
            raise ConfigError(f"{setting}: {module_name!r} has no {path.strip()!r}{did_you_mean(name, known)}")
        found = getattr(found, name)
    return found


def _module(name: str, *, base: Path) -> ModuleType:
    with _IMPORTING:
        base = base.resolve()
        if name.endswith(".py"):
            return _from_file((base / name).resolve())
        parts = name.split(".")
        file, package = base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")
        local = file if file.is_file() else package if package.is_file() else None
        known = sys.modules.get(name)
        if local is not None and known is not None:
            origin = getattr(known, "__file__", None)
            if origin is None or Path(origin).resolve() != local:
                return _from_file(local)
        if str(base) not in sys.path:
            sys.path.insert(0, str(base))
        importlib.invalidate_caches()
        return importlib.import_module(name)


def _from_file(file: Path) -> ModuleType:
    """Load a file under a name of its own, so that two configurations may both have an `agent.py`."""
    if not file.is_file():
        raise ModuleNotFoundError(f"no file {file}")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    name = f"sqlassay_target_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with ExitStack() as undo:
        undo.callback(sys.modules.pop, name, None)
        spec.loader.exec_module(module)
        undo.pop_all()
    return module
