"""What is sent for a question: placeholders in a structure, a text template, a URL or an argument list?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sqlassay.agents.fields import did_you_mean
from sqlassay.errors import ConfigError
from sqlassay.records.ask import Ask

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
FIELDS = ("question", "request_id", "history", "hide", "database", "at")


def fields_of(ask: Ask) -> dict[str, Any]:
    """All that an agent is shown of a case, as plain data: there is no gold among it."""
    return {
        **{str(key): value for key, value in ask.extra.items()},
        "question": ask.question,
        "request_id": ask.request_id,
        "history": [{"role": message.role, "content": message.content} for message in ask.history],
        "hide": list(ask.hide),
        "database": ask.database,
        "at": ask.at,
    }


def default_body(ask: Ask) -> dict[str, Any]:
    """The fields that hold something; `question` and `request_id` always."""
    always = ("question", "request_id")
    return {name: value for name, value in fields_of(ask).items() if name in always or value not in (None, [], "")}


def check_placeholders(value: Any, *, setting: str, extra: frozenset[str] = frozenset()) -> None:
    """Refuse `{placeholders}` that a question never has.

    Raises:
        ConfigError: naming the placeholder and the nearest known one.
    """
    known = sorted({*FIELDS, *extra})
    if isinstance(value, str):
        for name in _PLACEHOLDER.findall(value):
            if name not in known:
                raise ConfigError(
                    f"{setting}: unknown placeholder {{{name}}}{did_you_mean(name, known)}",
                    hint=f"known: {', '.join('{' + item + '}' for item in known)}",
                )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_placeholders(item, setting=f"{setting}.{key}", extra=extra)
    elif isinstance(value, (list, tuple)):
        for item in value:
            check_placeholders(item, setting=setting, extra=extra)


def fill(value: Any, fields: Mapping[str, Any], *, encode: Callable[[str], str] | None = None) -> Any:
    """Placeholders filled, once: what a question says is never read as a placeholder.

    A text that is one placeholder alone becomes the value itself; inside a text, lists and mappings become JSON and
    nothing becomes ''.

    >>> fill({"q": "Q: {question}", "h": "{hide}"}, {"question": "a {hide}", "hide": ["x"]})
    {'q': 'Q: a {hide}', 'h': ['x']}
    """
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        if whole is not None and whole.group(1) in fields and encode is None:
            return fields[whole.group(1)]

        def one(match: re.Match[str]) -> str:
            if match.group(1) not in fields:
                return match.group()
            text = as_text(fields[match.group(1)])
            return text if encode is None else encode(text)

        return _PLACEHOLDER.sub(one, value)
    if isinstance(value, Mapping):
        return {str(key): fill(item, fields, encode=encode) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [fill(item, fields, encode=encode) for item in value]
    return value


def fill_url(url: str, fields: Mapping[str, Any]) -> str:
    """Placeholders of a URL filled and percent-encoded."""
    filled = fill(url, fields, encode=lambda text: quote(text, safe=""))
    assert isinstance(filled, str)
    return filled


def as_text(value: Any) -> str:
    """A field inside a text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class TextTemplate:
    """A body written as text: a Jinja template in a sandbox, `{"q": {{ question | tojson }}}`."""

    def __init__(self, text: str, *, setting: str) -> None:
        self._setting = setting
        environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
        try:
            self._template = environment.from_string(text)
        except TemplateError as error:
            raise ConfigError(f"{setting}: not a template: {error}") from None

    def render(self, fields: Mapping[str, Any]) -> str:
        """The text for one question.

        Raises:
            ConfigError: the template asks for what a question does not have.
        """
        try:
            return self._template.render(**fields)
        except TemplateError as error:
            raise ConfigError(f"{self._setting}: {error}") from None
