"""Secrets never show, whatever key, header or URL they stand in; references to variables stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.records.config import Config, redact


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ({"token": "abc"}, {"token": "***"}),
        ({"api_key": "${KEY}"}, {"api_key": "${KEY}"}),
        ({"api_key": "${KEY:-fallback-secret}"}, {"api_key": "${KEY}"}),
        ({"api_key": "abc${KEY}"}, {"api_key": "***"}),
        ({"headers": {"X-Anything": "abc"}}, {"headers": {"X-Anything": "***"}}),
        ({"headers": {"Accept": "text/html"}}, {"headers": {"Accept": "text/html"}}),
        ({"headers": {"Authorization": "Bearer ${T}"}}, {"headers": {"Authorization": "Bearer ${T}"}}),
        ({"headers": {"Authorization": "Bearer abc"}}, {"headers": {"Authorization": "***"}}),
        ({"env": {"DB": "abc"}}, {"env": {"DB": "***"}}),
        ({"credentials": {"user": "u", "pin": 4711}}, {"credentials": {"user": "***", "pin": "***"}}),
        ("postgresql://u:p@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:${PW}@h/db", "postgresql://u:${PW}@h/db"),
        ("postgresql://u:p@ss@h/db", "postgresql://u:***@h/db"),
        ("host=h password='a b' user=u", "host=h password=*** user=u"),
        ("http://h/?q=1&access_token=abc", "http://h/?q=1&access_token=***"),
        ({"tokens_per_minute": 9000, "max_tokens": 5}, {"tokens_per_minute": 9000, "max_tokens": 5}),
        ("agent --token abc --jobs 3", "agent --token *** --jobs 3"),
        ("agent --api-key=abc -v", "agent --api-key=*** -v"),
        (["agent", "--api-key", "abc", "--model", "m"], ["agent", "--api-key", "***", "--model", "m"]),
        ({"note": "sk-abcdefghijklmnop1234"}, {"note": "***"}),
        ({"list": [{"password": "x"}]}, {"list": [{"password": "***"}]}),
        ({"map": {"candidate_sql": "sql"}, "kind": "http"}, {"map": {"candidate_sql": "sql"}, "kind": "http"}),
    ],
)
def test_what_is_shown_of_a_secret(written: Any, shown: Any) -> None:
    assert redact(written) == shown


@given(
    st.sampled_from(["token", "X-Api-Key", "db_password", "client_secret", "Cookie", "Authorization", "private_key"]),
    st.from_regex(r"[A-Za-z0-9]{6,20}", fullmatch=True),
    st.integers(0, 2),
)
def test_no_literal_under_a_telling_key_survives(key: str, secret: str, depth: int) -> None:
    value: Any = {key: secret}
    for _ in range(depth):
        value = {"inner": [value]}
    assert secret not in str(redact(value)).replace(key, "")


def test_a_configuration_shows_what_was_written_and_what_holds() -> None:
    config = Config(
        agent={"kind": "http", "headers": {"Authorization": "Bearer secret-value"}},
        written={
            "database": "mysql://u:secret-value@h/d",
            "agent": {"headers": {"Authorization": "Bearer secret-value"}},
        },
        limit="3",
    )
    shown = config.redacted()
    assert "secret-value" not in str(shown)
    assert "secret-value" not in repr(config)
    assert shown["database"] == "mysql://u:***@h/d"
    assert shown["run"]["jobs"] == 4
    assert shown["limit"] == "3"
    assert "tag" not in shown
