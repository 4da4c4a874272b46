"""Which agent and which reader a configuration means; wrong ones get the nearest right one."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sqlassay.agents import registry
from sqlassay.errors import ConfigError, MissingExtra
from sqlassay.records.environment import Secrets


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "agent.kind is missing"),
        ({"kind": "htpp"}, "unknown kind 'htpp' (did you mean 'http'?)"),
        (
            {"kind": "http", "url": "http://h/", "heders": {}},
            "agent.heders: unknown setting for kind 'http' (did you mean 'headers'?)",
        ),
        ({"kind": "http"}, "agent.url: kind 'http' needs it"),
        ({"kind": "http", "url": "ftp://h"}, "is not an http:// or https:// address"),
        ({"kind": "http", "url": "http://h", "timeout_s": 0}, "agent.timeout_s: expected seconds above 0"),
        ({"kind": "http", "url": "http://h", "retries": -1}, "agent.retries: expected a whole number of at least 0"),
        ({"kind": "http", "url": "http://h", "format": "xml"}, "agent.format: 'xml' is not one of"),
        ({"kind": "http", "url": "http://h", "method": "DELETE"}, "agent.method: 'DELETE' is not one of"),
        ({"kind": "http", "url": "http://h", "map": {"candidat_sql": "a"}}, "did you mean 'candidate_sql'?"),
        ({"kind": "http", "url": "http://h", "map": {"sql": "a.[b"}}, "is not JMESPath"),
        ({"kind": "http", "url": "http://h", "map": {"sql": "a"}, "read": "langchain"}, "use either map or read"),
        ({"kind": "http", "url": "http://h", "body": {"q": "{qestion}"}}, "did you mean 'question'?"),
        ({"kind": "http", "url": "http://h", "body": "{{ question "}, "agent.body: not a template"),
        ({"kind": "http", "url": "http://h", "headers": {"A": "${NOT_SET_ANYWHERE}"}}, "NOT_SET_ANYWHERE is not set"),
        ({"kind": "http", "url": "http://h", "poll": {"url": "/x"}}, "agent.poll.until: needed"),
        ({"kind": "command"}, "agent.command: expected a list of arguments"),
        ({"kind": "command", "command": ["no-such-program-x"]}, "no program 'no-such-program-x'"),
        ({"kind": "command", "command": [sys.executable], "protocol": "line"}, "did you mean 'lines'?"),
        ({"kind": "command", "command": [sys.executable], "cwd": "nowhere"}, "agent.cwd: no folder"),
        ({"kind": "python"}, "agent.target is missing"),
        ({"kind": "python", "target": "nothing"}, "not of the form module:callable"),
        ({"kind": "python", "target": "json:lods"}, "(did you mean 'loads'?)"),
        ({"kind": "python", "target": "no_such_module_x:f"}, "cannot import 'no_such_module_x'"),
        ({"kind": "python", "target": "json:__doc__"}, "is not callable"),
        ({"kind": "python", "target": print, "read": "langchian"}, "did you mean 'langchain'?"),
        ({"kind": "replay", "path": "nowhere.jsonl"}, "no file"),
        ({"kind": "langgraph", "target": object()}, "no graph"),
    ],
)
def test_a_wrong_configuration_says_what_and_how(settings: dict[str, Any], message: str, tmp_path: Any) -> None:
    with pytest.raises(ConfigError) as error:
        registry.build(settings, base_dir=str(tmp_path))
    assert message in str(error.value)


def test_an_unknown_adapter_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown adapter 'otle' \(did you mean 'otel'\?\)"):
        registry.reader("otle")


@pytest.mark.parametrize("name", registry.READERS)
def test_every_adapter_of_the_specification_can_be_had(name: str) -> None:
    reader = registry.reader(name)
    assert reader.name == name
    assert reader.version


def test_a_missing_framework_names_the_extra(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtra, match="pydantic-ai"):
        registry.build({"kind": "pydantic_ai", "target": object()}, base_dir=str(tmp_path))


def test_nothing_heavy_is_imported_to_choose() -> None:
    code = (
        "import sys; from sqlassay.agents import registry; "
        "heavy = {'httpx', 'jinja2', 'jmespath', 'sqlglot', 'sqlalchemy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_secrets_leave_no_trace_in_messages() -> None:
    secrets = Secrets({"TOKEN": "tok-12345", "HOST": "db"})
    filled = secrets.fill({"a": ["Bearer ${TOKEN}", "${HOST}", "${PORT:-80}"], "n": 1}, where="agent")
    assert filled == {"a": ["Bearer tok-12345", "db", "80"], "n": 1}
    assert secrets.redact("failed with tok-12345") == "failed with ***"
    assert secrets.fill("$${TOKEN}", where="agent") == "${TOKEN}"


@pytest.mark.parametrize(
    ("settings", "hidden", "stays"),
    [
        ({"headers": {"X-Auth-Token": "Bearer pass1"}}, "pass1", "Bearer"),
        ({"headers": {"X-Mine": "0a1b2c3d4e5f6a7b8c"}}, "0a1b2c3d4e5f6a7b8c", "X-Mine"),
        ({"url": "http://me:pass1@host/ask?api_key=key22&page=films"}, "key22", "films"),
        ({"url": "http://me:pass1@host/ask"}, "pass1", "host"),
        ({"body": {"token": "pass1", "table": "films"}}, "pass1", "films"),
        ({"command": ["ask", "--api-key", "pass1", "films"]}, "pass1", "films"),
        ({"body": {"database": "${DB}", "key": "${DB_PASSWORD}"}}, "pass1", "films"),
        ({"body": "${DB} ${DB_PASSWORD}"}, "pass1", "films"),
    ],
)
def test_secrets_are_hidden_wherever_they_stand_and_ordinary_words_are_not(
    settings: dict[str, object], hidden: str, stays: str
) -> None:
    secrets = Secrets({"DB": "films", "DB_PASSWORD": "pass1"})
    for key, value in settings.items():
        secrets.fill(value, where=f"agent.{key}")
    assert secrets.redact(f"SELECT {hidden} FROM {stays}") == f"SELECT *** FROM {stays}"
