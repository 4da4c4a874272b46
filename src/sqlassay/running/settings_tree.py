"""Who wrote which key of the configuration, where, and what is wrong with it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlassay.datasets.marked import Marked
from sqlassay.errors import ConfigError
from sqlassay.records.environment import expand
from sqlassay.records.strict import Path, Problem, dotted


@dataclass(slots=True)
class Tree:
    """The keys as written, who wrote each, and what was wrong so far."""

    marked: Marked
    shown: str | None
    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    """Dotted key to the flag or variable that set it; absent for the file."""
    problems: list[tuple[str, Problem]] = field(default_factory=list)
    unfilled: bool = False
    """Whether a variable is not set; what it should have filled in is then no further problem."""

    def place(self, path: Path) -> str:
        for end in range(len(path), 0, -1):
            origin = self.origins.get(dotted(path[:end]))
            if origin is not None:
                return origin
        line = self.marked.line(path)
        if self.shown is None:
            return "configuration"
        return self.shown if line is None else f"{self.shown}:{line}"

    def bad(self, path: Path, message: str, hint: str | None = None, *, place: str | None = None) -> None:
        self.problems.append((place or self.place(path), Problem(path=path, message=message, hint=hint)))

    def put(self, key: str, value: Any, origin: str) -> None:
        top, _, rest = key.partition(".")
        if not rest:
            self.values[top] = value
            if isinstance(value, Mapping):
                for inner in value:
                    self.origins[f"{top}.{inner}"] = origin
        else:
            section = self.values.get(top)
            self.values[top] = {**(section if isinstance(section, Mapping) else {}), rest: value}
        self.origins[key] = origin

    def raise_all(self) -> None:
        if not self.problems:
            return
        lines = []
        for place, problem in self.problems[:20]:
            where = dotted(problem.path)
            message = problem.message
            if where and not (len(problem.path) == 1 and message.startswith("unknown")):
                message = f"{where}: {message}"
            lines.append(f"{place}: {message}")
            if problem.hint and len(self.problems) > 1:
                lines.append(f"    {problem.hint}")
        if len(self.problems) > 20:
            lines.append(f"... and {len(self.problems) - 20} more")
        raise ConfigError("\n".join(lines), hint=self.problems[0][1].hint if len(self.problems) == 1 else None)


def fill(tree: Tree, value: Any, path: Path, environment: Mapping[str, str]) -> Any:
    """`${NAME}` and `${NAME:-default}` in texts, `$${` for a literal `${`."""
    if isinstance(value, Mapping):
        return {name: fill(tree, item, (*path, name), environment) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [fill(tree, item, (*path, index), environment) for index, item in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value

    def missing(message: str, hint: str) -> None:
        tree.bad(path, message, hint)
        tree.unfilled = True

    return expand(value, environment, missing=missing)
