"""How do values of the environment come into settings, and how are they kept out of everything that is shown?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlassay.errors import ConfigError
from sqlassay.records.config import secrets_in, telling

_VARIABLE = re.compile(r"\$(?:\{(?P<name>[^}:]*)(?::-(?P<default>[^}]*))?\}|(?P<escape>\$)(?=\{))")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHORT = 4
"""Values of fewer characters are not taken out of messages: they occur everywhere."""
_CREDENTIAL = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=-]{16,}")
"""What a credential looks like under a name that does not tell."""
_SCHEME = re.compile(r"^[A-Za-z]+ +(?=\S+$)")
"""`Bearer` and its like before a credential."""
_DOUBTFUL = frozenset({"headers", "cookies", "env", "params"})


def expand(text: str, environment: Mapping[str, str], *, missing: Callable[[str, str], object]) -> str:
    """`text` with `${NAME}` and `${NAME:-default}` filled in and `$${` for a literal `${`.

    What cannot be filled in is left out, and `missing` is told in words, with the way out.

    >>> expand("${HOST}:${PORT:-80} $${x}", {"HOST": "h"}, missing=print)
    'h:80 ${x}'
    >>> expand("${HOST}", {}, missing=print)
    the environment variable HOST is not set export HOST=...
    ''
    """

    def value(match: re.Match[str]) -> str:
        if match["escape"]:
            return "$"
        name = match["name"]
        if not _NAME.fullmatch(name):
            missing(f"{match.group()!r} names no environment variable", "write $${ for a literal ${")
            return ""
        found: str | None = environment.get(name, match["default"])
        if found is None:
            missing(f"the environment variable {name} is not set", f"export {name}=...")
            return ""
        return found

    return _VARIABLE.sub(value, text)


class Secrets:
    """Fills `${NAME}` from the environment, and takes secrets out of what comes back and out of every message.

    A secret is what stands under a telling name, in a URL's place for one or in a variable with a telling name, and
    what looks like a credential in a header, parameter or variable. Other values, such as the name of a host or of
    a database, may well stand in an answer's SQL, and stay in it.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._values: set[str] = set()

    def fill(self, value: Any, *, where: str) -> Any:
        """`value` with the variables in its texts filled in, as by `expand`; mappings and lists are walked.

        Raises:
            ConfigError: a variable is not set and has no default; `where` names the setting.
        """
        if isinstance(value, str):
            return self._filled(value, where)
        if isinstance(value, Mapping):
            return {str(key): self.fill(item, where=f"{where}.{key}") for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            before = ("", *map(str, value))
            return [
                self.fill(item, where=f"{where}.{flag}" if flag.startswith("-") else where)
                for flag, item in zip(before, value, strict=False)
            ]
        return value

    def _keep(self, value: str) -> None:
        """Take this value out of messages, also where the blanks around it are written otherwise."""
        if len(value.strip()) >= _SHORT:
            self._values.add(value.strip())

    def redact(self, text: str) -> str:
        """`text` with every secret replaced by `***`.

        >>> secrets = Secrets({"TOKEN": "abcdef"})
        >>> secrets.redact("got " + secrets.fill("Bearer ${TOKEN}", where="headers"))
        'got Bearer ***'
        """
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    def _filled(self, text: str, where: str) -> str:
        def missing(message: str, hint: str) -> None:
            raise ConfigError(f"{where}: {message}", hint=hint)

        for match in _VARIABLE.finditer(text):
            found = self._environment.get(match["name"] or "", "")
            if telling(match["name"] or "") or _CREDENTIAL.fullmatch(found.strip()):
                self._keep(found)
        filled = expand(text, self._environment, missing=missing)
        names = where.split(".")
        if any(map(telling, names)) or (_DOUBTFUL.intersection(names) and _CREDENTIAL.fullmatch(filled.strip())):
            self._keep(_SCHEME.sub("", filled.strip()))
        for secret in secrets_in(filled):
            self._keep(secret)
        return filled
