"""What the view answers, to whom, and that it writes nothing but reviews."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlassay.archive.run_folder import RunWriter
from sqlassay.errors import ConfigError, UsageError
from sqlassay.records.run import RunState
from sqlassay.summary.agreement import Judged, agreement
from sqlassay.view import reviews
from sqlassay.view.guard import guard, is_loopback
from sqlassay.view.server import Server, make_server
from sqlassay.view.store import Store

ODD = quote("c/3 <b>", safe="")
Start = Callable[..., Server]


def ask(
    server: Server,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    host: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.guard.port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.guard.port}")
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


def review(server: Server, said: Any, *, path: str = "/runs/second/reviews?id=a1", **headers: str) -> int:
    sent = {"Origin": f"http://127.0.0.1:{server.guard.port}", "Content_Type": "application/json", **headers}
    return ask(server, path, method="POST", body=json.dumps(said).encode(), **sent)[0]


def files(runs: Path) -> dict[str, bytes]:
    return {str(path.relative_to(runs)): path.read_bytes() for path in runs.rglob("*") if path.is_file()}


def test_pages(runs: Path, start: Start) -> None:
    server = start(runs)
    status, headers, body = ask(server, "/")
    assert status == 200
    assert b"first" in body
    assert b"second" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    status, headers, body = ask(server, "/runs/second/")
    assert status == 200
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert b"66.7 %" in body
    assert b'id="d0"' not in body
    status, _, body = ask(server, "/compare?before=first&after=second")
    assert status == 200
    assert b"a1" in body


def test_one_case_with_both_tables(runs: Path, start: Start) -> None:
    server = start(runs)
    status, _, body = ask(server, "/runs/second/case?id=b2&p=0&r=0")
    grid = json.loads(body)["grid"]
    assert status == 200
    assert [row[0] for row in grid["rows"]] == ["same", "missing", "extra"]
    status, _, body = ask(server, f"/runs/second/case?id={ODD}")
    assert json.loads(body)["used"] == "SELECT 1"


@pytest.mark.parametrize(
    "path",
    [
        "/runs/none/",
        "/runs/..%2f..%2fetc/",
        "/runs/%2e%2e/state",
        "/../../etc/passwd",
        "/runs/second/manifest.json",
        "/runs/second/case?id=zzz",
        "/runs/second/case?id=a1&p=99999999999999999999",
        "/compare?before=first&after=../first",
        "/favicon.ico",
    ],
)
def test_nothing_else_is_there(runs: Path, start: Start, path: str) -> None:
    status, _, body = ask(start(runs), path)
    assert status == 404
    assert b"root:" not in body


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])
def test_other_methods_are_refused(runs: Path, start: Start, method: str) -> None:
    before = files(runs)
    assert ask(start(runs), "/runs/second/", method=method)[0] == 501
    assert files(runs) == before


def test_only_our_own_name_and_origin(runs: Path, start: Start) -> None:
    server = start(runs)
    port = server.guard.port
    assert ask(server, "/", host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
        assert ask(server, "/", host=host or " ")[0] == 403
    assert ask(server, "/", Origin="http://evil.example")[0] == 403
    assert ask(server, "/", Origin="null")[0] == 403
    assert ask(server, "/runs/second/case?id=a1", Sec_Fetch_Site="cross-site")[0] == 403


def test_a_review_is_kept_with_who_and_when(runs: Path, start: Start) -> None:
    server = start(runs)
    before = files(runs)
    assert review(server, {"verdict": "wrong", "note": "the gold misses 2020", "who": "Ana"}) == 201
    after = files(runs)
    assert {name for name in after if after[name] != before.get(name)} == {"second/reviews.jsonl"}
    kept = reviews.read(runs / "second")
    assert [(r.case_id, r.verdict.value, r.note, r.who, r.passed) for r in kept] == [
        ("a1", "wrong", "the gold misses 2020", "Ana", True)
    ]
    assert kept[0].at.startswith("20")
    said = json.loads(ask(server, "/runs/second/reviews?id=a1")[2])["reviews"]
    assert said[0]["note"] == "the gold misses 2020"


@pytest.mark.parametrize(
    ("said", "headers", "path", "status"),
    [
        ({"verdict": "right"}, {"Origin": "http://evil.example"}, "/runs/second/reviews?id=a1", 403),
        ({"verdict": "right"}, {"Content_Type": "text/plain"}, "/runs/second/reviews?id=a1", 415),
        ({"verdict": "perhaps"}, {}, "/runs/second/reviews?id=a1", 400),
        (["right"], {}, "/runs/second/reviews?id=a1", 400),
        ({"verdict": "right", "note": "x" * 3000}, {}, "/runs/second/reviews?id=a1", 400),
        ({"verdict": "right", "note": "x" * 70_000}, {}, "/runs/second/reviews?id=a1", 413),
        ({"verdict": "right"}, {}, "/runs/second/reviews?id=nobody", 404),
        ({"verdict": "right"}, {}, "/runs/../reviews?id=a1", 404),
        ({"verdict": "right"}, {}, "/runs/second/case?id=a1", 404),
    ],
)
def test_what_is_no_review(
    runs: Path, start: Start, said: Any, headers: dict[str, str], path: str, status: int
) -> None:
    before = files(runs)
    assert review(start(runs), said, path=path, **headers) == status
    assert files(runs) == before


def test_a_review_without_an_origin_is_refused(runs: Path, start: Start) -> None:
    server = start(runs)
    body = b'{"verdict": "right"}'
    assert (
        ask(server, "/runs/second/reviews?id=a1", method="POST", body=body, Content_Type="application/json")[0] == 403
    )


def test_a_run_that_is_going_on(
    runs: Path, start: Start, begin: Callable[[Path, str], RunWriter], add: Callable[[RunWriter, str], None]
) -> None:
    server = start(runs)
    with begin(runs, "third") as run:
        add(run, "a1")
        assert json.loads(ask(server, "/runs/third/state")[2]) == {"state": "started", "scored": 1}
        assert b'data-state="started"' in ask(server, "/runs/third/")[2]
        add(run, "b2")
        assert json.loads(ask(server, "/runs/third/state")[2])["scored"] == 2
        run.finish(RunState.COMPLETE, ended_at="now")
    assert json.loads(ask(server, "/runs/third/state")[2])["state"] == "complete"


def test_beyond_loopback_a_token_is_demanded(runs: Path, start: Start) -> None:
    with pytest.raises(ConfigError, match="token"):
        make_server(runs, host="0.0.0.0")
    with pytest.raises(ConfigError):
        make_server(runs, host="0.0.0.0", token="short")
    secret = "a-long-enough-secret"
    server = start(runs, host="0.0.0.0", token=secret)
    assert ask(server, "/")[0] == 401
    assert ask(server, "/?token=wrong-wrong-wrong")[0] == 401
    status, headers, _ = ask(server, f"/?token={secret}")
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    assert ask(server, "/", Cookie=headers["set-cookie"].split(";")[0])[0] == 200
    assert ask(server, "/", Authorization=f"Bearer {secret}")[0] == 200
    assert ask(server, "/", Authorization=f"Bearer {secret}", Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_what_is_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) is local
    assert not is_loopback("localhost.evil.example")


@given(st.text(max_size=30))
def test_no_foreign_host_name_is_ours(host: str) -> None:
    known = guard(host="127.0.0.1", port=8765, token=None)
    expected = host in ("127.0.0.1:8765", "localhost:8765", "[::1]:8765")
    assert (known.refuses({"host": host}) is None) is expected


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        make_server(tmp_path / "none")


def test_torn_and_foreign_lines_do_not_lose_reviews(runs: Path) -> None:
    path = runs / "first" / reviews.NAME
    path.write_bytes(b'{"case_id": "a1", "verdict": "ri')
    kept = reviews.Review(case_id="a1", verdict=reviews.Said.RIGHT, who="Ana", passed=False, bucket="wrong_values")
    reviews.append(path.parent, kept)
    assert reviews.read(path.parent) == [kept]


def test_agreement_counts_the_last_word_of_each_person() -> None:
    def said(case_id: str, verdict: reviews.Said, *, passed: bool, who: str = "Ana") -> reviews.Review:
        return reviews.Review(
            case_id=case_id, verdict=verdict, who=who, passed=passed, bucket=None if passed else "wrong_values"
        )

    right, wrong = reviews.Said.RIGHT, reviews.Said.WRONG
    listed = [
        said("a", wrong, passed=True),
        said("a", right, passed=True),
        said("b", right, passed=False),
        said("c", wrong, passed=False),
        said("d", reviews.Said.GOLD_WRONG, passed=False),
    ]
    found = reviews.agreement_of(listed)
    assert found is not None
    assert (found.n, found.agreed) == (3, 2)
    counts = [(each.bucket, each.reviewed, each.right) for each in found.by_bucket]
    assert counts == [("passed", 1, 1), ("wrong_values", 2, 1)]
    assert reviews.agreement_of([]) is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_by_the_textbook(pairs: list[tuple[bool, bool]]) -> None:
    found = agreement(Judged(scorer=s, person=p) for s, p in pairs)
    n = len(pairs)
    observed = sum(s == p for s, p in pairs) / n
    chance = sum(
        (sum(s == v for s, _ in pairs) / n) * (sum(p == v for _, p in pairs) / n) for v in (True, False)
    )  # fmt: skip
    if chance > 1 - 1e-12:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((observed - chance) / (1 - chance))


def test_agreement_by_cause_says_what_it_cannot_say() -> None:
    right = [Judged(scorer=False, person=False, bucket="sql_error")] * 2
    alone = agreement(right).by_bucket[0]
    assert (alone.kappa, alone.why) == (None, "nothing else was reviewed, and all of it was called right")
    unexplained = Judged(scorer=True, person=False)
    passed, cause = agreement([unexplained, *right]).by_bucket
    assert (passed.kappa, passed.n) == (0.0, 3)
    assert (cause.kappa, cause.n) == (None, 2), "why people fail a case that passed is not known"
    wrong = agreement([*right, Judged(scorer=False, person=True, bucket="sql_error")]).by_bucket[0]
    assert (wrong.reviewed, wrong.right, wrong.kappa) == (3, 2, 0.0)


def test_the_newest_run_can_be_read_before_anybody_asks(runs: Path, tmp_path: Path) -> None:
    store = Store(runs)
    early = store.open_newest()
    assert early is not None
    assert early.report.manifest.run_id == "second"
    assert store.open("second") is early, "it is not read twice"
    (runs / "second" / "scores.jsonl").write_bytes(b"not a line\n")
    assert Store(runs).open_newest() is None, "a run that cannot be read is told when it is asked for"
    assert Store(tmp_path).open_newest() is None
